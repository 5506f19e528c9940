//! Where kernels run, and what came of that.

use super::arguments::EngineArguments;
use crate::failure::Failure;
use crate::run::of_backend;
use spc::decompose::{DecomposeError, Engine};
use spc::execute::Backend;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// What the kernels that were compiled say of themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Kernels {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    count: usize,
    from_cache: usize,
    backend: Option<Backend>,
    /// Where a device runs them.
    device: String,
    /// Why native code was not to be had.
    fallback: Option<String>,
}

impl EngineArguments {
    /// What compiles kernels, and what is to be asked of them later.
    pub(super) fn engine(&self) -> (Engine, Kernels) {
        let kernels = Kernels::default();
        let seen = Arc::clone(&kernels.seen);
        let compile = move |builder: spc::execute::KernelBuilder| {
            let kernel = builder.compile()?;
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.count += 1;
            seen.from_cache += usize::from(kernel.from_cache());
            if kernel.backend() == Backend::Cuda {
                seen.device = kernel.place();
            }
            seen.backend = Some(kernel.backend());
            seen.fallback = kernel.fallback().map(ToString::to_string).or(seen.fallback.take());
            Ok(kernel)
        };
        let (backend, device, deterministic) = (self.backend.map(Backend::from), self.device, self.deterministic);
        (Engine { backend, device, deterministic, compile: Some(Arc::new(compile)) }, kernels)
    }

    /// How many threads work; 0 for all.
    pub(super) fn threads(&self) -> usize {
        self.threads.map_or(0, NonZeroUsize::get)
    }
}

impl Kernels {
    fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A run begins: kernels are counted anew.
    pub(super) fn begin(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        (seen.count, seen.from_cache) = (0, 0);
    }

    /// `7 kernels, native on 2 threads`; nothing before any is compiled.
    pub(super) fn line(&self) -> Option<String> {
        let Seen { count, from_cache, .. } = self.seen();
        let cached = match from_cache {
            0 => String::new(),
            all if all == count => ", all compiled before".to_owned(),
            some => format!(", {some} of them compiled before"),
        };
        let plural = if count == 1 { "" } else { "s" };
        Some(format!("{count} kernel{plural}, {} on {}{cached}", self.backend()?, self.place()))
    }

    /// What runs them.
    pub(super) fn backend(&self) -> Option<Backend> {
        self.seen().backend
    }

    /// Where: threads, or a device.
    pub(super) fn place(&self) -> String {
        match (self.seen(), spc::parallel::threads()) {
            (Seen { backend: Some(Backend::Cuda), device, .. }, _) => device,
            (_, 1) => "1 thread".to_owned(),
            (_, threads) => format!("{threads} threads"),
        }
    }

    /// Why they run in the interpreter, where that was not asked for.
    pub(super) fn fallback(&self) -> Option<String> {
        self.seen().fallback.map(|reason| format!("the kernels run in the interpreter: {reason}"))
    }
}

/// Why there is no decomposition, with what to do about it.
pub(super) fn refuse(error: DecomposeError) -> Failure {
    match error {
        DecomposeError::Kernel(error) => of_backend(&error),
        DecomposeError::Read(error) => error.into(),
        DecomposeError::Write(error) => error.into(),
        DecomposeError::File { path, problem } => Failure::file(path.display(), problem),
        error => Failure::refused(error),
    }
}
