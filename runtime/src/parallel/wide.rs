//! Vector registers of processors with AVX-512, whose loads and gathers leave out lanes.

#![cfg(all(target_arch = "x86_64", target_feature = "avx512f", target_feature = "avx512vl"))]

use super::Coordinate;
use std::arch::x86_64::*;

/// Registers that are added up in lanes of `f64`, which lose nothing of so many.
pub trait Lasting: Copy {
    /// The lanes.
    type Sums: Copy;

    /// Zeros.
    fn none() -> Self::Sums;

    /// Sums.
    fn add_to(self, sums: Self::Sums) -> Self::Sums;

    /// Sums, rounded.
    fn rounded(sums: Self::Sums) -> Self;
}

/// Numbers in the lanes of a register.
pub trait Lanes: Lasting {
    /// Their type.
    type Number: Copy;

    /// How many lanes there are.
    const COUNT: usize;

    /// An array of at most as many elements; zero in the other lanes.
    fn load(elements: &[Self::Number]) -> Self;

    /// Writes an array of at most as many elements as there are lanes.
    fn store(self, elements: &mut [Self::Number]);

    /// What an array has at coordinates, at most as many; zero in the other lanes.
    ///
    /// # Panics
    /// When a coordinate lies beyond the array, or the array has more than [`GATHERED`] elements.
    fn gather<C: Coordinate>(of: &[Self::Number], coordinates: &[C]) -> Self;

    /// What an array has at coordinates, at most as many; zero in the other lanes, and where a coordinate fills up.
    ///
    /// # Panics
    /// As [`Lanes::gather`].
    fn gather_some<C: Coordinate>(of: &[Self::Number], coordinates: &[C]) -> Self;

    /// The lanes whose coordinates do not fill up, of at most as many.
    fn some<C: Coordinate>(coordinates: &[C]) -> u32;

    /// Sums.
    fn add(self, other: Self) -> Self;

    /// Products.
    fn times(self, other: Self) -> Self;

    /// `self + one * other`
    fn add_products(self, one: Self, other: Self) -> Self;

    /// The same in some lanes; the others stay.
    fn add_some_products(self, lanes: u32, one: Self, other: Self) -> Self;

    /// The sum of all lanes.
    fn total(self) -> Self::Number;
}

/// Numbers in eight lanes.
pub trait EightLanes: Lanes {
    /// The sum in each lane of the elements from a place to another that registers have one behind the other, in pairs.
    fn sums_between<const PAIRS: usize>(of: [[Self; 2]; PAIRS], begins: [u32; 8], ends: [u32; 8]) -> Self;

    /// The sum in each lane of all lanes of one.
    fn totals(of: [Self; 8]) -> Self;

    /// Adds in some lanes what lies one, two or four lanes before, where another register lies before the first.
    fn add_before<const BY: usize>(self, lanes: u8, before: Self) -> Self;

    /// Sums in some lanes; the others stay.
    fn add_some(self, lanes: u8, other: Self) -> Self;

    /// Some lanes side by side.
    fn packed(self, lanes: u8) -> Self;
}

/// A number type with vector registers.
pub trait Wide: Copy {
    /// One of eight lanes: as many as there are entries in most rows, and gathers take a time for each lane, used or not.
    type Gathered: EightLanes<Number = Self>;

    /// One of four lanes, for processors that load elements one by one in less time than they gather them.
    type Loaded: Lanes<Number = Self>;

    /// The widest, for what lies side by side.
    type Row: Lanes<Number = Self>;
}

/// Whether the processor loads elements one by one in less time than it gathers them: AMD's, which are known by instructions that
/// no other has.
pub const LOADS_ONE_BY_ONE: bool = cfg!(target_feature = "sse4a");

/// The most elements of an array that a second-level cache holds besides what is streamed.
const NEAR: usize = 1 << 15;

impl Wide for f32 {
    type Gathered = F32x8;
    type Loaded = F32x4;
    type Row = F32x16;
}

impl Wide for f64 {
    type Gathered = F64x8;
    type Loaded = F64x4;
    type Row = F64x8;
}

/// How many elements an array may have to be gathered from: a gather takes places as signed numbers of 32 bits.
pub const GATHERED: usize = i32::MAX as usize;

/// Has an element of an array, where there is one, brought near.
#[inline(always)]
pub fn fetch<T>(elements: &[T], place: usize) {
    // SAFETY: this may be any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(elements.as_ptr().wrapping_add(place).cast()) }
}

/// Which of 64 bytes, each 0 or 1, are set.
#[inline(always)]
pub fn set_bytes(bytes: &[u8; 64]) -> u64 {
    if cfg!(target_feature = "avx512bw") {
        // SAFETY: all bytes are loaded, and the processor has these instructions.
        unsafe {
            let bytes = _mm512_loadu_epi8(bytes.as_ptr().cast());
            _mm512_test_epi8_mask(bytes, bytes)
        }
    } else {
        bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(*byte))
    }
}

/// The lanes of an array of so many elements, or more than there are lanes: all.
#[inline(always)]
fn mask(length: usize) -> u32 {
    1u32.checked_shl(length as u32).unwrap_or(0).wrapping_sub(1)
}

/// Coordinates as 32-bit numbers: those that fill up, where some do, as the largest, and those that are larger as the one before.
#[inline(always)]
fn narrowed<const COUNT: usize, C: Coordinate>(coordinates: &[C], is_filled: bool) -> [u32; COUNT] {
    let mut narrow = [u32::MAX; COUNT];
    for (to, from) in narrow.iter_mut().zip(coordinates) {
        if !(is_filled && from.is_filling()) {
            *to = u32::try_from(from.place()).unwrap_or(u32::MAX - 1);
        }
    }
    narrow
}

#[cold]
#[inline(never)]
fn beyond(length: usize) -> ! {
    panic!("a coordinate is out of bounds of the {length} elements that an array has, or can be gathered from")
}

macro_rules! lanes {
    (
        $name:ident, $number:ty, $register:ty, $count:literal, $mask_type:ty, $places:ty, $load:ident, $store:ident,
        $load_places:ident, $set_places:ident, $at_least:ident, $differ:ident, |$mask:ident, $at:ident, $of:ident| $gather:expr,
        $set:ident($($lane:literal)*),
        $add:ident, $multiply:ident, $multiply_add:ident, $some_multiply_add:ident, |$all:ident| $total:expr
    ) => {
        #[doc = concat!(stringify!($count), " numbers.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name($register);

        // SAFETY of all: the crate is compiled for processors that have these instructions.
        impl Lanes for $name {
            type Number = $number;

            const COUNT: usize = $count;

            #[inline(always)]
            fn load(elements: &[$number]) -> Self {
                // SAFETY: lanes beyond the elements are not loaded.
                Self(unsafe { $load(mask(elements.len()) as $mask_type, elements.as_ptr()) })
            }

            #[inline(always)]
            fn store(self, elements: &mut [$number]) {
                // SAFETY: lanes beyond the elements are not stored.
                unsafe { $store(elements.as_mut_ptr(), mask(elements.len()) as $mask_type, self.0) }
            }

            #[inline(always)]
            fn gather<C: Coordinate>(of: &[$number], coordinates: &[C]) -> Self {
                match coordinates.first_chunk() {
                    Some(coordinates) if LOADS_ONE_BY_ONE && Self::is_near(of) => Self::load_at(of, coordinates),
                    _ => Self::gather_at(of, Self::places(coordinates, false), mask(coordinates.len()) as $mask_type),
                }
            }

            #[inline(always)]
            fn gather_some<C: Coordinate>(of: &[$number], coordinates: &[C]) -> Self {
                let some = Self::some(coordinates) as $mask_type;
                match coordinates.first_chunk() {
                    Some(coordinates)
                        if LOADS_ONE_BY_ONE && Self::is_near(of) && some == mask($count) as $mask_type =>
                    {
                        Self::load_at(of, coordinates)
                    }
                    _ => Self::gather_at(of, Self::places(coordinates, true), some),
                }
            }

            #[inline(always)]
            fn some<C: Coordinate>(coordinates: &[C]) -> u32 {
                let places = Self::places(coordinates, true);
                let lanes = mask(coordinates.len()) as $mask_type;
                u32::from(unsafe { $differ(lanes, places, $set_places(-1)) })
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
            fn add_some_products(self, lanes: u32, one: Self, other: Self) -> Self {
                Self(unsafe { $some_multiply_add(one.0, other.0, self.0, lanes as $mask_type) })
            }

            #[inline(always)]
            fn total(self) -> $number {
                let $all = self.0;
                unsafe { $total }
            }
        }

        impl $name {
            /// Coordinates in lanes, as numbers of 32 bits.
            #[inline(always)]
            fn places<C: Coordinate>(coordinates: &[C], is_filled: bool) -> $places {
                // SAFETY: coordinates are loaded where there are any; they are 32 bits wide where they are loaded as such.
                unsafe {
                    if size_of::<C>() == 4 {
                        $load_places(mask(coordinates.len()) as $mask_type, coordinates.as_ptr().cast())
                    } else {
                        std::mem::transmute::<[u32; $count], $places>(narrowed(coordinates, is_filled))
                    }
                }
            }

            /// Whether elements of an array are loaded one by one in less time: few at once, or of an array that a cache may hold. Gathers
            /// wait for more of them at the same time.
            #[inline(always)]
            fn is_near(of: &[$number]) -> bool {
                $count <= 4 || of.len() <= NEAR
            }

            /// What an array has at coordinates.
            #[inline(always)]
            fn load_at<C: Coordinate>(of: &[$number], coordinates: &[C; $count]) -> Self {
                let at = Self::places(coordinates, false);
                if of.len() > GATHERED {
                    beyond(GATHERED);
                }
                // SAFETY: all places are below the array's length, and below 2^31, when its elements are loaded. Coordinates are
                // read where they are, once more: compilers would take them out of the register, which takes longer.
                unsafe {
                    if $at_least(mask($count) as $mask_type, at, $set_places(of.len() as i32)) != 0 {
                        beyond(of.len());
                    }
                    let get = |lane: usize| *of.get_unchecked((&raw const coordinates[lane]).read_volatile().place());
                    Self($set($(get($lane)),*))
                }
            }

            /// What an array has at places, zero in the lanes that are left out.
            #[inline(always)]
            fn gather_at(of: &[$number], $at: $places, $mask: $mask_type) -> Self {
                if of.len() > GATHERED {
                    beyond(GATHERED);
                }
                // SAFETY: all places are below the array's length, and below 2^31, when its elements are gathered.
                unsafe {
                    if $at_least($mask, $at, $set_places(of.len() as i32)) != 0 {
                        beyond(of.len());
                    }
                    let $of = of.as_ptr();
                    Self($gather)
                }
            }
        }
    };
}

lanes!(
    F64x8,
    f64,
    __m512d,
    8,
    u8,
    __m256i,
    _mm512_maskz_loadu_pd,
    _mm512_mask_storeu_pd,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), mask, at, of.cast()),
    _mm512_set_pd(7 6 5 4 3 2 1 0),
    _mm512_add_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    _mm512_mask3_fmadd_pd,
    |all| _mm512_reduce_add_pd(all)
);
lanes!(
    F32x8,
    f32,
    __m256,
    8,
    u8,
    __m256i,
    _mm256_maskz_loadu_ps,
    _mm256_mask_storeu_ps,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_ps::<4>(_mm256_setzero_ps(), mask, at, of.cast()),
    _mm256_set_ps(7 6 5 4 3 2 1 0),
    _mm256_add_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    _mm256_mask3_fmadd_ps,
    |all| of_four(_mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all)))
);
lanes!(
    F32x16,
    f32,
    __m512,
    16,
    u16,
    __m512i,
    _mm512_maskz_loadu_ps,
    _mm512_mask_storeu_ps,
    _mm512_maskz_loadu_epi32,
    _mm512_set1_epi32,
    _mm512_mask_cmpge_epu32_mask,
    _mm512_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, at, of.cast()),
    _mm512_set_ps(15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0),
    _mm512_add_ps,
    _mm512_mul_ps,
    _mm512_fmadd_ps,
    _mm512_mask3_fmadd_ps,
    |all| _mm512_reduce_add_ps(all)
);
lanes!(
    F64x4,
    f64,
    __m256d,
    4,
    u8,
    __m128i,
    _mm256_maskz_loadu_pd,
    _mm256_mask_storeu_pd,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_pd::<8>(_mm256_setzero_pd(), mask, at, of.cast()),
    _mm256_set_pd(3 2 1 0),
    _mm256_add_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    _mm256_mask3_fmadd_pd,
    |all| {
        let half = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd::<1>(all));
        _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)))
    }
);
lanes!(
    F32x4,
    f32,
    __m128,
    4,
    u8,
    __m128i,
    _mm_maskz_loadu_ps,
    _mm_mask_storeu_ps,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm_mmask_i32gather_ps::<4>(_mm_setzero_ps(), mask, at, of.cast()),
    _mm_set_ps(3 2 1 0),
    _mm_add_ps,
    _mm_mul_ps,
    _mm_fmadd_ps,
    _mm_mask3_fmadd_ps,
    |all| of_four(all)
);

macro_rules! lasting {
    ($($name:ident: $sums:ty, $none:expr, |$lanes:ident, $into:ident| $add:expr, $rounded:expr;)*) => {
        $(impl Lasting for $name {
            type Sums = $sums;

            #[inline(always)]
            fn none() -> $sums {
                // SAFETY: the crate is compiled for processors that have these instructions.
                unsafe { $none }
            }

            #[inline(always)]
            fn add_to(self, $into: $sums) -> $sums {
                let $lanes = self.0;
                // SAFETY: as above.
                unsafe { $add }
            }

            #[inline(always)]
            fn rounded($into: $sums) -> Self {
                // SAFETY: as above.
                Self(unsafe { $rounded })
            }
        })*
    };
}

lasting! {
    F64x8: __m512d, _mm512_setzero_pd(), |lanes, sums| _mm512_add_pd(sums, lanes), sums;
    F64x4: __m256d, _mm256_setzero_pd(), |lanes, sums| _mm256_add_pd(sums, lanes), sums;
    F32x4: __m256d, _mm256_setzero_pd(), |lanes, sums| _mm256_add_pd(sums, _mm256_cvtps_pd(lanes)), _mm256_cvtpd_ps(sums);
    F32x8: __m512d, _mm512_setzero_pd(), |lanes, sums| _mm512_add_pd(sums, _mm512_cvtps_pd(lanes)), _mm512_cvtpd_ps(sums);
    F32x16: [__m512d; 2], [_mm512_setzero_pd(); 2], |lanes, sums| {
        let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(lanes)));
        let halves = [_mm512_castps512_ps256(lanes), upper];
        [0, 1].map(|half| _mm512_add_pd(sums[half], _mm512_cvtps_pd(halves[half])))
    }, {
        let [lower, upper] = sums.map(|half| _mm256_castps_pd(_mm512_cvtpd_ps(half)));
        _mm512_castpd_ps(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(lower), upper))
    };
}

macro_rules! eight_lanes {
    (
        $name:ident, $add:ident, |$numbers:ident| $places:expr, $blend:ident, $pick:ident, $pack:ident,
        $bits:ident, $from_bits:ident, $align:ident, |$of:ident| $totals:expr
    ) => {
        // SAFETY of all: as above; what is picked from a pair is in it, whatever the number.
        impl EightLanes for $name {
            #[inline(always)]
            fn sums_between<const PAIRS: usize>(of: [[Self; 2]; PAIRS], begins: [u32; 8], ends: [u32; 8]) -> Self {
                unsafe {
                    let [mut $numbers, ends] =
                        [begins, ends].map(|numbers| std::mem::transmute::<[u32; 8], __m256i>(numbers));
                    let mut sums = Self::load(&[]).0;
                    loop {
                        let there = _mm256_cmplt_epu32_mask($numbers, ends);
                        if there == 0 {
                            return Self(sums);
                        }
                        let places = $places;
                        let mut found = $pick(of[0][0].0, places, of[0][1].0);
                        for (pair, [one, other]) in of.iter().enumerate().skip(1) {
                            let is_behind = _mm256_cmpge_epu32_mask($numbers, _mm256_set1_epi32(16 * pair as i32));
                            found = $blend(is_behind, found, $pick(one.0, places, other.0));
                        }
                        sums = $add(sums, there, sums, found);
                        $numbers = _mm256_add_epi32($numbers, _mm256_set1_epi32(1));
                    }
                }
            }

            #[inline(always)]
            fn totals(of: [Self; 8]) -> Self {
                let $of = of.map(|one| one.0);
                unsafe { Self($totals) }
            }

            #[inline(always)]
            fn add_before<const BY: usize>(self, lanes: u8, before: Self) -> Self {
                const { assert!(BY == 1 || BY == 2 || BY == 4) };
                unsafe {
                    let (here, before) = ($bits(self.0), $bits(before.0));
                    let shifted = match BY {
                        1 => $align::<7>(here, before),
                        2 => $align::<6>(here, before),
                        _ => $align::<4>(here, before),
                    };
                    Self($add(self.0, lanes, self.0, $from_bits(shifted)))
                }
            }

            #[inline(always)]
            fn add_some(self, lanes: u8, other: Self) -> Self {
                Self(unsafe { $add(self.0, lanes, self.0, other.0) })
            }

            #[inline(always)]
            fn packed(self, lanes: u8) -> Self {
                Self(unsafe { $pack(lanes, self.0) })
            }
        }
    };
}

eight_lanes!(
    F64x8,
    _mm512_mask_add_pd,
    |numbers| _mm512_cvtepu32_epi64(numbers),
    _mm512_mask_blend_pd,
    _mm512_permutex2var_pd,
    _mm512_maskz_compress_pd,
    _mm512_castpd_si512,
    _mm512_castsi512_pd,
    _mm512_alignr_epi64,
    |of| {
        let pairs = |one, other| _mm512_add_pd(_mm512_unpacklo_pd(one, other), _mm512_unpackhi_pd(one, other));
        let halves = |one, other| {
            let even = _mm512_shuffle_f64x2::<0b10_00_10_00>(one, other);
            _mm512_add_pd(even, _mm512_shuffle_f64x2::<0b11_01_11_01>(one, other))
        };
        let [first, second] =
            [[0, 2], [4, 6]].map(|[one, other]| halves(pairs(of[one], of[one + 1]), pairs(of[other], of[other + 1])));
        halves(first, second)
    }
);
eight_lanes!(
    F32x8,
    _mm256_mask_add_ps,
    |numbers| numbers,
    _mm256_mask_blend_ps,
    _mm256_permutex2var_ps,
    _mm256_maskz_compress_ps,
    _mm256_castps_si256,
    _mm256_castsi256_ps,
    _mm256_alignr_epi32,
    |of| {
        let [first, second] = [[0, 2], [4, 6]].map(|[one, other]| {
            _mm256_hadd_ps(_mm256_hadd_ps(of[one], of[one + 1]), _mm256_hadd_ps(of[other], of[other + 1]))
        });
        let low = _mm256_permute2f128_ps::<0b10_00_00>(first, second);
        _mm256_add_ps(low, _mm256_permute2f128_ps::<0b11_00_01>(first, second))
    }
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
