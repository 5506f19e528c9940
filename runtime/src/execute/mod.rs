//! Running kernels: natively, or in the interpreter.
