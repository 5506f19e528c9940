//! How tightly an expression holds together: the table is that of [operators](crate::ir::tables::operator).

use super::ast::{Expr, ExprKind};
pub use crate::ir::Precedence;

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
