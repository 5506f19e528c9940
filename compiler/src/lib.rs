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
//!
//! [`guide`] follows a kernel through all stages and says how to work on them.

#![forbid(unsafe_code)]

pub mod backend;
pub mod concrete;
pub mod diagnostics;
pub mod format;
pub mod guide;
pub mod ir;
pub mod lattice;
pub mod lower;
pub mod notation;
pub mod pass;
pub mod syntax;

use diagnostics::Diagnostics;

/// A kernel at every stage.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The loops before they were lowered.
    pub concrete: concrete::Kernel,
    /// The merge lattice of each loop over stored levels, as text.
    pub lattices: Vec<String>,
    /// The loops.
    pub kernel: ir::Verified<ir::Kernel>,
}

/// Lowers a scheduled kernel and runs all passes.
pub fn compile(concrete: concrete::Kernel) -> Compiled {
    let lowered = lower::lower(&concrete);
    Compiled { concrete, lattices: lowered.lattices, kernel: pass::run(lowered.kernel) }
}

/// Schedules, lowers and tidies a checked kernel, for extents that are known when it is called.
///
/// # Errors
/// What the language can say and the scheduler can't do yet, with its place.
pub fn compile_notation(kernel: &notation::Kernel) -> Result<Compiled, Diagnostics> {
    Ok(compile(concrete::schedule(kernel, concrete::Options::default())?))
}
