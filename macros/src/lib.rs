//! The macro `tensor_kernel!`; use it through the crate `spc`.
