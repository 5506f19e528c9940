//! Complex numbers of compiled kernels. In memory and in every operation they are those of the crate `num-complex`, which the
//! host computes with and a library that is compiled at run time can't have.

#![allow(non_camel_case_types)]

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub};

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

            fn from_polar(norm: $part, angle: $part) -> Self {
                Self::new(norm * angle.cos(), norm * angle.sin())
            }

            /// The square root with a real part that is not negative.
            pub fn sqrt(self) -> Self {
                if self.im == 0.0 {
                    if self.re.is_sign_positive() {
                        return Self::new(self.re.sqrt(), self.im);
                    }
                    let im = (-self.re).sqrt();
                    return Self::new(0.0, if self.im.is_sign_positive() { im } else { -im });
                }
                if self.re == 0.0 {
                    let part = (self.im.abs() / 2.0).sqrt();
                    return Self::new(part, if self.im.is_sign_positive() { part } else { -part });
                }
                Self::from_polar(self.norm().sqrt(), self.im.atan2(self.re) / 2.0)
            }

            /// The exponential.
            pub fn exp(self) -> Self {
                let Self { re, im } = self;
                if re == <$part>::NEG_INFINITY && !im.is_finite() {
                    return Self::new(0.0, 0.0);
                }
                if re == <$part>::INFINITY && (im == 0.0 || !im.is_finite()) {
                    return Self::new(re, if im.is_infinite() { <$part>::NAN } else { im });
                }
                if re.is_nan() && im == 0.0 {
                    return self;
                }
                Self::from_polar(re.exp(), im)
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

        impl Div for Complex<$part> {
            type Output = Self;

            #[inline(always)]
            fn div(self, other: Self) -> Self {
                let square = other.re * other.re + other.im * other.im;
                let re = self.re * other.re + self.im * other.im;
                let im = self.im * other.re - self.re * other.im;
                Self::new(re / square, im / square)
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
