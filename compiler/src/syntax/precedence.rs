//! How tightly operators bind: the one table that the parser and the printer share. It is Rust's.

use super::ast::{BinaryOperator, Expr, ExprKind, UnaryOperator};

/// How tightly an expression holds together, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Precedence {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `== != < <= > >=`; these do not chain.
    Comparison,
    /// `|`
    BitOr,
    /// `&`
    BitAnd,
    /// `+ -`
    Sum,
    /// `* / %`
    Product,
    /// `-a !a`
    Prefix,
    /// Names, numbers, calls, parentheses.
    Atom,
}

impl Precedence {
    /// The next tighter one.
    pub fn tighter(self) -> Self {
        match self {
            Precedence::Or => Precedence::And,
            Precedence::And => Precedence::Comparison,
            Precedence::Comparison => Precedence::BitOr,
            Precedence::BitOr => Precedence::BitAnd,
            Precedence::BitAnd => Precedence::Sum,
            Precedence::Sum => Precedence::Product,
            Precedence::Product => Precedence::Prefix,
            Precedence::Prefix | Precedence::Atom => Precedence::Atom,
        }
    }
}

impl BinaryOperator {
    /// Whether it gives a number: not a comparison, `&&` or `||`.
    pub fn is_arithmetic(self) -> bool {
        use BinaryOperator::*;
        matches!(self, Add | Subtract | Multiply | Divide | Remainder | BitAnd | BitOr)
    }

    /// All of them.
    pub const ALL: [BinaryOperator; 15] = [
        BinaryOperator::Add,
        BinaryOperator::Subtract,
        BinaryOperator::Multiply,
        BinaryOperator::Divide,
        BinaryOperator::Remainder,
        BinaryOperator::Equal,
        BinaryOperator::NotEqual,
        BinaryOperator::Less,
        BinaryOperator::LessEqual,
        BinaryOperator::Greater,
        BinaryOperator::GreaterEqual,
        BinaryOperator::And,
        BinaryOperator::Or,
        BinaryOperator::BitAnd,
        BinaryOperator::BitOr,
    ];

    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Remainder => "%",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterEqual => ">=",
            BinaryOperator::And => "&&",
            BinaryOperator::Or => "||",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitOr => "|",
        }
    }

    /// The operator that is written like this.
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operator| operator.symbol() == symbol)
    }

    /// How tightly it binds. Operators of one precedence group from the left, but for comparisons, which do not chain.
    pub fn precedence(self) -> Precedence {
        match self {
            BinaryOperator::Or => Precedence::Or,
            BinaryOperator::And => Precedence::And,
            BinaryOperator::BitOr => Precedence::BitOr,
            BinaryOperator::BitAnd => Precedence::BitAnd,
            BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual => Precedence::Comparison,
            BinaryOperator::Add | BinaryOperator::Subtract => Precedence::Sum,
            BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Remainder => Precedence::Product,
        }
    }

    /// The loosest that may stand on its left without parentheses.
    pub fn left(self) -> Precedence {
        match self.precedence() {
            Precedence::Comparison => Precedence::Comparison.tighter(),
            precedence => precedence,
        }
    }

    /// The loosest that may stand on its right without parentheses.
    pub fn right(self) -> Precedence {
        self.precedence().tighter()
    }
}

impl UnaryOperator {
    /// As written.
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Not => "!",
        }
    }
}

impl Expr {
    /// How tightly it holds together.
    pub fn precedence(&self) -> Precedence {
        match &self.kind {
            ExprKind::Binary(operator, ..) => operator.precedence(),
            ExprKind::Unary(..) => Precedence::Prefix,
            _ => Precedence::Atom,
        }
    }
}
