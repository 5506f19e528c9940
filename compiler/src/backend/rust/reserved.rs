//! What Rust takes as a name.

use crate::backend::namer::{Namer, Target};
use proc_macro2::{Ident, Span};

/// Keywords of all editions.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Keywords that no raw identifier can be either.
const NEVER_RAW: &[&str] = &["Self", "crate", "self", "super"];

/// What the prelude declares. A binding can't have the name of a variant, nor of a struct like `Box`.
const PRELUDE: &[&str] = &[
    "Box", "Clone", "Copy", "Default", "Drop", "Eq", "Err", "Fn", "FnMut", "FnOnce", "From", "Into", "Iterator",
    "None", "Ok", "Option", "Ord", "Result", "Send", "Sized", "Some", "String", "Sync", "Vec", "alloc", "core", "drop",
];

/// Those of the prelude that no binding can be called.
const NO_BINDINGS: &[&str] = &["Box", "Err", "None", "Ok", "Some"];

/// Names that generated code itself uses.
const OWN: &[&str] = &[
    "body", "bool", "c32", "c64", "chunk", "chunks", "combine", "bf16", "f16", "f32", "f64", "from", "i16", "i32",
    "i64", "i8", "into", "length", "parallel", "run", "std", "stored", "u16", "u32", "u64", "u8", "usize", "value",
    "vec",
];

/// What names avoid, and how they are spelled.
const TARGET: Target = Target { reserved: &[KEYWORDS, PRELUDE, OWN], is_reserved: |_| false, ascii: false };

/// Gives out names in generated functions.
pub(super) fn namer() -> Namer {
    Namer::new(TARGET)
}

/// How the function of a kernel is spelled where only generated code calls it: as the kernel, so far as Rust takes that for
/// the name of a function.
pub fn function_name(kernel: &str) -> String {
    let name = TARGET.identifier(kernel);
    match name.as_str() {
        name if NEVER_RAW.contains(&name) => format!("{name}_"),
        name if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name,
    }
}

/// A name of the user's, as it is; what Rust keeps for itself becomes a raw identifier.
pub(super) fn user_ident(name: &str, span: Span) -> Ident {
    match name {
        name if NEVER_RAW.contains(&name) => Ident::new(&format!("{name}_"), span),
        name if KEYWORDS.contains(&name) => Ident::new_raw(name, span),
        _ => Ident::new(name, span),
    }
}

/// A parameter of a function that users call, beside others; as [`user_ident`], where a binding can be called that.
pub(super) fn parameter_ident(name: &str, others: &dyn Fn(&str) -> bool, span: Span) -> Ident {
    let mut free = name.to_owned();
    if NO_BINDINGS.contains(&name) {
        free.push('_');
        while others(&free) {
            free.push('_');
        }
    }
    user_ident(&free, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_called_as_kernels_where_rust_takes_that() {
        for (kernel, function) in [
            ("spmv", "spmv"),
            ("gen", "r#gen"),
            ("match", "r#match"),
            ("crate", "crate_"),
            ("Some", "Some"),
            ("größe", "größe"),
            ("\u{212a}", "u212a"),
        ] {
            assert_eq!(function_name(kernel), function);
        }
        assert!(function_name(&"long".repeat(1000)).len() < 200);
    }
}
