//! From a checked kernel and named inputs to named results: what `spc run` does, and what a program does that reads its
//! kernels at run time.
//!
//! ```text
//! notation::Kernel ─schedule─▶ loops ──┐                     sizes known: rows of short dense modes become
//! named inputs ─────extents────────────┴─compile─▶ Program   arrays of a fixed length, worth up to twice the speed
//!              └────pack───────────────────────────────┘
//! ```
//!
//! ```
//! use spc::execute::{Operand, Program, ProgramOptions};
//! use spc::tensor::{Coordinates, Indices};
//! use spc_compiler::{notation, syntax};
//!
//! let text = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
//! let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
//! let indices = vec![Indices::U32(vec![0, 1, 1]), Indices::U32(vec![1, 0, 2])];
//! let a = Coordinates { shape: vec![2, 3], shape_is_stated: true, indices, values: vec![2.0, 3.0, 4.0] };
//! let inputs = vec![("A".to_owned(), a.into()), ("x".to_owned(), Operand::Ones)];
//!
//! let program = Program::new(&kernels[0], inputs, &[], &ProgramOptions::default())?;
//! let outcome = program.run(1)?;
//! assert_eq!(outcome.outputs[0].1.values_of::<f64>(), Some(&[2.0, 7.0][..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assumed;
mod extents;
mod full;
mod operand;
mod pattern;
mod uncompiled;

pub use assumed::AssumedExtent;
pub use operand::{Entries, Operand};
pub use uncompiled::Uncompiled;

use super::iterate;
use super::options::{self, ProgramOptions};
use super::planning;
use super::tuned::Sizes;
use super::{
    Backend, Chain, Error, Kernel, NativeError, Outcome, Prepared, ProgramError, ResultMemory, Spent, StreamOptions,
    Streamed, Tier, Way,
};
use crate::tensor::AnyTensor;
use spc_compiler::concrete::{self, Target, TensorKind};
use spc_compiler::diagnostics::{Diagnostic, suggest};
use spc_compiler::ir::Repetition;
use spc_compiler::notation;
use spc_compiler::plan::{Facts, Planned};
use spc_compiler::schedule;
use spc_compiler::schedule::Stream;
use spc_compiler::syntax::{self, Schedule};
use std::time::Duration;

/// A kernel that is compiled for the sizes of its inputs, and the inputs in the formats that it declares.
#[derive(Debug)]
pub struct Program {
    kernel: Kernel,
    /// What runs it on parts of an input, where one comes in parts.
    parts: Option<Box<Streamed>>,
    inputs: Vec<AnyTensor>,
    /// Extents that no input determines.
    dimensions: Vec<(String, usize)>,
    assumed: Vec<AssumedExtent>,
    sizes: Sizes,
    /// The plan that was taken, and what it was made from.
    planned: Option<(Planned, Facts)>,
    plan_time: Duration,
    /// The parameters of which the text says how large they are.
    hinted: Vec<notation::Tensor>,
    tuned: Option<Schedule>,
    warnings: Vec<Diagnostic>,
    prepared: Vec<Prepared>,
    compare_time: Duration,
    compile_time: Duration,
}

impl Program {
    /// Finds out the extents, packs the inputs into the declared formats, and compiles the kernel for those extents.
    /// `dimensions` states extents of index variables by name.
    ///
    /// # Errors
    /// When the kernel can't be scheduled; an input is missing, unknown or does not fit; extents disagree, or nothing says
    /// one; or the kernel can't be compiled.
    pub fn new(
        kernel: &notation::Kernel,
        inputs: Vec<(String, Operand)>,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        Uncompiled::new(kernel, inputs, dimensions, options)?.compile()
    }

    /// Runs the kernel, more than once where its time is to be measured; at least once.
    ///
    /// # Errors
    /// When there is no memory for the outputs, they do not fit their index widths, or the kernel stops.
    pub fn run(&self, repeat: usize) -> Result<Outcome, ProgramError> {
        let inputs: Vec<&AnyTensor> = self.inputs.iter().collect();
        let dimensions: Vec<(&str, usize)> =
            self.dimensions.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
        match &self.parts {
            None => Ok(self.kernel.measure(&inputs, &dimensions, repeat)?),
            Some(streamed) => Ok(streamed.run(&inputs, &dimensions, repeat)?),
        }
    }

    /// Runs the kernel again and again, each time on results of the time before; [`Outcome::rounds`] says how often.
    ///
    /// ```
    /// use spc::execute::{Operand, Program, ProgramOptions, Repetition};
    /// use spc_compiler::{notation, syntax};
    ///
    /// // Newton's method for the square root of 2.
    /// let text = "fn newton(x: f64) -> (y: f64, change: f64) { y = (x + 2 / x) / 2; change = abs(y - x); }";
    /// let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
    /// let inputs = vec![("x".to_owned(), Operand::Ones)];
    /// let program = Program::new(&kernels[0], inputs, &[], &ProgramOptions::default())?;
    /// let feeds = vec![("x".to_owned(), "y".to_owned())];
    /// let found = program.iterate(&Repetition { feeds, most: 20, limit: None, until: Some("change < 1e-9".parse()?) })?;
    /// let rounds = found.rounds.unwrap();
    /// assert!(rounds.is_met && rounds.steps == 5);
    /// let root = found.outputs[0].1.values_of::<f64>().unwrap()[0];
    /// assert!((root - 2f64.sqrt()).abs() < 1e-15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Program::run`]; when an input or a result is unknown, or they have other formats or element types; when the rule sees NaN.
    pub fn iterate(&self, repetition: &Repetition) -> Result<Outcome, ProgramError> {
        if self.parts.is_some() {
            let message = "a kernel that runs on its results has all its inputs in memory, and one comes in parts";
            return Err(ProgramError::Repetition(message.to_owned()));
        }
        let stated: Vec<(&str, usize)> =
            self.dimensions.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
        iterate::iterate(self.kernel.chain(), &self.inputs, &stated, repetition)
    }

    /// How long each of some calls takes as a whole, after one that is not counted: with checks, copies of operands, memory for results
    /// and what they begin as, the kernels, and conversions of results; giving memory back is left out. Nothing where an input comes in parts.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub fn time_calls(&self, memory: ResultMemory, repeat: usize) -> Result<Option<Vec<Duration>>, ProgramError> {
        if self.parts.is_some() {
            return Ok(None);
        }
        let inputs: Vec<&AnyTensor> = self.inputs.iter().collect();
        let stated: Vec<(&str, usize)> =
            self.dimensions.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
        Ok(Some(self.kernel.time_calls(&inputs, &stated, memory, repeat)?))
    }

    /// The kernel, to be called with other inputs of the same extents where its loops are for these alone.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What is compiled: the kernels at every stage, with the scheduler's decisions.
    pub fn compiled(&self) -> &spc_compiler::Program {
        self.kernel.compiled()
    }

    /// The kernels as what runs them: CUDA C for a GPU, else Rust.
    pub fn text(&self) -> String {
        self.kernel.text()
    }

    /// The modes of inputs that do not state their shape.
    pub fn assumed_extents(&self) -> &[AssumedExtent] {
        &self.assumed
    }

    /// The plan that was taken, where another than the text was: see [`plan`](mod@spc_compiler::plan).
    pub fn planned(&self) -> Option<&Planned> {
        self.planned.as_ref().map(|(planned, _)| planned)
    }

    /// What the plan was made from, where one was taken.
    pub fn facts(&self) -> Option<&Facts> {
        self.planned.as_ref().map(|(_, facts)| facts)
    }

    /// The hints in the text that are ten times more or less than what the inputs have, a line each.
    pub fn wrong_hints(&self) -> Vec<String> {
        planning::all_wrong_hints(&self.hinted, self.inputs())
    }

    /// How long it took to look at the entries of inputs and to plan.
    pub fn plan_time(&self) -> Duration {
        self.plan_time
    }

    /// The schedule that was remembered and taken, where one was.
    pub fn tuned(&self) -> Option<&Schedule> {
        self.tuned.as_ref()
    }

    /// What is probably not meant in the kernel, by position; spans are those of the text that it was checked from.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    pub(super) fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The inputs in the formats that the kernel declares, with their names.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &AnyTensor)> {
        self.kernel.compiled().interface.tensors.iter().map(|tensor| tensor.name.as_str()).zip(&self.inputs)
    }

    /// What runs the kernel.
    pub fn backend(&self) -> Backend {
        self.kernel.backend()
    }

    /// Why the kernel runs in the interpreter, where that was not asked for.
    pub fn fallback(&self) -> Option<&NativeError> {
        self.kernel.fallback()
    }

    /// Why no code of a Rust compiler runs it, where something else does that nobody asked for.
    pub fn without_compiler(&self) -> Option<&NativeError> {
        self.kernel.without_compiler()
    }

    /// In which of the ways to run a kernel it runs.
    pub fn tier(&self) -> Tier {
        self.kernel.tier()
    }

    /// Why in that one.
    pub fn tier_reason(&self) -> String {
        self.kernel.tier_reason()
    }

    /// The inputs that were packed, converted or made up in the formats that the kernel declares.
    pub fn prepared(&self) -> &[Prepared] {
        &self.prepared
    }

    /// How long it took to bring inputs into the formats that the kernel declares in one way.
    pub fn prepare_time(&self, way: Way) -> Duration {
        self.prepared.iter().filter(|prepared| prepared.way == way).map(|prepared| prepared.copied.time).sum()
    }

    /// How long it took to pack the inputs into the formats that the kernel declares: entries alone, without
    /// [conversions](Program::prepare_time) of tensors.
    pub fn pack_time(&self) -> Duration {
        self.prepare_time(Way::Packed)
    }

    /// How long it took to find out which inputs have their entries at the same places.
    pub fn compare_time(&self) -> Duration {
        self.compare_time
    }

    /// What was spent in the last run on an input that came in parts: see [`Spent`]; nothing where all came whole.
    pub fn spent(&self) -> Option<Spent> {
        self.parts.as_ref()?.spent()
    }

    /// How long it took to schedule, lower and compile the kernel.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// Where the kernel runs, in words: on so many threads, on which GPU.
    pub fn place(&self) -> String {
        self.kernel.place()
    }

    /// Whether the native code had been compiled before.
    pub fn from_cache(&self) -> bool {
        self.kernel.from_cache()
    }
}

/// The kernel as something else has changed it, scheduled, with its extents; nothing where it takes other inputs than before, or can't be
/// scheduled.
fn again(
    changed: &notation::Kernel,
    before: &schedule::Program,
    operands: &[Option<Operand>],
    dimensions: &[(String, usize)],
    options: &ProgramOptions,
) -> Option<(schedule::Program, Vec<usize>)> {
    let program = schedule::schedule(changed, options.scheduling()).ok()?;
    let inputs = |program: &schedule::Program| -> Vec<_> {
        program.interface.tensors.iter().map(|tensor| (tensor.name.clone(), tensor.format.clone())).collect()
    };
    let is_known = |(name, _): &&(String, usize)| program.interface.extents_called(name).is_ok();
    let dimensions: Vec<(String, usize)> = dimensions.iter().filter(is_known).cloned().collect();
    let extents = extents::resolve(&program.interface, operands, &dimensions).ok()?;
    (inputs(&program) == inputs(before) && program.results == before.results).then_some((program, extents))
}

/// The input that comes in parts, by the options or else by the kernel's schedule.
fn stream(
    kernel: &notation::Kernel,
    of_schedule: Option<&Stream>,
    options: &ProgramOptions,
) -> Result<Option<(Stream, StreamOptions)>, Error> {
    if let Some(asked) = &options.stream {
        return Ok(Some((super::stream::of_options(kernel, asked)?, asked.clone())));
    }
    let asked = |stream: &Stream| {
        let parts = usize::try_from(stream.parts).unwrap_or(usize::MAX);
        (stream.clone(), StreamOptions::new(stream.tensor.clone(), parts))
    };
    Ok(of_schedule.map(asked))
}

/// The kernels in lanes: on the processor, where kernels are parallel themselves, in one.
fn lanes(
    compiled: &spc_compiler::Program,
    first: Chain,
    asked: &StreamOptions,
    options: &ProgramOptions,
) -> Result<Vec<Chain>, Error> {
    let count = if first.backend() == Backend::Cuda { asked.lanes.min(asked.parts).max(1) } else { 1 };
    let others = (1..count).map(|lane| options::runner(compiled, Backend::Cuda, options, lane));
    std::iter::once(Ok(first)).chain(others).collect()
}

/// What combines results of parts on the device of each lane; nothing where none has a device.
fn combinations(stream: &Stream, lanes: usize, options: &ProgramOptions) -> Result<Vec<Chain>, Error> {
    if options.target() == Target::Cpu {
        return Ok(Vec::new());
    }
    let program = Streamed::combination(stream, Target::Gpu)?;
    let chains = (0..lanes).map(|lane| options::runner(&program, Backend::Cuda, options, lane));
    // What can't run on a device is combined on the host.
    Ok(chains.collect::<Result<_, Error>>().unwrap_or_default())
}

/// What combines results of parts on the host.
pub(crate) fn combination(stream: &Stream, options: &ProgramOptions) -> Result<Chain, Error> {
    let program = Streamed::combination(stream, Target::Cpu)?;
    match options.backend {
        Some(backend @ (Backend::Interpreter | Backend::Jit)) => Chain::new(&program, backend),
        _ => Ok(Chain::native_if_possible(&program)?.0),
    }
}

/// The operands at the places of their tensors.
fn by_tensor(kernel: &concrete::Kernel, inputs: Vec<(String, Operand)>) -> Result<Vec<Option<Operand>>, ProgramError> {
    let declared = || kernel.tensors.iter().filter(|tensor| tensor.kind == TensorKind::Input);
    let mut operands: Vec<Option<Operand>> = vec![None; kernel.tensors.len()];
    for (name, operand) in inputs {
        let name = syntax::normalized(&name);
        let is_it = |tensor: &concrete::Tensor| tensor.kind == TensorKind::Input && tensor.name == name;
        let Some(place) = kernel.tensors.iter().position(is_it) else {
            let known = || declared().map(|tensor| tensor.name.as_str());
            let similar = suggest::similar(&name, known()).map(str::to_owned);
            return Err(ProgramError::NoSuchInput { name, similar, known: known().map(str::to_owned).collect() });
        };
        operand.check(&name, &kernel.tensors[place].format)?;
        let operand = operand.fitted(&name, &kernel.tensors[place].format)?;
        if operands[place].replace(operand).is_some() {
            return Err(ProgramError::GivenTwice { name });
        }
    }
    let missing = |(tensor, operand): &(&concrete::Tensor, &Option<Operand>)| {
        tensor.kind == TensorKind::Input && operand.is_none()
    };
    match kernel.tensors.iter().zip(&operands).find(missing) {
        Some((tensor, _)) => Err(ProgramError::NoInput { name: tensor.name.clone() }),
        None => Ok(operands),
    }
}

/// The extents that no input determines, by the names that the kernel has for them.
fn undetermined(kernel: &concrete::Kernel, extents: &[usize]) -> Vec<(String, usize)> {
    let inputs = || kernel.tensors.iter().filter(|tensor| tensor.kind == TensorKind::Input);
    let determined = |place: usize| inputs().any(|tensor| tensor.extents.contains(&place));
    let all = kernel.extents.iter().zip(extents).enumerate();
    all.filter(|(place, (extent, _))| !determined(*place) && extent.of.is_none())
        .map(|(_, (known, &extent))| (known.name.clone(), extent))
        .collect()
}
