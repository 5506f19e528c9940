//! From positions back to indices: visiting and locating stored entries.

use super::folded;
use super::index_array::with_indices;
use super::layout::Layout;
use super::level_arrays::StoredLevel;
use super::tasks;
use super::values::{same_bits, with_values};
use super::{AnyTensor, Coordinates, Element, Index, Indices, OutOfMemory, WrongElement};
use crate::memory;
use spc_compiler::ir::Literal;
use std::ops::Range;

/// Which positions hold the fill value, in a format where those are padding.
pub(super) struct Padding<'a>(Option<Box<dyn Fn(usize) -> bool + Sync + 'a>>);

impl Padding<'_> {
    fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn contains(&self, position: usize) -> bool {
        self.0.as_ref().is_some_and(|is_fill| is_fill(position))
    }
}

/// How many entries are expanded at once.
const BLOCK: usize = 1 << 12;
/// Of more positions for each child that is asked for, parents are walked to one by one.
const SPARSE: usize = 4;

impl AnyTensor {
    /// Calls `visit(index, position)` for each stored entry, in storage order: its index in each mode, and the position of
    /// its value. Of a symmetric format, entries that follow from others are not stored.
    pub fn for_each_position(&self, mut visit: impl FnMut(&[usize], usize)) {
        self.for_each_until(|index, position| {
            visit(index, position);
            true
        });
    }

    /// The same, until `visit` says that it has seen enough.
    pub(super) fn for_each_until(&self, mut visit: impl FnMut(&[usize], usize) -> bool) {
        if !self.is_plain() {
            let mut goes_on = true;
            return self.walk().each(&mut |index, position| goes_on = goes_on && visit(index, position));
        }
        let expansion = Expansion::of(self);
        let mut index = vec![0; self.order()];
        for begin in (0..self.values.len()).step_by(BLOCK) {
            let range = begin..self.values.len().min(begin + BLOCK);
            let (columns, is_entry) = expansion.entries(range.clone());
            let is_entry = |offset: usize| is_entry.as_ref().is_none_or(|is_entry| is_entry[offset]);
            for (offset, position) in range.enumerate().filter(|(offset, _)| is_entry(*offset)) {
                for (index, column) in index.iter_mut().zip(&columns) {
                    *index = column[offset] as usize;
                }
                if !visit(&index, position) {
                    return;
                }
            }
        }
    }

    /// The number of entries, where positions may be padding.
    pub(super) fn count_entries(&self) -> usize {
        let expansion = Expansion::of(self);
        let count = |range: Range<usize>| {
            let length = range.len();
            let (_, is_entry) = expansion.entries(range);
            is_entry.map_or(length, |is_entry| is_entry.iter().filter(|&&is_entry| is_entry).count())
        };
        tasks::map(&tasks::ranges(self.values.len(), BLOCK), &count).into_iter().sum()
    }

    /// What tells padding within the shape from entries.
    pub(super) fn padding(&self) -> Padding<'_> {
        fn of<'a, T: Element>(values: &'a [T], fill: Literal) -> Padding<'a> {
            let fill = T::from_literal(fill).unwrap_or(T::ZERO);
            Padding(Some(Box::new(move |position| same_bits(&values[position], &fill))))
        }
        match self.format.pads() {
            true => with_values!(&self.values, |values| of(values, self.fill)),
            false => Padding(None),
        }
    }

    /// The first position of padding outside of the shape of which something holds.
    pub(super) fn find_padding(&self, found: &(dyn Fn(usize) -> bool + Sync)) -> Option<usize> {
        if !self.is_plain() {
            return self.walk().find_padding(found);
        }
        let expansion = Expansion::of(self);
        tasks::first(&tasks::ranges(self.values.len(), BLOCK), &|range| {
            let (_, is_entry) = expansion.block(range.clone());
            let mut padding = range.zip(is_entry?).filter(|(_, is_entry)| !is_entry);
            padding.find(|&(position, _)| found(position)).map(|(position, _)| position)
        })
    }

    /// Calls `visit(index, value)` for each entry, in storage order; of a symmetric format, behind each stored entry for those that follow
    /// from it.
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn for_each_entry<T: Element>(&self, mut visit: impl FnMut(&[usize], T)) -> Result<(), WrongElement> {
        let values = self.values_as::<T>()?;
        match &self.format.symmetry {
            None => self.for_each_position(|index, position| visit(index, values[position])),
            Some(symmetry) => {
                let exchanges = symmetry.exchanges();
                self.for_each_position(|index, position| {
                    folded::each(&symmetry.modes, &exchanges, index, &mut |index, turned| {
                        visit(index, folded::turned_value(values[position], turned));
                    });
                });
            }
        }
        Ok(())
    }

    /// The entries, in the order of [`for_each_entry`](Self::for_each_entry).
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn entries<T: Element>(&self) -> Result<Vec<(Vec<usize>, T)>, WrongElement> {
        let mut entries = Vec::with_capacity(self.nnz());
        self.for_each_entry(|index, value| entries.push((index.to_vec(), value)))?;
        Ok(entries)
    }

    /// The entries as a list, in the order of [`for_each_entry`](Self::for_each_entry).
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    ///
    /// # Panics
    /// When there is not enough memory for the list.
    pub fn to_coordinates<T: Element>(&self) -> Result<Coordinates<T>, WrongElement> {
        let values = self.values_as::<T>()?;
        Ok(self.coordinates_of(values).unwrap_or_else(|error| panic!("{error}")))
    }

    /// The same, where there may not be enough memory for a list.
    pub(crate) fn try_to_coordinates<T: Element>(&self) -> Result<Coordinates<T>, OutOfMemory> {
        self.coordinates_of(self.values_as::<T>().expect("the caller asks for the elements' type"))
    }

    pub(super) fn coordinates_of<T: Element>(&self, values: &[T]) -> Result<Coordinates<T>, OutOfMemory> {
        let stored = self.stored_coordinates(values)?;
        match &self.format.symmetry {
            None => Ok(stored),
            Some(symmetry) => folded::unfolded(stored, symmetry),
        }
    }

    /// The entries that are stored.
    pub(super) fn stored_coordinates<T: Element>(&self, values: &[T]) -> Result<Coordinates<T>, OutOfMemory> {
        let (indices, values) = self.listed(values)?;
        Ok(Coordinates { shape: self.shape.clone(), shape_is_stated: true, indices, values })
    }

    /// The position of the value at an index, where it is stored. `None` also for an index beyond the shape.
    pub fn locate(&self, index: &[usize]) -> Option<usize> {
        let inside =
            index.len() == self.order() && index.iter().zip(&self.shape).all(|(&index, &extent)| index < extent);
        if !inside {
            return None;
        }
        let layout = self.level_layout();
        let index = layout.stored(index);
        locate_below(&self.stored_levels(&layout), &layout, &index, 0, 0..1)
    }

    /// The value at an index, where it is stored, or what it follows from.
    ///
    /// # Errors
    /// When the elements are not of type `T`.
    pub fn get<T: Element>(&self, index: &[usize]) -> Result<Option<T>, WrongElement> {
        let values = self.values_as::<T>()?;
        let Some(symmetry) = self.format.symmetry.as_ref().filter(|_| index.len() == self.order()) else {
            return Ok(self.locate(index).map(|position| values[position]));
        };
        let mut stored = index.to_vec();
        let turned = symmetry.stored(&mut stored);
        Ok(self.locate(&stored).map(|position| folded::turned_value(values[position], turned)))
    }

    pub(super) fn values_as<T: Element>(&self) -> Result<&[T], WrongElement> {
        self.values_of().ok_or(WrongElement { expected: T::TYPE, found: self.element() })
    }

    /// The index of each position in each mode and its value, in storage order, without padding.
    pub(super) fn listed_positions<T: Element>(&self, values: &[T]) -> Result<(Vec<Indices>, Vec<T>), OutOfMemory> {
        let (mut indices, is_entry) = self.indices()?;
        let mut values = memory::try_collected(values.iter().copied())?;
        if let Some(is_entry) = is_entry.filter(|is_entry| is_entry.contains(&false)) {
            indices.iter_mut().for_each(|indices| match indices {
                Indices::U32(indices) => retain(indices, &is_entry),
                Indices::U64(indices) => retain(indices, &is_entry),
            });
            retain(&mut values, &is_entry);
        }
        Ok((indices, values))
    }

    /// The index of each position in each mode, in storage order; and which positions are entries, where there may be padding.
    fn indices(&self) -> Result<(Vec<Indices>, Option<Vec<bool>>), OutOfMemory> {
        let count = self.values.len();
        let narrow = |&extent: &usize| u32::try_from(extent.saturating_sub(1)).is_ok();
        let zeros = |narrow| match narrow {
            true => memory::try_zeroed(count).map(Indices::U32),
            false => memory::try_zeroed(count).map(Indices::U64),
        };
        let mut indices = self.shape.iter().map(narrow).map(zeros).collect::<Result<Vec<Indices>, _>>()?;
        let expansion = Expansion::of(self);
        let is_computed = !expansion.layout.stores_modes() || self.format.pads();
        let flags = if is_computed { count } else { 0 };
        let mut is_entry = memory::try_room(flags)?;
        is_entry.resize(flags, true);
        let size = if is_computed { BLOCK } else { tasks::GRAIN };
        let ranges = tasks::ranges(count, size);
        let mut rest: Vec<ColumnMut<'_>> = indices.iter_mut().map(ColumnMut::of).collect();
        let mut rest_is_entry = is_entry.as_mut_slice();
        let cut = |range: &Range<usize>| {
            let columns: Vec<ColumnMut<'_>> = rest.iter_mut().map(|column| column.split_off(range.len())).collect();
            (columns, rest_is_entry.split_off_mut(..range.len()).unwrap_or_default())
        };
        let parts: Vec<(Vec<ColumnMut<'_>>, &mut [bool])> = ranges.iter().map(cut).collect();
        tasks::each(parts, &|task, (mut columns, is_entry)| {
            if is_computed {
                let (index, known) = expansion.entries(ranges[task].clone());
                columns.iter_mut().zip(&index).for_each(|(to, column)| to.write(0, column));
                known.into_iter().for_each(|known| is_entry.copy_from_slice(&known));
            } else {
                let modes = &expansion.layout.modes;
                let (begin, end) = (ranges[task].start, ranges[task].end);
                for first in (begin..end).step_by(BLOCK) {
                    let range = first..end.min(first + BLOCK);
                    let write = |level: usize, column: &[u64]| columns[modes[level]].write(first - begin, column);
                    expansion.expand(range, write);
                }
            }
        });
        Ok((indices, is_computed.then_some(is_entry)))
    }
}

/// Searches `index[level..]` under a range of parents that share all coordinates so far.
fn locate_below(
    levels: &[StoredLevel<'_>],
    layout: &Layout,
    index: &[usize],
    level: usize,
    parents: Range<usize>,
) -> Option<usize> {
    let below = |found| locate_below(levels, layout, index, level + 1, found);
    let Some(stored) = levels.get(level) else { return parents.clone().next() };
    let Some((children, coordinates)) = stored.searched(parents.clone()) else {
        let above = level.checked_sub(1).map(|above| index[above]);
        let position = stored.locate(parents.clone().next()?, above, index[level])?;
        return below(position..position + 1);
    };
    with_indices!(coordinates, |coordinates| {
        let siblings = &coordinates[children.clone()];
        if layout.levels[level].ordered() {
            let begin = siblings.partition_point(|coordinate| coordinate.to_usize() < index[level]);
            let end = siblings.partition_point(|coordinate| coordinate.to_usize() <= index[level]);
            let found = children.start + begin..children.start + end;
            return (!found.is_empty()).then(|| below(found))?;
        }
        let matching = (children.start..).zip(siblings).filter(|(_, coordinate)| coordinate.to_usize() == index[level]);
        matching.map(|(position, _)| position).find_map(|position| below(position..position + 1))
    })
}

/// Finds the indices of ranges of entries, from the last level up.
pub(super) struct Expansion<'a> {
    tensor: &'a AnyTensor,
    padding: Padding<'a>,
    layout: Layout,
}

impl<'a> Expansion<'a> {
    pub(super) fn of(tensor: &'a AnyTensor) -> Self {
        Self { tensor, padding: tensor.padding(), layout: tensor.level_layout() }
    }

    /// The index of each position in each mode; and which of them are entries, where there is padding.
    pub(super) fn entries(&self, range: Range<usize>) -> (Vec<Vec<u64>>, Option<Vec<bool>>) {
        let (columns, mut is_entry) = self.block(range.clone());
        if self.padding.is_possible() {
            let is_entry = is_entry.get_or_insert_with(|| vec![true; range.len()]);
            is_entry
                .iter_mut()
                .zip(range)
                .for_each(|(is_entry, position)| *is_entry &= !self.padding.contains(position));
        }
        (columns, is_entry)
    }

    /// The same, where padding is outside of the shape.
    fn block(&self, range: Range<usize>) -> (Vec<Vec<u64>>, Option<Vec<bool>>) {
        let count = range.len();
        let mut stored = vec![Vec::new(); self.layout.depth()];
        self.expand(range, |level, column| stored[level].extend_from_slice(column));
        self.layout.indices(stored, count)
    }

    /// Calls `write(level, coordinate at each position)` for each level.
    fn expand(&self, range: Range<usize>, write: impl FnMut(usize, &[u64])) {
        self.expand_above(self.tensor.levels.len(), range, write);
    }

    /// The same for positions of the last of the first `depth` levels.
    pub(super) fn expand_above(&self, depth: usize, range: Range<usize>, mut write: impl FnMut(usize, &[u64])) {
        let mut positions: Vec<usize> = range.clone().collect();
        let positions = positions.as_mut_slice();
        let mut column = vec![0; positions.len()];
        for (level, storage) in self.tensor.levels[..depth].iter().enumerate().rev() {
            let kind = self.layout.levels[level].kind;
            match (kind.is_dense(), storage.positions(), storage.coordinates()) {
                (true, ..) => {
                    let extent = self.layout.extents[level];
                    for (coordinate, position) in column.iter_mut().zip(positions.iter_mut()) {
                        (*coordinate, *position) = ((*position % extent) as u64, *position / extent);
                    }
                }
                (_, bounds, Some(coordinates)) if kind.is_singleton() || kind.is_compressed() => {
                    let is_last = level + 1 == depth;
                    with_indices!(coordinates, |coordinates| match is_last {
                        true => widen(&coordinates[range.clone()], &mut column),
                        false => gather(coordinates, positions, &mut column),
                    });
                    if let Some(bounds) = bounds {
                        with_indices!(bounds, |bounds| to_parents(bounds, positions));
                    }
                }
                _ => unreachable!("other levels are walked from the outermost down"),
            }
            write(level, &column);
        }
    }
}

fn gather<C: Index>(coordinates: &[C], positions: &[usize], column: &mut [u64]) {
    for (coordinate, &position) in column.iter_mut().zip(positions) {
        *coordinate = coordinates[position].to_usize() as u64;
    }
}

fn widen<C: Index>(coordinates: &[C], column: &mut [u64]) {
    for (wide, coordinate) in column.iter_mut().zip(coordinates) {
        *wide = coordinate.to_usize() as u64;
    }
}

/// Keeps what is an entry.
fn retain<T>(column: &mut Vec<T>, is_entry: &[bool]) {
    let mut is_entry = is_entry.iter();
    column.retain(|_| is_entry.next().is_some_and(|&is_entry| is_entry));
}

/// Replaces ascending children by their parents.
fn to_parents<P: Index>(bounds: &[P], children: &mut [usize]) {
    let (Some(&first), Some(&last)) = (children.first(), children.last()) else { return };
    let mut parent = bounds.partition_point(|begin| begin.to_usize() <= first) - 1;
    let span = last - first + 1;
    if span > SPARSE * children.len() {
        for child in children {
            while bounds[parent + 1].to_usize() <= *child {
                parent += 1;
            }
            *child = parent;
        }
        return;
    }
    // How many parents begin at each child, and their sums: no branch depends on how many children a parent has.
    let mut parents = vec![0; span];
    for begin in bounds[parent + 1..].iter().map(|begin| begin.to_usize()).take_while(|&begin| begin <= last) {
        parents[begin - first] += 1;
    }
    for number in &mut parents {
        parent += *number;
        *number = parent;
    }
    children.iter_mut().for_each(|child| *child = parents[*child - first]);
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

    /// Writes elements from a place on.
    fn write(&mut self, place: usize, column: &[u64]) {
        match self {
            ColumnMut::U32(to) => to[place..].iter_mut().zip(column).for_each(|(to, &index)| *to = index as u32),
            ColumnMut::U64(to) => to[place..place + column.len()].copy_from_slice(column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parents of children that follow each other, and of few among many, some parents having none.
    #[test]
    fn children_find_their_parents() {
        let bounds: Vec<u32> = vec![0, 0, 3, 4, 4, 4, 90, 90, 100, 100];
        let parent = |child: usize| (0..9).find(|&parent| child < bounds[parent + 1] as usize).unwrap();
        for begin in 0..100 {
            for end in begin..=100 {
                for step in [1, 2, SPARSE, SPARSE + 1, 40] {
                    let children: Vec<usize> = (begin..end).step_by(step).flat_map(|child| [child, child]).collect();
                    let mut found = children.clone();
                    to_parents(&bounds, &mut found);
                    assert!(found.into_iter().eq(children.into_iter().map(parent)));
                }
            }
        }
    }
}
