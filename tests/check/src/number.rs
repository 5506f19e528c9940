//! Numbers of every element type, as they are: what tests put in, what the oracle computes with, and what comes out.

use spc::complex::{c32, c64};
use spc::half::{bf16, f16};
use spc::tensor::Values;
use spc_compiler::ir::{ElementType, Literal};
use std::fmt;

macro_rules! numbers {
    ($($variant:ident $type:ident,)*) => {
        /// A number of an element type.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Number {
            $(#[doc = concat!("`", stringify!($type), "`")] $variant($type),)*
        }

        impl Number {
            /// Its element type.
            pub fn element(self) -> ElementType {
                match self {
                    $(Number::$variant(_) => ElementType::$variant,)*
                }
            }

            /// The number as Rust writes it; `None` where it is no number of the type.
            pub fn parse(element: ElementType, text: &str) -> Option<Self> {
                match element {
                    $(ElementType::$variant => text.parse().ok().map(Number::$variant),)*
                }
            }
        }

        impl fmt::Display for Number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Number::$variant(number) => number.fmt(f),)*
                }
            }
        }

        $(
            impl From<$type> for Number {
                fn from(number: $type) -> Self {
                    Number::$variant(number)
                }
            }

            impl From<Number> for $type {
                fn from(number: Number) -> Self {
                    match number {
                        Number::$variant(number) => number,
                        other => panic!("{other:?} is no {}", stringify!($type)),
                    }
                }
            }
        )*
    };
}
numbers! {
    F64 f64,
    F32 f32,
    F16 f16,
    BF16 bf16,
    I64 i64,
    I32 i32,
    U8 u8,
    I8 i8,
    I16 i16,
    U16 u16,
    U32 u32,
    U64 u64,
    Bool bool,
    C32 c32,
    C64 c64,
}

impl Number {
    /// The number of a type that a `f64` is, as by `as`.
    pub fn of(element: ElementType, value: f64) -> Self {
        spc::with_element!(element, |T| <T as spc::tensor::Element>::from_f64(value).into())
    }

    /// The value of a literal.
    pub fn of_literal(literal: Literal) -> Self {
        match literal {
            Literal::Integer(ElementType::I64, value) => Number::I64(value as i64),
            Literal::Integer(ElementType::U64, value) => Number::U64(value as u64),
            Literal::Integer(element, value) => Number::of(element, value as f64),
            Literal::Float(element, value) => Number::of(element, value),
        }
    }

    /// One of the values of a tensor.
    ///
    /// # Panics
    /// When there is no such value.
    pub fn at(values: &Values, position: usize) -> Self {
        spc::with_element!(values.element(), |T| match values.as_slice::<T>() {
            Some(values) => values[position].into(),
            None => unreachable!("values are of their element type"),
        })
    }

    /// The nearest `c64`.
    pub fn to_c64(self) -> c64 {
        match self {
            Number::F64(value) => value.into(),
            Number::F32(value) => f64::from(value).into(),
            Number::F16(value) => f64::from(f32::from(value)).into(),
            Number::BF16(value) => f64::from(f32::from(value)).into(),
            Number::I64(value) => (value as f64).into(),
            Number::I32(value) => f64::from(value).into(),
            Number::U8(value) => f64::from(value).into(),
            Number::I8(value) => f64::from(value).into(),
            Number::I16(value) => f64::from(value).into(),
            Number::U16(value) => f64::from(value).into(),
            Number::U32(value) => f64::from(value).into(),
            Number::U64(value) => (value as f64).into(),
            Number::Bool(truth) => f64::from(u8::from(truth)).into(),
            Number::C32(value) => c64::new(value.re.into(), value.im.into()),
            Number::C64(value) => value,
        }
    }

    /// What is computed with where it is read: of `f16` and `bf16`, the same number as an `f32`.
    pub fn computed(self) -> Self {
        match self {
            Number::F16(value) => Number::F32(value.into()),
            Number::BF16(value) => Number::F32(value.into()),
            other => other,
        }
    }

    /// Two numbers whose sum it is, exactly for those that tests put in.
    pub fn parts(self) -> [Number; 2] {
        let of = |value: f64| Number::of(self.element(), value);
        // The least has no number below.
        let whole = |less: Option<Number>| less.map_or([self, of(0.0)], |less| [less, of(1.0)]);
        match self {
            Number::F64(value) => [(value - 1.0).into(), of(1.0)],
            Number::F32(value) => [(value - 1.0).into(), of(1.0)],
            // Rounded sums of others may be another number.
            Number::F16(_) | Number::BF16(_) => [self, of(0.0)],
            Number::I64(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::I32(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::U8(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::I8(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::I16(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::U16(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::U32(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::U64(value) => whole(value.checked_sub(1).map(Number::from)),
            Number::Bool(truth) => [truth.into(), of(0.0)],
            Number::C64(value) => [(value - 1.0).into(), of(1.0)],
            Number::C32(value) => [(value - 1.0).into(), of(1.0)],
        }
    }

    /// Whether it is zero; `false` is.
    pub fn is_zero(self) -> bool {
        self.to_c64() == c64::new(0.0, 0.0)
    }

    /// Whether it, or a part of it, is not a number.
    pub fn is_nan(self) -> bool {
        let number = self.to_c64();
        number.re.is_nan() || number.im.is_nan()
    }

    /// Whether it is neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        let number = self.to_c64();
        number.re.is_finite() && number.im.is_finite()
    }

    /// The number with the other sign, where it has one; bytes and truth values stay as they are.
    pub fn negative(self) -> Number {
        match self {
            Number::F64(value) => Number::F64(-value),
            Number::F32(value) => Number::F32(-value),
            Number::F16(value) => Number::F16((-f32::from(value)).into()),
            Number::BF16(value) => Number::BF16((-f32::from(value)).into()),
            Number::I64(value) => Number::I64(value.wrapping_neg()),
            Number::I32(value) => Number::I32(value.wrapping_neg()),
            Number::C64(value) => Number::C64(-value),
            Number::C32(value) => Number::C32(-value),
            Number::I8(value) => Number::I8(value.wrapping_neg()),
            Number::I16(value) => Number::I16(value.wrapping_neg()),
            Number::U8(_) | Number::U16(_) | Number::U32(_) | Number::U64(_) | Number::Bool(_) => self,
        }
    }

    /// Whether it is the same value.
    pub fn equals(self, other: Number) -> bool {
        self.computed() == other.computed() || self.is_nan() && other.is_nan()
    }

    /// Whether it is the same value but for rounding.
    pub fn is_close(self, other: Number) -> bool {
        let is = |element: ElementType| [self, other].iter().any(|number| number.element() == element);
        let tolerance = match self.element() {
            // What is rounded is but nearly the same, so that two neighbours may come of it.
            _ if is(ElementType::F16) => 1e-3,
            _ if is(ElementType::BF16) => 8e-3,
            ElementType::F64 | ElementType::C64 => 1e-10,
            ElementType::F32 | ElementType::C32 => 1e-4,
            _ => return self == other,
        };
        let (one, another) = (self.to_c64(), other.to_c64());
        // Test data are a few quarters, so that what cancels cancels to nearly nothing.
        self.equals(other) || (one - another).norm() <= tolerance * one.norm().max(another.norm()).max(1e-3)
    }
}
