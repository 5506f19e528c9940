//! Levels of any kind from ascending keys, parents in parallel.
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

use super::super::hash_table::FreeSlots;
use super::super::index_array::with_width;
use super::super::layout::Layout;
use super::super::tasks::{self, split};
use super::super::{Buffer, Index, IndexArray, LevelArrays, Plain};
use super::PackError;
use super::build::{LARGEST, check_coordinate_width};
use super::key::{Fields, Key};
use crate::memory;
use bytemuck::Zeroable;
use spc_compiler::format::{Children, Code, IndexWidth, Told, Vacancies};
use spc_compiler::level::{slots, vacancy};
use std::ops::Range;

/// The entries below a position, all zeros where the position is no entry: padding and empty slots. Their numbers are as wide as
/// need be: there may be many more positions than entries.
#[derive(Debug, Clone, Copy, Zeroable)]
pub(super) struct Entries<I> {
    begin: I,
    end: I,
}

impl<I: Index> Entries<I> {
    fn new(begin: usize, end: usize) -> Self {
        Self { begin: I::narrowed(begin), end: I::narrowed(end) }
    }

    /// At padding and in empty slots.
    fn none() -> Self {
        Self::new(0, 0)
    }

    /// No entries, at a position that stands for a coordinate.
    fn nothing() -> Self {
        Self::new(1, 1)
    }

    fn of(range: Range<usize>) -> Self {
        if range.is_empty() { Self::nothing() } else { Self::new(range.start, range.end) }
    }

    fn begin(&self) -> usize {
        self.begin.to_usize()
    }

    fn end(&self) -> usize {
        self.end.to_usize()
    }

    /// Whether the position stands for a coordinate.
    fn is_position(&self) -> bool {
        self.end != I::default()
    }

    fn is_empty(&self) -> bool {
        self.begin == self.end
    }

    fn range(&self) -> Range<usize> {
        if self.is_empty() { 0..0 } else { self.begin()..self.end() }
    }
}

/// How many positions a task looks at. Tests have several tasks for few.
const GRAIN: usize = if cfg!(test) { 3 } else { 1 << 15 };
/// How many slices, or parents that are not taken apart, are filled at once.
const SLICES: usize = if cfg!(test) { 2 } else { 1 << 10 };

/// A child: its coordinate and its entries.
type Child = (usize, Range<usize>);

/// Parents whose children a task deals out.
struct Share {
    parents: Range<usize>,
    /// Of a single parent: some of its entries, with all children that they are in.
    entries: Option<Range<usize>>,
}

impl Share {
    /// The parents, or what of them is in this share, and whether it has their last child.
    fn parts<'a, I: Index>(&'a self, parents: &'a [Entries<I>]) -> impl Iterator<Item = (Entries<I>, bool)> + 'a {
        parents[self.parents.clone()].iter().map(|parent| match &self.entries {
            Some(entries) => (Entries::of(entries.clone()), entries.end == parent.end()),
            None => (*parent, true),
        })
    }
}

/// Grows one level after the other.
pub(super) struct Grow<'a, K> {
    pub(super) keys: &'a [K],
    pub(super) layout: &'a Layout,
    pub(super) fields: &'a Fields,
    pub(super) maxima: &'a [u64],
    /// Whether two ranges of as many entries have the same values, bit for bit.
    pub(super) are_same: &'a (dyn Fn(Range<usize>, Range<usize>) -> bool + Sync),
}

/// The entry of each of the last level's positions; none where it has no entry.
pub(super) enum Owners {
    Narrow(Vec<Entries<u32>>),
    Wide(Vec<Entries<u64>>),
}

impl Owners {
    /// The values of positions, from those of the entries.
    pub(super) fn values<T: Plain>(&self, values: &[T], fill: T) -> Result<Buffer<T>, PackError> {
        match self {
            Self::Narrow(owners) => values_of(owners, values, fill),
            Self::Wide(owners) => values_of(owners, values, fill),
        }
    }
}

fn values_of<T: Plain, I: Index>(owners: &[Entries<I>], values: &[T], fill: T) -> Result<Buffer<T>, PackError> {
    let mut owned = Buffer::<T>::try_zeroed(owners.len())?;
    let parts = owned.chunks_mut(GRAIN).zip(owners.chunks(GRAIN)).collect();
    tasks::each(parts, &|_, (owned, owners): (&mut [T], &[Entries<I>])| {
        for (value, owner) in owned.iter_mut().zip(owners) {
            *value = if owner.is_empty() { fill } else { values[owner.begin()] };
        }
    });
    Ok(owned)
}

impl<K: Key> Grow<'_, K> {
    /// The arrays of all levels, and which entry each of the last one's positions has.
    pub(super) fn levels(&self) -> Result<(Vec<LevelArrays>, Owners), PackError> {
        // Beside wider keys, the numbers of entries take little room.
        if K::IS_WORD && u32::try_from(self.keys.len()).is_ok() {
            self.levels_of::<u32>().map(|(levels, owners)| (levels, Owners::Narrow(owners)))
        } else {
            self.levels_of::<u64>().map(|(levels, owners)| (levels, Owners::Wide(owners)))
        }
    }

    fn levels_of<I: Index>(&self) -> Result<(Vec<LevelArrays>, Vec<Entries<I>>), PackError> {
        let mut rows = vec![Entries::of(0..self.keys.len())];
        let mut levels = Vec::with_capacity(self.layout.depth());
        for level in 0..self.layout.depth() {
            let storage;
            (storage, rows) = self.level(level, rows)?;
            levels.push(storage);
        }
        Ok((levels, rows))
    }

    fn level<I: Index>(&self, level: usize, parents: Vec<Entries<I>>) -> Grown<I> {
        let kind = self.layout.levels[level].kind;
        if matches!(kind.told, Told::Stored | Told::First | Told::Ends) {
            check_coordinate_width(self.layout, self.maxima[level], level)?;
        }
        match (kind.children, kind.told) {
            (Children::Every, _) if kind.vacancies == Vacancies::Flagged => self.flagged_places(level, &parents),
            (Children::Every, _) => Ok((LevelArrays::NONE, self.every(level, &parents)?)),
            (Children::One, Told::Above) => self.diagonal(level, parents),
            (Children::One, _) => self.singleton(level, parents),
            (Children::Width, _) => self.padded(level, &parents),
            (Children::Slices, _) => self.sliced(level, &parents),
            (Children::Flags, _) => self.flagged(level, &parents),
            (Children::Bounded, Told::First) => self.banded(level, &parents),
            (Children::Bounded, Told::Ends) => self.run(level, &parents),
            (Children::Bounded, Told::Coded(code)) => self.coded(level, &parents, code),
            (Children::Bounded, _) if kind.vacancies == Vacancies::Slots => self.hashed(level, &parents),
            (Children::Bounded, _) if kind.vacancies == Vacancies::Filling => self.grouped(level, &parents),
            (Children::Bounded, _) => self.compressed(level, &parents),
        }
    }

    /// A position for each coordinate, and a flag where there is an entry.
    fn flagged_places<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let mut rows = self.every(level, parents)?;
        let mut flags = Buffer::<u8>::try_zeroed(rows.len())?;
        let parts = flags.chunks_mut(GRAIN).zip(rows.chunks_mut(GRAIN)).collect();
        tasks::each(parts, &|_, (flags, rows): (&mut [u8], &mut [Entries<I>])| {
            for (flag, row) in flags.iter_mut().zip(rows) {
                *flag = u8::from(!row.is_empty());
                if row.is_empty() {
                    *row = Entries::none();
                }
            }
        });
        Ok((LevelArrays::of_coordinates(flags), rows))
    }

    /// Coordinates that are decoded one after the other, with the gaps before them.
    fn coded<I: Index>(&self, level: usize, parents: &[Entries<I>], code: Code) -> Grown<I> {
        let width = self.layout.levels[level].coordinates();
        let largest = width.maximum();
        let ranges = tasks::ranges(parents.len(), SLICES);
        // For each parent, the place and the number of what is stored for each child, its gaps before it.
        let count = |parent: &Entries<I>| {
            let mut before = None;
            let places = self.each_child(level, parent).map(|(coordinate, _)| {
                let coordinate = coordinate as u64;
                let gaps = (code.gaps)(before.replace(coordinate), coordinate, largest);
                usize::try_from(gaps).map_or(usize::MAX, |gaps| gaps.saturating_add(1))
            });
            places.fold(0, usize::saturating_add)
        };
        let counts = tasks::map(&ranges, &|range| parents[range].iter().map(count).collect::<Vec<_>>()).concat();
        let mut positions = vec![0];
        let mut total = 0;
        for count in counts {
            total = room(level, 1, count.saturating_add(total))?;
            positions.push(total);
        }
        let mut rows = entries_of(total)?;
        let sizes = sizes(&ranges, &positions);
        let coordinates = with_width!(width, |C| {
            let mut stored = Buffer::<C>::try_zeroed(total)?;
            let parts = split(&mut stored, &sizes).into_iter().zip(split(&mut rows, &sizes)).collect();
            tasks::each(parts, &|task, (stored, rows): (&mut [C], &mut [Entries<I>])| {
                let mut places = stored.iter_mut().zip(rows);
                let mut store = |number: u64, entries: Entries<I>| {
                    if let Some((stored, row)) = places.next() {
                        (*stored, *row) = (C::narrowed(number as usize), entries);
                    }
                };
                for parent in &parents[ranges[task].clone()] {
                    let mut before = None;
                    for (coordinate, child) in self.each_child(level, parent) {
                        let coordinate = coordinate as u64;
                        for _ in 0..(code.gaps)(before, coordinate, largest) {
                            let gap = (code.encode)(before, None, largest);
                            before = Some((code.decode)(before, gap, largest).0);
                            store(gap, Entries::none());
                        }
                        store((code.encode)(before, Some(coordinate), largest), Entries::of(child));
                        before = Some(coordinate);
                    }
                }
            });
            C::wrap(stored)
        });
        Ok((LevelArrays::of(self.positions(level, positions)?, coordinates), rows))
    }

    fn coordinate(&self, level: usize, entry: usize) -> usize {
        self.fields.reader(level)(self.keys[entry])
    }

    /// The number of levels whose coordinates make a child of a level: its own, and where it is not unique, those of the singletons
    /// below it as well.
    fn child_prefix(&self, level: usize) -> usize {
        let below = &self.layout.levels[level + 1..];
        let singletons = below.iter().take_while(|below| below.kind.is_singleton()).count();
        level + 1 + if self.layout.levels[level].unique() { 0 } else { singletons }
    }

    /// The entries of a parent by what makes a child.
    fn each_child<I: Index>(&self, level: usize, parent: &Entries<I>) -> impl Iterator<Item = Child> {
        let shift = self.fields.prefix(self.child_prefix(level));
        let coordinate = self.fields.reader(level);
        let mut begin = parent.begin();
        self.keys[parent.range()].chunk_by(move |a, b| !a.xor(*b).reaches(shift)).map(move |group| {
            let child = begin..begin + group.len();
            begin = child.end;
            (coordinate(group[0]), child)
        })
    }

    /// How many children a parent has.
    fn count<I: Index>(&self, level: usize, parent: &Entries<I>) -> usize {
        let shift = self.fields.prefix(self.child_prefix(level));
        let begins = self.keys[parent.range()].windows(2).map(|pair| usize::from(pair[0].xor(pair[1]).reaches(shift)));
        begins.sum::<usize>() + usize::from(!parent.is_empty())
    }

    /// Parents in shares of about equally many entries, and positions if each parent has so many of its own.
    fn shares<I: Index>(&self, level: usize, parents: &[Entries<I>], own: usize) -> Vec<Share> {
        let shift = self.fields.prefix(self.child_prefix(level));
        let mut shares = Vec::new();
        let (mut first, mut weight) = (0, 0);
        for (number, parent) in parents.iter().enumerate() {
            let entries = parent.end() - parent.begin();
            if entries > GRAIN {
                shares.push(Share { parents: first..number, entries: None });
                let mut begin = parent.begin();
                while begin < parent.end() {
                    let mut end = parent.end().min(begin + GRAIN);
                    while end < parent.end() && !self.keys[end - 1].xor(self.keys[end]).reaches(shift) {
                        end += 1;
                    }
                    shares.push(Share { parents: number..number + 1, entries: Some(begin..end) });
                    begin = end;
                }
                (first, weight) = (number + 1, 0);
                continue;
            }
            weight += entries.saturating_add(own).saturating_add(1);
            if weight > GRAIN {
                shares.push(Share { parents: first..number + 1, entries: None });
                (first, weight) = (number + 1, 0);
            }
        }
        shares.push(Share { parents: first..parents.len(), entries: None });
        shares.retain(|share| !share.parents.is_empty());
        shares
    }

    /// A position for each coordinate.
    fn every<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Result<Vec<Entries<I>>, PackError> {
        let extent = self.layout.extents[level];
        let mut rows = entries_of(room(level, parents.len(), extent)?)?;
        let shares = self.shares(level, parents, extent);
        // Of a parent of several shares, each has the positions from its first child to that of the next.
        let bounds = |share: &Share| match &share.entries {
            None => 0..share.parents.len() * extent,
            Some(entries) => {
                let parent = parents[share.parents.start];
                let coordinate = |entry| self.coordinate(level, entry);
                let begin = if entries.start == parent.begin() { 0 } else { coordinate(entries.start) };
                begin..if entries.end == parent.end() { extent } else { coordinate(entries.end) }
            }
        };
        let sizes: Vec<usize> = shares.iter().map(|share| bounds(share).len()).collect();
        tasks::each(split(&mut rows, &sizes), &|task, rows: &mut [Entries<I>]| {
            let begin = bounds(&shares[task]).start;
            for (number, (parent, _)) in shares[task].parts(parents).enumerate() {
                let rows = &mut rows[number * extent..];
                let length = rows.len().min(extent);
                rows[..length].fill(if parent.is_position() { Entries::nothing() } else { Entries::none() });
                for (coordinate, child) in self.each_child(level, &parent) {
                    rows[coordinate - begin] = Entries::of(child);
                }
            }
        });
        Ok(rows)
    }

    /// A position for each child, and where those of each parent begin; last, how many there are.
    fn stored<I: Index, C: Index>(&self, level: usize, parents: &[Entries<I>]) -> Result<Stored<I>, PackError> {
        let shares = self.shares(level, parents, 0);
        let children = |share: &Share| share.parts(parents).map(|(part, _)| self.count(level, &part)).sum();
        let each_share = tasks::ranges(shares.len(), 1);
        let counts: Vec<usize> = tasks::map(&each_share, &|share| children(&shares[share.start]));
        let count = room(level, 1, counts.iter().sum())?;
        let mut coordinates = Buffer::<C>::try_zeroed(count)?;
        let mut rows = entries_of(count)?;
        let mut positions = vec![0; parents.len() + 1];
        let ends: Vec<usize> =
            shares.iter().map(|share| share.parts(parents).filter(|(_, is_last)| *is_last).count()).collect();
        let mut begins = vec![0];
        counts.iter().for_each(|count| begins.push(begins[begins.len() - 1] + count));
        let arrays = split(&mut coordinates, &counts).into_iter().zip(split(&mut rows, &counts));
        let parts = arrays.zip(split(&mut positions[1..], &ends)).collect();
        type Arrays<'a, I, C> = ((&'a mut [C], &'a mut [Entries<I>]), &'a mut [usize]);
        tasks::each(parts, &|task, ((coordinates, rows), positions): Arrays<'_, I, C>| {
            let (mut next, mut ends) = (0, positions.iter_mut());
            for (part, is_last) in shares[task].parts(parents) {
                for (coordinate, child) in self.each_child(level, &part) {
                    coordinates[next] = C::narrowed(coordinate);
                    rows[next] = Entries::of(child);
                    next += 1;
                }
                if is_last && let Some(end) = ends.next() {
                    *end = begins[task] + next;
                }
            }
        });
        Ok(Stored { positions, coordinates: C::wrap(coordinates), rows })
    }

    fn compressed<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let width = self.layout.levels[level].coordinates();
        let Stored { positions, coordinates, rows } = with_width!(width, |C| self.stored::<I, C>(level, parents)?);
        let positions = self.positions(level, positions)?;
        Ok((LevelArrays::of(positions, coordinates), rows))
    }

    fn flagged<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        if parents.iter().any(Entries::is_empty) {
            return Err(PackError::Childless { level });
        }
        let width = self.layout.levels[level].coordinates();
        let Stored { positions, coordinates, rows } = with_width!(width, |C| self.stored::<I, C>(level, parents)?);
        let mut flags = Buffer::<u8>::try_zeroed(rows.len())?;
        positions[..parents.len()].iter().for_each(|&first| flags[first] = 1);
        Ok((LevelArrays::of(flags, coordinates), rows))
    }

    fn singleton<I: Index>(&self, level: usize, parents: Vec<Entries<I>>) -> Grown<I> {
        let format = self.layout.levels[level];
        if self.layout.extents[level] == 0 && parents.iter().any(Entries::is_position) {
            return Err(PackError::NoCoordinate { level, mode: self.layout.modes[level] });
        }
        let ranges = tasks::ranges(parents.len(), GRAIN);
        let second = |parent| self.each_child(level, parent).nth(1).map(|(_, second)| second.start);
        if let Some(entry) = tasks::first(&ranges, &|range| parents[range].iter().find_map(second)) {
            return Err(PackError::Crowded { level, index: self.index(entry) });
        }
        if let (true, Some(entry)) = (format.unique(), self.repeated(level, &parents)) {
            return Err(PackError::Repeated { level, index: self.index(entry) });
        }
        let coordinates = with_width!(format.coordinates(), |C| {
            let first =
                |parent: &Entries<I>| if parent.is_empty() { 0 } else { self.coordinate(level, parent.begin()) };
            self.of_each::<I, C>(&parents, &first)?
        });
        Ok((LevelArrays::of_coordinates(coordinates), parents))
    }

    /// A coordinate for each parent.
    fn of_each<I: Index, C: Index>(
        &self,
        parents: &[Entries<I>],
        coordinate: &(dyn Fn(&Entries<I>) -> usize + Sync),
    ) -> Result<IndexArray, PackError> {
        let mut coordinates = Buffer::<C>::try_zeroed(parents.len())?;
        let parts = coordinates.chunks_mut(GRAIN).zip(parents.chunks(GRAIN)).collect();
        tasks::each(parts, &|_, (coordinates, parents): (&mut [C], &[Entries<I>])| {
            for (place, parent) in coordinates.iter_mut().zip(parents) {
                *place = C::narrowed(coordinate(parent));
            }
        });
        Ok(C::wrap(coordinates))
    }

    /// The first entry that begins a position, but no new coordinates of the levels down to `level`.
    fn repeated<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Option<usize> {
        let shift = self.fields.prefix(level + 1);
        let mut begins = parents.iter().filter(|row| !row.is_empty()).map(|row| row.begin());
        begins.find(|&entry| entry > 0 && !self.keys[entry - 1].xor(self.keys[entry]).reaches(shift))
    }

    fn diagonal<I: Index>(&self, level: usize, parents: Vec<Entries<I>>) -> Grown<I> {
        let above = level.checked_sub(1).expect("a diagonal level has one above it");
        let off = |&entry: &usize| self.coordinate(above, entry) != self.coordinate(level, entry);
        let first_off = |range: Range<usize>| parents[range].iter().flat_map(Entries::range).find(off);
        match tasks::first(&tasks::ranges(parents.len(), GRAIN), &first_off) {
            Some(entry) => Err(PackError::OffDiagonal { level, index: self.index(entry) }),
            None => Ok((LevelArrays::NONE, parents)),
        }
    }

    fn padded<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let format = self.layout.levels[level];
        let most = self.widths(level, parents, 1).into_iter().max().unwrap_or(0);
        let width = format.count().map_or(most, |width| width as usize);
        room(level, parents.len(), width)?;
        let one_more = |parent| self.each_child(level, parent).nth(width);
        if most > width
            && let Some((_, first_too_many)) = parents.iter().find_map(one_more)
        {
            return Err(PackError::Width { level, width, index: self.index(first_too_many.start) });
        }
        let positions: Vec<usize> = (0..=parents.len()).map(|parent| parent * width).collect();
        let (coordinates, rows) =
            with_width!(format.coordinates(), |C| self.side_by_side::<I, C>(level, parents, 1, &positions)?);
        let width = match format.count() {
            Some(_) => None,
            None if width as u64 > format.positions().maximum() => {
                return Err(PackError::PositionWidth { level, format, count: width as u64 });
            }
            None => Some(narrow(vec![width], format.positions())),
        };
        Ok((LevelArrays::new(width, Some(coordinates)), rows))
    }

    fn sliced<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let format = self.layout.levels[level];
        let rows = format.count().unwrap_or(1) as usize;
        let mut positions = vec![0];
        let mut count = 0;
        for width in self.widths(level, parents, rows) {
            count = room(level, 1, room(level, rows, width)?.saturating_add(count))?;
            positions.push(count);
        }
        let (coordinates, entries) =
            with_width!(format.coordinates(), |C| self.side_by_side::<I, C>(level, parents, rows, &positions)?);
        let positions = self.positions(level, positions)?;
        Ok((LevelArrays::of(positions, coordinates), entries))
    }

    /// Rows as wide as the longest of their group, where the group may be filled up.
    fn grouped<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let format = self.layout.levels[level];
        let most = format.count().map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let counts = self.widths(level, parents, 1);
        let mut positions = vec![0];
        let mut count = 0_usize;
        for group in self.groups(level, parents) {
            let counts = &counts[group];
            let (rows, entries) = (counts.iter().filter(|&&count| count > 0).count(), counts.iter().sum::<usize>());
            let width = counts.iter().copied().max().unwrap_or(0);
            let is_filled = rows.checked_mul(width).is_some_and(|places| places <= entries.saturating_mul(most));
            for &own in counts {
                count = room(level, 1, count.saturating_add(if is_filled && own > 0 { width } else { own }))?;
                positions.push(count);
            }
        }
        let (coordinates, rows) =
            with_width!(format.coordinates(), |C| self.side_by_side::<I, C>(level, parents, 1, &positions)?);
        let positions = self.positions(level, positions)?;
        Ok((LevelArrays::of(positions, coordinates), rows))
    }

    /// The parents of a level by their coordinates above the last of them. One without entries is in the group before it.
    fn groups<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Vec<Range<usize>> {
        let shift = self.fields.prefix(level.saturating_sub(1));
        let mut groups = Vec::new();
        let (mut first, mut known) = (0, None);
        for (number, parent) in parents.iter().enumerate().filter(|(_, parent)| !parent.is_empty()) {
            let key = self.keys[parent.begin()];
            if known.replace(key).is_some_and(|before| before.xor(key).reaches(shift)) {
                groups.push(first..number);
                first = number;
            }
        }
        groups.push(first..parents.len());
        groups
    }

    /// The most children of a parent, for each slice of so many.
    fn widths<I: Index>(&self, level: usize, parents: &[Entries<I>], rows: usize) -> Vec<usize> {
        let count = |parent: &Entries<I>| self.count(level, parent);
        let width = |slice: usize| {
            let end = parents.len().min((slice + 1) * rows);
            parents[slice * rows..end].iter().map(count).max().unwrap_or(0)
        };
        let slices = tasks::ranges(parents.len().div_ceil(rows), SLICES);
        tasks::map(&slices, &|slices| slices.map(width).collect::<Vec<_>>()).concat()
    }

    /// The coordinates and entries of slices, each of so many parents side by side from its position to the next.
    fn side_by_side<I: Index, C: Index>(
        &self,
        level: usize,
        parents: &[Entries<I>],
        rows: usize,
        positions: &[usize],
    ) -> Result<(IndexArray, Vec<Entries<I>>), PackError> {
        let count = positions.last().copied().unwrap_or(0);
        let mut coordinates = Buffer::<C>::try_zeroed(count)?;
        let mut entries = entries_of(count)?;
        let slices = tasks::ranges(positions.len() - 1, SLICES);
        let sizes = sizes(&slices, positions);
        let parts = split(&mut coordinates, &sizes).into_iter().zip(split(&mut entries, &sizes)).collect();
        tasks::each(parts, &|task, (coordinates, entries): (&mut [C], &mut [Entries<I>])| {
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
        Ok((C::wrap(coordinates), entries))
    }

    fn hashed<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let format = self.layout.levels[level];
        let mut positions = vec![0];
        let mut count = 0;
        for children in self.widths(level, parents, 1) {
            count = room(level, 1, slots(children).saturating_add(count))?;
            positions.push(count);
        }
        let (coordinates, rows) =
            with_width!(format.coordinates(), |C| self.slots::<I, C>(level, parents, &positions)?);
        let positions = self.positions(level, positions)?;
        Ok((LevelArrays::of(positions, coordinates), rows))
    }

    /// The coordinates and entries of the hash tables of some parents.
    fn slots<I: Index, C: Index>(
        &self,
        level: usize,
        parents: &[Entries<I>],
        positions: &[usize],
    ) -> Result<(IndexArray, Vec<Entries<I>>), PackError> {
        let count = positions.last().copied().unwrap_or(0);
        let mut coordinates = Buffer::<C>::try_zeroed(count)?;
        let mut rows = entries_of(count)?;
        let ranges = tasks::ranges(parents.len(), SLICES);
        let sizes = sizes(&ranges, positions);
        let parts = split(&mut coordinates, &sizes).into_iter().zip(split(&mut rows, &sizes)).collect();
        tasks::each(parts, &|task, (coordinates, rows): (&mut [C], &mut [Entries<I>])| {
            coordinates.fill(C::narrowed(vacancy(C::WIDTH) as usize));
            let range = ranges[task].clone();
            for parent in range.clone() {
                let begin = positions[parent] - positions[range.start];
                let slots = positions[parent + 1] - positions[parent];
                let mut free = FreeSlots::default();
                for (coordinate, child) in self.each_child(level, &parents[parent]) {
                    let slot = free.take(coordinate, slots, &|slot| rows[begin + slot].is_position());
                    coordinates[begin + slot] = C::narrowed(coordinate);
                    rows[begin + slot] = Entries::of(child);
                }
            }
        });
        Ok((C::wrap(coordinates), rows))
    }

    fn banded<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let first = |parent: &Entries<I>| if parent.is_empty() { 0 } else { self.coordinate(level, parent.begin()) };
        let mut positions = vec![0];
        let mut count = 0;
        for parent in parents {
            let length =
                if parent.is_empty() { 0 } else { self.coordinate(level, parent.end() - 1) - first(parent) + 1 };
            count = room(level, 1, length.saturating_add(count))?;
            positions.push(count);
        }
        let mut rows = entries_of(count)?;
        let ranges = tasks::ranges(parents.len(), SLICES);
        tasks::each(split(&mut rows, &sizes(&ranges, &positions)), &|task, rows: &mut [Entries<I>]| {
            rows.fill(Entries::nothing());
            let range = ranges[task].clone();
            for parent in range.clone() {
                let begin = positions[parent] - positions[range.start];
                let least = first(&parents[parent]);
                for (coordinate, child) in self.each_child(level, &parents[parent]) {
                    rows[begin + coordinate - least] = Entries::of(child);
                }
            }
        });
        let width = self.layout.levels[level].coordinates();
        let first = with_width!(width, |C| self.of_each::<I, C>(parents, &first)?);
        Ok((LevelArrays::of(self.positions(level, positions)?, first), rows))
    }

    fn run<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Grown<I> {
        let format = self.layout.levels[level];
        let runs = |range: Range<usize>| self.runs(level, &parents[range]);
        let parts = tasks::map(&tasks::ranges(parents.len(), SLICES), &runs);
        let mut positions = vec![0];
        let (mut ends, mut rows) = (Vec::new(), Vec::new());
        for part in parts {
            positions.extend(part.counts.into_iter().map(|count| rows.len() + count));
            ends.extend(part.ends);
            rows.extend(part.rows);
        }
        if let Some(&end) = ends.iter().max()
            && end as u64 > format.coordinates().maximum()
        {
            return Err(PackError::CoordinateWidth { level, format, coordinate: end as u64 });
        }
        let positions = self.positions(level, positions)?;
        Ok((LevelArrays::of(positions, narrow(ends, format.coordinates())), rows))
    }

    /// The runs of some parents.
    fn runs<I: Index>(&self, level: usize, parents: &[Entries<I>]) -> Runs<I> {
        let extent = self.layout.extents[level];
        let (mut counts, mut ends, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for parent in parents {
            let begin = rows.len();
            let mut end = 0;
            // A run ends at `to`; what it holds is stored unless it is what the run before it holds.
            let mut extend = |row: Entries<I>, to: usize| match rows[begin..].last() {
                Some(last) if self.is_equal(level, last, &row) => *ends.last_mut().expect("a run has an end") = to,
                _ => {
                    rows.push(row);
                    ends.push(to);
                }
            };
            for (coordinate, child) in self.each_child(level, parent) {
                if end < coordinate {
                    extend(Entries::nothing(), coordinate);
                }
                extend(Entries::of(child), coordinate + 1);
                end = coordinate + 1;
            }
            if parent.is_position() && end < extent {
                extend(Entries::nothing(), extent);
            }
            counts.push(rows.len());
        }
        Runs { counts, ends, rows }
    }

    /// Whether two coordinates of a level have the same below them, bit for bit.
    fn is_equal<I: Index>(&self, level: usize, left: &Entries<I>, right: &Entries<I>) -> bool {
        let (left, right) = (left.range(), right.range());
        let below = |a: usize, b: usize| {
            (level + 1..self.layout.depth()).all(|level| self.coordinate(level, a) == self.coordinate(level, b))
        };
        left.len() == right.len()
            && left.clone().zip(right.clone()).all(|(a, b)| below(a, b))
            && (self.are_same)(left, right)
    }

    fn positions(&self, level: usize, positions: Vec<usize>) -> Result<IndexArray, PackError> {
        let format = self.layout.levels[level];
        let count = positions.last().map_or(0, |&count| count as u64);
        if count > format.positions().maximum() {
            return Err(PackError::PositionWidth { level, format, count });
        }
        Ok(narrow(positions, format.positions()))
    }

    fn index(&self, entry: usize) -> Vec<usize> {
        self.fields.index(self.keys[entry], self.layout)
    }
}

/// The positions of a level that stores the coordinates of its children.
struct Stored<I> {
    positions: Vec<usize>,
    coordinates: IndexArray,
    rows: Vec<Entries<I>>,
}

/// The runs of some parents: how many there are down to each parent, and the end and the entries of each run.
struct Runs<I> {
    counts: Vec<usize>,
    ends: Vec<usize>,
    rows: Vec<Entries<I>>,
}

/// A level and the entries below its positions.
type Grown<I> = Result<(LevelArrays, Vec<Entries<I>>), PackError>;

/// How many positions so many parents with so many children have, where they can be stored.
fn room(level: usize, parents: usize, children: usize) -> Result<usize, PackError> {
    let too_large = PackError::TooLarge { level, count: parents.saturating_mul(children) };
    parents.checked_mul(children).filter(|&count| count <= LARGEST / size_of::<Entries<u64>>()).ok_or(too_large)
}

/// Room for the entries of so many positions.
fn entries_of<I: Index>(count: usize) -> Result<Vec<Entries<I>>, PackError> {
    Ok(memory::try_zeroed(count)?)
}

/// How many positions each range of parents has.
fn sizes(parents: &[Range<usize>], positions: &[usize]) -> Vec<usize> {
    parents.iter().map(|range| positions[range.end] - positions[range.start]).collect()
}

/// Indices that have been found to fit their width.
fn narrow(indices: Vec<usize>, width: IndexWidth) -> IndexArray {
    with_width!(width, |I| indices.into_iter().map(<I as Index>::narrowed).collect::<Vec<I>>().into())
}
