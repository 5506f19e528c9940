//! `spc`: sparse tensors and compiled kernels.

pub mod execute;
pub mod generate;
pub mod io;
pub mod parallel;
pub mod tensor;
