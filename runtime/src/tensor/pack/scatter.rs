//! Matrices by rows, from entries that come by rows or by columns, without a sort.
//!
//! Entries that come by rows, and in each by columns, stay where they are. Files list a matrix by columns, and a symmetric one by
//! the columns of one triangle, and then by the rows of the other. Within a row, columns ascend either way: it is enough to count
//! the entries of each row, and to put each entry behind those of its row that came before it.
//!
//! ```text
//! entries              counts     pos         crd        val
//! (1, 0) 5.0           1          0
//! (2, 0) 7.0    ─▶     2     ─▶   1      ─▶   1          3.0
//! (0, 1) 3.0           1          3           0  2       5.0  6.0
//! (1, 2) 6.0                      4           0          7.0
//! ```
//!
//! Threads count parts of the entries, each on its own, so that each also knows where its entries of a row begin. Whether
//! columns ascend is seen from what comes out. Where they descend once, as by the columns of a symmetric matrix, the two
//! parts are swapped; where that is not enough, or an entry occurs twice, the caller has to sort.

use super::super::buffer::Room;
use super::super::layout::Layout;
use super::super::tasks::{self, split};
use super::super::{Buffer, Coordinates, IndexArray, Indices, LevelArrays, Plain};
use spc_compiler::format::IndexWidth;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// How many entries, and how many rows, a task looks at.
const GRAIN: usize = 1 << 16;
const ROWS: usize = 1 << 12;
/// The fewest entries that are worth a thread.
const FEWEST: usize = 1 << 14;
/// The most rows: a cache must hold the places that are written next.
const MOST_ROWS: usize = 1 << 20;
/// How many entries ahead the place of an entry is asked for.
const AHEAD: usize = 64;
/// Results of fewer bytes are in the second-level cache anyway.
const NEAR: usize = 1 << 20;

/// The levels and the values of a matrix, `[dense, compressed]` in either order of modes, where its entries come in an order that
/// needs no sort; else the entries as they were. Whether indices are within the shape need not be known: where one is not, the
/// entries come back.
pub(super) fn matrix<T: Plain>(
    entries: Coordinates<T>,
    layout: &Layout,
) -> Result<(Vec<LevelArrays>, Buffer<T>), Coordinates<T>> {
    if !is_csr(layout) || entries.indices.len() != 2 {
        return Err(entries);
    }
    let [outer, inner] = [layout.modes[0], layout.modes[1]];
    let (Indices::U32(rows), Indices::U32(columns)) = (&entries.indices[outer], &entries.indices[inner]) else {
        return Err(entries);
    };
    let count = entries.values.len();
    let extents = [layout.extents[0], layout.extents[1]];
    let fits = extents[0] <= MOST_ROWS.min(8 * count) && count < u32::MAX as usize;
    if !fits || rows.len() != count || columns.len() != count {
        return Err(entries);
    }
    let stored =
        |positions: Vec<u32>, coordinates: IndexArray| vec![LevelArrays::NONE, LevelArrays::of(positions, coordinates)];
    match order(rows, columns) {
        Order::Rows if are_rows(rows, columns, extents) => {
            let positions = positions_of(rows, extents[0]);
            let Coordinates { mut indices, values, .. } = entries;
            let coordinates = match indices.swap_remove(inner) {
                Indices::U32(columns) => columns.into(),
                Indices::U64(columns) => columns.into(),
            };
            Ok((stored(positions, coordinates), values.into()))
        }
        Order::None => Err(entries),
        _ => match Rows::of(rows, columns, &entries.values, extents).and_then(Rows::ascending) {
            Some(Rows { positions, coordinates, values, .. }) => Ok((stored(positions, coordinates.into()), values)),
            None => Err(entries),
        },
    }
}

/// Whether a layout is one that is made here: rows of columns, with indices of 32 bits.
fn is_csr(layout: &Layout) -> bool {
    let ([outer, inner], true) = (&layout.levels[..], layout.stores_modes()) else { return false };
    let by_rows = outer.kind.is_dense() && inner.kind.is_compressed() && inner.unique();
    by_rows && inner.coordinates() == IndexWidth::U32 && inner.positions() == IndexWidth::U32
}

/// How entries seem to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// By rows, and in each by columns.
    Rows,
    /// Here and there by columns, but for few.
    Runs,
    /// Neither.
    None,
}

/// How entries seem to come, by some of them.
fn order(rows: &[u32], columns: &[u32]) -> Order {
    const SAMPLES: usize = 64;
    const PAIRS: usize = 64;
    let step = (rows.len() / SAMPLES).max(PAIRS);
    let (mut samples, mut by_rows, mut ordered) = (0, 0, 0);
    for begin in (0..rows.len()).step_by(step) {
        let range = begin..rows.len().min(begin + PAIRS + 1);
        let (rows, columns) = (&rows[range.clone()], &columns[range]);
        let are_rows = rows_ascend(rows, columns);
        samples += 1;
        by_rows += usize::from(are_rows);
        ordered += usize::from(are_rows || columns.is_sorted());
    }
    match samples {
        _ if by_rows == samples => Order::Rows,
        _ if samples - ordered <= samples / 8 => Order::Runs,
        _ => Order::None,
    }
}

/// Whether neighbours ascend strictly, first by row.
fn rows_ascend(rows: &[u32], columns: &[u32]) -> bool {
    rows.windows(2)
        .zip(columns.windows(2))
        .fold(true, |all, (row, column)| all & ((row[0] < row[1]) | ((row[0] == row[1]) & (column[0] < column[1]))))
}

/// Whether entries are within the extents and ascend strictly, first by row.
fn are_rows(rows: &[u32], columns: &[u32], extents: [usize; 2]) -> bool {
    let are_rows = |range: Range<usize>| {
        let with_next = range.start..rows.len().min(range.end + 1);
        let wrong =
            !(rows_ascend(&rows[with_next.clone()], &columns[with_next]) && are_below(&columns[range], extents[1]));
        wrong.then_some(())
    };
    let last_is_below = rows.last().is_none_or(|&row| (row as usize) < extents[0]);
    last_is_below && tasks::first(&tasks::ranges(rows.len(), GRAIN), &are_rows).is_none()
}

/// Whether all indices are less than an extent.
pub(super) fn are_below(indices: &[u32], extent: usize) -> bool {
    let Some(largest) = extent.checked_sub(1) else { return indices.is_empty() };
    let Ok(largest) = u32::try_from(largest) else { return true };
    indices.iter().fold(true, |all, &index| all & (index <= largest))
}

/// Where each row begins; last, how many entries there are. Rows ascend and are below `extent`.
fn positions_of(rows: &[u32], extent: usize) -> Vec<u32> {
    let mut positions = vec![0; extent + 1];
    let parts = tasks::ranges(rows.len(), GRAIN);
    // Up to the row of its last entry, each part says where rows begin.
    let known = |entry: usize| entry.checked_sub(1).map_or(0, |before| rows[before] as usize + 1);
    let sizes: Vec<usize> = parts.iter().map(|part| known(part.end) - known(part.start)).collect();
    let (begun, rest) = positions.split_at_mut(known(rows.len()));
    tasks::each(split(begun, &sizes), &|task, positions: &mut [u32]| {
        let first = known(parts[task].start);
        let mut next = 0;
        for (entry, &row) in (parts[task].start as u32..).zip(&rows[parts[task].clone()]) {
            let end = row as usize + 1 - first;
            if next < end {
                positions[next..end].fill(entry);
                next = end;
            }
        }
    });
    rest.fill(rows.len() as u32);
    positions
}

/// A matrix by rows.
struct Rows<T> {
    /// The number of columns.
    extent: usize,
    /// Where the entries of each row begin; last, how many there are.
    positions: Vec<u32>,
    /// The column of each entry.
    coordinates: Buffer<u32>,
    values: Buffer<T>,
}

/// Some of the entries, and for each row where the first of them goes.
type Part = (Range<usize>, Vec<u32>);

impl<T: Plain> Rows<T> {
    /// Entries by their row, those of a row in the order that they come in; as many rows, columns and values. None where a row
    /// is not below its extent, or where there is not enough memory: the sort reports that.
    fn of(rows: &[u32], columns: &[u32], values: &[T], extents: [usize; 2]) -> Option<Self> {
        let (count, threads) = (rows.len(), rayon::current_num_threads());
        // Of a symmetric matrix, the first and the second half of the entries are in the same rows: a thread has a part of both.
        let long = count / (8 * extents[0].max(1)) >= 2 * threads && threads > 1;
        let most = if long { 2 * threads } else { threads.min(count / extents[0].max(1)) };
        let ranges = tasks::ranges(count, count.div_ceil(most.min(count / FEWEST).max(1)).max(1));
        let mut places =
            tasks::map(&ranges, &|part| counts(&rows[part], extents[0])).into_iter().collect::<Option<Vec<_>>>()?;
        let positions = begin(&mut places, extents[0]);

        let (mut to_columns, mut to_values) = (Room::<u32>::try_new(count).ok()?, Room::<T>::try_new(count).ok()?);
        let places_of = (Places::of(to_columns.places()), Places::of(to_values.places()));
        let scatter = Scatter { rows, columns, values, to_columns: places_of.0, to_values: places_of.1 };
        let mut parts: Vec<Option<Part>> = ranges.into_iter().zip(places).map(Some).collect();
        let mut shares: Vec<Vec<Part>> = Vec::new();
        let stride = if long { parts.len().div_ceil(2) } else { parts.len() };
        for first in 0..stride {
            let share = [first, first + stride].into_iter().filter_map(|part| parts.get_mut(part)?.take());
            shares.push(share.collect());
        }
        // SAFETY: the places of a part and a row are as many as it has entries there, which were counted from the same rows, from
        // the sum of all counts before on: no entry of this or another part is put where another is.
        tasks::each(shares, &|_, share| share.into_iter().for_each(|part| unsafe { scatter.put(part) }));
        // SAFETY: the places are as many as the entries, and each entry was put in one of its own.
        let (coordinates, values) = unsafe { (to_columns.written(), to_values.written()) };
        Some(Self { extent: extents[1], positions, coordinates, values })
    }
}

/// Entries, and where they go.
struct Scatter<'a, T> {
    rows: &'a [u32],
    columns: &'a [u32],
    values: &'a [T],
    to_columns: Places<'a, MaybeUninit<u32>>,
    to_values: Places<'a, MaybeUninit<T>>,
}

impl<T: Plain> Scatter<'_, T> {
    /// Puts the entries of a part behind each other, from the place of each row on.
    ///
    /// # Safety
    /// No other part writes to the places that follow that of a row, as many as the part has entries there.
    unsafe fn put(&self, (part, mut places): Part) {
        // Their own variables, which stay in registers: a write through them might change what `self` is.
        let Self { rows, columns, values, .. } = *self;
        let (to_columns, to_values) = (self.to_columns.again(), self.to_values.again());
        let is_far = rows.len() * (size_of::<u32>() + size_of::<T>()) > NEAR;
        let near = if is_far { part.end.saturating_sub(AHEAD).max(part.start) } else { part.start };
        for entry in part {
            if entry < near {
                let ahead = places[rows[entry + AHEAD] as usize] as usize;
                to_columns.ask_for(ahead);
                to_values.ask_for(ahead);
            }
            let place = &mut places[rows[entry] as usize];
            // SAFETY: the caller vouches for this place, and the next of this row is another.
            unsafe {
                to_columns.write(*place as usize, MaybeUninit::new(columns[entry]));
                to_values.write(*place as usize, MaybeUninit::new(values[entry]));
            }
            *place += 1;
        }
    }
}

/// How many entries each row has; None where one is not below the extent.
fn counts(rows: &[u32], extent: usize) -> Option<Vec<u32>> {
    let mut counts = vec![0; extent];
    for &row in rows {
        *counts.get_mut(row as usize)? += 1;
    }
    Some(counts)
}

/// Some rows, and how many entries come before them.
struct Block<'a> {
    begin: u32,
    positions: &'a mut [u32],
    /// The counts of each part.
    parts: Vec<&'a mut [u32]>,
}

/// Where the entries of each row begin, from the counts of all parts, which become where those of the part begin.
fn begin(parts: &mut [Vec<u32>], extent: usize) -> Vec<u32> {
    let blocks = tasks::ranges(extent, ROWS);
    let sum = |block: Range<usize>| parts.iter().map(|counts| counts[block.clone()].iter().sum::<u32>()).sum::<u32>();
    let sums = tasks::map(&blocks, &sum);
    let mut positions = vec![0; extent + 1];
    let mut blocks: Vec<Block<'_>> = Vec::with_capacity(blocks.len());
    let mut total = 0;
    for (positions, sum) in positions[..extent].chunks_mut(ROWS).zip(sums) {
        blocks.push(Block { begin: total, positions, parts: Vec::with_capacity(parts.len()) });
        total += sum;
    }
    for counts in parts {
        blocks.iter_mut().zip(counts.chunks_mut(ROWS)).for_each(|(block, counts)| block.parts.push(counts));
    }
    tasks::each(blocks, &|_, Block { mut begin, positions, parts }| {
        for counts in &parts {
            positions.iter_mut().zip(&**counts).for_each(|(position, count)| *position += count);
        }
        for position in &mut *positions {
            begin += std::mem::replace(position, begin);
        }
        let mut next = positions.to_vec();
        for counts in parts {
            for (count, next) in counts.iter_mut().zip(&mut next) {
                *next += std::mem::replace(count, *next);
            }
        }
    });
    positions[extent] = total;
    positions
}

impl<T: Plain> Rows<T> {
    /// With ascending columns in each row, if they do or if a rotation of rows makes them do so.
    fn ascending(mut self) -> Option<Self> {
        if !self.ascend() {
            self.rotate();
        }
        self.ascend().then_some(self)
    }

    /// Whether the columns of each row ascend strictly and are within the extent: wherever they descend, another row begins.
    fn ascend(&self) -> bool {
        let (positions, columns) = (&self.positions[..], &self.coordinates[..]);
        let out_of_order = |rows: Range<usize>| {
            let (begin, end) = (positions[rows.start] as usize, positions[rows.end] as usize);
            let columns = &columns[begin..end];
            let descents = columns.windows(2).map(|pair| usize::from(pair[0] >= pair[1])).sum::<usize>();
            let begins = positions[rows.start..=rows.end].windows(2);
            let at_row = |row: &[u32]| {
                let place = row[0] as usize - begin;
                (row[0] < row[1]) & (place > 0) && columns[place - 1] >= columns[place]
            };
            let at_rows = begins.map(|row| usize::from(at_row(row))).sum::<usize>();
            (descents != at_rows || !are_below(columns, self.extent)).then_some(())
        };
        tasks::first(&tasks::ranges(positions.len() - 1, ROWS), &out_of_order).is_none()
    }

    /// Puts the end of each row that descends once in front: of a symmetric matrix, one triangle comes behind the other.
    fn rotate(&mut self) {
        let Self { positions, coordinates, values, .. } = self;
        let parts = tasks::ranges(positions.len() - 1, ROWS);
        let sizes: Vec<usize> =
            parts.iter().map(|rows| (positions[rows.end] - positions[rows.start]) as usize).collect();
        let slices = split(coordinates, &sizes).into_iter().zip(split(values, &sizes)).collect();
        tasks::each(slices, &|part, (mut coordinates, mut values): (&mut [u32], &mut [T])| {
            for row in positions[parts[part].start..=parts[part].end].windows(2) {
                let length = (row[1] - row[0]) as usize;
                let (Some(columns), Some(values)) =
                    (coordinates.split_off_mut(..length), values.split_off_mut(..length))
                else {
                    return;
                };
                if let Some(place) = columns.windows(2).position(|pair| pair[0] >= pair[1]) {
                    columns.rotate_left(place + 1);
                    values.rotate_left(place + 1);
                }
            }
        });
    }
}

/// Elements that several threads write to, each to places of its own.
struct Places<'a, E> {
    first: *mut E,
    length: usize,
    elements: PhantomData<&'a mut [E]>,
}

// SAFETY: elements can only be written to, and who does so vouches for the places being different.
unsafe impl<E: Send> Sync for Places<'_, E> {}

impl<'a, E: Copy> Places<'a, E> {
    fn of(elements: &'a mut [E]) -> Self {
        Self { first: elements.as_mut_ptr(), length: elements.len(), elements: PhantomData }
    }

    /// The same places.
    fn again(&self) -> Places<'_, E> {
        Places { first: self.first, length: self.length, elements: PhantomData }
    }

    /// Has a cache line loaded that will be written to.
    #[inline]
    fn ask_for(&self, place: usize) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: this loads nothing into the program, and may be told any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.first.wrapping_add(place).cast_const().cast()) };
        }
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let _ = place;
    }

    /// # Safety
    /// No other thread writes to this place at the same time.
    #[inline]
    unsafe fn write(&self, place: usize, element: E) {
        assert!(place < self.length);
        // SAFETY: the place is within the slice, which is borrowed as long as this is used.
        unsafe { self.first.add(place).write(element) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Duplicates, PackError, pack};
    use super::*;
    use crate::parallel::with_threads;
    use crate::tensor::AnyTensor;
    use spc_compiler::format::{Format, LevelFormat};

    const CSR: [LevelFormat; 2] = [LevelFormat::DENSE, LevelFormat::COMPRESSED];

    fn coordinates(shape: [usize; 2], entries: &[(u32, u32)]) -> Coordinates<f64> {
        let indices = vec![
            Indices::U32(entries.iter().map(|entry| entry.0).collect()),
            Indices::U32(entries.iter().map(|entry| entry.1).collect()),
        ];
        let values = (1..=entries.len()).map(|number| number as f64).collect();
        Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices, values }
    }

    /// Different entries, about so many, by columns.
    fn by_columns(rows: u32, columns: u32, count: u64) -> Vec<(u32, u32)> {
        let scramble = |number: u64| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let entry = |number| ((scramble(number) % u64::from(rows)) as u32, (scramble(number) >> 32) as u32 % columns);
        let mut entries: Vec<(u32, u32)> = (0..count).map(entry).collect();
        entries.sort_unstable_by_key(|&(row, column)| (column, row));
        entries.dedup();
        entries
    }

    fn scattered(entries: Coordinates<f64>, modes: [usize; 2]) -> Option<(Vec<LevelArrays>, Buffer<f64>)> {
        let layout = Layout::new(&Format::permuted(&modes, &CSR), &entries.shape).unwrap();
        matrix(entries, &layout).ok()
    }

    /// The stored entries as the sort makes them: for it, one of them is at the wrong end.
    fn sorted(entries: &[(u32, u32)], shape: [usize; 2], format: &Format) -> AnyTensor {
        let mut reversed = coordinates(shape, entries);
        reversed.values.reverse();
        reversed.indices.iter_mut().for_each(|column| match column {
            Indices::U32(column) => column.reverse(),
            Indices::U64(column) => column.reverse(),
        });
        pack(reversed, format, Duplicates::Refuse).unwrap()
    }

    /// With threads of its own, so that Miri, which rayon's pool is too much for, can look at what they write.
    #[test]
    fn threads_alone_put_entries_in_places_of_their_own() {
        let (extent, count) = (40, 300);
        let entries = by_columns(extent as u32, 50, count);
        let (rows, columns): (Vec<u32>, Vec<u32>) = entries.iter().copied().unzip();
        let values: Vec<f64> = (0..rows.len()).map(|number| number as f64).collect();
        let cuts = [0, rows.len() / 4, rows.len() / 2, rows.len()];
        let ranges: Vec<Range<usize>> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
        let mut places: Vec<Vec<u32>> =
            ranges.iter().map(|part| counts(&rows[part.clone()], extent).unwrap()).collect();
        let positions = begin(&mut places, extent);
        let (mut to_columns, mut to_values) =
            (Room::<u32>::try_new(rows.len()).unwrap(), Room::<f64>::try_new(rows.len()).unwrap());
        let scatter = Scatter {
            rows: &rows,
            columns: &columns,
            values: &values,
            to_columns: Places::of(to_columns.places()),
            to_values: Places::of(to_values.places()),
        };
        std::thread::scope(|scope| {
            for part in ranges.into_iter().zip(places) {
                let scatter = &scatter;
                // SAFETY: places were counted from the rows of the parts.
                scope.spawn(move || unsafe { scatter.put(part) });
            }
        });
        // SAFETY: there is a place for each entry, and each was put in its own.
        let (coordinates, values) = unsafe { (to_columns.written(), to_values.written()) };
        let stored = Rows { extent: 50, positions, coordinates, values }.ascending().unwrap();
        let mut expected: Vec<((u32, u32), usize)> = entries.into_iter().zip(0..).collect();
        expected.sort_unstable();
        let row_of = |place: usize| stored.positions.partition_point(|&position| position as usize <= place) - 1;
        let entry = |place: usize| ((row_of(place) as u32, stored.coordinates[place]), stored.values[place] as usize);
        assert!((0..expected.len()).map(entry).eq(expected));
    }

    #[test]
    fn rows_are_those_that_a_sort_makes() {
        let shape = [700, 900];
        let lower: Vec<_> = by_columns(700, 700, 40_000).into_iter().filter(|(row, column)| row >= column).collect();
        let upper = lower.iter().filter(|(row, column)| row != column).map(|&(row, column)| (column, row));
        let symmetric: Vec<_> = lower.iter().copied().chain(upper).collect();
        let lower: Vec<_> = by_columns(700, 700, 400_000).into_iter().filter(|(row, column)| row >= column).collect();
        let upper = lower.iter().filter(|(row, column)| row != column).map(|&(row, column)| (column, row));
        let dense: Vec<_> = lower.iter().copied().chain(upper).collect();
        assert!(dense.len() > 4 * GRAIN);
        let mut by_rows = by_columns(700, 900, 150_000);
        by_rows.sort_unstable();
        let cases = [
            (dense.clone(), [0, 1]),
            (dense, [1, 0]),
            (by_columns(700, 900, 200_000), [0, 1]),
            (by_columns(700, 900, 30_000), [0, 1]),
            (by_columns(3, 900, 5_000), [0, 1]),
            (by_columns(700, 900, 90), [0, 1]),
            (symmetric.clone(), [0, 1]),
            (symmetric, [1, 0]),
            (by_rows.clone(), [0, 1]),
            (by_rows, [1, 0]),
        ];
        for (entries, modes) in cases {
            let format = Format::permuted(&modes, &CSR);
            let expected = sorted(&entries, shape, &format);
            for threads in 1..=3 {
                let (levels, values) =
                    with_threads(threads, || scattered(coordinates(shape, &entries), modes)).unwrap().unwrap();
                assert_eq!(levels, expected.levels());
                assert_eq!(values.as_slice(), expected.values_of::<f64>().unwrap());
                let packed = || pack(coordinates(shape, &entries), &format, Duplicates::Sum).unwrap();
                assert_eq!(with_threads(threads, packed).unwrap(), expected);
            }
        }
    }

    #[test]
    fn indices_beyond_the_shape_are_errors_as_elsewhere() {
        let columns = by_columns(700, 900, 100_000);
        let mut rows = columns.clone();
        rows.sort_unstable();
        for mut entries in [columns, rows] {
            for (entry, beyond) in [(60_000, (700, 3)), (99, (5, 900)), (entries.len() - 1, (699, 900))] {
                let right = std::mem::replace(&mut entries[entry], beyond);
                let mode = usize::from(beyond.0 < 700);
                let expected = PackError::Beyond {
                    entry,
                    mode,
                    index: [beyond.0, beyond.1][mode].into(),
                    extent: [700, 900][mode],
                };
                for modes in [[0, 1], [1, 0]] {
                    let error =
                        pack(coordinates([700, 900], &entries), &Format::permuted(&modes, &CSR), Duplicates::Sum);
                    assert_eq!(error.unwrap_err(), expected);
                }
                entries[entry] = right;
            }
        }
        let empty = |shape| scattered(coordinates(shape, &[]), [0, 1]);
        assert!(empty([0, 0]).is_some_and(|(_, values)| values.is_empty()));
        assert!(empty([3, 0]).is_none());
    }

    #[test]
    fn what_has_to_be_sorted_is_left_to_a_sort() {
        let shape = [700, 900];
        let entries = by_columns(700, 900, 60_000);
        let refused = |entries: &[(u32, u32)]| scattered(coordinates(shape, entries), [0, 1]).is_none();
        assert!(!refused(&entries));
        // Twice the same, far apart in the row and side by side.
        let mut twice = entries.clone();
        twice.push(entries[100]);
        assert!(refused(&twice));
        twice.sort_unstable_by_key(|&(row, column)| (column, row));
        assert!(refused(&twice));
        // A last entry that belongs in the middle.
        let (row, column) = entries.iter().copied().find(|entry| entry.1 == 500).unwrap();
        let mut late: Vec<_> = entries.iter().copied().filter(|entry| *entry != (row, column)).collect();
        late.push((row, column));
        assert!(refused(&late));
        let mut reversed = entries;
        reversed.reverse();
        assert!(refused(&reversed));
    }
}
