//! Operators and functions of constants: what kernels compute at run time, computed before.

use super::{BinaryOperator, ElementKind, ElementType, Expr, Function, Literal, Type, UnaryOperator, VariableId};

/// The first operand of what a text defines of two values.
pub const LEFT: VariableId = VariableId(0);

/// The second operand of what a text defines of two values.
pub const RIGHT: VariableId = VariableId(1);

impl Literal {
    /// A number of a floating point type, rounded to it.
    pub(crate) fn rounded(element: ElementType, value: f64) -> Literal {
        let is_single = matches!(element, ElementType::F32 | ElementType::C32);
        Literal::Float(element, if is_single { f64::from(value as f32) } else { value })
    }

    /// A number of an integer type, wrapped around to it.
    pub(crate) fn wrapped(element: ElementType, value: i128) -> Option<Literal> {
        let unused = 128 - 8 * element.bytes() as u32;
        let value = match element.kind() {
            ElementKind::Signed => value << unused >> unused,
            ElementKind::Unsigned => ((value << unused).cast_unsigned() >> unused).cast_signed(),
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

/// A truth value.
pub(crate) fn truth(value: bool) -> Literal {
    Literal::Integer(ElementType::Bool, value.into())
}

/// The truth value of a literal of type `bool`.
pub(crate) fn is_true(literal: Literal) -> Option<bool> {
    match literal {
        Literal::Integer(ElementType::Bool, value) => Some(value != 0),
        _ => None,
    }
}

/// An operator before a constant.
pub(crate) fn unary(operator: UnaryOperator, operand: Literal) -> Option<Literal> {
    match (operator, operand) {
        (UnaryOperator::Not, literal) => is_true(literal).map(|value| truth(!value)),
        (UnaryOperator::Negate, literal) if literal.is_zero() => Some(literal.zero()),
        (UnaryOperator::Negate, Literal::Float(element, value)) => Some(Literal::Float(element, -value)),
        (UnaryOperator::Negate, Literal::Integer(element, _)) if !element.is_signed() => None,
        (UnaryOperator::Negate, Literal::Integer(element, value)) => Literal::wrapped(element, value.wrapping_neg()),
    }
}

/// An operator between two constants of one type; `None` for what has no value, such as a division of integers by zero.
pub(crate) fn binary(operator: BinaryOperator, left: Literal, right: Literal) -> Option<Literal> {
    match (left, right) {
        (Literal::Float(element, a), Literal::Float(_, b)) => of_floats(operator, element, a, b),
        (Literal::Integer(ElementType::Bool, a), Literal::Integer(_, b)) => of_truths(operator, a != 0, b != 0),
        (Literal::Integer(element, a), Literal::Integer(_, b)) => of_integers(operator, element, a, b),
        _ => None,
    }
}

fn of_floats(operator: BinaryOperator, element: ElementType, a: f64, b: f64) -> Option<Literal> {
    use BinaryOperator::*;
    let value = match operator {
        Add => a + b,
        Subtract => a - b,
        Multiply => a * b,
        Divide => a / b,
        Remainder => a % b,
        _ => return compare(operator, a, b),
    };
    Literal::of_floats(element, a, b, value)
}

fn of_integers(operator: BinaryOperator, element: ElementType, a: i128, b: i128) -> Option<Literal> {
    use BinaryOperator::*;
    let value = match operator {
        Add => a.wrapping_add(b),
        Subtract => a.wrapping_sub(b),
        Multiply => a.wrapping_mul(b),
        Divide | Remainder if b == 0 => return None,
        Divide => a.wrapping_div(b),
        Remainder => a.wrapping_rem(b),
        BitAnd => a & b,
        BitOr => a | b,
        _ => return compare(operator, a, b),
    };
    Literal::wrapped(element, value)
}

fn of_truths(operator: BinaryOperator, a: bool, b: bool) -> Option<Literal> {
    match operator {
        BinaryOperator::And => Some(truth(a && b)),
        BinaryOperator::Or => Some(truth(a || b)),
        _ => compare(operator, a, b),
    }
}

fn compare<T: PartialOrd>(operator: BinaryOperator, a: T, b: T) -> Option<Literal> {
    use BinaryOperator::*;
    Some(truth(match operator {
        Equal => a == b,
        NotEqual => a != b,
        Less => a < b,
        LessEqual => a <= b,
        Greater => a > b,
        GreaterEqual => a >= b,
        _ => return None,
    }))
}

/// A constant as another type, as Rust's `as`.
pub(crate) fn cast(element: ElementType, literal: Literal) -> Option<Literal> {
    match (literal, element) {
        _ if element.is_stored_only() => match cast(element.computed(), literal)? {
            Literal::Float(computed, value) => Some(Literal::Float(computed, element.stored(value))),
            whole => Some(whole),
        },
        (_, ElementType::Bool) | (Literal::Integer(ElementType::Bool, _), _) => None,
        (Literal::Float(from, _), _) if from.is_complex() && !element.is_complex() => None,
        // The nearest that it holds; of NaN, zero.
        (Literal::Float(_, value), _) if element.is_integer() => {
            let (least, greatest) = element.range();
            Some(Literal::Integer(element, (value as i128).clamp(least, greatest)))
        }
        (Literal::Float(_, value), _) => Some(Literal::rounded(element, value)),
        (Literal::Integer(_, value), _) if element.is_integer() => Literal::wrapped(element, value),
        // Rounded once, to the type that it has.
        (Literal::Integer(_, value), ElementType::F32 | ElementType::C32) => {
            Some(Literal::Float(element, f64::from(value as f32)))
        }
        (Literal::Integer(_, value), _) => Some(Literal::Float(element, value as f64)),
    }
}

/// A function of constants of one type.
pub(crate) fn call(function: Function, arguments: &[Literal]) -> Option<Literal> {
    match *arguments {
        [Literal::Float(element, a)] if element.is_complex() => function.of_complex(element, a),
        [Literal::Float(element, a)] => function.of_floats(element, &[a]),
        [Literal::Float(element, re), Literal::Float(_, im)] if function == Function::Complex => {
            element.complex().filter(|_| im == 0.0).map(|complex| Literal::Float(complex, re))
        }
        [Literal::Float(element, a), Literal::Float(_, b)] => function.of_floats(element, &[a, b]),
        [Literal::Integer(element, a)] if function == Function::Abs => Literal::wrapped(element, a.wrapping_abs()),
        [Literal::Integer(element, a), Literal::Integer(_, b)] => match function {
            Function::Min => Some(Literal::Integer(element, a.min(b))),
            Function::Max => Some(Literal::Integer(element, a.max(b))),
            _ => None,
        },
        _ => None,
    }
}

/// What a [definition](super::Definition) makes of two constants; `None` for what has no value.
pub(crate) fn defined(value: &Expr, left: Literal, right: Literal) -> Option<Literal> {
    let of = |value: &Expr| defined(value, left, right);
    match value {
        Expr::Literal(literal) => Some(*literal),
        Expr::Bool(value) => Some(truth(*value)),
        Expr::Variable(LEFT) => Some(left),
        Expr::Variable(RIGHT) => Some(right),
        Expr::Unary(operator, operand) => unary(*operator, of(operand)?),
        Expr::Binary(operator, one, other) => binary(*operator, of(one)?, of(other)?),
        Expr::Call(function, arguments) => call(*function, &arguments.iter().map(of).collect::<Option<Vec<_>>>()?),
        Expr::Select(condition, yes, no) => of(if is_true(of(condition)?)? { yes } else { no }),
        Expr::Cast(Type::Element(element), operand) => cast(*element, of(operand)?),
        _ => None,
    }
}
