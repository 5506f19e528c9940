//! Visiting entries from the outermost level down, in levels of any kind.
//!
//! [`iterate`](super::iterate) finds indices from the last level up, which is faster and needs that each position is one entry
//! or the parent of entries. Padding, empty slots and runs are not so.

use super::index_array::with_indices;
use super::layout::Layout;
use super::{AnyTensor, Element, Index, IndexArray, Indices, LevelStorage, OutOfMemory};
use crate::memory;
use spc_compiler::format::level::vacancy;
use std::iter::StepBy;
use std::ops::Range;

/// What a walk needs beside the arrays.
pub(super) struct Walk<'a> {
    tensor: &'a AnyTensor,
    layout: Layout,
    /// For each level whose first children are flagged, where the children of each parent begin, and where the last end.
    begins: Vec<Vec<usize>>,
}

impl AnyTensor {
    pub(super) fn walk(&self) -> Walk<'_> {
        let begins = |storage: &LevelStorage| match storage {
            LevelStorage::Flagged { flags, .. } => {
                let first = (0..flags.len()).filter(|&position| flags.get(position) == 1);
                first.chain([flags.len()]).collect()
            }
            _ => Vec::new(),
        };
        Walk { tensor: self, layout: self.level_layout(), begins: self.levels.iter().map(begins).collect() }
    }

    /// The index of each entry in each mode and its value, in storage order.
    pub(super) fn listed<T: Element>(&self, values: &[T]) -> Result<(Vec<Indices>, Vec<T>), OutOfMemory> {
        if self.is_plain() {
            return self.listed_positions(values);
        }
        // Counted before, so that there is room for all.
        let count = self.walk().count();
        let mut columns = Vec::with_capacity(self.order());
        for _ in 0..self.order() {
            columns.push(memory::try_room(count)?);
        }
        let mut listed = memory::try_room(count)?;
        self.walk().each(&mut |index, position| {
            columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index));
            listed.push(values[position]);
        });
        let columns = columns.into_iter().zip(&self.shape);
        let indices = columns.map(|(column, &extent)| Indices::of(&column, extent)).collect::<Result<_, _>>()?;
        Ok((indices, listed))
    }
}

impl Indices {
    /// Indices below an extent.
    fn of(indices: &[usize], extent: usize) -> Result<Self, OutOfMemory> {
        if u32::try_from(extent.saturating_sub(1)).is_ok() {
            memory::try_collected(indices.iter().map(|&index| index as u32)).map(Indices::U32)
        } else {
            memory::try_collected(indices.iter().map(|&index| index as u64)).map(Indices::U64)
        }
    }
}

impl Walk<'_> {
    /// The number of entries.
    pub(super) fn count(&self) -> usize {
        let mut count = 0;
        self.each(&mut |_, _| count += 1);
        count
    }

    /// The first position of padding of a map of which something holds.
    pub(super) fn find_padding(&self, found: &dyn Fn(usize) -> bool) -> Option<usize> {
        let mut first = None;
        self.below(0, 0, &mut vec![0; self.layout.depth()], &mut |stored, position| {
            if first.is_none() && self.layout.index(stored).is_none() && found(position) {
                first = Some(position);
            }
        });
        first
    }

    /// Calls `visit(index, position)` for each entry: its index in each mode, and the position of its value.
    pub(super) fn each(&self, visit: &mut dyn FnMut(&[usize], usize)) {
        self.below(0, 0, &mut vec![0; self.layout.depth()], &mut |stored, position| {
            if let Some(index) = self.layout.index(stored) {
                visit(&index, position);
            }
        });
    }

    /// Calls `visit(coordinate of each level, position)` for each entry below a position of the level above `level`.
    fn below(&self, level: usize, parent: usize, found: &mut [usize], visit: &mut dyn FnMut(&[usize], usize)) {
        if level == self.layout.depth() {
            return visit(found, parent);
        }
        let above = level.checked_sub(1).map_or(0, |above| found[above]);
        self.children(level, parent, above, &mut |coordinate, position| {
            found[level] = coordinate;
            self.below(level + 1, position, found, visit);
        });
    }

    /// Calls `visit(coordinate, position)` for each child of a parent whose coordinate is `above`.
    fn children(&self, level: usize, parent: usize, above: usize, visit: &mut dyn FnMut(usize, usize)) {
        let extent = self.layout.extents[level];
        let own = |positions: &IndexArray| positions.get(parent)..positions.get(parent + 1);
        match &self.tensor.levels[level] {
            LevelStorage::Dense => (0..extent).for_each(|coordinate| visit(coordinate, parent * extent + coordinate)),
            LevelStorage::Compressed { positions, coordinates } => each(coordinates, own(positions), visit),
            LevelStorage::Singleton { coordinates } => each(coordinates, parent..parent + 1, visit),
            LevelStorage::Padded { width, coordinates } => {
                let width = row_width(width.as_ref(), self.layout.levels[level].width);
                each_present(coordinates, parent * width..(parent + 1) * width, visit);
            }
            LevelStorage::Sliced { positions, coordinates } => {
                let row = slice_row(positions, parent, self.layout.levels[level].rows);
                each_present(coordinates, row, visit);
            }
            LevelStorage::Hashed { positions, coordinates } => each_present(coordinates, own(positions), visit),
            LevelStorage::Bitmap { flags } => {
                let row = parent * extent..(parent + 1) * extent;
                let present = row.clone().filter(|&position| flags.get(position) == 1);
                present.for_each(|position| visit(position - row.start, position));
            }
            LevelStorage::Diagonal => visit(above, parent),
            LevelStorage::Banded { positions, first } => {
                let row = own(positions);
                row.clone().for_each(|position| visit(first.get(parent) + position - row.start, position));
            }
            LevelStorage::Run { positions, ends } => {
                let mut begin = 0;
                for position in own(positions) {
                    let end = ends.get(position);
                    (begin..end).for_each(|coordinate| visit(coordinate, position));
                    begin = end;
                }
            }
            LevelStorage::Flagged { coordinates, .. } => {
                let begins = &self.begins[level];
                each(coordinates, begins[parent]..begins[parent + 1], visit);
            }
        }
    }
}

/// The width of the rows of a padded level: stored, or said by the format.
pub(super) fn row_width(stored: Option<&IndexArray>, format: Option<u64>) -> usize {
    stored.map_or_else(|| format.unwrap_or(0) as usize, |width| width.get(0))
}

/// The positions of a parent, of so many side by side.
pub(super) fn slice_row(positions: &IndexArray, parent: usize, rows: u64) -> StepBy<Range<usize>> {
    let rows = rows as usize;
    let (slice, row) = (parent / rows, parent % rows);
    let (begin, end) = (positions.get(slice), positions.get(slice + 1));
    // The last position of a slice is that of its last row.
    (begin + row..end).step_by(rows)
}

fn each(coordinates: &IndexArray, range: impl Iterator<Item = usize>, visit: &mut dyn FnMut(usize, usize)) {
    with_indices!(coordinates, |coordinates| {
        range.for_each(|position| visit(coordinates[position].to_usize(), position));
    });
}

fn each_present(coordinates: &IndexArray, range: impl Iterator<Item = usize>, visit: &mut dyn FnMut(usize, usize)) {
    let vacancy = vacancy(coordinates.width()) as usize;
    each(coordinates, range, &mut |coordinate, position| {
        if coordinate != vacancy {
            visit(coordinate, position);
        }
    });
}
