//! Reductions of constants: what kernels compute at run time, computed before.

use super::{ElementType, Function, Literal, ReduceOperator};

impl Literal {
    /// A number of a floating point type, rounded to it.
    pub(crate) fn rounded(element: ElementType, value: f64) -> Literal {
        let is_single = matches!(element, ElementType::F32 | ElementType::C32);
        Literal::Float(element, if is_single { f64::from(value as f32) } else { value })
    }

    /// A number of an integer type, wrapped around to it.
    pub(crate) fn wrapped(element: ElementType, value: i64) -> Option<Literal> {
        let value = match element {
            ElementType::I32 => i64::from(value as i32),
            ElementType::I64 => value,
            ElementType::U8 => i64::from(value as u8),
            _ => return None,
        };
        Some(Literal::Integer(element, value))
    }

    /// The result of an operation on two floating point numbers. That on `f64` rounds to what one on `f32` is: Figueroa, "When is double rounding
    /// innocuous?", 1995. Where real numbers are infinite, complex ones may be undefined.
    pub(crate) fn of_floats(element: ElementType, a: f64, b: f64, value: f64) -> Option<Literal> {
        let is_defined = !element.is_complex() || a.is_finite() && b.is_finite() && value.is_finite();
        is_defined.then(|| Literal::rounded(element, value))
    }
}

impl ReduceOperator {
    /// What it makes of two constants of one type; `None` where the type lacks the operator.
    pub fn of(self, left: Literal, right: Literal) -> Option<Literal> {
        match (left, right) {
            (Literal::Float(element, a), Literal::Float(_, b)) => match self {
                ReduceOperator::Add => Literal::of_floats(element, a, b, a + b),
                ReduceOperator::Multiply => Literal::of_floats(element, a, b, a * b),
                ReduceOperator::Min => Function::Min.of_floats(element, &[a, b]),
                ReduceOperator::Max => Function::Max.of_floats(element, &[a, b]),
                ReduceOperator::Or | ReduceOperator::And => None,
            },
            (Literal::Integer(element, a), Literal::Integer(_, b)) => match self {
                ReduceOperator::Add => Literal::wrapped(element, a.wrapping_add(b)),
                ReduceOperator::Multiply => Literal::wrapped(element, a.wrapping_mul(b)),
                ReduceOperator::Min => Some(Literal::Integer(element, a.min(b))),
                ReduceOperator::Max => Some(Literal::Integer(element, a.max(b))),
                ReduceOperator::Or => Some(Literal::Integer(element, a | b)),
                ReduceOperator::And => Some(Literal::Integer(element, a & b)),
            },
            _ => None,
        }
    }
}
