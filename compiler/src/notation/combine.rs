//! What an update leaves behind, as an expression.

use super::{BinaryOperator, Expr};
use crate::ir::{ElementType, Function, ReduceOperator};

/// `old operator value`: what `target operator= value` assigns where the target, of type `element`, held `old`.
pub(crate) fn combine(operator: ReduceOperator, element: ElementType, old: Expr, value: Expr) -> Expr {
    let binary = |operator, old, value| Expr::Binary(operator, Box::new(old), Box::new(value));
    let is_truth = element == ElementType::Bool;
    match operator {
        ReduceOperator::Add => binary(BinaryOperator::Add, old, value),
        ReduceOperator::Multiply => binary(BinaryOperator::Multiply, old, value),
        ReduceOperator::Min => Expr::Call(Function::Min, vec![old, value]),
        ReduceOperator::Max => Expr::Call(Function::Max, vec![old, value]),
        ReduceOperator::Or if is_truth => binary(BinaryOperator::Or, old, value),
        ReduceOperator::And if is_truth => binary(BinaryOperator::And, old, value),
        ReduceOperator::Or => binary(BinaryOperator::BitOr, old, value),
        ReduceOperator::And => binary(BinaryOperator::BitAnd, old, value),
    }
}
