//! The Rust types of tensors: `::spc::tensor::Tensor<f64, ::spc::tensor::Csf<3>>`.
//!
//! Each format of the prelude has a type of its name, and is that type however the kernel writes it, so that `csr` and
//! `[dense, compressed]` fit each other; any other is spelled level by level.

use super::ident;
use crate::format::{
    Coordinate, Format, Level, LevelFormat, LevelTypeName, Order, Parameter, Symmetry, named, prelude,
};
use crate::ir::ElementType;
use crate::notation::Tensor;
use crate::syntax::{ExprKind, FormatDefinition};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The type of a tensor; of a scalar, its element type.
pub(super) fn value_type(tensor: &Tensor) -> TokenStream {
    value_type_of(tensor, element_type(tensor.element))
}

/// The same with elements of this type.
pub(super) fn value_type_of(tensor: &Tensor, element: TokenStream) -> TokenStream {
    if tensor.format.order == 0 {
        return element;
    }
    let format = format_type(&tensor.format, tensor.format_name.as_deref());
    quote!(::spc::tensor::Tensor<#element, #format>)
}

/// The type of elements.
pub(super) fn element_type(element: ElementType) -> TokenStream {
    let name = ident(element.name());
    match element {
        element if element.is_complex() => quote!(::spc::complex::#name),
        element if element.is_stored_only() => quote!(::spc::half::#name),
        element => primitive(element.name()),
    }
}

/// A primitive type, whatever else has its name where the macro is used.
fn primitive(name: &str) -> TokenStream {
    let name = ident(name);
    quote!(::core::primitive::#name)
}

/// What the type of a named format is called: `Csr`, `HocfsEll`.
pub fn marker_name(name: &str) -> String {
    let capitalized = |part: &str| {
        let mut part = part.to_owned();
        part.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
        part
    };
    name.split('_').map(capitalized).collect()
}

/// The type of a format. Where two names mean one format (`dcsr` and `csf` of order 2), the one that is written counts, else one of any
/// order, else the first of the prelude.
fn format_type(format: &Format, written: Option<&str>) -> TokenStream {
    if let Some(Symmetry { kind, modes }) = &format.symmetry {
        let (name, stored) = (ident(&marker_name(kind.name())), format_type(&format.unfolded(), written));
        let modes = modes.iter().map(|&mode| coordinate_type(&Coordinate::Mode(mode)));
        return quote!(::spc::tensor::#name<#stored, (#(#modes,)*)>);
    }
    let is_plain = format.mode_order().is_some() && !format.levels.iter().any(|level| level.format.morton());
    let name = written.and_then(|written| written.split('(').next()).unwrap_or_default();
    let preference = |definition: &&FormatDefinition| {
        let is_of_any_order = matches!(&definition.map.modes[..], [mode] if mode.variadic);
        (definition.name.name != name, !is_of_any_order)
    };
    // What computes coordinates is no name for modes as they are, even where there is one mode and it comes to the same.
    let is_computed = |definition: &FormatDefinition| {
        definition.map.levels.iter().any(|level| !matches!(level.coordinate.kind, ExprKind::Name(_)))
    };
    let mut known: Vec<&FormatDefinition> =
        prelude::definitions().iter().filter(|definition| !is_plain || !is_computed(definition)).collect();
    known.sort_by_key(preference);
    known.into_iter().find_map(|definition| marker_type(definition, format)).unwrap_or_else(|| spelled(format))
}

/// The type of a named format, with the numbers for which it is this one.
fn marker_type(definition: &FormatDefinition, format: &Format) -> Option<TokenStream> {
    let mut numbers: Vec<u64> = format.levels.iter().flat_map(numbers).collect();
    numbers.sort_unstable();
    numbers.dedup();
    // As many of them as the format takes, in any order.
    let mut choices: Vec<Vec<u64>> = vec![Vec::new()];
    for _ in &definition.parameters {
        choices =
            choices.iter().flat_map(|chosen| numbers.iter().map(|&number| [&chosen[..], &[number]].concat())).collect();
    }
    let is_format = |arguments: &Vec<u64>| {
        named(&definition.name.name, arguments, format.order).is_ok_and(|of_name| of_name == *format)
    };
    let arguments = choices.into_iter().find(is_format)?;
    let name = ident(&marker_name(&definition.name.name));
    let is_variadic = definition.map.modes.iter().any(|mode| mode.variadic);
    let order = is_variadic.then(|| Literal::usize_unsuffixed(format.order));
    let mut arguments = order.into_iter().chain(arguments.into_iter().map(Literal::u64_unsuffixed)).peekable();
    if arguments.peek().is_none() {
        return Some(quote!(::spc::tensor::#name));
    }
    Some(quote!(::spc::tensor::#name<#(#arguments),*>))
}

/// The numbers in a level: what its coordinate is divided by, and its own.
fn numbers(level: &Level) -> Vec<u64> {
    let mut found: Vec<u64> = level.format.count().into_iter().collect();
    if let Coordinate::Divide(_, divisor) | Coordinate::Remainder(_, divisor) = &level.coordinate
        && let Coordinate::Constant(number) = **divisor
    {
        found.push(number);
    }
    found
}

/// The type of a level's coordinate.
fn coordinate_type(coordinate: &Coordinate) -> TokenStream {
    let operator = |name: &str, a: &Coordinate, b: &Coordinate| {
        let (name, a, b) = (ident(name), coordinate_type(a), coordinate_type(b));
        quote!(::spc::tensor::#name<#a, #b>)
    };
    match coordinate {
        Coordinate::Mode(mode) => {
            let mode = Literal::usize_unsuffixed(*mode);
            quote!(::spc::tensor::Mode<#mode>)
        }
        Coordinate::Constant(value) => {
            let value = Literal::u64_unsuffixed(*value);
            quote!(::spc::tensor::Constant<#value>)
        }
        Coordinate::Extent(mode) => {
            let mode = Literal::usize_unsuffixed(*mode);
            quote!(::spc::tensor::Extent<#mode>)
        }
        Coordinate::Add(a, b) => operator("Sum", a, b),
        Coordinate::Subtract(a, b) => operator("Difference", a, b),
        Coordinate::Multiply(a, b) => operator("Product", a, b),
        Coordinate::Divide(a, b) => operator("Quotient", a, b),
        Coordinate::Remainder(a, b) => operator("Remainder", a, b),
        Coordinate::Interleave(parts) => {
            let parts = parts.iter().map(coordinate_type);
            quote!(::spc::tensor::Interleaved<(#(#parts,)*)>)
        }
    }
}

fn spelled(format: &Format) -> TokenStream {
    let levels = format.levels.iter().map(|level| level_type(level.format));
    let levels = quote!(::spc::tensor::Levels<(#(#levels,)*)>);
    match format.mode_order() {
        Some(modes) if modes.windows(2).all(|pair| pair[0] < pair[1]) => levels,
        Some(modes) => {
            let modes = modes.into_iter().map(Literal::usize_unsuffixed);
            quote!(::spc::tensor::Permuted<(#(::spc::tensor::Mode<#modes>,)*), #levels>)
        }
        None => {
            let order = Literal::usize_unsuffixed(format.order);
            let coordinates = format.levels.iter().map(|level| coordinate_type(&level.coordinate));
            let levels = format.levels.iter().map(|level| level_type(level.format));
            quote!(::spc::tensor::Mapped<#order, (#((#coordinates, #levels),)*)>)
        }
    }
}

/// The type of a level: the first of its kind's that has all parameters which are not the usual ones.
fn level_type(level: LevelFormat) -> TokenStream {
    if level.morton() {
        let sorted = level_type(level.with_order(Order::Ascending));
        return quote!(::spc::tensor::Morton<#sorted>);
    }
    let is_said = |parameter: &Parameter| matches!(parameter, Parameter::Count(_)) && level.count().is_some();
    let spells = |spelling: &&LevelTypeName| {
        let has_count = spelling.parameters.iter().any(|parameter| matches!(parameter, Parameter::Count(_)));
        has_count == level.kind.parameters.iter().any(is_said)
    };
    let types = level.kind.types;
    let Some(spelling) = types.iter().find(spells).or(types.last()) else { unreachable!("every level has a type") };
    let name = ident(spelling.name);
    let parameters = spelling.parameters.iter().map(|parameter| argument(level, parameter));
    match spelling.parameters {
        [] => quote!(::spc::tensor::#name),
        _ => quote!(::spc::tensor::#name<#(#parameters),*>),
    }
}

/// What a parameter of a level is, as an argument of its type.
fn argument(level: LevelFormat, parameter: &Parameter) -> TokenStream {
    let flag = |holds: bool, yes: &str, no: &str| {
        let name = ident(if holds { yes } else { no });
        quote!(::spc::tensor::#name)
    };
    match parameter {
        Parameter::Nonunique => flag(level.unique(), "Unique", "Nonunique"),
        Parameter::Order { .. } => flag(level.ordered(), "Ordered", "Unordered"),
        Parameter::Width(role) => primitive(level.width(*role).name()),
        Parameter::Count(_) => {
            let count = Literal::u64_unsuffixed(level.count().unwrap_or(0));
            quote!(#count)
        }
    }
}
