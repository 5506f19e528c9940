//! Loops over the children of every parent become one loop over all children, where loops do not read which parent it is.
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
//! inner loops' beginnings and ends cost more than what they do. So do runs of equal coordinates that are not read:
//!
//! ```text
//! let p1 = low
//! while p1 < high
//!     let i = X1_crd[p1]
//!     let p1_run = p1
//!     while p1_run < high && X1_crd[p1_run] == i: p1_run = p1_run + 1
//!     for p2 in p1..p1_run: Y[p2] = 2 * X[p2]                           for p2 in low..high: Y[p2] = 2 * X[p2]
//!     p1 = p1_run
//! ```

use super::replacing;
use crate::ir::{ArrayRole, BinaryOperator, Expr, Kernel, Parallel, Sharing, Statement, VariableId};

/// The kernel with its loops over children flattened where they can be.
pub(super) fn flatten(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, behind, done| {
        if only_runs_over_children(kernel, &statement) {
            done.extend(flattened(statement));
        } else if let Some(runs) = Runs::of(kernel, done, &statement, behind) {
            let joined = runs.joined();
            done.pop();
            let joined = with_own_end(done, joined, behind);
            done.extend(joined);
        } else {
            done.push(match statement {
                Statement::Parallel(node) => Statement::Parallel(Box::new(unaligned(*node))),
                other => other,
            });
        }
    })
}

/// The loop whose chunks begin anywhere, where neither these nor the parts that they write ask for the coordinates whose runs
/// would be cut.
fn unaligned(node: Parallel) -> Parallel {
    let Some(coordinates) = node.aligned else { return node };
    let mut asked = false;
    let mut see = |expr: &Expr| {
        expr.for_each(&mut |expr| expr.for_each_array(&mut |array| asked |= array == coordinates));
    };
    node.work.iter().for_each(|work| see(&work.before));
    for (_, sharing) in &node.sharing {
        match sharing {
            Sharing::Owned { start, .. } => see(start),
            Sharing::Segmented { start, length, .. } => [start, length].into_iter().for_each(&mut see),
            Sharing::Private(_) | Sharing::Joined { .. } => {}
        }
    }
    for statement in &node.body {
        statement.for_each(&mut |inner| inner.for_each_expr(&mut see));
    }
    // A view of them is as good as they are.
    let is_viewed = |inner: &Statement| matches!(inner, Statement::View { of, .. } if *of == coordinates);
    node.body.iter().for_each(|statement| statement.for_each(&mut |inner| asked |= is_viewed(inner)));
    Parallel { aligned: node.aligned.filter(|_| asked), ..node }
}

/// A loop over runs of equal coordinates that only runs over the places of each, or over their children.
struct Runs<'a> {
    place: VariableId,
    begin: &'a Expr,
    end: &'a Expr,
    comments: &'a [Statement],
    /// The loop over the places of a run.
    inner: &'a Statement,
}

impl<'a> Runs<'a> {
    fn of(kernel: &Kernel, before: &'a [Statement], statement: &'a Statement, behind: &[Statement]) -> Option<Self> {
        let Statement::Let(place, begin) = before.last()? else { return None };
        let Statement::While(condition, body) = statement else { return None };
        let Expr::Binary(BinaryOperator::Less, here, end) = condition else { return None };
        let [Statement::Let(coordinate, _), Statement::Let(run, first), Statement::While(goes_on, step), rest @ ..] =
            &body[..]
        else {
            return None;
        };
        let [comments @ .., inner, Statement::Assign(next, run_end)] = rest else { return None };
        let Statement::For { begin: low, end: high, vector: false, body, .. } = inner else { return None };
        let (at_place, at_end) = (Expr::Variable(*place), Expr::Variable(*run));
        let steps = [Statement::Assign(*run, at_end.clone().plus(Expr::Index(1)))];
        // A run ends at the end of all at the latest, and has a place at least.
        let Expr::Binary(BinaryOperator::And, is_before, is_equal) = goes_on else { return None };
        let equal = |left: &Expr| matches!(left, Expr::Load(_, index) if **index == at_end);
        let is_run = **is_before == at_end.clone().less((**end).clone())
            && matches!(&**is_equal, Expr::Binary(BinaryOperator::Equal, left, right)
                if equal(left) && **right == Expr::Variable(*coordinate))
            && step[..] == steps;
        let names = [*place, *coordinate, *run];
        let asks = |statement: &Statement| names.iter().any(|&name| uses(statement, name));
        (is_run
            && **here == at_place
            && *first == at_place
            && (next, run_end) == (place, &at_end)
            && (*low == at_place || is_first_child(kernel, low, *place))
            && *high == at(low.clone(), *place, &at_end)
            && comments.iter().all(|statement| matches!(statement, Statement::Comment(_)))
            && !body.iter().any(asks)
            && !behind.iter().any(|statement| uses(statement, *place)))
        .then_some(Runs { place: *place, begin, end, comments, inner })
    }

    /// One loop over the places of all runs.
    fn joined(&self) -> Vec<Statement> {
        let mut inner = self.inner.clone();
        if let Statement::For { begin, end, .. } = &mut inner {
            *end = at(begin.clone(), self.place, self.end);
            *begin = at(begin.clone(), self.place, self.begin);
        }
        self.comments.iter().cloned().chain([inner]).collect()
    }
}

/// The last of these statements, a loop, with the value of its end in place of the variable that has it, where nothing else
/// reads that.
fn with_own_end(before: &mut Vec<Statement>, mut joined: Vec<Statement>, behind: &[Statement]) -> Vec<Statement> {
    let Some(Statement::For { end, body, .. }) = joined.last_mut() else { return joined };
    let Expr::Variable(name) = *end else { return joined };
    let is_it = |statement: &Statement| matches!(statement, Statement::Let(variable, _) if *variable == name);
    let Some(place) = before.iter().rposition(is_it) else { return joined };
    let asks = |statement: &Statement| uses(statement, name);
    let is_fixed = |statement: &Statement| matches!(statement, Statement::Comment(_) | Statement::Let(..));
    if before[place..].iter().all(is_fixed)
        && !before[place..].iter().chain(&*body).chain(behind).any(asks)
        && let Statement::Let(_, value) = before.remove(place)
    {
        *end = value;
    }
    joined
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
