//! What an expression is without knowing what is stored: where some operands have no entry, or there are none.

use crate::ir::Function;
use crate::notation::{Access, BinaryOperator, Expr, UnaryOperator};

/// What is known of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Known {
    /// It is this number.
    Number(f64),
    /// It is this truth value.
    Truth(bool),
    /// It depends on stored values.
    Nothing,
}

impl Known {
    /// Whether it is certainly zero.
    pub(crate) fn is_zero(self) -> bool {
        self == Known::Number(0.0)
    }
}

/// Puts zero for every access that is missing and simplifies.
pub(crate) fn value(expr: &Expr, is_missing: &dyn Fn(&Access) -> bool) -> Known {
    use Known::*;
    let of = |expr: &Expr| value(expr, is_missing);
    match expr {
        Expr::Literal(crate::ir::Literal::Float(_, value)) => Number(*value),
        Expr::Literal(crate::ir::Literal::Integer(crate::ir::ElementType::Bool, value)) => Truth(*value != 0),
        Expr::Literal(crate::ir::Literal::Integer(_, value)) => Number(*value as f64),
        Expr::Access(access) if is_missing(access) => Number(0.0),
        Expr::Access(_) | Expr::Index(..) => Nothing,
        Expr::Unary(UnaryOperator::Negate, a) => match of(a) {
            Number(a) => Number(-a),
            _ => Nothing,
        },
        Expr::Unary(UnaryOperator::Not, a) => match of(a) {
            Truth(a) => Truth(!a),
            _ => Nothing,
        },
        Expr::Binary(operator, a, b) => binary(*operator, of(a), of(b)),
        Expr::Call(function, arguments) => call(*function, arguments.iter().map(of).collect()),
        Expr::Select(condition, a, b) => match (of(condition), of(a), of(b)) {
            (Truth(true), a, _) => a,
            (Truth(false), _, b) => b,
            (_, a, b) if a == b => a,
            _ => Nothing,
        },
        Expr::Reduce(_, _, body) if of(body).is_zero() => Number(0.0),
        Expr::Reduce(..) => Nothing,
    }
}

fn binary(operator: BinaryOperator, a: Known, b: Known) -> Known {
    use Known::*;
    match (operator, a, b) {
        (BinaryOperator::Add, Number(a), Number(b)) => Number(a + b),
        (BinaryOperator::Subtract, Number(a), Number(b)) => Number(a - b),
        (BinaryOperator::Multiply, a, b) if a.is_zero() || b.is_zero() => Number(0.0),
        (BinaryOperator::Multiply, Number(a), Number(b)) => Number(a * b),
        (BinaryOperator::Divide | BinaryOperator::Remainder, a, b) if a.is_zero() && !b.is_zero() => Number(0.0),
        (BinaryOperator::And, Truth(false), _) | (BinaryOperator::And, _, Truth(false)) => Truth(false),
        (BinaryOperator::Or, Truth(true), _) | (BinaryOperator::Or, _, Truth(true)) => Truth(true),
        (BinaryOperator::And, Truth(true), Truth(true)) => Truth(true),
        (BinaryOperator::Or, Truth(false), Truth(false)) => Truth(false),
        (operator, Number(a), Number(b)) => compare(operator, a, b),
        _ => Nothing,
    }
}

fn compare(operator: BinaryOperator, a: f64, b: f64) -> Known {
    match operator {
        BinaryOperator::Equal => Known::Truth(a == b),
        BinaryOperator::NotEqual => Known::Truth(a != b),
        BinaryOperator::Less => Known::Truth(a < b),
        BinaryOperator::LessEqual => Known::Truth(a <= b),
        BinaryOperator::Greater => Known::Truth(a > b),
        BinaryOperator::GreaterEqual => Known::Truth(a >= b),
        _ => Known::Nothing,
    }
}

fn call(function: Function, arguments: Vec<Known>) -> Known {
    use Known::Number;
    match (function, arguments.as_slice()) {
        (Function::Min, [Number(a), Number(b)]) => Number(a.min(*b)),
        (Function::Max, [Number(a), Number(b)]) => Number(a.max(*b)),
        (Function::Abs, [Number(a)]) => Number(a.abs()),
        (Function::Sqrt, [Number(a)]) => Number(a.sqrt()),
        (Function::Exp, [Number(a)]) => Number(a.exp()),
        (Function::Ln, [Number(a)]) => Number(a.ln()),
        (Function::Pow, [Number(a), Number(b)]) => Number(a.powf(*b)),
        _ => Known::Nothing,
    }
}
