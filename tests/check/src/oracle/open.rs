//! Where the language leaves a number open.
//!
//! A missing entry is known to be the fill value, and an entry that is stored is a number like any other. As long as all are
//! finite, that makes no difference, nor does it whether factors are multiplied by a sum or by its terms. With infinities
//! and NaN it does: a product with a missing entry is zero, one with a stored zero may be NaN; and which of a temporary's entries
//! are stored, and where factors stand, is the scheduler's choice. So a number is *open* where
//!
//! * an infinity is multiplied by zero, by a sum whose terms are not all of one sign, or with each term of a sum of none,
//! * infinities of both signs are added, or
//! * NaN meets what is known from a missing entry, or a known zero is divided by zero or NaN,
//!
//! and where it is computed from such a number. It is then what the structure says, or infinite, or NaN; of what is chosen, compared,
//! rounded or divided by such a number, nothing is said.

use super::Value;
use crate::number::Number;
use spc_compiler::ir::{ElementType, Function, ReduceOperator};
use spc_compiler::notation::BinaryOperator;

/// What may come out instead of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Open {
    /// Nothing else.
    #[default]
    No,
    /// An infinity or NaN.
    Infinite,
    /// Anything.
    Any,
}

impl Open {
    /// Whether a number may come out where this one is expected.
    pub fn allows(self, expected: Number, found: Number) -> bool {
        match self {
            Open::No => expected.is_close(found),
            Open::Infinite => expected.is_close(found) || !found.is_finite(),
            Open::Any => true,
        }
    }

    /// The same of what depends on such a number in any way.
    fn spread(self) -> Open {
        if self == Open::No { Open::No } else { Open::Any }
    }
}

fn is_infinite(value: Value) -> bool {
    !value.number.is_finite() && !value.number.is_nan()
}

/// Whether two numbers have one sign, neither being zero or NaN.
fn have_one_sign(a: Number, b: Number) -> bool {
    a.to_c64().re * b.to_c64().re > 0.0
}

/// Whether a sum is one whose terms are not all of one sign.
pub(super) fn is_mixed(operator: BinaryOperator, left: Value, right: Value) -> bool {
    let (a, b) = (left.number, right.number);
    match operator {
        BinaryOperator::Add => left.mixed || right.mixed || !have_one_sign(a, b),
        BinaryOperator::Subtract => left.mixed || right.mixed || !have_one_sign(a, b.negative()),
        BinaryOperator::Multiply => left.mixed || right.mixed,
        BinaryOperator::Divide => left.mixed,
        _ => false,
    }
}

/// How open what an operator makes of two values is.
pub(super) fn of_binary(operator: BinaryOperator, left: Value, right: Value) -> Open {
    use BinaryOperator::*;
    let before = left.open.max(right.open);
    let is_finite = left.number.is_finite() && right.number.is_finite();
    if !matches!(left.number.element(), ElementType::F64 | ElementType::F32) {
        // Of complex numbers, one part may be infinite and the other not.
        return if is_finite { before } else { before.max(Open::Any) };
    }
    let either = |test: &dyn Fn(Value, Value) -> bool| test(left, right) || test(right, left);
    let here = match operator {
        Add => is_open_sum(left, right),
        Subtract => is_open_sum(left, Value { number: right.number.negative(), ..right }),
        Multiply => either(&|a, b| {
            is_infinite(a) && (b.number.is_zero() || b.mixed)
                || a.number.is_nan() && b.may_be_known() && b.number.is_zero()
        }),
        Divide | Remainder => {
            let zero = left.may_be_known() && left.number.is_zero();
            zero && (right.number.is_nan() || right.number.is_zero()) || left.mixed && right.number.is_zero()
        }
        _ => false,
    };
    // Fused or not, the structure tells one of them or does not, and then the number is one or the other.
    let is_told_or_not = [left, right].into_iter().any(|value| value.was_known && !value.known);
    match operator {
        _ if here && is_told_or_not => Open::Any,
        Add | Subtract | Multiply if here => before.max(Open::Infinite),
        Divide | Remainder if here => Open::Any,
        Add | Subtract | Multiply => before,
        Divide => left.open.max(right.open.spread()),
        _ => before.spread(),
    }
}

fn is_open_sum(left: Value, right: Value) -> bool {
    let are_infinite = is_infinite(left) && is_infinite(right);
    let meets_known = |a: Value, b: Value| a.number.is_nan() && b.may_be_known() && is_infinite(b);
    are_infinite && !have_one_sign(left.number, right.number) || meets_known(left, right) || meets_known(right, left)
}

/// How open what a function makes of values is.
pub(super) fn of_call(function: Function, arguments: &[Value]) -> Open {
    let before = arguments.iter().map(|argument| argument.open).max().unwrap_or_default();
    // Of a number and NaN, the least and the greatest is the number; what is known to change nothing leaves NaN.
    let is_nan = arguments.iter().any(|argument| argument.number.is_nan());
    let chooses = matches!(function, Function::Min | Function::Max);
    match function {
        Function::Abs => before,
        _ if chooses && is_nan && arguments.iter().any(|argument| argument.may_be_known()) => Open::Any,
        _ => before.spread(),
    }
}

/// How open a reduction is that has come to `total` before a term.
pub(super) fn of_reduction(operator: ReduceOperator, total: Value, term: Value) -> Open {
    match operator {
        ReduceOperator::Add => of_binary(BinaryOperator::Add, total, term),
        ReduceOperator::Multiply => of_binary(BinaryOperator::Multiply, total, term),
        _ => total.open.max(term.open).spread(),
    }
}

/// How open a number is that an update passes by: what it computes may be made first, as a tensor that has no entry there.
pub(super) fn of_untouched(operator: Option<ReduceOperator>, number: Number) -> Open {
    match operator {
        Some(ReduceOperator::Min | ReduceOperator::Max) if number.is_nan() => Open::Infinite,
        _ => Open::No,
    }
}
