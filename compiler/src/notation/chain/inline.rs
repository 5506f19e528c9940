//! Temporaries that need not be made.
//!
//! Before: each temporary is made by a statement of its own. After: one whose value costs no more where it is read stands
//! there, and its statement is gone. The scheduler hoists sums out of loops that they don't depend on, so one loop nest often
//! does what several did:
//!
//! ```text
//! let p(i) = sum(j)(A(i, j) * x(j));
//! n = sum(i)(p(i) * b(i));                →      n = sum(i)(sum(j)(A(i, j) * x(j)) * b(i));
//! ```

use super::Renaming;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::Function;
use crate::notation::simplify::has_choice;
use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Reading, Role, TensorId, Variable, Written};
use crate::remark::{Remark, What, Why, Work};
use crate::syntax::{Directive, ExprKind};

/// The most nodes that an expression gets by what stands for temporaries in it.
const MOST_NODES: usize = 120;

/// The most sparse operands that one statement gets.
const MOST_OPERANDS: usize = 8;

/// The kernel without the temporaries that need not be made, and the reasons; without `fuse`, all are made.
pub(super) fn inline(mut kernel: Kernel, fuse: bool, problems: &mut Diagnostics) -> (Kernel, Vec<Remark>) {
    let mut decisions = Vec::new();
    for kept in kernel.schedule.iter().flat_map(|schedule| &schedule.directives).filter_map(Directive::kept) {
        if !kernel.tensors.iter().any(|tensor| tensor.role == Role::Temporary && tensor.name == kept.name) {
            let message = format!("there is no temporary `{}`", kept.name);
            let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, kept.span, message);
            problems.push(problem.label("to be kept").help("name a tensor that `let` declares"));
        }
    }
    let mut place = 0;
    while place < kernel.statements.len() {
        let target = kernel.statements[place].target.tensor;
        if kernel.tensor(target).role != Role::Temporary {
            place += 1;
            continue;
        }
        let name = kernel.tensor(target).name.clone();
        let asked = asked(&kernel, &name);
        let verdict = match asked {
            None => verdict(&kernel, place, fuse),
            Some((false, _)) => Err(Why::Asked),
            Some((true, span)) => forced(&kernel, place).inspect_err(|why| problems.push(refusal(&name, span, why))),
        };
        match verdict {
            Ok(why) => {
                substitute(&mut kernel, place);
                decisions.push(Remark::new(What::Inlined(name), why));
            }
            Err(why) => {
                let format = &kernel.tensor(target).format;
                let stored = (format.order > 0).then(|| format.to_string());
                decisions.push(Remark::new(What::Materialized(name, stored), why));
                place += 1;
            }
        }
    }
    (renumbered(kernel), decisions)
}

/// The kernel with each temporary that is read once where it is read, as far as none need be made; `None` where there is none like that.
pub(super) fn merged(kernel: &Kernel) -> Option<Kernel> {
    let mut merged = kernel.clone();
    let mut place = 0;
    while place < merged.statements.len() {
        if is_read_once(&merged, place) {
            substitute(&mut merged, place);
        } else {
            place += 1;
        }
    }
    (merged.statements.len() < kernel.statements.len()).then(|| renumbered(merged))
}

/// Whether a statement makes a temporary that one access reads, which its value can stand for.
fn is_read_once(kernel: &Kernel, place: usize) -> bool {
    let definition = &kernel.statements[place];
    let temporary = definition.target.tensor;
    let later = &kernel.statements[place + 1..];
    let uses: Vec<Use<'_>> = later.iter().flat_map(|statement| uses(statement, temporary)).collect();
    let is_made_once = kernel.statements.iter().filter(|other| other.target.tensor == temporary).count() == 1;
    let [one] = &uses[..] else { return false };
    kernel.tensor(temporary).role == Role::Temporary
        && is_made_once
        && definition.operator.is_none()
        && asked(kernel, &kernel.tensor(temporary).name).is_none()
        && !is_computed(kernel, one.access)
        && must_be_made(kernel, definition, later, true).is_ok()
        && stays_small(kernel, definition, later).is_ok()
}

/// What the schedule says of a temporary: whether it is to be computed where it is read, or to be made.
fn asked(kernel: &Kernel, name: &str) -> Option<(bool, Span)> {
    let mut directives = kernel.schedule.iter().flat_map(|schedule| &schedule.directives);
    let says = |directive: &&Directive| {
        let is_it = matches!(&directive.arguments[..], [argument] if matches!(&argument.kind, ExprKind::Name(of) if of.name == name));
        let is_kept = || directive.kept().is_some_and(|kept| kept.name == name);
        is_it && matches!(directive.name.name.as_str(), "inline" | "materialize") || is_kept()
    };
    directives.rfind(says).map(|directive| (directive.name.name == "inline", directive.span))
}

/// Leaves out a temporary as the schedule wants, where it can be left out at all.
fn forced(kernel: &Kernel, place: usize) -> Result<Why, Why> {
    must_be_made(kernel, &kernel.statements[place], &kernel.statements[place + 1..], true).map(|()| Why::Asked)
}

fn refusal(name: &str, span: Span, why: &Why) -> Diagnostic {
    let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, span, format!("`{name}` must be made"));
    problem.label(why.to_string()).help("leave the directive out, or write the value where it is read")
}

/// Why the temporary of a statement is left out, or why it is made.
fn verdict(kernel: &Kernel, place: usize, fuse: bool) -> Result<Why, Why> {
    let definition = &kernel.statements[place];
    let temporary = definition.target.tensor;
    let later = &kernel.statements[place + 1..];
    let uses: Vec<Use<'_>> = later.iter().flat_map(|statement| uses(statement, temporary)).collect();
    must_be_made(kernel, definition, later, fuse)?;
    let is_scalar = kernel.tensor(temporary).format.order == 0;
    let why = if has_reduction(&definition.value) {
        is_formed_once(kernel, &uses, Work::Sum)?;
        Why::OnceThere(Work::Sum)
    } else if !is_scalar && has_costly_function(&definition.value) {
        is_formed_once(kernel, &uses, Work::Functions)?;
        Why::OnceThere(Work::Functions)
    } else {
        Why::FewOperations
    };
    stays_small(kernel, definition, later)?;
    Ok(why)
}

/// What asks for a tensor, whatever it costs.
fn must_be_made(kernel: &Kernel, definition: &Assignment, later: &[Assignment], fuse: bool) -> Result<(), Why> {
    let temporary = definition.target.tensor;
    let why = if definition.is_recurrent() {
        Why::Recurrent
    } else if !fuse {
        Why::NotFused
    } else if kernel.crosses(temporary) {
        Why::Crosses
    } else if kernel.tensor(temporary).declared {
        Why::FormatDeclared
    } else if definition.mask.is_some() || has_choice(&definition.value, kernel.tensor(temporary).fill) {
        Why::Masked
    } else if is_computed(kernel, &definition.target) {
        Why::ComputedWhereMade
    } else if has_index_of_its_own(kernel, definition) {
        Why::OwnIndex
    } else if is_counted(kernel, definition)
        || counts_an_index(kernel, definition)
            && later.iter().flat_map(|other| uses(other, temporary)).any(|one| is_computed(kernel, one.access))
    {
        Why::CountsIndex
    } else if later.iter().any(|statement| statement.value.compares_with_itself(temporary))
        && !definition.value.is_read(&|tensor| kernel.tensor(tensor).element.computed())
    {
        Why::Compared
    } else if later.iter().any(|statement| !uses(statement, temporary).is_empty() && kernel.scatters(&statement.target))
    {
        Why::ReadWhereScattered
    } else if later.iter().any(|statement| asks_for_entries(statement, temporary)) {
        Why::IsMask
    } else {
        return Ok(());
    };
    Err(why)
}

/// Whether a statement asks where a tensor has entries.
fn asks_for_entries(statement: &Assignment, tensor: TensorId) -> bool {
    let asks = |access: &Access| access.tensor == tensor && access.reads == Reading::Stored;
    statement.mask.iter().any(|mask| mask.tensor == tensor) || statement.value.accesses().into_iter().any(asks)
}

/// Whether what is read is computed no more often where it is read than in a statement of its own.
fn is_formed_once(kernel: &Kernel, uses: &[Use<'_>], work: Work) -> Result<(), Why> {
    match uses {
        [one] if is_computed(kernel, one.access) => Err(Why::ReadAtComputed(work)),
        [one] => match one.repeats_over(kernel) {
            Some(variable) => Err(Why::RepeatedOver(work, kernel.variable(variable).to_owned())),
            None => Ok(()),
        },
        several => Err(Why::ReadTimes(work, several.len())),
    }
}

/// Whether the statements that read a temporary stay of a size that one loop nest can have.
fn stays_small(kernel: &Kernel, definition: &Assignment, later: &[Assignment]) -> Result<(), Why> {
    let temporary = definition.target.tensor;
    let sparse = |statement: &Assignment| statement.reads().filter(|access| kernel.is_sparse(access)).count();
    for reader in later {
        let uses = uses(reader, temporary).len();
        if uses > 0 && size(&reader.value) + uses * size(&definition.value) > MOST_NODES {
            return Err(Why::TooLong);
        }
        if uses > 0 && sparse(reader) + uses * sparse(definition) > MOST_OPERANDS {
            return Err(Why::TooManyMeet);
        }
    }
    Ok(())
}

fn is_computed(kernel: &Kernel, access: &Access) -> bool {
    access.indices.iter().any(|variable| kernel.variables[variable.0].value.is_some())
}

/// Whether an index of the target is no operand's.
fn has_index_of_its_own(kernel: &Kernel, definition: &Assignment) -> bool {
    let operands: Vec<IndexVariable> =
        definition.value.accesses().into_iter().flat_map(|access| kernel.running(&access.indices)).collect();
    definition.target.indices.iter().any(|index| !operands.contains(index))
}

/// Whether the extent of an index of the target counts.
fn counts_an_index(kernel: &Kernel, definition: &Assignment) -> bool {
    let own = written(kernel, &definition.target.indices);
    let used = definition.variables(&kernel.variables);
    let others = used.into_iter().filter(|variable| !definition.target.indices.contains(variable));
    written(kernel, &others.collect::<Vec<_>>()).iter().any(|other| own.contains(other))
}

/// Whether some statement asks for the extent of a mode by an index of the target.
fn is_counted(kernel: &Kernel, definition: &Assignment) -> bool {
    let own = written(kernel, &definition.target.indices);
    let counted = kernel.variables.iter().filter(|variable| variable.mode.is_some());
    counted.filter_map(|variable| variable.written.as_ref()).any(|written| own.contains(&written))
}

/// What the text calls some variables.
fn written<'k>(kernel: &'k Kernel, variables: &[IndexVariable]) -> Vec<&'k Written> {
    variables.iter().filter_map(|variable| kernel.variables[variable.0].written.as_ref()).collect()
}

fn size(expr: &Expr) -> usize {
    1 + expr.children().into_iter().map(size).sum::<usize>()
}

fn has_reduction(expr: &Expr) -> bool {
    matches!(expr, Expr::Reduce(..)) || expr.children().into_iter().any(has_reduction)
}

/// Whether something costs much more than to read a value.
fn has_costly_function(expr: &Expr) -> bool {
    let is_cheap = |function: &Function| matches!(function, Function::Min | Function::Max | Function::Abs);
    matches!(expr, Expr::Call(function, _) if !is_cheap(function))
        || expr.children().into_iter().any(has_costly_function)
}

/// A temporary where it is read.
struct Use<'a> {
    statement: &'a Assignment,
    access: &'a Access,
    /// The index variables of the reductions around it.
    reduced: Vec<IndexVariable>,
}

/// The uses of a temporary in a statement's value.
fn uses(statement: &Assignment, temporary: TensorId) -> Vec<Use<'_>> {
    fn visit<'a>(
        expr: &'a Expr,
        temporary: TensorId,
        reduced: &mut Vec<IndexVariable>,
        found: &mut dyn FnMut(&'a Access, &[IndexVariable]),
    ) {
        let outside = reduced.len();
        match expr {
            Expr::Access(access) if access.tensor == temporary => found(access, reduced),
            Expr::Reduce(_, variables, _) => reduced.extend(variables),
            _ => {}
        }
        expr.children().into_iter().for_each(|child| visit(child, temporary, reduced, found));
        reduced.truncate(outside);
    }
    let mut uses = Vec::new();
    visit(&statement.value, temporary, &mut Vec::new(), &mut |access, reduced| {
        uses.push(Use { statement, access, reduced: reduced.to_vec() });
    });
    uses
}

impl Use<'_> {
    /// A loop around the use that the temporary does not depend on, and in each iteration of which it would be formed again.
    /// Where its indices are the outermost of the result, it is formed before the loops inside.
    fn repeats_over(&self, kernel: &Kernel) -> Option<IndexVariable> {
        let own = &self.access.indices;
        let target = &self.statement.target;
        let outermost = kernel.tensor(target.tensor).format.mode_order().unwrap_or_default();
        let outermost = outermost.iter().take(own.len());
        if outermost.len() == own.len() && outermost.clone().all(|&mode| own.contains(&target.indices[mode])) {
            return None;
        }
        let around = kernel.running(&target.indices).into_iter().chain(self.reduced.iter().copied());
        around.into_iter().find(|variable| !own.contains(variable))
    }
}

/// Puts what a temporary is where it is read, and drops the statement that makes it.
fn substitute(kernel: &mut Kernel, place: usize) {
    let definition = kernel.statements.remove(place);
    let variables = &mut kernel.variables;
    for statement in &mut kernel.statements[place..] {
        replace(&mut statement.value, &mut |access| {
            (access.tensor == definition.target.tensor).then(|| {
                let mut value = definition.value.clone();
                let pairs = definition.target.indices.iter().copied().zip(access.indices.iter().copied());
                let mut renaming = Renaming { pairs: pairs.collect() };
                value.rename(&mut |variable| renaming.get(variable, variables));
                value
            })
        });
        merge_computed(statement, variables);
    }
}

/// Leaves one variable for each computed value, so that equal accesses are seen to be equal.
fn merge_computed(statement: &mut Assignment, table: &[Variable]) {
    let own = statement.variables(table);
    let value = |variable: IndexVariable| table[variable.0].value.as_ref();
    let first = |variable: IndexVariable| own.iter().copied().find(|&other| value(other) == value(variable));
    statement.rename(&mut |variable| match value(variable) {
        Some(_) => first(variable).unwrap_or(variable),
        None => variable,
    });
}

/// Replaces every access for which there is something else.
fn replace(expr: &mut Expr, by: &mut dyn FnMut(&Access) -> Option<Expr>) {
    match expr {
        Expr::Access(access) => {
            if let Some(value) = by(access) {
                *expr = value;
            }
        }
        _ => expr.children_mut().into_iter().for_each(|child| replace(child, by)),
    }
}

/// The kernel without tensors that no statement has, and with its index variables in order.
fn renumbered(mut kernel: Kernel) -> Kernel {
    let is_there = |id: usize| {
        let mentions = |statement: &Assignment| {
            statement.target.tensor.0 == id || statement.reads().any(|access| access.tensor.0 == id)
        };
        kernel.tensors[id].role != Role::Temporary || kernel.statements.iter().any(mentions)
    };
    let kept: Vec<usize> = (0..kernel.tensors.len()).filter(|&id| is_there(id)).collect();
    let place = |id: TensorId| TensorId(kept.iter().position(|&kept| kept == id.0).unwrap_or_default());
    for statement in &mut kernel.statements {
        statement.for_each_access_mut(&mut |access| access.tensor = place(access.tensor));
    }
    kernel.tensors = kept.iter().map(|&id| kernel.tensors[id].clone()).collect();
    kernel.renumber_variables();
    kernel
}
