//! Kernels that run one after the other, and the tensors that go from one to the next.
//!
//! A kernel of the language with several statements becomes a chain of kernels of the loop IR. Tensors of one name are one
//! tensor: what a link makes, later links read. Dimensions of one name have one extent, which is found out from the inputs
//! before the first link runs.
//!
//! ```text
//! inputs ──┬─▶ link y ──┬─▶ y ──▶ outputs
//!          │            ▼
//!          └────────▶ link n ─▶ n ──▶
//! ```

use super::around::{Around, ResultMemory};
use super::background::ChangingKernel;
use super::call::{Call, Operand};
use super::device::{Accumulated, DeviceKernel};
use super::error::Error;
use super::flow::{Flow, Kernels, Repeated, Whole, lent};
use super::native::{NativeError, NativeKernel, has_helpers};
use super::tier::Tier;
use super::unsupported::Unsupported;
use super::value::{New, Reused, Sink, Value};
use super::{Backend, Executable};
use crate::tensor::AnyTensor;
use spc_compiler::ir::Kernel;
use spc_compiler::{Program, backend};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Kernels with what runs them.
#[derive(Debug, Clone)]
pub struct Chain {
    whole: Arc<Whole>,
    links: Vec<Executable>,
    /// Why there is no Rust compiler, where something else runs the kernels for that.
    missing: Option<Arc<str>>,
}

/// What was computed.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The results with their names, in the order of their declaration.
    pub outputs: Vec<(String, AnyTensor)>,
    /// What a call takes beside the kernels.
    pub around: Around,
    /// How long the kernels alone took, all of them together, each time.
    pub run_times: Vec<Duration>,
    /// How the rounds of a `repeat` went, where the kernel has one.
    pub rounds: Option<Repeated>,
    /// In which way they ran.
    pub tier: Tier,
    /// Why in that one.
    pub reason: String,
}

impl Outcome {
    /// What a call costs: the median time of the kernels, and all that is done around them.
    pub fn call_time(&self) -> Duration {
        self.kernel_time() + self.around.total()
    }

    /// The median of the kernels' times.
    pub fn kernel_time(&self) -> Duration {
        let mut sorted = self.run_times.clone();
        sorted.sort();
        match sorted.len() {
            0 => Duration::ZERO,
            count if count % 2 == 1 => sorted[count / 2],
            count => (sorted[count / 2 - 1] + sorted[count / 2]) / 2,
        }
    }
}

impl Chain {
    /// A compiled program that `backend` will run: natively, with all of its kernels in one library; on the first GPU.
    ///
    /// # Errors
    /// When it can't be compiled.
    pub fn new(program: &Program, backend: Backend) -> Result<Self, Error> {
        match backend {
            Backend::Interpreter => Ok(Self::interpreted(program)),
            Backend::Native => Ok(Self::native(program)?),
            Backend::Jit => Ok(Self::jit(program)?),
            #[cfg(feature = "cuda")]
            Backend::Cuda => Self::on_gpu(program, &crate::cuda::Gpu::open(0)?),
            #[cfg(not(feature = "cuda"))]
            Backend::Cuda => Err(Error::NoCuda { kernel: program.interface.name.clone() }),
        }
    }

    /// A program that a GPU will run. It should have been scheduled for one.
    ///
    /// # Errors
    /// When a kernel has what can't run there, or can't be compiled.
    #[cfg(feature = "cuda")]
    pub fn on_gpu(program: &Program, gpu: &crate::cuda::Gpu) -> Result<Self, Error> {
        let link = |compiled: &spc_compiler::Compiled| {
            let kernel = gpu.kernel(&compiled.kernel)?;
            Ok(Executable::on_device(compiled.kernel.clone(), kernel))
        };
        Ok(Self::of_links(program, program.kernels.iter().map(link).collect::<Result<_, Error>>()?))
    }

    /// A program whose runs a model of a GPU predicts. It should have been scheduled for a GPU.
    ///
    /// # Errors
    /// When a kernel has what can't run there, or there is no `g++`.
    #[cfg(feature = "cuda")]
    pub fn by_model(
        program: &Program,
        options: backend::cuda::Options,
        model: &crate::cuda::model::Predictions,
    ) -> Result<Self, Error> {
        let link = |compiled: &spc_compiler::Compiled| {
            let kernel = crate::cuda::model::Counted::kernel(&compiled.kernel, options, model)?;
            Ok(Executable::on_device(compiled.kernel.clone(), kernel))
        };
        Ok(Self::of_links(program, program.kernels.iter().map(link).collect::<Result<_, Error>>()?))
    }

    /// Programs that run natively, compiled together: see [`NativeKernel::compile_many`](super::NativeKernel::compile_many). On a machine
    /// without a Rust compiler each runs as [`Chain::native_if_possible`] says.
    pub fn native_many(programs: &[&Program]) -> Vec<Result<(Self, Option<NativeError>), NativeError>> {
        let of_program = |program: &&Program| -> Vec<_> {
            program.kernels.iter().map(|compiled| backend::rust::text(&compiled.kernel)).collect()
        };
        let texts: Vec<Vec<String>> = programs.iter().map(of_program).collect();
        let kernels = programs.iter().zip(&texts).map(|(program, texts)| {
            let kernels = program.kernels.iter().map(|compiled| &*compiled.kernel);
            texts.iter().map(String::as_str).zip(kernels).collect()
        });
        let natives = NativeKernel::compile_many(&kernels.collect::<Vec<_>>());
        let chain = |(program, natives): (&&Program, Result<Vec<NativeKernel>, NativeError>)| match natives {
            Ok(natives) => {
                let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
                let links = kernels.zip(natives).map(|(kernel, native)| Executable::of_native(kernel, native));
                Ok((Self::of_links(program, links.collect()), None))
            }
            Err(error) if error.is_missing_compiler() => {
                let (chain, reason) = Self::without_compiler(program, error);
                Ok((chain, Some(reason)))
            }
            Err(error) => Err(error),
        };
        programs.iter().zip(natives).map(chain).collect()
    }

    fn interpreted(program: &Program) -> Self {
        let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
        Self::of_links(program, kernels.map(Executable::interpreted).collect())
    }

    fn native(program: &Program) -> Result<Self, NativeError> {
        let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
        let texts: Vec<String> = kernels.clone().map(|kernel| backend::rust::text(&kernel)).collect();
        let links = Executable::native_all(kernels.zip(texts.iter().map(String::as_str)).collect())?;
        Ok(Self::of_links(program, links))
    }

    /// A program whose kernels run as machine code that is made without a Rust compiler.
    ///
    /// # Errors
    /// When none can be made of a kernel, or this crate was built without the feature `jit`.
    pub fn jit(program: &Program) -> Result<Self, Unsupported> {
        let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
        Ok(Self::of_links(program, kernels.map(Executable::jit).collect::<Result<_, _>>()?))
    }

    /// A program that runs without a Rust compiler, for which this is the reason.
    fn without_compiler(program: &Program, mut reason: NativeError) -> (Self, NativeError) {
        let mut links = Vec::with_capacity(program.kernels.len());
        for compiled in &program.kernels {
            let link;
            (link, reason) = Executable::without_compiler(compiled.kernel.clone(), reason);
            links.push(link);
        }
        let missing = Some(Arc::from(reason.to_string()));
        (Self { missing, ..Self::of_links(program, links) }, reason)
    }

    /// A program that runs natively or, on a machine without a Rust compiler, as machine code of the JIT, or in the interpreter where
    /// that can't be made: then with the reason, which the user should be told.
    ///
    /// # Errors
    /// When there is a compiler, and it can't compile the program.
    pub fn native_if_possible(program: &Program) -> Result<(Self, Option<NativeError>), NativeError> {
        match Self::native(program) {
            Ok(chain) => Ok((chain, None)),
            Err(error) if error.is_missing_compiler() => {
                let (chain, reason) = Self::without_compiler(program, error);
                Ok((chain, Some(reason)))
            }
            Err(error) => Err(error),
        }
    }

    /// A program that runs natively, where that is there; else as machine code until the Rust compiler has made native code in the
    /// background. Where no machine code is made, it begins in the interpreter if no kernel was ever compiled here, as the first takes ten
    /// times as long. Otherwise, or where there is no compiler, as [`Chain::native_if_possible`].
    ///
    /// # Errors
    /// As there.
    pub fn changing(program: &Program) -> Result<(Self, Option<NativeError>), NativeError> {
        if let (Tier::Rustc, _) = Self::expected(program) {
            let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone());
            let texts = kernels.map(|kernel| (kernel.clone(), backend::rust::text(&kernel)));
            if let Some(links) = Executable::changing_all(texts.collect(), !has_helpers()) {
                return Ok((Self::of_links(program, links), None));
            }
        }
        Self::native_if_possible(program)
    }

    /// A program of which something else has made executables, one for each of its kernels.
    pub fn of_links(program: &Program, links: Vec<Executable>) -> Self {
        let (declarations, results) = (program.declarations.clone(), program.results.clone());
        let whole = Whole::new(declarations, results, program.rounds.clone(), &links);
        Self { whole: Arc::new(whole), links, missing: None }
    }

    /// The same, where the interpreter cuts parallel loops and orders chunks as this seed says.
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.links = self.links.into_iter().map(|link| link.with_seed(seed)).collect();
        self
    }

    /// The kernels, in the order in which they run.
    pub fn links(&self) -> &[Executable] {
        &self.links
    }

    /// What the kernels are together: the parameters, and all dimensions.
    pub fn declarations(&self) -> &Kernel {
        &self.whole.declarations
    }

    /// The names of the results, in order.
    pub fn results(&self) -> &[String] {
        &self.whole.results
    }

    /// The same, for one who keeps them.
    pub(super) fn shared_results(&self) -> Arc<[String]> {
        Arc::clone(&self.whole.results)
    }

    /// What runs the kernels: the interpreter, if that runs one of them.
    pub fn backend(&self) -> Backend {
        let backends = || self.links.iter().map(Executable::backend);
        let interpreter = backends().find(|backend| *backend == Backend::Interpreter);
        interpreter.or(backends().next()).unwrap_or_default()
    }

    /// In which way the kernels run: the last of those that they do.
    pub fn tier(&self) -> Tier {
        self.links.iter().map(Executable::tier).max().unwrap_or(Tier::Interpreter)
    }

    /// Why they run in that way.
    pub fn tier_reason(&self) -> String {
        let native = self.links.iter().filter_map(Executable::native);
        let missing = self.missing.as_deref().or_else(|| native.filter_map(NativeKernel::missing).next());
        let obstacle = self.links.iter().filter_map(|link| link.changing()?.obstacle()).next();
        obstacle.unwrap_or_else(|| self.tier().reason(missing))
    }

    /// Waits for the Rust compiler where it is at work in the background.
    pub fn settle(&self) {
        self.links.iter().filter_map(Executable::changing).for_each(ChangingKernel::settle);
    }

    /// In which way a program would run on this machine's processor if nothing else is asked for, and why; no Rust compiler is run for
    /// it.
    pub fn expected(program: &Program) -> (Tier, String) {
        let kernels = program.kernels.iter().map(|compiled| &compiled.kernel);
        let texts: Vec<String> = kernels.clone().map(backend::rust::text).collect();
        let named: Vec<(&str, &Kernel)> =
            texts.iter().map(String::as_str).zip(kernels.map(|kernel| &**kernel)).collect();
        match NativeKernel::expected(&named) {
            Ok((tier, missing)) => (tier, tier.reason(missing.map(|missing| missing.to_string()).as_deref())),
            Err(error) => {
                let (chain, _) = Self::without_compiler(program, error);
                (chain.tier(), chain.tier_reason())
            }
        }
    }

    /// How long copies to a device and from it have taken since the kernels were made.
    pub fn copied(&self) -> (Duration, Duration) {
        let of_links = self.links.iter().filter_map(Executable::device).map(DeviceKernel::copied);
        of_links
            .fold(Default::default(), |(all_in, all_out), (copy_in, copy_out)| (all_in + copy_in, all_out + copy_out))
    }

    /// Pins the memory of a tensor where a device runs the kernels; whether all of it could be, else none is.
    pub(super) fn pin(&self, tensor: &AnyTensor) -> bool {
        let Some(device) = self.links.first().and_then(Executable::device).map(DeviceKernel::device) else {
            return false;
        };
        let arrays: Vec<&[u8]> = tensor.arrays().filter(|bytes| !bytes.is_empty()).collect();
        let pinned = arrays.iter().take_while(|bytes| device.pin(bytes)).count();
        if pinned < arrays.len() {
            arrays[..pinned].iter().for_each(|bytes| device.unpin(bytes));
        }
        pinned == arrays.len()
    }

    /// Ends what [`Chain::pin`] began.
    pub(super) fn unpin(&self, tensor: &AnyTensor) {
        if let Some(kernel) = self.links.first().and_then(Executable::device) {
            tensor.arrays().filter(|bytes| !bytes.is_empty()).for_each(|bytes| kernel.device().unpin(bytes));
        }
    }

    /// Pins what can be of some arrays, and says which.
    pub(super) fn pin_each<'a>(&self, arrays: impl Iterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
        let device = self.links.first().and_then(Executable::device).map(DeviceKernel::device);
        device.map(|device| arrays.filter(|bytes| device.pin(bytes)).collect()).unwrap_or_default()
    }

    /// Ends what [`Chain::pin_each`] began.
    pub(super) fn unpin_each(&self, arrays: &[&[u8]]) {
        if let Some(kernel) = self.links.first().and_then(Executable::device) {
            arrays.iter().for_each(|bytes| kernel.device().unpin(bytes));
        }
    }

    /// The kernel on a device that is all there is to run, if it is.
    fn only(&self) -> Option<&DeviceKernel> {
        match &self.links[..] {
            [link] if !self.whole.has_rounds() => link.device(),
            _ => None,
        }
    }

    /// Whether results of parts can stay on the device, where `combine` makes one of two.
    pub(super) fn accumulates(&self, combine: &Chain) -> bool {
        self.only().zip(combine.only()).is_some_and(|(kernel, combine)| kernel.accumulates(combine))
    }

    /// A call of the only kernel.
    pub(super) fn call(&self, inputs: &[&AnyTensor], stated: &[(&str, usize)]) -> Result<Call<'_>, Error> {
        let inputs = inputs.iter().map(|&input| Some(Operand::own(input.clone()))).collect();
        let flow = Flow::new(&self.whole, &self.links, inputs, stated, &New::default())?;
        if self.links.is_empty() {
            return Err(self.no_kernel());
        }
        let mut call = flow.call(0, true)?;
        call.allocate()?;
        Ok(call)
    }

    /// Runs a call and leaves its result on the device, combined with what is there.
    pub(super) fn run_onto(
        &self,
        call: &mut Call<'_>,
        combine: &Chain,
        so_far: &mut Option<Accumulated>,
    ) -> Result<Duration, Error> {
        let (kernel, combine) = self.only().zip(combine.only()).ok_or_else(|| self.no_kernel())?;
        kernel.run_onto(call, combine, so_far)
    }

    /// One result of two that stayed on the device where this makes it.
    pub(super) fn combine(&self, one: &Accumulated, other: &Accumulated) -> Result<(Accumulated, Duration), Error> {
        self.only().ok_or_else(|| self.no_kernel())?.combine(one, other)
    }

    /// The result that stayed on the device, as that of a call that has run.
    pub(super) fn fetch(&self, mut call: Call<'_>, result: Accumulated) -> Result<Vec<(String, AnyTensor)>, Error> {
        self.only().ok_or_else(|| self.no_kernel())?.fetch(&mut call, result)?;
        Ok(self.results().iter().cloned().zip(call.finish()?).collect())
    }

    fn no_kernel(&self) -> Error {
        let reason = "it has no kernel on a device".to_owned();
        Error::Declaration { kernel: self.whole.declarations.name.clone(), reason }
    }

    /// Runs the kernels on inputs in the order of their declaration, each `repeat` times but at least once. `stated` says extents of
    /// dimensions that no input determines, by name.
    ///
    /// # Errors
    /// When the inputs do not fit the declarations or each other, nothing says some extent, there is no memory, or a kernel
    /// stops.
    pub fn run(&self, inputs: &[&AnyTensor], stated: &[(&str, usize)], repeat: usize) -> Result<Outcome, Error> {
        let start = Instant::now();
        let copied = self.copied();
        let mut results = New::default();
        let flow = Flow::new(&self.whole, &self.links, lent(inputs, self.count()), stated, &results)?;
        let mut around = Around::default();
        let mut running = Duration::ZERO;
        let mut run_times = vec![Duration::ZERO; repeat.max(1)];
        let rounds = flow.run(Some(&mut around), &mut results, &mut |link, call| {
            let start = Instant::now();
            let done = self.links[link].run_each(call, &mut run_times);
            running += start.elapsed();
            done
        })?;
        let all = start.elapsed();
        around.other = all.saturating_sub(running + around.total());
        let (copy_in, copy_out) = self.copied();
        (around.copy_in, around.copy_out) = (copy_in - copied.0, copy_out - copied.1);
        let outputs = self.results().iter().cloned().zip(results.0).collect();
        Ok(Outcome { outputs, around, run_times, rounds, tier: self.tier(), reason: self.tier_reason() })
    }
}

impl Chain {
    pub(super) fn whole(&self) -> &Whole {
        &self.whole
    }

    /// The links, for a [`Flow`].
    pub(super) fn kernels(&self) -> &dyn Kernels {
        &self.links
    }

    /// How many tensors there are in all: inputs, and what the kernels make.
    pub(super) fn count(&self) -> usize {
        self.whole.count()
    }

    /// Runs the kernels once; the results go to `sink`. Gives how rounds went, where some kernels are repeated.
    pub(super) fn run_to<'i>(
        &'i self,
        inputs: Vec<Option<Operand<'i>>>,
        stated: &[(&str, usize)],
        sink: &mut dyn Sink,
    ) -> Result<Option<Repeated>, Error> {
        let flow = Flow::new(&self.whole, &self.links, inputs, stated, sink)?;
        flow.run(None, sink, &mut |link, call| self.links[link].run(call).map(drop))
    }

    /// How long each of some calls takes as a whole: checks, copies of operands, memory for results and what they begin as, the kernels,
    /// conversions of results. What is left out is giving memory back. The first call is not counted.
    ///
    /// # Errors
    /// As [`Chain::run`].
    pub(super) fn time_calls(
        &self,
        inputs: &[&AnyTensor],
        stated: &[(&str, usize)],
        memory: ResultMemory,
        repeat: usize,
    ) -> Result<Vec<Duration>, Error> {
        let run = |sink: &mut dyn Sink| self.run_to(lent(inputs, self.count()), stated, sink);
        let mut results = New::default();
        run(&mut results)?;
        let mut times = Vec::with_capacity(repeat);
        for _ in 0..repeat {
            match memory {
                ResultMemory::New => {
                    results.0.clear();
                    let start = Instant::now();
                    run(&mut results)?;
                    times.push(start.elapsed());
                }
                ResultMemory::Reused => {
                    let mut targets: Vec<&mut dyn Value> = results.0.iter_mut().map(|result| result as _).collect();
                    let start = Instant::now();
                    run(&mut Reused(&mut targets))?;
                    times.push(start.elapsed());
                }
            }
        }
        Ok(times)
    }
}

impl Kernels for Vec<Executable> {
    fn count(&self) -> usize {
        self.len()
    }

    fn kernel(&self, number: usize) -> &Kernel {
        self[number].kernel()
    }
}
