//! Rows of a length that is known to the compiler.

/// A row of an array of rows: one comparison says whether it is there, and none is left for its elements.
///
/// ```
/// let rows = [1.0, 2.0, 3.0, 4.0];
/// assert_eq!(spc::parallel::row::<2, _>(&rows, 1), &[3.0, 4.0]);
/// ```
///
/// # Panics
/// When there is no such row.
#[inline(always)]
pub fn row<const LENGTH: usize, T>(rows: &[T], place: usize) -> &[T; LENGTH] {
    &rows.as_chunks().0[place]
}
