//! A stable radix sort of (key, value) pairs, in parallel.
//!
//! Large ranges are parted by their most significant digit: chunks are counted, a prefix sum says where each chunk's part
//! of each bucket goes, and chunks are moved there, all at once. Buckets are then sorted apart from each other; one that
//! fits a cache is sorted by its least significant digit first. Only bits in which keys differ at all make up digits.

use super::super::tasks;
use super::key::Key;
use bytemuck::Zeroable;
use std::slice::IterMut;

/// The bits of a digit.
const DIGIT: u32 = 8;
const BUCKETS: usize = 1 << DIGIT;
/// Ranges of at most this many items are sorted by comparison.
const SMALL: usize = 192;
/// Ranges of at most this many items are sorted by one thread, in its cache.
const LOCAL: usize = 1 << 16;

/// Sorts by key; items of equal keys keep their order.
pub(super) fn sort<K: Key, V: Copy + Zeroable + Send + Sync>(mut items: Vec<(K, V)>) -> Vec<(K, V)> {
    if items.len() <= SMALL {
        items.sort_by_key(|item| item.0);
        return items;
    }
    let digits = digits(varying(&items));
    let mut workspace = bytemuck::allocation::zeroed_vec(items.len());
    sort_range(&mut items, &mut workspace, &digits, Target::Here);
    items
}

/// Where the items of a range must end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// Where they are.
    Here,
    /// In the other range.
    There,
}

impl Target {
    /// The same place, seen from the other range.
    fn seen_from_there(self) -> Self {
        match self {
            Target::Here => Target::There,
            Target::There => Target::Here,
        }
    }
}

/// The bits in which keys differ.
fn varying<K: Key, V: Copy + Send + Sync>(items: &[(K, V)]) -> K {
    let first = items[0].0;
    let bits = tasks::map(&tasks::ranges(items.len(), LOCAL), &|range| {
        items[range].iter().fold(K::zeroed(), |bits, item| bits.or(item.0.xor(first)))
    });
    bits.into_iter().fold(K::zeroed(), K::or)
}

/// The lowest bits of digits that cover the given ones, the most significant first.
fn digits<K: Key>(mut bits: K) -> Vec<u32> {
    let mut digits = Vec::new();
    while let Some(highest) = bits.highest_one() {
        let shift = (highest + 1).saturating_sub(DIGIT);
        digits.push(shift);
        bits = below(bits, shift);
    }
    digits
}

/// The bits below `shift`.
fn below<K: Key>(bits: K, shift: u32) -> K {
    let mut lower = K::zeroed();
    let mut begin = 0;
    while begin < shift {
        let width = (shift - begin).min(64);
        lower = lower.with(bits.bits_from(begin) & (u64::MAX >> (64 - width)), begin);
        begin += width;
    }
    lower
}

fn digit<K: Key>(key: K, shift: u32) -> usize {
    key.bits_from(shift) as usize % BUCKETS
}

type Counts = [usize; BUCKETS];

fn count<K: Key, V>(items: &[(K, V)], shift: u32) -> Counts {
    let mut counts = [0; BUCKETS];
    for item in items {
        counts[digit(item.0, shift)] += 1;
    }
    counts
}

/// Sorts `here` by the given digits; `there` is as long.
fn sort_range<K: Key, V: Copy + Send + Sync>(
    here: &mut [(K, V)],
    there: &mut [(K, V)],
    digits: &[u32],
    target: Target,
) {
    if digits.is_empty() || here.len() <= SMALL {
        if !digits.is_empty() {
            here.sort_by_key(|item| item.0);
        }
        if target == Target::There {
            there.copy_from_slice(here);
        }
    } else if here.len() <= LOCAL {
        sort_locally(here, there, digits, target);
    } else {
        sort_by_parts(here, there, digits, target);
    }
}

/// By the least significant digit first.
fn sort_locally<K: Key, V: Copy>(here: &mut [(K, V)], there: &mut [(K, V)], digits: &[u32], target: Target) {
    let (mut from, mut to, mut target) = (here, there, target);
    for &shift in digits.iter().rev() {
        let counts = count(from, shift);
        if counts.contains(&from.len()) {
            continue;
        }
        move_to_buckets(from, &mut streams(to, &counts), shift);
        (from, to) = (to, from);
        target = target.seen_from_there();
    }
    if target == Target::There {
        to.copy_from_slice(from);
    }
}

/// By the most significant digit, then each bucket by the rest.
fn sort_by_parts<K: Key, V: Copy + Send + Sync>(
    here: &mut [(K, V)],
    there: &mut [(K, V)],
    digits: &[u32],
    target: Target,
) {
    let (shift, digits) = (digits[0], &digits[1..]);
    let chunk = here.len().div_ceil(2 * rayon::current_num_threads()).max(LOCAL);
    let chunks = tasks::ranges(here.len(), chunk);
    let items = &*here;
    let counts = tasks::map(&chunks, &|range| count(&items[range], shift));
    let totals: Counts = std::array::from_fn(|bucket| counts.iter().map(|counts| counts[bucket]).sum());
    if totals.contains(&here.len()) {
        return sort_range(here, there, digits, target);
    }
    let mut streams: Vec<Vec<IterMut<'_, (K, V)>>> = counts.iter().map(|_| Vec::with_capacity(BUCKETS)).collect();
    let mut rest = &mut *there;
    for bucket in 0..BUCKETS {
        for (streams, counts) in streams.iter_mut().zip(&counts) {
            let part = rest.split_off_mut(..counts[bucket]).expect("counts add up");
            streams.push(part.iter_mut());
        }
    }
    tasks::each(streams, &|task, mut streams| move_to_buckets(&items[chunks[task].clone()], &mut streams, shift));

    let (mut here, mut there) = (here, there);
    let mut buckets = Vec::with_capacity(BUCKETS);
    for total in totals {
        let parts = (here.split_off_mut(..total), there.split_off_mut(..total));
        if let (Some(here @ [_, ..]), Some(there)) = parts {
            buckets.push((here, there));
        }
    }
    tasks::each(buckets, &|_, (here, there)| sort_range(there, here, digits, target.seen_from_there()));
}

/// Cuts a range into buckets of the given sizes.
fn streams<'a, I>(mut items: &'a mut [I], counts: &Counts) -> Vec<IterMut<'a, I>> {
    counts.iter().map(|&count| items.split_off_mut(..count).expect("counts add up").iter_mut()).collect()
}

fn move_to_buckets<K: Key, V: Copy>(items: &[(K, V)], streams: &mut [IterMut<'_, (K, V)>], shift: u32) {
    let streams: &mut [IterMut<'_, (K, V)>; BUCKETS] = streams.try_into().expect("there is a stream for each bucket");
    for item in items {
        if let Some(place) = streams[digit(item.0, shift)].next() {
            *place = *item;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::Wide;
    use super::*;
    use proptest::prelude::*;

    /// Keys made of the 64-bit ones of a case, spread over the bits of `K`.
    fn sorts<K: Key + std::fmt::Debug>(keys: &[u64]) {
        let top = K::BITS - 64;
        let key = |key: u64| K::zeroed().with(key, top / 2).with(key >> 40, top.min(64));
        let items: Vec<(K, u32)> = keys.iter().map(|&number| key(number)).zip(0..).collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        assert!(sort(items) == expected);
    }

    fn sorts_in_every_width(keys: &[u64]) {
        sorts::<u64>(keys);
        sorts::<u128>(keys);
        sorts::<Wide>(keys);
    }

    /// A multiplicative scramble: as good as random here, and the same everywhere.
    fn scrambled(count: u64) -> Vec<u64> {
        (0..count).map(|number| (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)).collect()
    }

    #[test]
    fn sorts_random_sorted_and_reversed_keys_of_every_length() {
        for count in [0, 1, 2, SMALL, SMALL + 1, 1000, LOCAL, LOCAL + 1, 100_000] {
            let mut keys = scrambled(count as u64);
            sorts_in_every_width(&keys);
            keys.sort_unstable();
            sorts_in_every_width(&keys);
            keys.reverse();
            sorts_in_every_width(&keys);
        }
    }

    #[test]
    fn keeps_the_order_of_equal_keys() {
        for distinct in [1, 2, 3, 300] {
            let keys: Vec<u64> = scrambled(100_000).into_iter().map(|key| (key % distinct) << 17).collect();
            sorts_in_every_width(&keys);
        }
    }

    #[test]
    fn sorts_keys_that_crowd_into_one_bucket() {
        let keys: Vec<u64> =
            scrambled(200_000).into_iter().map(|key| if key % 100 == 0 { key } else { key >> 44 }).collect();
        sorts_in_every_width(&keys);
    }

    #[test]
    fn digits_cover_the_varying_bits_only() {
        assert_eq!(digits(0u64), []);
        assert_eq!(digits(0x00FF_0000_0000_0001u64), [48, 0]);
        assert_eq!(digits(0b11u64 << 9), [3]);
        assert_eq!(digits(1u128 << 127 | 1 << 64), [120, 57]);
    }

    proptest! {
        #[test]
        fn sorts_anything(keys in prop::collection::vec(0..=u64::MAX, 0..2000), shift in 0u32..64) {
            let keys: Vec<u64> = keys.into_iter().map(|key| key >> shift).collect();
            sorts::<u64>(&keys);
            sorts::<u128>(&keys);
        }
    }
}
