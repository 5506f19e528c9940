//! The texts of this module's files that stand by themselves, for kernels that are compiled without this crate.
//!
//! This file stands by itself too: tests of the compiler include it.

/// What kernels call.
const CALLED: [(&str, &str); 13] = [
    ("bitmap", include_str!("bitmap.rs")),
    ("bits", include_str!("bits.rs")),
    ("chunks", include_str!("chunks.rs")),
    ("combine", include_str!("combine.rs")),
    ("coordinate", include_str!("coordinate.rs")),
    ("dot", include_str!("dot.rs")),
    ("half", include_str!("half.rs")),
    ("intersect", include_str!("intersect.rs")),
    ("joined", include_str!("joined.rs")),
    ("product", include_str!("product.rs")),
    ("room", include_str!("room.rs")),
    ("row", include_str!("row.rs")),
    ("workspace", include_str!("workspace.rs")),
];

/// What these call.
const OTHERS: [(&str, &str); 7] = [
    ("between", include_str!("between.rs")),
    ("each", include_str!("each.rs")),
    ("few", include_str!("few.rs")),
    ("lanes", include_str!("lanes.rs")),
    ("one_by_one", include_str!("one_by_one.rs")),
    ("segments", include_str!("segments.rs")),
    ("wide", include_str!("wide.rs")),
];

/// What stands in a module `parallel` that has functions `threads` and `run_all` besides; `interleave` is the text of what puts
/// codes together, and `rounding` that of what numbers of two bytes are.
pub(crate) fn modules(interleave: &str, rounding: &str) -> String {
    let all = CALLED.into_iter().chain(OTHERS).chain([("interleave", interleave), ("rounding", rounding)]);
    let modules = all.map(|(name, text)| format!("mod {name} {{\n{text}\n}}\n"));
    CALLED.iter().map(|(name, _)| format!("pub use {name}::*;\n")).chain(modules).collect()
}
