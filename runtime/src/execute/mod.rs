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
//! * [`Chain`] is several kernels that run one after the other, as those of a kernel with several statements do.
//! * [`Program`] does all of it: from a checked kernel and named inputs to named results.
//! * [`stream`] runs a kernel whose input comes in parts.
//! * [`device`] runs what the CUDA backend makes of a kernel.
//! * The interpreter runs the IR itself: slow, but it checks every access, and needs no compiler.

mod array;
mod bounds;
pub(crate) mod cache;
pub mod call;
mod chain;
pub mod device;
mod error;
mod executable;
mod extents;
pub(crate) mod hash;
mod interpreted;
pub mod interpreter;
mod native;
mod output;
#[cfg(test)]
mod pipeline;
mod processor;
mod program;
mod stack;
pub mod stream;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tuning;
mod typed;

pub use array::Stored;
pub use cache::{CacheWarning, Distrust, cache_warnings};
pub use call::{Call, conform};
pub use chain::{Chain, Outcome};
pub use error::{Error, ExtentSource};
pub use executable::{Backend, Executable};
#[doc(hidden)]
pub use native::NativeBuild;
pub use native::{NativeError, NativeKernel};
pub use processor::{has_wide_vectors, use_wide_vectors};
pub use program::{AssumedExtent, Entries, Operand, Program, ProgramError, ProgramOptions};
pub use stack::with_stack_for;
pub use stream::{Spent, StreamOptions, Streamed};
pub use tuning::{Tuned, tune};
pub use typed::{Results, StaticKernel, StaticLink, Value, scalar};
