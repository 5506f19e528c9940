//! Matrices by rows, from entries that come by columns, without a sort.
//!
//! Files list a matrix by columns, and a symmetric one by the columns of one triangle, and then by the rows of the other.
//! Within a row, columns ascend either way: it is enough to count the entries of each row, and to put each entry behind
//! those of its row that came before it.
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

use super::super::layout::Layout;
use super::super::tasks::{self, split};
use super::super::{Buffer, Coordinates, IndexArray, Indices, LevelStorage, Plain};
use super::build::check_coordinate_width;
use spc_compiler::format::{IndexWidth, LevelKind};
use std::marker::PhantomData;
use std::ops::Range;

/// How many entries are looked at together.
const GRAIN: usize = 1 << 12;
/// The most rows: a cache must hold the places that are written next.
const ROWS: usize = 1 << 20;

/// The levels and the values of a matrix, `[dense, compressed]` in either order of modes, where its entries come in an order that
/// needs no sort. `maxima` are the largest indices of the modes.
pub(super) fn matrix<T: Plain>(
    entries: &Coordinates<T>,
    layout: &Layout,
    maxima: &[u64],
) -> Option<(Vec<LevelStorage>, Buffer<T>)> {
    let ([outer, inner], true) = (&layout.levels[..], layout.stores_modes()) else { return None };
    let by_rows = outer.kind == LevelKind::Dense && inner.kind == LevelKind::Compressed && inner.unique;
    let widths = inner.coordinates == IndexWidth::U32 && inner.positions == IndexWidth::U32;
    let (extent, count) = (layout.extents[0], entries.values.len());
    let fits = extent <= ROWS.min(8 * count) && count < u32::MAX as usize;
    let [Indices::U32(rows), Indices::U32(columns)] = [0, 1].map(|level| &entries.indices[layout.modes[level]]) else {
        return None;
    };
    let maxima: Vec<u64> = layout.modes.iter().map(|&mode| maxima[mode]).collect();
    let stored = by_rows && widths && fits && check_coordinate_width(layout, &maxima, 1).is_ok();
    if !stored || !come_in_order(rows, columns) {
        return None;
    }
    let mut sorted = Rows::of(rows, columns, &entries.values, extent)?;
    if !sorted.ascend() {
        sorted.rotate();
    }
    let ascend = sorted.ascend();
    let Rows { positions, coordinates, values } = sorted;
    let positions = IndexArray::from(positions);
    let compressed = LevelStorage::Compressed { positions, coordinates: coordinates.into() };
    ascend.then(|| (vec![LevelStorage::Dense, compressed], values))
}

/// Whether all but a few grains of entries come by columns, or by rows and in each by columns.
fn come_in_order(rows: &[u32], columns: &[u32]) -> bool {
    let grains = tasks::ranges(rows.len().saturating_sub(1), GRAIN);
    let out_of_order = |grains: Range<usize>| {
        let out = |grain: &usize| {
            let range = grain * GRAIN..rows.len().min((grain + 1) * GRAIN + 1);
            let (rows, columns) = (&rows[range.clone()], &columns[range]);
            let by_columns = columns.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]));
            let by_rows = rows.windows(2).zip(columns.windows(2)).fold(true, |all, (row, column)| {
                all & ((row[0] < row[1]) | ((row[0] == row[1]) & (column[0] < column[1])))
            });
            !(by_columns || by_rows)
        };
        grains.filter(out).count()
    };
    let parts = tasks::ranges(grains.len(), 16);
    tasks::map(&parts, &out_of_order).into_iter().sum::<usize>() <= grains.len() / 8
}

/// A matrix by rows.
struct Rows<T> {
    /// Where the entries of each row begin; last, how many there are.
    positions: Vec<u32>,
    /// The column of each entry.
    coordinates: Buffer<u32>,
    values: Buffer<T>,
}

impl<T: Plain> Rows<T> {
    /// Entries by their row, those of a row in the order that they come in. Rows are below `extent`, and as many as columns
    /// and values. None where there is not enough memory: the sort reports that.
    fn of(rows: &[u32], columns: &[u32], values: &[T], extent: usize) -> Option<Self> {
        let count = rows.len();
        let threads = rayon::current_num_threads().min(count / extent.max(1)).max(1);
        let parts = tasks::ranges(count, count.div_ceil(threads).max(1));
        let mut places = tasks::map(&parts, &|part| {
            let mut counts = vec![0u32; extent];
            rows[part].iter().for_each(|&row| counts[row as usize] += 1);
            counts
        });
        let mut positions = vec![0; extent + 1];
        let mut begin = 0;
        for (row, position) in positions.iter_mut().enumerate() {
            *position = begin;
            for places in &mut places {
                if let Some(place) = places.get_mut(row) {
                    begin += std::mem::replace(place, begin);
                }
            }
        }
        let mut sorted_columns = Buffer::<u32>::try_zeroed(count).ok()?;
        let mut sorted_values = Buffer::<T>::try_zeroed(count).ok()?;
        let (to_columns, to_values) = (Places::of(&mut sorted_columns), Places::of(&mut sorted_values));
        tasks::each(parts.into_iter().zip(places).collect(), &|_, (part, mut places): (Range<usize>, Vec<u32>)| {
            let entries = rows[part.clone()].iter().zip(&columns[part.clone()]).zip(&values[part]);
            for ((&row, &column), &value) in entries {
                let place = &mut places[row as usize];
                // SAFETY: the places of a part and a row are as many as it has entries there, which were counted from the same
                // slice, from the sum of all counts before on: no entry of this or another part is put where another is.
                unsafe {
                    to_columns.write(*place as usize, column);
                    to_values.write(*place as usize, value);
                }
                *place += 1;
            }
        });
        Some(Self { positions, coordinates: sorted_columns, values: sorted_values })
    }
}

impl<T: Plain> Rows<T> {
    /// Whether the columns of each row ascend strictly: wherever they do not, another row begins.
    fn ascend(&self) -> bool {
        let Self { positions, coordinates, .. } = self;
        let descends = |place: usize| coordinates[place - 1] >= coordinates[place];
        let descents = |range: Range<usize>| {
            let pairs = coordinates[range.start..coordinates.len().min(range.end + 1)].windows(2);
            pairs.map(|pair| usize::from(pair[0] >= pair[1])).sum::<usize>()
        };
        let at_rows = |range: Range<usize>| {
            let rows = positions[range.start..=range.end].windows(2).map(|row| row[0] as usize..row[1] as usize);
            rows.filter(|row| row.start > 0 && !row.is_empty() && descends(row.start)).count()
        };
        let sum = |count: usize, counted: &(dyn Fn(Range<usize>) -> usize + Sync)| {
            tasks::map(&tasks::ranges(count, 1 << 16), counted).into_iter().sum::<usize>()
        };
        sum(coordinates.len(), &descents) == sum(positions.len() - 1, &at_rows)
    }

    /// Puts the end of each row that descends once in front: of a symmetric matrix, one triangle comes behind the other.
    fn rotate(&mut self) {
        let Self { positions, coordinates, values } = self;
        let parts = tasks::ranges(positions.len() - 1, 1 << 12);
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

    /// # Safety
    /// Nobody else writes to this place at the same time.
    #[inline]
    unsafe fn write(&self, place: usize, element: E) {
        assert!(place < self.length);
        // SAFETY: the place is within the slice, which is borrowed as long as this is used.
        unsafe { self.first.add(place).write(element) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Duplicates, pack};
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

    fn scattered(entries: &Coordinates<f64>, modes: [usize; 2]) -> Option<(Vec<LevelStorage>, Buffer<f64>)> {
        let layout = Layout::new(&Format::permuted(&modes, &CSR), &entries.shape).unwrap();
        let maxima: Vec<u64> = entries.shape.iter().map(|&extent| extent as u64 - 1).collect();
        matrix(entries, &layout, &maxima)
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

    #[test]
    fn rows_are_those_that_a_sort_makes() {
        let shape = [700, 900];
        let lower: Vec<_> = by_columns(700, 700, 40_000).into_iter().filter(|(row, column)| row >= column).collect();
        let upper = lower.iter().filter(|(row, column)| row != column).map(|&(row, column)| (column, row));
        let symmetric: Vec<_> = lower.iter().copied().chain(upper).collect();
        let mut by_rows = by_columns(700, 900, 30_000);
        by_rows.sort_unstable();
        let cases = [
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
                    with_threads(threads, || scattered(&coordinates(shape, &entries), modes)).unwrap().unwrap();
                assert_eq!(levels, expected.levels());
                assert_eq!(values.as_slice(), expected.values_of::<f64>().unwrap());
                let packed = || pack(coordinates(shape, &entries), &format, Duplicates::Sum).unwrap();
                assert_eq!(with_threads(threads, packed).unwrap(), expected);
            }
        }
    }

    #[test]
    fn what_has_to_be_sorted_is_left_to_a_sort() {
        let shape = [700, 900];
        let entries = by_columns(700, 900, 60_000);
        let refused = |entries: &[(u32, u32)]| scattered(&coordinates(shape, entries), [0, 1]).is_none();
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
