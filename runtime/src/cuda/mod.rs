//! Kernels on a GPU: NVIDIA's driver and its run-time compiler, where a machine has them.
//!
//! | file | what it does |
//! |---|---|
//! | `nvrtc` | makes machine code of what [`spc_compiler::backend::cuda`] prints, for any architecture, without a GPU |
//! | `usage` | what the assembler says that each function takes |
//! | `cubin` | keeps machine code on disk |
//! | `driver` | finds the driver, and what it says against something |
//! | `staging` | large copies, by all threads |
//! | `gpu` | a GPU, and its streams as [`Device`](crate::execute::device::Device)s: memory, copies, functions, events |
//! | [`model`] | what a GPU would do, counted and predicted without one |
//!
//! Neither library is linked: both are looked for when they are asked for, and are an error with its remedy where they are
//! missing. [`Backend::Cuda`](crate::execute::Backend::Cuda) runs a program on the first GPU.
//!
//! [`Gpu::scope`] has kernels of [`tensor_kernel!`](crate::tensor_kernel) run there.
//!
//! ```no_run
//! use spc::cuda::Gpu;
//! use spc::execute::{Backend, Operand, Program, ProgramOptions};
//! # let kernels = spc_compiler::notation::check(&spc_compiler::syntax::parse_program("fn f(x: dense) -> y: dense { y(i) = x(i); }").unwrap()).unwrap();
//!
//! println!("on {}", Gpu::open(0)?.name());
//! let options = ProgramOptions { backend: Some(Backend::Cuda), ..ProgramOptions::default() };
//! let inputs = vec![("x".to_owned(), Operand::Ones)];
//! let outcome = Program::new(&kernels[0], inputs, &[("i".to_owned(), 1 << 20)], &options)?.run(10)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cubin;
mod driver;
mod error;
mod gpu;
pub mod model;
mod nvrtc;
mod staging;
mod usage;

pub use cubin::compile_ahead;
pub use error::CudaError;
pub use gpu::{Gpu, Stream};
pub use nvrtc::{Compiled, Nvrtc, NvrtcError};
pub use usage::Usage;
