//! The texts of this module's files that stand by themselves, for kernels that are compiled without this crate.
//!
//! This file stands by itself too: tests of the compiler include it.

/// What kernels call.
const CALLED: [(&str, &str); 14] = [
    ("bitmap", include_str!("bitmap.rs")),
    ("bits", include_str!("bits.rs")),
    ("chunks", include_str!("chunks.rs")),
    ("combine", include_str!("combine.rs")),
    ("coordinate", include_str!("coordinate.rs")),
    ("dot", include_str!("dot.rs")),
    ("half", include_str!("half.rs")),
    ("intersect", include_str!("intersect.rs")),
    ("joined", include_str!("joined.rs")),
    ("parts", include_str!("parts.rs")),
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

/// What is for processors with vectors that leave out lanes: of modules beside the others, and of those inside one of them.
const LOADS: &str = include_str!("loads.rs");
const MASKS: &str = include_str!("masks/mod.rs");
const INSIDE_MASKS: [(&str, &str); 4] = [
    ("each", include_str!("masks/each.rs")),
    ("lanes", include_str!("masks/lanes.rs")),
    ("segments", include_str!("masks/segments.rs")),
    ("wide", include_str!("masks/wide.rs")),
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
/// codes together, `rounding` that of what numbers of two bytes are, and `numbers` that of what numbers do at the ends of their range.
pub(crate) fn modules(interleave: &str, rounding: &str, numbers: &str) -> String {
    let others = [("interleave", interleave), ("rounding", rounding), ("numbers", numbers)];
    let all = CALLED.into_iter().chain(OTHERS).chain(others);
    let has_masks = "#[cfg(all(
        target_arch = \"x86_64\", target_feature = \"avx512bw\", target_feature = \"avx512dq\", target_feature = \"avx512vl\"
    ))]";
    // Files of a folder say which others there are, and here these stand inside.
    let own = MASKS.lines().filter(|line| !line.starts_with("mod ")).map(|line| format!("{line}\n"));
    let masks: String = own.chain(INSIDE_MASKS.into_iter().map(module)).collect();
    let masked = [("loads", LOADS), ("masks", &masks)].map(|text| format!("{has_masks}\n{}", module(text)));
    let called = CALLED.iter().map(|(name, _)| *name).chain(["numbers"]);
    called.map(|name| format!("pub use {name}::*;\n")).chain(all.map(module)).chain(masked).collect()
}

fn module((name, text): (&str, &str)) -> String {
    format!("mod {name} {{\n{text}\n}}\n")
}
