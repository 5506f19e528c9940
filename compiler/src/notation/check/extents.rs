//! `extent(k)`, which is written as an access is: where no tensor is called so, it is a function of an index.

use crate::syntax::{Expr, ExprKind, Index, Statement};

/// Its name.
pub(super) const EXTENT: &str = "extent";

/// Makes calls of what asks for the extent of an index.
pub(super) fn calls(body: &mut [Statement], has_tensor: bool) {
    let is_assigned = body.iter().any(|statement| statement.target.name.name == EXTENT);
    if is_assigned || has_tensor {
        return;
    }
    for statement in body {
        call(&mut statement.value);
        statement.condition.iter_mut().for_each(call);
    }
}

fn call(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Name(_) => {}
        ExprKind::Access(access) => {
            for index in &mut access.indices {
                if let Index::Expr(expr) = index {
                    call(expr);
                }
            }
            if access.name.name == EXTENT
                && let [Index::Expr(index)] = &access.indices[..]
            {
                expr.kind = ExprKind::Call(access.name.clone(), vec![index.clone()]);
            }
        }
        ExprKind::Unary(_, operand) => call(operand),
        ExprKind::Binary(_, left, right) => {
            call(left);
            call(right);
        }
        ExprKind::Call(_, arguments) => arguments.iter_mut().for_each(call),
        ExprKind::Reduce { body, .. } => call(body),
    }
}
