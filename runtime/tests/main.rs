//! All tests of the library from outside, in one program.

// What `strict` denies and no module can.
#![deny(future_incompatible)]

mod r#macro;
mod misuse;
mod rows;
// As public as the whole of a crate.
pub mod strict;
mod ui;
