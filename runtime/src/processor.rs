//! What the processor at hand can do that the crate may not be compiled for.

use std::sync::atomic::{AtomicU8, Ordering};

/// What the vector loops of `tensor_kernel!` are compiled for, besides what the user's crate is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vectors {
    /// No more than the crate.
    Narrow,
    /// AVX2, BMI1, BMI2, FMA and LZCNT.
    Wide,
    /// AVX-512 (F, BW, CD, DQ and VL) on a processor that is no slower for it: the first that had it took their clock down, and later ones
    /// are known by BF16.
    Widest,
}

const ALL: [Vectors; 3] = [Vectors::Narrow, Vectors::Wide, Vectors::Widest];

/// What is not asked for more than, as a place in [`ALL`].
static MOST: AtomicU8 = AtomicU8::new(2);

/// What this processor has.
#[inline]
pub fn vectors() -> Vectors {
    of_processor().min(ALL[usize::from(MOST.load(Ordering::Relaxed))])
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn of_processor() -> Vectors {
    use std::arch::is_x86_feature_detected as has;
    let is_wide = has!("avx2") && has!("bmi1") && has!("bmi2") && has!("fma") && has!("lzcnt");
    let has_512 = has!("avx512f") && has!("avx512bw") && has!("avx512cd") && has!("avx512dq") && has!("avx512vl");
    match (is_wide, has_512 && has!("avx512bf16")) {
        (false, _) => Vectors::Narrow,
        (true, false) => Vectors::Wide,
        (true, true) => Vectors::Widest,
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn of_processor() -> Vectors {
    Vectors::Narrow
}

/// Has kernels run what they have for lesser processors, for tests of that.
#[doc(hidden)]
pub fn most_vectors(most: Vectors) {
    MOST.store(most as u8, Ordering::Relaxed);
}
