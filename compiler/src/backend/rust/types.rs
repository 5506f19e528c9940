//! The Rust types of tensors: `::spc::tensor::Tensor<f64, ::spc::tensor::Csf<3>>`.
//!
//! A format that has a name as a type is that type however the kernel writes it, so that `csr` and `[dense, compressed]`
//! fit each other; any other is spelled level by level.

use super::ident;
use crate::format::{Coordinate, Format, LevelFormat, LevelTypeName, Order, Parameter, named};
use crate::ir::ElementType;
use crate::notation::Tensor;
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

/// The type of a format. Where two names mean one format (`dcsr` and `csf` of order 2), the one that is written counts.
fn format_type(format: &Format, written: Option<&str>) -> TokenStream {
    let order = Literal::usize_unsuffixed(format.order);
    let csr = [LevelFormat::DENSE, LevelFormat::COMPRESSED];
    let is_permuted = |modes: &[usize]| format.order == 2 && *format == Format::permuted(modes, &csr);
    let name = if *format == Format::dense(format.order) {
        quote!(Dense<#order>)
    } else if is_permuted(&[0, 1]) {
        quote!(Csr)
    } else if is_permuted(&[1, 0]) {
        quote!(Csc)
    } else if *format == Format::csf(2) && written == Some("dcsr") {
        quote!(Dcsr)
    } else if *format == Format::coo(format.order) && (format.order > 1 || written == Some("coo")) {
        quote!(Coo<#order>)
    } else if *format == Format::csf(format.order) {
        quote!(Csf<#order>)
    } else if format.order > 1 && *format == semisparse(format.order) {
        quote!(Scoo<#order>)
    } else {
        return spelled(format);
    };
    quote!(::spc::tensor::#name)
}

/// A format of the prelude with computed coordinates that has a name as a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapType {
    /// Its name in the language; that of the type begins with a capital.
    pub name: &'static str,
    /// Whether the type takes the order.
    pub takes_order: bool,
    /// Whether both take the edge of a block.
    pub takes_block: bool,
}

/// The formats with computed coordinates that have a name as a type.
pub const MAP_TYPES: &[MapType] = &[
    map_type("bcsr", false, true),
    map_type("csb", false, true),
    map_type("dia", false, false),
    map_type("tiled", true, true),
    map_type("bcsf", true, true),
    map_type("mcoo", true, false),
    map_type("lco", true, false),
    map_type("alto", true, false),
    map_type("hicoo", true, true),
    map_type("ghicoo", true, true),
    map_type("shicoo", true, true),
];

const fn map_type(name: &'static str, takes_order: bool, takes_block: bool) -> MapType {
    MapType { name, takes_order, takes_block }
}

/// The type of a format of the prelude with computed coordinates, whatever its name is where it is written.
fn named_map(format: &Format) -> Option<TokenStream> {
    let has = |map: &&MapType, arguments: &[u64]| {
        named(map.name, arguments, format.order).is_ok_and(|of_name| of_name == *format)
    };
    let blocks: Vec<u64> = format.levels.iter().filter_map(|level| block(&level.coordinate)).collect();
    let (map, block) = MAP_TYPES.iter().find_map(|map| match map.takes_block {
        true => blocks.iter().find(|&&block| has(&map, &[block])).map(|&block| (map, Some(block))),
        false => has(&map, &[]).then_some((map, None)),
    })?;
    let mut name = map.name.to_owned();
    name[..1].make_ascii_uppercase();
    let name = ident(&name);
    let order = map.takes_order.then(|| Literal::usize_unsuffixed(format.order));
    let arguments = order.into_iter().chain(block.map(Literal::u64_unsuffixed));
    Some(quote!(::spc::tensor::#name<#(#arguments),*>))
}

/// What a coordinate is divided by.
fn block(coordinate: &Coordinate) -> Option<u64> {
    match coordinate {
        Coordinate::Divide(_, divisor) => match **divisor {
            Coordinate::Constant(block) => Some(block),
            _ => None,
        },
        _ => None,
    }
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

fn semisparse(order: usize) -> Format {
    let coordinates = Format::coo(order - 1).levels.into_iter().map(|level| level.format);
    Format::of_levels(coordinates.chain([LevelFormat::DENSE]))
}

fn spelled(format: &Format) -> TokenStream {
    let has_morton = format.levels.iter().any(|level| level.format.morton());
    if let Some(named) = (has_morton || format.mode_order().is_none()).then(|| named_map(format)).flatten() {
        return named;
    }
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
