//! Loops that this crate has compiled for the processor that runs them, whatever a kernel that calls them is compiled for.

/// Numbers with such loops.
pub trait Ready: Sized {
    /// The sums between positions of the products of a run and what an array has at coordinates, unless there is no such loop.
    ///
    /// # Panics
    /// When positions do not ascend up to a place that there is, or a coordinate lies beyond its array.
    #[inline(always)]
    fn sums_of_products(_: &[Self], _: &[Self], _: &[u32], _: &[u32], _: &mut [Self]) -> bool {
        false
    }
}
