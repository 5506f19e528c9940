//! How what is done with elements is spelled in Rust, by their type: one table.
//!
//! Floating point and complex numbers have the operators of Rust, but for quotients of complex ones. Integers wrap around, which methods
//! say. Complex numbers are those of the crate `num-complex`, under the names `c32` and `c64`. What Rust or that crate does not do
//! right at the ends of the range is a helper.

use crate::ir::{BinaryOperator, Combine, ElementType, Function, ReduceOperator, Type};

/// How a function is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// `a.min(b)`
    Method(&'static str),
    /// `parallel::minimum_number(a, b)`
    Helper(&'static str),
    /// `a.re`
    Field(&'static str),
    /// `c64::new(a, b)`
    New(ElementType),
    /// `a`
    Itself,
}

/// How a value is worked into a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    /// `place += value`, by its sign
    Operator(&'static str),
    /// `place = place.min(value)`
    Method(&'static str),
    /// `place = parallel::minimum_number(place, value)`
    Helper(&'static str),
    /// `place = join(place, value)`, by the function of a declared operator for this element type
    Defined(ElementType),
}

/// The method that an operator between two elements is, where it is not one of Rust's operators.
pub(super) fn wrapping(operator: BinaryOperator, element: ElementType) -> Option<&'static str> {
    use BinaryOperator::*;
    let method = match operator {
        Add => "wrapping_add",
        Subtract => "wrapping_sub",
        Multiply => "wrapping_mul",
        Divide => "wrapping_div",
        Remainder => "wrapping_rem",
        _ => return None,
    };
    element.is_integer().then_some(method)
}

/// A reduction of values of a type.
pub(super) fn reduce(operator: ReduceOperator, ty: Type) -> Reduction {
    let element = match ty {
        Type::Element(element) => Some(element),
        Type::Index | Type::Bool => None,
    };
    match operator.combine(ty).expect("verified reductions are of types that have them") {
        Combine::Operator(BinaryOperator::Minimum) => Reduction::Method("min"),
        Combine::Operator(BinaryOperator::Maximum) => Reduction::Method("max"),
        Combine::Operator(binary) => match element.and_then(|element| wrapping(binary, element)) {
            Some(method) => Reduction::Method(method),
            None => Reduction::Operator(operator.name()),
        },
        Combine::Function(other) => match element.map(|element| function(other, element)) {
            Some(Spelling::Helper(helper)) => Reduction::Helper(helper),
            _ => Reduction::Method(other.method()),
        },
        Combine::Defined(definition) => Reduction::Defined(definition.element),
    }
}

/// The helper that a reduction by `min` or `max` is, where the place never holds NaN: one instruction, where the method must look for
/// NaN on both sides.
pub(super) fn of_ordered(operator: ReduceOperator) -> Option<&'static str> {
    match operator {
        ReduceOperator::Min => Some("lesser"),
        ReduceOperator::Max => Some("greater"),
        _ => None,
    }
}

/// The operator of a reduction, as what combines terms by it is called.
pub(super) fn monoid(operator: ReduceOperator) -> &'static str {
    match operator {
        ReduceOperator::Add => "Sum",
        ReduceOperator::Multiply => "Product",
        ReduceOperator::Min => "Minimum",
        ReduceOperator::Max => "Maximum",
        ReduceOperator::Or => "Any",
        ReduceOperator::And => "All",
        ReduceOperator::Declared(_) => unreachable!("verified: a declared operator folds no runs"),
    }
}

/// The method of terms that an operator between two of them is.
pub(super) fn of_terms(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Add => "plus",
        BinaryOperator::Subtract => "minus",
        BinaryOperator::Multiply => "times",
        BinaryOperator::Divide => "over",
        BinaryOperator::And | BinaryOperator::BitAnd => "and",
        BinaryOperator::Or | BinaryOperator::BitOr => "or",
        other => unreachable!("verified: terms have no {other:?}"),
    }
}

/// A function of elements.
pub(super) fn function(function: Function, element: ElementType) -> Spelling {
    match function {
        Function::Abs if !element.is_signed() => Spelling::Itself,
        Function::Abs if element.is_integer() => Spelling::Method("wrapping_abs"),
        Function::Abs if element.is_complex() => Spelling::Method("norm"),
        Function::Re | Function::Im => Spelling::Field(function.method()),
        Function::Complex => Spelling::New(function.result(element)),
        Function::Sqrt if element.is_complex() => Spelling::Helper("root"),
        Function::Exp if element.is_complex() => Spelling::Helper("exponential"),
        Function::Min if element.is_float() => Spelling::Helper("minimum_number"),
        Function::Max if element.is_float() => Spelling::Helper("maximum_number"),
        Function::Asinh => Spelling::Helper("arsinh"),
        Function::Acosh => Spelling::Helper("arcosh"),
        _ => Spelling::Method(function.method()),
    }
}
