//! Targets: a verified kernel to text.

pub mod cuda;
pub mod namer;
pub mod rust;
