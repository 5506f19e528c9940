//! Elements of two bytes that are computed with as `f32`.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::rounding;

/// Elements of two bytes.
pub trait Half: Copy + Into<f32> {
    /// Whether it is the upper half of an `f32`.
    const IS_UPPER: bool;
}

macro_rules! halves {
    ($($(#[$doc:meta])* $name:ident $to:ident $of:ident $one_to:ident $one_of:ident $is_upper:literal;)*) => {$(
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u16);

        impl $name {
            /// The number of these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Its bits.
            #[inline(always)]
            pub const fn to_bits(self) -> u16 {
                self.0
            }

            /// As an `f32`: exact. In one instruction, where processors have one, which takes one number: loops over many are vectors by
            /// `f32::from`.
            #[inline(always)]
            pub fn number(self) -> f32 {
                $one_to(self.0)
            }

            /// The nearest to an `f32`, as [`From`] gives it, in the same way.
            #[inline(always)]
            pub fn nearest(value: f32) -> Self {
                Self($one_of(value))
            }
        }

        impl Half for $name {
            const IS_UPPER: bool = $is_upper;
        }

        /// Exact.
        impl From<$name> for f32 {
            #[inline(always)]
            fn from(half: $name) -> f32 {
                rounding::$to(half.0)
            }
        }

        /// The nearest, of two the even one; infinite beyond the largest.
        impl From<f32> for $name {
            #[inline(always)]
            fn from(value: f32) -> Self {
                Self(rounding::$of(value))
            }
        }

        // SAFETY: zero bytes are positive zero.
        unsafe impl super::Plain for $name {
            #[inline(always)]
            fn is_zero(self) -> bool {
                self.0 == 0
            }
        }
    )*};
}

halves! {
    /// An IEEE binary16 number: 11 bits of precision, up to 65504. An element of type `f16`.
    f16 f32_of_f16 f16_of_f32 one_of_f16 one_f16_of false;
    /// A bfloat16 number, the upper half of an `f32`: 8 bits of precision, its range. An element of type `bf16`.
    bf16 f32_of_bf16 bf16_of_f32 f32_of_bf16 bf16_of_f32 true;
}

#[cfg(all(target_arch = "x86_64", target_feature = "f16c"))]
#[inline(always)]
fn one_of_f16(bits: u16) -> f32 {
    use std::arch::x86_64::*;
    // SAFETY: the crate is compiled for processors that have this instruction.
    unsafe { _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits.into()))) }
}

#[cfg(all(target_arch = "x86_64", target_feature = "f16c"))]
#[inline(always)]
fn one_f16_of(value: f32) -> u16 {
    use std::arch::x86_64::*;
    // SAFETY: as above.
    unsafe { _mm_extract_epi16::<0>(_mm_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(_mm_set_ss(value))) as u16 }
}

use rounding::{bf16_of_f32, f32_of_bf16};
#[cfg(not(all(target_arch = "x86_64", target_feature = "f16c")))]
use rounding::{f16_of_f32 as one_f16_of, f32_of_f16 as one_of_f16};

/// All elements of a row, converted.
///
/// ```
/// use spc::half::f16;
///
/// assert_eq!(spc::parallel::numbers(&[f16::from(1.5), f16::from(-2.0)]), [1.5, -2.0]);
/// ```
#[inline(always)]
pub fn numbers<const LENGTH: usize, H: Half>(row: &[H; LENGTH]) -> [f32; LENGTH] {
    let mut numbers = [0.0; LENGTH];
    let done = converted(row, &mut numbers);
    for (to, from) in numbers[done..].iter_mut().zip(&row[done..]) {
        *to = (*from).into();
    }
    numbers
}

/// The same of a part of an array.
///
/// # Panics
/// When the part has another length.
#[inline(always)]
pub fn numbers_of<const LENGTH: usize, H: Half>(part: &[H]) -> [f32; LENGTH] {
    numbers::<LENGTH, H>(part.try_into().expect("a row has as many elements"))
}

/// Converts elements by instructions for several at once, and says how many.
#[cfg(all(target_arch = "x86_64", target_feature = "f16c"))]
#[inline(always)]
fn converted<H: Half>(row: &[H], numbers: &mut [f32]) -> usize {
    use std::arch::x86_64::*;
    if H::IS_UPPER {
        return 0;
    }
    let mut done = 0;
    // SAFETY: as above; all elements that are loaded and stored are there, and those of `H` are two bytes.
    unsafe {
        #[cfg(target_feature = "avx512f")]
        while done + 16 <= row.len().min(numbers.len()) {
            let sixteen = _mm256_loadu_si256(row.as_ptr().add(done).cast());
            _mm512_storeu_ps(numbers.as_mut_ptr().add(done), _mm512_cvtph_ps(sixteen));
            done += 16;
        }
        while done + 8 <= row.len().min(numbers.len()) {
            let eight = _mm_loadu_si128(row.as_ptr().add(done).cast());
            _mm256_storeu_ps(numbers.as_mut_ptr().add(done), _mm256_cvtph_ps(eight));
            done += 8;
        }
    }
    done
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "f16c")))]
#[inline(always)]
fn converted<H: Half>(_: &[H], _: &mut [f32]) -> usize {
    0
}
