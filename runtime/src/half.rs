//! Numbers of two bytes: the elements of type `f16` and `bf16`, which kernels read as `f32`, compute with as `f32`, and round once
//! when they store a result.
//!
//! ```
//! use spc::half::{bf16, f16};
//!
//! let third = f16::from(1.0 / 3.0);
//! assert_eq!((third.to_bits(), f32::from(third)), (0x3555, 0.333_251_95));
//! assert_eq!(f32::from(bf16::from(1.0 / 3.0)), 0.333_984_38);
//! assert_eq!(f32::from(f16::from(1e6)), f32::INFINITY);
//! ```

pub use crate::parallel::{bf16, f16};

use bytemuck::{Pod, Zeroable};
use std::fmt;

macro_rules! elements {
    ($($name:ident)*) => {$(
        // SAFETY: it is a `u16`, and all of its bits are numbers.
        unsafe impl Zeroable for $name {}
        // SAFETY: as above.
        unsafe impl Pod for $name {}

        /// As that of `f32`: zeros of either sign are equal, and NaN is equal to nothing.
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                f32::from(*self) == f32::from(*other)
            }
        }

        /// Rounded once, from the nearest `f64`.
        impl std::str::FromStr for $name {
            type Err = std::num::ParseFloatError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self::from_f64)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&f32::from(*self), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&f32::from(*self), f)
            }
        }
    )*};
}
elements!(f16 bf16);

impl f16 {
    /// One.
    pub const ONE: Self = Self::from_bits(0x3c00);

    /// The nearest to a number of double precision, of two the even one: rounded once.
    pub fn from_f64(value: f64) -> Self {
        Self::from(rounded_to_odd(value))
    }
}

impl bf16 {
    /// One.
    pub const ONE: Self = Self::from_bits(0x3f80);

    /// The nearest to a number of double precision, of two the even one: rounded once.
    pub fn from_f64(value: f64) -> Self {
        Self::from(rounded_to_odd(value))
    }
}

/// The `f32` towards zero, with the last bit set where that is not exact: rounding it once more to at least two bits less is the
/// same as rounding the number itself. Boldo and Melquiond, *Emulation of a FMA and Correctly Rounded Sums: Proved Algorithms Using
/// Rounding to Odd* (2008).
fn rounded_to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    let wide = f64::from(nearest);
    if wide == value || value.is_nan() {
        return nearest;
    }
    let bits = nearest.to_bits();
    let towards_zero = if wide.abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(towards_zero | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_by_its_bits() {
        for bits in 0..=u16::MAX {
            let (half, brain) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(f16::from(f32::from(half)).to_bits(), bits);
            assert_eq!(bf16::from(f32::from(brain)).to_bits(), bits);
            if !f32::from(half).is_nan() {
                assert_eq!(f16::from_f64(f32::from(half).into()).to_bits(), bits);
            }
            if !f32::from(brain).is_nan() {
                assert_eq!(bf16::from_f64(f32::from(brain).into()).to_bits(), bits);
            }
        }
    }

    /// The nearest of all finite numbers and the next power of two, of two the one whose last bit is zero.
    fn nearest(value: f64, of: impl Fn(u16) -> f64, infinite: u16) -> u16 {
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let (mut low, mut high) = (0, infinite);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if of(middle) <= value.abs() { low = middle } else { high = middle }
        }
        let above = if high == infinite { 2.0 * of(infinite - 1) - of(infinite - 2) } else { of(high) };
        let (below, above) = (value.abs() - of(low), above - value.abs());
        let is_low = below < above || below == above && low & 1 == 0;
        sign | if is_low { low } else { high }
    }

    #[test]
    fn others_become_the_nearest() {
        let half = |bits: u16| f64::from(f32::from(f16::from_bits(bits)));
        let brain = |bits: u16| f64::from(f32::from(bf16::from_bits(bits)));
        let check = |value: f64| {
            assert_eq!(f16::from_f64(value).to_bits(), nearest(value, half, 0x7c00), "{value:e}");
            assert_eq!(bf16::from_f64(value).to_bits(), nearest(value, brain, 0x7f80), "{value:e}");
            let single = value as f32;
            assert_eq!(f16::from(single).to_bits(), nearest(single.into(), half, 0x7c00), "{single:e}");
            assert_eq!(bf16::from(single).to_bits(), nearest(single.into(), brain, 0x7f80), "{single:e}");
        };
        for bits in 0..0x7bff {
            // Between two numbers: in the middle, and next to it.
            let middle = (half(bits) + half(bits + 1)) / 2.0;
            [middle, -middle, middle * (1.0 + 1e-15), middle * (1.0 - 1e-15)].into_iter().for_each(check);
            [half(bits), middle * (1.0 + 1e-7), middle * (1.0 - 1e-7)].into_iter().for_each(check);
        }
        for bits in (0..0x7f00).step_by(7) {
            let middle = (brain(bits) + brain(bits + 1)) / 2.0;
            [middle, -middle, middle * (1.0 + 1e-15), middle * (1.0 - 1e-15)].into_iter().for_each(check);
        }
        [65519.999, 65520.0, 65520.001, 1e300, 1e-300, f64::from(f32::MAX), 0.0, -0.0].into_iter().for_each(check);
        assert!(f32::from(f16::from_f64(f64::NAN)).is_nan() && f32::from(bf16::from(f32::NAN)).is_nan());
        assert_eq!(f16::from_f64(f64::NEG_INFINITY).to_bits(), 0xfc00);
    }
}
