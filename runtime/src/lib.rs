//! `spc`: sparse tensors and compiled kernels.

// What the macro writes names this crate `spc`, also in its own tests.
extern crate self as spc;

pub mod execute;
pub mod generate;
pub mod io;
pub mod parallel;
pub mod tensor;

pub use execute::Error;
pub use spc_macros::tensor_kernel;
pub use tensor::Tensor;
