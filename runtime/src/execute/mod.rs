//! Running kernels: natively, or in the interpreter.

pub mod interpreter;
