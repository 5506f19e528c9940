//! `spc`: sparse tensors and compiled kernels.

pub mod execute;
pub mod io;
pub mod parallel;
pub mod tensor;
