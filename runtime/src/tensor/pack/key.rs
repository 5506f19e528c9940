//! Coordinates packed into one integer, so that sorting compares and moves one thing.
//!
//! The outermost level has the most significant bits, each level as many as its extent needs:
//!
//! ```text
//! extents 300, 4, 1, 1000:    iiiiiiiii jj kkkkkkkkkk     9 + 2 + 0 + 10 bits
//! ```
//!
//! Keys then sort as coordinates do, and two entries share the first `d` levels where their keys agree above a shift.

use bytemuck::Zeroable;

/// An integer of a fixed number of bits.
pub(super) trait Key: Copy + Ord + Zeroable + Send + Sync {
    /// How many bits it has.
    const BITS: u32;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable)]
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
    /// The lowest bit of each level, and how many bits it has.
    levels: Vec<(u32, u32)>,
    /// The number of bits in all.
    pub(super) bits: u32,
}

impl Fields {
    /// Fields that are wide enough for levels of these extents.
    pub(super) fn new(extents: &[usize]) -> Self {
        let mut bits = 0;
        let mut levels: Vec<(u32, u32)> = extents
            .iter()
            .rev()
            .map(|&extent| {
                let width = extent.saturating_sub(1).checked_ilog2().map_or(0, |highest| highest + 1);
                let shift = bits;
                bits += width;
                (shift, width)
            })
            .collect();
        levels.reverse();
        Self { levels, bits }
    }

    /// The key with the coordinate of a level put in.
    #[inline]
    pub(super) fn put<K: Key>(&self, key: K, level: usize, coordinate: u64) -> K {
        match self.levels[level] {
            (_, 0) => key,
            (shift, _) => key.with(coordinate, shift),
        }
    }

    /// What reads the coordinate of a level from keys.
    pub(super) fn reader<K: Key>(&self, level: usize) -> impl Fn(K) -> usize + Copy + use<K> {
        let (shift, width) = self.levels[level];
        let (shift, mask) = if width == 0 { (0, 0) } else { (shift, u64::MAX >> (64 - width)) };
        move |key| (key.bits_from(shift) & mask) as usize
    }

    /// The lowest bit of the first `depth` levels: keys that differ there or above differ in those levels.
    pub(super) fn prefix(&self, depth: usize) -> u32 {
        depth.checked_sub(1).map_or(self.bits, |level| self.levels[level].0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trips<K: Key + std::fmt::Debug>(extents: &[usize]) {
        let fields = Fields::new(extents);
        assert!(fields.bits <= K::BITS);
        for coordinate in [0, 1, usize::MAX / 3, usize::MAX] {
            let coordinates: Vec<usize> = extents.iter().map(|&extent| coordinate % extent).collect();
            let mut key = K::zeroed();
            for (level, &coordinate) in coordinates.iter().enumerate() {
                key = fields.put(key, level, coordinate as u64);
            }
            let read: Vec<usize> = (0..extents.len()).map(|level| fields.reader(level)(key)).collect();
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
        let key = |j, l| fields.put(fields.put(0u64, 1, j), 3, l);
        let differ = |a: u64, b: u64| (0..=4).map(|depth| a.xor(b).reaches(fields.prefix(depth))).collect::<Vec<_>>();
        assert_eq!(differ(key(5, 6), key(5, 6)), [false, false, false, false, false]);
        assert_eq!(differ(key(5, 6), key(5, 7)), [false, false, false, false, true]);
        assert_eq!(differ(key(5, 6), key(4, 6)), [false, false, true, true, true]);
    }
}
