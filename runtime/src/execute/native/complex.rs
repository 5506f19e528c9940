//! Complex numbers of compiled kernels. In memory and in every operation they are those of the crate `num-complex`, which the
//! host computes with and a library that is compiled at run time can't have.

#![allow(non_camel_case_types)]

use std::ops::{Add, AddAssign, Mul, MulAssign, Neg, Sub};

/// A complex number.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

/// Of two `f32`.
pub type c32 = Complex<f32>;

/// Of two `f64`.
pub type c64 = Complex<f64>;

macro_rules! complex {
    ($part:ident) => {
        // SAFETY: both parts are numbers, and what is zero in either is zero bytes.
        unsafe impl crate::parallel::Plain for Complex<$part> {
            #[inline(always)]
            fn is_zero(self) -> bool {
                crate::parallel::Plain::is_zero(self.re) && crate::parallel::Plain::is_zero(self.im)
            }
        }

        impl Complex<$part> {
            /// The number of a real and an imaginary part.
            #[inline(always)]
            pub const fn new(re: $part, im: $part) -> Self {
                Self { re, im }
            }

            /// The complex conjugate.
            #[inline(always)]
            pub fn conj(self) -> Self {
                Self::new(self.re, -self.im)
            }

            /// The absolute value.
            #[inline(always)]
            pub fn norm(self) -> $part {
                self.re.hypot(self.im)
            }
        }

        impl Add for Complex<$part> {
            type Output = Self;

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                Self::new(self.re + other.re, self.im + other.im)
            }
        }

        impl Sub for Complex<$part> {
            type Output = Self;

            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                Self::new(self.re - other.re, self.im - other.im)
            }
        }

        impl Mul for Complex<$part> {
            type Output = Self;

            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
            }
        }

        impl Neg for Complex<$part> {
            type Output = Self;

            #[inline(always)]
            fn neg(self) -> Self {
                Self::new(-self.re, -self.im)
            }
        }

        impl AddAssign for Complex<$part> {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl MulAssign for Complex<$part> {
            #[inline(always)]
            fn mul_assign(&mut self, other: Self) {
                *self = *self * other;
            }
        }
    };
}

complex!(f32);
complex!(f64);
