//! Reductions with a term at every place, most of which are alike.
//!
//! Loops in the order in which an operand is stored go through all places, as the result's element is another at each:
//!
//! ```text
//! for all i
//!     for all j: y(j) min= select(A(i, j) == t(j), i, inf)
//! ```
//!
//! From a copy that has the result's indices outside, entries alone are visited, and what all other places come to has a closed form
//! ([`region`](crate::lattice::Lattice::region)):
//!
//! ```text
//! for all j
//!     for all i: y(j) min= select(A_ji(j, i) == t(j), i, inf)
//! ```

use super::lift::has_sum;
use super::order::Edge;
use super::state::{Scheduler, Term};
use super::{Access, Assign, Expr, IndexVariable, Statement, is_identity};
use crate::lattice::Lattice;
use crate::level::is_located;
use crate::notation::simplify::{literal, simplify, with_missing};

impl Scheduler<'_> {
    /// The order of loops, with what they copy, in which a term costs what entries cost, where loops in the order `plain` visit all places.
    pub(super) fn closed<R: Ord>(
        &self,
        term: &Term,
        reads: &[Access],
        plain: &[IndexVariable],
        fixed: &[Edge],
        rank: impl Fn(IndexVariable) -> R,
    ) -> Option<(Vec<IndexVariable>, Vec<Access>)> {
        let Expr::Reduce(operator, _, body) = &term.value else { return None };
        let is_simple = term.masks.is_empty() && !has_sum(body) && *operator == term.reduction && !term.is_apart;
        let is_reduced = |variable: &&IndexVariable| self.kernel.is_reduced(**variable, &term.target);
        let first = plain.iter().position(|variable| is_reduced(&variable))?;
        let is_mixed = plain[first..].iter().any(|variable| !is_reduced(&variable));
        if !is_simple || !is_mixed {
            return None;
        }
        let is_sparse = |access: &Access| {
            self.kernel.tensor(access.tensor).format.levels.iter().any(|level| !is_located(level.format))
        };
        let missing = |access: &Access| is_sparse(access).then(|| self.kernel.tensor(access.values()).fill);
        let elsewhere = simplify(with_missing(body, &missing));
        if literal(&elsewhere).is_some_and(|value| is_identity(*operator, value)) {
            return None;
        }
        let mut edges = fixed.to_vec();
        let (inside, outside): (Vec<IndexVariable>, Vec<IndexVariable>) = plain.iter().partition(is_reduced);
        edges.extend(outside.iter().flat_map(|&outer| inside.iter().map(move |&inner| (outer, inner))));
        let (order, copied) = self.resolve(term, reads, plain, &[], edges, rank)?;
        let innermost = *order.last()?;
        let assign = Statement::Assign(Assign {
            target: term.target.clone(),
            operator: Some(*operator),
            value: (**body).clone(),
            masks: Vec::new(),
        });
        let walked: Vec<Access> =
            reads.iter().filter(|access| is_sparse(access) && access.indices.contains(&innermost)).cloned().collect();
        let lattice =
            (!super::cases::are_many(&walked)).then(|| Lattice::new(&self.kernel.tensors, &assign, &walked))?;
        let is_closed = lattice.region(&self.kernel, innermost).is_some()
            || lattice.growing_region(&self.kernel, innermost).is_some();
        is_closed.then_some((order, copied))
    }
}
