//! The element type that an expression has by itself.
//!
//! Names and literals with a suffix have one; an operator has that of its operands, or where they differ the widest of theirs:
//!
//! ```text
//! A(i) * 2          A: f32              f32
//! A(i) + B(i)       A: f32, B: f64      f64
//! A(i) < B(i)                           bool
//! 2 * i                                 any
//! ```

use super::functions::{self, Form};
use crate::ir::{ElementKind, ElementType};
use crate::notation::{Tensor, TensorId, UnaryOperator};
use crate::syntax::{Expr, ExprKind, WHERE};

/// The type that an expression has by itself; `None` for what takes any type, as literals do.
pub(super) fn kind(expr: &Expr, tensors: &[Tensor]) -> Option<ElementType> {
    let of_tensor = |name: &str| tensor(name, tensors).map(|tensor| tensors[tensor.0].element.computed());
    match &expr.kind {
        ExprKind::Number { suffix, .. } => *suffix,
        ExprKind::Bool(_) | ExprKind::Unary(UnaryOperator::Not, _) => Some(ElementType::Bool),
        ExprKind::Name(name) => of_tensor(&name.name),
        ExprKind::Access(access) => of_tensor(&access.name.name),
        ExprKind::Unary(UnaryOperator::Negate, operand) => kind(operand, tensors),
        ExprKind::Binary(operator, left, right) if operator.is_arithmetic() => common([&**left, &**right], tensors),
        ExprKind::Binary(..) => Some(ElementType::Bool),
        ExprKind::Call(name, arguments) => of_call(&name.name, arguments, tensors),
        // As an index variable does, it takes any type.
        ExprKind::Reduce { place: true, .. } => None,
        ExprKind::Reduce { body, .. } => kind(body, tensors),
    }
}

fn of_call(name: &str, arguments: &[Expr], tensors: &[Tensor]) -> Option<ElementType> {
    if name == WHERE {
        return kind(arguments.first()?, tensors);
    }
    match functions::find(name)?.form {
        Form::Select => common(arguments.iter().skip(1), tensors),
        Form::Function(function) => common(arguments, tensors).map(|element| function.result(element)),
        Form::Conversion(element) => Some(element),
        Form::Sign => common(arguments, tensors),
        Form::Stored => Some(ElementType::Bool),
        // As an index variable does, it takes any type.
        Form::Extent => None,
    }
}

/// The type that operands of one operator are converted to: the widest of theirs.
pub(super) fn common<'e>(operands: impl IntoIterator<Item = &'e Expr>, tensors: &[Tensor]) -> Option<ElementType> {
    let kinds = operands.into_iter().filter_map(|operand| kind(operand, tensors));
    kinds.reduce(|one, other| if rank(other) > rank(one) { other } else { one })
}

/// The tensor of a name.
pub(super) fn tensor(name: &str, tensors: &[Tensor]) -> Option<TensorId> {
    tensors.iter().position(|tensor| tensor.name == name).map(TensorId)
}

/// Of two types, the one with the larger number is the one to convert to, if any is.
fn rank(element: ElementType) -> (ElementKind, usize) {
    let kind = match element.kind() {
        ElementKind::Unsigned => ElementKind::Signed,
        kind => kind,
    };
    // Of one width, the sign decides.
    (kind, 2 * element.bytes() + usize::from(element.is_signed()))
}

/// Whether every value of a type is one of the other, so that it is converted where the other is needed.
pub(super) fn widens(from: ElementType, to: ElementType) -> bool {
    from.widens(to)
}
