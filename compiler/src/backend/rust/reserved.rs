//! Words that generated Rust must not use as names.

/// Keywords of all editions, and the names that generated code itself uses.
pub(super) const WORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "bool", "box", "break", "chunk", "chunks", "combine",
    "const", "continue", "crate", "do", "dyn", "else", "enum", "extern", "f32", "f64", "false", "final", "fn", "for",
    "from", "gen", "i32", "i64", "if", "impl", "in", "into", "let", "loop", "macro", "match", "mod", "move", "mut",
    "override", "parallel", "priv", "pub", "ref", "return", "run", "self", "static", "std", "struct", "super", "trait",
    "true", "try", "type", "typeof", "u16", "u32", "u64", "u8", "unsafe", "unsized", "use", "usize", "value", "vec",
    "virtual", "where", "while", "yield",
];
