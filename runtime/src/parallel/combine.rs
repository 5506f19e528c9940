//! Operators between values of one type: those of a term, and those that combine the terms of a reduction.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::numbers::Real;

/// An operator between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `+`, which wraps around in integers
    Add,
    /// `-`, which wraps around in integers
    Subtract,
    /// `*`, which wraps around in integers
    Multiply,
    /// `/`, of floating point numbers
    Divide,
    /// The smaller; of a number and NaN, the number; -0 is smaller than 0.
    Min,
    /// The larger; of a number and NaN, the number; 0 is larger than -0.
    Max,
    /// `&`, of integers and truth values
    And,
    /// `|`, of integers and truth values
    Or,
}

/// An operator that is known where code is compiled: a type without a value.
pub trait Operator: Copy + Default {
    /// The operator.
    const OP: Op;
}

/// An operator of reductions: associative and commutative up to rounding, with an identity.
pub trait Monoid: Operator {
    /// Whether the operator is `+`, for which processors have an instruction that multiplies as well.
    const IS_SUM: bool = matches!(Self::OP, Op::Add);
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident $op:ident $($monoid:ident)?;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, Default)]
            pub struct $name;

            impl Operator for $name {
                const OP: Op = Op::$op;
            }

            $(impl $monoid for $name {})?
        )*
    };
}

operators! {
    /// `+`
    Sum Add Monoid;
    /// `-`
    Difference Subtract;
    /// `*`
    Product Multiply Monoid;
    /// `/`
    Quotient Divide;
    /// `min`
    Minimum Min Monoid;
    /// `max`
    Maximum Max Monoid;
    /// `&`
    All And Monoid;
    /// `|`
    Any Or Monoid;
}

/// The smaller of a total, which is no NaN, and a value: of NaN, the total. Most processors have an instruction for it.
///
/// ```
/// use spc::parallel::lesser;
///
/// assert_eq!(lesser(2.0, 1.0), 1.0);
/// assert_eq!(lesser(2.0, f64::NAN), 2.0);
/// ```
#[inline(always)]
pub fn lesser<T: Ordered>(total: T, value: T) -> T {
    total.lesser(value)
}

/// The larger of a total, which is no NaN, and a value: of NaN, the total.
#[inline(always)]
pub fn greater<T: Ordered>(total: T, value: T) -> T {
    total.greater(value)
}

/// Numbers with an order: a total that is no NaN meets a value.
pub trait Ordered: Copy {
    /// See [`lesser`].
    fn lesser(self, value: Self) -> Self;
    /// See [`greater`].
    fn greater(self, value: Self) -> Self;
}

macro_rules! ordered {
    ($($type:ident)*) => {
        $(impl Ordered for $type {
            #[inline(always)]
            fn lesser(self, value: Self) -> Self {
                if value < self { value } else { self }
            }

            #[inline(always)]
            fn greater(self, value: Self) -> Self {
                if value > self { value } else { self }
            }
        })*
    };
}

ordered!(i8 i16 i32 i64 u8 u16 u32 u64 usize);

macro_rules! ordered_floats {
    ($($type:ident)*) => {
        $(impl Ordered for $type {
            #[inline(always)]
            fn lesser(self, value: Self) -> Self {
                let smaller = if value < self { value } else { self };
                // Of two that are equal, zeros may have different signs: that of -0 stays.
                let sign = if value == self { value.to_bits() } else { 0 };
                Self::from_bits(smaller.to_bits() | sign)
            }

            #[inline(always)]
            fn greater(self, value: Self) -> Self {
                let larger = if value > self { value } else { self };
                let sign = if value == self { value.to_bits() } else { !0 };
                Self::from_bits(larger.to_bits() & sign)
            }
        })*
    };
}

ordered_floats!(f32 f64);

/// The types of elements that terms are of.
pub trait Value: Copy + Default {
    /// Whether sums are rounded, so that long ones lose small terms.
    const IS_ROUNDED: bool;

    /// Whether it is true or false.
    const IS_TRUTH: bool = false;

    /// What an operator changes nothing with. Reductions have no other operators than those that have one.
    fn identity(op: Op) -> Self;

    /// Of two values.
    fn apply(op: Op, one: Self, other: Self) -> Self;

    /// `self * by + to`, rounded once or twice, whichever takes less time.
    fn times_plus(self, by: Self, to: Self) -> Self;

    /// As an `f64`, where sums are rounded: nothing is lost.
    fn widened(self) -> f64;

    /// The nearest to an `f64`, where sums are rounded.
    fn rounded(wide: f64) -> Self;
}

#[cold]
#[inline(never)]
fn undefined() -> ! {
    unreachable!("operators are defined for the elements that they are applied to")
}

macro_rules! floats {
    ($($type:ident)*) => {
        $(impl Value for $type {
            const IS_ROUNDED: bool = true;

            #[inline(always)]
            fn identity(op: Op) -> Self {
                match op {
                    Op::Add => 0.0,
                    Op::Multiply => 1.0,
                    Op::Min => $type::INFINITY,
                    Op::Max => $type::NEG_INFINITY,
                    _ => undefined(),
                }
            }

            #[inline(always)]
            fn apply(op: Op, one: Self, other: Self) -> Self {
                match op {
                    Op::Add => one + other,
                    Op::Subtract => one - other,
                    Op::Multiply => one * other,
                    Op::Divide => one / other,
                    Op::Min => one.minimum_number(other),
                    Op::Max => one.maximum_number(other),
                    Op::And | Op::Or => undefined(),
                }
            }

            #[inline(always)]
            fn times_plus(self, by: Self, to: Self) -> Self {
                super::Fused::multiply_add(self, by, to)
            }

            #[inline(always)]
            fn widened(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn rounded(wide: f64) -> Self {
                wide as $type
            }
        })*
    };
}

floats!(f32 f64);

macro_rules! integers {
    ($($type:ident)*) => {
        $(impl Value for $type {
            const IS_ROUNDED: bool = false;

            #[inline(always)]
            fn identity(op: Op) -> Self {
                match op {
                    Op::Add | Op::Or => 0,
                    Op::Multiply => 1,
                    Op::Min => $type::MAX,
                    Op::Max => $type::MIN,
                    Op::And => !0,
                    Op::Subtract | Op::Divide => undefined(),
                }
            }

            #[inline(always)]
            fn apply(op: Op, one: Self, other: Self) -> Self {
                match op {
                    Op::Add => one.wrapping_add(other),
                    Op::Subtract => one.wrapping_sub(other),
                    Op::Multiply => one.wrapping_mul(other),
                    Op::Min => one.min(other),
                    Op::Max => one.max(other),
                    Op::And => one & other,
                    Op::Or => one | other,
                    Op::Divide => undefined(),
                }
            }

            #[inline(always)]
            fn times_plus(self, by: Self, to: Self) -> Self {
                self.wrapping_mul(by).wrapping_add(to)
            }

            #[inline(always)]
            fn widened(self) -> f64 {
                undefined()
            }

            #[inline(always)]
            fn rounded(_: f64) -> Self {
                undefined()
            }
        })*
    };
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Value for bool {
    const IS_ROUNDED: bool = false;

    const IS_TRUTH: bool = true;

    #[inline(always)]
    fn identity(op: Op) -> Self {
        match op {
            Op::Or => false,
            Op::And => true,
            _ => undefined(),
        }
    }

    #[inline(always)]
    fn apply(op: Op, one: Self, other: Self) -> Self {
        match op {
            Op::And => one & other,
            Op::Or => one | other,
            _ => undefined(),
        }
    }

    #[inline(always)]
    fn times_plus(self, _: Self, _: Self) -> Self {
        undefined()
    }

    #[inline(always)]
    fn widened(self) -> f64 {
        undefined()
    }

    #[inline(always)]
    fn rounded(_: f64) -> Self {
        undefined()
    }
}
