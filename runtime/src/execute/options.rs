//! How a kernel is made, and what that decides: the target, the extents that are compiled in, what runs it.

use super::{Backend, Chain, Error, StreamOptions};
use crate::tensor::Duplicates;
use crate::{memory, parallel};
use spc_compiler::backend;
use spc_compiler::concrete::Target;
use spc_compiler::ir::Size;
use spc_compiler::plan::Facts;
use spc_compiler::schedule;

/// A vector loop, or a sum over a row, of at most so many iterations is compiled for its extent alone.
const LARGEST_CONSTANT: usize = 256;

/// How a program is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOptions {
    /// What runs the kernel; `None` for native code where there is a Rust compiler, else machine code of the JIT, else the interpreter.
    pub backend: Option<Backend>,
    /// Whether a kernel that was not compiled before runs as machine code (feature `jit`) until the Rust compiler has made native code of
    /// it in the background, where nothing is said of what runs it: later calls are then faster. Their results may differ by rounding from
    /// those of earlier calls. Without the feature, the first kernel of a machine begins in the interpreter: what all kernels use is compiled
    /// with it, which takes seconds.
    pub background: bool,
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
    /// Whether the kernel is computed by the plan that costs least, or as it is written.
    pub plan: Planning,
    /// The bytes that temporaries of a plan may take together; half of what the system has free where nothing is said, and no limit
    /// where the same bits are asked for in every run.
    pub memory: Option<u64>,
    /// How often the kernel is expected to run on each set of inputs; once where nothing is said. What is made once for all of these
    /// runs, as a sorted copy of an operand, costs each of them less the more there are.
    pub calls: Option<usize>,
    /// With [`Backend::Cuda`], the model of a GPU that kernels run by in place of one: times are predicted.
    #[cfg(feature = "cuda")]
    pub model: Option<crate::cuda::model::Predictions>,
}

/// What a kernel is computed by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Planning {
    /// The [plan](spc_compiler::plan) that costs least, by what is known of the inputs.
    #[default]
    Best,
    /// The statements as they are written.
    AsWritten,
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

    /// What a planner is to know beside tensors. Where the same bits are asked for on any number of threads, it is not told how many there
    /// are, nor how much memory.
    pub(super) fn planning(&self, facts: Facts) -> Facts {
        let threads = if self.deterministic { 1 } else { parallel::threads() };
        let memory = if self.deterministic { self.memory } else { Some(memory::budget(self.memory)) };
        Facts { threads, memory, calls: self.calls.unwrap_or(1).max(1) as f64, ..facts }
    }

    /// Whether times are predicted: every run then takes the same.
    pub(super) fn is_predicted(&self) -> bool {
        #[cfg(feature = "cuda")]
        return self.model.is_some();
        #[cfg(not(feature = "cuda"))]
        false
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
            if let Some(model) = &_options.model {
                return Chain::by_model(compiled, _options.cuda(), model);
            }
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
