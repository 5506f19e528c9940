//! How kernels are compiled and run.

use crate::execute::{Backend, Kernel, KernelBuilder, ProgramError};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What makes a kernel of a builder.
pub type Compile = Arc<dyn Fn(KernelBuilder) -> Result<Kernel, ProgramError> + Send + Sync>;

/// Where the kernels of a decomposition run; they run on the threads of the rayon pool that the method is called in.
#[derive(Clone, Default)]
pub struct Engine {
    /// If it is not said, native code where there is a Rust compiler, else the interpreter.
    pub backend: Option<Backend>,
    /// Which GPU, counted from 0, with [`Backend::Cuda`].
    pub device: usize,
    /// The same bits on any number of threads. Measure what it costs with `spc cp --deterministic`.
    pub deterministic: bool,
    /// Something else that compiles, as a device of one's own.
    pub compile: Option<Compile>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { backend, device, deterministic, compile } = self;
        let mut fields = out.debug_struct("Engine");
        fields.field("backend", backend).field("device", device).field("deterministic", deterministic);
        fields.field("compile", &compile.is_some()).finish()
    }
}

impl Engine {
    /// A builder of a kernel that will run here.
    pub(super) fn builder(&self, text: impl Into<String>) -> KernelBuilder {
        let mut builder = Kernel::builder(text);
        if let Some(backend) = self.backend {
            builder = builder.backend(backend).device(self.device);
        }
        if self.deterministic { builder.deterministic() } else { builder }
    }

    /// Compiles kernels side by side.
    pub(super) fn compile(&self, builders: Vec<KernelBuilder>) -> Result<Vec<Kernel>, ProgramError> {
        let one = |builder: KernelBuilder| match &self.compile {
            Some(compile) => compile(builder),
            None => builder.compile(),
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = builders.into_iter().map(|builder| scope.spawn(move || one(builder))).collect();
            all.into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }
}

/// Adds up the time that is spent in kernels.
#[derive(Debug, Default)]
pub(super) struct Clock {
    kernels: Cell<Duration>,
    /// The part of that in MTTKRPs.
    mttkrp: Cell<Duration>,
}

/// What a [`Clock`] has added up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub kernels: Duration,
    pub mttkrp: Duration,
}

impl Clock {
    /// Runs what calls a kernel.
    pub(super) fn kernel<R>(&self, call: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = call();
        self.kernels.set(self.kernels.get() + start.elapsed());
        result
    }

    /// Runs what calls kernels of an MTTKRP, which book their own time.
    pub(super) fn mttkrp<R>(&self, calls: impl FnOnce() -> R) -> R {
        let before = self.kernels.get();
        let result = calls();
        self.mttkrp.set(self.mttkrp.get() + (self.kernels.get() - before));
        result
    }

    /// What was spent since this was last asked.
    pub(super) fn taken(&self) -> Spent {
        Spent { kernels: self.kernels.take(), mttkrp: self.mttkrp.take() }
    }
}

/// Index variables, one for each mode: `i1`, `i2`, …
pub(super) fn indices(order: usize) -> Vec<String> {
    (1..=order).map(|mode| format!("i{mode}")).collect()
}
