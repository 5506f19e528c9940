//! Coordinates packed into one integer, so that sorting compares and moves one thing.
//!
//! The outermost level has the most significant bits, each level as many as its extent needs:
//!
//! ```text
//! extents 300, 4, 1, 1000:    iiiiiiiii jj kkkkkkkkkk     9 + 2 + 0 + 10 bits
//! ```
//!
//! Keys then sort as coordinates do, and two entries share the first `d` levels where their keys agree above a shift.

use super::super::layout::Layout;
use bytemuck::{Pod, Zeroable};
use spc_compiler::format::interleave::{self, Spread};

/// An integer of a fixed number of bits.
pub(super) trait Key: Ord + Pod + Send + Sync {
    /// How many bits it has.
    const BITS: u32;

    /// Whether it is one word, as most are.
    const IS_WORD: bool = Self::BITS == u64::BITS;

    /// The key with a number put where it has zeros.
    fn with(self, number: u64, shift: u32) -> Self;

    /// The 64 bits from `shift` on; those beyond its own are zeros.
    fn bits_from(self, shift: u32) -> u64;

    /// Where two keys differ.
    fn xor(self, other: Self) -> Self;

    /// Where either has a one.
    fn or(self, other: Self) -> Self;

    /// The number of its highest one; `None` for zero.
    fn highest_one(self) -> Option<u32>;

    /// Whether there is a one at `shift` or above.
    fn reaches(self, shift: u32) -> bool;
}

macro_rules! integer_key {
    ($($type:ty),*) => {$(
        impl Key for $type {
            const BITS: u32 = <$type>::BITS;

            #[inline]
            fn with(self, number: u64, shift: u32) -> Self {
                self | (number as $type) << shift
            }

            #[inline]
            fn bits_from(self, shift: u32) -> u64 {
                (self >> shift) as u64
            }

            #[inline]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }

            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline]
            fn highest_one(self) -> Option<u32> {
                self.checked_ilog2()
            }

            #[inline]
            fn reaches(self, shift: u32) -> bool {
                shift < Self::BITS && self >> shift != 0
            }
        }
    )*};
}
integer_key!(u64, u128);

/// A key for tensors of many large modes: sixteen words, the most significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Wide([u64; Wide::WORDS]);

impl Wide {
    const WORDS: usize = 16;

    /// The word that a bit is in, and its number there.
    fn place(bit: u32) -> (usize, u32) {
        (Self::WORDS - 1 - (bit / 64) as usize, bit % 64)
    }

    fn zip(self, other: Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|word| combine(self.0[word], other.0[word])))
    }
}

impl Key for Wide {
    const BITS: u32 = 64 * Self::WORDS as u32;

    fn with(mut self, number: u64, shift: u32) -> Self {
        let (word, shift) = Self::place(shift);
        let parts = u128::from(number) << shift;
        self.0[word] |= parts as u64;
        if let (Some(above), high @ 1..) = (word.checked_sub(1), (parts >> 64) as u64) {
            self.0[above] |= high;
        }
        self
    }

    fn bits_from(self, shift: u32) -> u64 {
        let (word, shift) = Self::place(shift);
        let above = word.checked_sub(1).map_or(0, |above| self.0[above]);
        ((u128::from(above) << 64 | u128::from(self.0[word])) >> shift) as u64
    }

    fn xor(self, other: Self) -> Self {
        self.zip(other, |a, b| a ^ b)
    }

    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    fn highest_one(self) -> Option<u32> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some(64 * (Self::WORDS - 1 - word) as u32 + self.0[word].ilog2())
    }

    fn reaches(self, shift: u32) -> bool {
        self.highest_one().is_some_and(|highest| highest >= shift)
    }
}

/// Where each level's coordinate is in a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fields {
    levels: Vec<Field>,
    /// The number of bits in all.
    pub(super) bits: u32,
}

/// Where one coordinate is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    /// The lowest bit of it and of those that it is interleaved with.
    lowest: u32,
    /// One past the highest of them.
    end: u32,
    bits: Bits,
}

/// The bits of one coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Bits {
    /// So many, side by side.
    Together(u32),
    /// Among those of other coordinates, 64 bits of the key at a time.
    Apart(Vec<Piece>),
}

/// Bits of a coordinate within 64 bits of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    /// The lowest of the key's bits.
    shift: u32,
    /// How many bits of the coordinate are in lower pieces.
    skip: u32,
    /// Where the next bits are.
    spread: Spread,
}

impl Field {
    /// A coordinate whose bits are at these places from `lowest` on.
    fn apart(lowest: u32, places: &[u32]) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let words = places.last().map_or(0, |last| last / 64 + 1);
        for word in 0..words {
            let begin = 64 * word;
            let here = places.iter().filter(|&&place| place >= begin && place - begin < 64);
            let mask = here.fold(0, |mask, place| mask | 1u64 << (place - begin));
            let skip = places.iter().filter(|&&place| place < begin).count() as u32;
            if mask != 0 {
                pieces.push(Piece { shift: lowest + begin, skip, spread: Spread::new(mask) });
            }
        }
        Self { lowest, end: lowest + places.last().map_or(0, |last| last + 1), bits: Bits::Apart(pieces) }
    }
}

impl Fields {
    /// Fields that are wide enough for levels of these extents, in order.
    pub(super) fn new(extents: &[usize]) -> Self {
        Self::of(extents, |_| 1)
    }

    /// The fields of a layout: the coordinates of a chain in Morton order are interleaved.
    pub(super) fn of_layout(layout: &Layout) -> Self {
        Self::of(&layout.extents, |level| layout.chain(level))
    }

    /// `group` says of how many levels from one on the bits are interleaved.
    fn of(extents: &[usize], group: impl Fn(usize) -> usize) -> Self {
        let widths: Vec<u32> = extents.iter().map(|&extent| interleave::width(extent as u64)).collect();
        let mut groups = Vec::new();
        let mut next = 0;
        while next < extents.len() {
            groups.push(next..next + group(next));
            next += group(next);
        }
        let mut lowest = 0;
        let mut levels = Vec::new();
        for group in groups.into_iter().rev() {
            let fields: Vec<Field> = match &widths[group.clone()] {
                [width] => vec![Field { lowest, end: lowest + width, bits: Bits::Together(*width) }],
                widths => interleave::places(widths).iter().map(|places| Field::apart(lowest, places)).collect(),
            };
            levels.extend(fields.into_iter().rev());
            lowest += widths[group].iter().sum::<u32>();
        }
        levels.reverse();
        Self { levels, bits: lowest }
    }

    /// Puts a level's coordinate into each key.
    pub(super) fn put<K: Key>(&self, keys: &mut [K], level: usize, coordinates: impl Iterator<Item = u64> + Clone) {
        let field = &self.levels[level];
        match &field.bits {
            Bits::Together(0) => {}
            Bits::Together(_) => {
                keys.iter_mut()
                    .zip(coordinates)
                    .for_each(|(key, coordinate)| *key = key.with(coordinate, field.lowest));
            }
            Bits::Apart(pieces) => {
                for &Piece { shift, skip, spread } in pieces {
                    let keys = keys.iter_mut().zip(coordinates.clone());
                    keys.for_each(|(key, coordinate)| *key = key.with(spread.expand(coordinate >> skip), shift));
                }
            }
        }
    }

    /// Whether the bits of each coordinate are side by side.
    pub(super) fn are_together(&self) -> bool {
        self.levels.iter().all(|field| matches!(field.bits, Bits::Together(_)))
    }

    /// Whether a level's coordinate has bits of the key from `shift` on.
    pub(super) fn reaches(&self, level: usize, shift: u32) -> bool {
        self.levels[level].end > shift
    }

    /// What reads the coordinate of a level from keys.
    pub(super) fn reader<K: Key>(&self, level: usize) -> impl Fn(K) -> usize + Copy + use<'_, K> {
        let Field { lowest, bits, .. } = &self.levels[level];
        let (shift, mask, pieces): (u32, u64, &[Piece]) = match bits {
            Bits::Together(0) => (0, 0, &[]),
            Bits::Together(width) => (*lowest, u64::MAX >> (64 - width), &[]),
            Bits::Apart(pieces) => (0, 0, pieces),
        };
        move |key: K| match pieces {
            [] => (key.bits_from(shift) & mask) as usize,
            pieces => gathered(pieces, key),
        }
    }

    /// The lowest bit of the first `depth` levels: keys that differ there or above differ in those levels. Levels that are
    /// interleaved with these count too.
    pub(super) fn prefix(&self, depth: usize) -> u32 {
        depth.checked_sub(1).map_or(self.bits, |level| self.levels[level].lowest)
    }
}

/// A coordinate whose bits are apart. Not inlined, so that loops over keys are small for those whose bits are together.
#[inline(never)]
fn gathered<K: Key>(pieces: &[Piece], key: K) -> usize {
    let part = |piece: &Piece| piece.spread.compress(key.bits_from(piece.shift)) << piece.skip;
    pieces.iter().fold(0, |coordinate, piece| coordinate | part(piece)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trips<K: Key + std::fmt::Debug>(extents: &[usize]) {
        round_trip::<K>(extents, Fields::new(extents));
        round_trip::<K>(extents, Fields::of(extents, |_| extents.len()));
        round_trip::<K>(extents, Fields::of(extents, |level| if level == 0 { extents.len() - 1 } else { 1 }));
    }

    fn round_trip<K: Key + std::fmt::Debug>(extents: &[usize], fields: Fields) {
        assert!(fields.bits <= K::BITS);
        for coordinate in [0, 1, usize::MAX / 3, usize::MAX] {
            let coordinates: Vec<usize> = extents.iter().map(|&extent| coordinate % extent).collect();
            let mut key = [K::zeroed()];
            for (level, &coordinate) in coordinates.iter().enumerate() {
                fields.put(&mut key, level, [coordinate as u64].into_iter());
            }
            let read: Vec<usize> = (0..extents.len()).map(|level| fields.reader(level)(key[0])).collect();
            assert_eq!(read, coordinates);
        }
    }

    #[test]
    fn coordinates_come_back_from_keys() {
        round_trips::<u64>(&[300, 4, 1, 1000]);
        round_trips::<u64>(&[1, 1 << 32, 1 << 32, 1]);
        round_trips::<u128>(&[usize::MAX, usize::MAX]);
        round_trips::<u128>(&[1 << 40, 3, 1 << 50, 1, 7]);
        round_trips::<Wide>(&[usize::MAX; 16]);
        round_trips::<Wide>(&[(1 << 61) - 5; 12]);
    }

    #[test]
    fn prefixes_tell_which_levels_differ() {
        let fields = Fields::new(&[1, 1 << 32, 1, 1 << 32]);
        let key = |j, l| {
            let mut key = [0u64];
            fields.put(&mut key, 1, [j].into_iter());
            fields.put(&mut key, 3, [l].into_iter());
            key[0]
        };
        let differ = |a: u64, b: u64| (0..=4).map(|depth| a.xor(b).reaches(fields.prefix(depth))).collect::<Vec<_>>();
        assert_eq!(differ(key(5, 6), key(5, 6)), [false, false, false, false, false]);
        assert_eq!(differ(key(5, 6), key(5, 7)), [false, false, false, false, true]);
        assert_eq!(differ(key(5, 6), key(4, 6)), [false, false, true, true, true]);
    }

    #[test]
    fn interleaved_levels_sort_by_their_bits() {
        let fields = Fields::of(&[4, 4, 10], |level| if level == 0 { 2 } else { 1 });
        let key = |index: [u64; 3]| {
            let mut key = [0u64];
            (0..3).for_each(|level| fields.put(&mut key, level, [index[level]].into_iter()));
            key[0]
        };
        let order = [[0, 0, 9], [1, 0, 0], [0, 1, 0], [1, 1, 5], [2, 0, 0], [3, 1, 0], [0, 2, 0], [2, 2, 0], [3, 3, 9]];
        assert!(order.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!([0, 1, 2, 3].map(|depth| fields.prefix(depth)), [8, 4, 4, 0]);
    }
}
