//! Numbers as files hold them.

use super::{ReadError, ReadErrorKind};
use crate::complex::{c32, c64};
use crate::memory;
use crate::tensor::values::with_values;
use crate::tensor::{Buffer, Values};
use std::io::Write;

/// An element type that files can hold: all of them. In text, `true` is 1 and `false` is 0, and a complex number is two
/// numbers: its real part and its imaginary part.
///
/// The methods serve the readers and writers; callers only name the type, as in `io::read_as::<f32>(…)`.
pub trait Value: sealed::Value {}

impl<T: sealed::Value> Value for T {}

/// Why a field is not a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// No number at all.
    NotANumber,
    /// A number with a fraction, for an integer type.
    NotWhole,
    /// A number beyond the type's range.
    OutOfRange,
}

pub(crate) mod sealed {
    use super::Refusal;
    use crate::io::compiled::Files;
    use crate::tensor::Element;

    /// What the readers and writers need to know about a number.
    pub trait Value: Element + Files {
        /// The type of the parts of a complex number; of another number, its own.
        type Part: Value;
        /// The name of the type, as in Rust and in the language.
        const NAME: &'static str;
        /// What `NumPy` calls it.
        const NPY: &'static str;
        /// Whether it is an integer type.
        const INTEGER: bool;
        /// Whether it is a complex type, which takes two numbers in a text.
        const COMPLEX: bool = false;
        /// The complex number of a real and an imaginary part; of another type, the first.
        fn of_parts(re: Self::Part, im: Self::Part) -> Self;
        /// The value of an integer of at most 18 digits, other than a negative zero.
        fn from_integer(value: i64) -> Option<Self>;
        /// The value of any number that is no such integer.
        fn parse(field: &[u8]) -> Result<Self, Refusal>;
        /// The value of a double-precision number, for files that hold other types than the caller wants.
        fn checked_from_f64(value: f64) -> Result<Self, Refusal>;
        /// Appends the shortest text that reads back as the same value; the parts of a complex number with a blank between.
        fn print(self, text: &mut Vec<u8>);
        /// The value with the other sign, if the type has it.
        fn negated(self) -> Option<Self>;
        /// The complex conjugate.
        fn conjugate(self) -> Self {
            self
        }
        /// Whether it has no imaginary part.
        fn is_real(self) -> bool {
            true
        }
        /// Whether it has no fraction.
        fn is_whole(self) -> bool;
        /// Whether it is the zero that an absent entry has; a negative zero is not.
        fn is_zero(self) -> bool;
        /// Little-endian bytes, appended.
        fn append_bytes(self, bytes: &mut Vec<u8>);
        /// From as many little-endian bytes as [`append_bytes`](Value::append_bytes) writes.
        fn from_bytes(bytes: &[u8]) -> Self;
    }
}

/// The value in a field, or why there is none.
pub(crate) fn parse<T: Value>(field: &[u8]) -> Result<T, Refusal> {
    match small_integer(field) {
        Some(value) => T::from_integer(value).ok_or(Refusal::OutOfRange),
        None => T::parse(field),
    }
}

/// The same values in another type, each by way of its text, so that the rules for text files hold; or why one has none.
///
/// # Errors
///
/// [`ReadErrorKind::Value`]: a number that `T` does not hold, or a whole number that it only nearly holds.
pub(crate) fn retyped<T: Value>(values: Values) -> Result<Buffer<T>, ReadError> {
    if values.element() != T::TYPE {
        let mut parsed = Ok(Vec::new());
        with_texts(&values, &mut |texts| parsed = texts.parsed());
        return parsed.map(Buffer::from);
    }
    Ok(values.into_buffer().unwrap_or_default())
}

/// Goes through values as text. Compiled once for each type that they have, and not for each that they are read as.
fn with_texts(values: &Values, read: &mut dyn FnMut(&Texts<'_>)) {
    fn of<F: Value>(values: &[F], read: &mut dyn FnMut(&Texts<'_>)) {
        read(&Texts {
            count: values.len(),
            name: F::NAME,
            are_whole: F::INTEGER,
            print: &|position, text| values[position].print(text),
            show: &|position| values[position].to_string(),
        });
    }
    with_values!(values, |values| of(values, read));
}

/// Values of some type as text.
struct Texts<'a> {
    count: usize,
    /// The name of the type, and whether it is one of whole numbers.
    name: &'static str,
    are_whole: bool,
    print: &'a dyn Fn(usize, &mut Vec<u8>),
    show: &'a dyn Fn(usize) -> String,
}

impl Texts<'_> {
    /// The values as elements of another type; compiled once for each of these.
    fn parsed<T: Value>(&self) -> Result<Vec<T>, ReadError> {
        let mut converted: Vec<T> = memory::try_room(self.count)?;
        let mut text = Vec::new();
        for position in 0..self.count {
            text.clear();
            (self.print)(position, &mut text);
            let found = match text.iter().position(|&byte| byte == b' ') {
                None => parse(&text),
                Some(_) if !T::COMPLEX => Err(Refusal::NotANumber),
                Some(blank) => parse(&text[..blank]).and_then(|re| Ok(T::of_parts(re, parse(&text[blank + 1..])?))),
            };
            match found {
                Ok(found) if !self.are_whole || T::INTEGER || is_exact(&text, found) => converted.push(found),
                _ => {
                    let value = (self.show)(position);
                    let message = format!("value {value} at position {position} is none that {} holds", T::NAME);
                    return Err(ReadError::new(ReadErrorKind::Value, message + ": read it as " + self.name));
                }
            }
        }
        Ok(converted)
    }
}

/// Whether a whole number stayed what it was.
fn is_exact<T: Value>(digits: &[u8], number: T) -> bool {
    let whole = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<i128>().ok());
    whole.is_some_and(|whole| number.to_f64() as i128 == whole)
}

/// An integer of at most 18 digits, but not `-0`, which an integer cannot tell from `0`.
fn small_integer(field: &[u8]) -> Option<i64> {
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    match (negative, value) {
        (true, 0) => None,
        (true, _) => Some(-value),
        (false, _) => Some(value),
    }
}

macro_rules! float {
    ($type:ident, $npy:literal) => {
        impl sealed::Value for $type {
            type Part = Self;
            const NAME: &'static str = stringify!($type);
            const NPY: &'static str = $npy;
            const INTEGER: bool = false;

            fn of_parts(re: Self, _: Self) -> Self {
                re
            }

            fn from_integer(value: i64) -> Option<Self> {
                Some(value as $type) // rounds to nearest, as parsing the digits would
            }

            fn parse(field: &[u8]) -> Result<Self, Refusal> {
                // `+` is common in files that Fortran wrote.
                let digits = match field {
                    [b'+', rest @ ..] if !matches!(rest, [b'-' | b'+', ..]) => rest,
                    field => field,
                };
                let value: $type = fast_float2::parse(digits).map_err(|_| Refusal::NotANumber)?;
                let says_infinite = || field.iter().any(|byte| byte.eq_ignore_ascii_case(&b'f'));
                if value.is_infinite() && !says_infinite() { Err(Refusal::OutOfRange) } else { Ok(value) }
            }

            fn checked_from_f64(value: f64) -> Result<Self, Refusal> {
                let narrow = value as $type;
                if narrow.is_infinite() && value.is_finite() { Err(Refusal::OutOfRange) } else { Ok(narrow) }
            }

            fn print(self, text: &mut Vec<u8>) {
                let size = self.abs();
                if self.fract() == 0.0 && size < 1.0 / $type::EPSILON && !(self == 0.0 && self.is_sign_negative()) {
                    print_integer(self as i64, text);
                } else if size == 0.0 || (1e-5..1e16).contains(&size) || !self.is_finite() {
                    write(text, format_args!("{self}"));
                } else {
                    write(text, format_args!("{self:e}"));
                }
            }

            fn negated(self) -> Option<Self> {
                Some(-self)
            }

            fn is_whole(self) -> bool {
                self.fract() == 0.0
            }

            fn is_zero(self) -> bool {
                self.to_bits() == 0
            }

            fn append_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$type>()];
                array.copy_from_slice(bytes);
                Self::from_le_bytes(array)
            }
        }
    };
}

macro_rules! integer {
    ($type:ident, $npy:literal) => {
        impl sealed::Value for $type {
            type Part = Self;
            const NAME: &'static str = stringify!($type);
            const NPY: &'static str = $npy;
            const INTEGER: bool = true;

            fn of_parts(re: Self, _: Self) -> Self {
                re
            }

            fn from_integer(value: i64) -> Option<Self> {
                Self::try_from(value).ok()
            }

            fn parse(field: &[u8]) -> Result<Self, Refusal> {
                let exact = std::str::from_utf8(field).ok().and_then(|field| field.parse::<i128>().ok());
                match exact {
                    Some(value) => Self::try_from(value).map_err(|_| Refusal::OutOfRange),
                    None => Self::checked_from_f64(<f64 as sealed::Value>::parse(field)?),
                }
            }

            fn checked_from_f64(value: f64) -> Result<Self, Refusal> {
                // The bounds are exact in f64 for all types: powers of two.
                let (least, beyond) = (Self::MIN as f64, 2.0 * (Self::MAX / 2 + 1) as f64);
                if !value.is_finite() || value < least || value >= beyond {
                    Err(Refusal::OutOfRange)
                } else if value.fract() != 0.0 {
                    Err(Refusal::NotWhole)
                } else {
                    Ok(value as Self)
                }
            }

            fn print(self, text: &mut Vec<u8>) {
                // Of all integers, only the largest without a sign are no `i64`.
                match i64::try_from(self) {
                    Ok(value) => print_integer(value, text),
                    Err(_) => print_natural(self as u64, text),
                }
            }

            fn negated(self) -> Option<Self> {
                self.checked_neg()
            }

            fn is_whole(self) -> bool {
                true
            }

            fn is_zero(self) -> bool {
                self == 0
            }

            fn append_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                let mut array = [0; size_of::<$type>()];
                array.copy_from_slice(bytes);
                Self::from_le_bytes(array)
            }
        }
    };
}

macro_rules! complex {
    ($type:ident, $part:ident, $npy:literal) => {
        impl sealed::Value for $type {
            type Part = $part;
            const NAME: &'static str = stringify!($type);
            const NPY: &'static str = $npy;
            const INTEGER: bool = false;
            const COMPLEX: bool = true;

            fn of_parts(re: $part, im: $part) -> Self {
                $type::new(re, im)
            }

            fn from_integer(value: i64) -> Option<Self> {
                $part::from_integer(value).map(Self::from)
            }

            fn parse(field: &[u8]) -> Result<Self, Refusal> {
                <$part as sealed::Value>::parse(field).map(Self::from)
            }

            fn checked_from_f64(value: f64) -> Result<Self, Refusal> {
                $part::checked_from_f64(value).map(Self::from)
            }

            fn print(self, text: &mut Vec<u8>) {
                self.re.print(text);
                text.push(b' ');
                self.im.print(text);
            }

            fn negated(self) -> Option<Self> {
                Some(-self)
            }

            fn conjugate(self) -> Self {
                self.conj()
            }

            fn is_real(self) -> bool {
                self.im == 0.0
            }

            fn is_whole(self) -> bool {
                self.re.is_whole() && self.im.is_whole()
            }

            fn is_zero(self) -> bool {
                self.re.is_zero() && self.im.is_zero()
            }

            fn append_bytes(self, bytes: &mut Vec<u8>) {
                self.re.append_bytes(bytes);
                self.im.append_bytes(bytes);
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                let (re, im) = bytes.split_at(size_of::<$part>());
                $type::new($part::from_bytes(re), $part::from_bytes(im))
            }
        }
    };
}

impl sealed::Value for bool {
    type Part = Self;
    const NAME: &'static str = "bool";
    const NPY: &'static str = "|b1";
    const INTEGER: bool = true;

    fn of_parts(re: Self, _: Self) -> Self {
        re
    }

    fn from_integer(value: i64) -> Option<Self> {
        match value {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn parse(field: &[u8]) -> Result<Self, Refusal> {
        Self::checked_from_f64(<f64 as sealed::Value>::parse(field)?)
    }

    fn checked_from_f64(value: f64) -> Result<Self, Refusal> {
        let is_whole = value.is_finite() && value.fract() == 0.0;
        Self::from_integer(if is_whole { value as i64 } else { -1 }).ok_or(Refusal::OutOfRange)
    }

    fn print(self, text: &mut Vec<u8>) {
        text.push(if self { b'1' } else { b'0' });
    }

    fn negated(self) -> Option<Self> {
        None
    }

    fn is_whole(self) -> bool {
        true
    }

    fn is_zero(self) -> bool {
        !self
    }

    fn append_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.iter().any(|&byte| byte != 0)
    }
}

float!(f64, "<f8");
float!(f32, "<f4");
integer!(i8, "|i1");
integer!(i16, "<i2");
integer!(u16, "<u2");
integer!(u32, "<u4");
integer!(u64, "<u8");
integer!(i64, "<i8");
integer!(i32, "<i4");
integer!(u8, "|u1");
complex!(c64, f64, "<c16");
complex!(c32, f32, "<c8");

fn print_integer(value: i64, text: &mut Vec<u8>) {
    if value < 0 {
        text.push(b'-');
    }
    print_natural(value.unsigned_abs(), text);
}

/// Appends the digits of `value`.
pub(crate) fn print_natural(mut value: u64, text: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[first..]);
}

fn write(text: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).unwrap_or_else(|_| unreachable!("writing to memory does not fail"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted<F: Value, T: Value>(values: &[F]) -> Result<Vec<T>, ReadError> {
        retyped(F::wrap(values.to_vec())).map(Buffer::into_vec)
    }

    fn printed<T: Value>(value: T) -> String {
        let mut text = Vec::new();
        value.print(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn prints_the_shortest_text_that_reads_back() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (3.0, "3"),
            (-17.5, "-17.5"),
            (0.1, "0.1"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (1e15, "1000000000000000"),
            (f64::MAX, "1.7976931348623157e308"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(printed(value), text);
            assert_eq!(parse::<f64>(text.as_bytes()).unwrap().to_bits(), value.to_bits(), "{text}");
        }
        assert_eq!(printed(0.1f32), "0.1");
        assert_eq!(printed(i64::MIN), "-9223372036854775808");
        assert_eq!(printed(255u8), "255");
    }

    #[test]
    fn reads_what_fortran_and_c_write() {
        for (text, value) in [("+1.5", 1.5), ("1.", 1.0), (".5", 0.5), ("1E+02", 100.0), ("-1e-2", -0.01)] {
            assert_eq!(parse::<f64>(text.as_bytes()), Ok(value), "{text}");
        }
        for text in ["nan", "NaN", "-nan"] {
            assert!(parse::<f64>(text.as_bytes()).unwrap().is_nan(), "{text}");
        }
        for text in ["inf", "Inf", "+Infinity", "INF"] {
            assert_eq!(parse::<f64>(text.as_bytes()), Ok(f64::INFINITY), "{text}");
        }
        for text in ["", "-", "+", "+-1", "++1", "1.5x", "0x10", "1,5", "1d0", "one", "1_000", "e5"] {
            assert_eq!(parse::<f64>(text.as_bytes()), Err(Refusal::NotANumber), "{text}");
        }
        assert_eq!(parse::<f64>(b"1e400"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<f32>(b"1e39"), Err(Refusal::OutOfRange));
    }

    #[test]
    fn integers_are_exact_or_refused() {
        assert_eq!(parse::<i64>(b"9223372036854775807"), Ok(i64::MAX));
        assert_eq!(parse::<i64>(b"-9223372036854775808"), Ok(i64::MIN));
        assert_eq!(parse::<i64>(b"9223372036854775808"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<i64>(b"9.3e18"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<i32>(b"1e3"), Ok(1000));
        assert_eq!(parse::<i32>(b"7.0"), Ok(7));
        assert_eq!(parse::<i32>(b"7.5"), Err(Refusal::NotWhole));
        assert_eq!(parse::<i32>(b"2147483648"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<i32>(b"2147483648.0"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<u8>(b"-1"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<u8>(b"255.0"), Ok(255));
        assert_eq!(parse::<u8>(b"256"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<u8>(b"nan"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<i32>(b"-0"), Ok(0));
    }

    #[test]
    fn truth_values_are_zero_and_one() {
        assert_eq!((printed(true), printed(false)), ("1".to_owned(), "0".to_owned()));
        assert_eq!((parse::<bool>(b"1"), parse::<bool>(b"0.0")), (Ok(true), Ok(false)));
        for text in ["2", "-1", "0.5", "inf", "nan"] {
            assert_eq!(parse::<bool>(text.as_bytes()), Err(Refusal::OutOfRange), "{text}");
        }
        assert_eq!(parse::<bool>(b"yes"), Err(Refusal::NotANumber));
    }

    #[test]
    fn whole_numbers_stay_what_they_are() {
        let largest = 1_i64 << 53;
        assert_eq!(converted::<i64, f64>(&[largest, -largest]).unwrap(), [2f64.powi(53), -(2f64.powi(53))]);
        let message = converted::<i64, f64>(&[0, largest + 1]).unwrap_err();
        assert_eq!(message.message(), "value 9007199254740993 at position 1 is none that f64 holds: read it as i64");
        assert!(converted::<i32, f32>(&[(1 << 24) + 1]).is_err() && converted::<i64, c64>(&[largest + 1]).is_err());
        assert_eq!(converted::<bool, c32>(&[true]).unwrap(), [c32::new(1.0, 0.0)]);
    }

    #[test]
    fn complex_numbers_convert_by_their_parts() {
        let numbers = [c64::new(0.1, -2.0), c64::new(f64::NEG_INFINITY, 3e30)];
        assert_eq!(printed(numbers[0]), "0.1 -2");
        assert_eq!(converted::<c64, c32>(&numbers).unwrap(), [c32::new(0.1, -2.0), c32::new(f32::NEG_INFINITY, 3e30)]);
        assert_eq!(converted::<f32, c64>(&[1.5]).unwrap(), [c64::new(1.5, 0.0)]);
        let message = converted::<c64, f64>(&numbers).unwrap_err();
        assert_eq!(message.message(), "value 0.1-2i at position 0 is none that f64 holds: read it as c64");
        assert!(converted::<c64, c32>(&[c64::new(0.0, 1e39)]).is_err());
    }
}
