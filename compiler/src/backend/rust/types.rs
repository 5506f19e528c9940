//! The Rust types of tensors: `::spc::tensor::Tensor<f64, ::spc::tensor::Csf<3>>`.
//!
//! A format that has a name as a type is that type however the kernel writes it, so that `csr` and `[dense, compressed]`
//! fit each other; any other is spelled level by level.

use super::ident;
use crate::format::{Format, IndexWidth, LevelFormat, LevelKind};
use crate::notation::Tensor;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The type of a tensor; of a scalar, its element type.
pub(super) fn value_type(tensor: &Tensor) -> TokenStream {
    let element = primitive(tensor.element.name());
    if tensor.format.order == 0 {
        return element;
    }
    let format = format_type(&tensor.format, tensor.format_name.as_deref());
    quote!(::spc::tensor::Tensor<#element, #format>)
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

fn semisparse(order: usize) -> Format {
    let coordinates = Format::coo(order - 1).levels.into_iter().map(|level| level.format);
    Format::of_levels(coordinates.chain([LevelFormat::DENSE]))
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
            let message = format!("tensors stored as {format} have no type yet");
            quote!(::core::compile_error!(#message))
        }
    }
}

fn level_type(level: LevelFormat) -> TokenStream {
    let flag = |holds: bool, yes: &str, no: &str| {
        let name = ident(if holds { yes } else { no });
        quote!(::spc::tensor::#name)
    };
    let unique = flag(level.unique, "Unique", "Nonunique");
    let ordered = flag(level.ordered, "Ordered", "Unordered");
    let width = |width: IndexWidth| primitive(width.name());
    let (coordinates, positions) = (width(level.coordinates), width(level.positions));
    match level.kind {
        LevelKind::Dense => quote!(::spc::tensor::DenseLevel),
        LevelKind::Compressed => quote!(::spc::tensor::Compressed<#unique, #coordinates, #positions, #ordered>),
        LevelKind::Singleton => quote!(::spc::tensor::Singleton<#unique, #coordinates, #ordered>),
        LevelKind::Padded => match level.width.map(Literal::u64_unsuffixed) {
            Some(width) => quote!(::spc::tensor::PaddedTo<#width, #unique, #coordinates>),
            None => quote!(::spc::tensor::Padded<#unique, #coordinates, #positions>),
        },
        LevelKind::Bitmap => quote!(::spc::tensor::Bitmap),
        LevelKind::Hashed => quote!(::spc::tensor::Hashed<#coordinates, #positions>),
        LevelKind::Diagonal => quote!(::spc::tensor::Diagonal),
        LevelKind::Banded => quote!(::spc::tensor::Banded<#coordinates, #positions>),
        LevelKind::Run => quote!(::spc::tensor::Run<#coordinates, #positions>),
        LevelKind::Flagged => quote!(::spc::tensor::Flagged<#unique, #coordinates>),
    }
}
