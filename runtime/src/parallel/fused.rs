//! The helpers for functions that are compiled for processors that multiply and add in one instruction, whatever the crate is
//! compiled for: those of `tensor_kernel!` that are chosen when they are called.
//!
//! Functions of such processors may be called by functions of such processors alone, which compilers check.

pub use super::*;

#[cfg(target_arch = "x86_64")]
use super::dot::LONG;

/// As [`super::add_product`], in one instruction. Elsewhere than in such functions it is a call that takes a hundred times as long.
#[inline(always)]
pub fn add_product<T: Fused>(sum: &mut T, one: T, other: T) {
    *sum = if cfg!(target_arch = "x86_64") { one.fused(other, *sum) } else { one.multiply_add(other, *sum) };
}

/// A sum of products of rows that are longer than one is formed at once.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
fn of_long_rows<T: Stored>(one: &[T], other: &[T]) -> T::Number {
    super::run(one).times(super::run(other)).sum()
}

#[cfg(not(target_arch = "x86_64"))]
mod rows {
    /// The sum of the products of two rows, which are as long as each other.
    #[inline(always)]
    pub fn dot_f64(one: &[f64], other: &[f64]) -> f64 {
        super::run(one).times(super::run(other)).sum()
    }

    /// The same of `f32`.
    #[inline(always)]
    pub fn dot_f32(one: &[f32], other: &[f32]) -> f32 {
        super::run(one).times(super::run(other)).sum()
    }
}

/// Sums of products of rows, each with the features of the processors that it is for, its vectors, what loads the last lanes, of which
/// some are none, and what adds up all lanes of two vectors.
#[cfg(target_arch = "x86_64")]
macro_rules! dots {
    ($($name:ident $number:ident $features:literal $lanes:literal $zero:ident $load:ident $last:ident $add_product:ident $add:ident;)*) => {
        $(
            /// The sum of the products of two rows: compilers make no vectors of a sum of floating point numbers, whose order they keep.
            ///
            /// # Panics
            /// When one is longer than the other.
            #[target_feature(enable = $features)]
            #[inline]
            pub fn $name(one: &[$number], other: &[$number]) -> $number {
                let length = one.len();
                assert!(length == other.len(), "rows are of one length");
                if length > LONG * $lanes {
                    return of_long_rows(one, other);
                }
                let (one, other) = (one.as_ptr(), other.as_ptr());
                let (mut sums, mut others) = ($zero(), $zero());
                let mut place = 0;
                // SAFETY: each load is of lanes before `length`, but for the last, which loads as many as are left.
                unsafe {
                    while place + 2 * $lanes <= length {
                        sums = $add_product($load(one.add(place)), $load(other.add(place)), sums);
                        let next = place + $lanes;
                        others = $add_product($load(one.add(next)), $load(other.add(next)), others);
                        place += 2 * $lanes;
                    }
                    if place + $lanes <= length {
                        sums = $add_product($load(one.add(place)), $load(other.add(place)), sums);
                        place += $lanes;
                    }
                    if place < length {
                        let left = length - place;
                        others = $add_product($last(one.add(place), left), $last(other.add(place), left), others);
                    }
                }
                $add(sums, others)
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
mod rows {
    use super::{LONG, of_long_rows};
    use std::arch::x86_64::*;

    dots! {
        dot_f64 f64 "avx2,fma" 4 _mm256_setzero_pd _mm256_loadu_pd last_double _mm256_fmadd_pd add_double;
        dot_f32 f32 "avx2,fma" 8 _mm256_setzero_ps _mm256_loadu_ps last_single _mm256_fmadd_ps add_single;
    }

    static MASK: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
    static MASK_OF_SINGLE: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

    /// # Safety
    /// So many elements can be read, which are fewer than a vector has.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn last_double(from: *const f64, left: usize) -> __m256d {
        // SAFETY: the mask lies in its table, and lanes that are not there are not loaded.
        unsafe { _mm256_maskload_pd(from, _mm256_loadu_si256(MASK.as_ptr().add(4 - left).cast())) }
    }

    /// # Safety
    /// As [`last_double`].
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn last_single(from: *const f32, left: usize) -> __m256 {
        // SAFETY: as above.
        unsafe { _mm256_maskload_ps(from, _mm256_loadu_si256(MASK_OF_SINGLE.as_ptr().add(8 - left).cast())) }
    }

    /// The sum of all lanes of two vectors.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_double(one: __m256d, other: __m256d) -> f64 {
        let all = _mm256_add_pd(one, other);
        let two = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd::<1>(all));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }

    /// The sum of all lanes of two vectors.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn add_single(one: __m256, other: __m256) -> f32 {
        let all = _mm256_add_ps(one, other);
        let four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

pub use rows::{dot_f32, dot_f64};

/// The helpers for functions that are compiled for processors with AVX-512.
#[cfg(target_arch = "x86_64")]
pub mod widest {
    pub use super::*;

    use std::arch::x86_64::*;

    dots! {
        dot_f64 f64 "avx512f,avx512bw,avx512dq,avx512vl,fma" 8 _mm512_setzero_pd _mm512_loadu_pd last_double _mm512_fmadd_pd add_double;
        dot_f32 f32 "avx512f,avx512bw,avx512dq,avx512vl,fma" 16 _mm512_setzero_ps _mm512_loadu_ps last_single _mm512_fmadd_ps add_single;
    }

    /// # Safety
    /// So many elements can be read, which are fewer than a vector has.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    unsafe fn last_double(from: *const f64, left: usize) -> __m512d {
        // SAFETY: lanes that are not there are not loaded.
        unsafe { _mm512_maskz_loadu_pd(((1_u32 << left) - 1) as __mmask8, from) }
    }

    /// # Safety
    /// As [`last_double`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    unsafe fn last_single(from: *const f32, left: usize) -> __m512 {
        // SAFETY: as above.
        unsafe { _mm512_maskz_loadu_ps(((1_u32 << left) - 1) as __mmask16, from) }
    }

    /// The sum of all lanes of two vectors.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    fn add_double(one: __m512d, other: __m512d) -> f64 {
        _mm512_reduce_add_pd(_mm512_add_pd(one, other))
    }

    /// The sum of all lanes of two vectors.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    fn add_single(one: __m512, other: __m512) -> f32 {
        _mm512_reduce_add_ps(_mm512_add_ps(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_rows_of_any_length() {
        for length in (0..70).chain([255, 256, 257, 511, 512, 513, 1000, 1025]) {
            let (one, other): (Vec<f64>, Vec<f64>) =
                (0..length).map(|place| (f64::from(place % 7) - 3.0, f64::from(place % 5) - 1.5)).unzip();
            // A run of a longer array may begin anywhere.
            for first in [0, length as usize / 3] {
                let (one, other) = (&one[first..], &other[first..]);
                let expected: f64 = one.iter().zip(other).map(|(one, other)| one * other).sum();
                let single = |row: &[f64]| row.iter().map(|&number| number as f32).collect::<Vec<f32>>();
                for (double, of_single) in in_each_way(one, other, &single(one), &single(other)) {
                    assert_eq!((double, of_single), (expected, expected as f32), "{length} {first}");
                }
            }
        }
    }

    /// The sums by what is compiled for processors like this one.
    #[cfg(target_arch = "x86_64")]
    fn in_each_way(one: &[f64], other: &[f64], single: &[f32], others: &[f32]) -> Vec<(f64, f32)> {
        use std::arch::is_x86_feature_detected as has;
        let mut found = Vec::new();
        if has!("avx2") && has!("fma") {
            // SAFETY: the processor has been asked.
            found.push(unsafe { (dot_f64(one, other), dot_f32(single, others)) });
        }
        if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") && has!("fma") {
            // SAFETY: as above.
            found.push(unsafe { (widest::dot_f64(one, other), widest::dot_f32(single, others)) });
        }
        found
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn in_each_way(one: &[f64], other: &[f64], single: &[f32], others: &[f32]) -> Vec<(f64, f32)> {
        vec![(dot_f64(one, other), dot_f32(single, others))]
    }

    #[test]
    #[should_panic(expected = "rows are of one length")]
    #[cfg(target_arch = "x86_64")]
    fn rows_of_two_lengths() {
        assert!(
            !in_each_way(&[1.0], &[1.0, 2.0], &[], &[]).is_empty(),
            "rows are of one length, but nothing can check it here"
        );
    }
}
