//! The named formats that every program has: `prelude.ti`, parsed once.

use crate::syntax::{FormatDefinition, Item, parse_program};
use std::sync::OnceLock;

/// The text of the prelude.
pub const TEXT: &str = include_str!("prelude.ti");

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
