//! Visiting entries from the outermost level down, in levels of any kind.
//!
//! [`iterate`](super::iterate) finds indices from the last level up, which is faster and needs that each position is one entry
//! or the parent of entries. Padding, empty slots and runs are not so.

use super::iterate::Padding;
use super::layout::Layout;
use super::level_arrays::StoredLevel;
use super::{AnyTensor, Element, Indices, OutOfMemory};
use crate::memory;

/// What a walk needs beside the arrays.
pub(super) struct Walk<'a> {
    layout: Layout,
    padding: Padding<'a>,
    levels: Vec<StoredLevel<'a>>,
}

impl AnyTensor {
    pub(super) fn walk(&self) -> Walk<'_> {
        let layout = self.level_layout();
        Walk { levels: self.stored_levels(&layout), padding: self.padding(), layout }
    }

    /// Each level with what its declaration says of its arrays.
    pub(super) fn stored_levels(&self, layout: &Layout) -> Vec<StoredLevel<'_>> {
        let level = |(number, arrays)| StoredLevel::new(layout.levels[number], arrays, layout.extents[number]);
        self.levels.iter().enumerate().map(level).collect()
    }

    /// The index of each entry in each mode and its value, in storage order.
    pub(super) fn listed<T: Element>(&self, values: &[T]) -> Result<(Vec<Indices>, Vec<T>), OutOfMemory> {
        if self.is_plain() {
            return self.listed_positions(values);
        }
        let count = self.nnz();
        let mut listed = memory::try_room(count)?;
        let indices = self.listed_indices(count, &mut |position| listed.push(values[position]))?;
        Ok((indices, listed))
    }

    /// The index of each of `count` entries in each mode, in storage order; `visit` gets the position of each.
    fn listed_indices(&self, count: usize, visit: &mut dyn FnMut(usize)) -> Result<Vec<Indices>, OutOfMemory> {
        let mut columns = Vec::with_capacity(self.order());
        for _ in 0..self.order() {
            columns.push(memory::try_room(count)?);
        }
        self.walk().each(&mut |index, position| {
            columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index));
            visit(position);
        });
        let columns = columns.into_iter().zip(&self.shape);
        columns.map(|(column, &extent)| Indices::of(&column, extent)).collect()
    }
}

impl Indices {
    /// Indices below an extent.
    pub(super) fn of(indices: &[usize], extent: usize) -> Result<Self, OutOfMemory> {
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
            if !self.padding.contains(position)
                && let Some(index) = self.layout.index(stored)
            {
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
        self.levels[level].each_child(parent, above, &mut |coordinate, position| {
            found[level] = coordinate;
            self.below(level + 1, position, found, visit);
        });
    }
}
