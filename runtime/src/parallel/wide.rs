//! Vector registers of processors with AVX-512, whose loads and gathers leave out lanes.

#![cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]

use super::Coordinate;
use std::arch::x86_64::*;

/// Numbers in the lanes of a register.
pub trait Lanes: Copy {
    /// Their type.
    type Number: Copy;

    /// How many lanes there are.
    const COUNT: usize;

    /// Zero in each.
    fn zero() -> Self;

    /// An array of at most as many elements; zero in the other lanes.
    fn load(elements: &[Self::Number]) -> Self;

    /// What an array has at coordinates, at most as many; zero in the other lanes.
    fn gather<C: Coordinate>(of: &[Self::Number], coordinates: &[C]) -> Self;

    /// Sums.
    fn add(self, other: Self) -> Self;

    /// Products.
    fn times(self, other: Self) -> Self;

    /// `self + one * other`
    fn add_products(self, one: Self, other: Self) -> Self;

    /// The sum of all lanes.
    fn total(self) -> Self::Number;
}

/// A number type with registers of eight lanes.
pub trait Wide: Copy {
    /// One of them.
    type Register: Lanes<Number = Self>;
}

impl Wide for f32 {
    type Register = F32x8;
}

impl Wide for f64 {
    type Register = F64x8;
}

/// The lanes of an array of so many elements.
#[inline(always)]
fn mask(length: usize) -> u8 {
    if length < 8 { (1 << length) - 1 } else { u8::MAX }
}

/// Coordinates as 32-bit numbers, the largest for those that are larger.
#[inline(always)]
fn narrowed<const COUNT: usize, C: Coordinate>(coordinates: &[C]) -> [u32; COUNT] {
    let mut narrow = [0; COUNT];
    for (to, from) in narrow.iter_mut().zip(coordinates) {
        *to = u32::try_from(from.place()).unwrap_or(u32::MAX);
    }
    narrow
}

macro_rules! lanes {
    (
        $name:ident, $number:ty, $register:ty, $count:literal, $places:ty, $zero:ident, $load:ident,
        $load_places:ident, $set_places:ident, $at_least:ident, |$source:ident, $mask:ident, $at:ident, $of:ident| $gather:expr,
        $add:ident, $multiply:ident, $multiply_add:ident, |$all:ident| $total:expr
    ) => {
        #[doc = concat!(stringify!($count), " numbers.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name($register);

        impl $name {
            /// One by one: where a coordinate is too large for a gather, or for the array.
            #[cold]
            #[inline(never)]
            fn collect<C: Coordinate>(of: &[$number], coordinates: &[C]) -> Self {
                let mut all = [0.0; $count];
                for (to, from) in all.iter_mut().zip(coordinates) {
                    *to = of[from.place()];
                }
                Self::load(&all)
            }
        }

        // SAFETY of all: the crate is compiled for processors that have these instructions.
        impl Lanes for $name {
            type Number = $number;

            const COUNT: usize = $count;

            #[inline(always)]
            fn zero() -> Self {
                Self(unsafe { $zero() })
            }

            #[inline(always)]
            fn load(elements: &[$number]) -> Self {
                // SAFETY: lanes beyond the elements are not loaded.
                Self(unsafe { $load(mask(elements.len()), elements.as_ptr()) })
            }

            #[inline(always)]
            fn gather<C: Coordinate>(of: &[$number], coordinates: &[C]) -> Self {
                let $mask = mask(coordinates.len());
                let limit = i32::try_from(of.len()).unwrap_or(i32::MAX);
                // SAFETY: coordinates are loaded where there are any; they are 32 bits wide where they are loaded as such. All are
                // below the array's length, and below 2^31, when its elements are gathered.
                unsafe {
                    let $at: $places = if size_of::<C>() == 4 {
                        $load_places($mask, coordinates.as_ptr().cast())
                    } else {
                        std::mem::transmute::<[u32; $count], $places>(narrowed(coordinates))
                    };
                    if $at_least($mask, $at, $set_places(limit)) != 0 {
                        return Self::collect(of, coordinates);
                    }
                    let ($source, $of) = ($zero(), of.as_ptr());
                    Self($gather)
                }
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Self(unsafe { $multiply(self.0, other.0) })
            }

            #[inline(always)]
            fn add_products(self, one: Self, other: Self) -> Self {
                Self(unsafe { $multiply_add(one.0, other.0, self.0) })
            }

            #[inline(always)]
            fn total(self) -> $number {
                let $all = self.0;
                unsafe { $total }
            }
        }
    };
}

lanes!(
    F64x8,
    f64,
    __m512d,
    8,
    __m256i,
    _mm512_setzero_pd,
    _mm512_maskz_loadu_pd,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    |source, mask, at, of| _mm512_mask_i32gather_pd::<8>(source, mask, at, of.cast()),
    _mm512_add_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    |all| _mm512_reduce_add_pd(all)
);
lanes!(
    F32x8,
    f32,
    __m256,
    8,
    __m256i,
    _mm256_setzero_ps,
    _mm256_maskz_loadu_ps,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    |source, mask, at, of| _mm256_mmask_i32gather_ps::<4>(source, mask, at, of.cast()),
    _mm256_add_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    |all| of_four(_mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all)))
);

/// The sum of four lanes.
#[inline(always)]
fn of_four(all: __m128) -> f32 {
    // SAFETY: as above.
    unsafe {
        let half = _mm_add_ps(all, _mm_movehl_ps(all, all));
        _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)))
    }
}
