//! What workspaces are made of: tables of keys, and a sort that tells where its elements come from. Sets of keys have a file of
//! their own, that of the bitmaps.
//!
//! A loop that scatters puts each key that it meets in a list, and what belongs to it at the same place of another. A
//! [`Table`] finds the place of a key again. When the loop is done, [`sort`] puts the keys in order, or the table does.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::room::{NoMemory, Plain, array, length, push, reserve};

/// Keys below this have a slot each: 16 MB at most.
const DIRECT: usize = 1 << 22;

/// So many words of a summary are read for a key rather than sorting it.
const SCANNED: usize = 8;

/// Lists up to so long are sorted on the stack.
const SHORT: usize = 256;

/// From so many keys on, a table looks for them: to sort a few costs less.
const FEW: usize = SHORT;

/// The length of a hash table at first.
const HASHED: usize = 64;

/// What keys are multiplied with to spread them: 2^64 divided by the golden ratio (Knuth, The Art of Computer Programming, volume
/// 3, section 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key that lies so many slots behind its first shows that the multiplier does not suit the keys.
const PATIENCE: usize = 128;

/// An unsigned integer that keys are stored as.
///
/// What takes long to compile and is called seldom are functions of the types: they are compiled with this file, not with each kernel.
pub trait Key: Plain + Ord {
    /// As it is.
    fn wide(self) -> u64;
    /// From what [`Key::wide`] gave.
    fn narrow(wide: u64) -> Self;
    /// As [`sort`].
    fn sort(keys: &mut [Self], places: &mut Vec<u32>);
    /// As [`Table::sort`].
    fn sort_found(table: &mut Table, keys: &mut Vec<Self>, places: &mut Vec<u32>);
    /// Gives slots of a table to keys that are listed.
    fn open(table: &mut Table, keys: &[Self]);
    /// As [`Table::reset`].
    fn reset(table: &mut Table, keys: &mut Vec<Self>);
}

macro_rules! keys {
    ($($type:ty)*) => {
        $(impl Key for $type {
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }

            #[inline(always)]
            fn narrow(wide: u64) -> Self {
                wide as Self
            }

            #[inline(never)]
            fn sort(keys: &mut [Self], places: &mut Vec<u32>) {
                sort_any(keys, places);
            }

            #[inline(never)]
            fn sort_found(table: &mut Table, keys: &mut Vec<Self>, places: &mut Vec<u32>) {
                table.sort_any(keys, places);
            }

            #[cold]
            #[inline(never)]
            fn open(table: &mut Table, keys: &[Self]) {
                table.open(keys);
            }

            #[inline(never)]
            fn reset(table: &mut Table, keys: &mut Vec<Self>) {
                table.reset_any(keys);
            }
        })*
    };
}

keys!(u8 u16 u32 u64);

/// Where in a list of keys each of them stands.
///
/// Where keys are small, each has a slot of its own. Else the slots are a hash table with open addressing, at most half full. Keys
/// may be chosen so that they meet in one place; a table that notices that spreads them anew, by a random number
/// (Dietzfelbinger et al., A reliable randomized algorithm for the closest-pair problem, 1997). What a table answers does not depend on that.
/// Either way [`Table::reset`] touches the slots that are taken and no others. The first few keys are listed as they come, so
/// that some may stand there twice, until there are so many that they get slots.
///
/// ```
/// use spc::parallel::Table;
///
/// let mut keys: Vec<u32> = Vec::new();
/// let mut table = Table::new([1000]);
/// assert_eq!([7, 3, 7].map(|key| table.insert(&mut keys, key)), [0, 1, 2]);
/// for key in 100..400 {
///     table.insert(&mut keys, key);
/// }
/// assert_eq!([150, 7, 500].map(|key| table.insert(&mut keys, key)), [53, 0, 303]);
/// ```
#[derive(Debug)]
pub struct Table {
    /// Whether keys have slots.
    is_open: bool,
    /// The keys that stood in the list twice when they got slots, and their later places.
    again: Vec<(u64, u32)>,
    /// For each key one more than its place, 0 where it has none. Empty where keys are hashed.
    direct: Vec<u32>,
    /// While keys are sorted that have a slot each: a bit for each of them, and a bit for each 64 of those that have one set.
    bits: Vec<u64>,
    summary: Vec<u64>,
    /// The keys and one more than their places; a power of two.
    hashed: Vec<(u64, u32)>,
    /// What keys are multiplied with; odd.
    multiplier: u64,
    /// How many slots behind its first a key may lie.
    patience: usize,
}

impl Table {
    /// A table of the keys of an array of that shape, which must have no more than 64 bits.
    pub fn new<const N: usize>(shape: [usize; N]) -> Table {
        let Some(extent) = length(&shape) else { NoMemory::new(&shape, size_of::<usize>()).unwind() };
        let direct = if extent <= DIRECT { extent } else { 0 };
        let bits = array(0, [direct.div_ceil(64)]);
        let summary = array(0, [bits.len().div_ceil(64)]);
        let (again, hashed) = (Vec::new(), Vec::new());
        let direct = array(0, [direct]);
        Table { is_open: false, again, direct, bits, summary, hashed, multiplier: GOLDEN, patience: PATIENCE }
    }

    /// The place of `key` in `keys`, to which it is appended if it is not there, or if there are few.
    #[inline(always)]
    pub fn insert<K: Key>(&mut self, keys: &mut Vec<K>, key: K) -> usize {
        if !self.is_open {
            if keys.len() < FEW {
                push(keys, key);
                return keys.len() - 1;
            }
            K::open(self, keys);
        }
        let place = self.place(key.wide(), keys.len());
        if place == keys.len() {
            push(keys, key);
        }
        place
    }

    /// Gives slots to the keys that are listed.
    fn open<K: Key>(&mut self, keys: &[K]) {
        self.is_open = true;
        for (place, key) in keys.iter().enumerate() {
            if self.place(key.wide(), place) != place {
                push(&mut self.again, (key.wide(), place as u32));
            }
        }
    }

    /// The place of a key, which is `next` if it has none yet.
    #[inline(always)]
    fn place(&mut self, key: u64, next: usize) -> usize {
        let Some(slot) = self.direct.get_mut(key as usize) else { return self.place_hashed(key, next) };
        if *slot == 0 {
            *slot = next as u32 + 1;
        }
        *slot as usize - 1
    }

    #[inline]
    fn place_hashed(&mut self, key: u64, next: usize) -> usize {
        if 2 * next >= self.hashed.len() {
            self.grow(next);
        }
        let first = self.slot(key);
        let mut slot = first;
        loop {
            match self.hashed[slot] {
                (_, 0) => break,
                (found, place) if found == key => return place as usize - 1,
                _ => slot = (slot + 1) & (self.hashed.len() - 1),
            }
        }
        if self.is_far(first, slot) {
            slot = self.spread_for(key);
        }
        self.hashed[slot] = (key, next as u32 + 1);
        next
    }

    /// Where the search for a key begins: the upper bits of a product.
    #[inline(always)]
    fn slot(&self, key: u64) -> usize {
        let bits = self.hashed.len().trailing_zeros();
        (key.wrapping_mul(self.multiplier) >> (64 - bits)) as usize
    }

    #[inline(always)]
    fn is_far(&self, first: usize, slot: usize) -> bool {
        slot.wrapping_sub(first) & (self.hashed.len() - 1) > self.patience
    }

    /// The slot for a key that is not there yet; `None` where that is far from its first.
    fn free(&self, key: u64) -> Option<usize> {
        let first = self.slot(key);
        let mut slot = first;
        while self.hashed[slot].1 != 0 {
            slot = (slot + 1) & (self.hashed.len() - 1);
            if self.is_far(first, slot) {
                return None;
            }
        }
        Some(slot)
    }

    /// Makes room for twice as many keys.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, keys: usize) {
        assert!(keys < 1 << 31, "a workspace holds at most 2^31 entries");
        let length = (2 * self.hashed.len()).max(HASHED);
        let full = std::mem::replace(&mut self.hashed, array((0, 0), [length]));
        while !self.fill(&full) {
            self.change();
        }
    }

    /// Spreads all keys anew, until there is a slot for one more. Gives that.
    #[cold]
    #[inline(never)]
    fn spread_for(&mut self, key: u64) -> usize {
        let full = self.hashed.clone();
        loop {
            self.change();
            if self.fill(&full)
                && let Some(slot) = self.free(key)
            {
                return slot;
            }
        }
    }

    /// Puts the keys of another table into this one. Whether none is far from its first slot.
    fn fill(&mut self, full: &[(u64, u32)]) -> bool {
        self.hashed.fill((0, 0));
        full.iter().filter(|(_, place)| *place != 0).all(|&(key, place)| {
            let slot = self.free(key);
            if let Some(slot) = slot {
                self.hashed[slot] = (key, place);
            }
            slot.is_some()
        })
    }

    /// Another multiplier, and more patience with it.
    fn change(&mut self) {
        use std::hash::BuildHasher;
        self.multiplier = std::hash::RandomState::new().hash_one(self.multiplier) | 1;
        self.patience *= 2;
    }

    /// Forgets `keys`, in whatever order they are, and empties the list.
    pub fn reset<K: Key>(&mut self, keys: &mut Vec<K>) {
        K::reset(self, keys);
    }

    fn reset_any<K: Key>(&mut self, keys: &mut Vec<K>) {
        if self.is_open {
            for key in keys.iter() {
                match self.direct.get_mut(key.wide() as usize) {
                    Some(slot) => *slot = 0,
                    None => self.forget(key.wide()),
                }
            }
            self.again.clear();
            self.is_open = false;
        }
        keys.clear();
    }

    /// As [`sort`], for keys that were inserted. Where there are many of them, a bit is set for each, and the bits are read off
    /// in order.
    pub fn sort<K: Key>(&mut self, keys: &mut Vec<K>, places: &mut Vec<u32>) {
        K::sort_found(self, keys, places);
    }

    fn sort_any<K: Key>(&mut self, keys: &mut Vec<K>, places: &mut Vec<u32>) {
        if !self.is_open || self.summary.is_empty() || self.summary.len() > SCANNED * keys.len() {
            return K::sort(keys, places);
        }
        for key in keys.iter() {
            let key = key.wide() as usize;
            self.bits[key / 64] |= 1 << (key % 64);
            self.summary[key / 4096] |= 1 << (key / 64 % 64);
        }
        keys.clear();
        places.clear();
        for (above, summary) in self.summary.iter_mut().enumerate() {
            for middle in ones(std::mem::take(summary)) {
                let word = 64 * above + middle;
                for low in ones(std::mem::take(&mut self.bits[word])) {
                    let key = 64 * word + low;
                    push(keys, K::narrow(key as u64));
                    push(places, self.direct[key] - 1);
                }
            }
        }
        self.merge_again(keys, places);
    }

    /// Puts the keys that stood in the list twice behind their equals.
    fn merge_again<K: Key>(&mut self, keys: &mut Vec<K>, places: &mut Vec<u32>) {
        self.again.sort_unstable();
        let mut from = keys.len();
        reserve(keys, self.again.len());
        reserve(places, self.again.len());
        keys.extend(self.again.iter().map(|(key, _)| K::narrow(*key)));
        places.extend(self.again.iter().map(|(_, place)| *place));
        for (before, &(key, place)) in self.again.iter().enumerate().rev() {
            let to = from;
            while keys[from - 1].wide() > key {
                from -= 1;
            }
            keys.copy_within(from..to, from + before + 1);
            places.copy_within(from..to, from + before + 1);
            keys[from + before] = K::narrow(key);
            places[from + before] = place;
        }
    }

    /// Empties the slots from a key's first to the end of the run. A key whose run was cut by that is in a part that is empty.
    fn forget(&mut self, key: u64) {
        let mut slot = self.slot(key);
        while self.hashed[slot].1 != 0 {
            self.hashed[slot] = (0, 0);
            slot = (slot + 1) & (self.hashed.len() - 1);
        }
    }
}

/// The places of the bits that are set, ascending.
#[inline(always)]
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        let found = bits != 0;
        bits &= bits.wrapping_sub(1);
        found.then_some(place)
    })
}

/// Sorts keys, ascending, equal ones in the order that they had. Then `places` says where each stood.
///
/// ```
/// let (mut keys, mut places) = (vec![30u32, 10, 20], Vec::new());
/// spc::parallel::sort(&mut keys, &mut places);
/// assert_eq!((keys, places), (vec![10, 20, 30], vec![1, 2, 0]));
/// ```
pub fn sort<K: Key>(keys: &mut [K], places: &mut Vec<u32>) {
    K::sort(keys, places);
}

fn sort_any<K: Key>(keys: &mut [K], places: &mut Vec<u32>) {
    places.clear();
    if size_of::<K>() > 4 {
        return sort_wide(keys, places);
    }
    // The key above, the place below: one integer is compared, and it is distinct.
    let pair = |(place, key): (usize, &K)| key.wide() << 32 | place as u64;
    if keys.len() <= SHORT {
        let mut pairs = [0; SHORT];
        let pairs = &mut pairs[..keys.len()];
        pairs.iter_mut().zip(keys.iter().enumerate()).for_each(|(to, from)| *to = pair(from));
        pairs.sort_unstable();
        unpack(pairs, keys, places);
    } else {
        let mut pairs: Vec<u64> = Vec::new();
        reserve(&mut pairs, keys.len());
        pairs.extend(keys.iter().enumerate().map(pair));
        pairs.sort_unstable();
        unpack(&pairs, keys, places);
    }
}

fn unpack<K: Key>(pairs: &[u64], keys: &mut [K], places: &mut Vec<u32>) {
    for (key, pair) in keys.iter_mut().zip(pairs) {
        *key = K::narrow(pair >> 32);
    }
    reserve(places, pairs.len());
    places.extend(pairs.iter().map(|&pair| pair as u32));
}

fn sort_wide<K: Key>(keys: &mut [K], places: &mut Vec<u32>) {
    let mut pairs: Vec<(K, u32)> = Vec::new();
    reserve(&mut pairs, keys.len());
    pairs.extend(keys.iter().zip(0..).map(|(&key, place)| (key, place)));
    pairs.sort_unstable();
    for (key, pair) in keys.iter_mut().zip(&pairs) {
        *key = pair.0;
    }
    reserve(places, pairs.len());
    places.extend(pairs.iter().map(|pair| pair.1));
}
