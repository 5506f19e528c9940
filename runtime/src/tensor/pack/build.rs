//! Levels from ascending keys.
//!
//! An entry begins a new position of a level where its key differs from the key before it in the level's **prefix**: the
//! levels down to it. (A nonunique level repeats its coordinate for each combination of the singletons below it, so its
//! prefix includes those.) Positions of compressed levels are numbered as prefixes come; a dense level's position follows
//! from its parent's, a singleton's is its parent's.

use super::super::index_array::with_width;
use super::super::layout::Layout;
use super::super::tasks::{self, split};
use super::super::{Buffer, Index, IndexArray, LevelArrays, OutOfMemory, Plain};
use super::PackError;
use super::key::{Fields, Key};
use crate::memory;
use spc_compiler::format::IndexWidth;
use std::ops::Range;

/// No array may take more bytes: a system that promises more memory than it has would end the program later.
pub(super) const LARGEST: usize = 1 << (usize::BITS / 16 * 11);
/// How many entries are asked at once whether one of them begins a position.
const BLOCK: usize = 64;

/// Builds one level after the other; `place` and `count` are those of the last one built.
pub(super) struct Build<'a, K> {
    keys: &'a [K],
    layout: &'a Layout,
    fields: &'a Fields,
    maxima: &'a [u64],
    chunks: Vec<Range<usize>>,
    /// The shortest prefix that each entry begins: its number of levels. The first entry begins the empty one.
    begins: Vec<u16>,
    /// `before[chunk][depth]`: how many prefixes of `depth` levels begin before a chunk; last, how many there are in all.
    before: Vec<Vec<usize>>,
    spare: Vec<Vec<u32>>,
    /// How entries find their position in the level above the next.
    place: Place,
    /// How many positions that level has.
    count: usize,
}

/// Vectors that are not needed any more: memory whose pages the system need not clear first.
pub(super) struct Spare {
    /// For arrays of levels.
    pub(super) indices: Vec<Vec<u32>>,
    /// For an element of each key; perhaps fewer.
    pub(super) short: Vec<u16>,
}

/// How an entry finds its position in a level.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    /// The prefix that makes a position: the number of levels that it has.
    prefix: usize,
    /// The prefix whose number is the position in the nearest level above that numbers its positions as they come. The
    /// empty prefix stands for the one position before all levels.
    numbered: usize,
    /// The dense levels between that level and this.
    dense: Vec<usize>,
}

impl<'a, K: Key> Build<'a, K> {
    pub(super) fn new(
        keys: &'a [K],
        layout: &'a Layout,
        fields: &'a Fields,
        maxima: &'a [u64],
        spare: Spare,
    ) -> Result<Self, OutOfMemory> {
        let chunks = tasks::ranges(keys.len(), tasks::GRAIN);
        let place = Place { prefix: 0, numbered: 0, dense: Vec::new() };
        let (begins, before) = shortest_prefixes(keys, layout, fields, &chunks, spare.short)?;
        let spare = spare.indices;
        Ok(Self { keys, layout, fields, maxima, chunks, begins, before, spare, place, count: 1 })
    }

    /// How many prefixes of so many levels there are.
    fn prefixes(&self, depth: usize) -> usize {
        self.before[self.chunks.len()][depth]
    }

    pub(super) fn levels(&mut self) -> Result<Vec<LevelArrays>, PackError> {
        (0..self.layout.depth()).map(|level| self.level(level)).collect()
    }

    fn level(&mut self, level: usize) -> Result<LevelArrays, PackError> {
        match self.layout.levels[level].kind {
            kind if kind.is_dense() => self.dense(level),
            kind if kind.is_compressed() => self.compressed(level),
            kind if kind.is_singleton() => self.singleton(level),
            _ => unreachable!("other levels are grown"),
        }
    }

    fn dense(&mut self, level: usize) -> Result<LevelArrays, PackError> {
        let extent = self.layout.extents[level];
        let too_large = PackError::TooLarge { level, count: self.count.saturating_mul(extent) };
        let count = self.count.checked_mul(extent).filter(|&count| count <= LARGEST);
        self.count = count.ok_or(too_large)?;
        self.place.prefix = level + 1;
        self.place.dense.push(level);
        Ok(LevelArrays::NONE)
    }

    fn compressed(&mut self, level: usize) -> Result<LevelArrays, PackError> {
        let format = self.layout.levels[level];
        let below = &self.layout.levels[level + 1..];
        let singletons = below.iter().take_while(|below| below.kind.is_singleton()).count();
        let prefix = level + 1 + if format.unique() { 0 } else { singletons };
        let count = self.prefixes(prefix);
        if count as u64 > format.positions().maximum() {
            return Err(PackError::PositionWidth { level, format, count: count as u64 });
        }
        check_coordinate_width(self.layout, self.maxima[level], level)?;
        let positions = with_width!(format.positions(), |P| self.fill_positions::<P>(level, prefix)?);
        let coordinates = with_width!(format.coordinates(), |C| self.append_coordinates::<C>(level, prefix)?);
        self.place = Place { prefix, numbered: prefix, dense: Vec::new() };
        self.count = count;
        Ok(LevelArrays::of(positions, coordinates))
    }

    fn singleton(&mut self, level: usize) -> Result<LevelArrays, PackError> {
        let (format, above, prefix) = (self.layout.levels[level], self.place.prefix, level + 1);
        if self.count > 0 && self.layout.extents[level] == 0 {
            return Err(PackError::NoCoordinate { level, mode: self.layout.modes[level] });
        }
        if prefix > above && self.prefixes(prefix) > self.prefixes(above) {
            return Err(PackError::Crowded { level, index: self.second_entry(above, prefix) });
        }
        if prefix < above && format.unique() && self.prefixes(prefix) < self.prefixes(above) {
            return Err(PackError::Repeated { level, index: self.second_entry(prefix, above) });
        }
        check_coordinate_width(self.layout, self.maxima[level], level)?;
        self.place.prefix = prefix.max(above);
        let coordinates = with_width!(format.coordinates(), |C| {
            if self.place.dense.is_empty() && self.prefixes(self.place.prefix) == self.count {
                self.append_coordinates::<C>(level, self.place.prefix)?
            } else {
                let coordinate = self.fields.reader::<K>(level);
                self.scatter(level, None, |entry| C::narrowed(coordinate(self.keys[entry])))?.into()
            }
        });
        Ok(LevelArrays::of_coordinates(coordinates))
    }

    /// The index of the first entry that begins a longer prefix within a shorter one.
    fn second_entry(&self, shorter: usize, longer: usize) -> Vec<usize> {
        let (shorter, longer) = (self.fields.prefix(shorter), self.fields.prefix(longer));
        let within = |pair: &&[K]| {
            let difference = pair[0].xor(pair[1]);
            !difference.reaches(shorter) && difference.reaches(longer)
        };
        let second = self.keys.windows(2).find(within).map(|pair| pair[1]);
        second.map_or_else(Vec::new, |key| self.fields.index(key, self.layout))
    }

    /// The values of the last level's positions, from those of the entries.
    ///
    /// Places without an entry hold `fill`, or zero.
    pub(super) fn values<T: Plain>(&self, values: Buffer<T>, fill: Option<T>) -> Result<Buffer<T>, PackError> {
        let last = self.layout.depth() - 1;
        // Positions ascend strictly from entry to entry: as many of them as entries are the entries in order.
        if self.count == values.len() {
            if !self.layout.levels[last].kind.is_dense() {
                return Ok(values);
            }
            let mut aligned = self.allocate(last, self.count)?;
            aligned.copy_from_slice(&values);
            return Ok(aligned);
        }
        self.scatter(last, fill, |entry| values[entry])
    }

    /// Where the children of each parent begin and end, for children that are numbered by `prefix`.
    fn fill_positions<P: Index>(&mut self, level: usize, prefix: usize) -> Result<IndexArray, PackError> {
        let mut positions = self.array::<P>(level, self.count.saturating_add(1))?;
        let this = &*self;
        let ends = this.ends();
        let (written, rest) = positions.split_at_mut(ends.last().copied().unwrap_or(0));
        let parts = split(written, &sizes(&ends));
        tasks::each(parts, &|chunk, part: &mut [P]| {
            if this.place.dense.is_empty() {
                return this.append_positions(chunk, part, prefix);
            }
            let begin = start(&ends, chunk);
            let mut next = 0;
            this.walk(chunk, prefix, |_, parent, children| {
                let end = parent + 1 - begin;
                part[next..end].fill(P::narrowed(children));
                next = end;
            });
        });
        let total = P::narrowed(this.prefixes(prefix));
        // Where there are no entries, zeros are there already, on pages that were not touched yet.
        if total != P::default() {
            tasks::each(rest.chunks_mut(1 << 20).collect(), &|_, rest| rest.fill(total));
        }
        Ok(P::wrap(positions))
    }

    /// Where the children of each parent that begins in a chunk begin. Parents are numbered as they come.
    fn append_positions<P: Index>(&self, chunk: usize, positions: &mut [P], prefix: usize) {
        let begins = &self.begins[self.chunks[chunk].clone()];
        let mut before = self.before[chunk][prefix];
        if positions.len() < begins.len() / 8 {
            let mut last = 0;
            append(positions, begins, self.place.prefix, |entry| {
                before += count_begins(&begins[last..entry], prefix);
                last = entry;
                P::narrowed(before)
            });
        } else {
            let mut out = 0;
            for &shortest in begins {
                if let Some(position) = positions.get_mut(out) {
                    *position = P::narrowed(before);
                }
                out += usize::from(usize::from(shortest) <= self.place.prefix);
                before += usize::from(usize::from(shortest) <= prefix);
            }
        }
    }

    /// The coordinates of a level whose positions are numbered by `prefix`.
    fn append_coordinates<C: Index>(&mut self, level: usize, prefix: usize) -> Result<IndexArray, PackError> {
        let mut coordinates = self.array::<C>(level, self.prefixes(prefix))?;
        let this = &*self;
        let counts: Vec<usize> = this.before.windows(2).map(|pair| pair[1][prefix] - pair[0][prefix]).collect();
        let coordinate = this.fields.reader::<K>(level);
        let parts = split(&mut coordinates, &counts);
        tasks::each(parts, &|chunk, part| {
            let chunk = this.chunks[chunk].clone();
            let keys = &this.keys[chunk.clone()];
            append(part, &this.begins[chunk], prefix, |entry| C::narrowed(coordinate(keys[entry])));
        });
        Ok(C::wrap(coordinates))
    }

    /// An element for each position, from the entry that begins it; zero where none does.
    fn scatter<T: Plain>(
        &self,
        level: usize,
        fill: Option<T>,
        element: impl Fn(usize) -> T + Sync,
    ) -> Result<Buffer<T>, PackError> {
        let mut elements = self.allocate::<T>(level, self.count)?;
        if let Some(fill) = fill {
            tasks::each(elements.chunks_mut(1 << 18).collect(), &|_, elements| elements.fill(fill));
        }
        let ends = self.ends();
        let parts = split(&mut elements, &sizes(&ends));
        tasks::each(parts, &|chunk, part| {
            let begin = start(&ends, chunk);
            self.walk(chunk, self.place.prefix, |entry, position, _| part[position - begin] = element(entry));
        });
        Ok(elements)
    }

    /// Room for indices, all of which will be written: a spare vector where one is about as large.
    fn array<I: Index>(&mut self, level: usize, count: usize) -> Result<Buffer<I>, PackError> {
        let fits = |spare: &Vec<u32>| count <= spare.len() && spare.len() / 2 <= count;
        if I::WIDTH == IndexWidth::U32
            && let Some(number) = self.spare.iter().position(fits)
        {
            let mut spare = self.spare.swap_remove(number);
            spare.truncate(count);
            spare.shrink_to_fit();
            if let Ok(indices) = bytemuck::allocation::try_cast_vec(spare) {
                return Ok(indices.into());
            }
        }
        self.allocate(level, count)
    }

    fn allocate<T: Plain>(&self, level: usize, count: usize) -> Result<Buffer<T>, PackError> {
        match count.checked_mul(size_of::<T>()) {
            Some(..=LARGEST) => Buffer::try_zeroed(count).map_err(|error: OutOfMemory| error.into()),
            _ => Err(PackError::TooLarge { level, count }),
        }
    }

    /// For each chunk, one past the position of its last entry in the level last built.
    fn ends(&self) -> Vec<usize> {
        let last = |(chunk, before): (&Range<usize>, &Vec<usize>)| {
            self.position(before[self.place.numbered] - 1, self.keys[chunk.end - 1]) + 1
        };
        self.chunks.iter().zip(&self.before[1..]).map(last).collect()
    }

    /// The position of a key in the level last built, from the number of its prefix.
    #[inline]
    fn position(&self, number: usize, key: K) -> usize {
        let step = |position, &level: &usize| position * self.layout.extents[level] + self.fields.reader(level)(key);
        self.place.dense.iter().fold(number, step)
    }

    /// For each entry of a chunk that begins a position in the level last built, calls `visit(entry, position, before)`, where
    /// `before` is how many prefixes of `counted` levels, no fewer than make a position, began before the entry.
    fn walk(&self, chunk: usize, counted: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let range = self.chunks[chunk].clone();
        let begins = &self.begins[range.clone()];
        let Place { prefix, numbered, .. } = self.place;
        let mut number = self.before[chunk][numbered];
        let before = self.before[chunk][counted];
        let mut visit = |place: usize, before: usize| {
            let entry = range.start + place;
            number += usize::from(usize::from(begins[place]) <= numbered);
            visit(entry, self.position(number - 1, self.keys[entry]), before);
        };
        let all_count = self.before[chunk + 1][counted] - before == begins.len();
        if all_count {
            for_each_begin(begins, prefix, |place| visit(place, before + place));
        } else {
            let mut before = before;
            for_each_begin(begins, counted, |place| {
                if usize::from(begins[place]) <= prefix {
                    visit(place, before);
                }
                before += 1;
            });
        }
    }
}

/// The shortest prefix that each key begins, and how many of each length begin before each chunk.
fn shortest_prefixes<K: Key>(
    keys: &[K],
    layout: &Layout,
    fields: &Fields,
    chunks: &[Range<usize>],
    mut begins: Vec<u16>,
) -> Result<(Vec<u16>, Vec<Vec<usize>>), OutOfMemory> {
    let depth = layout.depth();
    // By the highest bit in which two keys differ.
    let by_bit: Vec<u16> =
        (0..fields.bits).map(|bit| (0..=depth).filter(|&depth| fields.prefix(depth) > bit).count() as u16).collect();
    if begins.len() < keys.len() {
        begins = memory::try_zeroed(keys.len())?;
    }
    begins.truncate(keys.len());
    if let Some(first) = begins.first_mut() {
        *first = 0;
    }
    let mut counts: Vec<Vec<usize>> = vec![Vec::new(); chunks.len()];
    let sizes: Vec<usize> = chunks.iter().map(ExactSizeIterator::len).collect();
    let parts = split(&mut begins, &sizes).into_iter().zip(&mut counts).collect();
    tasks::each(parts, &|chunk, (begins, counts): (&mut [u16], &mut Vec<usize>)| {
        let begin = chunks[chunk].start;
        let rest = if begin == 0 { &mut begins[1..] } else { &mut *begins };
        for (shortest, pair) in rest.iter_mut().zip(keys[begin.saturating_sub(1)..].windows(2)) {
            let highest = pair[0].xor(pair[1]).highest_one();
            *shortest = highest.map_or(u16::MAX, |highest| by_bit[highest as usize]);
        }
        *counts = (0..=depth).map(|depth| count_begins(begins, depth)).collect();
    });
    let mut before = vec![vec![0; depth + 1]];
    for (chunk, counts) in counts.iter().enumerate() {
        before.push(before[chunk].iter().zip(counts).map(|(before, count)| before + count).collect());
    }
    Ok((begins, before))
}

/// How many entries begin a prefix.
fn count_begins(begins: &[u16], prefix: usize) -> usize {
    let prefix = prefix.min(usize::from(u16::MAX)) as u16;
    // Counts of few bits, which vector instructions hold many of.
    let count = |block: &[u16]| block.iter().map(|&shortest| u16::from(shortest <= prefix)).sum::<u16>();
    begins.chunks(usize::from(u16::MAX)).map(|block| usize::from(count(block))).sum()
}

/// Writes an element for each entry that begins a prefix.
fn append<E>(elements: &mut [E], begins: &[u16], prefix: usize, mut element: impl FnMut(usize) -> E) {
    if elements.len() == begins.len() {
        elements.iter_mut().enumerate().for_each(|(entry, place)| *place = element(entry));
    } else {
        let mut places = elements.iter_mut();
        for_each_begin(begins, prefix, |entry| {
            if let Some(place) = places.next() {
                *place = element(entry);
            }
        });
    }
}

/// Calls `visit` with the place of each entry that begins a prefix.
#[inline]
fn for_each_begin(begins: &[u16], prefix: usize, mut visit: impl FnMut(usize)) {
    let prefix = prefix.min(usize::from(u16::MAX)) as u16;
    for (block, begins) in begins.chunks(BLOCK).enumerate() {
        // All of a block at once, which vector instructions do.
        if !begins.iter().fold(false, |any, &shortest| any | (shortest <= prefix)) {
            continue;
        }
        // Listed first, without a branch to be mispredicted: what is no place is written over.
        let (mut places, mut count) = ([0; BLOCK], 0);
        for (place, &shortest) in (block * BLOCK..).zip(begins) {
            places[count % BLOCK] = place;
            count += usize::from(shortest <= prefix);
        }
        places[..count].iter().for_each(|&place| visit(place));
    }
}

/// Whether a level's coordinates fit their width; where it fills up, the largest number of the type is no coordinate.
pub(super) fn check_coordinate_width(layout: &Layout, coordinate: u64, level: usize) -> Result<(), PackError> {
    let format = layout.levels[level];
    let taken = u64::from(format.kind.has_vacancies());
    if coordinate > format.coordinates().maximum() - taken {
        return Err(PackError::CoordinateWidth { level, format, coordinate });
    }
    Ok(())
}

/// Where a chunk begins to write, by the ends of all.
fn start(ends: &[usize], chunk: usize) -> usize {
    chunk.checked_sub(1).map_or(0, |before| ends[before])
}

fn sizes(ends: &[usize]) -> Vec<usize> {
    ends.iter().enumerate().map(|(chunk, end)| end - start(ends, chunk)).collect()
}
