//! Reductions of runs that lie one behind the other, as the rows of a matrix do.

use super::combine::{Monoid, Sum};
use super::coordinate::Coordinate;
use super::dot::{Term, Terms, reduce_each};
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
use super::segments;
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
use super::wide::{GATHERED, LOADS_ONE_BY_ONE};
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
use std::ops::RangeInclusive;

impl<F: Term> Terms<F> {
    /// Their sums between positions: the first is that of places `positions[0]..positions[1]`, and so on.
    ///
    /// ```
    /// use spc::parallel::{at, run};
    ///
    /// let mut sums = [0.0; 3];
    /// run(&[2.0, 3.0, 4.0]).times(at(&[1.0, 10.0], &[0_u32, 1, 1])).sums_between(&[0_u32, 2, 2, 3], &mut sums);
    /// assert_eq!(sums, [32.0, 0.0, 40.0]);
    /// ```
    ///
    /// # Panics
    /// When there is not one position more than sums, the positions do not ascend up to a place that there is, or a coordinate lies
    /// beyond its array.
    #[inline(always)]
    pub fn sums_between<P: Coordinate>(self, positions: &[P], sums: &mut [F::Number]) {
        self.reduce_between(Sum, positions, sums);
    }

    /// The same with another operator: the identity where there are no places.
    ///
    /// # Panics
    /// As [`Terms::sums_between`].
    #[inline(always)]
    pub fn reduce_between<C: Monoid, P: Coordinate>(self, _: C, positions: &[P], totals: &mut [F::Number]) {
        assert!(positions.len() == totals.len() + 1, "each sum has its end");
        reduce_between::<C, F, P>(self.0, positions, totals);
    }
}

/// How many runs a chunk may have whose ends a processor guesses right when it meets them again, so that nothing is won by not
/// having to guess. Fewer are a block of a loop that has more.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
const REMEMBERED: RangeInclusive<usize> = 65..=2048;

/// The same, where the lengths of runs are alike.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
const REMEMBERED_ALIKE: RangeInclusive<usize> = 2049..=8192;

/// Of how many runs the lengths are looked at.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
const LOOKED_AT: usize = 256;

/// Whether the first runs are of lengths that are alike: none is longer than four of the mean.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn are_alike<P: Coordinate>(positions: &[P]) -> bool {
    let positions = &positions[..positions.len().min(LOOKED_AT + 1)];
    let [first, .., end] = positions else { return false };
    let all = end.place().wrapping_sub(first.place());
    let lengths = positions.windows(2).map(|bounds| bounds[1].place().wrapping_sub(bounds[0].place()));
    lengths.max().unwrap_or(0).saturating_mul(positions.len() - 1) <= all.saturating_mul(4)
}

/// The totals of runs that lie one behind the other.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[inline(always)]
fn reduce_between<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    if term.longest() > GATHERED {
        return reduce_between_of_far::<C, F, P>(term, positions, totals);
    }
    let runs = totals.len();
    let are_guessed = REMEMBERED.contains(&runs) || REMEMBERED_ALIKE.contains(&runs) && are_alike(positions);
    if LOADS_ONE_BY_ONE && are_guessed {
        return reduce_each::<C, F, P>(term, positions, totals);
    }
    segments::reduce_between::<C, F, P>(term, positions, totals);
}

/// Of an array that is too long to be gathered from.
#[cfg(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
))]
#[cold]
#[inline(never)]
fn reduce_between_of_far<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    reduce_each::<C, F, P>(term, positions, totals);
}

/// One after the other.
#[cfg(not(all(
    target_arch = "x86_64",
    target_feature = "avx512bw",
    target_feature = "avx512dq",
    target_feature = "avx512vl"
)))]
#[inline(always)]
fn reduce_between<C: Monoid, F: Term, P: Coordinate>(term: F, positions: &[P], totals: &mut [F::Number]) {
    reduce_each::<C, F, P>(term, positions, totals);
}
