//! Targets: a verified kernel to text.

pub mod cuda;
mod namer;
pub mod rust;
