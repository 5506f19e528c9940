//! Levels of any kind from ascending keys, one position after the other.
//!
//! [`build`](super::build) makes dense, compressed and singleton levels, in parallel, from the prefixes that begin among the
//! keys. Levels whose positions are not numbered that way (rows filled up to one width, hash tables, bands, runs) are grown
//! here: each position has the range of entries that are below it, and a level deals its parents' entries out to its own
//! positions.
//!
//! ```text
//! entries           0: (0, 1)   1: (0, 4)   2: (2, 0)
//! [dense, padded]   level 0     rows  0..2   2..2   2..3
//!                   level 1     crd   1  4   ∞  ∞   0  ∞
//!                               rows  0..1 1..2 – – 2..3 –
//! ```

use super::super::index_array::with_width;
use super::super::layout::Layout;
use super::super::tasks::{self, split};
use super::super::{Buffer, Element, Index, IndexArray, LevelStorage, OutOfMemory};
use super::PackError;
use super::build::{LARGEST, check_coordinate_width};
use super::key::{Fields, Key};
use crate::memory;
use bytemuck::Zeroable;
use spc_compiler::format::level::{self, hashed, vacancy};
use spc_compiler::format::{IndexWidth, LevelKind};
use std::ops::Range;
use std::sync::Arc;

/// The entries below a position, all zeros where the position is no entry: padding and empty slots.
#[derive(Debug, Clone, Copy, Zeroable)]
struct Entries {
    begin: usize,
    end: usize,
}

impl Entries {
    /// At padding and in empty slots.
    const NONE: Self = Self { begin: 0, end: 0 };
    /// No entries, at a position that stands for a coordinate.
    const NOTHING: Self = Self { begin: 1, end: 1 };

    fn of(range: Range<usize>) -> Self {
        if range.is_empty() { Self::NOTHING } else { Self { begin: range.start, end: range.end } }
    }

    /// Whether the position stands for a coordinate.
    fn is_position(&self) -> bool {
        self.end != 0
    }

    fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    fn range(&self) -> Range<usize> {
        if self.is_empty() { 0..0 } else { self.begin..self.end }
    }
}

/// How many positions have their values gathered at once.
const GRAIN: usize = 1 << 16;
/// How many slices are filled at once.
const SLICES: usize = 1 << 10;

/// A child: its coordinate and its entries.
type Child = (usize, Range<usize>);

/// Grows one level after the other.
pub(super) struct Grow<'a, K, T> {
    pub(super) keys: &'a [K],
    pub(super) values: &'a [T],
    pub(super) layout: &'a Layout,
    pub(super) fields: &'a Fields,
    pub(super) maxima: &'a [u64],
    /// What stands where there is no entry.
    pub(super) fill: T,
}

impl<K: Key, T: Element> Grow<'_, K, T> {
    /// The arrays of all levels, and the values.
    pub(super) fn tensor(&self) -> Result<(Vec<LevelStorage>, Buffer<T>), PackError> {
        let mut rows = vec![Entries::of(0..self.keys.len())];
        let mut levels = Vec::with_capacity(self.layout.depth());
        for level in 0..self.layout.depth() {
            let storage;
            (storage, rows) = self.level(level, &rows)?;
            levels.push(storage);
        }
        let mut values = Buffer::<T>::try_zeroed(rows.len())?;
        let parts = values.chunks_mut(GRAIN).zip(rows.chunks(GRAIN)).collect();
        tasks::each(parts, &|_, (values, rows): (&mut [T], &[Entries])| {
            for (value, row) in values.iter_mut().zip(rows) {
                *value = if row.is_empty() { self.fill } else { self.values[row.begin] };
            }
        });
        Ok((levels, values))
    }

    fn level(&self, level: usize, parents: &[Entries]) -> Grown {
        let format = self.layout.levels[level];
        if level::of(format.kind).takes(level::Property::Coordinates) {
            check_coordinate_width(self.layout, self.maxima, level)?;
        }
        match format.kind {
            LevelKind::Dense => Ok((LevelStorage::Dense, self.every(level, parents)?)),
            LevelKind::Bitmap => {
                let mut rows = self.every(level, parents)?;
                let flags: Vec<u8> = rows.iter().map(|row| u8::from(!row.is_empty())).collect();
                rows.iter_mut().filter(|row| row.is_empty()).for_each(|row| *row = Entries::NONE);
                Ok((LevelStorage::Bitmap { flags: flags.into() }, rows))
            }
            LevelKind::Compressed => self.compressed(level, parents),
            LevelKind::Flagged => self.flagged(level, parents),
            LevelKind::Singleton => self.singleton(level, parents),
            LevelKind::Diagonal => self.diagonal(level, parents),
            LevelKind::Padded => self.padded(level, parents),
            LevelKind::Sliced => self.sliced(level, parents),
            LevelKind::Hashed => self.hashed(level, parents),
            LevelKind::Banded => self.banded(level, parents),
            LevelKind::Run => self.run(level, parents),
        }
    }

    fn coordinate(&self, level: usize, entry: usize) -> usize {
        self.fields.reader(level)(self.keys[entry])
    }

    /// The entries of a parent by their coordinate in a level; where the level is not unique, by the coordinates of the
    /// singletons below it as well.
    fn children(&self, level: usize, parent: &Entries) -> Vec<Child> {
        self.each_child(level, parent).collect()
    }

    /// See [`children`](Self::children).
    fn each_child(&self, level: usize, parent: &Entries) -> impl Iterator<Item = Child> {
        let below = &self.layout.levels[level + 1..];
        let singletons = below.iter().take_while(|below| below.kind == LevelKind::Singleton).count();
        let prefix = level + 1 + if self.layout.levels[level].unique { 0 } else { singletons };
        let shift = self.fields.prefix(prefix);
        let coordinate = self.fields.reader(level);
        let mut begin = parent.begin;
        self.keys[parent.range()].chunk_by(move |a, b| !a.xor(*b).reaches(shift)).map(move |group| {
            let child = begin..begin + group.len();
            begin = child.end;
            (coordinate(group[0]), child)
        })
    }

    /// A position for each coordinate.
    fn every(&self, level: usize, parents: &[Entries]) -> Result<Vec<Entries>, PackError> {
        let extent = self.layout.extents[level];
        let mut rows = with_room(room(level, parents.len(), extent)?)?;
        for parent in parents {
            let begin = rows.len();
            rows.resize(begin + extent, if parent.is_position() { Entries::NOTHING } else { Entries::NONE });
            for (coordinate, child) in self.each_child(level, parent) {
                rows[begin + coordinate] = Entries::of(child);
            }
        }
        Ok(rows)
    }

    fn compressed(&self, level: usize, parents: &[Entries]) -> Grown {
        let (mut positions, mut coordinates, mut rows) = (vec![0], Vec::new(), Vec::new());
        for parent in parents {
            for (coordinate, child) in self.children(level, parent) {
                coordinates.push(coordinate);
                rows.push(Entries::of(child));
            }
            positions.push(rows.len());
        }
        let positions = self.positions(level, positions)?;
        let coordinates = narrow(coordinates, self.layout.levels[level].coordinates);
        Ok((LevelStorage::Compressed { positions, coordinates }, rows))
    }

    fn flagged(&self, level: usize, parents: &[Entries]) -> Grown {
        let (mut flags, mut coordinates, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for parent in parents {
            let children = self.children(level, parent);
            if children.is_empty() {
                return Err(PackError::Childless { level });
            }
            for (number, (coordinate, child)) in children.into_iter().enumerate() {
                flags.push(u8::from(number == 0));
                coordinates.push(coordinate);
                rows.push(Entries::of(child));
            }
        }
        let coordinates = narrow(coordinates, self.layout.levels[level].coordinates);
        Ok((LevelStorage::Flagged { flags: flags.into(), coordinates }, rows))
    }

    fn singleton(&self, level: usize, parents: &[Entries]) -> Grown {
        let format = self.layout.levels[level];
        if self.layout.extents[level] == 0 && parents.iter().any(Entries::is_position) {
            return Err(PackError::NoCoordinate { level, mode: self.layout.modes[level] });
        }
        let mut coordinates = Vec::with_capacity(parents.len());
        for parent in parents {
            let children = self.children(level, parent);
            if let Some((_, second)) = children.get(1) {
                return Err(PackError::Crowded { level, index: self.index(second.start) });
            }
            coordinates.push(children.first().map_or(0, |(coordinate, _)| *coordinate));
        }
        if let (true, Some(entry)) = (format.unique, self.repeated(level, parents)) {
            return Err(PackError::Repeated { level, index: self.index(entry) });
        }
        Ok((LevelStorage::Singleton { coordinates: narrow(coordinates, format.coordinates) }, parents.to_vec()))
    }

    /// The first entry that begins a position, but no new coordinates of the levels down to `level`.
    fn repeated(&self, level: usize, parents: &[Entries]) -> Option<usize> {
        let shift = self.fields.prefix(level + 1);
        let mut begins = parents.iter().filter(|row| !row.is_empty()).map(|row| row.begin);
        begins.find(|&entry| entry > 0 && !self.keys[entry - 1].xor(self.keys[entry]).reaches(shift))
    }

    fn diagonal(&self, level: usize, parents: &[Entries]) -> Grown {
        let above = level.checked_sub(1).expect("a diagonal level has one above it");
        let off = |&entry: &usize| self.coordinate(above, entry) != self.coordinate(level, entry);
        match parents.iter().flat_map(Entries::range).find(off) {
            Some(entry) => Err(PackError::OffDiagonal { level, index: self.index(entry) }),
            None => Ok((LevelStorage::Diagonal, parents.to_vec())),
        }
    }

    fn padded(&self, level: usize, parents: &[Entries]) -> Grown {
        let format = self.layout.levels[level];
        let most = self.widths(level, parents, 1).into_iter().max().unwrap_or(0);
        let width = format.width.map_or(most, |width| width as usize);
        room(level, parents.len(), width)?;
        let one_more = |parent| self.each_child(level, parent).nth(width);
        if most > width
            && let Some((_, first_too_many)) = parents.iter().find_map(one_more)
        {
            return Err(PackError::Width { level, width, index: self.index(first_too_many.start) });
        }
        let positions: Vec<usize> = (0..=parents.len()).map(|parent| parent * width).collect();
        let (coordinates, rows) =
            with_width!(format.coordinates, |C| self.side_by_side::<C>(level, parents, 1, &positions)?);
        let width = match format.width {
            Some(_) => None,
            None if width as u64 > format.positions.maximum() => {
                return Err(PackError::PositionWidth { level, format, count: width as u64 });
            }
            None => Some(narrow(vec![width], format.positions)),
        };
        Ok((LevelStorage::Padded { width, coordinates }, rows))
    }

    fn sliced(&self, level: usize, parents: &[Entries]) -> Grown {
        let format = self.layout.levels[level];
        let rows = format.rows as usize;
        let mut positions = vec![0];
        let mut count = 0;
        for width in self.widths(level, parents, rows) {
            count = room(level, 1, room(level, rows, width)?.saturating_add(count))?;
            positions.push(count);
        }
        let (coordinates, entries) =
            with_width!(format.coordinates, |C| self.side_by_side::<C>(level, parents, rows, &positions)?);
        let positions = self.positions(level, positions)?;
        Ok((LevelStorage::Sliced { positions, coordinates }, entries))
    }

    /// The most children of a parent, for each slice of so many.
    fn widths(&self, level: usize, parents: &[Entries], rows: usize) -> Vec<usize> {
        let count = |parent: &Entries| self.each_child(level, parent).count();
        let width = |slice: usize| {
            let end = parents.len().min((slice + 1) * rows);
            parents[slice * rows..end].iter().map(count).max().unwrap_or(0)
        };
        let slices = tasks::ranges(parents.len().div_ceil(rows), SLICES);
        tasks::map(&slices, &|slices| slices.map(width).collect::<Vec<_>>()).concat()
    }

    /// The coordinates and entries of slices, each of so many parents side by side from its position to the next.
    fn side_by_side<C: Index>(
        &self,
        level: usize,
        parents: &[Entries],
        rows: usize,
        positions: &[usize],
    ) -> Result<(IndexArray, Vec<Entries>), PackError> {
        let count = positions.last().copied().unwrap_or(0);
        let mut coordinates = Buffer::<C>::try_zeroed(count)?;
        let mut entries: Vec<Entries> =
            bytemuck::allocation::try_zeroed_vec(count).map_err(|()| out_of_memory(count))?;
        memory::in_huge_pages(&entries);
        let slices = tasks::ranges(positions.len() - 1, SLICES);
        let sizes: Vec<usize> = slices.iter().map(|slices| positions[slices.end] - positions[slices.start]).collect();
        let parts = split(&mut coordinates, &sizes).into_iter().zip(split(&mut entries, &sizes)).collect();
        tasks::each(parts, &|task, (coordinates, entries): (&mut [C], &mut [Entries])| {
            coordinates.fill(C::narrowed(vacancy(C::WIDTH) as usize));
            let begin = positions[slices[task].start];
            for slice in slices[task].clone() {
                let end = parents.len().min((slice + 1) * rows);
                for (row, parent) in parents[slice * rows..end].iter().enumerate() {
                    let places = (positions[slice] - begin + row..).step_by(rows);
                    for (place, (coordinate, child)) in places.zip(self.each_child(level, parent)) {
                        coordinates[place] = C::narrowed(coordinate);
                        entries[place] = Entries::of(child);
                    }
                }
            }
        });
        Ok((C::wrap(Arc::new(coordinates)), entries))
    }

    fn hashed(&self, level: usize, parents: &[Entries]) -> Grown {
        let format = self.layout.levels[level];
        let filling = vacancy(format.coordinates) as usize;
        let (mut positions, mut coordinates, mut rows) = (vec![0], Vec::new(), Vec::new());
        for parent in parents {
            let children = self.children(level, parent);
            let (begin, slots) = (rows.len(), hashed::slots(children.len()));
            coordinates.resize(begin + slots, filling);
            rows.resize(begin + slots, Entries::NONE);
            for (coordinate, child) in children {
                let mut slot = hashed::slot(coordinate, slots);
                while rows[begin + slot].is_position() {
                    slot = (slot + 1) & (slots - 1);
                }
                coordinates[begin + slot] = coordinate;
                rows[begin + slot] = Entries::of(child);
            }
            positions.push(rows.len());
        }
        let positions = self.positions(level, positions)?;
        Ok((LevelStorage::Hashed { positions, coordinates: narrow(coordinates, format.coordinates) }, rows))
    }

    fn banded(&self, level: usize, parents: &[Entries]) -> Grown {
        let (mut positions, mut first, mut rows) = (vec![0], Vec::new(), Vec::new());
        for parent in parents {
            let children = self.children(level, parent);
            let begin = rows.len();
            let [least, most] =
                [children.first(), children.last()].map(|end| end.map_or(0, |(coordinate, _)| *coordinate));
            let length = if children.is_empty() { 0 } else { most - least + 1 };
            let count = room(level, 1, begin.saturating_add(length))?;
            rows.try_reserve(length).map_err(|_| out_of_memory(count))?;
            rows.resize(begin + length, Entries::NOTHING);
            for (coordinate, child) in children {
                rows[begin + coordinate - least] = Entries::of(child);
            }
            first.push(least);
            positions.push(rows.len());
        }
        let positions = self.positions(level, positions)?;
        Ok((LevelStorage::Banded { positions, first: narrow(first, self.layout.levels[level].coordinates) }, rows))
    }

    fn run(&self, level: usize, parents: &[Entries]) -> Grown {
        let (format, extent) = (self.layout.levels[level], self.layout.extents[level]);
        let (mut positions, mut ends, mut rows) = (vec![0], Vec::new(), Vec::<Entries>::new());
        for parent in parents {
            let begin = rows.len();
            let mut end = 0;
            // A run ends at `to`; what it holds is stored unless it is what the run before it holds.
            let mut extend = |row: Entries, to: usize| match rows[begin..].last() {
                Some(last) if self.is_equal(level, last, &row) => *ends.last_mut().expect("a run has an end") = to,
                _ => {
                    rows.push(row);
                    ends.push(to);
                }
            };
            for (coordinate, child) in self.children(level, parent) {
                if end < coordinate {
                    extend(Entries::NOTHING, coordinate);
                }
                extend(Entries::of(child), coordinate + 1);
                end = coordinate + 1;
            }
            if parent.is_position() && end < extent {
                extend(Entries::NOTHING, extent);
            }
            positions.push(rows.len());
        }
        if let Some(&end) = ends.iter().max()
            && end as u64 > format.coordinates.maximum()
        {
            return Err(PackError::CoordinateWidth { level, format, coordinate: end as u64 });
        }
        let positions = self.positions(level, positions)?;
        Ok((LevelStorage::Run { positions, ends: narrow(ends, format.coordinates) }, rows))
    }

    /// Whether two coordinates of a level have the same below them, bit for bit.
    fn is_equal(&self, level: usize, left: &Entries, right: &Entries) -> bool {
        let (left, right) = (left.range(), right.range());
        let below = |a: usize, b: usize| {
            (level + 1..self.layout.depth()).all(|level| self.coordinate(level, a) == self.coordinate(level, b))
        };
        let bits = |row: &Range<usize>| bytemuck::cast_slice::<T, u8>(&self.values[row.clone()]);
        left.len() == right.len()
            && left.clone().zip(right.clone()).all(|(a, b)| below(a, b))
            && bits(&left) == bits(&right)
    }

    fn positions(&self, level: usize, positions: Vec<usize>) -> Result<IndexArray, PackError> {
        let format = self.layout.levels[level];
        let count = positions.last().map_or(0, |&count| count as u64);
        if count > format.positions.maximum() {
            return Err(PackError::PositionWidth { level, format, count });
        }
        Ok(narrow(positions, format.positions))
    }

    fn index(&self, entry: usize) -> Vec<usize> {
        self.fields.index(self.keys[entry], self.layout)
    }
}

/// A level and the entries below its positions.
type Grown = Result<(LevelStorage, Vec<Entries>), PackError>;

/// How many positions so many parents with so many children have, where they can be stored.
fn room(level: usize, parents: usize, children: usize) -> Result<usize, PackError> {
    let too_large = PackError::TooLarge { level, count: parents.saturating_mul(children) };
    parents.checked_mul(children).filter(|&count| count <= LARGEST / size_of::<Entries>()).ok_or(too_large)
}

fn with_room<R>(length: usize) -> Result<Vec<R>, PackError> {
    let mut rows = Vec::new();
    rows.try_reserve_exact(length).map_err(|_| out_of_memory(length))?;
    Ok(rows)
}

fn out_of_memory(length: usize) -> PackError {
    OutOfMemory { length, size: size_of::<Entries>() }.into()
}

/// Indices that have been found to fit their width.
fn narrow(indices: Vec<usize>, width: IndexWidth) -> IndexArray {
    with_width!(width, |I| indices.into_iter().map(<I as Index>::narrowed).collect::<Vec<I>>().into())
}
