//! What the processor at hand can do that the crate may not be compiled for.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether to do as if it could not.
static IS_NARROW: AtomicBool = AtomicBool::new(false);

/// Whether the processor has AVX2 and BMI2, which the vector loops of `tensor_kernel!` are compiled for besides what the user's
/// crate is compiled for.
#[inline]
pub fn has_wide_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has && !IS_NARROW.load(Ordering::Relaxed)
}

/// Has kernels run what they have for older processors, for tests of that.
#[doc(hidden)]
pub fn use_wide_vectors(use_them: bool) {
    IS_NARROW.store(!use_them, Ordering::Relaxed);
}
