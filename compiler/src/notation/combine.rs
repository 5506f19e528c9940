//! What an update leaves behind, as an expression.

use super::Expr;
use crate::ir::tables::monoid::LEFT;
use crate::ir::{self, Combine, ElementType, ReduceOperator, Type};

/// `old operator value`: what `target operator= value` assigns where the target, of type `element`, held `old`.
pub(crate) fn combine(operator: ReduceOperator, element: ElementType, old: Expr, value: Expr) -> Expr {
    match operator.combine(Type::of(element)).expect("values of a checked kernel have its operators") {
        Combine::Operator(operator) => Expr::Binary(operator, Box::new(old), Box::new(value)),
        Combine::Function(function) => Expr::Call(function, vec![old, value]),
        Combine::Defined(definition) => defined(&definition.value, &old, &value),
    }
}

/// What a [definition](crate::ir::Definition) makes of two values.
fn defined(expr: &ir::Expr, old: &Expr, value: &Expr) -> Expr {
    let of = |expr: &ir::Expr| defined(expr, old, value);
    let boxed = |expr: &ir::Expr| Box::new(of(expr));
    match expr {
        ir::Expr::Literal(literal) => Expr::Literal(*literal),
        ir::Expr::Bool(truth) => Expr::Literal(ir::constant::truth(*truth)),
        ir::Expr::Variable(LEFT) => old.clone(),
        ir::Expr::Variable(_) => value.clone(),
        ir::Expr::Unary(operator, operand) => Expr::Unary(*operator, boxed(operand)),
        ir::Expr::Binary(operator, left, right) => Expr::Binary(*operator, boxed(left), boxed(right)),
        ir::Expr::Call(function, arguments) => Expr::Call(*function, arguments.iter().map(of).collect()),
        ir::Expr::Select(condition, yes, no) => Expr::Select(boxed(condition), boxed(yes), boxed(no)),
        ir::Expr::Cast(Type::Element(element), operand) => Expr::Cast(*element, boxed(operand)),
        _ => unreachable!("definitions are made of values alone"),
    }
}
