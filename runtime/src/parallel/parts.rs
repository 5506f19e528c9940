//! Functions of complex numbers, by their parts.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::numbers::Parts;

/// A complex number.
pub trait Complex: Copy {
    /// The quotient; of numbers whose squares are beyond the range, too.
    fn quotient(self, by: Self) -> Self;
    /// The square root with a real part that is not negative.
    fn root(self) -> Self;
    /// The exponential.
    fn exponential(self) -> Self;
}

macro_rules! complex {
    ($($type:ident)*) => {
        $(impl Complex for crate::complex::$type {
            #[inline]
            fn quotient(self, by: Self) -> Self {
                let [re, im] = [self.re, self.im].quotient([by.re, by.im]);
                Self { re, im }
            }

            #[inline]
            fn root(self) -> Self {
                let [re, im] = [self.re, self.im].root();
                Self { re, im }
            }

            #[inline]
            fn exponential(self) -> Self {
                let [re, im] = [self.re, self.im].exponential();
                Self { re, im }
            }
        })*
    };
}

complex!(c32 c64);

/// The quotient; see [`Complex::quotient`].
///
/// ```
/// use spc::complex::c64;
/// use spc::parallel::quotient;
///
/// // Squares of these are infinite.
/// let x = c64::new(3e200, -1e200);
/// assert_eq!(quotient(x, x), c64::new(1.0, 0.0));
/// ```
#[inline]
pub fn quotient<T: Complex>(one: T, by: T) -> T {
    one.quotient(by)
}

/// The square root; see [`Complex::root`].
#[inline]
pub fn root<T: Complex>(number: T) -> T {
    number.root()
}

/// The exponential; see [`Complex::exponential`].
#[inline]
pub fn exponential<T: Complex>(number: T) -> T {
    number.exponential()
}
