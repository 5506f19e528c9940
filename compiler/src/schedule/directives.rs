//! What a `schedule` block asks for, in the terms of Senanayake, Hong, Wang, Wilson, Chou, Kamil, Amarasinghe, Kjolstad, *A Sparse
//! Iteration Space Transformation Framework for Sparse Tensor Algebra* (2020).
//!
//! Directives that change the variables are carried out before anything is scheduled: `split(k, k0, k1, 32)` makes `k` a variable
//! that is computed from two others. The rest are wishes that the scheduler keeps to; what it can't keep to is refused, for a
//! reason:
//!
//! ```text
//! schedule { split(k, k0, k1, 32); reorder(k0, i); vector(k1); }
//!
//! k = 32 * k0 + k1        order: k0 before i        vector: k1
//! ```

use super::extents::is_searched;
use super::{
    AskedChunks, Computed, Extent, ExtentOf, IndexVariable, Kernel, Run, Statement, TensorId, TensorKind, Variable,
};
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::{IndexExpr, IndexOperator, LARGEST_IN_INDEX, Size};
use crate::lattice::Lattice;
use crate::lattice::operands;
use crate::notation;
use crate::syntax::{Directive, Expr, ExprKind};

/// The longest loop that is written out.
const MOST_UNROLLED: u64 = 64;

/// How often a kernel's assignments are written out in all, by loops in each other.
const MOST_WRITTEN_OUT: u64 = 1024;

/// Whether a variable goes by a name in a schedule: those of different terms are numbered.
pub(super) fn is_called(variable: &str, name: &str) -> bool {
    let is_copy = |rest: &str| rest.strip_prefix('_').is_some_and(|number| number.parse::<u32>().is_ok());
    variable.strip_prefix(name).is_some_and(|rest| rest.is_empty() || is_copy(rest))
}

/// Carries out directives, in order.
pub(super) struct Directives<'a> {
    pub notation: &'a notation::Kernel,
    pub kernel: &'a mut Kernel,
    pub found: &'a mut Diagnostics,
}

impl Directives<'_> {
    /// Runs loops over what is stored as a directive says; whether it names such.
    pub(super) fn run_chains(&mut self, directive: &Directive) -> bool {
        directive.arguments.iter().any(|argument| self.run_chain(directive, argument))
    }

    /// The variables that a name stands for: one in each term that sums over it.
    pub(super) fn variables(&self, argument: &Expr) -> Vec<IndexVariable> {
        let ExprKind::Name(name) = &argument.kind else { return Vec::new() };
        let is_named = |variable: &Variable| is_called(&variable.name, &name.name);
        let named = self.kernel.variables.iter().enumerate().filter(|(_, variable)| is_named(variable));
        named.map(|(id, _)| IndexVariable(id)).collect()
    }

    /// Those that all arguments stand for.
    pub(super) fn all_variables(&self, directive: &Directive) -> Vec<IndexVariable> {
        directive.arguments.iter().flat_map(|argument| self.variables(argument)).collect()
    }

    pub(super) fn refuse(&mut self, span: Span, message: String, label: &str, help: String) {
        self.found.push(Diagnostic::new(codes::SCHEDULE_REFUSED, span, message).label(label.to_owned()).help(help));
    }

    /// `split(k, k0, k1, 32)`: `k` is computed from the number of a block and the place in it.
    pub(super) fn split(&mut self, directive: &Directive) {
        let [old, outer, inner, size] = &directive.arguments[..] else { return };
        let (ExprKind::Name(outer), ExprKind::Name(inner)) = (&outer.kind, &inner.kind) else { return };
        let by = match &size.kind {
            ExprKind::Number { digits, .. } => digits.parse::<u32>().ok().filter(|&by| by > 0),
            _ => None,
        };
        let Some(by) = by else {
            let help = "a block has at least 1 and less than 2^32 values".to_owned();
            return self.refuse(size.span, "a block of no size".to_owned(), "not a size", help);
        };
        if let ExprKind::Name(name) = &old.kind
            && !self.chains(&name.name).is_empty()
        {
            return self.split_positions(directive, &name.name, [&outer.name, &inner.name], by);
        }
        let rows = self.variables(old).into_iter().find(|&variable| self.is_of_walked(variable));
        if let Some(rows) = rows {
            let names = [outer.name.clone(), inner.name.clone()];
            let chunks = AskedChunks { rows, names, by: by.into(), span: directive.span };
            return self.kernel.asked.chunks.push(chunks);
        }
        for variable in self.variables(old) {
            if self.kernel.variables[variable.0].value.is_some() {
                let message =
                    format!("`{}` is split already, or computed from other variables", self.kernel.variable(variable));
                return self.refuse(
                    old.span,
                    message,
                    "has no loop of its own",
                    "split what it is computed from".to_owned(),
                );
            }
            if !self.split_variable(variable, &outer.name, &inner.name, by) {
                let message = format!("the blocks of `{}` get too large", self.kernel.variable(variable));
                let help =
                    "blocks of blocks have less than 2^61 values together: split by less, or less often".to_owned();
                return self.refuse(directive.span, message, "no mode is as long", help);
            }
        }
    }

    /// Whether a variable is an index of an operand whose stored levels the schedule wants walked.
    fn is_of_walked(&self, variable: IndexVariable) -> bool {
        let walks = self.kernel.asked.walks.iter().filter(|walk| walk.names.is_some());
        let tensors: Vec<TensorId> = walks.flat_map(|walk| &walk.tensors).copied().collect();
        let reads = self.notation.statements.iter().flat_map(|statement| statement.reads());
        reads.into_iter().any(|access| tensors.contains(&access.tensor) && access.indices.contains(&variable))
    }

    /// Says whether the indices that it is an index of, or computed from, can still be computed.
    fn split_variable(&mut self, variable: IndexVariable, outer: &str, inner: &str, by: u32) -> bool {
        let extent = self.kernel.variables[variable.0].extent;
        let outer = self.declare(outer, ExtentOf::Blocks { extent, by: by.into() });
        let inner = self.declare(inner, ExtentOf::Inside(by.into()));
        let blocks =
            IndexExpr::binary(IndexOperator::Multiply, IndexExpr::Variable(outer), IndexExpr::Constant(by.into()));
        let index = IndexExpr::binary(IndexOperator::Add, blocks, IndexExpr::Variable(inner));
        let mut largest = 0;
        for other in &mut self.kernel.variables {
            if let Some(Computed::Index { index: own, .. }) = &mut other.value {
                *own = own.replace(&mut |&made_of| match made_of == variable {
                    true => index.clone(),
                    false => IndexExpr::Variable(made_of),
                });
                largest = own.magnitude().max(largest);
            }
        }
        let written = self.kernel.asked.original(variable);
        let has_loop = written.0 < self.notation.variables.len() && is_searched(self.notation, written.0);
        let declaration = &mut self.kernel.variables[variable.0];
        declaration.value = Some(Computed::Index { index, guarded: true, block: Some(outer) });
        declaration.has_loop = has_loop;
        let order = std::mem::take(&mut self.kernel.asked.order);
        let parts = |end: IndexVariable| if end == variable { vec![outer, inner] } else { vec![end] };
        let both = |(before, after)| {
            parts(before).into_iter().flat_map(move |b| parts(after).into_iter().map(move |a| (b, a)))
        };
        self.kernel.asked.order = order.into_iter().flat_map(both).collect();
        // What is stored in order is visited in order.
        if has_loop {
            self.kernel.asked.order.push((outer, inner));
        }
        largest <= LARGEST_IN_INDEX
    }

    pub(super) fn declare(&mut self, name: &str, of: ExtentOf) -> IndexVariable {
        self.kernel.extents.push(Extent {
            name: name.to_owned(),
            written: Vec::new(),
            size: Size::Runtime,
            of: Some(of),
        });
        let extent = self.kernel.extents.len() - 1;
        self.kernel.variables.push(Variable {
            name: name.to_owned(),
            extent,
            value: None,
            has_loop: false,
            level: None,
            share: None,
        });
        IndexVariable(self.kernel.variables.len() - 1)
    }

    pub(super) fn unroll(&mut self, directive: &Directive) {
        for variable in self.all_variables(directive) {
            let declaration = &self.kernel.variables[variable.0];
            let extent = &self.kernel.extents[declaration.extent];
            match iterations(extent) {
                Some(1..=MOST_UNROLLED) if declaration.value.is_none() => {
                    self.kernel.asked.unrolled.push(variable);
                }
                _ => {
                    let message = format!("the loop over `{}` can't be written out", declaration.name);
                    let help = format!("split off a loop of at most {MOST_UNROLLED} iterations, and unroll that");
                    self.refuse(directive.span, message, "has no small number of iterations that is known here", help);
                }
            }
        }
    }
}

/// How many iterations a loop over all of an extent has, where that is known.
fn iterations(extent: &Extent) -> Option<u64> {
    match (extent.size, extent.of) {
        (Size::Constant(count), None) | (_, Some(ExtentOf::Inside(count))) => Some(count),
        _ => None,
    }
}

/// Refuses what the schedule does not keep to.
pub(super) fn check(kernel: &Kernel, directives: &[Directive], found: &mut Diagnostics) {
    let span = |name: &str| {
        // Fusing loops orders them too.
        let of_name = |name: &str| directives.iter().rfind(|directive| directive.name.name == name);
        let directive = of_name(name).or_else(|| of_name("fuse")).or(directives.last());
        directive.map_or(Span::default(), |directive| directive.span)
    };
    let mut refuse = |name: &str, message: String, label: &str, help: &str| {
        found.push(
            Diagnostic::new(codes::SCHEDULE_REFUSED, span(name), message).label(label.to_owned()).help(help.to_owned()),
        );
    };
    let name = |variable: IndexVariable| kernel.variable(variable);
    let mut nests: Vec<Vec<(IndexVariable, Run)>> = Vec::new();
    collect_nests(&kernel.body, &mut Vec::new(), &mut nests);
    for &(outer, inner) in &kernel.asked.order {
        let stands_against = |nest: &Vec<(IndexVariable, Run)>| {
            let place = |variable| nest.iter().position(|(other, _)| *other == variable);
            matches!((place(outer), place(inner)), (Some(outer), Some(inner)) if inner < outer)
        };
        if nests.iter().any(stands_against) {
            let message = format!("the loop over `{}` can't be outside of that over `{}`", name(outer), name(inner));
            refuse(
                "reorder",
                message,
                "stands against another order",
                "the entries of a sparse result are stored in order, and what is computed comes after what it is computed from",
            );
        }
    }
    let count = |variable: IndexVariable| iterations(&kernel.extents[kernel.variables[variable.0].extent]).unwrap_or(1);
    let written_out = |nest: &Vec<(IndexVariable, Run)>| {
        let unrolled = nest.iter().filter(|(variable, _)| kernel.asked.unrolled.contains(variable));
        unrolled.fold(1, |times: u64, (variable, _)| times.saturating_mul(count(*variable)))
    };
    let times = nests.iter().map(written_out).filter(|times| *times > 1).fold(0, u64::saturating_add);
    if times > MOST_WRITTEN_OUT {
        let message = format!("loops that are written out in each other come to {times} copies of what is inside");
        let help = format!("leave out an `unroll`, or split by less: together they may come to {MOST_WRITTEN_OUT}");
        refuse("unroll", message, "is too much code", &help);
    }
    let is_balanced = |variable: &IndexVariable| kernel.asked.balanced.iter().any(|(of, ..)| of == variable);
    let runs = |variable: IndexVariable, run: Run| nests.iter().flatten().any(|loops| *loops == (variable, run));
    // An index of which a loop searches has the name of that which runs.
    let some_runs = |variable: IndexVariable, run: Run| {
        let all = (0..kernel.variables.len()).map(IndexVariable);
        all.into_iter().any(|other| name(other) == name(variable) && runs(other, run))
    };
    // Nor does one run of which only the extent counts.
    let is_extent = |variable: IndexVariable| {
        let counts = |of: &Variable| matches!(&of.value, Some(Computed::Index { index, .. }) if index.extents().contains(&variable));
        nests.iter().flatten().all(|(other, _)| *other != variable) && kernel.variables.iter().any(counts)
    };
    let in_parallel =
        |variable: &IndexVariable| is_balanced(variable) || is_extent(*variable) || some_runs(*variable, Run::Parallel);
    for &variable in kernel.asked.parallel.iter().filter(|variable| !in_parallel(variable)) {
        let message = format!("the loop over `{}` can't run in parallel", name(variable));
        refuse(
            "parallel",
            message,
            "is no loop that can be cut into chunks",
            "it is computed or a vector, is inside of another parallel loop, or the result is appended and it is not the outermost",
        );
    }
    let in_lanes = |variable: IndexVariable| is_extent(variable) || some_runs(variable, Run::Vector);
    for &variable in kernel.asked.vector.iter().filter(|&&variable| !in_lanes(variable)) {
        let message = format!("the loop over `{}` can't run in vector lanes", name(variable));
        refuse(
            "vector",
            message,
            "is no innermost loop over dense data",
            "the index must be one of the result's or of a workspace's, and dense wherever it stands; reorder its loop to the inside",
        );
    }
}

/// The loops around each assignment, outermost first.
fn collect_nests(
    statement: &Statement,
    around: &mut Vec<(IndexVariable, Run)>,
    nests: &mut Vec<Vec<(IndexVariable, Run)>>,
) {
    match statement {
        Statement::Forall { variable, run, body } => {
            around.push((*variable, *run));
            collect_nests(body, around, nests);
            around.pop();
        }
        Statement::Assign(_) => nests.push(around.clone()),
        Statement::Empty => {}
        Statement::Where { consumer, producer, .. } => {
            collect_nests(producer, around, nests);
            collect_nests(consumer, around, nests);
        }
        Statement::Sequence(statements) => statements.iter().for_each(|inner| collect_nests(inner, around, nests)),
    }
}

/// Whether loops that the schedule wants in parallel, which stand inside of others, can be cut: where they walk nothing, the loops
/// outside have no cursors, and nothing is appended, which would come in the order of the loops outside.
pub(super) fn can_be_cut(kernel: &Kernel, statement: &Statement) -> bool {
    let is_appended = |tensor: &super::Tensor| tensor.kind == TensorKind::Output(super::OutputStructure::Appended);
    match statement {
        Statement::Empty | Statement::Assign(_) => !kernel.tensors.iter().any(is_appended),
        Statement::Forall { variable, body, .. } => {
            if kernel.asked.parallel.contains(variable) {
                return operands(kernel, *variable, body).is_empty() && !kernel.tensors.iter().any(is_appended);
            }
            can_be_cut_inside(kernel, *variable, body)
        }
        Statement::Where { consumer, producer, .. } => can_be_cut(kernel, producer) && can_be_cut(kernel, consumer),
        Statement::Sequence(statements) => statements.iter().all(|inner| can_be_cut(kernel, inner)),
    }
}

/// The same for those inside of a loop, which must have no cursor: it walks one operand at most, without runs of equal coordinates,
/// and does nothing where that has no entry.
pub(super) fn can_be_cut_inside(kernel: &Kernel, variable: IndexVariable, body: &Statement) -> bool {
    let walked = operands(kernel, variable, body);
    let is_unique =
        |access: &super::Access| kernel.tensor(access.tensor).format.levels.iter().all(|level| level.format.unique());
    let is_everywhere = || Lattice::new(&kernel.tensors, body, &walked).everywhere().is_some();
    let has_cursor = !walked.is_empty() && (walked.len() > 1 || !walked.iter().all(is_unique) || is_everywhere());
    !has_cursor && can_be_cut(kernel, body)
}
