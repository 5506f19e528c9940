//! Rows of a length that is known to the compiler, and rows that are filled up to one.

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

/// How many elements a row has before what fills it up, which is larger than all of them.
///
/// ```
/// assert_eq!(spc::parallel::filled(&[2_u32, 5, u32::MAX, u32::MAX], u32::MAX), 2);
/// ```
///
/// Most rows are short: to count all of them takes less than a search, whose every step waits for the one before it.
#[inline(always)]
pub fn filled<T: Copy + PartialOrd>(row: &[T], filling: T) -> usize {
    if row.len() > SEARCHED {
        return row.partition_point(|&element| element < filling);
    }
    let count: u32 = row.iter().map(|&element| u32::from(element < filling)).sum();
    count as usize
}

/// Rows that are longer are searched.
const SEARCHED: usize = 64;
