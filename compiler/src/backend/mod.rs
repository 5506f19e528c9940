//! Targets: a verified kernel to text.

#[cfg(feature = "cuda")]
pub mod cuda;
mod namer;
pub mod rust;
