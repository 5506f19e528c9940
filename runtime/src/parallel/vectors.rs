//! Rows in vectors of eight or sixteen lanes, for functions that are compiled for processors chosen when they are called, whatever the
//! crate is compiled for: a compiler that knows how long a row is makes vectors of its loop by itself, but of a row of any length it
//! makes a loop of many cases.
//!
//! A row is `COUNT` vectors, of which it is known that `FULL` have an element in each lane: only the others need masks.

/// Defines masks and vectors of so many lanes from what a processor has. `compiled` is the attribute that says which processors
/// they are for; `registers` has the functions of a mask and of registers, `single` and `double`.
macro_rules! vectors {
    ($lanes:literal, $compiled:tt, $masks:ident $mask:ty, $f32:ident $single:ty, $f64:ident $double:ty) => {
        /// Which lanes of a row's vectors have an element.
        #[derive(Debug, Clone, Copy)]
        pub struct $masks<const COUNT: usize, const FULL: usize> {
            length: usize,
            lanes: [$mask; COUNT],
        }

        impl<const COUNT: usize, const FULL: usize> $masks<COUNT, FULL> {
            /// Those of a row of so many elements.
            ///
            /// # Panics
            /// When vectors that are to be full are not, or all of them do not hold the row.
            #$compiled
            #[inline]
            pub fn of(length: usize) -> Self {
                assert!(length >= $lanes * FULL, "vectors that are full");
                assert!(length <= $lanes * COUNT, "as many lanes as elements");
                let mut lanes = [registers::first(0); COUNT];
                let mut vector = 0;
                while vector < COUNT {
                    lanes[vector] = registers::first(length.saturating_sub($lanes * vector).min($lanes));
                    vector += 1;
                }
                Self { length, lanes }
            }

            /// How many lanes of a vector have an element, if not all.
            #$compiled
            #[inline]
            fn some(&self, vector: usize) -> Option<usize> {
                let left = self.length.saturating_sub($lanes * vector);
                (vector >= FULL && left < $lanes).then_some(left)
            }
        }

        vectors!(of $f64 f64 $double, $lanes, $compiled, $masks, double);
        vectors!(of $f32 f32 $single, $lanes, $compiled, $masks, single);

        impl $f64 {
            /// Each rounded to the nearest.
            #$compiled
            #[inline]
            pub fn rounded(self) -> $f32 {
                $f32(registers::rounded(self.0))
            }
        }

        impl $f32 {
            /// The same numbers.
            #$compiled
            #[inline]
            pub fn widened(self) -> $f64 {
                $f64(registers::widened(self.0))
            }
        }
    };
    (of $name:ident $number:ident $register:ty, $lanes:literal, $compiled:tt, $masks:ident, $functions:ident) => {
        /// Some numbers, one in each lane.
        #[allow(non_camel_case_types)]
        #[derive(Debug, Clone, Copy)]
        pub struct $name($register);

        impl $name {
            /// The same in all lanes.
            #$compiled
            #[inline]
            pub fn splat(number: $number) -> Self {
                Self(registers::$functions::splat(number))
            }

            /// A vector of a row; zero in lanes without an element.
            ///
            /// # Panics
            /// When the row has fewer elements, or not so many vectors.
            #$compiled
            #[inline]
            pub fn load<const COUNT: usize, const FULL: usize>(row: &[$number], masks: &$masks<COUNT, FULL>, vector: usize) -> Self {
                assert!(row.len() >= masks.length && vector < COUNT, "a row has all elements");
                // SAFETY: the row has all lanes of the vectors that are full, and all lanes of the others that the mask has.
                unsafe {
                    let place = row.as_ptr().wrapping_add($lanes * vector);
                    if vector < FULL {
                        return Self(registers::$functions::load(place));
                    }
                    Self(registers::$functions::load_some(place, masks.lanes[vector]))
                }
            }

            /// A vector of a row that is written too, whose lanes are not masked where all have an element: processors find what was
            /// stored a moment ago where loads and stores are of the same whole vectors.
            ///
            /// # Panics
            /// As [`Self::load`].
            #$compiled
            #[inline]
            pub fn load_written<const COUNT: usize, const FULL: usize>(
                row: &[$number],
                masks: &$masks<COUNT, FULL>,
                vector: usize,
            ) -> Self {
                assert!(row.len() >= masks.length && vector < COUNT, "a row has all elements");
                // SAFETY: as above.
                unsafe {
                    let place = row.as_ptr().wrapping_add($lanes * vector);
                    match masks.some(vector) {
                        None => Self(registers::$functions::load(place)),
                        Some(_) => Self(registers::$functions::load_some(place, masks.lanes[vector])),
                    }
                }
            }

            /// Stores the lanes that have an element of the row.
            ///
            /// # Panics
            /// As [`Self::load`].
            #$compiled
            #[inline]
            pub fn store<const COUNT: usize, const FULL: usize>(
                self,
                row: &mut [$number],
                masks: &$masks<COUNT, FULL>,
                vector: usize,
            ) {
                assert!(row.len() >= masks.length && vector < COUNT, "a row has all elements");
                // SAFETY: as above.
                unsafe {
                    let place = row.as_mut_ptr().wrapping_add($lanes * vector);
                    match masks.some(vector) {
                        None => registers::$functions::store(place, self.0),
                        Some(0) => {}
                        Some(_) => registers::$functions::store_some(place, masks.lanes[vector], self.0),
                    }
                }
            }

            vectors! { methods $compiled, $functions
                /// The sums.
                plus
                /// The differences.
                minus
                /// The products.
                times
                /// The quotients.
                over
                /// The lesser of each two, or the one that is a number.
                lesser
                /// The greater of each two, or the one that is a number.
                greater
            }

            /// Each with the other sign.
            #$compiled
            #[inline]
            pub fn negated(self) -> Self {
                Self(registers::$functions::negated(self.0))
            }

            /// The products with another plus a third, rounded once where the processor does that in one instruction.
            #$compiled
            #[inline]
            pub fn times_plus(self, other: Self, addend: Self) -> Self {
                Self(registers::$functions::times_plus(self.0, other.0, addend.0))
            }
        }
    };
    (methods $compiled:tt, $functions:ident $($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #$compiled
            #[inline]
            pub fn $name(self, other: Self) -> Self {
                Self(registers::$functions::$name(self.0, other.0))
            }
        )*
    };
}

/// Functions of two registers as one, from those of each; `halves` gives the masks of both.
#[cfg(target_arch = "x86_64")]
macro_rules! pairs {
    ($features:literal, $mask:ty, $halves:ident, $lanes:literal; $($module:ident $number:ident [$($of:tt)*] $half:ty;)*) => {
        $(pub(crate) mod $module {
            use $($of)* as half;
            use super::*;

            type Pair = [$half; 2];

            compiled_for! { $features;
                pub(crate) fn splat(number: $number) -> Pair { [half::splat(number); 2] }

                /// # Safety
                /// There are as many numbers as lanes, as in the functions below; or as many as the mask has.
                pub(crate) unsafe fn load(place: *const $number) -> Pair {
                    // SAFETY: the caller vouches for as many numbers as both halves have lanes.
                    unsafe { [half::load(place), half::load(place.add($lanes))] }
                }

                pub(crate) unsafe fn load_some(place: *const $number, mask: $mask) -> Pair {
                    let [low, high] = $halves(mask);
                    // SAFETY: the caller vouches for the numbers of each half of the mask. An address may be of nothing where it has no lane.
                    unsafe { [half::load_some(place, low), half::load_some(place.wrapping_add($lanes), high)] }
                }

                pub(crate) unsafe fn store(place: *mut $number, [low, high]: Pair) {
                    // SAFETY: as for `load`.
                    unsafe {
                        half::store(place, low);
                        half::store(place.add($lanes), high);
                    }
                }

                pub(crate) unsafe fn store_some(place: *mut $number, mask: $mask, lanes: Pair) {
                    let [low, high] = $halves(mask);
                    // SAFETY: as for `load_some`.
                    unsafe {
                        half::store_some(place, low, lanes[0]);
                        half::store_some(place.wrapping_add($lanes), high, lanes[1]);
                    }
                }

                pub(crate) fn plus(one: Pair, other: Pair) -> Pair { [half::plus(one[0], other[0]), half::plus(one[1], other[1])] }

                pub(crate) fn minus(one: Pair, other: Pair) -> Pair { [half::minus(one[0], other[0]), half::minus(one[1], other[1])] }

                pub(crate) fn times(one: Pair, other: Pair) -> Pair { [half::times(one[0], other[0]), half::times(one[1], other[1])] }

                pub(crate) fn over(one: Pair, other: Pair) -> Pair { [half::over(one[0], other[0]), half::over(one[1], other[1])] }

                pub(crate) fn lesser(one: Pair, other: Pair) -> Pair { [half::lesser(one[0], other[0]), half::lesser(one[1], other[1])] }

                pub(crate) fn greater(one: Pair, other: Pair) -> Pair { [half::greater(one[0], other[0]), half::greater(one[1], other[1])] }

                pub(crate) fn negated(one: Pair) -> Pair { [half::negated(one[0]), half::negated(one[1])] }

                pub(crate) fn times_plus(one: Pair, other: Pair, addend: Pair) -> Pair {
                    [half::times_plus(one[0], other[0], addend[0]), half::times_plus(one[1], other[1], addend[1])]
                }
            }
        })*
    };
}

/// Functions that are compiled for a processor.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($features:literal; $($function:item)*) => {
        $(
            #[target_feature(enable = $features)]
            #[inline]
            $function
        )*
    };
}

/// Functions of one register, from instructions that take the mask as those of AVX-512 do.
#[cfg(target_arch = "x86_64")]
macro_rules! registers_with_masks {
    ($features:literal, $mask:ty; $(
        $module:ident $number:ident $register:ident: $splat:ident $load:ident $load_some:ident $store:ident $store_some:ident
        $add:ident $sub:ident $mul:ident $div:ident $min:ident $max:ident $compare:ident $blend:ident $fmadd:ident $xor:ident $or:ident $and:ident;
    )*) => {
        $(pub(crate) mod $module {
            use super::*;

            compiled_for! { $features;
                pub(crate) fn splat(number: $number) -> $register { $splat(number) }

                /// # Safety
                /// There are as many numbers as lanes, as in the functions below; or as many as the mask has.
                pub(crate) unsafe fn load(place: *const $number) -> $register {
                    // SAFETY: the caller vouches for as many numbers as there are lanes; they may begin anywhere.
                    unsafe { $load(place) }
                }

                pub(crate) unsafe fn load_some(place: *const $number, mask: $mask) -> $register {
                    // SAFETY: the caller vouches for the numbers of the mask, and others are not loaded.
                    unsafe { $load_some(mask, place) }
                }

                pub(crate) unsafe fn store(place: *mut $number, lanes: $register) {
                    // SAFETY: as for `load`.
                    unsafe { $store(place, lanes) }
                }

                pub(crate) unsafe fn store_some(place: *mut $number, mask: $mask, lanes: $register) {
                    // SAFETY: as for `load_some`.
                    unsafe { $store_some(place, mask, lanes) }
                }

                pub(crate) fn plus(one: $register, other: $register) -> $register { $add(one, other) }

                pub(crate) fn minus(one: $register, other: $register) -> $register { $sub(one, other) }

                pub(crate) fn times(one: $register, other: $register) -> $register { $mul(one, other) }

                pub(crate) fn over(one: $register, other: $register) -> $register { $div(one, other) }

                // Where either is no number, or both are zero, the instructions give the second. Those that are equal have the same bits, but
                // for zeros.
                pub(crate) fn lesser(one: $register, other: $register) -> $register {
                    let smaller = $blend($compare::<_CMP_UNORD_Q>(other, other), $min(one, other), one);
                    $blend($compare::<_CMP_EQ_OQ>(one, other), smaller, $or(one, other))
                }

                pub(crate) fn greater(one: $register, other: $register) -> $register {
                    let larger = $blend($compare::<_CMP_UNORD_Q>(other, other), $max(one, other), one);
                    $blend($compare::<_CMP_EQ_OQ>(one, other), larger, $and(one, other))
                }

                pub(crate) fn negated(one: $register) -> $register { $xor(one, $splat(-0.0)) }

                pub(crate) fn times_plus(one: $register, other: $register, addend: $register) -> $register {
                    $fmadd(one, other, addend)
                }
            }
        })*
    };
}

/// For processors with AVX-512.
#[cfg(target_arch = "x86_64")]
pub mod avx512 {
    use std::arch::x86_64::{__m256, __m512, __m512d, __mmask8, __mmask16};

    /// In vectors of eight.
    pub mod eight {
        use super::*;

        vectors!(8, [target_feature(enable = "avx512f,avx512dq,avx512vl,fma")], Masks8 __mmask8, f32x8 __m256, f64x8 __m512d);

        pub(super) mod registers {
            use std::arch::x86_64::*;

            compiled_for! { "avx512f,avx512dq,avx512vl,fma";
                pub(crate) fn first(count: usize) -> __mmask8 { ((1_u32 << count) - 1) as __mmask8 }

                pub(crate) fn rounded(double: __m512d) -> __m256 { _mm512_cvtpd_ps(double) }

                pub(crate) fn widened(single: __m256) -> __m512d { _mm512_cvtps_pd(single) }
            }

            registers_with_masks! { "avx512f,avx512dq,avx512vl,fma", __mmask8;
                double f64 __m512d: _mm512_set1_pd _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_storeu_pd _mm512_mask_storeu_pd
                    _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_min_pd _mm512_max_pd _mm512_cmp_pd_mask
                    _mm512_mask_blend_pd _mm512_fmadd_pd _mm512_xor_pd _mm512_or_pd _mm512_and_pd;
                single f32 __m256: _mm256_set1_ps _mm256_loadu_ps _mm256_maskz_loadu_ps _mm256_storeu_ps _mm256_mask_storeu_ps
                    _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_min_ps _mm256_max_ps _mm256_cmp_ps_mask
                    _mm256_mask_blend_ps _mm256_fmadd_ps _mm256_xor_ps _mm256_or_ps _mm256_and_ps;
            }
        }
    }

    /// In vectors of sixteen: numbers of `f64` are two registers.
    pub mod sixteen {
        use super::*;

        vectors!(
            16,
            [target_feature(enable = "avx512f,avx512dq,avx512vl,fma")],
            Masks16 __mmask16,
            f32x16 __m512,
            f64x16 [__m512d; 2]
        );

        mod registers {
            use std::arch::x86_64::*;

            compiled_for! { "avx512f,avx512dq,avx512vl,fma";
                pub(crate) fn first(count: usize) -> __mmask16 { ((1_u32 << count) - 1) as __mmask16 }

                fn halves(mask: __mmask16) -> [__mmask8; 2] { [mask as __mmask8, (mask >> 8) as __mmask8] }

                pub(crate) fn rounded([low, high]: [__m512d; 2]) -> __m512 {
                    _mm512_insertf32x8::<1>(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high))
                }

                pub(crate) fn widened(single: __m512) -> [__m512d; 2] {
                    [_mm512_cvtps_pd(_mm512_castps512_ps256(single)), _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(single))]
                }
            }

            registers_with_masks! { "avx512f,avx512dq,avx512vl,fma", __mmask16;
                single f32 __m512: _mm512_set1_ps _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps _mm512_mask_storeu_ps
                    _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_min_ps _mm512_max_ps _mm512_cmp_ps_mask
                    _mm512_mask_blend_ps _mm512_fmadd_ps _mm512_xor_ps _mm512_or_ps _mm512_and_ps;
            }

            pairs! { "avx512f,avx512dq,avx512vl,fma", __mmask16, halves, 8;
                double f64 [super::super::super::eight::registers::double] __m512d;
            }
        }
    }
}

/// For processors with AVX2 and FMA: eight numbers of `f64` are two registers.
#[cfg(target_arch = "x86_64")]
pub mod avx2 {
    use std::arch::x86_64::{__m256, __m256d, __m256i};

    /// In vectors of eight.
    pub mod eight {
        use super::*;

        vectors!(8, [target_feature(enable = "avx2,fma")], Masks8 __m256i, f32x8 __m256, f64x8 [__m256d; 2]);

        pub(super) mod registers {
            use std::arch::x86_64::*;

            static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

            compiled_for! { "avx2,fma";
                pub(crate) fn first(count: usize) -> __m256i {
                    let lanes: &[i32; 8] = LANES[8 - count..16 - count].first_chunk().expect("eight lanes");
                    // SAFETY: eight numbers of 32 bits are a register.
                    unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) }
                }

                pub(crate) fn rounded([low, high]: [__m256d; 2]) -> __m256 {
                    _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low))
                }

                pub(crate) fn widened(single: __m256) -> [__m256d; 2] {
                    [_mm256_cvtps_pd(_mm256_castps256_ps128(single)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(single))]
                }
            }

            compiled_for! { "avx2,fma";
                unsafe fn load_single(mask: __m256i, place: *const f32) -> __m256 {
                    // SAFETY: the caller vouches for the numbers of the mask, and others are not loaded.
                    unsafe { _mm256_maskload_ps(place, mask) }
                }

                unsafe fn load_double(mask: __m256i, place: *const f64) -> __m256d {
                    // SAFETY: as above.
                    unsafe { _mm256_maskload_pd(place, mask) }
                }

                fn blend_single(mask: __m256, one: __m256, other: __m256) -> __m256 { _mm256_blendv_ps(one, other, mask) }

                fn blend_double(mask: __m256d, one: __m256d, other: __m256d) -> __m256d { _mm256_blendv_pd(one, other, mask) }
            }

            registers_with_masks! { "avx2,fma", __m256i;
                single f32 __m256: _mm256_set1_ps _mm256_loadu_ps load_single _mm256_storeu_ps _mm256_maskstore_ps
                    _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_min_ps _mm256_max_ps _mm256_cmp_ps
                    blend_single _mm256_fmadd_ps _mm256_xor_ps _mm256_or_ps _mm256_and_ps;
                four f64 __m256d: _mm256_set1_pd _mm256_loadu_pd load_double _mm256_storeu_pd _mm256_maskstore_pd
                    _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_min_pd _mm256_max_pd _mm256_cmp_pd
                    blend_double _mm256_fmadd_pd _mm256_xor_pd _mm256_or_pd _mm256_and_pd;
            }

            compiled_for! { "avx2,fma";
                /// The masks for numbers of 64 bits.
                fn halves(mask: __m256i) -> [__m256i; 2] {
                    [_mm256_cvtepi32_epi64(_mm256_castsi256_si128(mask)), _mm256_cvtepi32_epi64(_mm256_extracti128_si256::<1>(mask))]
                }
            }

            pairs! { "avx2,fma", __m256i, halves, 4;
                double f64 [super::four] __m256d;
            }
        }
    }

    /// In vectors of sixteen.
    pub mod sixteen {
        use super::*;

        vectors!(
            16,
            [target_feature(enable = "avx2,fma")],
            Masks16 [__m256i; 2],
            f32x16 [__m256; 2],
            f64x16 [[__m256d; 2]; 2]
        );

        mod registers {
            use super::super::eight::registers as eight;
            use std::arch::x86_64::*;

            compiled_for! { "avx2,fma";
                pub(crate) fn first(count: usize) -> [__m256i; 2] { [eight::first(count.min(8)), eight::first(count.saturating_sub(8))] }

                fn halves(mask: [__m256i; 2]) -> [__m256i; 2] { mask }

                pub(crate) fn rounded([low, high]: [[__m256d; 2]; 2]) -> [__m256; 2] { [eight::rounded(low), eight::rounded(high)] }

                pub(crate) fn widened([low, high]: [__m256; 2]) -> [[__m256d; 2]; 2] { [eight::widened(low), eight::widened(high)] }
            }

            pairs! { "avx2,fma", [__m256i; 2], halves, 8;
                double f64 [super::super::super::eight::registers::double] [__m256d; 2];
                single f32 [super::super::super::eight::registers::single] __m256;
            }
        }
    }
}

/// Functions of as many numbers as lanes, and of a number of them.
#[cfg(any(test, not(target_arch = "x86_64")))]
macro_rules! arrays {
    ($lanes:literal; $($module:ident $number:ident)*) => {
        pub(crate) fn first(count: usize) -> usize {
            count
        }

        pub(crate) fn rounded(double: [f64; $lanes]) -> [f32; $lanes] {
            double.map(|number| number as f32)
        }

        pub(crate) fn widened(single: [f32; $lanes]) -> [f64; $lanes] {
            single.map(f64::from)
        }

        $(pub(crate) mod $module {
            use crate::parallel::numbers::Real;
            use crate::parallel::product::Fused;
            use std::array::from_fn;

            type Lanes = [$number; $lanes];

            pub(crate) fn splat(number: $number) -> Lanes {
                [number; $lanes]
            }

            /// # Safety
            /// There are as many numbers as lanes, as in the functions below; or as many as are asked for.
            pub(crate) unsafe fn load(place: *const $number) -> Lanes {
                // SAFETY: the caller vouches for as many numbers as an array of them has.
                unsafe { place.cast::<Lanes>().read() }
            }

            pub(crate) unsafe fn load_some(place: *const $number, count: usize) -> Lanes {
                // SAFETY: the caller vouches for so many numbers.
                from_fn(|lane| if lane < count { unsafe { place.add(lane).read() } } else { 0.0 })
            }

            pub(crate) unsafe fn store(place: *mut $number, lanes: Lanes) {
                // SAFETY: as for `load`.
                unsafe { place.cast::<Lanes>().write(lanes) }
            }

            pub(crate) unsafe fn store_some(place: *mut $number, count: usize, lanes: Lanes) {
                for (lane, number) in lanes.into_iter().enumerate().take(count) {
                    // SAFETY: as for `load_some`.
                    unsafe { place.add(lane).write(number) }
                }
            }

            pub(crate) fn plus(one: Lanes, other: Lanes) -> Lanes {
                from_fn(|lane| one[lane] + other[lane])
            }

            pub(crate) fn minus(one: Lanes, other: Lanes) -> Lanes {
                from_fn(|lane| one[lane] - other[lane])
            }

            pub(crate) fn times(one: Lanes, other: Lanes) -> Lanes {
                from_fn(|lane| one[lane] * other[lane])
            }

            pub(crate) fn over(one: Lanes, other: Lanes) -> Lanes {
                from_fn(|lane| one[lane] / other[lane])
            }

            pub(crate) fn lesser(one: Lanes, other: Lanes) -> Lanes {
                from_fn(|lane| one[lane].minimum_number(other[lane]))
            }

            pub(crate) fn greater(one: Lanes, other: Lanes) -> Lanes {
                from_fn(|lane| one[lane].maximum_number(other[lane]))
            }

            pub(crate) fn negated(one: Lanes) -> Lanes {
                one.map(|number| -number)
            }

            pub(crate) fn times_plus(one: Lanes, other: Lanes, addend: Lanes) -> Lanes {
                from_fn(|lane| one[lane].multiply_add(other[lane], addend[lane]))
            }
        })*
    };
}

/// For all others.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub mod any {
    /// In vectors of eight.
    pub mod eight {
        vectors!(8, [cfg(all())], Masks8 usize, f32x8 [f32; 8], f64x8 [f64; 8]);

        mod registers {
            arrays! { 8; double f64 single f32 }
        }
    }

    /// In vectors of sixteen.
    pub mod sixteen {
        vectors!(16, [cfg(all())], Masks16 usize, f32x16 [f32; 16], f64x16 [f64; 16]);

        mod registers {
            arrays! { 16; double f64 single f32 }
        }
    }
}

#[cfg(test)]
mod tests {
    /// Rows of all lengths, computed in vectors and one by one.
    macro_rules! rows {
        ($module:ident $(#[$compiled:meta])*) => {
            mod $module {
                rows!(eight 8 $module Masks8 f32x8 f64x8 $(#[$compiled])*);
                rows!(sixteen 16 $module Masks16 f32x16 f64x16 $(#[$compiled])*);
            }
        };
        ($lanes:ident $count:literal $module:ident $masks:ident $f32:ident $f64:ident $(#[$compiled:meta])*) => {
            mod $lanes {
                use super::super::super::$module::$lanes::{$masks, $f32, $f64};

                const LENGTH: usize = 4 * $count;

                rows!(of double f64 $f64 $count $module $masks $(#[$compiled])*);
                rows!(of single f32 $f32 $count $module $masks $(#[$compiled])*);

                $(#[$compiled])*
                fn converts<const COUNT: usize, const FULL: usize>(length: usize) {
                    let masks = $masks::<COUNT, FULL>::of(length);
                    let from: Vec<f64> = (0..length).map(|place| 0.1 + place as f64).collect();
                    let mut single = vec![0.0_f32; length];
                    let mut double = vec![0.0_f64; length];
                    for vector in 0..COUNT {
                        let rounded = $f64::load(&from, &masks, vector).rounded();
                        rounded.store(&mut single, &masks, vector);
                        rounded.widened().store(&mut double, &masks, vector);
                    }
                    let expected: Vec<f32> = from.iter().map(|&number| number as f32).collect();
                    assert_eq!(single, expected);
                    assert_eq!(double, expected.into_iter().map(f64::from).collect::<Vec<_>>());
                }

                #[test]
                fn elements_are_converted() {
                    if !super::super::has(stringify!($module)) {
                        return;
                    }
                    // SAFETY: the processor has been asked.
                    #[allow(unused_unsafe)]
                    unsafe {
                        (0..=$count).for_each(|length| converts::<1, 0>(length));
                        ($count..=2 * $count).for_each(|length| converts::<2, 1>(length));
                        (2 * $count + 1..=4 * $count).for_each(|length| converts::<4, 2>(length));
                    }
                }
            }
        };
        (of $name:ident $number:ident $vector:ident $count:literal $module:ident $masks:ident $(#[$compiled:meta])*) => {
            mod $name {
                use super::*;
                use crate::parallel::{maximum_number, minimum_number};

                $(#[$compiled])*
                fn computes<const COUNT: usize, const FULL: usize>(length: usize) {
                    let masks = $masks::<COUNT, FULL>::of(length);
                    let one: Vec<$number> = (0..LENGTH).map(|place| place as $number * 0.5 - 3.0).collect();
                    let mut other: Vec<$number> = (0..LENGTH).map(|place| 7.0 - place as $number).collect();
                    other[0] = $number::NAN;
                    // Both are zero.
                    other[6] = [0.0, -0.0][$count % 3 % 2];
                    let elements = |of: &dyn Fn($number, $number) -> $number| -> Vec<$number> {
                        (0..LENGTH).map(|place| if place < length { of(one[place], other[place]) } else { -1.0 }).collect()
                    };
                    let with = |row: &[$number], vector| {
                        ($vector::load(&one[..length], &masks, vector), $vector::load_written(row, &masks, vector))
                    };
                    let operators: [(fn($vector, $vector) -> $vector, &dyn Fn($number, $number) -> $number); 8] = [
                        (|a, b| a.plus(b), &|a, b| a + b),
                        (|a, b| a.minus(b), &|a, b| a - b),
                        (|a, b| a.times(b), &|a, b| a * b),
                        (|a, b| a.over(b), &|a, b| a / b),
                        (|a, b| a.lesser(b), &|a, b| minimum_number(a, b)),
                        (|a, b| b.greater(a), &|a, b| maximum_number(a, b)),
                        (|a, b| a.times_plus(b, $vector::splat(0.5)), &|a, b| a.mul_add(b, 0.5)),
                        (|a, b| b.lesser(a.negated()), &|a, b| minimum_number(b, -a)),
                    ];
                    for (in_vectors, one_by_one) in operators {
                        let mut row = other[..length].to_vec();
                        row.resize(LENGTH, -1.0);
                        for vector in 0..COUNT {
                            let (a, b) = with(&row[..length], vector);
                            in_vectors(a, b).store(&mut row[..length], &masks, vector);
                        }
                        let text = |row: &[$number]| format!("{row:?}");
                        assert_eq!(text(&row), text(&elements(one_by_one)), "{length} of {COUNT}");
                    }
                }

                #[test]
                fn rows_of_any_length() {
                    if !super::super::super::has(stringify!($module)) {
                        return;
                    }
                    // SAFETY: the processor has been asked.
                    #[allow(unused_unsafe)]
                    unsafe {
                        (0..=$count).for_each(|length| computes::<1, 0>(length));
                        ($count..=2 * $count).for_each(|length| computes::<2, 1>(length));
                        (2 * $count + 1..=4 * $count).for_each(|length| computes::<4, 2>(length));
                    }
                }

                #[test]
                #[should_panic(expected = "a row has all elements")]
                fn rows_that_are_too_short() {
                    assert!(super::super::super::has(stringify!($module)), "a row has all elements, but nothing can check it here");
                    // SAFETY: as above.
                    #[allow(unused_unsafe)]
                    unsafe {
                        $vector::load(&[1.0; 2 * $count - 1], &$masks::<2, 0>::of(2 * $count), 0);
                    }
                }

                #[test]
                #[should_panic(expected = "vectors that are full")]
                fn too_many_vectors() {
                    assert!(super::super::super::has(stringify!($module)), "vectors that are full, but nothing can check it here");
                    // SAFETY: as above.
                    #[allow(unused_unsafe)]
                    unsafe {
                        $masks::<2, 1>::of($count - 1);
                    }
                }
            }
        };
    }

    rows!(any);
    #[cfg(target_arch = "x86_64")]
    rows!(avx2 #[target_feature(enable = "avx2,fma")]);
    #[cfg(target_arch = "x86_64")]
    rows!(avx512 #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]);

    /// Whether this processor has what a module is compiled for.
    fn has(module: &str) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            let has_avx512 = has!("avx512f") && has!("avx512dq") && has!("avx512vl");
            match module {
                "avx2" => has!("avx2") && has!("fma"),
                "avx512" => has_avx512 && has!("fma"),
                _ => true,
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            module == "any"
        }
    }
}
