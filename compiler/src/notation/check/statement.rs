//! One statement: what it may assign, where its extents come from, what a sparse result can hold.

use super::indices::Indices;
use super::missing;
use super::uses;
use super::value::Values;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::notation as codes};
use crate::ir::ReduceOperator;
use crate::notation::print::operator_text;
use crate::notation::{Access, Assignment, IndexVariable, Role, Tensor, TensorId, einstein};
use crate::syntax::{self, AssignOperator, Ident, Statement};

/// The statement with its sums explicit; `None` where a problem was found.
pub(super) fn check(
    statement: &Statement,
    tensors: &[Tensor],
    indices: &mut Indices,
    found: &mut Diagnostics,
) -> Option<Assignment> {
    indices.begin_statement();
    let target = tensors.iter().position(|tensor| tensor.name == statement.target.name.name).map(TensorId);
    if let Some(target) = target {
        check_roles(statement, &tensors[target.0], found);
    }
    let mut values = Values {
        tensors,
        indices,
        element: element(statement, target, tensors),
        target: &statement.target.name.name,
        index_names: uses::index_names(statement).into_iter().map(|name| name.name.as_str()).collect(),
        reduced: Vec::new(),
        mixed: Vec::new(),
        masked: masked(statement, tensors),
        found,
    };
    let operator = match statement.operator {
        AssignOperator::Assign => None,
        AssignOperator::Reduce(operator) => Some(operator),
    };
    if let Some(operator) = operator {
        values.check_operator(operator, operator_text(operator), statement.operator_span);
    }
    // A target without indices is a scalar: an access of order 0.
    let target = values.unread(&statement.target);
    let value = values.value(&statement.value);
    let mask = statement.mask.as_ref().map(|mask| values.unread(mask));
    let reduced = std::mem::take(&mut values.reduced);
    let mut checked = Assignment {
        target: target?,
        operator,
        value: value?,
        mask: mask.map_or(Some(None), |mask| mask.map(Some))?,
        span: statement.span,
    };

    check_reduced(&reduced, &checked, indices, found);
    check_mask(&checked, statement, indices, found);
    check_result(&checked, statement, tensors, indices, found);
    make_sums_explicit(&mut checked, indices, found);
    Some(checked)
}

/// Whether `where` restricts the statement to what a sparse tensor stores.
fn masked(statement: &Statement, tensors: &[Tensor]) -> bool {
    let sparse = |name: &str| tensors.iter().any(|tensor| tensor.name == name && tensor.is_sparse());
    statement.mask.as_ref().is_some_and(|mask| sparse(&mask.name.name))
}

/// The statement's element type: its target's.
fn element(statement: &Statement, target: Option<TensorId>, tensors: &[Tensor]) -> crate::ir::ElementType {
    let named = |name: &str| tensors.iter().find(|tensor| tensor.name == name);
    let target = target.map(|target| &tensors[target.0]).filter(|tensor| tensor.role != Role::Temporary);
    let first = || uses::of_statement(statement).into_iter().skip(1).find_map(|used| named(&used.name.name));
    target.or_else(first).map_or(crate::ir::ElementType::F64, |tensor| tensor.element)
}

fn check_roles(statement: &Statement, target: &Tensor, found: &mut Diagnostics) {
    if target.role == Role::Input {
        let message = format!("`{}` is a parameter and can't be assigned", target.name);
        found.push(
            Diagnostic::new(codes::PARAMETER_ASSIGNED, statement.target.span, message)
                .label("assigned here")
                .related(target.span, "a parameter")
                .help("assign a result: what stands after the `->`"),
        );
    }
    let read = uses::of_statement(statement).into_iter().skip(1).find(|used| used.name.name == target.name);
    if let Some(read) = read.filter(|_| target.role != Role::Input) {
        let message = format!("`{}` is read by the statement that assigns it", target.name);
        found.push(
            Diagnostic::new(codes::RESULT_READ, read.span, message)
                .label("read here")
                .related(statement.target.span, "assigned here")
                .help(format!("to add to what is there, write `{} += …` without it on the right", statement.target)),
        );
    }
}

/// Explicit reductions over variables that are also the statement's.
fn check_reduced(reduced: &[&Ident], statement: &Assignment, indices: &Indices, found: &mut Diagnostics) {
    for name in reduced {
        let Some(outer) = indices.free(&name.name) else { continue };
        let problem = Diagnostic::new(
            codes::REDUCTION_VARIABLE,
            name.span,
            format!("`{}` has a meaning outside the reduction", name.name),
        )
        .label("bound by the reduction")
        .related(indices.variables[outer.0].span, "used outside of it here");
        found.push(match statement.target.indices.contains(&outer) {
            true => problem.help("a reduction is over variables that the left-hand side lacks"),
            false => problem.help("give one of them another name, or let the reduction enclose both"),
        });
    }
}

fn check_mask(statement: &Assignment, source: &Statement, indices: &Indices, found: &mut Diagnostics) {
    let (Some(mask), Some(written)) = (&statement.mask, &source.mask) else { return };
    let free = statement.value.free_variables();
    for variable in &mask.indices {
        if !statement.target.indices.contains(variable) && !free.contains(variable) {
            let name = &indices.variables[variable.0].name;
            let message = format!("the mask's index `{name}` is no index of the statement");
            found.push(
                Diagnostic::new(codes::MASK_INDEX, written.span, message)
                    .label(format!("`{name}` occurs only here"))
                    .help("a mask's indices stand on the left-hand side, or are summed over on the right"),
            );
        }
    }
}

/// Whether the result can hold what the statement computes.
fn check_result(
    statement: &Assignment,
    source: &Statement,
    tensors: &[Tensor],
    indices: &Indices,
    found: &mut Diagnostics,
) {
    let target = &tensors[statement.target.tensor.0];
    if !target.is_sparse() {
        return;
    }
    let broadcast = broadcast(statement);
    if !broadcast.is_empty() {
        for variable in broadcast {
            found.push(sparse_broadcast(target, &indices.variables[variable.0].name, source.target.span));
        }
        return;
    }
    let sparse = statement.value.accesses().into_iter().find(|access| tensors[access.tensor.0].is_sparse());
    let zero = missing::value(&statement.value, tensors).is_zero();
    if let Some(operand) = sparse.filter(|_| !masked(source, tensors) && !zero) {
        found.push(dense_result(target, operand, tensors, indices, &source.value));
    }
}

/// The indices of the target that no operand has.
fn broadcast(statement: &Assignment) -> Vec<IndexVariable> {
    let operands = statement.value.accesses().into_iter().chain(&statement.mask);
    let bound: Vec<IndexVariable> = operands.flat_map(|access| access.indices.iter().copied()).collect();
    statement.target.indices.iter().copied().filter(|variable| !bound.contains(variable)).collect()
}

fn sparse_broadcast(target: &Tensor, index: &str, span: Span) -> Diagnostic {
    let message = format!("no operand has the index `{index}` of the sparse result `{}`", target.name);
    Diagnostic::new(codes::SPARSE_BROADCAST, span, message)
        .label(format!("every `{index}` would be stored"))
        .related(target.span, "the result is sparse")
        .help(format!("store `{}` in a dense format", target.name))
}

fn dense_result(
    target: &Tensor,
    operand: &Access,
    tensors: &[Tensor],
    indices: &Indices,
    value: &syntax::Expr,
) -> Diagnostic {
    let name = &tensors[operand.tensor.0].name;
    let variables: Vec<&str> =
        operand.indices.iter().map(|variable| indices.variables[variable.0].name.as_str()).collect();
    let text = format!("{name}({})", variables.join(", "));
    Diagnostic::new(
        codes::DENSE_RESULT,
        value.span,
        format!("this would make the sparse result `{}` dense", target.name),
    )
    .label(format!("not zero where `{name}` stores no entry"))
    .related(target.span, "the result is sparse")
    .help(format!("add `where {text}` to compute only at the stored coordinates of `{name}`"))
    .help(format!("or store `{}` in a dense format", target.name))
}

fn make_sums_explicit(statement: &mut Assignment, indices: &mut Indices, found: &mut Diagnostics) {
    let split = match statement.operator {
        None | Some(ReduceOperator::Add) => {
            einstein::sum_terms(&mut statement.value, &statement.target, &mut indices.variables)
        }
        Some(operator) => {
            einstein::reduce_whole(&mut statement.value, &statement.target, operator);
            Vec::new()
        }
    };
    let Some(mask) = &statement.mask else { return };
    for variable in split.into_iter().filter(|variable| mask.indices.contains(variable)) {
        let name = &indices.variables[variable.0].name;
        let message = format!("a mask over `{name}`, which several terms sum over, is not lowered yet");
        found.push(
            Diagnostic::new(codes::SUMMED_MASK_NOT_YET, mask.span, message)
                .label(format!("`{name}` is another variable in each term"))
                .help("write a kernel for each term"),
        );
    }
}
