//! The one precedence table: which operator binds how tightly, for every printer and for the parser.
//!
//! ```text
//! atom      a0[i]  f(x)  3          binds most tightly
//! unary     -a  !a  -3.0f64
//! cast      a as f64
//! product   a * b  a / b  a % b     from the left
//! sum       a + b  a - b            from the left
//! compare   a == b  a < b  …        not side by side
//! and       a && b  a & b           from the left
//! or        a || b  a | b           from the left
//! ```
//!
//! It is Rust's table, and C's as far as the IR goes (C has two levels of comparison, but here an operand that is a
//! comparison always stands in parentheses; where these languages disagree about `&` and `|`, the table is as loose as either,
//! so that more parentheses stand than one needs). A printer puts an operand in parentheses where [`needs_parentheses`] says so.

use super::{BinaryOperator, Expr, Literal};

pub(crate) use super::Precedence;

/// The sign and the precedence of an operator that stands between its operands; `None` for one that prints as a function.
pub(crate) fn infix(operator: BinaryOperator) -> Option<(&'static str, Precedence)> {
    operator.printed().map(|precedence| (operator.symbol(), precedence))
}

/// How tightly an expression holds together.
pub(crate) fn precedence(expr: &Expr) -> Precedence {
    match expr {
        Expr::Unary(..) => Precedence::Prefix,
        Expr::Literal(literal) if is_signed(*literal) => Precedence::Prefix,
        Expr::Cast(..) => Precedence::Cast,
        Expr::Binary(operator, ..) => infix(*operator).map_or(Precedence::Atom, |(_, precedence)| precedence),
        _ => Precedence::Atom,
    }
}

/// Whether a literal prints with a minus sign.
pub(crate) fn is_signed(literal: Literal) -> bool {
    match literal {
        Literal::Float(_, value) => value.is_sign_negative() && !value.is_nan(),
        Literal::Integer(_, value) => value < 0,
    }
}

/// Where an operand stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before an operator between two operands.
    Left(Precedence),
    /// After an operator between two operands.
    Right(Precedence),
    /// After `-` or `!`.
    Unary,
    /// Before `as`.
    Cast,
}

impl Place {
    /// The loosest operand that may stand here without parentheses.
    pub(crate) fn loosest(self) -> Precedence {
        match self {
            Place::Left(Precedence::Comparison) => Precedence::Comparison.tighter(),
            Place::Left(operator) => operator,
            Place::Right(operator) => operator.tighter(),
            Place::Unary => Precedence::Prefix,
            Place::Cast => Precedence::Cast,
        }
    }
}

/// Whether `operand` needs parentheses where it stands.
pub(crate) fn needs_parentheses(operand: &Expr, place: Place) -> bool {
    let ambiguous = match place {
        // Rust reads `a as u64 < b` as the beginning of generic arguments.
        Place::Left(Precedence::Comparison) => ends_in_cast(operand),
        // `-3.0` is a literal, `-(3.0)` an operator.
        Place::Unary => matches!(operand, Expr::Literal(_)),
        _ => false,
    };
    ambiguous || precedence(operand) < place.loosest()
}

/// Whether the printed form of an expression ends in `as type`.
fn ends_in_cast(expr: &Expr) -> bool {
    match expr {
        Expr::Cast(..) => true,
        Expr::Binary(operator, _, right) => {
            infix(*operator).is_some_and(|(_, own)| !needs_parentheses(right, Place::Right(own)) && ends_in_cast(right))
        }
        _ => false,
    }
}
