//! `extent(k)` and `extent(A, 1)`, which are written as an access is: where no tensor is called so, it is a function of an index, or of
//! a tensor and its mode.

use crate::syntax::{Access, Expr, ExprKind, Index, Statement};

/// Its name.
pub(super) const EXTENT: &str = "extent";

/// Makes calls of what asks for the extent of an index.
pub(super) fn calls(body: &mut [Statement], has_tensor: bool) {
    let is_assigned = body.iter().any(|statement| statement.target.name.name == EXTENT);
    if is_assigned || has_tensor {
        return;
    }
    for statement in body {
        in_indices(&mut statement.target);
        call(&mut statement.value);
        statement.mask.iter_mut().for_each(in_indices);
        statement.condition.iter_mut().for_each(call);
    }
}

fn in_indices(access: &mut Access) {
    for index in &mut access.indices {
        if let Index::Expr(expr) = index {
            call(expr);
        }
    }
}

fn call(expr: &mut Expr) {
    match &mut expr.kind {
        ExprKind::Access(access) => {
            in_indices(access);
            if access.name.name == EXTENT
                && let Some(arguments) = arguments(&access.indices)
            {
                expr.kind = ExprKind::Call(access.name.clone(), arguments);
            }
        }
        _ => expr.children_mut().into_iter().for_each(call),
    }
}

/// `k`, or `A, 1`
fn arguments(indices: &[Index]) -> Option<Vec<Expr>> {
    match indices {
        [Index::Expr(index)] => Some(vec![index.clone()]),
        [Index::Expr(tensor), Index::Expr(mode)] => Some(vec![tensor.clone(), mode.clone()]),
        _ => None,
    }
}

/// Visits every access of a statement, the target first.
pub(super) fn for_each_access<'a>(statement: &'a Statement, visit: &mut dyn FnMut(&'a Access)) {
    fn of_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Access)) {
        if let ExprKind::Access(access) = &expr.kind {
            visit(access);
        }
        expr.children().into_iter().for_each(|child| of_expr(child, visit));
    }
    visit(&statement.target);
    statement.mask.iter().for_each(&mut *visit);
    of_expr(&statement.value, visit);
    statement.condition.iter().for_each(|condition| of_expr(condition, visit));
}
