//! Entries dealt out by the most significant digit of their keys, whose keys were not stored before.
//!
//! Where entries come in no order that is of use, they are moved anyway: keys need not be written down first. Digits are
//! counted, a prefix sum says where each chunk's part of each digit goes, values are moved there, and then keys, into the memory
//! that values came from where both take as many bytes. Fresh memory, which the system has to find and to clear, is that of the
//! values and of two bytes an entry.
//!
//! ```text
//! (i, j, k)    value     digit        keys       values
//! (0, 3, 1)    5.0       1            0 0 2      3.0
//! (0, 0, 2)    3.0       0      ─▶    0 3 0      7.0
//! (1, 0, 3)    7.0       0            3 1 0      5.0
//! ```

use super::super::tasks::{self, split};
use super::key::Key;
use super::order::Survey;
use super::radix::{Value, streams};
use crate::memory::try_zeroed;
use crate::tensor::OutOfMemory;
use bytemuck::Pod;
use std::ops::Range;
use std::slice::IterMut;

/// Entries of one digit are about so many, by their logarithm: a near cache holds them twice.
const BUCKET: u32 = 11;
/// The most bits of a digit, and the fewest that are worth to deal entries out.
const WIDEST: u32 = 10;
const FEWEST: u32 = 4;
/// How many entries are made into keys at once.
const BLOCK: usize = 1 << 11;

/// Puts at least the bits from one on of the keys of a range of entries into zeros.
pub(super) type Put<'a, K> = dyn Fn(&mut [K], Range<usize>, u32) + Sync + 'a;

/// Keys and values, those of the least digit first; of one digit in the order that they came in.
pub(super) struct Dealt<K, V> {
    pub(super) keys: Vec<K>,
    pub(super) values: Vec<V>,
    /// How many there are of each digit.
    pub(super) sizes: Vec<usize>,
    /// The lowest bit of the digit.
    pub(super) shift: u32,
    /// Memory of as many elements that is not needed any more.
    pub(super) spare: Vec<u16>,
}

/// One past the highest bit in which keys seem to vary, by some of them, where they are worth to be dealt out: where those that
/// agree in the bits that ascend already are too many to be sorted where they are.
pub(super) fn end<K: Key>(count: usize, put: &Put<'_, K>) -> Option<u32> {
    const SAMPLES: usize = 64;
    const NEIGHBOURS: usize = 16;
    let most = (count.checked_ilog2()?).checked_sub(BUCKET + FEWEST)?;
    let (mut all, mut keys) = (Vec::new(), [K::zeroed(); NEIGHBOURS]);
    for begin in (0..count - NEIGHBOURS).step_by(count / SAMPLES) {
        keys.fill(K::zeroed());
        put(&mut keys, begin..begin + NEIGHBOURS, 0);
        all.extend(keys);
    }
    // Where one of two that are no neighbours is less than the one before it, so is one of two neighbours between them.
    let (from, end) = (Survey::none().and(&all).ascend_from(), varying(&all, all[0]).highest_one()? + 1);
    (from > 0 && end - from <= most).then_some(end)
}

/// Deals entries out. `bits` are those that they must be sorted by, up to what [`end`] says.
pub(super) fn deal<K: Key, V: Value + Pod>(
    put: &Put<'_, K>,
    values: Vec<V>,
    bits: Range<u32>,
) -> Result<Dealt<K, V>, OutOfMemory> {
    let count = values.len();
    let chunks = tasks::ranges(count, count.div_ceil(2 * rayon::current_num_threads()));
    let lengths: Vec<usize> = chunks.iter().map(ExactSizeIterator::len).collect();
    let mut digits: Vec<u16> = try_zeroed(count)?;
    let mut end = bits.end;
    let (shift, counts) = loop {
        let all_bits = end.saturating_sub(bits.start);
        let width = if all_bits <= WIDEST { all_bits } else { WIDEST.min(count.ilog2().saturating_sub(BUCKET)) };
        let shift = end - width;
        let buckets = 1 << width;
        let mut first = [K::zeroed()];
        put(&mut first, 0..1, shift);
        let mut counted: Vec<(Vec<usize>, K)> = vec![(vec![0; buckets], K::zeroed()); chunks.len()];
        let parts = split(&mut digits, &lengths).into_iter().zip(&mut counted).collect();
        tasks::each(parts, &|task, (digits, (counts, differing)): (&mut [u16], &mut (Vec<usize>, K))| {
            let mut digits = digits.iter_mut();
            each_block(put, chunks[task].clone(), shift, |keys| {
                *differing = differing.or(varying(keys, first[0]));
                for (key, digit) in keys.iter().zip(&mut digits) {
                    *digit = (key.bits_from(shift) as usize & (buckets - 1)) as u16;
                    counts[usize::from(*digit)] += 1;
                }
            });
        });
        let highest = counted.iter().fold(K::zeroed(), |all, counted| all.or(counted.1)).highest_one();
        match highest {
            // Some were no sample of this.
            Some(highest) if highest >= end => end = highest + 1,
            _ => break (shift, counted.into_iter().map(|counted| counted.0).collect::<Vec<_>>()),
        }
    };

    let mut moved: Vec<V> = try_zeroed(count)?;
    tasks::each(streams(&mut moved, &counts), &|task, mut streams| {
        let chunk = chunks[task].clone();
        digits[chunk.clone()]
            .iter()
            .zip(&values[chunk])
            .for_each(|(&digit, &value)| append(&mut streams, digit, value));
    });
    let in_place = bytemuck::allocation::try_cast_vec(values).ok().filter(|keys: &Vec<K>| keys.len() == count);
    let mut keys = in_place.map_or_else(|| try_zeroed(count), Ok)?;
    tasks::each(streams(&mut keys, &counts), &|task, mut streams| {
        let chunk = chunks[task].clone();
        let mut digits = digits[chunk.clone()].iter();
        each_block(put, chunk, 0, |keys| {
            keys.iter().zip(&mut digits).for_each(|(&key, &digit)| append(&mut streams, digit, key));
        });
    });
    let sizes = (0..counts[0].len()).map(|digit| counts.iter().map(|counts| counts[digit]).sum()).collect();
    Ok(Dealt { keys, values: moved, sizes, shift, spare: digits })
}

/// Where some keys differ from another.
fn varying<K: Key>(keys: &[K], from: K) -> K {
    keys.iter().fold(K::zeroed(), |differing, key| differing.or(key.xor(from)))
}

/// Makes the keys of a range, in the first-level cache.
fn each_block<K: Key>(put: &Put<'_, K>, range: Range<usize>, from: u32, mut work: impl FnMut(&[K])) {
    let mut keys = vec![K::zeroed(); BLOCK.min(range.len())];
    for begin in range.clone().step_by(BLOCK) {
        let block = begin..range.end.min(begin + BLOCK);
        let keys = &mut keys[..block.len()];
        keys.fill(K::zeroed());
        put(keys, block, from);
        work(keys);
    }
}

fn append<E>(streams: &mut [IterMut<'_, E>], digit: u16, element: E) {
    if let Some(place) = streams[usize::from(digit)].next() {
        *place = element;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A multiplicative scramble: as good as random here, and the same everywhere.
    fn scrambled(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|number| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29))
    }

    fn deals(keys: &[u64], settled: u32) {
        let put = |places: &mut [u64], range: Range<usize>, from: u32| {
            places.iter_mut().zip(&keys[range]).for_each(|(place, key)| *place |= key >> from << from);
        };
        let end = end(keys.len(), &put).unwrap();
        let dealt = deal(&put, (0..keys.len() as u64).collect(), settled..end).unwrap();
        assert!(dealt.shift >= settled && dealt.spare.len() == keys.len());
        let mut expected: Vec<(u64, u64)> = keys.iter().copied().zip(0..).collect();
        expected.sort_by_key(|(key, _)| key >> dealt.shift);
        let sizes: Vec<usize> =
            expected.chunk_by(|a, b| a.0 >> dealt.shift == b.0 >> dealt.shift).map(<[_]>::len).collect();
        assert!(dealt.sizes.into_iter().filter(|&size| size > 0).eq(sizes));
        assert!(dealt.keys.into_iter().zip(dealt.values).eq(expected));
    }

    #[test]
    fn entries_come_by_digit_and_else_as_they_came() {
        let mut keys: Vec<u64> = scrambled(70_000).map(|key| key >> 30).collect();
        deals(&keys, 0);
        deals(&keys, 29);
        // No sample has this bit.
        keys[20] |= 1 << 50;
        deals(&keys, 0);
    }

    #[test]
    fn what_ascends_is_sorted_where_it_is() {
        let end_of = |keys: &[u64]| {
            end(keys.len(), &|places: &mut [u64], range: Range<usize>, _| places.copy_from_slice(&keys[range]))
        };
        let mut keys: Vec<u64> = scrambled(70_000).collect();
        assert_eq!(end_of(&keys[..1000]), None);
        assert_eq!(end_of(&keys), Some(64));
        keys.sort_unstable_by_key(|key| key >> 60);
        assert_eq!(end_of(&keys), None);
        keys.sort_unstable();
        assert_eq!(end_of(&keys), None);
        assert_eq!(end_of(&[]), None);
        assert_eq!(end_of(&[3; 70_000]), None);
    }
}
