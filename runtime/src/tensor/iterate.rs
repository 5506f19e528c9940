//! From positions back to indices: visiting and locating stored entries.

use super::index_array::with_indices;
use super::layout::Layout;
use super::tasks;
use super::walk::row_width;
use super::{AnyTensor, Coordinates, Element, Index, IndexArray, Indices, LevelStorage, WrongElement};
use spc_compiler::format::level::{hashed, vacancy};
use std::ops::Range;

/// How many entries are expanded at once.
const BLOCK: usize = 1 << 12;

impl AnyTensor {
    /// Calls `visit(index, position)` for each stored entry, in storage order: its index in each mode, and the position of
    /// its value.
    pub fn for_each_position(&self, mut visit: impl FnMut(&[usize], usize)) {
        if !self.is_plain() {
            return self.walk().each(&mut visit);
        }
        let expansion = Expansion { tensor: self, layout: self.layout() };
        let order = self.order();
        let (mut positions, mut columns) = (Vec::new(), vec![Vec::new(); order]);
        let mut index = vec![0; order];
        for begin in (0..self.nnz()).step_by(BLOCK) {
            let range = begin..self.nnz().min(begin + BLOCK);
            expansion.expand(range.clone(), &mut positions, |mode, column| {
                columns[mode].clear();
                columns[mode].extend_from_slice(column);
            });
            for (offset, position) in range.enumerate() {
                for (index, column) in index.iter_mut().zip(&columns) {
                    *index = column[offset];
                }
                visit(&index, position);
            }
        }
    }

    /// Calls `visit(index, value)` for each stored entry, in storage order.
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn for_each_entry<T: Element>(&self, mut visit: impl FnMut(&[usize], T)) -> Result<(), WrongElement> {
        let values = self.values_as::<T>()?;
        self.for_each_position(|index, position| visit(index, values[position]));
        Ok(())
    }

    /// The stored entries in storage order.
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn entries<T: Element>(&self) -> Result<Vec<(Vec<usize>, T)>, WrongElement> {
        let mut entries = Vec::with_capacity(self.nnz());
        self.for_each_entry(|index, value| entries.push((index.to_vec(), value)))?;
        Ok(entries)
    }

    /// The stored entries as a list, in storage order.
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn to_coordinates<T: Element>(&self) -> Result<Coordinates<T>, WrongElement> {
        let (indices, values) = self.listed(self.values_as::<T>()?);
        Ok(Coordinates { shape: self.shape.clone(), shape_is_stated: true, indices, values })
    }

    /// The position of the value at an index, where it is stored. `None` also for an index beyond the shape.
    pub fn locate(&self, index: &[usize]) -> Option<usize> {
        let inside =
            index.len() == self.order() && index.iter().zip(&self.shape).all(|(&index, &extent)| index < extent);
        if !inside {
            return None;
        }
        let layout = self.layout();
        let index: Vec<usize> = layout.modes.iter().map(|&mode| index[mode]).collect();
        self.locate_below(&layout, &index, 0, 0..1)
    }

    /// The value at an index, where it is stored.
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn get<T: Element>(&self, index: &[usize]) -> Result<Option<T>, WrongElement> {
        let values = self.values_as::<T>()?;
        Ok(self.locate(index).map(|position| values[position]))
    }

    pub(super) fn values_as<T: Element>(&self) -> Result<&[T], WrongElement> {
        self.values_of().ok_or(WrongElement { expected: T::TYPE, found: self.element() })
    }

    /// The index of each entry in each mode, in storage order, where each position is one.
    pub(super) fn indices(&self) -> Vec<Indices> {
        let narrow = |&extent: &usize| u32::try_from(extent.saturating_sub(1)).is_ok();
        let zeros = |narrow| if narrow { Indices::U32(vec![0; self.nnz()]) } else { Indices::U64(vec![0; self.nnz()]) };
        let mut indices: Vec<Indices> = self.shape.iter().map(narrow).map(zeros).collect();
        let expansion = Expansion { tensor: self, layout: self.layout() };
        let ranges = tasks::ranges(self.nnz(), BLOCK * 16);
        let mut rest: Vec<ColumnMut<'_>> = indices.iter_mut().map(ColumnMut::of).collect();
        let cut = |range: &Range<usize>| rest.iter_mut().map(|column| column.split_off(range.len())).collect();
        let parts: Vec<Vec<ColumnMut<'_>>> = ranges.iter().map(cut).collect();
        tasks::each(parts, &|task, mut columns| {
            expansion.expand(ranges[task].clone(), &mut Vec::new(), |mode, column| columns[mode].copy_from(column));
        });
        indices
    }

    /// The position of `index[level]` under one parent, in levels that tell it by arithmetic or by a table.
    fn locate_child(&self, layout: &Layout, index: &[usize], level: usize, parent: usize) -> Option<usize> {
        let (coordinate, extent) = (index[level], layout.extents[level]);
        let row = |positions: &IndexArray| positions.get(parent)..positions.get(parent + 1);
        match &self.levels[level] {
            LevelStorage::Bitmap { flags } => {
                let position = parent * extent + coordinate;
                (flags.get(position) == 1).then_some(position)
            }
            LevelStorage::Diagonal => (coordinate == index[level.checked_sub(1)?]).then_some(parent),
            LevelStorage::Banded { positions, first } => {
                let row = row(positions);
                let position = row.start + coordinate.checked_sub(first.get(parent))?;
                row.contains(&position).then_some(position)
            }
            LevelStorage::Run { positions, ends } => with_indices!(ends, |ends| {
                let row = row(positions);
                Some(row.start + ends[row].partition_point(|end| end.to_usize() <= coordinate))
            }),
            LevelStorage::Hashed { positions, coordinates } => with_indices!(coordinates, |coordinates| {
                let row = row(positions);
                probe(&coordinates[row.clone()], coordinate).map(|slot| row.start + slot)
            }),
            LevelStorage::Dense
            | LevelStorage::Compressed { .. }
            | LevelStorage::Singleton { .. }
            | LevelStorage::Padded { .. }
            | LevelStorage::Flagged { .. } => unreachable!("children of these are searched in a range of parents"),
        }
    }

    /// Searches `index[level..]` under a range of parents that share all coordinates so far.
    fn locate_below(&self, layout: &Layout, index: &[usize], level: usize, parents: Range<usize>) -> Option<usize> {
        let Some(storage) = self.levels.get(level) else { return parents.clone().next() };
        let (children, coordinates) = match storage {
            LevelStorage::Dense => {
                let position = parents.clone().next()? * layout.extents[level] + index[level];
                return self.locate_below(layout, index, level + 1, position..position + 1);
            }
            LevelStorage::Compressed { positions, coordinates } => {
                (positions.get(parents.start)..positions.get(parents.end), coordinates)
            }
            LevelStorage::Singleton { coordinates } => (parents, coordinates),
            LevelStorage::Flagged { flags, coordinates } => (flagged_children(flags, parents), coordinates),
            LevelStorage::Padded { width, coordinates } => {
                let width = row_width(width.as_ref(), layout.levels[level].width);
                (parents.start * width..parents.end * width, coordinates)
            }
            _ => {
                let position = self.locate_child(layout, index, level, parents.start)?;
                return self.locate_below(layout, index, level + 1, position..position + 1);
            }
        };
        with_indices!(coordinates, |coordinates| {
            let siblings = &coordinates[children.clone()];
            if layout.levels[level].ordered {
                let begin = siblings.partition_point(|coordinate| coordinate.to_usize() < index[level]);
                let end = siblings.partition_point(|coordinate| coordinate.to_usize() <= index[level]);
                let found = children.start + begin..children.start + end;
                return (!found.is_empty()).then(|| self.locate_below(layout, index, level + 1, found))?;
            }
            let matching =
                (children.start..).zip(siblings).filter(|(_, coordinate)| coordinate.to_usize() == index[level]);
            matching
                .map(|(position, _)| position)
                .find_map(|position| self.locate_below(layout, index, level + 1, position..position + 1))
        })
    }
}

/// The children of a range of parents where the first of each parent is flagged.
fn flagged_children(flags: &IndexArray, parents: Range<usize>) -> Range<usize> {
    let mut begins = (0..flags.len()).filter(|&position| flags.get(position) == 1);
    let begin = begins.nth(parents.start).unwrap_or(flags.len());
    let end = parents.len().checked_sub(1).map_or(Some(begin), |further| begins.nth(further));
    begin..end.unwrap_or(flags.len())
}

/// The slot of a coordinate in a table.
pub(super) fn probe<C: Index>(table: &[C], coordinate: usize) -> Option<usize> {
    let first = (!table.is_empty()).then(|| hashed::slot(coordinate, table.len()))?;
    let slots = (0..table.len()).map(|step| (first + step) & (table.len() - 1));
    let mut taken = slots.take_while(|&slot| table[slot].to_usize() != vacancy(C::WIDTH) as usize);
    taken.find(|&slot| table[slot].to_usize() == coordinate)
}

/// Finds the indices of ranges of entries, from the last level up.
struct Expansion<'a> {
    tensor: &'a AnyTensor,
    layout: Layout,
}

impl Expansion<'_> {
    /// Calls `write(mode, index of each entry)` for each mode. `positions` is a workspace.
    fn expand(&self, range: Range<usize>, positions: &mut Vec<usize>, mut write: impl FnMut(usize, &[usize])) {
        positions.clear();
        positions.extend(range);
        let mut column = vec![0; positions.len()];
        for (level, storage) in self.tensor.levels.iter().enumerate().rev() {
            match storage {
                LevelStorage::Dense => {
                    let extent = self.layout.extents[level];
                    for (coordinate, position) in column.iter_mut().zip(positions.iter_mut()) {
                        (*coordinate, *position) = (*position % extent, *position / extent);
                    }
                }
                LevelStorage::Singleton { coordinates } => {
                    with_indices!(coordinates, |coordinates| gather(coordinates, positions, &mut column));
                }
                LevelStorage::Compressed { positions: bounds, coordinates } => {
                    with_indices!(coordinates, |coordinates| gather(coordinates, positions, &mut column));
                    with_indices!(bounds, |bounds| to_parents(bounds, positions));
                }
                _ => unreachable!("levels of other kinds are walked from the outermost down"),
            }
            write(self.layout.modes[level], &column);
        }
    }
}

fn gather<C: Index>(coordinates: &[C], positions: &[usize], column: &mut [usize]) {
    for (coordinate, &position) in column.iter_mut().zip(positions) {
        *coordinate = coordinates[position].to_usize();
    }
}

/// Replaces ascending children by their parents: one search, then a walk.
fn to_parents<P: Index>(bounds: &[P], children: &mut [usize]) {
    let Some(&first) = children.first() else { return };
    let mut parent = bounds.partition_point(|begin| begin.to_usize() <= first) - 1;
    for child in children {
        while bounds[parent + 1].to_usize() <= *child {
            parent += 1;
        }
        *child = parent;
    }
}

/// A part of the indices of a mode, to be written.
enum ColumnMut<'a> {
    U32(&'a mut [u32]),
    U64(&'a mut [u64]),
}

impl<'a> ColumnMut<'a> {
    fn of(indices: &'a mut Indices) -> Self {
        match indices {
            Indices::U32(indices) => ColumnMut::U32(indices),
            Indices::U64(indices) => ColumnMut::U64(indices),
        }
    }

    /// Takes the first `length` elements away.
    fn split_off(&mut self, length: usize) -> Self {
        const ENOUGH: &str = "parts are no longer than the whole";
        match self {
            ColumnMut::U32(column) => ColumnMut::U32(column.split_off_mut(..length).expect(ENOUGH)),
            ColumnMut::U64(column) => ColumnMut::U64(column.split_off_mut(..length).expect(ENOUGH)),
        }
    }

    fn copy_from(&mut self, column: &[usize]) {
        match self {
            ColumnMut::U32(to) => to.iter_mut().zip(column).for_each(|(to, &index)| *to = index as u32),
            ColumnMut::U64(to) => to.iter_mut().zip(column).for_each(|(to, &index)| *to = index as u64),
        }
    }
}
