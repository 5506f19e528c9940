//! Element types: one row each.

use crate::ir::{Literal, half};
use std::fmt;

/// What values of an element type are; one kind is converted to those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementKind {
    /// Truth values.
    Truth,
    /// Whole numbers without a sign, which wrap around.
    Unsigned,
    /// Whole numbers with a sign, which wrap around.
    Signed,
    /// Floating point numbers.
    Float,
    /// Pairs of floating point numbers.
    Complex,
}

macro_rules! elements {
    ($($(#[$doc:meta])* $element:ident $name:literal $kind:ident $bytes:literal $summary:literal;)*) => {
        /// The types of tensor elements.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ElementType {
            $($(#[$doc])* $element,)*
        }

        impl ElementType {
            /// All element types.
            pub const ALL: [ElementType; [$($bytes),*].len()] = [$(ElementType::$element),*];

            /// The name in the language, in Rust and in CUDA.
            pub fn name(self) -> &'static str {
                match self {
                    $(ElementType::$element => $name,)*
                }
            }

            /// What its values are.
            pub fn kind(self) -> ElementKind {
                match self {
                    $(ElementType::$element => ElementKind::$kind,)*
                }
            }

            /// The number of bytes of one element.
            pub fn bytes(self) -> usize {
                match self {
                    $(ElementType::$element => $bytes,)*
                }
            }

            /// What its values are, in words.
            pub fn summary(self) -> &'static str {
                match self {
                    $(ElementType::$element => $summary,)*
                }
            }
        }
    };
}

elements! {
    /// 64-bit floating point
    F64 "f64" Float 8 "floating point numbers of 64 bits; what a tensor has when no type is written";
    /// 32-bit floating point
    F32 "f32" Float 4 "floating point numbers of 32 bits";
    /// 32-bit signed integer
    I32 "i32" Signed 4 "whole numbers of 32 bits, with a sign";
    /// 64-bit signed integer
    I64 "i64" Signed 8 "whole numbers of 64 bits, with a sign";
    /// 8-bit unsigned integer
    U8 "u8" Unsigned 1 "whole numbers from 0 to 255";
    /// 8-bit signed integer
    I8 "i8" Signed 1 "whole numbers from -128 to 127";
    /// 16-bit signed integer
    I16 "i16" Signed 2 "whole numbers of 16 bits, with a sign";
    /// 16-bit unsigned integer
    U16 "u16" Unsigned 2 "whole numbers of 16 bits, without a sign";
    /// 32-bit unsigned integer
    U32 "u32" Unsigned 4 "whole numbers of 32 bits, without a sign";
    /// 64-bit unsigned integer
    U64 "u64" Unsigned 8 "whole numbers of 64 bits, without a sign";
    /// 16-bit floating point of 11 bits of precision, which is stored only
    F16 "f16" Float 2 "floating point numbers of 16 bits and 11 bits of precision, up to 65504";
    /// 16-bit floating point of the range of `f32`, which is stored only
    BF16 "bf16" Float 2 "floating point numbers of 16 bits and 8 bits of precision, with the range of `f32`";
    /// truth value
    Bool "bool" Truth 1 "truth values";
    /// complex of two `f32`
    C32 "c32" Complex 8 "complex numbers of two `f32`";
    /// complex of two `f64`
    C64 "c64" Complex 16 "complex numbers of two `f64`";
}

impl ElementType {
    /// The element type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.name() == name)
    }

    /// Whether it is `f32` or `f64`.
    pub fn is_float(self) -> bool {
        self.kind() == ElementKind::Float
    }

    /// Whether its values are whole numbers, of any width.
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), ElementKind::Signed | ElementKind::Unsigned)
    }

    /// Whether its values have a negative: all numbers but those without a sign.
    pub fn is_signed(self) -> bool {
        !matches!(self.kind(), ElementKind::Unsigned | ElementKind::Truth)
    }

    /// The type that values are computed with: of `f16` and `bf16`, which are read as `f32` and rounded once when they are stored, that
    /// one; of all others, their own. Literals are of such a type.
    pub fn computed(self) -> ElementType {
        match self {
            ElementType::F16 | ElementType::BF16 => ElementType::F32,
            other => other,
        }
    }

    /// Whether values are stored in this type, and computed with in another.
    pub fn is_stored_only(self) -> bool {
        self.computed() != self
    }

    /// The value that an element has where this is stored.
    pub fn stored(self, value: f64) -> f64 {
        match self {
            ElementType::F16 => half::f32_of_f16(half::f16_of_f32(value as f32)).into(),
            ElementType::BF16 => half::f32_of_bf16(half::bf16_of_f32(value as f32)).into(),
            _ => value,
        }
    }

    /// Whether it is `c32` or `c64`.
    pub fn is_complex(self) -> bool {
        self.kind() == ElementKind::Complex
    }

    /// Whether arithmetic on it rounds, so that the order of a sum matters: `f32`, `f64`, `c32` and `c64`.
    pub fn is_rounded(self) -> bool {
        self.is_float() || self.is_complex()
    }

    /// The type of the parts of a complex number.
    pub fn part(self) -> Option<ElementType> {
        let is_part = |other: &ElementType| other.is_float() && 2 * other.bytes() == self.bytes();
        if self.is_complex() { Self::ALL.into_iter().find(is_part) } else { None }
    }

    /// The complex numbers whose parts are of this type.
    pub fn complex(self) -> Option<ElementType> {
        Self::ALL.into_iter().find(|other| other.part() == Some(self))
    }

    /// How many bits of a whole number it holds exactly, where it is of floating point numbers.
    pub fn digits(self) -> u32 {
        match self.part().unwrap_or(self) {
            ElementType::F32 => f32::MANTISSA_DIGITS,
            ElementType::F64 => f64::MANTISSA_DIGITS,
            ElementType::F16 => 11,
            ElementType::BF16 => 8,
            _ => 0,
        }
    }

    /// Whether every value of this type is one of the other.
    pub fn widens(self, to: ElementType) -> bool {
        let (least, greatest) = self.range();
        match (self.kind(), to.kind()) {
            // What is read is computed with in another type, and rounded where it is stored.
            _ if to.is_stored_only() => false,
            (ElementKind::Truth, _) | (_, ElementKind::Truth) => false,
            (ElementKind::Signed | ElementKind::Unsigned, ElementKind::Signed | ElementKind::Unsigned) => {
                self != to && to.range().0 <= least && greatest <= to.range().1
            }
            (ElementKind::Signed | ElementKind::Unsigned, _) => {
                let most = 1i128 << to.digits();
                -most <= least && greatest <= most
            }
            (_, ElementKind::Signed | ElementKind::Unsigned) | (ElementKind::Complex, ElementKind::Float) => false,
            _ => self != to && self.digits() <= to.digits(),
        }
    }

    /// Zero, or `false`.
    pub fn zero(self) -> Literal {
        match self.kind() {
            ElementKind::Float | ElementKind::Complex => Literal::Float(self.computed(), 0.0),
            ElementKind::Signed | ElementKind::Unsigned | ElementKind::Truth => Literal::Integer(self, 0),
        }
    }

    /// The least and the largest value, or the infinities; `None` for values without an order.
    pub fn extremes(self) -> Option<(Literal, Literal)> {
        match self.kind() {
            ElementKind::Float => {
                let infinite = |value| Literal::Float(self.computed(), value);
                Some((infinite(f64::NEG_INFINITY), infinite(f64::INFINITY)))
            }
            ElementKind::Signed | ElementKind::Unsigned => {
                let (least, greatest) = self.range();
                Some((Literal::Integer(self, least), Literal::Integer(self, greatest)))
            }
            ElementKind::Truth | ElementKind::Complex => None,
        }
    }

    /// `true`, or the whole number that has all bits; `None` for what has no bits.
    pub fn ones(self) -> Option<Literal> {
        match self.kind() {
            ElementKind::Truth => Some(Literal::Integer(self, 1)),
            ElementKind::Signed => Some(Literal::Integer(self, -1)),
            ElementKind::Unsigned => Some(Literal::Integer(self, self.range().1)),
            ElementKind::Float | ElementKind::Complex => None,
        }
    }

    /// The least and the largest whole number that it holds; truth values are 0 and 1. Of others, zero.
    pub fn range(self) -> (i128, i128) {
        let beyond = 1i128 << (8 * self.bytes() as u32 % 128);
        match self.kind() {
            ElementKind::Signed => (-beyond / 2, beyond / 2 - 1),
            ElementKind::Unsigned => (0, beyond - 1),
            ElementKind::Truth => (0, 1),
            ElementKind::Float | ElementKind::Complex => (0, 0),
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
