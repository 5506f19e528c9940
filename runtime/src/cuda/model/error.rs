//! Why nothing can be predicted.

/// Why nothing can be predicted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is no compiler.
    #[error("to count what a GPU would do, `g++` is needed, and it was not found")]
    NoCompiler,
    /// It refuses the text.
    #[error("g++ refuses the kernel:\n{0}")]
    Compile(String),
    /// A file can't be written, or the library can't be loaded.
    #[error("the counting kernel can't be kept or loaded: {0}")]
    File(String),
    /// The kernel has what can't run on a GPU.
    #[error("`{kernel}` can't run on a GPU: {what}; {help}")]
    Refused {
        /// The kernel.
        kernel: String,
        /// What it has.
        what: String,
        /// What to do about it.
        help: String,
    },
}

impl From<std::io::Error> for ModelError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error.to_string())
    }
}
