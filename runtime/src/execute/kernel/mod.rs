//! Kernels that are compiled once and called with new inputs.
//!
//! ```text
//! text, formats ──Kernel::compile──▶ Kernel ──call──▶ Outputs          each call takes extents from its inputs
//!                                      ▲  └──call_into──▶ memory that is there
//!                  inputs ─────────────┘
//! ```

mod input;
mod output;

pub(super) use input::scalar;
pub use input::{Argument, Input};
pub use output::{Outputs, Targets};

use super::iterate;
use super::options::{fix_vector_extents, runner};
use super::planning;
use super::stack::with_stack_for;
use super::value::{New, Reused, Sink};
use super::{
    Backend, Chain, Error, Executable, NativeError, NativeKernel, Outcome, Planning, ProgramError, ProgramOptions,
    Repeated, ResultMemory, Tier,
};
use crate::parallel;
use crate::tensor::AnyTensor;
#[cfg(not(feature = "pretty"))]
use spc_compiler::diagnostics::line_and_column;
#[cfg(feature = "pretty")]
use spc_compiler::diagnostics::render::render;
use spc_compiler::diagnostics::{Diagnostic, Diagnostics, suggest};
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::{Repetition, Source, Tensor};
use spc_compiler::notation::{self, FormatOption};
use spc_compiler::plan::Planned;
use spc_compiler::schedule;
use spc_compiler::{Compiled, backend, syntax};
use std::time::{Duration, Instant};

/// A kernel that is compiled: call it with any inputs in its formats, as often as you like, from any thread.
///
/// ```
/// use spc::execute::Kernel;
/// use spc::tensor::{Csr, Dense, Tensor};
///
/// let spmv = Kernel::compile("y(i) = A(i, j) * x(j)", &[("A", "csr")])?;
/// let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0)])?;
/// let x = vec![1.0, 10.0, 100.0];
///
/// let y: Tensor<f64, Dense<1>> = spmv.call(&[&a, &x])?.single()?;
/// assert_eq!(y.values(), [20.0, 403.0]);
///
/// let mut y = y; // by name, and into memory that is there
/// spmv.call_named_into(&[("x", &x), ("A", &a)], &mut y)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The text is an assignment, as above, or a whole kernel that declares its formats: `fn spmv(A: csr, x: f32 dense) -> y: dense { … }`.
/// In an assignment, inputs go in order of appearance, and what has no format is `dense` with elements `f64`. Inputs are whatever is
/// an [`Input`]: tensors, views, vectors, numbers, and with features of their names the arrays of other crates.
///
/// A call costs about a microsecond besides the work (`cargo run --release -p spc-tensor --example call_cost` measures it). Inputs are neither copied nor converted: one in another format is an error.
/// Extents are those of the inputs of the call; one that no input has is said by [`KernelBuilder::dimension`].
#[derive(Debug)]
pub struct Kernel {
    compiled: spc_compiler::Program,
    chain: Chain,
    /// Extents that are said beforehand.
    stated: Vec<(String, usize)>,
    /// Where there are threads of its own.
    pool: Option<rayon::ThreadPool>,
    fallback: Option<NativeError>,
    warnings: Vec<Diagnostic>,
    for_cuda: backend::cuda::Options,
    compile_time: Duration,
}

/// What a kernel is compiled from and how; begun by [`Kernel::builder`].
///
/// ```
/// use spc::execute::{Backend, Kernel};
///
/// let kernel = Kernel::builder("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)")
///     .format("X", "csf")
///     .dimension("r", 16)
///     .backend(Backend::Interpreter)
///     .compile()?;
/// assert_eq!(kernel.inputs().collect::<Vec<_>>(), ["X", "B", "C"]);
/// # Ok::<(), spc::execute::ProgramError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct KernelBuilder {
    text: String,
    formats: Vec<(String, String)>,
    dimensions: Vec<(String, usize)>,
    threads: Option<usize>,
    options: ProgramOptions,
}

impl KernelBuilder {
    /// How a tensor of an assignment is stored: `csr`, `f32 dense`, `[dense, compressed(u64, pos = u64)]`.
    pub fn format(mut self, tensor: impl Into<String>, format: impl Into<String>) -> Self {
        self.formats.push((tensor.into(), format.into()));
        self
    }

    /// The extent of an index. One that no input has must be said; a short one that is known beforehand makes vector loops over it
    /// faster, and inputs must have it.
    pub fn dimension(mut self, index: impl Into<String>, extent: usize) -> Self {
        self.dimensions.push((index.into(), extent));
        self
    }

    /// What runs the kernel; if it is not said, native code where there is a Rust compiler, else the interpreter.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.options.backend = Some(backend);
        self
    }

    /// How many threads of its own the kernel runs on; if it is not said, those of the rayon pool that it is called in. A call then
    /// goes to these threads and back, which takes some microseconds.
    pub fn threads(mut self, count: usize) -> Self {
        self.threads = Some(count);
        self
    }

    /// A kernel that was not compiled before runs as machine code until native code was made in the background: see
    /// [`ProgramOptions::background`].
    ///
    /// ```
    /// use spc::execute::{Kernel, Tier};
    ///
    /// let kernel = Kernel::builder("fn f(x: dense) -> s: f64 { s = sum(i)(2 * x(i)); }").background().compile()?;
    /// let mut s = 0.0;
    /// kernel.call_into(&[&[1.0, 2.0]], &mut s)?;
    /// assert_eq!(s, 6.0);
    /// kernel.settle();
    /// kernel.call_into(&[&[1.0, 2.0]], &mut s)?;
    /// assert_eq!(s, 6.0);
    /// assert!(kernel.tier() <= Tier::Rustc, "{}", kernel.tier_reason());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn background(mut self) -> Self {
        self.options.background = true;
        self
    }

    /// Every call with the same inputs gives the same bits, on any number of threads.
    pub fn deterministic(mut self) -> Self {
        self.options.deterministic = true;
        self
    }

    /// Whether the kernel is computed by the plan that costs least, as far as its text tells, or as it is written.
    pub fn plan(mut self, plan: Planning) -> Self {
        self.options.plan = plan;
        self
    }

    /// The bytes that temporaries of a plan may take together.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.options.memory = Some(bytes);
        self
    }

    /// Which GPU runs the kernel, counted from 0, with [`Backend::Cuda`].
    pub fn device(mut self, device: usize) -> Self {
        self.options.devices = vec![device];
        self
    }

    /// Compiles the kernel.
    ///
    /// # Errors
    /// When the text or a format is wrong, with the place; it can't be scheduled or compiled; it has no such index; or the system
    /// refuses the threads.
    pub fn compile(self) -> Result<Kernel, ProgramError> {
        self.compile_for(None)
    }

    /// What computes the derivatives by some inputs of what the results are for: a kernel that takes the inputs of this one that it reads and
    /// `dy` for each result `y`, and gives `dA` for each input `A` of `by`. See [`notation::gradient`].
    ///
    /// ```
    /// use spc::execute::{Backend, Kernel};
    /// use spc::tensor::{Dense, Tensor};
    ///
    /// let kernel = Kernel::builder("f = w(i) * x(i) * x(i)").backend(Backend::Interpreter);
    /// let gradient = kernel.gradient(&["x"])?.compile()?;
    /// assert_eq!(gradient.inputs().collect::<Vec<_>>(), ["w", "x", "df"]);
    /// let dx: Tensor<f64, Dense<1>> = gradient.call(&[&vec![1.0, 2.0], &vec![3.0, 4.0], &1.0])?.single()?;
    /// assert_eq!(dx.values(), [6.0, 16.0]);
    /// # Ok::<(), spc::execute::ProgramError>(())
    /// ```
    ///
    /// # Errors
    /// As [`KernelBuilder::checked`], and when there is no gradient.
    pub fn gradient(&self, by: &[&str]) -> Result<Self, ProgramError> {
        let kernel = self.checked()?;
        let text = notation::gradient(&kernel, by);
        let text = text.map_err(|found| ProgramError::Text(rendered(&self.text, "<kernel>", found)))?;
        Ok(Self { text, formats: Vec::new(), ..self.clone() })
    }

    /// The text that is compiled.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The kernel as its text and formats say it, and not compiled: for a [`Problem`](crate::distribute::Problem), say.
    ///
    /// # Errors
    /// When the text or a format is wrong, with the place.
    pub fn checked(&self) -> Result<notation::Kernel, ProgramError> {
        parsed(&self.text, &self.formats)
    }

    /// Compiles the kernel, with loops for a GPU, and has `link` make what runs them: for a [device](crate::execute::device::Device) of
    /// one's own.
    ///
    /// # Errors
    /// As [`compile`](KernelBuilder::compile), and those of `link`.
    pub fn compile_on(mut self, link: Link<'_>) -> Result<Kernel, ProgramError> {
        self.options.backend = Some(Backend::Cuda);
        self.compile_for(Some(link))
    }

    fn compile_for(self, link: Option<Link<'_>>) -> Result<Kernel, ProgramError> {
        let kernel = parsed(&self.text, &self.formats)?;
        let pool = self.threads.map(parallel::pool).transpose();
        let pool = pool.map_err(|source| ProgramError::Threads { source })?;
        let made = with_stack_for(&kernel, || Kernel::linked(&kernel, &self.dimensions, &self.options, link));
        let source = |error| match error {
            ProgramError::Schedule(found) => ProgramError::Text(rendered(&self.text, "<kernel>", found)),
            other => other,
        };
        Ok(Kernel { pool, ..made.map_err(source)? })
    }
}

/// Makes what runs a compiled program.
pub type Link<'a> = &'a (dyn Fn(&spc_compiler::Program) -> Result<Chain, Error> + Sync);

/// The one kernel of a text.
fn parsed(text: &str, formats: &[(String, String)]) -> Result<notation::Kernel, ProgramError> {
    // An assignment has no braces, and whatever declares formats has.
    if !text.contains('{') {
        return assignment(text, formats);
    }
    let refuse = |found| ProgramError::Text(rendered(text, "<kernel>", found));
    let kernels = syntax::parse_program(text).and_then(|program| notation::check(&program)).map_err(refuse)?;
    if let Some((tensor, _)) = formats.first() {
        return Err(ProgramError::FormatTwice { tensor: tensor.clone() });
    }
    let names = kernels.iter().map(|kernel| kernel.name.clone()).collect();
    match <[notation::Kernel; 1]>::try_from(kernels) {
        Ok([kernel]) => Ok(kernel),
        Err(_) => Err(ProgramError::NotOneKernel { names }),
    }
}

fn assignment(text: &str, formats: &[(String, String)]) -> Result<notation::Kernel, ProgramError> {
    let mut options = Vec::new();
    for (tensor, format) in formats {
        let origin = format!("<format of {tensor}>");
        let declaration = syntax::parse_parameter_format(format);
        let declaration = declaration.map_err(|found| ProgramError::Text(rendered(format, &origin, found)))?;
        options.push(FormatOption::new(tensor, declaration));
    }
    let refuse = |found| ProgramError::Text(rendered(text, "<kernel>", found));
    let statement = syntax::parse_statement(text).map_err(refuse)?;
    let none = syntax::Program::default();
    notation::check_expression(&statement, &options, &Definitions::of_program(&none)).map_err(|found| {
        let of_options = formats.iter().zip(found.options);
        let mut parts = vec![rendered(text, "<kernel>", found.expression)];
        parts.extend(of_options.map(|((tensor, text), found)| rendered(text, &format!("<format of {tensor}>"), found)));
        parts.retain(|part| !part.is_empty());
        ProgramError::Text(parts.join("\n"))
    })
}

/// What is wrong with a text, for people.
#[cfg(feature = "pretty")]
pub(crate) fn rendered(text: &str, origin: &str, found: Diagnostics) -> String {
    render(text, origin, &found.into_sorted(), false).trim_end().to_owned()
}

/// A line for each problem.
#[cfg(not(feature = "pretty"))]
pub(crate) fn rendered(text: &str, origin: &str, found: Diagnostics) -> String {
    let line = |found: &Diagnostic| {
        let (line, column) = line_and_column(text, found.span.start);
        let help: String = found.help.iter().map(|help| format!("; {help}")).collect();
        format!("{origin}:{line}:{column}: {}: {}: {}{help}", found.code, found.message, found.label)
    };
    found.into_sorted().iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Kernel {
    /// Compiles a kernel: an assignment with the formats of its tensors by name, or a text that declares them, with none.
    ///
    /// # Errors
    /// As [`KernelBuilder::compile`].
    pub fn compile(text: &str, formats: &[(&str, &str)]) -> Result<Self, ProgramError> {
        formats.iter().fold(Self::builder(text), |builder, (tensor, format)| builder.format(*tensor, *format)).compile()
    }

    /// A kernel of this text, with more to be said of it.
    pub fn builder(text: impl Into<String>) -> KernelBuilder {
        let (formats, dimensions) = (Vec::new(), Vec::new());
        KernelBuilder { text: text.into(), formats, dimensions, threads: None, options: ProgramOptions::default() }
    }

    /// A kernel that has been checked, with the extents that are known by name.
    ///
    /// # Errors
    /// When it can't be scheduled or compiled, or has no such index.
    pub fn of_notation(
        kernel: &notation::Kernel,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
    ) -> Result<Self, ProgramError> {
        Self::linked(kernel, dimensions, options, None)
    }

    fn linked(
        kernel: &notation::Kernel,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
        link: Option<Link<'_>>,
    ) -> Result<Self, ProgramError> {
        let start = Instant::now();
        let planned = planning::by_text(kernel, dimensions, options);
        let scheduled = |planned: &Planned| schedule::schedule(&planned.kernel, options.scheduling()).ok();
        let keeps_names = |program: &schedule::Program| {
            dimensions.iter().all(|(name, _)| program.interface.extents_called(name).is_ok())
        };
        let planned = planned.as_ref().and_then(scheduled).filter(keeps_names);
        let mut concrete = match planned {
            Some(concrete) => concrete,
            None => schedule::schedule(kernel, options.scheduling()).map_err(ProgramError::Schedule)?,
        };
        let mut extents = vec![None; concrete.interface.extents.len()];
        for (name, extent) in dimensions {
            let places =
                concrete.interface.extents_called(name).map_err(|known| ProgramError::no_such_index(name, &known))?;
            places.into_iter().for_each(|place| extents[place] = Some(*extent));
        }
        fix_vector_extents(&mut concrete, &extents);
        let named = concrete.interface.extents.iter().zip(&extents);
        let stated = named.filter_map(|(known, extent)| Some((known.name.clone(), (*extent)?))).collect();
        let made = Self::of_concrete(concrete, options, link)?;
        Ok(Self { stated, warnings: kernel.warnings.clone(), compile_time: start.elapsed(), ..made })
    }

    /// A kernel that has been scheduled.
    pub(super) fn of_concrete(
        concrete: schedule::Program,
        options: &ProgramOptions,
        link: Option<Link<'_>>,
    ) -> Result<Self, ProgramError> {
        let start = Instant::now();
        let compiled = spc_compiler::compile(concrete).map_err(ProgramError::Schedule)?;
        let (chain, fallback) = match (link, options.backend) {
            (Some(link), _) => (link(&compiled)?, None),
            (None, None) if options.background => Chain::changing(&compiled)?,
            (None, None) => Chain::native_if_possible(&compiled)?,
            (None, Some(backend)) => (runner(&compiled, backend, options, 0)?, None),
        };
        Ok(Self::of_chain(compiled, (chain, fallback), options, start.elapsed()))
    }

    /// A kernel that something else has compiled in so long, with the reason if that is the interpreter.
    pub(super) fn of_chain(
        compiled: spc_compiler::Program,
        (chain, fallback): (Chain, Option<NativeError>),
        options: &ProgramOptions,
        compile_time: Duration,
    ) -> Self {
        Self {
            compiled,
            chain,
            stated: Vec::new(),
            pool: None,
            fallback,
            warnings: Vec::new(),
            for_cuda: options.cuda(),
            compile_time,
        }
    }

    /// Calls the kernel with inputs in the order of its parameters.
    ///
    /// # Errors
    /// When there are too few or too many; one has another format, element type or number of modes; extents disagree, or nothing says
    /// one; there is no memory for the outputs; or the kernel stops.
    pub fn call(&self, inputs: &[&dyn Input]) -> Result<Outputs, ProgramError> {
        let mut results = New(Vec::with_capacity(self.chain.results().len()));
        let rounds = self.run(inputs, &mut results)?;
        Ok(Outputs::new(self.chain.shared_results(), results.0, rounds))
    }

    /// The same with inputs by name, in any order.
    ///
    /// # Errors
    /// As [`Kernel::call`]; also when there is no parameter of a name, or two inputs for one.
    pub fn call_named(&self, inputs: &[(&str, &dyn Input)]) -> Result<Outputs, ProgramError> {
        self.call(&self.in_order(inputs)?)
    }

    /// Calls the kernel and writes its results into tensors or numbers that are there: `&mut y`, or `(&mut y, &mut z)` in the order
    /// of the results. What they hold before does not matter, only their shape, format and element type.
    ///
    /// ```
    /// use spc::execute::Kernel;
    /// use spc::tensor::{Dense, Tensor};
    ///
    /// let kernel = Kernel::compile("fn f(x: dense) -> (y: dense, s: f64) { y(i) = 2 * x(i); s = sum(i)(x(i)); }", &[])?;
    /// let (mut y, mut s) = (Tensor::<f64, Dense<1>>::zeros([3])?, 0.0);
    /// kernel.call_into(&[&[1.0, 2.0, 3.0]], (&mut y, &mut s))?;
    /// assert_eq!((y.values(), s), (&[2.0, 4.0, 6.0][..], 6.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Kernel::call`]; also when a target does not fit its result. Targets that are refused are as they were.
    pub fn call_into<'t>(&self, inputs: &[&dyn Input], targets: impl Targets<'t>) -> Result<(), ProgramError> {
        let mut targets = targets.targets();
        let expected = self.chain.results();
        if targets.len() != expected.len() {
            let (expected, found) = (expected.to_vec(), targets.len());
            return Err(ProgramError::Targets { kernel: self.name().to_owned(), expected, found });
        }
        self.run(inputs, &mut Reused(&mut targets)).map(drop)
    }

    /// The same with inputs by name, in any order.
    ///
    /// # Errors
    /// As [`Kernel::call_into`] and [`Kernel::call_named`].
    pub fn call_named_into<'t>(
        &self,
        inputs: &[(&str, &dyn Input)],
        targets: impl Targets<'t>,
    ) -> Result<(), ProgramError> {
        self.call_into(&self.in_order(inputs)?, targets)
    }

    /// Calls the kernel again and again, each time on results of the time before; [`Outcome::rounds`] says how often.
    ///
    /// # Errors
    /// As [`Kernel::call`]; when an input or a result is unknown, or they have other formats or element types; when the rule sees NaN.
    pub fn iterate(&self, inputs: &[&dyn Input], repetition: &Repetition) -> Result<Outcome, ProgramError> {
        let declarations = self.chain.declarations();
        let mut tensors = Vec::with_capacity(inputs.len());
        for (place, input) in inputs.iter().enumerate() {
            let declared = declarations.tensors.get(place).filter(|tensor| tensor.source == Source::Input);
            tensors.push(input::operand(*input, declared)?.into_owned());
        }
        let stated: Vec<(&str, usize)> = self.stated.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
        let run = || iterate::iterate(&self.chain, &tensors, &stated, repetition);
        match &self.pool {
            Some(pool) => pool.install(run),
            None => run(),
        }
    }

    /// Runs the kernel on tensors that have its formats; the results go to `sink`.
    fn run(&self, inputs: &[&dyn Input], sink: &mut dyn Sink) -> Result<Option<Repeated>, ProgramError> {
        let declarations = self.chain.declarations();
        let mut tensors = Vec::with_capacity(self.chain.count().max(inputs.len()));
        for (place, input) in inputs.iter().enumerate() {
            let declared = declarations.tensors.get(place).filter(|tensor| tensor.source == Source::Input);
            tensors.push(Some(input::operand(*input, declared)?));
        }
        let stated: Vec<(&str, usize)> = self.stated.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
        let run = || self.chain.run_to(tensors, &stated, sink);
        match &self.pool {
            Some(pool) => Ok(pool.install(run)?),
            None => Ok(run()?),
        }
    }

    /// Inputs in the order of the parameters.
    fn in_order<'i>(&self, inputs: &[(&str, &'i dyn Input)]) -> Result<Vec<&'i dyn Input>, ProgramError> {
        let mut ordered: Vec<Option<&'i dyn Input>> = self.inputs().map(|_| None).collect();
        for (name, input) in inputs {
            let name = syntax::normalized(name);
            let Some(place) = self.inputs().position(|known| known == name) else {
                let similar = suggest::similar(&name, self.inputs()).map(str::to_owned);
                let known = self.inputs().map(str::to_owned).collect();
                return Err(ProgramError::NoSuchInput { name, similar, known });
            };
            if ordered[place].replace(*input).is_some() {
                return Err(ProgramError::GivenTwice { name });
            }
        }
        let named = self.inputs().zip(ordered);
        named.map(|(name, input)| input.ok_or_else(|| ProgramError::NoInput { name: name.to_owned() })).collect()
    }

    /// Runs the kernel more than once on tensors, and says how long it took.
    pub(crate) fn measure(
        &self,
        inputs: &[&AnyTensor],
        dimensions: &[(&str, usize)],
        repeat: usize,
    ) -> Result<Outcome, Error> {
        self.chain.run(inputs, dimensions, repeat)
    }

    /// How long each of some calls takes as a whole.
    pub(super) fn time_calls(
        &self,
        inputs: &[&AnyTensor],
        dimensions: &[(&str, usize)],
        memory: ResultMemory,
        repeat: usize,
    ) -> Result<Vec<Duration>, Error> {
        self.chain.time_calls(inputs, dimensions, memory, repeat)
    }

    /// Its name: `kernel` for an assignment.
    pub fn name(&self) -> &str {
        &self.chain.declarations().name
    }

    /// The names of its inputs, in the order in which [`Kernel::call`] takes them.
    pub fn inputs(&self) -> impl Iterator<Item = &str> + Clone {
        self.declared().map(|tensor| tensor.name.as_str())
    }

    /// The names of its results, in order.
    pub fn results(&self) -> impl Iterator<Item = &str> {
        self.chain.results().iter().map(String::as_str)
    }

    fn declared(&self) -> impl Iterator<Item = &Tensor> + Clone {
        self.chain.declarations().tensors.iter().filter(|tensor| tensor.source == Source::Input)
    }

    /// What is compiled: the loops at every stage, with the scheduler's decisions.
    pub fn compiled(&self) -> &spc_compiler::Program {
        &self.compiled
    }

    /// The loops as what runs them: CUDA C for a GPU, else Rust.
    pub fn text(&self) -> String {
        let text = |compiled: &Compiled| {
            let module = || backend::cuda::module(&compiled.kernel, None, self.for_cuda);
            let for_gpu = (self.backend() == Backend::Cuda).then(module);
            match for_gpu {
                Some(Ok(module)) => backend::cuda::text(&module),
                _ => backend::rust::text(&compiled.kernel),
            }
        };
        self.compiled.kernels.iter().map(text).collect::<Vec<_>>().join("\n")
    }

    /// What is probably not meant in the text, by position.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// What runs it.
    pub fn backend(&self) -> Backend {
        self.chain.backend()
    }

    /// The reason for a fallback to the interpreter.
    pub fn fallback(&self) -> Option<&NativeError> {
        self.without_compiler().filter(|_| self.backend() == Backend::Interpreter)
    }

    /// Why no code of a Rust compiler runs it, where something else does that nobody asked for.
    pub fn without_compiler(&self) -> Option<&NativeError> {
        self.fallback.as_ref()
    }

    /// In which of the ways to run a kernel it runs.
    pub fn tier(&self) -> Tier {
        self.chain.tier()
    }

    /// Waits for the Rust compiler where it is at work in the background.
    pub fn settle(&self) {
        self.chain.settle();
    }

    /// Why in that one.
    pub fn tier_reason(&self) -> String {
        self.chain.tier_reason()
    }

    /// How long it took to schedule, lower and compile it.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// Whether its native code had been compiled before.
    pub fn from_cache(&self) -> bool {
        self.chain.links().iter().all(|link| link.native().is_some_and(NativeKernel::from_cache))
    }

    /// Where it runs, in words: on so many threads, on which GPU.
    pub fn place(&self) -> String {
        let threads = self.pool.as_ref().map_or_else(parallel::threads, rayon::ThreadPool::current_num_threads);
        match (self.backend(), threads) {
            (Backend::Cuda, _) => self.chain.links().first().map_or_else(String::new, Executable::place),
            (_, 1) => "1 thread".to_owned(),
            (_, threads) => format!("{threads} threads"),
        }
    }

    /// What runs it.
    pub(super) fn chain(&self) -> &Chain {
        &self.chain
    }
}

#[cfg(test)]
mod tests;
