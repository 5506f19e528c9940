//! What an update leaves behind, as an expression.

use super::{BinaryOperator, Expr};
use crate::ir::{Function, ReduceOperator};

/// `old operator value`: what `target operator= value` assigns where the target held `old`.
pub(super) fn combine(operator: ReduceOperator, old: Expr, value: Expr) -> Expr {
    let binary = |operator, old, value| Expr::Binary(operator, Box::new(old), Box::new(value));
    match operator {
        ReduceOperator::Add => binary(BinaryOperator::Add, old, value),
        ReduceOperator::Multiply => binary(BinaryOperator::Multiply, old, value),
        ReduceOperator::Min => Expr::Call(Function::Min, vec![old, value]),
        ReduceOperator::Max => Expr::Call(Function::Max, vec![old, value]),
        ReduceOperator::Or => binary(BinaryOperator::Or, old, value),
        ReduceOperator::And => binary(BinaryOperator::And, old, value),
    }
}
