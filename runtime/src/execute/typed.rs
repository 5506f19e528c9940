//! What functions that `tensor_kernel!` writes call: kernels known at compile time over typed tensors.

#[cfg(feature = "cuda")]
use super::Chain;
use super::flow::{Flow, Whole, lent};
use super::value::{New, Reused, Sink, Value, missing, wrong};
use super::{Call, Error};
#[cfg(feature = "cuda")]
use crate::cuda::Gpu;
use crate::parallel::{Interrupted, NoMemory, watched};
use crate::tensor::{AnyTensor, Element, Scalar, Tensor};
use spc_compiler::ir::{self, Kernel, Rounds};
#[cfg(feature = "cuda")]
use spc_compiler::schedule;
#[cfg(feature = "cuda")]
use spc_compiler::{concrete, diagnostics::Diagnostics, notation, plan, syntax};
use std::panic::{self, AssertUnwindSafe};
use std::sync::OnceLock;
#[cfg(feature = "cuda")]
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel whose loops were compiled with the program: of one statement or several, each of which has loops of its own.
#[derive(Debug)]
pub struct StaticKernel {
    /// Its parameters and dimensions, as declarations in the loop IR.
    declarations: &'static str,
    /// The names of its results.
    results: &'static [&'static str],
    /// The loops, in the order in which they run.
    links: &'static [StaticLink],
    /// Which of them are repeated, as [`Rounds`] print; empty where none are.
    rounds: &'static str,
    /// The kernel's text.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "only a GPU's loops are made of it"))]
    source: &'static str,
    /// The declarations, once they are read.
    parts: OnceLock<Result<Parts, String>>,
    /// What runs the kernel on GPUs, once they were asked to.
    #[cfg(feature = "cuda")]
    on_gpus: Mutex<Vec<(GpuKey, Arc<Chain>)>>,
}

/// The number of a GPU, and what its kernels hold to.
#[cfg(feature = "cuda")]
type GpuKey = (usize, spc_compiler::backend::cuda::Options);

/// The loops of one statement.
#[derive(Debug, Clone, Copy)]
pub struct StaticLink {
    /// Their declarations in the loop IR.
    declarations: &'static str,
    /// Runs them on the arrays of a call.
    run: fn(&mut Call<'_>),
}

impl StaticLink {
    /// Loops that the macro wrote.
    pub const fn new(declarations: &'static str, run: fn(&mut Call<'_>)) -> Self {
        Self { declarations, run }
    }
}

/// What the declarations say.
#[derive(Debug)]
struct Parts {
    whole: Whole,
    links: Vec<Kernel>,
}

impl StaticKernel {
    /// A kernel of the declarations and loops that the macro wrote; `source` is what it wrote them of.
    pub const fn new(
        declarations: &'static str,
        results: &'static [&'static str],
        links: &'static [StaticLink],
        source: &'static str,
    ) -> Self {
        Self {
            declarations,
            results,
            links,
            rounds: "",
            source,
            parts: OnceLock::new(),
            #[cfg(feature = "cuda")]
            on_gpus: Mutex::new(Vec::new()),
        }
    }

    /// The same, of which some loops are repeated.
    #[must_use]
    pub const fn repeated(mut self, rounds: &'static str) -> Self {
        self.rounds = rounds;
        self
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// As [`Call::new`] and [`Call::finish`].
    pub fn run(&self, inputs: &[&AnyTensor]) -> Result<Results, Error> {
        let mut results = New(Vec::with_capacity(self.results.len()));
        self.run_with(inputs, &mut results)?;
        Ok(Results { tensors: results.0.into_iter() })
    }

    /// Runs the kernel and writes its results into the memory of `targets`. Where that is refused, they are as before; where a
    /// later statement of several is refused, those of statements that have run are left without entries.
    ///
    /// # Errors
    /// As [`StaticKernel::run`] and [`Call::reuse`].
    pub fn run_into(&self, inputs: &[&AnyTensor], targets: &mut [&mut dyn Value]) -> Result<(), Error> {
        if targets.len() != self.results.len() {
            return Err(missing());
        }
        self.run_with(inputs, &mut Reused(targets))
    }

    /// Runs the kernel, whose results go to `sink`.
    fn run_with(&self, inputs: &[&AnyTensor], sink: &mut dyn Sink) -> Result<(), Error> {
        #[cfg(feature = "cuda")]
        if let Some(gpu) = Gpu::current() {
            let chain = self.on_gpu(&gpu)?;
            return chain.run_to(lent(inputs, chain.count()), &[], sink).map(drop);
        }
        let Parts { whole, links } = self.parts()?;
        let flow = Flow::new(whole, links, lent(inputs, whole.count()), &[], sink)?;
        flow.run(None, sink, &mut |link, call| catch(call, self.links[link].run)).map(drop)
    }

    /// The kernel for a GPU: loops of its own, made of the same text.
    #[cfg(feature = "cuda")]
    fn on_gpu(&self, gpu: &Gpu) -> Result<Arc<Chain>, Error> {
        let mut chains = self.on_gpus.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (gpu.ordinal(), gpu.options());
        if let Some((_, chain)) = chains.iter().find(|(known, _)| *known == key) {
            return Ok(chain.clone());
        }
        let problems = |problems: Diagnostics| {
            let first = problems.into_sorted().into_iter().next();
            wrong(&first.map_or_else(String::new, |problem| problem.message))
        };
        let kernels = syntax::parse_program(self.source).and_then(|program| notation::check(&program));
        let [kernel] = &kernels.map_err(problems)?[..] else { return Err(wrong("its text is not one kernel")) };
        let options = schedule::Options { target: concrete::Target::Gpu, ..schedule::Options::default() };
        // The plan that the macro has taken, too.
        let planned = plan::by_text(kernel);
        let planned = planned.and_then(|planned| schedule::schedule(&planned.kernel, options).ok());
        let program = planned.map_or_else(|| schedule::schedule(kernel, options), Ok).map_err(problems)?;
        let chain = Arc::new(Chain::on_gpu(&spc_compiler::compile(program).map_err(problems)?, gpu)?);
        chains.push((key, chain.clone()));
        Ok(chain)
    }

    fn parts(&self) -> Result<&Parts, Error> {
        let read = |text: &str| ir::parse(text, spc_compiler::level::named).map_err(|error| error.to_string());
        let read_all = || {
            let links = self.links.iter().map(|link| read(link.declarations)).collect::<Result<Vec<_>, _>>()?;
            let results = self.results.iter().map(|&name| name.to_owned()).collect();
            let rounds = (!self.rounds.is_empty()).then(|| self.rounds.parse::<Rounds>());
            let rounds = rounds.transpose().map_err(|error| error.to_string())?;
            Ok(Parts { whole: Whole::new(read(self.declarations)?, results, rounds, &links), links })
        };
        self.parts.get_or_init(read_all).as_ref().map_err(|error: &String| wrong(error))
    }
}

/// Runs a function of the macro's. That a whole number was divided by zero is an error, and so is it that there was no memory for an
/// array; other panics go on.
fn catch(call: &mut Call<'_>, run: fn(&mut Call<'_>)) -> Result<(), Error> {
    let kernel = call.kernel();
    // A call that stops is dropped, with what it left half done.
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| watched(|| run(call)))) else { return Ok(()) };
    if let Some(array) = payload.downcast_ref::<NoMemory>() {
        return Err(Error::no_memory(kernel, array));
    }
    if payload.is::<Interrupted>() {
        return Err(Error::interrupted(kernel));
    }
    let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    match message.or_else(|| payload.downcast_ref::<String>().cloned()).map(|message| Error::stopped(kernel, message)) {
        Some(error @ Error::DivisionByZero { .. }) => Err(error),
        _ => panic::resume_unwind(payload),
    }
}

/// What a kernel made, in the order of its declarations.
#[derive(Debug)]
pub struct Results {
    tensors: std::vec::IntoIter<AnyTensor>,
}

impl Results {
    /// The next one, as what it is.
    ///
    /// # Errors
    /// When there is none, or it is of another type.
    #[expect(clippy::should_implement_trait, reason = "each may be of another type")]
    pub fn next<V: Value>(&mut self) -> Result<V, Error> {
        V::from_output(self.tensors.next().ok_or_else(missing)?)
    }
}

/// A scalar as a tensor of order 0.
pub fn scalar<T: Element>(value: T) -> AnyTensor {
    Tensor::<T, Scalar>::from(value).into_any()
}
