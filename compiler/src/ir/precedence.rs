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

/// How tightly an expression holds together, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Precedence {
    Or,
    And,
    Comparison,
    Sum,
    Product,
    Cast,
    Unary,
    Atom,
}

impl Precedence {
    /// The next tighter level.
    pub(crate) fn tighter(self) -> Self {
        match self {
            Precedence::Or => Precedence::And,
            Precedence::And => Precedence::Comparison,
            Precedence::Comparison => Precedence::Sum,
            Precedence::Sum => Precedence::Product,
            Precedence::Product => Precedence::Cast,
            Precedence::Cast => Precedence::Unary,
            Precedence::Unary | Precedence::Atom => Precedence::Atom,
        }
    }
}

/// The sign and the precedence of an operator that stands between its operands; `None` for one that prints as a function.
pub(crate) fn infix(operator: BinaryOperator) -> Option<(&'static str, Precedence)> {
    use BinaryOperator::*;
    Some(match operator {
        Add => ("+", Precedence::Sum),
        Subtract => ("-", Precedence::Sum),
        Multiply => ("*", Precedence::Product),
        Divide => ("/", Precedence::Product),
        Remainder => ("%", Precedence::Product),
        Minimum | Maximum | Gather | Scatter => return None,
        Equal => ("==", Precedence::Comparison),
        NotEqual => ("!=", Precedence::Comparison),
        Less => ("<", Precedence::Comparison),
        LessEqual => ("<=", Precedence::Comparison),
        Greater => (">", Precedence::Comparison),
        GreaterEqual => (">=", Precedence::Comparison),
        And => ("&&", Precedence::And),
        Or => ("||", Precedence::Or),
        BitAnd => ("&", Precedence::And),
        BitOr => ("|", Precedence::Or),
    })
}

/// The sign of an operator, or its name where it prints as a function.
pub(crate) fn sign(operator: BinaryOperator) -> &'static str {
    use BinaryOperator::*;
    match (infix(operator), operator) {
        (Some((sign, _)), _) => sign,
        (None, Minimum) => "minimum",
        (None, Maximum) => "maximum",
        (None, Gather) => "gather",
        (None, _) => "scatter",
    }
}

/// How tightly an expression holds together.
pub(crate) fn precedence(expr: &Expr) -> Precedence {
    match expr {
        Expr::Unary(..) => Precedence::Unary,
        Expr::Literal(literal) if is_signed(*literal) => Precedence::Unary,
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
            Place::Unary => Precedence::Unary,
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
