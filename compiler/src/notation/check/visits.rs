//! Reductions that visit every value of an index though a sparse operand has it.

use super::indices::Indices;
use crate::diagnostics::{Diagnostic, Diagnostics, codes::warnings as codes};
use crate::ir::{Literal, ReduceOperator};
use crate::notation::simplify::{is_identity, known, literal, simplify, with_missing};
use crate::notation::{Access, Assignment, Expr, IndexVariable, Tensor};

/// Says where terms of a reduction differ from each other though no sparse operand has an entry, and another fill value would leave
/// them out.
pub(super) fn check(statement: &Assignment, tensors: &[Tensor], indices: &Indices, warnings: &mut Diagnostics) {
    if statement.mask.is_none() {
        visit(&statement.value, tensors, indices, warnings);
    }
}

fn visit(expr: &Expr, tensors: &[Tensor], indices: &Indices, warnings: &mut Diagnostics) {
    if let Expr::Reduce(operator, variables, body) = expr {
        let found = variables.iter().find_map(|variable| {
            let fill = remedy(*operator, *variable, body, tensors)?;
            Some((*variable, fill))
        });
        if let Some((variable, (operand, fill))) = found {
            warnings.push(warning(*operator, variable, &operand, fill, tensors, indices));
        }
    }
    expr.children().into_iter().for_each(|child| visit(child, tensors, indices, warnings));
}

/// The sparse operand whose fill value makes a reduction visit every value of an index, and the one with which it would not.
fn remedy(
    operator: ReduceOperator,
    variable: IndexVariable,
    body: &Expr,
    tensors: &[Tensor],
) -> Option<(Access, Literal)> {
    let has_entries = |access: &Access| {
        tensors[access.tensor.0].format.levels.iter().any(|level| !level.format.kind.is_dense())
            && access.indices.contains(&variable)
    };
    let missing = |access: &Access| has_entries(access).then(|| tensors[access.tensor.0].fill);
    let operand = body.accesses().into_iter().find(|access| has_entries(access))?;
    let term = simplify(with_missing(body, &missing));
    let is_left_out = literal(&term).is_some_and(|value| is_identity(operator, value));
    if is_left_out || !term.free_variables(&|variable| vec![variable]).contains(&variable) {
        return None;
    }
    // What is as large as the operand would be if all of it were stored has to be read anyhow.
    let is_smaller = |access: &&Access| operand.indices.iter().any(|index| !access.indices.contains(index));
    if !term.accesses().iter().all(is_smaller) {
        return None;
    }
    let element = tensors[operand.tensor.0].element;
    let identities = ReduceOperator::ALL.into_iter().filter_map(|other| other.identity(element));
    let mut candidates = operator.identity(element).into_iter().chain(identities);
    let leaves_out = |fill: &Literal| {
        let other = |access: &Access| match access.tensor == operand.tensor && has_entries(access) {
            true => Some(*fill),
            false => missing(access),
        };
        known(body, &|access| other(access)).is_some_and(|value| is_identity(operator, value))
    };
    let fill = candidates.find(leaves_out)?;
    Some((operand.clone(), fill))
}

fn warning(
    operator: ReduceOperator,
    variable: IndexVariable,
    operand: &Access,
    fill: Literal,
    tensors: &[Tensor],
    indices: &Indices,
) -> Diagnostic {
    let tensor = &tensors[operand.tensor.0];
    let (name, index) = (&tensor.name, &indices.variables[variable.0].name);
    let word = super::reduction_name(operator);
    let message = format!("this `{word}` visits every `{index}`, not only the stored entries of `{name}`");
    let problem = Diagnostic::new(codes::EVERY_COORDINATE, operand.span, message);
    let problem = problem
        .label(format!("{} where there is no entry, and the rest of the term is not the same", tensor.fill.text()));
    problem.related(tensor.span, format!("the fill value of `{name}`")).help(format!(
        "declare it with `fill {}` behind its format, if terms without an entry do not count",
        fill.text()
    ))
}
