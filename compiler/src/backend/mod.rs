//! Targets: a verified kernel to text.

pub mod namer;
pub mod rust;
