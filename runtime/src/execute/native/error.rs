//! Why a kernel can't be compiled or loaded.

use crate::execute::unsupported::Unsupported;
use std::path::PathBuf;

/// Why a kernel can't be compiled at run time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NativeError {
    /// There is no Rust compiler.
    #[error("there is no Rust compiler: looked for {looked}; install one (https://rustup.rs) or name it in SPC_RUSTC")]
    NoCompiler {
        /// What was looked for.
        looked: String,
    },
    /// There is no C compiler.
    #[error("there is no C compiler: looked for {looked}; install one, or name it in CC")]
    NoCCompiler {
        /// What was looked for.
        looked: String,
    },
    /// The compiler refused the kernel's text, or could not run.
    #[error("`{}` can't compile the kernel:\n{output}", compiler.display())]
    Compile {
        /// The compiler.
        compiler: PathBuf,
        /// What it said.
        output: String,
    },
    /// The compiler took too long.
    #[error("`{}` took longer than {limit} s to compile the kernel; SPC_RUSTC_TIMEOUT gives it more seconds", compiler.display())]
    TimeLimit {
        /// The compiler.
        compiler: PathBuf,
        /// The time that it had, in seconds.
        limit: f64,
    },
    /// An environment variable says nothing that makes sense.
    #[error("{name} is `{value}`, and should be {expected}")]
    Setting {
        /// The variable.
        name: &'static str,
        /// What it says.
        value: String,
        /// What it could.
        expected: &'static str,
    },
    /// A file can't be written or read.
    #[error("{}: {source}; SPC_CACHE names another folder for compiled kernels", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The compiled kernel can't be loaded.
    #[error("{} can't be loaded: {source}", path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// Why not.
        source: libloading::Error,
    },
    /// The compiled kernel is of another version of this crate.
    #[error("{} is of version {version}, and can't be called", path.display())]
    Version {
        /// The library.
        path: PathBuf,
        /// The version of how it is called.
        version: u32,
    },
    /// There is no Rust compiler, and no other machine code either.
    #[error("{compiler}; {unsupported}")]
    NoMachineCode {
        /// Why there is no compiler.
        compiler: Box<NativeError>,
        /// Why there is no other.
        unsupported: Unsupported,
    },
    /// The kernel's name is none that a function can have.
    #[error("`{kernel}` is not the name of a function")]
    Name {
        /// The name.
        kernel: String,
    },
    /// The kernel has dimensions that must be constants to compile it.
    #[error("`{kernel}` is generic in the extent of `{index}`; make that a constant to compile it at run time")]
    Generic {
        /// The kernel.
        kernel: String,
        /// The index variable.
        index: String,
    },
}

impl NativeError {
    /// The same, where no other machine code can be made either.
    pub(in crate::execute) fn and(self, unsupported: Unsupported) -> Self {
        match self {
            already @ NativeError::NoMachineCode { .. } => already,
            compiler => NativeError::NoMachineCode { compiler: Box::new(compiler), unsupported },
        }
    }

    /// Whether this machine lacks a compiler (or its linker), so that no kernel can be compiled: the interpreter can run them.
    pub fn is_missing_compiler(&self) -> bool {
        match self {
            NativeError::NoCompiler { .. } | NativeError::NoMachineCode { .. } => true,
            NativeError::Compile { output, .. } => output.contains("linker `") && output.contains("not found"),
            _ => false,
        }
    }
}
