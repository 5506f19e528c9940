//! The named formats that every program has: `prelude.ti`, parsed once.

use super::{Format, resolve};
use crate::diagnostics::{Diagnostics, Span};
use crate::syntax::{FormatArgument, FormatDefinition, FormatExpr, FormatExprKind, Ident, Item, parse_program};
use std::sync::OnceLock;

/// The text of the prelude.
pub const TEXT: &str = include_str!("prelude.ti");

/// A format of the prelude with numbers for its arguments, for tensors of an order.
///
/// # Errors
/// When there is no such format, or it does not take these arguments or this order.
pub fn format(name: &str, arguments: &[u64], order: usize) -> Result<Format, Diagnostics> {
    let span = Span::default();
    let arguments = arguments.iter().map(|&number| FormatArgument::Number(number, span)).collect();
    let name = Ident { name: name.to_owned(), span };
    let named = FormatExpr { fill: None, hints: Vec::new(), kind: FormatExprKind::Named { name, arguments }, span };
    resolve::resolve(&named, order, &resolve::Definitions::prelude())
}

/// The definitions of the prelude, in order.
pub fn definitions() -> &'static [FormatDefinition] {
    static DEFINITIONS: OnceLock<Vec<FormatDefinition>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let program = parse_program(TEXT).expect("the prelude follows the grammar");
        let formats = program.items.into_iter().filter_map(|item| match item {
            Item::Format(definition) => Some(definition),
            Item::Kernel(_) | Item::Function(_) | Item::Monoid(_) => None,
        });
        formats.collect()
    })
}
