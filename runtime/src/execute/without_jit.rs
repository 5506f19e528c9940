//! What stands for machine code of the JIT in a build without the feature `jit`: there is none.

use super::call::Call;
use super::error::Error;
use super::unsupported::Unsupported;
use spc_compiler::ir::{Kernel, Verified};
use std::time::Duration;

/// A kernel as machine code in memory: there is none.
#[derive(Debug, Clone)]
pub enum JitKernel {}

impl JitKernel {
    /// Makes no machine code.
    ///
    /// # Errors
    /// Always.
    pub fn compile(_: &Verified<Kernel>) -> Result<Self, Unsupported> {
        Err(Unsupported::of_build())
    }

    /// How long it took to make the code.
    pub fn compile_time(&self) -> Duration {
        match *self {}
    }

    /// Runs a call.
    ///
    /// # Errors
    /// Never: there is no such kernel.
    pub fn run(&self, _: &mut Call<'_>) -> Result<Duration, Error> {
        match *self {}
    }
}
