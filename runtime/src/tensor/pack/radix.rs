//! A stable radix sort of keys, their values beside them, in parallel.
//!
//! Only what is left to sort is sorted: the bits between those in which keys ascend already and those that follow from the
//! order that entries come in. Where the upper bits ascend, entries that agree in them are a group of their own, and groups
//! are sorted where they are. A group that no cache holds is parted by its most significant digit: chunks are counted, a
//! prefix sum says where each chunk's part of each bucket goes, and chunks are moved there, all at once. What a cache holds
//! is sorted by one or two digits, as wide as need be, the least significant first, but only by as many of its upper bits as tell
//! most entries apart; the few that agree in those are inserted in their place.

use super::super::OutOfMemory;
use super::super::tasks::{self, split};
use super::key::Key;
use crate::memory;
use bytemuck::Zeroable;
use std::ops::{Range, RangeInclusive};
use std::slice::IterMut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The bits of the digit that what no cache holds is parted by.
const DIGIT: u32 = 8;
const BUCKETS: usize = 1 << DIGIT;
/// The most bits of each of the two digits that what a cache holds is sorted by, and of the only one.
const WIDEST: u32 = 11;
const FINE: u32 = 12;
/// Ranges of at most this many items are sorted by insertion.
const SMALL: usize = 32;
/// Ranges of at most this many items are sorted by one thread, in its cache.
const LOCAL: usize = 1 << 17;
/// About how many items that are sorted already in their upper bits are looked at together.
const GRAIN: usize = 1 << 13;

/// What is moved along with keys.
pub(super) trait Value: Copy + Zeroable + Send + Sync {}

impl<V: Copy + Zeroable + Send + Sync> Value for V {}

/// Sorts keys, and values along with them, by a range of bits; those of equal bits keep their order. Keys must ascend already
/// in the bits above. Returns whether two keys are equal.
///
/// # Errors
/// Too little memory, and then keys are in no order.
pub(super) fn sort<K: Key, V: Value>(keys: &mut [K], values: &mut [V], bits: Range<u32>) -> Result<bool, OutOfMemory> {
    let sizes = groups(keys, bits.end);
    sort_groups(keys, values, &sizes, bits)
}

/// Sorts neighbouring groups of keys as [`sort`] does, each by itself: no key occurs in two of them.
pub(super) fn sort_groups<K: Key, V: Value>(
    keys: &mut [K],
    values: &mut [V],
    sizes: &[usize],
    bits: Range<u32>,
) -> Result<bool, OutOfMemory> {
    let short = AtomicBool::new(false);
    let (scratch, repeat) = (Scratch::default(), AtomicBool::new(false));
    let parts = split(keys, sizes).into_iter().zip(split(values, sizes)).collect();
    tasks::each(parts, &|_, (keys, values): (&mut [K], &mut [V])| {
        if keys.len() > LOCAL {
            let Ok(mut items) = memory::try_zeroed(keys.len()) else { return short.store(true, Ordering::Relaxed) };
            sort_by_parts(Part { keys: &mut *keys, values, items: &mut items }, bits.clone(), &scratch);
        } else {
            scratch.lend(|items| sort_locally(keys, values, items, bits.clone()));
        }
        if keys.windows(2).fold(false, |repeat, pair| repeat | (pair[0] == pair[1])) {
            repeat.store(true, Ordering::Relaxed);
        }
    });
    match short.into_inner() {
        true => Err(OutOfMemory { length: keys.len(), size: size_of::<(K, V)>() }),
        false => Ok(repeat.into_inner()),
    }
}

/// Room for items, lent to one task after the other: memory of its own for each would come from the system each time.
struct Scratch<I>(Mutex<Vec<Vec<I>>>);

impl<I> Default for Scratch<I> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<I> Scratch<I> {
    fn lend(&self, work: impl FnOnce(&mut Vec<I>)) {
        let rooms = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut room = rooms().pop().unwrap_or_default();
        work(&mut room);
        rooms().push(room);
    }
}

/// Cuts keys that ascend from bit `above` on into parts, and gives their sizes. A part of more than `GRAIN` keys is one group of
/// keys that agree there; a smaller one may have several.
fn groups<K: Key>(keys: &[K], above: u32) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut begin = 0;
    for place in (0..keys.len()).step_by(GRAIN) {
        if place < begin {
            continue;
        }
        let agrees = |key: &K| !key.xor(keys[place]).reaches(above);
        let first = begin + keys[begin..place].partition_point(|key| !agrees(key));
        let end = place + keys[place..].partition_point(agrees);
        sizes.extend([first - begin, end - first]);
        begin = end;
    }
    sizes.push(keys.len() - begin);
    sizes.retain(|&size| size > 0);
    sizes
}

/// Keys and values, and room for as many pairs of both.
struct Part<'a, K, V> {
    keys: &'a mut [K],
    values: &'a mut [V],
    items: &'a mut [(K, V)],
}

impl<'a, K, V> Part<'a, K, V> {
    /// Takes the first so many off.
    fn split_off(&mut self, count: usize) -> Self {
        let Self { keys, values, items } = self;
        let fits = "the part has as many";
        Self {
            keys: keys.split_off_mut(..count).expect(fits),
            values: values.split_off_mut(..count).expect(fits),
            items: items.split_off_mut(..count).expect(fits),
        }
    }
}

/// By the most significant digit, then each bucket by the rest. Keys and values are in their own arrays.
fn sort_by_parts<K: Key, V: Value>(mut part: Part<'_, K, V>, bits: Range<u32>, scratch: &Scratch<(K, V)>) {
    let (keys, values) = (&*part.keys, &*part.values);
    let chunk = keys.len().div_ceil(2 * rayon::current_num_threads()).max(LOCAL);
    let chunks = tasks::ranges(keys.len(), chunk);
    let varying = tasks::map(&chunks, &|range| varying(keys[range].iter().copied(), &bits));
    let Some(highest) = varying.into_iter().fold(K::zeroed(), K::or).highest_one() else { return };
    let shift = (highest + 1).saturating_sub(DIGIT).max(bits.start);

    let counts = tasks::map(&chunks, &|range| count(keys[range].iter().copied(), shift));
    tasks::each(streams(part.items, &counts), &|task, mut streams| {
        let chunk = chunks[task].clone();
        let items = keys[chunk.clone()].iter().copied().zip(values[chunk].iter().copied());
        move_to_buckets(items, &mut streams, shift);
    });

    let totals = (0..BUCKETS).map(|bucket| counts.iter().map(|counts| counts[bucket]).sum());
    let buckets: Vec<Part<'_, K, V>> = totals.filter(|&total| total > 0).map(|total| part.split_off(total)).collect();
    tasks::each(buckets, &|_, bucket| {
        let Part { keys, values, items } = bucket;
        write_back(Part { keys: &mut *keys, values: &mut *values, items: &mut *items });
        match bits.start..shift {
            rest if rest.is_empty() => {}
            rest if keys.len() <= LOCAL => scratch.lend(|items| sort_locally(keys, values, items, rest)),
            rest => sort_by_parts(Part { keys, values, items }, rest, scratch),
        }
    });
}

/// Puts items into the arrays that they came from.
fn write_back<K: Key, V: Value>(mut part: Part<'_, K, V>) {
    let mut parts = Vec::new();
    while !part.items.is_empty() {
        parts.push(part.split_off(part.items.len().min(LOCAL)));
    }
    tasks::each(parts, &|_, Part { keys, values, items }: Part<'_, K, V>| {
        for ((key, value), item) in keys.iter_mut().zip(values).zip(items) {
            (*key, *value) = *item;
        }
    });
}

/// What a cache holds, by one or two digits of the upper bits that vary, the least significant first; then groups that agree in
/// them by the rest. Keys that agree above `bits` are side by side.
fn sort_locally<K: Key, V: Value>(keys: &mut [K], values: &mut [V], items: &mut Vec<(K, V)>, bits: Range<u32>) {
    if runs_are_short(keys, bits.end) {
        return insert(keys, values);
    }
    let varying = varying(keys.iter().copied(), &(bits.start..K::BITS));
    let size = keys.len().ilog2();
    let width = |most: usize, widths: RangeInclusive<u32>| {
        widths.into_iter().find(|&width| digits(varying, u32::MAX, width).len() <= most)
    };
    if let Some(width) = width(1, 1..=FINE.min(size)) {
        if let [shift] = digits(varying, u32::MAX, width)[..] {
            items.clear();
            items.extend(keys.iter().copied().zip(values.iter().copied()));
            let mut places = begins(keys.iter().copied(), shift, width);
            move_back(items, keys, values, &mut places, shift);
        }
        return;
    }
    // All bits that vary, or as many of them as tell most items apart.
    let exact = width(2, 1..=WIDEST.min(size.max(DIGIT)));
    let width = exact.unwrap_or((size + 2).div_ceil(2).min(WIDEST));
    let digits = digits(varying, 2 * width, width);
    let &[high, low] = &digits[..] else { unreachable!("more bits vary than one digit has") };
    let mut places = [low, high].map(|shift| begins(keys.iter().copied(), shift, width));
    items.resize(keys.len(), <(K, V)>::zeroed());
    for (&key, &value) in keys.iter().zip(&*values) {
        let place = &mut places[0][digit(key, low, width)];
        items[*place as usize] = (key, value);
        *place += 1;
    }
    move_back(items, keys, values, &mut places[1], high);
    if exact.is_some() {
        return;
    }
    if runs_are_short(keys, low) {
        return insert(keys, values);
    }
    let (mut keys, mut values) = (keys, values);
    while let [first, ..] = *keys {
        let count = keys.iter().take_while(|key| !key.xor(first).reaches(low)).count();
        let fits = "there are as many";
        let (part, of_part) = (keys.split_off_mut(..count).expect(fits), values.split_off_mut(..count).expect(fits));
        if count <= SMALL || bits.start >= low {
            insert(part, of_part);
        } else {
            sort_locally(part, of_part, items, bits.start..low);
        }
    }
}

/// Where the keys of each digit begin.
fn begins<K: Key>(keys: impl Iterator<Item = K>, shift: u32, width: u32) -> Vec<u32> {
    let mut places = vec![0; 1 << width];
    keys.for_each(|key| places[digit(key, shift, width)] += 1);
    let mut begin = 0;
    for place in &mut places {
        begin += std::mem::replace(place, begin);
    }
    places
}

/// Puts items into the arrays that they came from, by a digit, from where its items begin.
fn move_back<K: Key, V: Value>(items: &[(K, V)], keys: &mut [K], values: &mut [V], places: &mut [u32], shift: u32) {
    let width = places.len().ilog2();
    for &(key, value) in items {
        let place = &mut places[digit(key, shift, width)];
        (keys[*place as usize], values[*place as usize]) = (key, value);
        *place += 1;
    }
}

/// Whether no more than about `2 * SMALL` keys side by side agree from bit `above` on.
fn runs_are_short<K: Key>(keys: &[K], above: u32) -> bool {
    let ends = keys.iter().step_by(SMALL);
    ends.clone().zip(ends.skip(1)).all(|(first, last)| first.xor(*last).reaches(above))
}

/// Moves each key before those that are larger.
fn insert<K: Key, V: Value>(keys: &mut [K], values: &mut [V]) {
    for number in 1..keys.len() {
        let (key, value) = (keys[number], values[number]);
        let mut place = number;
        while let Some(before) = place.checked_sub(1)
            && keys[before] > key
        {
            (keys[place], values[place]) = (keys[before], values[before]);
            place = before;
        }
        if place < number {
            (keys[place], values[place]) = (key, value);
        }
    }
}

/// The bits of a range in which keys differ.
fn varying<K: Key>(mut keys: impl Iterator<Item = K>, bits: &Range<u32>) -> K {
    let Some(first) = keys.next() else { return K::zeroed() };
    let differing = keys.fold(K::zeroed(), |differing, key| differing.or(key.xor(first)));
    between(differing, bits)
}

/// The lowest bits of digits that cover the given ones, or at least `enough` of them, the most significant first.
fn digits<K: Key>(mut bits: K, enough: u32, width: u32) -> Vec<u32> {
    let mut digits = Vec::new();
    while let Some(highest) = bits.highest_one()
        && width * (digits.len() as u32) < enough
    {
        let shift = (highest + 1).saturating_sub(width);
        digits.push(shift);
        bits = between(bits, &(0..shift));
    }
    digits
}

/// The bits within a range.
fn between<K: Key>(bits: K, range: &Range<u32>) -> K {
    let mut within = K::zeroed();
    let mut begin = range.start;
    while begin < range.end {
        let width = (range.end - begin).min(64);
        within = within.with(bits.bits_from(begin) & (u64::MAX >> (64 - width)), begin);
        begin += width;
    }
    within
}

/// The digit of a key.
fn digit<K: Key>(key: K, shift: u32, width: u32) -> usize {
    key.bits_from(shift) as usize & ((1 << width) - 1)
}

fn count<K: Key>(keys: impl Iterator<Item = K>, shift: u32) -> [usize; BUCKETS] {
    let mut counts = [0; BUCKETS];
    keys.for_each(|key| counts[digit(key, shift, DIGIT)] += 1);
    counts
}

/// Of each chunk, where its elements of each digit go, given how many it has.
pub(super) fn streams<'a, E>(mut elements: &'a mut [E], counts: &[impl AsRef<[usize]>]) -> Vec<Vec<IterMut<'a, E>>> {
    let digits = counts.first().map_or(0, |counts| counts.as_ref().len());
    let mut streams: Vec<Vec<IterMut<'_, E>>> = counts.iter().map(|_| Vec::with_capacity(digits)).collect();
    for digit in 0..digits {
        for (streams, counts) in streams.iter_mut().zip(counts) {
            streams.push(elements.split_off_mut(..counts.as_ref()[digit]).expect("counts add up").iter_mut());
        }
    }
    streams
}

fn move_to_buckets<K: Key, V>(items: impl Iterator<Item = (K, V)>, streams: &mut [IterMut<'_, (K, V)>], shift: u32) {
    let streams: &mut [IterMut<'_, (K, V)>; BUCKETS] = streams.try_into().expect("there is a stream for each bucket");
    for item in items {
        if let Some(place) = streams[digit(item.0, shift, DIGIT)].next() {
            *place = item;
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
        let mut keys: Vec<K> = keys.iter().map(|&number| key(number)).collect();
        let mut values: Vec<u32> = (0..keys.len() as u32).collect();
        let mut expected: Vec<(K, u32)> = keys.iter().copied().zip(0..).collect();
        expected.sort_by_key(|item| item.0);
        sort(&mut keys, &mut values, 0..K::BITS).unwrap();
        assert!(keys.into_iter().zip(values).eq(expected));
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
        assert_eq!(digits(0u64, 64, 8), []);
        assert_eq!(digits(0x00FF_0000_0000_0001u64, 64, 8), [48, 0]);
        assert_eq!(digits(0x00FF_0000_0000_0001u64, 8, 8), [48]);
        assert_eq!(digits(0x00FF_0000_0000_0001u64, 64, 5), [51, 46, 0]);
        assert_eq!(digits(0b11u64 << 9, 64, 8), [3]);
        assert_eq!(digits(1u128 << 127 | 1 << 64, 128, 8), [120, 57]);
    }

    /// Keys of three fields of 20 bits that come sorted by the first, the last and the middle one.
    #[test]
    fn what_is_in_order_already_need_not_be_sorted() {
        for (slices, crowded) in [(1, 0), (3, 0), (700, 0), (700, 150_000), (60_000, 0)] {
            let field = |key: u64, number: u64| key.rotate_left(20 * number as u32) % 1000;
            let slice = |number: u64, key: u64| if number < crowded { 5 } else { key.rotate_left(7) % slices };
            let mut entries: Vec<[u64; 3]> = (0..200_000)
                .zip(scrambled(200_000))
                .map(|(number, key)| [slice(number, key), field(key, 1), field(key, 2)])
                .collect();
            entries.sort_unstable();
            let mut keys: Vec<u64> = entries.iter().map(|[i, k, j]| i << 40 | j << 20 | k).collect();
            let mut values: Vec<u32> = (0..keys.len() as u32).collect();
            let mut expected: Vec<(u64, u32)> = keys.iter().copied().zip(0..).collect();
            expected.sort_by_key(|item| item.0);
            sort(&mut keys, &mut values, 20..40).unwrap();
            assert!(keys.into_iter().zip(values).eq(expected));
        }
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
