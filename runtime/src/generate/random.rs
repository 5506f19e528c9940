//! Random numbers by place: what a place gets depends on the seed and the place alone, so any thread can compute it.

/// SplitMix64 (Steele, Lea & Flood: Fast splittable pseudorandom number generators, 2014): the number that follows `state`.
pub(super) fn mix(state: u64) -> u64 {
    let mut bits = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// Random bits as a number in (0, 1].
pub(super) fn unit(bits: u64) -> f64 {
    ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Random bits as a number below `extent`.
pub(crate) fn below(bits: u64, extent: u64) -> u64 {
    ((u128::from(bits) * u128::from(extent)) >> 64) as u64
}

/// Random numbers one after the other, for what needs several at a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sequence(u64);

impl Sequence {
    /// Those of the entry `entry` in a stream of entries.
    pub(crate) fn of(stream: u64, entry: u64) -> Self {
        Self(mix(stream.wrapping_add(entry)))
    }

    /// The next random bits.
    pub(crate) fn next(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        bits
    }
}

/// A random permutation of the numbers below `count`, computed place by place.
///
/// A Feistel network permutes the least power of two that is not below `count`; a number that lands beyond `count` is permuted
/// again until it does not (Black & Rogaway: Ciphers with arbitrary finite domains, 2002, section 3).
#[derive(Debug, Clone, Copy)]
pub(super) struct Permutation {
    count: u64,
    low_bits: u32,
    low: u64,
    high: u64,
    keys: [u64; Permutation::ROUNDS],
}

impl Permutation {
    const ROUNDS: usize = 3;

    pub(super) fn new(count: u64, seed: u64) -> Self {
        let bits = count.saturating_sub(1).checked_ilog2().map_or(0, |highest| highest + 1).max(2);
        let low_bits = bits / 2;
        let ones = |bits: u32| (1u64 << bits) - 1;
        let keys = std::array::from_fn(|round| mix(seed.wrapping_add(round as u64)));
        Self { count, low_bits, low: ones(low_bits), high: ones(bits - low_bits), keys }
    }

    /// The number at a place; both are below `count`.
    pub(super) fn apply(&self, mut place: u64) -> u64 {
        loop {
            let (mut low, mut high) = (place & self.low, place >> self.low_bits);
            for key in self.keys {
                low ^= mix(high ^ key) & self.low;
                high ^= mix(low ^ key.rotate_left(32)) & self.high;
            }
            place = high << self.low_bits | low;
            if place < self.count {
                return place;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_hit_each_number_once() {
        for count in [1u64, 2, 3, 4, 5, 63, 64, 65, 1000, 4097] {
            let permutation = Permutation::new(count, mix(count));
            let mut numbers: Vec<u64> = (0..count).map(|place| permutation.apply(place)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count));
        }
    }

    #[test]
    fn permutations_serve_all_of_64_bits() {
        let permutation = Permutation::new(u64::MAX, 1);
        let numbers: Vec<u64> = (0..1000).map(|place| permutation.apply(place)).collect();
        let mean = numbers.iter().map(|&number| number as f64 / u64::MAX as f64).sum::<f64>() / 1000.0;
        assert!((mean - 0.5).abs() < 0.05, "{mean}");
    }

    #[test]
    fn numbers_are_the_same_everywhere() {
        // The first output of the reference implementation for seed 0.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!((unit(0), unit(u64::MAX)), (1.0 / 9_007_199_254_740_992.0, 1.0));
        assert_eq!((below(0, 10), below(u64::MAX, 10)), (0, 9));
    }
}
