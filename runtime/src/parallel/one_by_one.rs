//! Runs of terms on processors that have no vectors loaded under a mask: in several totals, which the compiler keeps in what vectors it has.

#![cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]

use super::combine::{Monoid, Value};
use super::dot::{LONG, Term, combine_one_by_one, is_in_parts, sum_in_parts};

/// What numbers in vectors have besides.
pub trait Wide {}

impl<N> Wide for N {}

/// What elements in vectors have besides.
pub trait StoredInLanes<N> {}

impl<N, T> StoredInLanes<N> for T {}

/// What terms in vectors have besides.
pub trait TermInLanes<N> {}

impl<N, T> TermInLanes<N> for T {}

/// One after the other.
#[inline(always)]
pub(super) fn combine_in_turns<C: Monoid, F: Term>(term: F, totals: &mut [F::Number]) {
    combine_one_by_one::<C, F>(term, totals);
}

/// In several totals, and one for the last entries.
#[inline(always)]
pub(super) fn reduce<C: Monoid, F: Term>(term: F) -> F::Number {
    if F::IS_GATHERED { reduce_all::<4, C, F>(term) } else { reduce_all::<8, C, F>(term) }
}

#[inline(always)]
fn reduce_all<const LANES: usize, C: Monoid, F: Term>(term: F) -> F::Number {
    if is_in_parts::<C, F>() && term.length() > LONG * LANES {
        return sum_of_long::<LANES, C, F>(term);
    }
    reduce_in::<LANES, C, F>(term)
}

/// Of so many that they are added up in parts.
#[inline(never)]
fn sum_of_long<const LANES: usize, C: Monoid, F: Term>(term: F) -> F::Number {
    sum_in_parts(term, LONG * LANES, &reduce_in::<LANES, C, F>)
}

#[inline(always)]
fn reduce_in<const LANES: usize, C: Monoid, F: Term>(term: F) -> F::Number {
    let mut totals = [F::Number::identity(C::OP); LANES];
    let length = term.length();
    let blocks = length / LANES;
    for block in 0..blocks {
        let block = term.part(block * LANES, LANES);
        for (lane, total) in totals.iter_mut().enumerate() {
            block.combine_into::<C>(total, lane);
        }
    }
    let mut total = F::Number::identity(C::OP);
    let left = length - blocks * LANES;
    let rest = term.part(blocks * LANES, left);
    for place in 0..left {
        rest.combine_into::<C>(&mut total, place);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            totals[lane] = Value::apply(C::OP, totals[lane], totals[lane + half]);
        }
        half /= 2;
    }
    Value::apply(C::OP, total, totals[0])
}
