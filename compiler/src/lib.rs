//! `spc-compiler`: tensor index notation and storage formats in, loops and code out.
//!
//! The way of a kernel through this crate, one module a stage:
//!
//! ```text
//! .ti text, argument ─┐
//! macro tokens ───────┴─parse─▶ syntax ─check─▶ notation ─schedule─▶ concrete ─lower─▶ ir ─▶ backend
//! ```
//!
//! Each arrow is one public function from one plain data type to the next, and each type prints. The crate is pure:
//! text in, code out; no files, clocks, threads or environment.

#![forbid(unsafe_code)]

pub mod backend;
pub mod concrete;
pub mod diagnostics;
pub mod format;
pub mod ir;
pub mod lattice;
pub mod lower;
pub mod notation;
pub mod pass;
pub mod syntax;
