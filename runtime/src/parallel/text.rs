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
const OTHERS: [(&str, &str); 5] = [
    ("between", include_str!("between.rs")),
    ("few", include_str!("few.rs")),
    ("loops", include_str!("loops.rs")),
    ("one_by_one", include_str!("one_by_one.rs")),
    ("ready", NOTHING_IS_READY),
];

/// What is for processors with vectors that leave out lanes.
const MASKED: [(&str, &str); 5] = [
    ("each", include_str!("each.rs")),
    ("lanes", include_str!("lanes.rs")),
    ("loads", include_str!("loads.rs")),
    ("segments", include_str!("segments.rs")),
    ("wide", include_str!("wide.rs")),
];

/// What a kernel is compiled for has no more than what all is compiled for.
const NOTHING_IS_READY: &str = "
    pub trait Ready: Sized {
        #[inline(always)]
        fn sums_of_products(_: &[Self], _: &[Self], _: &[u32], _: &[u32], _: &mut [Self]) -> bool {
            false
        }
    }

    impl<T> Ready for T {}
";

/// What stands in a module `parallel` that has functions `threads` and `run_all` besides; `interleave` is the text of what puts
/// codes together, and `rounding` that of what numbers of two bytes are.
pub(crate) fn modules(interleave: &str, rounding: &str) -> String {
    let all = CALLED.into_iter().chain(OTHERS).chain([("interleave", interleave), ("rounding", rounding)]);
    let modules = all.map(|(name, text)| format!("mod {name} {{\n{text}\n}}\n"));
    let has_masks = "#[cfg(all(
        target_arch = \"x86_64\", target_feature = \"avx512bw\", target_feature = \"avx512dq\", target_feature = \"avx512vl\"
    ))]";
    let masked = MASKED.into_iter().map(|(name, text)| format!("{has_masks}\nmod {name} {{\n{text}\n}}\n"));
    CALLED.iter().map(|(name, _)| format!("pub use {name}::*;\n")).chain(modules).chain(masked).collect()
}
