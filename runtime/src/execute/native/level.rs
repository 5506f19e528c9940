//! Levels of processors, for code that is to run on any of a level.

/// A level of processors.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    pub(super) name: &'static str,
    pub(super) flags: &'static [&'static str],
    /// Whether this processor is of it.
    pub(super) is_here: fn() -> bool,
}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Level {}

/// The levels of this architecture, the least first.
#[cfg(target_arch = "x86_64")]
pub(super) const LEVELS: [Level; 3] = {
    use std::arch::is_x86_feature_detected as has;
    fn is_v2() -> bool {
        has!("sse4.2") && has!("ssse3") && has!("popcnt") && has!("cmpxchg16b")
    }
    fn is_v3() -> bool {
        let vectors = has!("avx2") && has!("fma") && has!("f16c");
        is_v2() && vectors && has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("movbe")
    }
    // As `processor` says of the widest vectors.
    fn is_v4() -> bool {
        let wide = has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
        is_v3() && wide && has!("avx512bf16")
    }
    [
        Level { name: "x86-64-v2", flags: &["-Ctarget-cpu=x86-64-v2"], is_here: is_v2 },
        Level { name: "x86-64-v3", flags: &["-Ctarget-cpu=x86-64-v3"], is_here: is_v3 },
        Level {
            name: "x86-64-v4",
            flags: &["-Ctarget-cpu=x86-64-v4", "-Ctarget-feature=-prefer-256-bit"],
            is_here: is_v4,
        },
    ]
};
#[cfg(not(target_arch = "x86_64"))]
pub(super) const LEVELS: [Level; 1] =
    [Level { name: std::env::consts::ARCH, flags: &["-Ctarget-cpu=generic"], is_here: || true }];

/// Their names.
pub(in crate::execute) fn names() -> Vec<&'static str> {
    LEVELS.iter().map(|level| level.name).collect()
}

/// The level of a name.
pub(in crate::execute) fn named(name: &str) -> Option<Level> {
    LEVELS.into_iter().find(|level| level.name == name)
}
