//! Values: arrays of any element type.

use super::{Buffer, OutOfMemory, Plain, Shared};
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use spc_compiler::ir::{ElementType, Literal, ReduceOperator};
use std::fmt;
use std::sync::OnceLock;

mod sealed {
    pub trait Sealed {}
}

/// The types of tensor elements: `f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c32 c64`, which [`with_element!`](crate::with_element) goes through.
pub trait Element: sealed::Sealed + Plain + PartialEq + Default + fmt::Debug + fmt::Display {
    /// Its name in the language.
    const TYPE: ElementType;
    /// Zero, or `false`.
    const ZERO: Self;
    /// One, or `true`.
    const ONE: Self;

    /// Zero, to be borrowed.
    fn zero() -> &'static Self;

    /// The sum; integers wrap, as they do in kernels. Of truth values, whether one is true.
    fn plus(self, other: Self) -> Self;

    /// The sum of values that are one entry together; none of integers that sum up to more or less than the type holds.
    fn exact_sum(values: &[Self]) -> Option<Self> {
        values.iter().copied().reduce(Self::plus)
    }

    /// The product; integers wrap, as they do in kernels. Of truth values, whether both are true.
    fn times(self, other: Self) -> Self;

    /// The nearest `f64`; of a complex number, the real part.
    fn to_f64(self) -> f64;

    /// The nearest `c64`.
    fn to_c64(self) -> c64 {
        self.to_f64().into()
    }

    /// The value as a literal; `None` for a complex number that is not real.
    fn literal(self) -> Option<Literal>;

    /// The value of a literal of this type.
    fn from_literal(literal: Literal) -> Option<Self>;

    /// A number of this type, as by `as`: rounded, and the nearest that there is where it is out of range. Of truth values,
    /// whether it is not zero.
    fn from_f64(value: f64) -> Self;

    /// As [`from_f64`](Element::from_f64) of the real part; a complex type takes the other part too.
    fn from_c64(value: c64) -> Self {
        Self::from_f64(value.re)
    }

    /// Values of this type.
    fn wrap(values: impl Into<Shared<Self>>) -> Values;

    /// The array of values of this type.
    fn unwrap(values: &Values) -> Option<&Shared<Self>>;

    /// The array of values of this type, out of the values.
    #[doc(hidden)]
    fn unwrap_owned(values: Values) -> Option<Shared<Self>>;

    /// The array of values of this type, to be changed.
    fn unwrap_mut(values: &mut Values) -> Option<&mut Shared<Self>>;
}

/// Evaluates an expression with a type that stands for the elements of an [`ElementType`].
///
/// ```
/// use spc::tensor::{ElementType, Values};
///
/// let ones = |element: ElementType| spc::with_element!(element, |T| Values::from(vec![<T as spc::tensor::Element>::ONE]));
/// assert_eq!(ones(ElementType::Bool).as_slice::<bool>(), Some(&[true][..]));
/// ```
#[macro_export]
macro_rules! with_element {
    ($element:expr, |$type:ident| $body:expr) => {{
        macro_rules! arm {
            ($actual:ty) => {{
                type $type = $actual;
                $body
            }};
        }
        match $element {
            $crate::tensor::ElementType::F64 => arm!(f64),
            $crate::tensor::ElementType::F32 => arm!(f32),
            $crate::tensor::ElementType::F16 => arm!($crate::half::f16),
            $crate::tensor::ElementType::BF16 => arm!($crate::half::bf16),
            $crate::tensor::ElementType::I8 => arm!(i8),
            $crate::tensor::ElementType::I16 => arm!(i16),
            $crate::tensor::ElementType::I32 => arm!(i32),
            $crate::tensor::ElementType::I64 => arm!(i64),
            $crate::tensor::ElementType::U8 => arm!(u8),
            $crate::tensor::ElementType::U16 => arm!(u16),
            $crate::tensor::ElementType::U32 => arm!(u32),
            $crate::tensor::ElementType::U64 => arm!(u64),
            $crate::tensor::ElementType::Bool => arm!(bool),
            $crate::tensor::ElementType::C32 => arm!($crate::complex::c32),
            $crate::tensor::ElementType::C64 => arm!($crate::complex::c64),
        }
    }};
}

/// An array of values of one element type, cheap to clone: a copy is made when one of several owners changes it.
///
/// ```
/// use spc::tensor::Values;
///
/// let mut values = Values::from(vec![1.0f32, 2.0]);
/// let before = values.clone();
/// values.as_mut_slice::<f32>().unwrap()[0] = 5.0;
/// assert_eq!(values.as_slice::<f32>(), Some(&[5.0, 2.0][..]));
/// assert_eq!(before.as_slice::<f32>(), Some(&[1.0, 2.0][..]));
/// assert_eq!(values.as_slice::<f64>(), None);
/// ```
#[derive(Clone, PartialEq)]
pub enum Values {
    /// `f64`
    F64(Shared<f64>),
    /// `f32`
    F32(Shared<f32>),
    /// `f16`
    F16(Shared<f16>),
    /// `bf16`
    BF16(Shared<bf16>),
    /// `i8`
    I8(Shared<i8>),
    /// `i16`
    I16(Shared<i16>),
    /// `i32`
    I32(Shared<i32>),
    /// `i64`
    I64(Shared<i64>),
    /// `u8`
    U8(Shared<u8>),
    /// `u16`
    U16(Shared<u16>),
    /// `u32`
    U32(Shared<u32>),
    /// `u64`
    U64(Shared<u64>),
    /// `bool`
    Bool(Shared<bool>),
    /// `c32`
    C32(Shared<c32>),
    /// `c64`
    C64(Shared<c64>),
}

/// Evaluates an expression with the array of [`Values`], of whatever type.
macro_rules! with_shared {
    ($values:expr, |$buffer:ident| $body:expr) => {
        match $values {
            $crate::tensor::Values::F64($buffer) => $body,
            $crate::tensor::Values::F32($buffer) => $body,
            $crate::tensor::Values::F16($buffer) => $body,
            $crate::tensor::Values::BF16($buffer) => $body,
            $crate::tensor::Values::I8($buffer) => $body,
            $crate::tensor::Values::I16($buffer) => $body,
            $crate::tensor::Values::I32($buffer) => $body,
            $crate::tensor::Values::I64($buffer) => $body,
            $crate::tensor::Values::U8($buffer) => $body,
            $crate::tensor::Values::U16($buffer) => $body,
            $crate::tensor::Values::U32($buffer) => $body,
            $crate::tensor::Values::U64($buffer) => $body,
            $crate::tensor::Values::Bool($buffer) => $body,
            $crate::tensor::Values::C32($buffer) => $body,
            $crate::tensor::Values::C64($buffer) => $body,
        }
    };
}
pub(crate) use with_shared;

/// Evaluates an expression with [`Values`] as a slice of their own type.
macro_rules! with_values {
    ($values:expr, |$slice:ident| $body:expr) => {
        $crate::tensor::values::with_shared!($values, |buffer| {
            let $slice = buffer.as_slice();
            $body
        })
    };
}
pub(crate) use with_values;

/// The same, to be changed. Copies the values where they are shared.
macro_rules! with_values_mut {
    ($values:expr, |$slice:ident| $body:expr) => {
        $crate::tensor::values::with_shared!($values, |buffer| {
            let $slice = buffer.make_mut().as_mut_slice();
            $body
        })
    };
}
pub(crate) use with_values_mut;

impl Values {
    /// `length` zeros of an element type.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn try_zeroed(element: ElementType, length: usize) -> Result<Self, OutOfMemory> {
        with_element!(element, |T| Ok(T::wrap(Buffer::try_zeroed(length)?)))
    }

    /// The type of its elements.
    pub fn element(&self) -> ElementType {
        fn of<T: Element>(_: &Shared<T>) -> ElementType {
            T::TYPE
        }
        with_shared!(self, |values| of(values))
    }

    /// No values of an element type: clones of the same ones, which are not allocated anew.
    pub(crate) fn none(element: ElementType) -> Self {
        static NONE: OnceLock<[Values; ElementType::ALL.len()]> = OnceLock::new();
        let all =
            NONE.get_or_init(|| ElementType::ALL.map(|element| with_element!(element, |T| T::wrap(Shared::default()))));
        all[element as usize].clone()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        with_values!(self, |values| values.len())
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bytes of its elements.
    pub fn bytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// A value as `f64`; of a complex number, the real part.
    ///
    /// # Panics
    /// When there is no such value.
    pub fn get_f64(&self, position: usize) -> f64 {
        with_values!(self, |values| values[position].to_f64())
    }

    /// A value as `c64`.
    ///
    /// # Panics
    /// When there is no such value.
    pub fn get_c64(&self, position: usize) -> c64 {
        with_values!(self, |values| values[position].to_c64())
    }

    /// The values, where they are of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        T::unwrap(self).map(|buffer| buffer.as_slice())
    }

    /// The values, to be changed, where they are of type `T`. Copies them where they are shared.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        T::unwrap_mut(self).map(|buffer| buffer.make_mut().as_mut_slice())
    }

    /// The values as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        with_values!(self, |values| bytemuck::cast_slice(values))
    }

    /// The values as bytes, to be changed; nothing of `bool`, of which not all bytes are one. Copies them where they are shared.
    #[cfg(feature = "compile")]
    pub(crate) fn as_bytes_mut(&mut self) -> Option<&mut [u8]> {
        macro_rules! of {
            ($($variant:ident)*) => {
                match self {
                    Values::Bool(_) => None,
                    $(Values::$variant(values) => Some(bytemuck::cast_slice_mut(values.make_mut().as_mut_slice())),)*
                }
            };
        }
        of!(F64 F32 F16 BF16 I8 I16 I32 I64 U8 U16 U32 U64 C32 C64)
    }

    /// The values of type `T` as a buffer: without a copy where they are not shared.
    pub fn into_buffer<T: Element>(self) -> Option<Buffer<T>> {
        T::unwrap_owned(self).map(Shared::into_buffer)
    }

    /// The same array, also where its elements are borrowed.
    ///
    /// # Safety
    /// As for [`Shared::alias`].
    pub(crate) unsafe fn alias(&self) -> Self {
        // SAFETY: as the caller promises.
        unsafe { with_shared!(self, |values| Element::wrap(values.alias())) }
    }
}

/// An element type: its constants and conversions, and how it stands among [`Values`].
macro_rules! element {
    ($type:ident $variant:ident $($own:tt)*) => {
        impl sealed::Sealed for $type {}

        impl Element for $type {
            const TYPE: ElementType = ElementType::$variant;
            $($own)*

            fn zero() -> &'static Self {
                &Self::ZERO
            }

            fn wrap(values: impl Into<Shared<Self>>) -> Values {
                Values::$variant(values.into())
            }

            fn unwrap(values: &Values) -> Option<&Shared<Self>> {
                match values {
                    Values::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }

            fn unwrap_owned(values: Values) -> Option<Shared<Self>> {
                match values {
                    Values::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }

            fn unwrap_mut(values: &mut Values) -> Option<&mut Shared<Self>> {
                match values {
                    Values::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }
        }

        impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Self {
                Values::$variant(values.into())
            }
        }

        impl From<Buffer<$type>> for Values {
            fn from(values: Buffer<$type>) -> Self {
                Values::$variant(values.into())
            }
        }
    };
}

macro_rules! reals {
    ($($type:ident $variant:ident $zero:literal $one:literal |$a:ident, $b:ident| $plus:expr $(, by $wide:ident)?;)*) => {$(
        element! { $type $variant
            const ZERO: Self = $zero;
            const ONE: Self = $one;

            #[inline]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $plus
            }

            $(fn exact_sum(values: &[Self]) -> Option<Self> {
                Self::try_from(values.iter().map(|&value| $wide::from(value)).sum::<$wide>()).ok()
            })?

            fn times(self, other: Self) -> Self {
                let product = self.literal().zip(other.literal()).and_then(|(left, right)| {
                    ReduceOperator::Multiply.of(left, right).and_then(Self::from_literal)
                });
                product.unwrap_or(other)
            }

            #[inline]
            fn to_f64(self) -> f64 {
                self as f64
            }

            fn literal(self) -> Option<Literal> {
                Some(match Self::TYPE.is_integer() {
                    true => Literal::Integer(Self::TYPE, self as i128),
                    false => Literal::Float(Self::TYPE, self as f64),
                })
            }

            fn from_literal(literal: Literal) -> Option<Self> {
                match literal {
                    _ if literal.element() != Self::TYPE => None,
                    Literal::Float(_, value) => Some(value as $type),
                    Literal::Integer(_, value) => Some(value as $type),
                }
            }

            #[inline]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
        }
    )*};
}
reals! {
    f64 F64 0.0 1.0 |a, b| a + b;
    f32 F32 0.0 1.0 |a, b| a + b;
    i8 I8 0 1 |a, b| a.wrapping_add(b), by i128;
    i16 I16 0 1 |a, b| a.wrapping_add(b), by i128;
    u16 U16 0 1 |a, b| a.wrapping_add(b), by i128;
    u32 U32 0 1 |a, b| a.wrapping_add(b), by i128;
    u64 U64 0 1 |a, b| a.wrapping_add(b), by i128;
    i32 I32 0 1 |a, b| a.wrapping_add(b), by i128;
    i64 I64 0 1 |a, b| a.wrapping_add(b), by i128;
    u8 U8 0 1 |a, b| a.wrapping_add(b), by i128;
}

element! { bool Bool
    const ZERO: Self = false;
    const ONE: Self = true;

    #[inline]
    fn plus(self, other: Self) -> Self {
        self | other
    }

    fn times(self, other: Self) -> Self {
        self & other
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }

    fn literal(self) -> Option<Literal> {
        Some(Literal::Integer(Self::TYPE, self.into()))
    }

    fn from_literal(literal: Literal) -> Option<Self> {
        match literal {
            Literal::Integer(ElementType::Bool, value) => Some(value != 0),
            _ => None,
        }
    }

    #[inline]
    fn from_f64(value: f64) -> Self {
        value != 0.0
    }
}

macro_rules! halves {
    ($($type:ident $variant:ident;)*) => {$(
        element! { $type $variant
            const ZERO: Self = $type::from_bits(0);
            const ONE: Self = $type::ONE;

            /// Computed as `f32`, and rounded.
            #[inline]
            fn plus(self, other: Self) -> Self {
                (f32::from(self) + f32::from(other)).into()
            }

            /// All added up as `f32`, and rounded once.
            fn exact_sum(values: &[Self]) -> Option<Self> {
                Some(values.iter().map(|&value| f32::from(value)).sum::<f32>().into())
            }

            fn times(self, other: Self) -> Self {
                (f32::from(self) * f32::from(other)).into()
            }

            #[inline]
            fn to_f64(self) -> f64 {
                f32::from(self).into()
            }

            fn literal(self) -> Option<Literal> {
                f32::from(self).literal()
            }

            fn from_literal(literal: Literal) -> Option<Self> {
                f32::from_literal(literal).map(Self::from)
            }

            #[inline]
            fn from_f64(value: f64) -> Self {
                $type::from_f64(value)
            }
        }
    )*};
}
halves! {
    f16 F16;
    bf16 BF16;
}

macro_rules! complexes {
    ($($type:ident $variant:ident $part:ident;)*) => {$(
        element! { $type $variant
            const ZERO: Self = $type::new(0.0, 0.0);
            const ONE: Self = $type::new(1.0, 0.0);

            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }

            #[inline]
            fn to_f64(self) -> f64 {
                self.re.into()
            }

            #[inline]
            fn to_c64(self) -> c64 {
                c64::new(self.re.into(), self.im.into())
            }

            fn literal(self) -> Option<Literal> {
                (self.im == 0.0).then(|| Literal::Float(Self::TYPE, self.re.into()))
            }

            fn from_literal(literal: Literal) -> Option<Self> {
                match literal {
                    Literal::Float(element, value) if element == Self::TYPE => Some(Self::from_f64(value)),
                    _ => None,
                }
            }

            #[inline]
            fn from_f64(value: f64) -> Self {
                $type::new(value as $part, 0.0)
            }

            #[inline]
            fn from_c64(value: c64) -> Self {
                $type::new(value.re as $part, value.im as $part)
            }
        }
    )*};
}
complexes! {
    c32 C32 f32;
    c64 C64 f64;
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.element().name())?;
        with_values!(self, |values| super::debug_shortened(f, values.len(), |place| values[place]))
    }
}

/// Whether two values have the same bits: zeros of different signs do not.
pub(crate) fn same_bits<T: Element>(one: &T, other: &T) -> bool {
    bytemuck::bytes_of(one) == bytemuck::bytes_of(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_each_element_type() {
        for element in ElementType::ALL {
            let values = Values::try_zeroed(element, 3).unwrap();
            assert_eq!((values.element(), values.len(), values.get_f64(2)), (element, 3, 0.0));
            assert_eq!(values.bytes(), 3 * element.bytes());
        }
    }

    #[test]
    fn a_buffer_comes_back_without_a_copy_unless_it_is_shared() {
        let values = Values::from(vec![1i64, 2]);
        let address = values.as_bytes().as_ptr();
        let shared = values.clone();
        assert_ne!(values.into_buffer::<i64>().unwrap().as_ptr().cast(), address);
        assert_eq!(shared.into_buffer::<i64>().unwrap().as_ptr().cast(), address);
    }
}
