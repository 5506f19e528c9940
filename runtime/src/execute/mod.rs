//! Running kernels: natively, or in the interpreter.
//!
//! What comes in is a kernel in the loop IR and, to run it natively, the Rust text that the compiler printed for it.
//! What goes out are tensors.
//!
//! ```text
//! Verified<Kernel> ─┐                     inputs ──▶ Call ─┐
//! Rust text ────────┴─▶ Executable ────────────────────────┴─run─▶ Call ──finish──▶ outputs
//! ```
//!
//! * [`Call`] is what every engine has in common: it checks inputs against the kernel's declarations, finds out extents, and
//!   makes the arrays of outputs. The code that `tensor_kernel!` writes uses it without an [`Executable`].
//! * [`NativeKernel`] compiles the text with the user's `rustc` to a library for this very processor, keeps it on disk, and runs
//!   it on the host's threads. It takes a quarter of a second the first time and a millisecond later.
//! * [`JitKernel`] is machine code that Cranelift makes of the IR, where there is no `rustc` (feature `jit`).
//! * [`Chain`] is several kernels that run one after the other, as those of a kernel with several statements do.
//! * [`Kernel`] is a text that is compiled once and called with new inputs.
//! * [`Program`] is a kernel with its inputs, read and packed as it declares them, and compiled for their sizes.
//! * [`stream`] runs a kernel whose input comes in parts.
//! * [`device`] runs what the CUDA backend makes of a kernel.
//! * The interpreter runs the IR itself: slow, but it checks every access, and needs no compiler.

mod around;
mod array;
#[cfg(feature = "compile")]
mod background;
mod bounds;
#[cfg(feature = "compile")]
pub(crate) mod cache;
pub mod call;
#[cfg(feature = "compile")]
pub mod catalogue;
#[cfg(feature = "compile")]
mod chain;
#[cfg(feature = "compile")]
pub mod device;
mod error;
#[cfg(feature = "compile")]
mod executable;
mod extents;
mod flow;
#[cfg(feature = "compile")]
pub(crate) mod hash;
#[cfg(feature = "compile")]
mod interpreted;
#[cfg(feature = "compile")]
pub mod interpreter;
#[cfg(feature = "compile")]
mod iterate;
#[cfg(feature = "compile")]
#[cfg_attr(not(feature = "jit"), path = "without_jit.rs")]
mod jit;
#[cfg(feature = "compile")]
mod kernel;
#[cfg(feature = "compile")]
mod native;
#[cfg(feature = "compile")]
mod options;
mod output;
#[cfg(all(test, feature = "compile"))]
mod pipeline;
#[cfg(feature = "compile")]
mod planning;
#[cfg(feature = "compile")]
mod program;
#[cfg(feature = "compile")]
mod program_error;
#[cfg(feature = "compile")]
mod stack;
#[cfg(feature = "compile")]
pub mod stream;
#[cfg(all(test, feature = "compile"))]
mod testing;
#[cfg(all(test, feature = "compile"))]
mod tests;
#[cfg(feature = "compile")]
mod tier;
#[cfg(feature = "compile")]
mod tuned;
#[cfg(feature = "compile")]
mod tuning;
mod typed;
#[cfg(feature = "compile")]
mod unsupported;
mod value;

pub use crate::parallel::interrupt::interruptible;
pub use crate::processor::{Vectors, most_vectors, vectors};
pub use around::{Around, Copied, Prepared, ResultMemory, Way};
pub use array::Stored;
#[cfg(feature = "compile")]
pub use cache::{
    CacheEntry, CacheWarning, Distrust, cache_entries, cache_folder, cache_warnings, clear_cache, prune_cache,
};
pub use call::{Call, Held, conform};
#[cfg(feature = "compile")]
pub use chain::{Chain, Outcome};
pub use error::{Error, ExtentSource};
#[cfg(feature = "compile")]
pub use executable::{Backend, Executable};
pub use flow::Repeated;
#[cfg(feature = "compile")]
pub use jit::JitKernel;
#[cfg(feature = "decompose")]
pub(crate) use kernel::rendered;
#[cfg(feature = "compile")]
pub use kernel::{Argument, Input, Kernel, KernelBuilder, Link, Outputs, Targets};
#[cfg(feature = "compile")]
#[doc(hidden)]
pub use native::NativeBuild;
#[cfg(feature = "cuda")]
pub(crate) use native::external;
#[cfg(feature = "compile")]
pub use native::{NativeError, NativeKernel, has_helpers, rust_compiler, standalone};
#[cfg(feature = "compile")]
pub use options::{Planning, ProgramOptions};
#[cfg(feature = "compile")]
pub(crate) use program::combination;
#[cfg(feature = "compile")]
pub use program::{AssumedExtent, Entries, Operand, Program, Uncompiled};
#[cfg(feature = "compile")]
pub use program_error::ProgramError;
#[cfg(feature = "compile")]
pub use spc_compiler::ir::{Comparison, NotARule, Repetition, Until};
#[cfg(feature = "compile")]
pub use stack::with_stack_for;
#[cfg(feature = "compile")]
pub use stream::{Spent, StreamOptions, Streamed};
#[cfg(feature = "compile")]
pub use tier::Tier;
#[cfg(feature = "compile")]
pub use tuning::{Tuned, tune};
pub use typed::{Results, StaticKernel, StaticLink, scalar};
#[cfg(feature = "compile")]
pub use unsupported::Unsupported;
pub use value::Value;
