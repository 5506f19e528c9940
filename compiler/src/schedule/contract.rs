//! Contractions of sparse operands into a dense result.
//!
//! Loops in the order of the result look for the entries that two operands have in common, for each pair of their rows:
//!
//! ```text
//! for all i
//!     for all l
//!         for all j: C(i, l) += A(i, j) * B(l, j)
//! ```
//!
//! Most pairs have none. From a copy of one operand that is sorted by what is summed, all come without a search:
//!
//! ```text
//! for all i
//!     for all j
//!         for all l: C(i, l) += A(i, j) * B_jl(l, j)
//! ```
//!
//! So it is for results that are appended too, where [`scatter`](super::scatter) has to choose between more.

use super::copy::sorted_format;
use super::lift::has_sum;
use super::order::{Edge, storage_edges};
use super::scatter::orders;
use super::state::{Scheduler, Term};
use super::{Access, Expr, IndexVariable, OutputStructure, Target, TensorId, TensorKind};
use crate::notation::{BinaryOperator, UnaryOperator};

/// How many times fewer steps are worth other loops than those of the result: steps are estimates, and what is in order needs no copy.
const WORTH: f64 = 16.0;

/// So many operands of a product may be copied.
const MOST_COPIES: usize = 4;

impl Scheduler<'_> {
    /// Whether a term writes all elements of a dense result.
    pub(super) fn writes_all(&self, term: &Term) -> bool {
        let target = self.kernel.tensor(term.target.tensor);
        target.kind == TensorKind::Output(OutputStructure::Dense)
            && term.structure == OutputStructure::Dense
            && term.masks.is_empty()
    }

    /// Whether a term writes all elements and adds a part to each, which then has to be there for all of them.
    pub(super) fn adds_to_all(&self, term: &Term, part: TensorId) -> bool {
        self.writes_all(term) && adds(&term.value, part)
    }

    /// Loops that take far fewer steps than those in `plain`, with what they copy, that of `plain` being `copied`, where all elements
    /// are written anyway. The outermost loop is the same: its chunks own their rows.
    pub(super) fn contraction(
        &self,
        term: &Term,
        reads: &[Access],
        plain: &[IndexVariable],
        copied: &[Access],
        fixed: &[Edge],
    ) -> Option<(Vec<IndexVariable>, Vec<Access>)> {
        let Expr::Reduce(_, summed, body) = &term.value else { return None };
        let is_product = term.masks.is_empty() && !has_sum(body) && self.kernel.is_product(body);
        if self.kernel.target != Target::Cpu || !is_product {
            return None;
        }
        let (&outermost, _) = plain.split_first()?;
        let mut walked: Vec<&Access> = Vec::new();
        for access in reads {
            let is_known = walked.iter().any(|other| other.same_place(access));
            if !is_known && !storage_edges(&self.kernel, access).is_empty() {
                walked.push(access);
            }
        }
        let is_summed =
            |access: &&&Access| self.kernel.loops_of(&access.indices).iter().any(|index| summed.contains(index));
        if walked.iter().filter(is_summed).count() < 2 {
            return None;
        }
        let is_movable = |access: &&Access| {
            self.kernel.tensor(access.tensor).stored.is_none() && !self.kernel.must_not_be_copied(access)
        };
        let movable: Vec<&Access> = walked.iter().copied().filter(is_movable).take(MOST_COPIES).collect();
        let is_left = |access: &&Access| !movable.iter().any(|other| other.same_place(access));
        if walked.iter().copied().filter(is_left).any(|access| self.kernel.must_be_copied(access)) {
            return None;
        }
        let costed = self.kernel.costed(&term.value);
        let steps = |order: &[IndexVariable], copied: &[Access]| {
            let stored_as = |access: &Access| {
                let own = &self.kernel.tensor(access.tensor).format;
                match copied.iter().any(|other| other.same_place(access)) {
                    true => sorted_format(access, own, order),
                    false => own.clone(),
                }
            };
            let cost = costed.cost(order, &stored_as);
            cost.steps + cost.terms + self.copying(copied)
        };
        let mut best = None;
        let mut least = steps(plain, copied) / WORTH;
        for copied in self.choices_of_copies(&movable).filter(|copied| !copied.is_empty()) {
            if self.copying(&copied) >= least {
                continue;
            }
            let mut edges = fixed.to_vec();
            edges.extend(plain[1..].iter().map(|&inner| (outermost, inner)));
            edges.extend(self.edges_with(walked.iter().copied(), &copied));
            for order in orders(plain, &edges) {
                let steps = steps(&order, &copied);
                if steps < least {
                    (least, best) = (steps, Some((order, copied.clone())));
                }
            }
        }
        best
    }
}

/// Whether a tensor is a summand of an expression, by itself or times what has no index.
fn adds(value: &Expr, part: TensorId) -> bool {
    let is_scalar = |factor: &Expr| {
        let mut is_scalar = !has_sum(factor);
        factor.for_each_access(&mut |access| is_scalar &= access.indices.is_empty() && access.tensor != part);
        is_scalar
    };
    match value {
        Expr::Access(access) => access.tensor == part,
        Expr::Unary(UnaryOperator::Negate, operand) => adds(operand, part),
        Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
            adds(left, part) || adds(right, part)
        }
        Expr::Binary(BinaryOperator::Multiply, left, right) => {
            is_scalar(left) && adds(right, part) || is_scalar(right) && adds(left, part)
        }
        _ => false,
    }
}
