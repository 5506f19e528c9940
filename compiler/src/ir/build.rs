//! Short ways to write expressions. They fold what is constant, so that `0 * n + i` is `i` from the start.

use super::{ArrayId, BinaryOperator, Expr};

impl Expr {
    /// An operator between two operands.
    pub fn binary(operator: BinaryOperator, left: Expr, right: Expr) -> Expr {
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// `array[index]`
    pub fn load(array: ArrayId, index: Expr) -> Expr {
        Expr::Load(array, Box::new(index))
    }

    /// `self + other`, both `index`
    pub fn plus(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Index(0), e) | (e, Expr::Index(0)) => e,
            (Expr::Index(a), Expr::Index(b)) => Expr::Index(a + b),
            (Expr::Binary(BinaryOperator::Subtract, a, less), more) if *less == more => *a,
            (a, b) => Expr::binary(BinaryOperator::Add, a, b),
        }
    }

    /// `self - other`, both `index`
    pub fn minus(self, other: Expr) -> Expr {
        match (self, other) {
            (e, Expr::Index(0)) => e,
            (a, b) => Expr::binary(BinaryOperator::Subtract, a, b),
        }
    }

    /// `self * other`, both `index`
    pub fn times(self, other: Expr) -> Expr {
        match (self, other) {
            (Expr::Index(0), _) | (_, Expr::Index(0)) => Expr::Index(0),
            (Expr::Index(1), e) | (e, Expr::Index(1)) => e,
            (Expr::Index(a), Expr::Index(b)) => Expr::Index(a * b),
            (a, b) => Expr::binary(BinaryOperator::Multiply, a, b),
        }
    }

    /// `self == other`
    pub fn equals(self, other: Expr) -> Expr {
        Expr::binary(BinaryOperator::Equal, self, other)
    }

    /// `self < other`
    pub fn less(self, other: Expr) -> Expr {
        Expr::binary(BinaryOperator::Less, self, other)
    }

    /// `self && other`
    pub fn and(self, other: Expr) -> Expr {
        Expr::binary(BinaryOperator::And, self, other)
    }
}
