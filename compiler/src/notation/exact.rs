//! Values that are the same numbers wherever they are computed.
//!
//! A sum may be formed in another order in another loop, and a product that is added to something be rounded with it or before. What
//! is compared with a value of its own, as the terms of `argmax` are with the greatest of them, must not differ by that.

use super::{Expr, TensorId};
use crate::ir::{ElementType, Function};

impl Expr {
    /// Whether its value has the same bits in any loop: it is made without a reduction or a rounded operation on the result of
    /// another; whole numbers are never rounded. `of` gives the types of tensors.
    pub(crate) fn is_exact(&self, of: &dyn Fn(TensorId) -> ElementType) -> bool {
        let rounds = |expr: &Expr| {
            let element = expr.element(of);
            element.is_float() || element.is_complex()
        };
        match self {
            Expr::Literal(_) | Expr::Access(_) | Expr::Index(..) => true,
            Expr::Binary(operator, left, right) if operator.is_arithmetic() && rounds(left) => {
                [left, right].into_iter().all(|operand| operand.is_exact(of) && !operand.has_arithmetic())
            }
            // The absolute value of a complex number is a root.
            Expr::Call(Function::Abs, operands) if operands[0].element(of).is_complex() => false,
            Expr::Call(function, _) if !is_chosen(*function) => false,
            Expr::Reduce(..) if rounds(self) => false,
            _ => self.children().into_iter().all(|child| child.is_exact(of)),
        }
    }

    /// The same for what is put in the place of a tensor in another value: nothing in it is rounded at all.
    pub(crate) fn is_read(&self, of: &dyn Fn(TensorId) -> ElementType) -> bool {
        let element = self.element(of);
        self.is_exact(of) && !((element.is_float() || element.is_complex()) && self.has_arithmetic())
    }

    fn has_arithmetic(&self) -> bool {
        matches!(self, Expr::Binary(operator, ..) if operator.is_arithmetic())
            || self.children().into_iter().any(Expr::has_arithmetic)
    }

    /// Whether values of a tensor are compared with a reduction of them somewhere in it.
    pub(crate) fn compares_with_itself(&self, tensor: TensorId) -> bool {
        let mentions = |expr: &Expr| expr.accesses().iter().any(|access| access.values() == tensor);
        let is_reduced = |expr: &Expr| matches!(expr, Expr::Reduce(..)) && mentions(expr);
        match self {
            Expr::Binary(operator, left, right) if !operator.is_arithmetic() => {
                is_reduced(left) && mentions(right) || is_reduced(right) && mentions(left)
            }
            _ => self.children().into_iter().any(|child| child.compares_with_itself(tensor)),
        }
    }
}

/// Whether a function gives one of its arguments, or a part of it.
fn is_chosen(function: Function) -> bool {
    use Function::{Abs, Conj, Im, Max, Min, Re};
    matches!(function, Min | Max | Abs | Re | Im | Conj)
}
