//! Powers that are the same on every machine: of sums, products and quotients only, which IEEE 754 defines to the last bit.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

/// `base` to the power of `exponent`, for a positive, normal `base`; accurate to about 13 digits.
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    power_of_two(exponent * logarithm(base))
}

/// The logarithm to base 2 of a positive, normal number.
fn logarithm(number: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    const ONE: u64 = 1023 << 52;
    let bits = number.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = f64::from_bits(bits & MANTISSA | ONE);
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    // ln m = 2 (s + s³/3 + s⁵/5 + …) with s = (m - 1) / (m + 1), which is below 0.172.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let series = (0..8).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent as f64 + 2.0 * LOG2_E * s * series
}

/// 2 to a power; 0 and infinity beyond the range of normal numbers.
fn power_of_two(exponent: f64) -> f64 {
    if exponent < -1022.0 {
        return 0.0;
    }
    if exponent >= 1023.5 {
        return f64::INFINITY;
    }
    let whole = (exponent + 0.5).floor();
    let rest = (exponent - whole) * LN_2;
    // exp of at most 0.347, by its series.
    let series = (1..14).rev().fold(1.0, |sum, term| 1.0 + sum * rest / f64::from(term));
    series * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library_but_for_the_last_digits() {
        for base in [1e-9, 0.3, 0.9999, 1.0, 1.5, 2.0, 77.7, 1e6, 1.8e19] {
            for exponent in [-3.0, -0.7, 0.0, 0.01, 0.5, 1.0, 2.2, 5.0] {
                let (ours, theirs) = (power(base, exponent), base.powf(exponent));
                assert!((ours - theirs).abs() <= 1e-12 * theirs, "{base}^{exponent}: {ours}, {theirs}");
            }
        }
        assert_eq!((power(2.0, -2000.0), power(2.0, 2000.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn powers_have_the_same_bits_everywhere() {
        let bits =
            [(3.0, 0.5), (12345.678, -1.3), (0.001, 2.7)].map(|(base, power)| super::power(base, power).to_bits());
        assert_eq!(bits, [0x3FFB_B67A_E858_4CAC, 0x3ED4_1F76_1720_BC84, 0x3E41_0EDD_9B5A_66C9]);
    }
}
