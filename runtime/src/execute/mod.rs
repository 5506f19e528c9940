//! Running kernels: natively, or in the interpreter.
mod array;
mod call;
mod error;
mod extents;
pub mod interpreter;
mod native;
mod output;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use array::Stored;
pub use call::{Call, conform};
pub use error::{Error, ExtentSource};
pub use native::{NativeError, NativeKernel};
