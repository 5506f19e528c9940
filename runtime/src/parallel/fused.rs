//! The helpers for functions that are compiled for processors that multiply and add in one instruction, whatever the crate is
//! compiled for: those of `tensor_kernel!` that are chosen when they are called.
//!
//! Functions of such processors may be called by functions of such processors alone, which compilers check.

use super::row::no_row;
pub use super::*;

#[cfg(target_arch = "x86_64")]
use super::dot::LONG;

/// As [`super::add_product`], in one instruction. Elsewhere than in such functions it is a call that takes a hundred times as long.
#[inline(always)]
pub fn add_product<T: Fused>(sum: &mut T, one: T, other: T) {
    *sum = if cfg!(target_arch = "x86_64") { one.fused(other, *sum) } else { one.multiply_add(other, *sum) };
}

/// So many elements of an array from a place on, by one comparison in a loop that asks for as many each time.
///
/// # Panics
/// When the array ends before.
#[inline(always)]
pub fn row_of<T>(elements: &[T], first: usize, length: usize) -> &[T] {
    match elements.len().checked_sub(length) {
        // SAFETY: from `first` on there are at least `length` elements.
        Some(last) if first <= last => unsafe { elements.get_unchecked(first..first + length) },
        _ => no_row(),
    }
}

/// As [`row_of`], to write to.
///
/// # Panics
/// As [`row_of`].
#[inline(always)]
pub fn row_of_mut<T>(elements: &mut [T], first: usize, length: usize) -> &mut [T] {
    match elements.len().checked_sub(length) {
        // SAFETY: as above.
        Some(last) if first <= last => unsafe { elements.get_unchecked_mut(first..first + length) },
        _ => no_row(),
    }
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

/// Sums of products of rows, each with what sums those of more than four vectors, the features of the processors that it is for, its
/// vectors, what loads the last lanes, of which some are none, and what adds vectors, and all lanes of one.
#[cfg(target_arch = "x86_64")]
macro_rules! dots {
    ($($name:ident $longer:ident $number:ident $features:literal $lanes:literal $zero:ident $load:ident $last:ident $add_product:ident $plus:ident $total:ident;)*) => {
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
                if length > 4 * $lanes {
                    return $longer(one, other);
                }
                let (one, other) = (one.as_ptr(), other.as_ptr());
                // SAFETY: each load is of lanes before `length`, but for the last, which loads as many as are left.
                unsafe {
                    let product = |place: usize, sum| $add_product($load(one.add(place)), $load(other.add(place)), sum);
                    let rest = |place: usize, sum| {
                        $add_product($last(one.add(place), length - place), $last(other.add(place), length - place), sum)
                    };
                    if length <= $lanes {
                        return $total(rest(0, $zero()));
                    }
                    let first = product(0, $zero());
                    if length <= 2 * $lanes {
                        return $total(rest($lanes, first));
                    }
                    let second = product($lanes, $zero());
                    if length <= 3 * $lanes {
                        return $total($plus(rest(2 * $lanes, first), second));
                    }
                    $total($plus(product(2 * $lanes, first), rest(3 * $lanes, second)))
                }
            }

            /// The same of more than a few vectors.
            #[target_feature(enable = $features)]
            #[inline(never)]
            fn $longer(one: &[$number], other: &[$number]) -> $number {
                let length = one.len();
                if length > LONG * $lanes {
                    return of_long_rows(one, other);
                }
                let other = &other[..length];
                let (one, other) = (one.as_ptr(), other.as_ptr());
                let (mut sums, mut others) = ($zero(), $zero());
                let mut place = 0;
                // SAFETY: as above.
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
                $total($plus(sums, others))
            }
        )*
    };
}

#[cfg(target_arch = "x86_64")]
mod rows {
    use super::{LONG, of_long_rows};
    use std::arch::x86_64::*;

    dots! {
        dot_f64 longer_f64 f64 "avx2,fma" 4 _mm256_setzero_pd _mm256_loadu_pd last_double _mm256_fmadd_pd _mm256_add_pd total_of_double;
        dot_f32 longer_f32 f32 "avx2,fma" 8 _mm256_setzero_ps _mm256_loadu_ps last_single _mm256_fmadd_ps _mm256_add_ps total_of_single;
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

    /// The sum of all lanes.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn total_of_double(all: __m256d) -> f64 {
        let two = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd::<1>(all));
        _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)))
    }

    /// The sum of all lanes.
    #[target_feature(enable = "avx2,fma")]
    #[inline]
    fn total_of_single(all: __m256) -> f32 {
        let four = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

pub use rows::{dot_f32, dot_f64};

#[cfg(not(target_arch = "x86_64"))]
pub use super::vectors::any::eight::{Masks8, f32x8, f64x8};
#[cfg(not(target_arch = "x86_64"))]
pub use super::vectors::any::sixteen::{Masks16, f32x16, f64x16};
#[cfg(target_arch = "x86_64")]
pub use super::vectors::avx2::eight::{Masks8, f32x8, f64x8};
#[cfg(target_arch = "x86_64")]
pub use super::vectors::avx2::sixteen::{Masks16, f32x16, f64x16};

/// The helpers for functions that are compiled for processors with AVX-512.
#[cfg(target_arch = "x86_64")]
pub mod widest {
    pub use super::*;

    pub use super::super::vectors::avx512::eight::{Masks8, f32x8, f64x8};
    pub use super::super::vectors::avx512::sixteen::{Masks16, f32x16, f64x16};

    /// The bits of a code that are those of one number, taken out in one instruction.
    pub type Bits = super::BitsOf<true>;

    use std::arch::x86_64::*;

    dots! {
        dot_f64 longer_f64 f64 "avx512f,avx512bw,avx512dq,avx512vl,fma" 8 _mm512_setzero_pd _mm512_loadu_pd last_double _mm512_fmadd_pd _mm512_add_pd total_of_double;
        dot_f32 longer_f32 f32 "avx512f,avx512bw,avx512dq,avx512vl,fma" 16 _mm512_setzero_ps _mm512_loadu_ps last_single _mm512_fmadd_ps _mm512_add_ps total_of_single;
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

    /// The sum of all lanes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    fn total_of_double(all: __m512d) -> f64 {
        _mm512_reduce_add_pd(all)
    }

    /// The sum of all lanes.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
    #[inline]
    fn total_of_single(all: __m512) -> f32 {
        _mm512_reduce_add_ps(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_parts_of_arrays() {
        let mut elements = [1, 2, 3, 4];
        assert_eq!(row_of(&elements, 1, 3), [2, 3, 4]);
        assert_eq!(row_of(&elements, 4, 0), [0_i32; 0]);
        row_of_mut(&mut elements, 2, 2)[1] = 9;
        assert_eq!(elements, [1, 2, 3, 9]);
        for (first, length) in [(2, 3), (5, 0), (0, 5), (usize::MAX, 1), (1, usize::MAX)] {
            let beyond = || row_of(&elements, first, length).len();
            assert!(std::panic::catch_unwind(beyond).is_err(), "{first} {length}");
        }
    }

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
