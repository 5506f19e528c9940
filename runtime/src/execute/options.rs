//! How a kernel is made, and what that decides: the target, the extents that are compiled in, what runs it.

use super::{Backend, Chain, Error, StreamOptions};
use crate::tensor::Duplicates;
use spc_compiler::backend;
use spc_compiler::concrete::Target;
use spc_compiler::ir::Size;
use spc_compiler::schedule;

/// A vector loop, or a sum over a row, of at most so many iterations is compiled for its extent alone.
const LARGEST_CONSTANT: usize = 256;

/// How a program is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// What runs the kernel; `None` for native code where there is a Rust compiler, else the interpreter.
    pub backend: Option<Backend>,
    /// What several entries of the same index mean.
    pub duplicates: Duplicates,
    /// Which GPU runs the kernel, counted from 0, with [`Backend::Cuda`]; the first if none is said. Parts of an input go to all
    /// that are.
    pub devices: Vec<usize>,
    /// Whether every run gives the same bits, on any number of threads: floating point numbers are combined in an order that only
    /// the inputs determine.
    pub deterministic: bool,
    /// The input that comes in parts, also where the kernel's schedule asks for none.
    pub stream: Option<StreamOptions>,
    /// Whether a kernel without a schedule takes one that [`tune`](super::tune) found to be faster, where there is one.
    pub tuned: bool,
}

impl ProgramOptions {
    /// The GPU of a lane.
    #[cfg(feature = "cuda")]
    fn device(&self, lane: usize) -> usize {
        self.devices.get(lane % self.devices.len().max(1)).copied().unwrap_or(0)
    }

    /// What a GPU's kernels have to hold to.
    pub(super) fn cuda(&self) -> backend::cuda::Options {
        backend::cuda::Options { deterministic: self.deterministic, ..backend::cuda::Options::default() }
    }

    /// What the scheduler is asked for.
    pub(super) fn scheduling(&self) -> schedule::Options {
        let (target, deterministic) = (self.target(), self.deterministic);
        schedule::Options { target, deterministic, ..schedule::Options::default() }
    }

    /// What loops are scheduled for.
    pub(super) fn target(&self) -> Target {
        if self.backend == Some(Backend::Cuda) { Target::Gpu } else { Target::Cpu }
    }
}

/// The kernels on what runs them; on a GPU, that of a lane.
pub(super) fn runner(
    compiled: &spc_compiler::Program,
    backend: Backend,
    _options: &ProgramOptions,
    _lane: usize,
) -> Result<Chain, Error> {
    match backend {
        #[cfg(feature = "cuda")]
        Backend::Cuda => {
            let gpu = crate::cuda::Gpu::open(_options.device(_lane))?;
            Chain::on_gpu(compiled, &gpu.with_options(_options.cuda()))
        }
        backend => Chain::new(compiled, backend),
    }
}

/// Makes the extents of short vector loops and of sums over short rows part of the kernels.
pub(super) fn fix_vector_extents(program: &mut schedule::Program, extents: &[Option<usize>]) {
    for place in program.vector_extents() {
        if let Some(extent) = extents[place].filter(|extent| (1..=LARGEST_CONSTANT).contains(extent)) {
            program.set_size(place, Size::Constant(extent as u64));
        }
    }
}
