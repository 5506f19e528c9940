//! Text to syntax tree.
//!
//! One pest grammar serves files, command-line arguments and the macro; [`Program`] is what a text says, before any name
//! is resolved. Every node knows where it stands in the text.

pub mod ast;

pub use ast::*;
