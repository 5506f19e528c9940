//! Results: what a sparse one holds.

use super::indices::Indices;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, codes::warnings as codes};
use crate::ir::{ElementType, Literal};
use crate::notation::{Access, Assignment, Expr, IndexVariable, Role, Tensor, UnaryOperator, combine, simplify};
use crate::syntax::{self, Statement};

/// Whether `where` restricts the statement to what a sparse tensor stores.
pub(super) fn is_masked(statement: &Statement, tensors: &[Tensor]) -> bool {
    let sparse = |name: &str| tensors.iter().any(|tensor| tensor.name == name && tensor.is_sparse());
    statement.mask.as_ref().is_some_and(|mask| sparse(&mask.name.name))
}

/// Says where a sparse result stores every coordinate, or every one of a mode, as nothing leaves any out; `updates` says whether
/// it holds something already.
pub(super) fn check(
    statement: &Assignment,
    source: &Statement,
    tensors: &[Tensor],
    updates: bool,
    indices: &Indices,
    warnings: &mut Diagnostics,
) {
    let target = &tensors[statement.target.tensor.0];
    // A temporary whose format is not said gets one that holds all.
    if !target.is_sparse() || target.role == Role::Temporary && !target.declared {
        return;
    }
    let fills = fills(statement, tensors, updates);
    if let Some(variable) = broadcast(statement, indices).first().filter(|_| !fills) {
        warnings.push(repeated(target, &indices.variables[variable.0].name, source.target.span));
    }
    if fills {
        let value = afterwards(statement, target, updates);
        let operand = value.accesses().into_iter().find(|access| tensors[access.tensor.0].is_sparse());
        let missing = |access: &Access| tensors[access.tensor.0].missing();
        let is_computed = |index: &IndexVariable| indices.variables[index.0].value.is_some();
        let are_computed = statement.target.indices.iter().any(is_computed);
        // A diagonal, or single elements, of dense operands are no more than what is asked for.
        if are_computed && operand.is_none() {
            return;
        }
        let what = if are_computed { "every element that its indices reach" } else { "every element" };
        let problem = full(target, operand, what, tensors, indices, &source.value);
        warnings.push(match simplify::known(&value, &missing) {
            Some(known) if !target.fill.equals(known) => {
                problem.help(format!("or declare its fill value: `fill {}` after its format", known.text()))
            }
            _ => problem,
        });
    }
}

/// What the target is after a statement, which `updates` what it holds or not.
fn afterwards(statement: &Assignment, target: &Tensor, updates: bool) -> Expr {
    match statement.operator.filter(|_| updates) {
        Some(operator) => {
            let held = Expr::Access(statement.target.clone());
            combine::combine(operator, target.element, held, statement.value.clone())
        }
        None => statement.value.clone(),
    }
}

/// Whether the target would hold something else than its fill value where no operand has an entry.
pub(in crate::notation) fn fills(statement: &Assignment, tensors: &[Tensor], updates: bool) -> bool {
    let target = &tensors[statement.target.tensor.0];
    let missing = |access: &Access| tensors[access.tensor.0].missing();
    if !updates && simplify::has_choice(&statement.value, target.fill) {
        return false;
    }
    let known = simplify::known(&afterwards(statement, target, updates), &missing);
    let masked = statement.mask.as_ref().is_some_and(|mask| tensors[mask.tensor.0].is_sparse());
    !(known.is_some_and(|known| known.equals(target.fill)) || masked && mask_chooses(statement, target.fill))
}

/// Whether the result holds its fill value wherever the mask has no entry: where nothing is computed, or nothing reduced.
fn mask_chooses(statement: &Assignment, fill: Literal) -> bool {
    let mask = statement.mask.iter().flat_map(|mask| &mask.indices);
    let outside = mask.into_iter().all(|variable| statement.target.indices.contains(variable));
    outside || of_nothing(&statement.value, fill.element()).is_some_and(|value| value.equals(fill))
}

/// What a value is where its reduction has no terms.
fn of_nothing(value: &Expr, element: ElementType) -> Option<Literal> {
    match value {
        Expr::Reduce(operator, ..) => operator.identity(element),
        Expr::Unary(UnaryOperator::Negate, operand) => simplify::literal(&simplify::simplify(Expr::Unary(
            UnaryOperator::Negate,
            Box::new(Expr::Literal(of_nothing(operand, element)?)),
        ))),
        _ => None,
    }
}

/// The indices of the target that no operand has.
fn broadcast(statement: &Assignment, indices: &Indices) -> Vec<IndexVariable> {
    let operands = statement.value.accesses().into_iter().chain(&statement.mask);
    let bound: Vec<IndexVariable> = operands.flat_map(|access| indices.running(&access.indices)).collect();
    indices.running(&statement.target.indices).into_iter().filter(|variable| !bound.contains(variable)).collect()
}

fn repeated(target: &Tensor, index: &str, span: Span) -> Diagnostic {
    let message = format!("the sparse result `{}` stores every `{index}`", target.name);
    Diagnostic::new(codes::FULL_RESULT, span, message)
        .label(format!("no operand has the index `{index}`"))
        .related(target.span, "the result is sparse")
        .help(format!("store `{}` in a dense format", target.name))
}

fn full(
    target: &Tensor,
    operand: Option<&Access>,
    what: &str,
    tensors: &[Tensor],
    indices: &Indices,
    value: &syntax::Expr,
) -> Diagnostic {
    let message = format!("the sparse result `{}` stores {what}", target.name);
    let problem = Diagnostic::new(codes::FULL_RESULT, value.span, message).related(target.span, "the result is sparse");
    let Some(operand) = operand else {
        return problem
            .label("no sparse operand leaves any out")
            .help(format!("store `{}` in a dense format", target.name));
    };
    let name = &tensors[operand.tensor.0].name;
    let variables: Vec<&str> =
        operand.indices.iter().map(|variable| indices.variables[variable.0].name.as_str()).collect();
    let label = match target.fill.is_zero() && target.element != ElementType::Bool {
        true => format!("not zero where `{name}` stores no entry"),
        false => {
            format!("not {}, the fill value of `{}`, where `{name}` stores no entry", target.fill.text(), target.name)
        }
    };
    let problem = problem.label(label);
    // What a statement updates is no mask of it.
    if *name == target.name {
        return problem.help(format!("store `{name}` in a dense format"));
    }
    let text = format!("{name}({})", variables.join(", "));
    problem
        .help(format!("add `where {text}` to compute only at the stored coordinates of `{name}`"))
        .help(format!("or store `{}` in a dense format", target.name))
}
