//! One statement: what it may assign, where its extents come from, what a sparse result holds.

use super::indices::Indices;
use super::uses;
use super::value::Values;
use super::{condition, reduction, result, types, visits};
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes};
use crate::ir::{ElementType, IndexExpr, ReduceOperator, constant};
use crate::level;
use crate::notation::{
    self, Assignment, Expr, IndexVariable, Role, Tensor, TensorId, UnaryOperator, einstein, simplify,
};
use crate::syntax::{self, Access, AssignOperator, BinaryOperator, ExprKind, MAXIMUM_INDICES, Statement, error};

/// The statement with its sums explicit; `None` where a problem was found. `updates` says whether a statement before it
/// has assigned the target.
pub(super) fn check(
    statement: &Statement,
    tensors: &[Tensor],
    updates: bool,
    indices: &mut Indices,
    found: &mut Diagnostics,
    warnings: &mut Diagnostics,
) -> Option<Assignment> {
    indices.begin_statement();
    let names = uses::index_names(statement);
    if let Some(name) = uses::distinct(&names).get(MAXIMUM_INDICES) {
        found.push(error::many_indices(name.span, MAXIMUM_INDICES));
        return None;
    }
    let target = tensors.iter().position(|tensor| tensor.name == statement.target.name.name).map(TensorId);
    if let Some(target) = target {
        check_roles(statement, tensors, target, updates, found);
    }
    let stored = target.map_or(ElementType::F64, |target| tensors[target.0].element);
    let element = stored.computed();
    let mut values = Values {
        tensors,
        indices,
        index_names: names.into_iter().map(|name| name.name.as_str()).collect(),
        reduced: Vec::new(),
        masked: result::is_masked(statement, tensors) || own_read(statement).is_some(),
        statement: Some(statement),
        found,
    };
    let operator = match statement.operator {
        AssignOperator::Assign => None,
        AssignOperator::Reduce(operator) => Some(operator),
    };
    if let Some(target) = target.filter(|_| stored.is_stored_only()) {
        check_stored_only(statement, &tensors[target.0], values.found);
    }
    if let Some(operator) = operator {
        values.check_operator(operator, &statement.operator.to_string(), element, statement.operator_span);
    }
    // A target without indices is a scalar: an access of order 0.
    let target = values.unread(&statement.target);
    let value = values.terms(&statement.value, element);
    let mask = statement.mask.as_ref().map(|mask| values.unread(mask));
    let mut chooses = statement.condition.as_ref().map(|condition| (values.chooses(condition), condition.span));
    // Values tell the entries of what stores other places as well.
    if let Some(Some(mask)) = &mask
        && !tensors[mask.tensor.0].format.tells_entries()
    {
        let (others, span) = chooses.unwrap_or((Some(Expr::Literal(constant::truth(true))), mask.span));
        let all = others.map(|others| simplify::simplify(condition::both(mask.stored(), others)));
        chooses = Some((all, span));
    }
    let reduced = std::mem::take(&mut values.reduced);
    let mut checked = Assignment {
        target: target?,
        operator,
        value: value?,
        mask: mask.map_or(Some(None), |mask| mask.map(Some))?,
        stage: statement.stage,
        span: statement.span,
    };

    reduction::check_scope(&reduced, &checked, indices, found);
    if may_recur(statement, &tensors[checked.target.tensor.0], updates) {
        search_own_reads(&mut checked, tensors, indices);
        check_recurrence(&checked, statement, tensors, indices, found);
    }
    if !check_mask(&checked, statement, indices, found) {
        return None;
    }
    check_target(&checked, statement, tensors, updates, indices, found);
    compute_inner_indices(&mut checked.target, tensors, indices);
    check_sum(&checked, statement, element, indices, found);
    let outside = match chooses {
        Some((condition, span)) => condition::choose_terms(&mut checked, condition?, span, element, indices, found),
        None => None,
    };
    make_sums_explicit(&mut checked, indices, found);
    if let Some(condition) = outside {
        let fill = constant::cast(element, tensors[checked.target.tensor.0].fill);
        // What was made before stays, and what was not is the fill value.
        let nothing = operator.filter(|_| updates).map_or(fill, |operator| operator.identity(element))?;
        checked.value = condition::chosen(condition, checked.value, nothing);
    }
    result::check(&checked, statement, tensors, updates, indices, warnings);
    visits::check(&checked, tensors, indices, warnings);
    if stored.is_stored_only() && operator.is_none() {
        // Sums are made in what is computed with, and rounded once.
        checked.value = Expr::Cast(stored, Box::new(checked.value));
    }
    Some(checked)
}

/// Temporaries are of a type that is computed with.
fn check_stored_only(statement: &Statement, target: &Tensor, found: &mut Diagnostics) {
    let (name, element) = (&target.name, target.element);
    if target.role == Role::Temporary {
        let message = format!("`{name}` is a temporary, and `{element}` is how parameters and results are stored");
        found.push(
            Diagnostic::new(codes::UNDEFINED_FOR_TYPE, statement.target.span, message)
                .label(format!("computed with as `{}`", element.computed()))
                .help(format!("declare it as `{}`", element.computed())),
        );
    }
}

/// Truth values have no sum.
fn check_sum(
    checked: &Assignment,
    statement: &Statement,
    element: ElementType,
    indices: &Indices,
    found: &mut Diagnostics,
) {
    let is_sum = checked.operator.is_none() && element == ElementType::Bool;
    let target = indices.running(&checked.target.indices);
    let free = checked.value.free_variables(&|variable| indices.running(&[variable]));
    let Some(variable) = free.into_iter().find(|variable| !target.contains(variable)) else { return };
    if is_sum {
        let name = &indices.variables[variable.0].name;
        found.push(
            Diagnostic::new(codes::UNDEFINED_FOR_TYPE, statement.value.span, "a sum of truth values")
                .label(format!("summed over `{name}`"))
                .help("write `|=` for whether any is true, `&=` for whether all are"),
        );
    }
}

/// The element type of a temporary that declares none: that of its value, if it has one by itself.
pub(super) fn element(statement: &Statement, tensors: &[Tensor]) -> ElementType {
    let is_place = matches!(statement.value.kind, ExprKind::Reduce { place: true, .. });
    let default = if is_place { ElementType::I64 } else { ElementType::F64 };
    types::kind_for(&statement.target.name.name, &statement.value, tensors).unwrap_or(default)
}

fn check_roles(statement: &Statement, tensors: &[Tensor], target: TensorId, updates: bool, found: &mut Diagnostics) {
    let target = &tensors[target.0];
    if target.role == Role::Input {
        let message = format!("`{}` is a parameter and can't be assigned", target.name);
        found.push(
            Diagnostic::new(codes::PARAMETER_ASSIGNED, statement.target.span, message)
                .label("assigned here")
                .related(target.span, "a parameter")
                .help("assign a result: what stands after the `->`"),
        );
    }
    let read = own_read(statement).filter(|_| target.role != Role::Input);
    if let Some(read) = read.filter(|_| !may_recur(statement, target, updates)) {
        let message = format!("`{}` is read by the statement that assigns it", target.name);
        found.push(
            Diagnostic::new(codes::RESULT_READ, read.span, message)
                .label("read here")
                .related(statement.target.span, "assigned here")
                .help(instead_of_reading(statement, tensors, updates)),
        );
    }
}

/// Where a statement reads what it assigns.
fn own_read(statement: &Statement) -> Option<uses::Use<'_>> {
    uses::of_statement(statement).into_iter().skip(1).find(|used| used.name.name == statement.target.name.name)
}

/// Whether a statement may read what it assigns, at elements that come before: each element is assigned once.
fn may_recur(statement: &Statement, target: &Tensor, updates: bool) -> bool {
    target.format.mode_order().is_some()
        && !updates
        && statement.operator == AssignOperator::Assign
        && is_elsewhere(&statement.value, &statement.target)
        && !reads_itself(&statement.value, &statement.target)
}

/// Whether an expression reads a tensor at just these indices.
fn reads_itself(expr: &syntax::Expr, target: &syntax::Access) -> bool {
    matches!(&expr.kind, ExprKind::Access(access) if access.to_string() == target.to_string())
        || expr.children().into_iter().any(|child| reads_itself(child, target))
}

/// Has a recurrence search for what it reads of its own sparse target in other rows than the one that it assigns, in which a loop is.
fn search_own_reads(checked: &mut Assignment, tensors: &[Tensor], indices: &mut Indices) {
    let target = checked.target.clone();
    let format = &tensors[target.tensor.0].format;
    let Some(modes) = format.mode_order().filter(|_| !format.is_dense()) else { return };
    checked.value.for_each_access_mut(&mut |access| {
        if access.tensor != target.tensor {
            return;
        }
        for (depth, &mode) in modes.iter().enumerate() {
            // Of a diagonal, the outer level has the index, and the inner one is searched for it.
            if let IndexExpr::Variable(of) = indices.value(access.indices[mode])
                && of != access.indices[mode]
                && let Some(inner) = modes[depth..].iter().find(|&&inner| access.indices[inner] == of)
            {
                access.indices.swap(mode, *inner);
            }
            let is_elsewhere = modes[..=depth].iter().any(|&above| access.indices[above] != target.indices[above]);
            let is_found = level::is_located(format.levels[depth].format);
            if is_elsewhere && !is_found && target.indices.contains(&access.indices[mode]) {
                access.indices[mode] = indices.copy(access.indices[mode], &access.indices, access.span);
            }
        }
    });
}

/// Says where no order of the elements has all that a statement reads of its own target assigned before, and where nothing says which
/// entries a sparse one has.
fn check_recurrence(
    checked: &Assignment,
    statement: &Statement,
    tensors: &[Tensor],
    indices: &Indices,
    found: &mut Diagnostics,
) {
    if !checked.is_recurrent() {
        return;
    }
    let Some(read) = own_read(statement) else { return };
    let target = &statement.target;
    let stored = &tensors[checked.target.tensor.0];
    if stored.is_sparse() && checked.pattern(tensors).is_none() {
        let message = format!(
            "`{}` is read by the statement that assigns it, which does not say which entries it has",
            stored.name
        );
        found.push(
            Diagnostic::new(codes::RESULT_READ, read.span, message)
                .label("read here")
                .related(target.span, "assigned here")
                .help(format!(
                    "say whose entries it has, as in `{target} = … where A(…)` with the same indices, and declare that input as `{}`",
                    stored.format
                )),
        );
        return;
    }
    let is_plain = |index: &IndexVariable| indices.variables[index.0].value.is_none();
    if checked.target.indices.iter().all(is_plain) && checked.recurrence(tensors, &indices.variables).is_some() {
        return;
    }
    let index = uses::names_in(target).first().map_or("i".to_owned(), |name| name.name.clone());
    let message = format!("no order of `{index}` has all that is read of `{}` assigned before", target.name);
    found.push(
        Diagnostic::new(codes::RESULT_READ, read.span, message)
            .label("read here")
            .related(target.span, "assigned here")
            .help(format!(
                "a condition in the sum says which elements come before: `sum(j)(… where j < {index})`, or `j > {index}` in each"
            )),
    );
}

/// What to write: an update, where a statement before has assigned the target; else there is nothing to read, and what there was is a parameter.
fn instead_of_reading(statement: &Statement, tensors: &[Tensor], updates: bool) -> String {
    let target = &statement.target;
    let written = target.to_string();
    let is_target = |expr: &syntax::Expr| expr.to_string() == written;
    let sums = uses::index_names(statement).iter().any(|name| !names_index(target, &name.name));
    if updates
        && let ExprKind::Binary(operator @ (BinaryOperator::Add | BinaryOperator::Multiply), left, right) = &statement.value.kind
        // `*=` would multiply over the other indices.
        && (*operator == BinaryOperator::Add || !sums)
        && let Some(rest) = [(left, right), (right, left)].into_iter().find_map(|(one, other)| is_target(one).then_some(other))
        && !uses::reads(rest, &target.name.name)
    {
        let sign = if *operator == BinaryOperator::Add { "+=" } else { "*=" };
        return format!("write `{target} {sign} {rest}`, which changes what the statement before has made");
    }
    if updates {
        return "make what it held before under another name, by `let`, and read that".to_owned();
    }
    let name = &target.name.name;
    let is_taken = |wish: &String| tensors.iter().any(|tensor| tensor.name == *wish);
    let before = (0..).map(|number| format!("{name}{number}")).find(|wish| !is_taken(wish)).unwrap_or_default();
    let mut written = statement.clone();
    rename(&mut written.value, name, &before);
    match statement.is_let {
        true => "a temporary is made at once: give what it is made of another name".to_owned(),
        false => {
            let solve = match is_elsewhere(&statement.value, target) {
                true => ". A result may be read where it has been assigned before: `sum(j)(… where j < i)`",
                false => "",
            };
            format!(
                "a result begins anew with each call: pass what it held before as a parameter, as in `{written}`; \
                 `spc run --feed {before}={name} --iterate 100` repeats that{solve}"
            )
        }
    }
}

/// Whether an expression reads a tensor at other indices than these.
fn is_elsewhere(expr: &syntax::Expr, target: &syntax::Access) -> bool {
    let is_own = |access: &syntax::Access| access.name.name == target.name.name;
    matches!(&expr.kind, ExprKind::Access(access) if is_own(access) && access.to_string() != target.to_string())
        || expr.children().into_iter().any(|child| is_elsewhere(child, target))
}

/// Gives what is read another name.
fn rename(expr: &mut syntax::Expr, from: &str, to: &str) {
    match &mut expr.kind {
        ExprKind::Name(name) if name.name == from => to.clone_into(&mut name.name),
        ExprKind::Access(access) if access.name.name == from => to.clone_into(&mut access.name.name),
        _ => expr.children_mut().into_iter().for_each(|child| rename(child, from, to)),
    }
}

fn names_index(access: &Access, name: &str) -> bool {
    uses::index_exprs(access).any(|expr| matches!(&expr.kind, ExprKind::Name(index) if index.name == name))
}

/// Whether the mask has no other indices than the statement.
fn check_mask(statement: &Assignment, source: &Statement, indices: &Indices, found: &mut Diagnostics) -> bool {
    let (Some(mask), Some(written)) = (&statement.mask, &source.mask) else { return true };
    let mut is_sound = true;
    let free = statement.value.free_variables(&|variable| indices.running(&[variable]));
    let target = indices.running(&statement.target.indices);
    for variable in &indices.running(&mask.indices) {
        if !target.contains(variable) && !free.contains(variable) {
            let name = &indices.variables[variable.0].name;
            let message = format!("the mask's index `{name}` is no index of the statement");
            is_sound = false;
            found.push(
                Diagnostic::new(codes::MASK_INDEX, written.span, message)
                    .label(format!("`{name}` occurs only here"))
                    .help("a mask's indices stand on the left-hand side, or are summed over on the right"),
            );
        }
    }
    is_sound
}

/// Whether each element of the result is assigned once, and in an order in which a sparse one can be stored; whether those that
/// several values come to begin with what changes nothing, or with what a statement before has left.
fn check_target(
    checked: &Assignment,
    statement: &Statement,
    tensors: &[Tensor],
    updates: bool,
    indices: &Indices,
    found: &mut Diagnostics,
) {
    let target = &checked.target;
    let tensor = &tensors[target.tensor.0];
    let meeting = meeting(target, indices);
    let Some(operator) = checked.operator else {
        for running in meeting {
            let name = &indices.variables[running.0].name;
            let message = format!("several `{name}` assign one element of `{}`", tensor.name);
            found.push(
                Diagnostic::new(codes::ASSIGNED_AGAIN, statement.target.span, message)
                    .label("the last value would be left")
                    .help(format!("write `{} += …` to add the values", statement.target)),
            );
        }
        return;
    };
    let alike = |one: &IndexVariable, other: &IndexVariable| notation::alike(&indices.variables, *one, *other);
    let scatters =
        notation::scatters(target, &tensor.format, &|index| indices.variables[index.0].value.as_ref(), &alike);
    let meets = tensor.format.is_dense() && !meeting.is_empty() && !updates;
    if (scatters || meets) && !simplify::is_identity(operator, tensor.fill) {
        let fill = tensor.fill.text();
        let what = if scatters { "a sparse result" } else { "a result" };
        let otherwise = if scatters { "" } else { ", or assign it before" };
        found.push(
            Diagnostic::new(
                codes::COMPUTED_RESULT_NOT_YET,
                statement.target.span,
                format!("`{operator}=` at computed indices into {what} with the fill value {fill}"),
            )
            .label("values that meet would not begin with it")
            .help(format!("leave `{}` the fill value that `{operator}=` begins with{otherwise}", tensor.name)),
        );
    }
}

/// The variables of a target of which several values come to one element.
fn meeting(target: &notation::Access, indices: &Indices) -> Vec<IndexVariable> {
    let values = || target.indices.iter().map(|index| indices.value(*index));
    let alike = |one: &IndexVariable, other: &IndexVariable| notation::alike(&indices.variables, *one, *other);
    let tells_apart = |running: IndexVariable| {
        values().any(|value| value.variables().contains(&running) && value.tells_apart(&alike))
    };
    indices.running(&target.indices).into_iter().filter(|running| !tells_apart(*running)).collect()
}

/// In a sparse result such as `A(i + 1, i)`, whose entries are stored in order: the index of the inner level is computed from the
/// outer one's variable as well.
fn compute_inner_indices(target: &mut notation::Access, tensors: &[Tensor], indices: &mut Indices) {
    let tensor = &tensors[target.tensor.0];
    // Another number of indices is reported elsewhere.
    let is_sound = tensor.is_sparse() && tensor.format.order == target.indices.len();
    let Some(modes) = tensor.format.mode_order().filter(|_| is_sound) else { return };
    for (depth, &mode) in modes.iter().enumerate() {
        let own = target.indices[mode];
        let above: Vec<IndexVariable> = modes[..depth].iter().map(|&mode| target.indices[mode]).collect();
        if indices.variables[own.0].value.is_none() && indices.running(&above).contains(&own) {
            target.indices[mode] = indices.copy(own, &target.indices, target.span);
        }
    }
}

fn make_sums_explicit(statement: &mut Assignment, indices: &mut Indices, found: &mut Diagnostics) {
    let split = match statement.operator {
        None | Some(ReduceOperator::Add) => {
            let target = indices.running(&statement.target.indices);
            let free = statement.value.free_variables(&|variable| indices.running(&[variable]));
            let mask = statement.mask.iter().flat_map(|mask| indices.running(&mask.indices));
            let shared: Vec<IndexVariable> =
                mask.filter(|variable| free.contains(variable) && !target.contains(variable)).collect();
            let (value, variables) = (&mut statement.value, &mut indices.variables);
            einstein::sum_shared(value, &statement.target, &shared, variables)
                .unwrap_or_else(|| einstein::sum_terms(value, &statement.target, variables))
        }
        Some(operator) => {
            einstein::reduce_whole(&mut statement.value, &statement.target, operator, &indices.variables);
            Vec::new()
        }
    };
    let Some(mask) = &statement.mask else { return };
    let mut refuse = |variable: IndexVariable, who: &str, label: &str| {
        let name = &indices.variables[variable.0].name;
        let message = format!("a mask over `{name}`, which {who}, is not lowered yet");
        found.push(
            Diagnostic::new(codes::SUMMED_MASK_NOT_YET, mask.span, message)
                .label(format!("`{name}` {label}"))
                .help("write a kernel for each term"),
        );
    };
    let target = indices.running(&statement.target.indices);
    for variable in indices.running(&mask.indices) {
        let is_used =
            statement.value.accesses().iter().any(|access| indices.running(&access.indices).contains(&variable));
        if split.contains(&variable) {
            refuse(variable, "several terms sum over", "is another variable in each term");
        } else if is_used && !target.contains(&variable) && !is_one_sum(&statement.value) {
            refuse(variable, "only a part of the right-hand side sums over", "means nothing to the rest");
        }
    }
}

/// Whether a value is a sum as a whole, so that a mask can choose its terms.
fn is_one_sum(value: &Expr) -> bool {
    match value {
        Expr::Reduce(..) => true,
        Expr::Unary(UnaryOperator::Negate, operand) => is_one_sum(operand),
        _ => false,
    }
}
