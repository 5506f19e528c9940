//! Numbers at the ends of their range: quotients, square roots and exponentials of complex numbers, of which squares may be beyond it;
//! inverse hyperbolic functions; the smaller and the larger of two numbers.
//!
//! This file stands by itself: kernels are compiled with it at run time too. Printers for C and CUDA have the same formulas.

/// A floating point number.
pub trait Real: Copy {
    /// The smaller of two numbers: `minimumNumber` of IEEE 754-2019. Of a number and NaN it is the number, and -0 is smaller than 0.
    fn minimum_number(self, other: Self) -> Self;
    /// The larger of two numbers: `maximumNumber` of IEEE 754-2019.
    fn maximum_number(self, other: Self) -> Self;
    /// The inverse hyperbolic sine.
    fn arsinh(self) -> Self;
    /// The inverse hyperbolic cosine.
    fn arcosh(self) -> Self;
    /// The one or the other of two numbers.
    fn choose(condition: bool, yes: Self, no: Self) -> Self;
}

macro_rules! real {
    ($($type:ident)*) => {
        $(impl Real for $type {
            #[inline(always)]
            fn minimum_number(self, other: Self) -> Self {
                // Of numbers that are equal, zeros may have different signs.
                let is_smaller = self < other || self == other && self.is_sign_negative();
                if is_smaller || other.is_nan() { self } else { other }
            }

            #[inline(always)]
            fn maximum_number(self, other: Self) -> Self {
                let is_larger = self > other || self == other && self.is_sign_positive();
                if is_larger || other.is_nan() { self } else { other }
            }

            fn arsinh(self) -> Self {
                let size = self.abs();
                // Twice a larger number may be infinite, and what is left out is below rounding.
                let value = if size >= 268_435_456.0 {
                    size.ln() + std::$type::consts::LN_2
                } else {
                    (size + size * size / (1.0 + (size * size + 1.0).sqrt())).ln_1p()
                };
                value.copysign(self)
            }

            fn arcosh(self) -> Self {
                if self >= 268_435_456.0 {
                    return self.ln() + std::$type::consts::LN_2;
                }
                let above = self - 1.0;
                (above + (above * (above + 2.0)).sqrt()).ln_1p()
            }

            #[inline(always)]
            fn choose(condition: bool, yes: Self, no: Self) -> Self {
                // x86 can choose between integers without a branch, and has no such instruction for floats.
                $type::from_bits(if condition { yes.to_bits() } else { no.to_bits() })
            }
        })*
    };
}

real!(f32 f64);

/// The smaller of two numbers; see [`Real::minimum_number`].
#[inline(always)]
pub fn minimum_number<T: Real>(one: T, other: T) -> T {
    one.minimum_number(other)
}

/// The larger of two numbers; see [`Real::maximum_number`].
#[inline(always)]
pub fn maximum_number<T: Real>(one: T, other: T) -> T {
    one.maximum_number(other)
}

/// The inverse hyperbolic sine; see [`Real::arsinh`].
#[inline]
pub fn arsinh<T: Real>(number: T) -> T {
    number.arsinh()
}

/// The inverse hyperbolic cosine; see [`Real::arcosh`].
#[inline]
pub fn arcosh<T: Real>(number: T) -> T {
    number.arcosh()
}

/// The one or the other of two numbers, without a branch.
#[inline(always)]
pub fn choose<T: Real>(condition: bool, yes: T, no: T) -> T {
    T::choose(condition, yes, no)
}

/// A complex number as its real and its imaginary part.
pub trait Parts: Copy {
    /// The quotient of two numbers. Divided by zero, each part is; a finite number divided by an infinite one is zero.
    fn quotient(self, by: Self) -> Self;
    /// The square root with a real part that is not negative.
    fn root(self) -> Self;
    /// The exponential.
    fn exponential(self) -> Self;
}

/// The power of two that brings a positive number to between 1 and 2, or as near as its exponent allows.
#[inline(always)]
fn scale_of(size: f64) -> f64 {
    f64::from_bits((2046 - (size.to_bits() >> 52).min(2045)) << 52)
}

/// What has no scale: a quotient by zero, or of a finite number by an infinite one.
macro_rules! unscaled {
    ($a:ident $b:ident $c:ident $d:ident) => {
        if $c == 0.0 && $d == 0.0 {
            return [$a / $c.abs(), $b / $c.abs()];
        }
        if ($c.is_infinite() || $d.is_infinite()) && $a.is_finite() && $b.is_finite() {
            return [0.0, 0.0];
        }
    };
}

impl Parts for [f64; 2] {
    #[inline]
    fn quotient(self, by: Self) -> Self {
        let ([a, b], [c, d]) = (self, by);
        unscaled!(a b c d);
        let (up, down) = (scale_of(a.abs().max(b.abs())), scale_of(c.abs().max(d.abs())));
        let ([a, b], [c, d]) = ([a * up, b * up], [c * down, d * down]);
        let square = c * c + d * d;
        let parts = [(a * c + b * d) / square, (b * c - a * d) / square];
        let scale = down / up;
        // Of two powers at opposite ends the quotient may be beyond the range, though the result is not.
        parts.map(|part| if scale.is_normal() { part * scale } else { part * down / up })
    }

    fn root(self) -> Self {
        let [re, im] = self;
        if im == 0.0 {
            return if re.is_sign_negative() { [0.0, (-re).sqrt().copysign(im)] } else { [re.sqrt(), im] };
        }
        if im.is_infinite() {
            return [f64::INFINITY, im];
        }
        if re.is_infinite() {
            let rest = if im.is_nan() { im } else { 0.0 };
            return if re > 0.0 { [re, rest.copysign(im)] } else { [rest, re.abs().copysign(im)] };
        }
        let size = re.abs().max(im.abs());
        let (scale, back) = match size {
            _ if size > 1e300 => (2f64.powi(-100), 2f64.powi(50)),
            _ if size < 1e-280 => (2f64.powi(600), 2f64.powi(-300)),
            _ => (1.0, 1.0),
        };
        let (re, im) = (re * scale, im * scale);
        if re == 0.0 {
            let part = (im.abs() / 2.0).sqrt() * back;
            return [part, part.copysign(im)];
        }
        let larger = ((re.hypot(im) + re.abs()) / 2.0).sqrt();
        let smaller = im.abs() / (2.0 * larger);
        let [first, second] = if re < 0.0 { [smaller, larger] } else { [larger, smaller] };
        [first * back, (second * back).copysign(im)]
    }

    fn exponential(self) -> Self {
        exponential(self)
    }
}

impl Parts for [f32; 2] {
    /// By way of `f64`, which has squares of all.
    #[inline]
    fn quotient(self, by: Self) -> Self {
        let ([a, b], [c, d]) = (self.map(f64::from), by.map(f64::from));
        let parts = move || {
            unscaled!(a b c d);
            let square = c * c + d * d;
            [(a * c + b * d) / square, (b * c - a * d) / square]
        };
        parts().map(|part| part as f32)
    }

    fn root(self) -> Self {
        self.map(f64::from).root().map(|part| part as f32)
    }

    fn exponential(self) -> Self {
        self.map(f64::from).exponential().map(|part| part as f32)
    }
}

fn exponential([re, im]: [f64; 2]) -> [f64; 2] {
    if re == f64::NEG_INFINITY && !im.is_finite() {
        return [0.0, 0.0];
    }
    if re == f64::INFINITY && (im == 0.0 || !im.is_finite()) {
        return [re, if im.is_infinite() { f64::NAN } else { im }];
    }
    if re.is_nan() && im == 0.0 {
        return [re, im];
    }
    let size = re.exp();
    if size.is_infinite() && re.is_finite() {
        // The size times a cosine may be within the range.
        let half = (re / 2.0).exp();
        return [half * im.cos() * half, half * im.sin() * half];
    }
    [size * im.cos(), size * im.sin()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_have_an_order_and_nan_is_left_out() {
        for (one, other) in [(0.0, -0.0), (-0.0, 0.0)] {
            assert!(
                minimum_number::<f64>(one, other).is_sign_negative()
                    && maximum_number::<f64>(one, other).is_sign_positive()
            );
            assert!(minimum_number(one as f32, other as f32).is_sign_negative());
        }
        for (one, other, smaller, larger) in
            [(1.0, 2.0, 1.0, 2.0), (2.0, -3.0, -3.0, 2.0), (f64::NAN, 1.0, 1.0, 1.0), (1.0, f64::NAN, 1.0, 1.0)]
        {
            assert_eq!((minimum_number(one, other), maximum_number(one, other)), (smaller, larger));
        }
        assert!(minimum_number(f64::NAN, f64::NAN).is_nan());
    }

    /// `mpmath.asinh`, `mpmath.acosh`.
    #[test]
    fn inverse_hyperbolic_functions_are_right_everywhere() {
        for (x, expected) in [
            (1.7e308, 710.419_984_073_788_2),
            (-1e200, -461.210_165_779_369_1),
            (1e8, 19.113_827_924_512_31),
            (3.0, 1.818_446_459_232_066_8),
            (1e-3, 0.000_999_999_833_333_408_3),
            (-1e-300, -1e-300),
            (f64::INFINITY, f64::INFINITY),
        ] {
            let found = arsinh(x);
            assert!(found == expected || (found - expected).abs() < 4e-16 * expected.abs(), "asinh {x}: {found:?}");
        }
        for (x, expected) in [
            (1.7e308f64, 710.419_984_073_788_2f64),
            (1e8, 19.113_827_924_512_31),
            (2.0, 1.316_957_896_924_816_8),
            (1.0 + 1e-12, 1.414_276_423_180_542_4e-6),
            (1.0, 0.0),
        ] {
            let found = arcosh(x);
            assert!((found - expected).abs() <= 4e-16 * expected.abs(), "acosh {x}: {found:?}");
        }
        assert!((arsinh(3e38f32) - 89.289_99).abs() < 1e-4 && (arcosh(3e38f32) - 89.289_99).abs() < 1e-4);
        assert!(arcosh(0.5f64).is_nan() && arcosh(-2.0f32).is_nan());
        assert!(arsinh(-0.0f64).is_sign_negative());
    }

    fn near(found: [f64; 2], expected: [f64; 2], relative: f64) {
        let size = expected[0].abs().max(expected[1].abs());
        for (found, expected) in found.into_iter().zip(expected) {
            let is_same = found == expected || found.is_nan() && expected.is_nan();
            assert!(is_same || (found - expected).abs() <= relative * size, "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn quotients_are_right_at_both_ends_of_the_range() {
        for size in [5e-324, 1e-308, 1e-162, 1e-20, 1.0, 3e77, 1e154, 1e300, 8e307] {
            for [a, b] in [[1.0, 1.0], [2.0, -1.0], [0.0, 1.0], [-1.0, 1e-9]] {
                let x = [a * size, b * size];
                if x != [0.0, 0.0] {
                    near(x.quotient(x), [1.0, 0.0], 1e-15);
                }
            }
        }
        // numpy: x / y.
        for (x, y, expected) in [
            ([1.0, 2.0], [3.0, -4.0], [-0.2, 0.4]),
            ([1e300, 1e300], [1e-300, 0.0], [f64::INFINITY, f64::INFINITY]),
            ([1e-300, 2e-300], [1e300, 1e300], [0.0, 0.0]),
            ([1e308, 1e308], [1e308, -1e308], [0.0, 1.0]),
            ([5e-324, 0.0], [5e-324, 0.0], [1.0, 0.0]),
            ([3e-320, 0.0], [1e-320, 0.0], [3.0, 0.0]),
            ([1e-160, 1e-160], [1e-162, 1e-162], [100.0, 0.0]),
            ([1.0, 0.0], [0.0, 0.0], [f64::INFINITY, f64::NAN]),
            ([1.0, -5.0], [f64::INFINITY, 2.0], [0.0, 0.0]),
        ] {
            near(x.quotient(y), expected, 2e-4 * f64::from(u8::from(x[0] < 1e-300)) + 1e-15);
        }
        for size in [1e-45f32, 1e-30, 1e-22, 1.0, 1e20, 3e38] {
            let [re, im] = [size, -size].quotient([size, -size]);
            assert!((re - 1.0).abs() < 1e-6 && im.abs() < 1e-6, "{size}: {re} {im}");
        }
    }

    #[test]
    fn roots_and_exponentials_are_right_at_both_ends_of_the_range() {
        for size in [1e-300, 1e-160, 1.0, 1e160, 1e308] {
            for [a, b] in [[0.3, 0.4], [-0.3, 0.4], [-0.5, -1e-9], [0.0, -1.0], [1.0, 1.0]] {
                let x: [f64; 2] = [a * size, b * size];
                let [re, im] = x.root();
                assert!(re >= 0.0 && im.is_sign_negative() == (b < 0.0));
                let scale = 1.0 / size.sqrt();
                let (re, im) = (re * scale, im * scale);
                near([re * re - im * im, 2.0 * re * im], [a, b], 1e-14);
            }
        }
        let infinite = f64::INFINITY;
        assert_eq!([infinite, 1.0].root(), [infinite, 0.0]);
        assert_eq!([-infinite, -1.0].root(), [0.0, -infinite]);
        assert_eq!([1.0, -infinite].root(), [infinite, -infinite]);
        assert_eq!([-4.0, 0.0].root(), [0.0, 2.0]);
        assert_eq!([f32::INFINITY, 1.0].root(), [f32::INFINITY, 0.0]);
        // exp(710) is beyond the range, and exp(710) cos(1.57) is not.
        let [re, _]: [f64; 2] = [710.0, 1.57].exponential();
        assert!(re.is_finite() && re > 1e300);
        near([1.0, std::f64::consts::PI].exponential(), [-std::f64::consts::E, 0.0], 1e-15);
    }
}
