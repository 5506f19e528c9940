//! Loops over the children of every parent become one loop over all children, where nobody asks which parent it is.
//!
//! ```text
//! for p1 in low..high
//!     for p2 in X2_pos[p1]..X2_pos[p1 + 1]
//!         Y[p2] = 2 * X[p2]
//!
//! for p2 in X2_pos[low]..X2_pos[high]
//!     Y[p2] = 2 * X[p2]
//! ```
//!
//! The children of one parent lie behind those of the parent before. Where most have one child or two, as fibers often do, the
//! inner loops' beginnings and ends cost more than what they do.

use super::replacing;
use crate::ir::{ArrayRole, Expr, Kernel, Statement, VariableId};

/// The kernel with its loops over children flattened where they can be.
pub(super) fn flatten(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, _, done| {
        if only_runs_over_children(kernel, &statement) {
            done.extend(flattened(statement));
        } else {
            done.push(statement);
        }
    })
}

/// Whether all that the loop does is to run over the children of each place.
fn only_runs_over_children(kernel: &Kernel, statement: &Statement) -> bool {
    let Statement::For { variable: parent, vector: false, body, .. } = statement else { return false };
    let Some((Statement::For { begin, end, vector: false, body, .. }, before)) = body.split_last() else {
        return false;
    };
    let next = Expr::Variable(*parent).plus(Expr::Index(1));
    is_first_child(kernel, begin, *parent)
        && *end == at(begin.clone(), *parent, &next)
        && before.iter().all(|statement| matches!(statement, Statement::Comment(_)))
        && !body.iter().any(|statement| uses(statement, *parent))
}

/// Whether the position is the first of the parent's children, or of their children.
fn is_first_child(kernel: &Kernel, position: &Expr, parent: VariableId) -> bool {
    let Expr::Load(array, place) = position else { return false };
    let ArrayRole::Positions { tensor, .. } = kernel.array(*array).role else { return false };
    !kernel.is_output(tensor) && (**place == Expr::Variable(parent) || is_first_child(kernel, place, parent))
}

/// The expression with a place for the variable.
fn at(expr: Expr, variable: VariableId, place: &Expr) -> Expr {
    if expr == Expr::Variable(variable) {
        return place.clone();
    }
    expr.map_children(&mut |child| at(child, variable, place))
}

fn uses(statement: &Statement, variable: VariableId) -> bool {
    let mut found = false;
    statement.for_each(&mut |statement| statement.for_each_expr(&mut |expr| found |= expr.uses(variable)));
    found
}

/// The comments of the inner loop, and that loop from the first parent's first child to the last parent's last.
fn flattened(statement: Statement) -> Vec<Statement> {
    let Statement::For { variable, begin: low, end: high, mut body, .. } = statement else { return vec![statement] };
    if let Some(Statement::For { begin, end, .. }) = body.last_mut() {
        *end = at(begin.clone(), variable, &high);
        *begin = at(begin.clone(), variable, &low);
    }
    body
}
