//! A few keys, in order: those of a short list, and those that the bits of a word say.
//!
//! What is compiled for a processor with AVX-512 sorts in vector registers: the steps are the same whatever the keys are, so that
//! nothing has to be guessed, and one row does not wait for the last one.

/// Lists that are shorter than this are sorted.
pub(super) const FEW: usize = if cfg!(all(target_arch = "x86_64", target_feature = "avx512f")) { 64 } else { 16 };

/// Sorts the first `count` keys of a list, all of them below `u32::MAX`, into `keys`, each once; how many these are.
///
/// # Panics
/// When `count` is greater than [`FEW`], or there are fewer `keys` than that.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f")))]
#[inline(always)]
pub(super) fn distinct(list: &[u32; FEW], count: usize, keys: &mut [u32]) -> usize {
    let sorted = &mut keys[..count];
    sorted.copy_from_slice(&list[..count]);
    sorted.sort_unstable();
    let mut last = 0;
    for from in 1..count {
        last += usize::from(sorted[last] != sorted[from]);
        sorted[last] = sorted[from];
    }
    count.min(last + 1)
}

/// Writes to `keys` the places of the bits that are set, ascending, each with `first` added. What follows them, up to the
/// 64th key, may be anything then.
///
/// # Panics
/// When there are fewer than 64 `keys`.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx512f")))]
#[inline(always)]
pub(super) fn spread(bits: u64, first: u32, keys: &mut [u32]) {
    let keys = &mut keys[..64];
    let mut rest = bits;
    let mut count = 0;
    while rest != 0 {
        keys[count % 64] = first + rest.trailing_zeros();
        rest &= rest - 1;
        count += 1;
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
pub(super) use wide::{distinct, spread};

#[cfg(all(target_arch = "x86_64", target_feature = "avx512f"))]
mod wide {
    use super::FEW;
    use std::arch::x86_64::*;

    /// Sixteen keys. SAFETY of all that is done with them: the crate is compiled for processors that have these instructions.
    type Keys = __m512i;

    /// As the one beside.
    #[inline(always)]
    pub(in super::super) fn distinct(list: &[u32; FEW], count: usize, keys: &mut [u32]) -> usize {
        assert!(count <= FEW, "a list has at most {FEW} keys");
        let (quarters, _) = list.as_chunks::<16>();
        let quarter = |at: usize| sorted(loaded(&quarters[at], count.saturating_sub(16 * at)));
        let mut out = Distinct { keys: room(keys), count: 0, before: none() };
        if count <= 16 {
            out.put(quarter(0));
            return out.count;
        }
        let (a, b) = merged(quarter(0), quarter(1));
        if count <= 32 {
            out.put(a);
            out.put(b);
            return out.count;
        }
        // As with two of sixteen: of 32 that ascend and 32 that descend, the lesser of each pair are the lower half.
        let (c, d) = merged(quarter(2), quarter(3));
        let ((a, c), (b, d)) = (halves(a, reversed(d)), halves(b, reversed(c)));
        let ((a, b), (c, d)) = (halves(a, b), halves(c, d));
        for keys in [a, b, c, d] {
            out.put(rising(keys));
        }
        out.count
    }

    /// As the one beside.
    #[inline(always)]
    pub(in super::super) fn spread(bits: u64, first: u32, keys: &mut [u32]) {
        let keys = room(keys);
        let mut count = 0;
        for quarter in 0..4 {
            let here = (bits >> (16 * quarter)) as u16;
            // SAFETY: as above.
            let places = unsafe {
                let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
                _mm512_add_epi32(lanes, _mm512_set1_epi32((first + 16 * quarter) as i32))
            };
            store(keys, count, here, places);
            count += here.count_ones() as usize;
        }
    }

    /// Where keys that ascend are written, each once.
    struct Distinct<'a> {
        keys: &'a mut [u32; 64],
        count: usize,
        /// The last ones, written or not.
        before: Keys,
    }

    impl Distinct<'_> {
        #[inline(always)]
        fn put(&mut self, keys: Keys) {
            // SAFETY: as above.
            let new = unsafe {
                let shifted = _mm512_alignr_epi32::<15>(keys, self.before);
                _mm512_cmpneq_epi32_mask(keys, shifted) & _mm512_cmpneq_epi32_mask(keys, none())
            };
            store(self.keys, self.count, new, keys);
            self.count += new.count_ones() as usize;
            self.before = keys;
        }
    }

    /// The first 64 elements, which are there.
    #[inline(always)]
    fn room(keys: &mut [u32]) -> &mut [u32; 64] {
        keys.first_chunk_mut().expect("there is room for the keys of a line")
    }

    /// Keys that are none, greater than all that are.
    #[inline(always)]
    fn none() -> Keys {
        // SAFETY: as above.
        unsafe { _mm512_set1_epi32(-1) }
    }

    /// The first `count` of sixteen keys, all if there are more.
    #[inline(always)]
    fn loaded(keys: &[u32; 16], count: usize) -> Keys {
        let mask = ((1u32 << count.min(16)) - 1) as u16;
        // SAFETY: the array has as many elements as the register.
        unsafe { _mm512_mask_loadu_epi32(none(), mask, keys.as_ptr().cast()) }
    }

    /// Writes those of sixteen keys that a mask says, side by side, and anything behind them.
    #[inline(always)]
    fn store(to: &mut [u32; 64], first: usize, mask: u16, keys: Keys) {
        let to: &mut [u32] = &mut to[first..first + 16];
        // SAFETY: there is room for sixteen.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), _mm512_maskz_compress_epi32(mask, keys)) }
    }

    #[inline(always)]
    fn reversed(keys: Keys) -> Keys {
        // SAFETY: as above.
        unsafe {
            let lanes = _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
            _mm512_permutexvar_epi32(lanes, keys)
        }
    }

    /// The lesser and the greater of each pair.
    #[inline(always)]
    fn halves(one: Keys, other: Keys) -> (Keys, Keys) {
        // SAFETY: as above.
        unsafe { (_mm512_min_epu32(one, other), _mm512_max_epu32(one, other)) }
    }

    /// Of two times sixteen keys that ascend: the lower and the upper half of all, ascending.
    #[inline(always)]
    fn merged(one: Keys, other: Keys) -> (Keys, Keys) {
        let (lower, upper) = halves(one, reversed(other));
        (rising(lower), rising(upper))
    }

    /// A step of a network: each lane meets another, and those of a mask keep the greater key.
    macro_rules! step {
        ($keys:expr, $greater:literal, $($other:literal)*) => {{
            let keys = $keys;
            // SAFETY: as above.
            unsafe {
                let others = _mm512_permutexvar_epi32(_mm512_setr_epi32($($other),*), keys);
                _mm512_mask_max_epu32(_mm512_min_epu32(keys, others), $greater, keys, others)
            }
        }};
    }

    /// The same where lanes of fours meet, which takes less time; the others' places in each four as `_MM_SHUFFLE` has them.
    macro_rules! step_in_fours {
        ($keys:expr, $greater:literal, $others:literal) => {{
            let keys = $keys;
            // SAFETY: as above.
            unsafe {
                let others = _mm512_shuffle_epi32::<$others>(keys);
                _mm512_mask_max_epu32(_mm512_min_epu32(keys, others), $greater, keys, others)
            }
        }};
    }

    /// Keys that ascend and then descend, or the other way round, ascending (Batcher, Sorting networks and their applications,
    /// 1968).
    #[inline(always)]
    fn rising(keys: Keys) -> Keys {
        rising_in_eights(step!(keys, 0xff00, 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7))
    }

    #[inline(always)]
    fn rising_in_eights(keys: Keys) -> Keys {
        rising_in_fours(step!(keys, 0xf0f0, 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11))
    }

    #[inline(always)]
    fn rising_in_fours(keys: Keys) -> Keys {
        rising_in_twos(step_in_fours!(keys, 0xcccc, 0b01_00_11_10))
    }

    #[inline(always)]
    fn rising_in_twos(keys: Keys) -> Keys {
        step_in_fours!(keys, 0xaaaa, 0b10_11_00_01)
    }

    /// Sixteen keys, ascending: pairs are, then fours, eights and all.
    #[inline(always)]
    fn sorted(keys: Keys) -> Keys {
        let pairs = rising_in_twos(keys);
        let fours = rising_in_twos(step_in_fours!(pairs, 0xcccc, 0b00_01_10_11));
        let eights = rising_in_fours(step!(fours, 0xf0f0, 7 6 5 4 3 2 1 0 15 14 13 12 11 10 9 8));
        rising_in_eights(step!(eights, 0xff00, 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0))
    }
}
