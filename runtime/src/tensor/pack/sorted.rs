//! Entries as ascending keys, each once, with their values.

use super::super::column::Column;
use super::super::layout::Layout;
use super::super::tasks::{self, split};
use super::super::{Buffer, Element, Indices};
use super::key::{Fields, Key};
use super::{Duplicates, radix};
use std::ops::Range;

/// How many entries are made into keys at once: their keys stay in the first-level cache from mode to mode.
const BLOCK: usize = 1 << 11;
/// How many entries a task looks at.
const GRAIN: usize = 1 << 16;

/// The key of each entry.
pub(super) fn keys<K: Key>(indices: &[Indices], count: usize, layout: &Layout, fields: &Fields) -> Vec<K> {
    let mut keys: Vec<K> = bytemuck::allocation::zeroed_vec(count);
    tasks::each(keys.chunks_mut(GRAIN).collect(), &|task, keys| {
        for (block, keys) in keys.chunks_mut(BLOCK).enumerate() {
            let begin = task * GRAIN + block * BLOCK;
            let range = begin..begin + keys.len();
            if layout.stores_modes() {
                put_modes(keys, indices, range, layout, fields);
            } else {
                put_computed(keys, indices, range, layout, fields);
            }
        }
    });
    keys
}

/// Puts what levels store into keys, where that is a mode each.
fn put_modes<K: Key>(keys: &mut [K], indices: &[Indices], range: Range<usize>, layout: &Layout, fields: &Fields) {
    for (level, &mode) in layout.modes.iter().enumerate() {
        match &indices[mode] {
            Indices::U32(column) => fields.put(keys, level, column[range.clone()].iter().map(|&index| index.into())),
            Indices::U64(column) => fields.put(keys, level, column[range.clone()].iter().copied()),
        }
    }
}

/// Puts what levels store into keys, where that is computed from modes.
fn put_computed<K: Key>(keys: &mut [K], indices: &[Indices], range: Range<usize>, layout: &Layout, fields: &Fields) {
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

/// Keys that ascend strictly, and the value of each.
pub(super) struct Sorted<K, T> {
    pub(super) keys: Vec<K>,
    pub(super) values: Buffer<T>,
}

impl<K: Key, T: Element> Sorted<K, T> {
    /// Sorts entries unless they are, and joins those of equal keys.
    ///
    /// # Errors
    /// A key that occurs twice, where that is refused.
    pub(super) fn new(keys: Vec<K>, values: Vec<T>, duplicates: Duplicates) -> Result<Self, K> {
        let ascends = |strictly: bool| {
            let right = |pair: &[K]| if strictly { pair[0] < pair[1] } else { pair[0] <= pair[1] };
            // With one key more than the range, so that each pair of neighbours is in one.
            let descends = |range: Range<usize>| {
                let keys = &keys[range.start..keys.len().min(range.end + 1)];
                (!keys.windows(2).all(right)).then_some(())
            };
            tasks::first(&tasks::ranges(keys.len(), GRAIN), &descends).is_none()
        };
        if ascends(true) {
            return Ok(Self { keys, values: values.into() });
        }
        let is_sorted = ascends(false);
        let mut pairs: Vec<(K, T::Integer)> = bytemuck::allocation::zeroed_vec(keys.len());
        tasks::each(pairs.chunks_mut(GRAIN).collect(), &|task, pairs| {
            let begin = task * GRAIN;
            for (pair, (&key, &value)) in pairs.iter_mut().zip(keys[begin..].iter().zip(&values[begin..])) {
                *pair = (key, bytemuck::cast(value));
            }
        });
        drop((keys, values));
        Self::join(if is_sorted { pairs } else { radix::sort(pairs) }, duplicates)
    }

    /// Joins neighbours of equal keys.
    fn join(pairs: Vec<(K, T::Integer)>, duplicates: Duplicates) -> Result<Self, K> {
        if duplicates == Duplicates::Refuse {
            let twice = tasks::first(&tasks::ranges(pairs.len(), GRAIN), &|range| {
                let pairs = &pairs[range.start..pairs.len().min(range.end + 1)];
                pairs.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0)
            });
            if let Some(key) = twice {
                return Err(key);
            }
        }
        let chunks = chunks_between_keys(&pairs);
        let counts = tasks::map(&chunks, &|chunk| pairs[chunk].chunk_by(|a, b| a.0 == b.0).count());
        let mut keys: Vec<K> = bytemuck::allocation::zeroed_vec(counts.iter().sum());
        let mut values = Buffer::<T>::zeroed(keys.len());
        let parts = split(&mut keys, &counts).into_iter().zip(split(&mut values, &counts)).collect();
        tasks::each(parts, &|task, (keys, values): (&mut [K], &mut [T])| {
            let chunk = &pairs[chunks[task].clone()];
            let mut out = 0;
            for (place, &(key, bits)) in chunk.iter().enumerate() {
                let value: T = bytemuck::checked::cast(bits);
                if place > 0 && chunk[place - 1].0 == key {
                    values[out - 1] = duplicates.join(values[out - 1], value);
                } else {
                    (keys[out], values[out]) = (key, value);
                    out += 1;
                }
            }
        });
        Ok(Self { keys, values })
    }
}

/// Parts of about equal size; entries of equal keys are in one of them.
fn chunks_between_keys<K: Key, V>(pairs: &[(K, V)]) -> Vec<Range<usize>> {
    let mut chunks = Vec::new();
    let mut begin = 0;
    while begin < pairs.len() {
        let mut end = pairs.len().min(begin + GRAIN);
        while end < pairs.len() && pairs[end - 1].0 == pairs[end].0 {
            end += 1;
        }
        chunks.push(begin..end);
        begin = end;
    }
    chunks
}
