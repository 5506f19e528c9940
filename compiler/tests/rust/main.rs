//! Printed Rust goes through rustc: it must be accepted, and mean what the loop IR means.

mod names;
mod operators;
mod rustc;
