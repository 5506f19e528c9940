//! Targets: a verified kernel to text.

#[cfg(feature = "c")]
pub mod c;
#[cfg(feature = "cuda")]
pub mod cuda;
mod namer;
pub mod rust;
#[cfg(any(feature = "c", feature = "cuda"))]
mod words;
