//! CUDA at run time: NVIDIA's run-time compiler, where a machine has it.
//!
//! [`Nvrtc`] needs no GPU: it makes machine code for any architecture of what [`spc_compiler::backend::cuda`] prints, and says
//! how many registers each function takes and whether any were spilled.

mod nvrtc;
mod usage;

pub use nvrtc::{Compiled, Nvrtc, NvrtcError};
pub use usage::Usage;
