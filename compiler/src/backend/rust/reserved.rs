//! Words that generated Rust must not use as names.

/// Keywords of all editions.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Functions of the prelude: one of another meaning would hide them from generated code.
const PRELUDE: &[&str] = &["Err", "None", "Ok", "Some"];

/// Names that generated code itself uses.
const OWN: &[&str] = &[
    "body", "bool", "c32", "c64", "chunk", "chunks", "combine", "f32", "f64", "from", "i32", "i64", "into", "length",
    "parallel", "run", "std", "stored", "u16", "u32", "u64", "u8", "usize", "value", "vec",
];

/// Whether Rust keeps the word for itself.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Whether no function beside generated code can have the name.
pub(super) fn hides(word: &str) -> bool {
    is_keyword(word) || PRELUDE.contains(&word)
}

/// All words that names in generated functions avoid.
pub(super) fn words() -> Vec<&'static str> {
    KEYWORDS.iter().chain(PRELUDE).chain(OWN).copied().collect()
}
