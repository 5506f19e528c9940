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
    kind_by(expr, &of(tensors))
}

/// The same of what is assigned to a tensor whose type it decides: what it reads of that one decides nothing.
pub(super) fn kind_for(target: &str, expr: &Expr, tensors: &[Tensor]) -> Option<ElementType> {
    kind_by(expr, &|name| of(tensors)(name).filter(|_| name != target))
}

/// The types of tensors by name.
fn of(tensors: &[Tensor]) -> impl Fn(&str) -> Option<ElementType> {
    |name| tensor(name, tensors).map(|tensor| tensors[tensor.0].element.computed())
}

fn kind_by(expr: &Expr, of_tensor: &dyn Fn(&str) -> Option<ElementType>) -> Option<ElementType> {
    match &expr.kind {
        ExprKind::Number { suffix, .. } => *suffix,
        ExprKind::Bool(_) | ExprKind::Unary(UnaryOperator::Not, _) => Some(ElementType::Bool),
        ExprKind::Name(name) => of_tensor(&name.name),
        ExprKind::Access(access) => of_tensor(&access.name.name),
        ExprKind::Unary(UnaryOperator::Negate, operand) => kind_by(operand, of_tensor),
        ExprKind::Binary(operator, left, right) if operator.is_arithmetic() => {
            common_by([&**left, &**right], of_tensor)
        }
        ExprKind::Binary(..) => Some(ElementType::Bool),
        ExprKind::Call(name, arguments) => of_call(&name.name, arguments, of_tensor),
        // As an index variable does, it takes any type.
        ExprKind::Reduce { place: true, .. } => None,
        ExprKind::Reduce { body, .. } => kind_by(body, of_tensor),
    }
}

fn of_call(name: &str, arguments: &[Expr], of_tensor: &dyn Fn(&str) -> Option<ElementType>) -> Option<ElementType> {
    if name == WHERE {
        return kind_by(arguments.first()?, of_tensor);
    }
    match functions::find(name)?.form {
        Form::Select => common_by(arguments.iter().skip(1), of_tensor),
        Form::Function(function) => common_by(arguments, of_tensor).map(|element| function.result(element)),
        Form::Conversion(element) => Some(element),
        Form::Sign => common_by(arguments, of_tensor),
        Form::Stored => Some(ElementType::Bool),
        // As an index variable does, it takes any type.
        Form::Extent => None,
    }
}

/// The type that operands of one operator are converted to: the widest of theirs.
pub(super) fn common<'e>(operands: impl IntoIterator<Item = &'e Expr>, tensors: &[Tensor]) -> Option<ElementType> {
    common_by(operands, &of(tensors))
}

fn common_by<'e>(
    operands: impl IntoIterator<Item = &'e Expr>,
    of_tensor: &dyn Fn(&str) -> Option<ElementType>,
) -> Option<ElementType> {
    let kinds = operands.into_iter().filter_map(|operand| kind_by(operand, of_tensor));
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
