//! Why no machine code is made of a kernel.

/// Why no machine code can be made of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(String);

impl Unsupported {
    /// What is in the kernel that no machine code is made for.
    #[cfg(feature = "jit")]
    pub(super) fn new(what: impl std::fmt::Display) -> Self {
        Unsupported(format!("no machine code is made for {what}"))
    }

    #[cfg(not(feature = "jit"))]
    pub(super) fn of_build() -> Self {
        Unsupported("this build makes no machine code itself: it is without the feature `jit`".to_owned())
    }
}
