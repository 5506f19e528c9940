//! Numbers as files hold them.

use super::{ReadError, ReadErrorKind};
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use crate::memory;
use crate::tensor::values::with_values;
use crate::tensor::{Element, OutOfMemory, Values};
use crate::with_element;
use spc_compiler::ir::{ElementKind, ElementType};
use std::cmp::Ordering;
use std::io::Write;
use std::ops::Range;

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
    /// A whole number that the type holds only nearly.
    NotExact,
}

/// A number of any element type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Of an integer type; truth values are 0 and 1.
    Whole(i128),
    /// Of a floating point type.
    Real(f64),
    /// Of a complex type.
    Complex(c64),
}

pub(crate) mod sealed {
    use super::Carrier;
    use crate::tensor::{Element, OutOfMemory};

    /// What the readers and writers need to know about a number.
    pub trait Value: Element {
        /// What carries it where files are read.
        type Carrier: Carrier;
        /// What `NumPy` calls it.
        const NPY: &'static str;
        /// The value that a carrier holds, which is one of this type.
        fn of_carrier(carrier: Self::Carrier) -> Self;
        /// The values that carriers hold.
        fn of_carriers(carriers: Vec<Self::Carrier>) -> Result<Vec<Self>, OutOfMemory> {
            if Self::TYPE == Self::Carrier::TYPE {
                return Ok(Self::Carrier::wrap(carriers).into_buffer::<Self>().unwrap_or_default().into_vec());
            }
            crate::memory::try_collected(carriers.into_iter().map(Self::of_carrier))
        }
        /// The carrier of the value.
        fn carried(self) -> Self::Carrier;
        /// Appends the shortest text that reads back as the same value; the parts of a complex number with a blank between.
        fn print(self, text: &mut Vec<u8>);
        /// Little-endian bytes, appended.
        fn append_bytes(self, bytes: &mut Vec<u8>);
        /// From as many little-endian bytes as [`append_bytes`](Value::append_bytes) writes.
        fn from_bytes(bytes: &[u8]) -> Self;
        /// Whether it is the zero that an absent entry has; a negative zero is not.
        fn is_absent(self) -> bool {
            self.carried().is_zero()
        }
    }
}

/// What carries numbers of several types where files are read, so that the readers are compiled once for all of these. A carrier that
/// is made for an element type holds a number of that type: what is none is refused where it stands in the file.
pub trait Carrier: Element {
    /// What carries the parts of a complex number; of another number, the same.
    type Part: Carrier;
    /// Whether it is a complex type, which takes two numbers in a text.
    const COMPLEX: bool = false;
    /// The complex number of a real and an imaginary part; of another type, the first.
    fn of_parts(re: Self::Part, im: Self::Part) -> Self;
    /// The value of an integer of at most 18 digits, other than a negative zero.
    fn from_integer(value: i64, element: ElementType) -> Option<Self>;
    /// The value of any number that is no such integer.
    fn parse(field: &[u8], element: ElementType) -> Result<Self, Refusal>;
    /// The number that it holds, which is one of an element type.
    fn number(self, element: ElementType) -> Number;
    /// The value of a number: a whole one exactly, another one rounded once.
    fn of_number(number: Number, element: ElementType) -> Result<Self, Refusal>;
    /// The value with the other sign, if the type has it.
    fn negated(self, element: ElementType) -> Option<Self>;
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
}

/// Numbers of some element type.
pub(crate) trait Numbers: Sync {
    fn element(&self) -> ElementType;
    fn count(&self) -> usize;
    /// As [`sealed::Value::print`].
    fn print(&self, place: usize, text: &mut Vec<u8>);
    /// As messages show it.
    fn show(&self, place: usize) -> String;
    /// The number itself.
    fn number(&self, place: usize) -> Number;
    /// As [`sealed::Value::is_absent`].
    fn is_absent(&self, place: usize) -> bool;
    /// Little-endian bytes of some, appended.
    fn append_bytes(&self, places: Range<usize>, bytes: &mut Vec<u8>);
}

impl<T: Value> Numbers for Vec<T> {
    fn element(&self) -> ElementType {
        T::TYPE
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn print(&self, place: usize, text: &mut Vec<u8>) {
        (&self[..]).print(place, text);
    }

    fn show(&self, place: usize) -> String {
        (&self[..]).show(place)
    }

    fn number(&self, place: usize) -> Number {
        (&self[..]).number(place)
    }

    fn is_absent(&self, place: usize) -> bool {
        (&self[..]).is_absent(place)
    }

    fn append_bytes(&self, places: Range<usize>, bytes: &mut Vec<u8>) {
        (&self[..]).append_bytes(places, bytes);
    }
}

impl<T: Value> Numbers for &[T] {
    fn element(&self) -> ElementType {
        T::TYPE
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn print(&self, place: usize, text: &mut Vec<u8>) {
        self[place].print(text);
    }

    fn show(&self, place: usize) -> String {
        self[place].to_string()
    }

    fn number(&self, place: usize) -> Number {
        self[place].carried().number(T::TYPE)
    }

    fn is_absent(&self, place: usize) -> bool {
        self[place].is_absent()
    }

    fn append_bytes(&self, places: Range<usize>, bytes: &mut Vec<u8>) {
        self[places].iter().for_each(|value| value.append_bytes(bytes));
    }
}

/// The value in a field, or why there is none.
pub(crate) fn parse<C: Carrier>(field: &[u8], element: ElementType) -> Result<C, Refusal> {
    match small_integer(field) {
        Some(value) if value.unsigned_abs() <= EXACT => C::from_integer(value, element).ok_or(Refusal::OutOfRange),
        _ => C::parse(field, element),
    }
}

/// The value in a field of a text that states its element type; in another one.
pub(crate) fn parse_stated<C: Carrier>(field: &[u8], stated: ElementType, element: ElementType) -> Result<C, Refusal> {
    let stated = stated.part().unwrap_or(stated);
    let number = match are_whole(stated) {
        true => parse::<i64>(field, stated)?.number(stated),
        false => parse::<f64>(field, stated)?.number(stated),
    };
    C::of_number(number, element)
}

/// Whole numbers up to this are numbers of `f64`, and no further.
pub(crate) const EXACT: u64 = 1 << f64::MANTISSA_DIGITS;

/// Whole numbers up to this are numbers of an element type.
pub(crate) fn exact(element: ElementType) -> u64 {
    match element.part().unwrap_or(element) {
        ElementType::F64 => EXACT,
        ElementType::F32 => 1 << f32::MANTISSA_DIGITS,
        ElementType::F16 => 1 << 11,
        ElementType::BF16 => 1 << 8,
        _ => u64::MAX,
    }
}

/// Whether elements are whole numbers, as truth values are in text.
pub(crate) fn are_whole(element: ElementType) -> bool {
    matches!(element.kind(), ElementKind::Signed | ElementKind::Unsigned | ElementKind::Truth)
}

/// The same values in another type, each rounded once; or why one has none.
///
/// # Errors
///
/// [`ReadErrorKind::Value`]: a number that the type does not hold, or a whole number that it only nearly holds.
pub(crate) fn retyped(values: Values, element: ElementType) -> Result<Values, ReadError> {
    if values.element() == element {
        return Ok(values);
    }
    fn of<T: Value>(values: Values) -> Result<Values, ReadError> {
        Ok(T::wrap(T::of_carriers(carriers(values, T::TYPE)?)?))
    }
    with_element!(element, |T| of::<T>(values))
}

/// What carries the same values in another type.
///
/// # Errors
///
/// As [`retyped`].
pub(crate) fn carriers<C: Carrier>(values: Values, element: ElementType) -> Result<Vec<C>, ReadError> {
    /// What carries them in their own type.
    fn own<F: Value>(values: &[F]) -> Result<Values, OutOfMemory> {
        Ok(F::Carrier::wrap(memory::try_collected(values.iter().map(|value| value.carried()))?))
    }
    if values.element() != element {
        return with_values!(&values, |values| converted(&values, element));
    }
    let values = if element == C::TYPE { values } else { with_values!(&values, |values| own(values))? };
    Ok(values.into_buffer().unwrap_or_default().into_vec())
}

/// The values of an element type that were carried.
pub(crate) fn uncarried<C: Carrier>(values: Vec<C>, element: ElementType) -> Result<Values, OutOfMemory> {
    fn of<T: Value>(values: Values) -> Result<Values, OutOfMemory> {
        Ok(T::wrap(T::of_carriers(values.into_buffer::<T::Carrier>().unwrap_or_default().into_vec())?))
    }
    let values = C::wrap(values);
    with_element!(element, |T| of::<T>(values))
}

/// Numbers as elements of another type.
fn converted<C: Carrier>(numbers: &dyn Numbers, element: ElementType) -> Result<Vec<C>, ReadError> {
    let mut converted: Vec<C> = memory::try_room(numbers.count())?;
    for position in 0..numbers.count() {
        let Ok(found) = C::of_number(numbers.number(position), element) else {
            let value = numbers.show(position);
            let message = format!("value {value} at position {position} is none that {element} holds");
            return Err(ReadError::new(ReadErrorKind::Value, message + ": read it as " + numbers.element().name()));
        };
        converted.push(found);
    }
    Ok(converted)
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

/// The number in a field, rounded once to the type.
fn float<T: fast_float2::FastFloat + Into<f64>>(field: &[u8]) -> Result<f64, Refusal> {
    // `+` is common in files that Fortran wrote.
    let digits = match field {
        [b'+', rest @ ..] if !matches!(rest, [b'-' | b'+', ..]) => rest,
        field => field,
    };
    let parse = |digits: &[u8]| fast_float2::parse::<T, _>(digits).map_err(|_| Refusal::NotANumber);
    let value: f64 = parse(digits).or_else(|refusal| parse(&with_exponent(digits).ok_or(refusal)?))?.into();
    let says_infinite = || field.iter().any(|byte| byte.eq_ignore_ascii_case(&b'f'));
    if value.is_infinite() && !says_infinite() { Err(Refusal::OutOfRange) } else { Ok(value) }
}

/// A number with the exponent of a double precision number of Fortran, `1.5D+03`, as others write it.
#[cold]
fn with_exponent(field: &[u8]) -> Option<Vec<u8>> {
    let place = field.iter().position(|byte| matches!(byte, b'd' | b'D'))?;
    let mut field = field.to_vec();
    field[place] = b'E';
    Some(field)
}

/// The same for `f64`. Of digits alone, the number is what they say, or the number that is written so.
fn double(field: &[u8]) -> Result<f64, Refusal> {
    let value = float::<f64>(field)?;
    let digits = field.strip_prefix(b"-").or(field.strip_prefix(b"+")).unwrap_or(field);
    if value.abs() < EXACT as f64 || !digits.iter().all(u8::is_ascii_digit) {
        return Ok(value);
    }
    let whole = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u128>().ok());
    let is_exact = whole.is_none_or(|whole| value.abs() as u128 == whole);
    if is_exact || value.abs().to_string().as_bytes() == digits { Ok(value) } else { Err(Refusal::NotExact) }
}

/// The nearest number of two bytes; none where that is infinite and the number is not.
fn half(value: f64, element: ElementType) -> Option<f64> {
    let nearest = match element {
        ElementType::F16 => f16::from_f64(value).to_f64(),
        _ => bf16::from_f64(value).to_f64(),
    };
    (nearest.is_finite() || !value.is_finite()).then_some(nearest)
}

/// The number of two bytes that is nearest to what a field says.
fn half_of_text(field: &[u8], element: ElementType) -> Result<f64, Refusal> {
    let value = float::<f64>(field)?;
    // Where the nearest `f64` is in the middle of two, the digits tell on which side of it the number is.
    let step = |towards: f64| if towards > value { value.next_up() } else { value.next_down() };
    let [below, above] = [f64::NEG_INFINITY, f64::INFINITY].map(|towards| half(step(towards), element));
    let nearest = match (below != above).then(|| against(field, value)) {
        Some(Ordering::Less) => below,
        Some(Ordering::Greater) => above,
        _ => half(value, element),
    };
    nearest.ok_or(Refusal::OutOfRange)
}

/// How the number that a field says compares with the `f64` that is nearest to it.
fn against(field: &[u8], value: f64) -> Ordering {
    // Of a number in the middle of two of two bytes all digits are there.
    let exact = format!("{value:.200e}");
    let (Some(said), Some(nearest)) = (Decimal::of(field), Decimal::of(exact.as_bytes())) else {
        return Ordering::Equal;
    };
    let magnitude = (said.exponent, said.digits).cmp(&(nearest.exponent, nearest.digits));
    if value.is_sign_negative() { magnitude.reverse() } else { magnitude }
}

/// A number as its digits, without zeros at either end, and the place of the first.
struct Decimal {
    exponent: i64,
    digits: Vec<u8>,
}

impl Decimal {
    fn of(field: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(field).ok()?.trim_start_matches(['+', '-']);
        let (mantissa, exponent) = text.split_once(['e', 'E', 'd', 'D']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
        digits.drain(..zeros);
        digits.truncate(digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1));
        let exponent = exponent.parse::<i64>().ok()?.checked_add(whole.len() as i64 - zeros as i64)?;
        Some(Self { exponent, digits })
    }
}

/// A floating point number, rounded to a type; none where that is infinite and the number is not.
fn rounded(value: f64, element: ElementType) -> Option<f64> {
    match element.part().unwrap_or(element) {
        ElementType::F64 => Some(value),
        ElementType::F32 => {
            let nearest = f64::from(value as f32);
            (nearest.is_finite() || !value.is_finite()).then_some(nearest)
        }
        element => half(value, element),
    }
}

/// What carries floating point numbers, of which it holds all.
macro_rules! float_carrier {
    ($type:ident) => {
        impl Carrier for $type {
            type Part = Self;

            fn of_parts(re: Self, _: Self) -> Self {
                re
            }

            #[inline]
            fn from_integer(value: i64, element: ElementType) -> Option<Self> {
                match element.part().unwrap_or(element) {
                    ElementType::F64 => Some(value as $type), // rounds to nearest, as parsing the digits would
                    ElementType::F32 => Some(value as f32 as $type),
                    _ => half(value as f64, element).map(|value| value as $type),
                }
            }

            fn parse(field: &[u8], element: ElementType) -> Result<Self, Refusal> {
                match element.part().unwrap_or(element) {
                    ElementType::F64 => double(field).map(|value| value as $type),
                    ElementType::F32 => float::<f32>(field).map(|value| value as $type),
                    part => half_of_text(field, part).map(|value| value as $type),
                }
            }

            fn number(self, _: ElementType) -> Number {
                Number::Real(self.into())
            }

            fn of_number(number: Number, element: ElementType) -> Result<Self, Refusal> {
                match number {
                    Number::Complex(_) => Err(Refusal::NotANumber),
                    Number::Real(value) => {
                        rounded(value, element).map(|value| value as $type).ok_or(Refusal::OutOfRange)
                    }
                    Number::Whole(whole) => {
                        let found = rounded(whole as f64, element).ok_or(Refusal::OutOfRange)?;
                        if found as i128 == whole { Ok(found as $type) } else { Err(Refusal::NotExact) }
                    }
                }
            }

            fn negated(self, _: ElementType) -> Option<Self> {
                Some(-self)
            }

            fn is_whole(self) -> bool {
                self.fract() == 0.0
            }

            fn is_zero(self) -> bool {
                self.to_bits() == 0
            }
        }
    };
}
float_carrier!(f64);
float_carrier!(f32);

/// Carries whole numbers, and truth values as 0 and 1; those that have no sign by their bits.
impl Carrier for i64 {
    type Part = Self;

    fn of_parts(re: Self, _: Self) -> Self {
        re
    }

    #[inline]
    fn from_integer(value: i64, element: ElementType) -> Option<Self> {
        bits_of(value.into(), element)
    }

    fn parse(field: &[u8], element: ElementType) -> Result<Self, Refusal> {
        let exact = std::str::from_utf8(field).ok().and_then(|field| field.parse::<i128>().ok());
        let whole = match exact {
            Some(value) => value,
            None => {
                let value = float::<f64>(field)?;
                let is_within = bits_of(value as i128, element).is_some();
                if !value.is_finite() || !is_within || value.fract() != 0.0 && element == ElementType::Bool {
                    return Err(Refusal::OutOfRange);
                } else if value.fract() != 0.0 {
                    return Err(Refusal::NotWhole);
                }
                value as i128
            }
        };
        bits_of(whole, element).ok_or(Refusal::OutOfRange)
    }

    fn number(self, element: ElementType) -> Number {
        Number::Whole(if element == ElementType::U64 { self.cast_unsigned().into() } else { self.into() })
    }

    fn of_number(number: Number, element: ElementType) -> Result<Self, Refusal> {
        match number {
            Number::Complex(_) => Err(Refusal::NotANumber),
            Number::Real(value) if !value.is_finite() => Err(Refusal::OutOfRange),
            Number::Real(value) if value.fract() != 0.0 => Err(Refusal::NotWhole),
            Number::Real(value) => bits_of(value as i128, element).ok_or(Refusal::OutOfRange),
            Number::Whole(value) => bits_of(value, element).ok_or(Refusal::OutOfRange),
        }
    }

    fn negated(self, element: ElementType) -> Option<Self> {
        let Number::Whole(value) = self.number(element) else { return None };
        bits_of(-value, element)
    }

    fn is_whole(self) -> bool {
        true
    }

    fn is_zero(self) -> bool {
        self == 0
    }
}

/// The bits of a whole number that a type holds.
#[inline]
fn bits_of(value: i128, element: ElementType) -> Option<i64> {
    let (least, greatest) = element.range();
    (least..=greatest).contains(&value).then_some(value as i64)
}

impl Carrier for c64 {
    type Part = f64;
    const COMPLEX: bool = true;

    fn of_parts(re: f64, im: f64) -> Self {
        c64::new(re, im)
    }

    fn from_integer(value: i64, element: ElementType) -> Option<Self> {
        f64::from_integer(value, element).map(Self::from)
    }

    fn parse(field: &[u8], element: ElementType) -> Result<Self, Refusal> {
        <f64 as Carrier>::parse(field, element).map(Self::from)
    }

    fn number(self, _: ElementType) -> Number {
        Number::Complex(self)
    }

    fn of_number(number: Number, element: ElementType) -> Result<Self, Refusal> {
        let part = |value| f64::of_number(Number::Real(value), element);
        match number {
            Number::Complex(value) => Ok(c64::new(part(value.re)?, part(value.im)?)),
            number => f64::of_number(number, element).map(Self::from),
        }
    }

    fn negated(self, _: ElementType) -> Option<Self> {
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
}

macro_rules! print_float {
    ($print:ident $type:ident) => {
        fn $print(value: $type, text: &mut Vec<u8>) {
            let size = value.abs();
            if value.fract() == 0.0 && size < 1.0 / $type::EPSILON && !(value == 0.0 && value.is_sign_negative()) {
                print_integer(value as i64, text);
            } else if size == 0.0 || (1e-5..1e16).contains(&size) || !value.is_finite() {
                write(text, format_args!("{value}"));
            } else {
                write(text, format_args!("{value:e}"));
            }
        }
    };
}
print_float!(print_f64 f64);
print_float!(print_f32 f32);

macro_rules! numbers {
    ($($type:ident $npy:literal in $carrier:ident, |$value:ident, $text:ident| $print:expr;)*) => {$(
        impl sealed::Value for $type {
            type Carrier = $carrier;
            const NPY: &'static str = $npy;

            fn of_carrier(carrier: $carrier) -> Self {
                carrier as Self
            }

            fn carried(self) -> $carrier {
                self as $carrier
            }

            fn print(self, $text: &mut Vec<u8>) {
                let $value = self;
                $print
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
    )*};
}
numbers! {
    f64 "<f8" in f64, |value, text| print_f64(value, text);
    f32 "<f4" in f32, |value, text| print_f32(value, text);
    i8 "|i1" in i64, |value, text| print_integer(value.into(), text);
    i16 "<i2" in i64, |value, text| print_integer(value.into(), text);
    i32 "<i4" in i64, |value, text| print_integer(value.into(), text);
    i64 "<i8" in i64, |value, text| print_integer(value, text);
    u8 "|u1" in i64, |value, text| print_natural(value.into(), text);
    u16 "<u2" in i64, |value, text| print_natural(value.into(), text);
    u32 "<u4" in i64, |value, text| print_natural(value.into(), text);
    u64 "<u8" in i64, |value, text| print_natural(value, text);
}

macro_rules! halves {
    ($($type:ident $npy:literal;)*) => {$(
        impl sealed::Value for $type {
            type Carrier = f64;
            const NPY: &'static str = $npy;

            fn of_carrier(carrier: f64) -> Self {
                $type::from_f64(carrier)
            }

            fn carried(self) -> f64 {
                self.to_f64()
            }

            fn print(self, text: &mut Vec<u8>) {
                print_f32(self.into(), text);
            }

            fn append_bytes(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_bits().to_le_bytes());
            }

            fn from_bytes(bytes: &[u8]) -> Self {
                Self::from_bits(u16::from_bytes(bytes))
            }
        }
    )*};
}
// What NumPy has no type for is written as what the package `ml_dtypes` writes: two bytes of no type.
halves! {
    f16 "<f2";
    bf16 "<V2";
}

impl sealed::Value for bool {
    type Carrier = i64;
    const NPY: &'static str = "|b1";

    fn of_carrier(carrier: i64) -> Self {
        carrier != 0
    }

    fn carried(self) -> i64 {
        self.into()
    }

    fn print(self, text: &mut Vec<u8>) {
        text.push(if self { b'1' } else { b'0' });
    }

    fn append_bytes(self, bytes: &mut Vec<u8>) {
        bytes.push(self.into());
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        bytes.iter().any(|&byte| byte != 0)
    }
}

macro_rules! complex {
    ($($type:ident $part:ident $npy:literal;)*) => {$(
        impl sealed::Value for $type {
            type Carrier = c64;
            const NPY: &'static str = $npy;

            fn of_carrier(carrier: c64) -> Self {
                $type::new(carrier.re as $part, carrier.im as $part)
            }

            fn carried(self) -> c64 {
                c64::new(self.re.into(), self.im.into())
            }

            fn print(self, text: &mut Vec<u8>) {
                self.re.print(text);
                text.push(b' ');
                self.im.print(text);
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
    )*};
}
complex! {
    c64 f64 "<c16";
    c32 f32 "<c8";
}

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
        retyped(F::wrap(values.to_vec()), T::TYPE).map(|values| values.into_buffer::<T>().unwrap().into_vec())
    }

    fn parse<T: Value>(field: &[u8]) -> Result<T, Refusal> {
        super::parse(field, T::TYPE).map(T::of_carrier)
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
        for text in ["", "-", "+", "+-1", "++1", "1.5x", "0x10", "1,5", "1d", "one", "1_000", "e5"] {
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
        assert_eq!(parse::<u64>(b"18446744073709551615"), Ok(u64::MAX));
        assert_eq!(parse::<u64>(b"18446744073709551616"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<u64>(b"-1"), Err(Refusal::OutOfRange));
        assert_eq!(printed(u64::MAX), "18446744073709551615");
        for (text, small, wide) in [("-129", None, Some(-129)), ("-128", Some(-128), Some(-128)), ("40000", None, None)]
        {
            assert_eq!(parse::<i8>(text.as_bytes()).ok(), small);
            assert_eq!(parse::<i16>(text.as_bytes()).ok(), wide);
        }
        assert_eq!((parse::<u16>(b"65535"), parse::<u16>(b"65536")), (Ok(u16::MAX), Err(Refusal::OutOfRange)));
        assert_eq!((parse::<u32>(b"4294967295"), parse::<u32>(b"4e9")), (Ok(u32::MAX), Ok(4_000_000_000)));
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
    fn numbers_widen_as_they_are_and_narrow_once() {
        assert_eq!(converted::<f32, f64>(&[0.1]).unwrap(), [0.100_000_001_490_116_12]);
        assert_eq!(converted::<f16, f32>(&[f16::from_f64(0.1)]).unwrap(), [0.099_975_586]);
        assert_eq!(converted::<c32, c64>(&[c32::new(0.1, 0.0)]).unwrap(), [c64::new(f64::from(0.1f32), 0.0)]);
        let tie = 1.0 + 2f64.powi(-24);
        assert_eq!(converted::<f64, f32>(&[tie, tie.next_up(), -tie]).unwrap(), [1.0, 1.0f32.next_up(), -1.0]);
        let half = converted::<f64, f16>(&[1.0 + 2f64.powi(-11), (1.0 + 2f64.powi(-11)).next_up()]).unwrap();
        assert_eq!(half.iter().map(|half| half.to_f64()).collect::<Vec<_>>(), [1.0, 1.0 + 2f64.powi(-10)]);
        assert!(converted::<f64, f32>(&[1e39]).is_err() && converted::<f64, f16>(&[70_000.0]).is_err());
        assert!(converted::<f64, i64>(&[0.5]).is_err() && converted::<f64, u8>(&[f64::NAN]).is_err());
        assert_eq!(converted::<u64, i64>(&[7]).unwrap(), [7]);
        assert!(converted::<u64, i64>(&[u64::MAX]).is_err() && converted::<u64, f64>(&[u64::MAX]).is_err());
        assert_eq!(converted::<f64, bool>(&[1.0, -0.0]).unwrap(), [true, false]);
        assert!(converted::<f64, bool>(&[2.0]).is_err());
    }

    #[test]
    fn text_is_rounded_once() {
        // The middle of two numbers of two bytes, and what is nearer to it than any other `f64`.
        let middle = 1.0 + 2f64.powi(-11);
        let text = |end: &str| format!("{middle}{end}");
        for (end, expected) in [("", 1.0), ("00000000000000001", 1.0 + 2f64.powi(-10)), ("e0", 1.0)] {
            assert_eq!(parse::<f16>(text(end).as_bytes()).unwrap().to_f64(), expected, "{end}");
            assert_eq!(parse::<f16>(format!("-{}", text(end)).as_bytes()).unwrap().to_f64(), -expected, "{end}");
        }
        // The even one is above this middle, and the number below it.
        let middle = 1.0 + 3.0 * 2f64.powi(-11);
        let below = format!("{}e-1", "10.0146484374999999999999999999");
        assert_eq!((middle, parse::<f16>(below.as_bytes()).unwrap().to_f64()), (1.00146484375, 1.0 + 2f64.powi(-10)));
        assert_eq!(parse::<bf16>(b"257.00000000000000000001").unwrap().to_f64(), 258.0);
        assert_eq!(parse::<bf16>(b"257").unwrap().to_f64(), 256.0);
        assert_eq!(parse::<f16>(b"65520"), Err(Refusal::OutOfRange));
        assert_eq!(parse::<f16>(b"65519.999999999999999999").unwrap().to_f64(), 65504.0);
        assert_eq!(parse::<bf16>(b"100000000000000000").unwrap().to_f64(), 100_205_091_708_993_536.0);
    }

    #[test]
    fn exponents_of_fortran_are_read() {
        assert_eq!(parse::<f64>(b"1.5D+03"), Ok(1500.0));
        assert_eq!(parse::<f32>(b"-2d-1"), Ok(-0.2));
        assert_eq!(parse::<i64>(b"1D2"), Ok(100));
        for text in ["1D", "D2", "1D2D3", "d", "1.5DE3"] {
            assert_eq!(parse::<f64>(text.as_bytes()), Err(Refusal::NotANumber), "{text}");
        }
    }

    #[test]
    fn digits_say_a_number_that_the_type_holds() {
        for text in ["9007199254740992", "-9007199254740992", "9007199254740994", "10000000000000000000000"] {
            assert_eq!(parse::<f64>(text.as_bytes()).unwrap().to_string(), text);
        }
        // As other programs write 1.2345678901234568e20.
        assert_eq!(parse::<f64>(b"123456789012345680000"), Ok(1.234_567_890_123_456_8e20));
        for text in ["9007199254740993", "-9007199254740993", "9223372036854775807", "+99999999999999999"] {
            assert_eq!(parse::<f64>(text.as_bytes()), Err(Refusal::NotExact), "{text}");
        }
        assert_eq!(parse::<f64>(b"9007199254740993.0"), Ok(9_007_199_254_740_992.0));
        // A text that states its type.
        let stated = |text: &str, stated, element| parse_stated::<f64>(text.as_bytes(), stated, element);
        assert_eq!(stated("16777217", ElementType::I64, ElementType::F32), Err(Refusal::NotExact));
        assert_eq!(stated("16777217", ElementType::I64, ElementType::F64), Ok(16_777_217.0));
        assert_eq!(stated("0.1", ElementType::F32, ElementType::F64), Ok(f64::from(0.1f32)));
        assert_eq!(stated("300", ElementType::U8, ElementType::F64), Err(Refusal::OutOfRange));
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
