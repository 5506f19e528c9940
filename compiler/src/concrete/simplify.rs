//! What is left of a statement where an operand has no entry.
//!
//! A missing entry is its tensor's fill value, and what a constant does to whatever it is combined with, expressions know
//! ([`notation::simplify`](crate::notation)). Here are statements: assigning what is there already has no effect, nor has
//! combining with what changes nothing. Before: `t += X(i, j) * v(j)`, and `X` has no entry. After: nothing to do.

use super::{Access, Assign, Expr, Statement, Tensor, TensorId};
use crate::ir::Literal;
pub(crate) use crate::notation::simplify::{is_identity, simplify as simplify_expr};
use crate::notation::simplify::{literal, with_missing};

/// The statement where `access` has no entry.
pub fn absent(tensors: &[Tensor], statement: &Statement, access: &Access) -> Statement {
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => {
            Statement::Forall { variable: *variable, run: *run, body: Box::new(absent(tensors, body, access)) }
        }
        Statement::Where { workspace, consumer, producer } => Statement::Where {
            workspace: *workspace,
            consumer: Box::new(absent(tensors, consumer, access)),
            producer: Box::new(absent(tensors, producer, access)),
        },
        Statement::Assign(assign) if assign.masks.iter().any(|mask| mask.same_place(access)) => Statement::Empty,
        Statement::Assign(assign) => {
            Statement::Assign(Assign { value: without(tensors, &assign.value, access), ..assign.clone() })
        }
        Statement::Sequence(statements) => {
            Statement::Sequence(statements.iter().map(|statement| absent(tensors, statement, access)).collect())
        }
    }
}

/// The expression where `access` has no entry.
pub(crate) fn without(tensors: &[Tensor], expr: &Expr, access: &Access) -> Expr {
    with_missing(expr, &|other| other.same_place(access).then(|| tensors[other.values().0].fill))
}

/// The statement without what has no effect: outputs and workspaces hold their fill value at first.
pub fn simplify(tensors: &[Tensor], statement: Statement) -> Statement {
    match statement {
        Statement::Empty => Statement::Empty,
        Statement::Forall { variable, run, body } => match simplify(tensors, *body) {
            Statement::Empty => Statement::Empty,
            body => Statement::Forall { variable, run, body: Box::new(body) },
        },
        Statement::Where { workspace, consumer, producer } => match simplify(tensors, *producer) {
            // Before anything else is known of the consumer: with infinite fill values the order matters.
            Statement::Empty => simplify(tensors, without_workspace(tensors, *consumer, workspace)),
            producer => match simplify(tensors, *consumer) {
                consumer if !consumer.reads(workspace) => consumer,
                consumer => Statement::Where { workspace, consumer: Box::new(consumer), producer: Box::new(producer) },
            },
        },
        Statement::Assign(mut assign) => {
            assign.value = simplify_expr(assign.value);
            let without_effect = literal(&assign.value).is_some_and(|value| changes_nothing(tensors, &assign, value));
            if without_effect { Statement::Empty } else { Statement::Assign(assign) }
        }
        Statement::Sequence(statements) => {
            let statements = statements.into_iter().map(|statement| simplify(tensors, statement));
            let mut statements: Vec<Statement> =
                statements.filter(|statement| *statement != Statement::Empty).collect();
            match statements.len() {
                0 => Statement::Empty,
                1 => statements.remove(0),
                _ => Statement::Sequence(statements),
            }
        }
    }
}

/// Whether an assignment of the constant `value` leaves its target as it is.
pub(crate) fn changes_nothing(tensors: &[Tensor], assign: &Assign, value: Literal) -> bool {
    match assign.operator {
        Some(operator) => is_identity(operator, value),
        None => tensors[assign.target.tensor.0].fill.equals(value),
    }
}

/// The consumer of a workspace that nothing is written to.
fn without_workspace(tensors: &[Tensor], consumer: Statement, workspace: TensorId) -> Statement {
    let mut accesses = Vec::new();
    consumer.for_each_read(&mut |access| {
        if access.tensor == workspace {
            accesses.push(access.clone());
        }
    });
    accesses.iter().fold(consumer, |statement, access| absent(tensors, &statement, access))
}
