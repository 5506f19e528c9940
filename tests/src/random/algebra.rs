//! How the values of a program come together, so that missing entries that are not zero mean something.

use super::Expr;
use crate::data::Random;
use spc_compiler::ir::ElementType;

/// What terms and factors are combined by, and what is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algebra {
    /// Sums of products; what is missing is zero.
    Plain,
    /// The same, and what is missing is anything.
    Filled,
    /// The least of sums; what is missing is infinite.
    Least,
    /// The greatest of sums; what is missing is infinite, below zero.
    Greatest,
    /// Products; what is missing is one.
    Products,
    /// Whether any of some truth values is true; what is missing is false.
    Any,
    /// Whether all of some truth values are true; what is missing is true.
    All,
}

impl Algebra {
    pub(super) fn random(element: ElementType, random: &mut Random) -> Self {
        match random.below(16) {
            0..=10 if element == ElementType::Bool => Algebra::Any,
            _ if element == ElementType::Bool => Algebra::All,
            0 => Algebra::Filled,
            1 if element.is_float() => Algebra::Least,
            2 if element.is_float() => Algebra::Greatest,
            3 => Algebra::Products,
            _ => Algebra::Plain,
        }
    }

    /// Whether values meet as the least or the greatest of them.
    pub(super) fn is_extremal(self) -> bool {
        matches!(self, Algebra::Least | Algebra::Greatest)
    }

    /// How values meet.
    pub(super) fn reduction(self) -> Option<&'static str> {
        match self {
            Algebra::Plain | Algebra::Filled => None,
            Algebra::Least => Some("min="),
            Algebra::Greatest => Some("max="),
            Algebra::Products => Some("*="),
            Algebra::Any => Some("|="),
            Algebra::All => Some("&="),
        }
    }

    /// What combines factors.
    pub(super) fn product(self) -> &'static str {
        match self {
            Algebra::Least | Algebra::Greatest => " + ",
            Algebra::Plain | Algebra::Filled | Algebra::Products => " * ",
            Algebra::Any => " && ",
            Algebra::All => " || ",
        }
    }

    /// Two terms together.
    pub(super) fn sum(self, left: Expr, right: Expr, random: &mut Random) -> Expr {
        let operator = match self {
            Algebra::Least => return Expr::Call("min", vec![left, right]),
            Algebra::Greatest => return Expr::Call("max", vec![left, right]),
            Algebra::Products => " * ",
            Algebra::Any => " || ",
            Algebra::All => " && ",
            Algebra::Plain | Algebra::Filled => *random.choose(&[" + ", " - "]),
        };
        Expr::Binary(operator, Box::new(left), Box::new(right))
    }

    /// What is missing in an operand, where it is said.
    pub(super) fn fill(self, element: ElementType, random: &mut Random) -> Option<&'static str> {
        let (chance, fills): (f64, &[&str]) = match (self, element.is_float()) {
            (Algebra::Plain | Algebra::Any, _) => return None,
            (Algebra::Filled, _) if element == ElementType::Bool => (0.6, &["true", "false"]),
            (Algebra::Products, _) if element == ElementType::Bool => (0.8, &["true"]),
            (Algebra::All, _) => (0.8, &["true"]),
            (Algebra::Filled, true) => (0.6, &["1", "0", "0.5", "-2", "inf", "-inf"]),
            (Algebra::Filled, false) => (0.6, &["1", "0", "3"]),
            (Algebra::Least, true) => (0.8, &["inf"]),
            (Algebra::Greatest, true) => (0.8, &["-inf"]),
            (Algebra::Products, _) => (0.8, &["1"]),
            (Algebra::Least | Algebra::Greatest, false) => return None,
        };
        random.chance(chance).then(|| *random.choose(fills))
    }

    /// What is missing in the result, where it is said: else it is what the first statement reduces from.
    pub(super) fn fill_of_result(self, random: &mut Random) -> Option<&'static str> {
        match self {
            Algebra::Plain | Algebra::Filled => random.chance(0.04).then(|| *random.choose(&["1", "2", "0"])),
            Algebra::Least => random.chance(0.7).then_some("inf"),
            Algebra::Greatest => random.chance(0.7).then_some("-inf"),
            Algebra::Products => random.chance(0.7).then_some("1"),
            Algebra::Any => None,
            Algebra::All => random.chance(0.7).then_some("true"),
        }
    }
}
