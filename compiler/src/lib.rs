//! `spc-compiler`: tensor index notation and storage formats in, loops and code out.
//!
//! The way of a kernel through this crate, one module a stage:
//!
//! ```text
//! .ti text, argument ─┐
//! macro tokens ───────┴─parse─▶ syntax ─check─▶ notation ─plan─▶ notation ─schedule─▶ concrete ─lower─▶ ir ─▶ backend
//! ```
//!
//! Each arrow is one public function from one plain data type to the next, and each type prints. The crate is pure:
//! text in, code out; no files, clocks, threads or environment.
//!
//! The book follows a kernel through all stages (`docs/explanation/stages.md`), and says how to work on them (`docs/how-to/extend.md`).
//!
//! Without the feature `compile` there are [`format`](mod@format) and [`ir`] alone: what a program needs that holds tensors and calls
//! kernels which were compiled before. `cuda` adds CUDA C, `pretty` formatted Rust text and rendered diagnostics.

#![forbid(unsafe_code)]
#![cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "most of what stages share is for the later ones"))]

#[cfg(feature = "compile")]
pub mod backend;
#[cfg(feature = "compile")]
pub mod concrete;
pub mod diagnostics;
#[cfg(feature = "compile")]
pub mod explanation;
pub mod format;
#[cfg(feature = "cuda")]
pub mod gpu;
pub mod ir;
#[cfg(feature = "compile")]
pub mod lattice;
pub mod level;
#[cfg(feature = "compile")]
pub mod lower;
#[cfg(feature = "cuda")]
pub mod map;
#[cfg(feature = "compile")]
pub mod model;
#[cfg(feature = "compile")]
pub mod notation;
#[cfg(feature = "compile")]
pub mod pass;
#[cfg(feature = "compile")]
pub mod plan;
#[cfg(feature = "compile")]
pub mod remark;
#[cfg(feature = "compile")]
pub mod schedule;
#[cfg(feature = "compile")]
mod stages;
#[cfg(feature = "compile")]
pub mod syntax;
#[cfg(feature = "compile")]
pub mod topics;

#[cfg(feature = "compile")]
pub use stages::{Compiled, Program, compile, compile_kernel, compile_notation};
