//! Entries as ascending keys, each once, with their values.

use super::super::layout::Layout;
use super::super::{Buffer, Element, Indices};
use super::key::{Fields, Key};
use super::{Duplicates, radix};
use rayon::prelude::*;

/// How many entries are made into keys at once: their keys stay in the first-level cache from mode to mode.
const BLOCK: usize = 1 << 11;
/// How many entries a task looks at.
const GRAIN: usize = 1 << 16;

/// The key of each entry.
pub(super) fn keys<K: Key>(indices: &[Indices], count: usize, layout: &Layout, fields: &Fields) -> Vec<K> {
    let mut keys: Vec<K> = bytemuck::allocation::zeroed_vec(count);
    keys.par_chunks_mut(BLOCK).with_min_len(GRAIN / BLOCK).enumerate().for_each(|(block, keys)| {
        let range = block * BLOCK..block * BLOCK + keys.len();
        for (level, &mode) in layout.modes.iter().enumerate() {
            match &indices[mode] {
                Indices::U32(column) => put(keys, &column[range.clone()], fields, level),
                Indices::U64(column) => put(keys, &column[range.clone()], fields, level),
            }
        }
    });
    keys
}

fn put<K: Key, I: Copy + Into<u64>>(keys: &mut [K], column: &[I], fields: &Fields, level: usize) {
    for (key, &index) in keys.iter_mut().zip(column) {
        *key = fields.put(*key, level, index.into());
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
            // Overlapping chunks, so that each pair of neighbours is in one.
            let starts = (0..keys.len()).into_par_iter().step_by(GRAIN);
            starts.all(|start| keys[start..keys.len().min(start + GRAIN + 1)].windows(2).all(right))
        };
        if ascends(true) {
            return Ok(Self { keys, values: values.into() });
        }
        let is_sorted = ascends(false);
        let pairs: Vec<(K, T)> = keys.into_par_iter().with_min_len(GRAIN).zip(values).collect();
        Self::join(if is_sorted { pairs } else { radix::sort(pairs) }, duplicates)
    }

    /// Joins neighbours of equal keys.
    fn join(pairs: Vec<(K, T)>, duplicates: Duplicates) -> Result<Self, K> {
        if duplicates == Duplicates::Refuse {
            let twice = pairs.par_windows(2).with_min_len(GRAIN).find_first(|pair| pair[0].0 == pair[1].0);
            if let Some(pair) = twice {
                return Err(pair[0].0);
            }
        }
        let chunks = chunks_between_keys(&pairs);
        let distinct = |chunk: &&[(K, T)]| chunk.chunk_by(|a, b| a.0 == b.0).count();
        let counts: Vec<usize> = chunks.par_iter().map(distinct).collect();
        let mut keys: Vec<K> = bytemuck::allocation::zeroed_vec(counts.iter().sum());
        let mut values = Buffer::<T>::zeroed(keys.len());
        let parts = super::build::split(&mut keys, &counts).into_par_iter();
        let parts = parts.zip(super::build::split(&mut values, &counts));
        parts.zip(chunks).for_each(|((keys, values), chunk)| {
            let mut out = 0;
            for (place, pair) in chunk.iter().enumerate() {
                if place > 0 && chunk[place - 1].0 == pair.0 {
                    values[out - 1] = values[out - 1].plus(pair.1);
                } else {
                    (keys[out], values[out]) = *pair;
                    out += 1;
                }
            }
        });
        Ok(Self { keys, values })
    }
}

/// Parts of about equal size; entries of equal keys are in one of them.
fn chunks_between_keys<K: Key, T>(mut pairs: &[(K, T)]) -> Vec<&[(K, T)]> {
    let mut chunks = Vec::new();
    while !pairs.is_empty() {
        let mut cut = pairs.len().min(GRAIN);
        while cut < pairs.len() && pairs[cut - 1].0 == pairs[cut].0 {
            cut += 1;
        }
        let (chunk, rest) = pairs.split_at(cut);
        chunks.push(chunk);
        pairs = rest;
    }
    chunks
}
