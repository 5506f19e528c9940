//! Elements of two bytes that are computed with as `f32`.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::rounding;

macro_rules! halves {
    ($($(#[$doc:meta])* $name:ident $to:ident $of:ident;)*) => {$(
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
    f16 f32_of_f16 f16_of_f32;
    /// A bfloat16 number, the upper half of an `f32`: 8 bits of precision, its range. An element of type `bf16`.
    bf16 f32_of_bf16 bf16_of_f32;
}
