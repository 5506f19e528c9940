//! Reductions of runs that lie one behind the other, as the rows of a matrix do.

use super::combine::{Monoid, Sum};
use super::coordinate::Coordinate;
use super::dot::{Known, Term, Terms};
use super::loops::reduce_between;
use super::ready::Ready;

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
        assert!(positions.len() == sums.len() + 1, "each sum has its end");
        if let (Known::Products(run, of, coordinates), Some(positions)) = (self.0.known(), P::words(positions))
            && Ready::sums_of_products(run, of, coordinates, positions, sums)
        {
            return;
        }
        reduce_between::<Sum, F, P>(self.0, positions, sums);
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
