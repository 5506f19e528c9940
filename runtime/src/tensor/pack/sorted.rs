//! Entries as ascending keys, each once, with their values.

use super::super::column::Column;
use super::super::layout::Layout;
use super::super::tasks::{self, GRAIN, split};
use super::super::{Buffer, Indices, OutOfMemory};
use super::key::{Fields, Key};
use super::order::Survey;
use super::{Raw, Together, deal, order, radix};
use crate::memory;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many entries are made into keys at once: their keys stay in the first-level cache from mode to mode.
const BLOCK: usize = 1 << 11;

/// What keys are made from.
pub(super) struct Source<'a> {
    /// Those of each mode.
    pub(super) indices: &'a [Indices],
    pub(super) layout: &'a Layout,
    pub(super) fields: &'a Fields,
}

impl Source<'_> {
    /// The key of each entry, and what neighbours tell.
    pub(super) fn keys<K: Key>(&self, count: usize) -> Result<(Vec<K>, Survey<K>), OutOfMemory> {
        let mut keys: Vec<K> = memory::try_zeroed(count)?;
        let mut surveys = vec![Survey::none(); count.div_ceil(GRAIN)];
        let parts = keys.chunks_mut(GRAIN).zip(&mut surveys).collect();
        tasks::each(parts, &|task, (keys, survey): (&mut [K], &mut Survey<K>)| {
            for begin in (0..keys.len()).step_by(BLOCK) {
                let end = keys.len().min(begin + BLOCK);
                let (block, range) = (&mut keys[begin..end], task * GRAIN + begin..task * GRAIN + end);
                if self.layout.stores_modes() {
                    self.put_modes(block, range, 0);
                } else {
                    self.put_computed(block, range);
                }
                *survey = survey.and(&keys[begin.saturating_sub(1)..end]);
            }
        });
        let between = (GRAIN..count).step_by(GRAIN).map(|begin| Survey::none().and(&keys[begin - 1..=begin]));
        let survey = surveys.iter().copied().chain(between).fold(Survey::none(), Survey::or);
        Ok((keys, survey))
    }

    /// Puts what levels store into keys, where that is a mode each: at least the bits from `from` on.
    fn put_modes<K: Key>(&self, keys: &mut [K], range: Range<usize>, from: u32) {
        let Self { indices, layout, fields } = self;
        for (level, &mode) in layout.modes.iter().enumerate().filter(|(level, _)| fields.reaches(*level, from)) {
            match &indices[mode] {
                Indices::U32(column) => {
                    fields.put(keys, level, column[range.clone()].iter().map(|&index| index.into()));
                }
                Indices::U64(column) => fields.put(keys, level, column[range.clone()].iter().copied()),
            }
        }
    }

    /// Puts what levels store into keys, where that is computed from modes.
    fn put_computed<K: Key>(&self, keys: &mut [K], range: Range<usize>) {
        let Self { indices, layout, fields } = self;
        let column = |indices: &Indices| match indices {
            Indices::U32(column) => Column::of(column[range.clone()].iter().map(|&index| index.into()).collect()),
            Indices::U64(column) => Column::of(column[range.clone()].to_vec()),
        };
        let index: Vec<Column> = indices.iter().map(column).collect();
        for level in 0..layout.depth() {
            match layout.stored_column(level, &index) {
                Column::Constant(coordinate) => fields.put(keys, level, std::iter::repeat(coordinate)),
                Column::Values(coordinates) => fields.put(keys, level, coordinates.iter().copied()),
            }
        }
    }
}

/// Keys that ascend strictly, and the value of each.
pub(super) struct Sorted<K, B> {
    pub(super) keys: Vec<K>,
    pub(super) values: Buffer<B>,
    /// Memory that is not needed any more, of as many elements as there are keys or more; perhaps of none.
    pub(super) spare: Vec<u16>,
}

/// Why entries can't be joined.
pub(super) enum Clash<K> {
    /// A key that occurs twice, where that is refused.
    Duplicate(K),
    /// A key whose values have no sum.
    Overflow(K),
    Memory(OutOfMemory),
}

impl<K> From<OutOfMemory> for Clash<K> {
    fn from(error: OutOfMemory) -> Self {
        Clash::Memory(error)
    }
}

impl<K: Key, B: Raw> Sorted<K, B> {
    /// Sorts entries and joins those of equal keys.
    pub(super) fn new(source: &Source<'_>, mut values: Vec<B>, together: Together<'_, B>) -> Result<Self, Clash<K>> {
        let Source { indices, layout, fields } = *source;
        let count = values.len();
        let settled = || if layout.stores_modes() { order::settled_below(indices, &layout.modes, fields) } else { 0 };
        let put = |keys: &mut [K], range: Range<usize>, from: u32| source.put_modes(keys, range, from);
        let (mut keys, repeat, spare);
        // Computed keys take too long to be made twice.
        let end = if layout.stores_modes() && fields.are_together() { deal::end(count, &put) } else { None };
        if let Some(end) = end {
            let settled = settled();
            let mut dealt = deal::deal(&put, values, settled..end)?;
            let rest = settled..dealt.shift;
            repeat = radix::sort_groups(&mut dealt.keys, &mut dealt.values, &dealt.sizes, rest)?;
            (keys, values, spare) = (dealt.keys, dealt.values, dealt.spare);
        } else {
            let survey;
            (keys, survey) = source.keys(count)?;
            spare = Vec::new();
            if survey.ascend_from() > 0 {
                repeat = radix::sort(&mut keys, &mut values, settled()..survey.ascend_from())?;
            } else {
                repeat = survey.repeat;
            }
        }
        if !repeat {
            return Ok(Self { keys, values: values.into(), spare });
        }
        let (keys, values) = Self::join(&keys, &values, together)?;
        Ok(Self { keys, values, spare })
    }

    /// Joins neighbours of equal keys.
    fn join(keys: &[K], values: &[B], together: Together<'_, B>) -> Result<(Vec<K>, Buffer<B>), Clash<K>> {
        let Some(together) = together else {
            let twice = keys.windows(2).find(|pair| pair[0] == pair[1]);
            return Err(Clash::Duplicate(twice.map_or(keys[0], |pair| pair[0])));
        };
        let chunks = chunks_between_keys(keys);
        let counts = tasks::map(&chunks, &|chunk| keys[chunk].chunk_by(|a, b| a == b).count());
        let mut joined: Vec<K> = memory::try_zeroed(counts.iter().sum())?;
        let mut sums = Buffer::<B>::try_zeroed(joined.len())?;
        let parts = split(&mut joined, &counts).into_iter().zip(split(&mut sums, &counts)).collect();
        let overflow = AtomicUsize::new(usize::MAX);
        tasks::each(parts, &|task, (joined, sums): (&mut [K], &mut [B])| {
            let mut entry = chunks[task].start;
            let groups = keys[chunks[task].clone()].chunk_by(|a, b| a == b);
            for ((key, sum), group) in joined.iter_mut().zip(sums).zip(groups) {
                let equal = &values[entry..entry + group.len()];
                *key = group[0];
                match equal {
                    [only] => *sum = *only,
                    _ => match together(equal) {
                        Some(joined) => *sum = joined,
                        None => _ = overflow.fetch_min(entry, Ordering::Relaxed),
                    },
                }
                entry += group.len();
            }
        });
        match keys.get(overflow.into_inner()) {
            Some(&key) => Err(Clash::Overflow(key)),
            None => Ok((joined, sums)),
        }
    }
}

/// Parts of about equal size; entries of equal keys are in one of them.
fn chunks_between_keys<K: Key>(keys: &[K]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    while begin < keys.len() {
        let mut end = keys.len().min(begin + GRAIN);
        while end < keys.len() && keys[end - 1] == keys[end] {
            end += 1;
        }
        chunks.push(begin..end);
        begin = end;
    }
    chunks
}
