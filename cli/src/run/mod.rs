//! `spc run`: a kernel on data.

mod defaults;
mod inputs;
mod outputs;
mod ranks;
mod report;

use crate::arguments::{KernelArguments, NamedFile, dimension, named_file};
use crate::failure::{Failure, note};
use crate::files::{Destination, InputKind, OutputKind};
use crate::planning::PlanArguments;
use crate::progress::Progress;
use crate::ranks::{OverlapArgument, RanksArguments};
use crate::source::Source;
use crate::{settings, threads};
use clap::{Args, ValueEnum};
use report::Report;

pub(crate) use defaults::{default_format, load};
use inputs::InParts;
pub(crate) use inputs::{literal, notes, of_file, open, read, without_shape};
pub(crate) use ranks::{failure as of_ranks, of_plan as ranks_as_json, table as table_of_ranks};
pub(crate) use report::{number, on_one_line};
use spc::distribute::{Placement, SharedFile};
use spc::execute::{
    Backend, Error, Operand, Program, ProgramError, ProgramOptions, Repetition, StreamOptions, Tier, Until, has_helpers,
};
use spc::memory;
use spc::tensor::{Duplicates, InvalidTensor, PackError};
use spc_compiler::schedule::streamed as streamed_by;
use spc_compiler::syntax::normalized;
use spc_compiler::{explanation, notation};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Run a kernel on data
///
/// Reads the inputs, stores them in the formats that the kernel declares, compiles the kernel for their sizes, runs it, and
/// shows the result and the time that the kernel alone took.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    kernel: KernelArguments,
    /// Where an input comes from: `X=x.tns.gz`, `X=x.npz:A` for one of several arrays, `X=-` for the standard input, `B=random`,
    /// `B=random:SEED`, `B=ones`; for a scalar `alpha=2.5`
    #[arg(short, long = "input", value_name = "NAME=SOURCE", value_parser = named_file())]
    inputs: Vec<NamedFile>,
    #[command(flatten)]
    from: InputKind,
    /// The extent of an index: `r=16`
    #[arg(long = "dim", value_name = "INDEX=EXTENT", value_parser = dimension)]
    dimensions: Vec<(String, usize)>,
    /// Where a result goes: `Y=y.tns`; `Y=-` for standard output
    #[arg(short, long = "output", value_name = "NAME=FILE", value_parser = named_file())]
    outputs: Vec<NamedFile>,
    #[command(flatten)]
    to: OutputKind,
    /// What runs the kernel; native code where there is a Rust compiler or the kernel was compiled before, else `jit`, else the
    /// interpreter. The first kernel of a machine runs without a compiler where that has the result first
    #[arg(long, value_enum)]
    backend: Option<BackendName>,
    /// Which GPU runs the kernel, counted from 0, with `--backend cuda`; several, as `0,1`, for an input in parts
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "0")]
    device: Vec<usize>,
    /// Combine floating point numbers in an order that only the inputs determine: the same bits in every run, on any number of threads,
    /// and on any number of ranks
    #[arg(long)]
    deterministic: bool,
    /// An input that comes in parts, and how many: `X=16`. On the processor, a .spct file of the declared format is read a part at a time
    /// and may be larger than the memory; `X` alone takes as many parts as `--memory` asks for
    #[arg(long, value_name = "NAME[=PARTS]", value_parser = streamed)]
    stream: Option<Streamed>,
    /// How many parts are under way at a time on GPUs
    #[arg(long, value_name = "N", default_value = "4", requires = "stream")]
    lanes: NonZeroUsize,
    /// Cut parts where positions of this level begin, counted from 1: sums below them are made in one piece
    #[arg(long, value_name = "LEVEL", requires = "stream")]
    whole: Option<NonZeroUsize>,
    #[command(flatten)]
    on_ranks: RanksArguments,
    /// On ranks, what is shared out: `X` for the entries of `X` in equal numbers, `X:4x2x1` for a grid over its modes, `X:bisection` to cut
    /// them in two again and again, `i` for the range of an index; what costs least if not given
    #[arg(long, value_name = "WHAT")]
    distribute: Option<String>,
    #[command(flatten)]
    overlap: OverlapArgument,
    /// Leave alone what `spc bench --tune` has found for such a kernel
    #[arg(long)]
    untuned: bool,
    #[command(flatten)]
    plan: PlanArguments,
    /// What several entries of the same index mean
    #[arg(long, value_enum, default_value_t = DuplicatesName::Sum)]
    duplicates: DuplicatesName,
    /// How many threads work, at most eight for each processor or 256; as many as there are processors if not given
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// How often the kernel runs
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZeroUsize,
    /// An input that takes a result of the step before, as `x=y`, with `--iterate`
    #[arg(long = "feed", value_name = "INPUT=RESULT", value_parser = named_file(), requires = "iterate")]
    feeds: Vec<NamedFile>,
    /// The kernel runs so often, each time on the results that `--feed` names; fewer times where `--until` ends it
    #[arg(long, value_name = "STEPS", conflicts_with_all = ["repeat", "stream"])]
    iterate: Option<NonZeroUsize>,
    /// A rule that ends `--iterate`: a result beside a number, as `change < 1e-6`
    #[arg(long, value_name = "RULE", requires = "iterate")]
    until: Option<Until>,
    /// Print the generated code too
    #[arg(long)]
    show_code: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendName {
    /// Compiled by rustc
    Native,
    /// Machine code made without rustc, in builds that have it
    Jit,
    /// Checks every step, slowly
    Interpreter,
    Cuda,
}

impl From<BackendName> for Backend {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Native => Backend::Native,
            BackendName::Jit => Backend::Jit,
            BackendName::Interpreter => Backend::Interpreter,
            BackendName::Cuda => Backend::Cuda,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DuplicatesName {
    /// Their sum
    Sum,
    /// A mistake
    Refuse,
}

impl Run {
    pub(crate) fn run(self) -> Result<(), Failure> {
        threads::on(self.threads.map_or(0, NonZeroUsize::get), || self.run_here()).flatten()
    }

    /// On the threads that were asked for.
    fn run_here(&self) -> Result<(), Failure> {
        match self.ranks()? {
            Some(ranks) => ranks.run(self),
            None => self.run_alone(),
        }
    }

    /// What is read before a kernel runs; an input that comes in parts, where one may, only as far as says what it is.
    fn prepared(&self, of: Of) -> Result<Prepared, Failure> {
        let mut given = open(&self.inputs, self.from)?;
        let loaded = load(&self.kernel, &given)?;
        let kernel = loaded.source().single()?;
        if let Some(stream) = &self.stream {
            inputs::declared(kernel, &stream.name)?;
        }
        let asked = self.stream.as_ref().map(|stream| stream.name.clone());
        let name = match of {
            Of::Stream => asked.or_else(|| streamed_by(kernel).map(str::to_owned)),
            Of::Ranks => None,
        };
        let (placement, shared) = match of {
            Of::Stream => (None, None),
            Of::Ranks => {
                let placement = self.placement((kernel, loaded.source()))?;
                // Each of many parts has a plan of all: that takes more memory than the entries where a rank has many.
                let shared = match self.deterministic && placement.is_none() {
                    true => None,
                    false => inputs::shared(kernel, &mut given, placement.as_ref())?,
                };
                (placement, shared)
            }
        };
        let in_parts = name.as_deref().map(|name| InParts {
            name,
            memory: memory::budget(self.plan.memory),
            in_memory: self.backend == Some(BackendName::Cuda),
        });
        // Refused before anything is read.
        let destinations = outputs::destinations(kernel, &self.outputs, self.to)?;
        let has_result = destinations.iter().any(|(_, destination)| destination.is_stdout());
        if settings::json() && (has_result || self.show_code) {
            let what = if has_result { "a result" } else { "`--show-code`" };
            return Err(Failure::usage(format!("`--json` and {what} both want the standard output")));
        }
        let progress = Progress::new("reading");
        let start = Instant::now();
        let operands = inputs::read_but(kernel, given, in_parts, &progress)?;
        let (source, notes) = loaded.fitted(&operands)?;
        Ok(Prepared { source, notes, operands, placement, shared, destinations, read_time: start.elapsed(), progress })
    }

    fn run_alone(&self) -> Result<(), Failure> {
        let Prepared { source, mut notes, operands, destinations, read_time, progress, .. } =
            self.prepared(Of::Stream)?;
        let kernel = source.single()?;
        let options = self.options(self.parts(&operands)?);
        progress.step("packing and compiling");
        let program = Program::new(kernel, operands, &self.dimensions, &options)
            .map_err(|error| refuse(error, kernel, &source))?;
        progress.step("running");
        let outcome = match self.repetition() {
            Some(repetition) => program.iterate(&repetition),
            None => program.run(self.repeat.get()),
        };
        let outcome = outcome.map_err(|error| refuse(error, kernel, &source))?;
        drop(progress);
        let of_kernel = kernel.repeat.as_ref().and_then(|repeat| repeat.until.as_ref());
        if let Some(unmet) = self.until.as_ref().or(of_kernel)
            && let Some(rounds) = outcome.rounds.as_ref().filter(|rounds| !rounds.is_met)
        {
            let (last, result) = (rounds.history.last().copied().unwrap_or(f64::NAN), &unmet.result);
            let more = if self.until.is_some() {
                "`--iterate` allows more"
            } else {
                "a greater number behind `or` allows more"
            };
            notes.push(format!("`{unmet}` did not hold: `{result}` is {last:?} after the last step; {more}"));
        }
        if let Some(reason) = program.fallback() {
            note(format!("the kernel ran in the interpreter: {reason}"));
        }
        let is_begun = matches!(outcome.tier, Tier::Interpreter | Tier::Jit);
        let is_before_native = is_begun && self.backend.is_none() && program.without_compiler().is_none();
        if is_before_native {
            notes.push(format!(
                "the kernel ran in the tier `{}`, which had the result before the Rust compiler had native code; `--backend native` waits for that",
                outcome.tier
            ));
        }
        let warnings = source.warnings_as_json();
        notes.extend(inputs::notes(&self.inputs, program.assumed_extents()));
        notes.extend(program.wrong_hints());
        if settings::is_verbose() {
            notes.push(format!("the kernel ran in the tier `{}`: {}", outcome.tier, outcome.reason));
            notes.extend(report::inputs(&program, kernel));
            notes.extend(program.planned().map(|planned| explanation::plan(planned).trim_end().to_owned()));
        }
        notes.iter().for_each(note);
        let report = Report { program: &program, outcome: &outcome, kernel, warnings, read_time, notes: &notes };
        let to_stdout = outputs::write(&outcome.outputs, &destinations)?;
        match (settings::json(), to_stdout) {
            (true, _) => report.print_json()?,
            (false, true) => report.print_on_stderr()?,
            (false, false) => report.print(self.show_code)?,
        }
        // Whoever waits that long each time is better off with native code the next time.
        if is_before_native && outcome.kernel_time() > LONG {
            note("the Rust compiler makes native code for later runs; an interrupt leaves that out");
            program.kernel().settle();
        }
        Ok(())
    }

    /// How the kernel runs on its results, if it does.
    fn repetition(&self) -> Option<Repetition> {
        let feeds =
            self.feeds.iter().map(|feed| (feed.name.clone(), feed.text.to_string_lossy().into_owned())).collect();
        Some(Repetition { feeds, most: self.iterate?.get(), limit: None, until: self.until.clone() })
    }

    /// How many parts an input comes in.
    fn parts(&self, operands: &[(String, Operand)]) -> Result<usize, Failure> {
        let Some(Streamed { name, parts }) = &self.stream else { return Ok(1) };
        let operand = operands.iter().find(|(operand, _)| operand == name).map(|(_, operand)| operand);
        match (parts, operand) {
            (Some(parts), _) => Ok(*parts),
            // Two are in memory at a time; the rest is for what the kernel makes.
            (None, Some(Operand::Stored(stored))) => {
                let parts = stored.bytes().saturating_mul(4) / memory::budget(self.plan.memory).max(1) + 1;
                Ok(usize::try_from(parts).unwrap_or(usize::MAX))
            }
            (None, _) => {
                let message = format!("`--stream {name}` does not say in how many parts");
                let help = format!(
                    "`--stream {name}=16` says it; without a number, `{name}` is a .spct file of the declared format"
                );
                Err(Failure::usage(message).help(help))
            }
        }
    }

    /// Whether a result is wanted sooner than native code, which takes seconds on a machine where none was compiled yet. Whoever runs a kernel
    /// often, or says what runs it, wants to know how fast that is.
    fn is_first_answer(&self) -> bool {
        self.backend.is_none() && self.repeat.get() == 1 && self.stream.is_none() && !has_helpers()
    }

    fn options(&self, parts: usize) -> ProgramOptions {
        let duplicates = match self.duplicates {
            DuplicatesName::Sum => Duplicates::Sum,
            DuplicatesName::Refuse => Duplicates::Refuse,
        };
        let stream = self.stream.as_ref().map(|stream| StreamOptions {
            lanes: self.lanes.get(),
            whole: self.whole.map(|level| level.get() - 1),
            ..StreamOptions::new(&stream.name, parts)
        });
        ProgramOptions {
            backend: self.backend.map(Backend::from),
            background: self.is_first_answer(),
            duplicates,
            devices: self.device.clone(),
            deterministic: self.deterministic,
            stream,
            tuned: !self.untuned,
            plan: self.plan.planning(),
            memory: self.plan.memory,
            calls: Some(self.iterate.unwrap_or(self.repeat).get()),
            model: None,
        }
    }
}

/// A run without native code that takes longer waits, with its result printed, until there is some for later ones.
const LONG: Duration = Duration::from_millis(500);

/// An input that comes in parts, and how many.
#[derive(Debug, Clone)]
struct Streamed {
    name: String,
    parts: Option<usize>,
}

/// Reads `NAME` or `NAME=PARTS`.
fn streamed(argument: &str) -> Result<Streamed, String> {
    if !argument.is_empty() && !argument.contains(['=', ':']) {
        return Ok(Streamed { name: normalized(argument.trim()), parts: None });
    }
    let (name, text) = argument.split_once('=').ok_or("it has the form NAME=PARTS, as in `X=16`")?;
    match text.trim().parse() {
        Ok(parts) if parts > 0 => Ok(Streamed { name: normalized(name.trim()), parts: Some(parts) }),
        _ => Err(format!("`{text}` is no number of parts: a whole number from 1 on")),
    }
}

/// What takes parts of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// One after the other.
    Stream,
    /// A rank each.
    Ranks,
}

/// What is read before a kernel runs.
struct Prepared {
    source: Source,
    notes: Vec<String>,
    operands: Vec<(String, Operand)>,
    /// What is asked to be shared out on ranks.
    placement: Option<Placement>,
    /// An input of which each rank reads its part.
    shared: Option<SharedFile>,
    destinations: Vec<(String, Destination)>,
    read_time: Duration,
    progress: Progress,
}

/// Why a program does not run, with what to do about it.
pub(crate) fn refuse(error: ProgramError, kernel: &notation::Kernel, source: &Source) -> Failure {
    if let Some(name) = too_large(&error)
        && let Some(tensor) = kernel.tensors.iter().find(|tensor| tensor.name == name && tensor.format.is_dense())
    {
        let format = match tensor.format.order {
            0 | 1 => "[compressed]",
            2 => "csr",
            _ => "csf",
        };
        let choice = match source.is_expression() {
            true => format!("`-f {name}={format}` stores"),
            false => format!("`{name}: {format}` declares that it stores"),
        };
        return Failure::refused(&error).help(format!("{choice} only the entries that are there"));
    }
    match error {
        ProgramError::Schedule(problems) => source.refuse(problems),
        ProgramError::NoInput { ref name } => {
            let scalar = kernel.tensors.iter().any(|tensor| tensor.name == *name && tensor.format.order == 0);
            let choices = if scalar {
                format!("`-i {name}=2.5` gives its value")
            } else {
                format!("`-i {name}=FILE` reads it; `-i {name}=random` and `-i {name}=ones` fill a dense one")
            };
            Failure::refused(&error).help(choices)
        }
        ProgramError::Beyond { ref index, needed, .. } => {
            Failure::refused(&error).help(format!("`--dim {index}={needed}` is the least that holds it"))
        }
        error => of_backend(&error),
    }
}

/// The same for errors that have nothing to do with a text or its inputs.
pub(crate) fn of_backend(error: &ProgramError) -> Failure {
    let failure = Failure::refused(error);
    match error {
        ProgramError::Execute(Error::Native(native)) if native.is_missing_compiler() => {
            failure.help("`--backend interpreter` runs without a compiler, slowly")
        }
        ProgramError::Execute(Error::Unsupported(_)) => failure.help("`--backend interpreter` runs any kernel, slowly"),
        ProgramError::Execute(Error::Cuda(cuda)) => match cuda.remedy() {
            Some(remedy) => failure.help(remedy),
            None => failure,
        },
        _ => failure,
    }
}

/// The tensor that has too many elements for the memory.
fn too_large(error: &ProgramError) -> Option<&str> {
    match error {
        ProgramError::Pack {
            tensor,
            source:
                PackError::TooLarge { .. } | PackError::Invalid(InvalidTensor::Memory(_) | InvalidTensor::TooLarge { .. }),
        }
        | ProgramError::Execute(Error::Memory { tensor, .. } | Error::TooLarge { tensor }) => Some(tensor),
        _ => None,
    }
}
