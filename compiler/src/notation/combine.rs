//! What an update leaves behind, as an expression.

use super::Expr;
use crate::ir::{Combine, ElementType, ReduceOperator, Type};

/// `old operator value`: what `target operator= value` assigns where the target, of type `element`, held `old`.
pub(crate) fn combine(operator: ReduceOperator, element: ElementType, old: Expr, value: Expr) -> Expr {
    match operator.combine(Type::of(element)).expect("values of a checked kernel have its operators") {
        Combine::Operator(operator) => Expr::Binary(operator, Box::new(old), Box::new(value)),
        Combine::Function(function) => Expr::Call(function, vec![old, value]),
    }
}
