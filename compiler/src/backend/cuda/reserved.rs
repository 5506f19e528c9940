//! What CUDA C takes as a name.

use crate::backend::namer::{Namer, Target};
use crate::backend::words::{BUILT_IN, KEYWORDS};

/// Names that generated code itself uses.
const OWN: &[&str] = &[
    "c32",
    "c64",
    "UINT64_MAX",
    "bf16",
    "f16",
    "f32",
    "f64",
    "compress_bits",
    "gather_bits",
    "i16",
    "i32",
    "i64",
    "i8",
    "mates",
    "meet_team",
    "offset",
    "scatter_bits",
    "shared_words",
    "std",
    "u16",
    "u32",
    "u64",
    "u8",
    "workers",
];

/// What names of helpers end with, before or behind what they do: `search_u32`, `search_u32_by_2`.
const ELEMENTS: &[&str] =
    &["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c32", "c64", "bool"];

/// What C++ keeps for compilers and CUDA begins its own names with, and what helpers are called.
fn is_reserved(word: &str) -> bool {
    let is_of_compilers = word.starts_with("__") || word.starts_with('_') && word[1..].starts_with(char::is_uppercase);
    // What the host's file defines, and what CUDA's and the system's headers do.
    let is_of_host = ["spc_", "SPC_", "cuda"].iter().any(|begin| word.starts_with(begin));
    is_of_compilers
        || is_of_host
        || word.starts_with("mask_of_")
        || word.contains('_') && word.split('_').any(|part| ELEMENTS.contains(&part))
}

/// What names avoid, and how they are spelled.
const TARGET: Target = Target { reserved: &[KEYWORDS, BUILT_IN, OWN], is_reserved, ascii: true };

/// Gives out names of generated functions and what is in them.
pub(super) fn namer() -> Namer {
    Namer::new(TARGET)
}
