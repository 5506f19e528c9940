//! Masks of interleaved bits depend on extents alone: each is computed once, before all loops.
//!
//! ```text
//! for p in 0..n: i = gather(X1_crd[p], mask(0; I, J))
//!
//! let i_bits = mask(0; I, J)
//! for p in 0..n: i = gather(X1_crd[p], i_bits)
//! ```

use super::over_body;
use crate::ir::{Expr, Kernel, Statement, VariableId};

/// The kernel with its masks in variables.
pub(super) fn masks(kernel: Kernel) -> Kernel {
    over_body(kernel, |kernel, body| {
        let mut known: Vec<(Expr, VariableId)> = Vec::new();
        block(kernel, body, &mut known);
        let lets = known.into_iter().map(|(mask, variable)| Statement::Let(variable, mask));
        body.splice(..0, lets);
    })
}

fn block(kernel: &mut Kernel, statements: &mut [Statement], known: &mut Vec<(Expr, VariableId)>) {
    for statement in statements {
        statement.for_each_expr_mut(&mut |expr| {
            let taken = std::mem::replace(expr, Expr::Index(0));
            *expr = replace(kernel, taken, known);
        });
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner, known));
    }
}

fn replace(kernel: &mut Kernel, expr: Expr, known: &mut Vec<(Expr, VariableId)>) -> Expr {
    if !matches!(expr, Expr::Mask { .. }) {
        return expr.map_children(&mut |child| replace(kernel, child, known));
    }
    let mut is_constant = true;
    expr.for_each(&mut |inner| is_constant &= !matches!(inner, Expr::Variable(_) | Expr::Load(..)));
    if !is_constant {
        return expr;
    }
    if let Some((_, variable)) = known.iter().find(|(mask, _)| *mask == expr) {
        return Expr::Variable(*variable);
    }
    let name = kernel.mask_name(&expr);
    let variable = kernel.declare_index(&name);
    known.push((expr, variable));
    Expr::Variable(variable)
}
