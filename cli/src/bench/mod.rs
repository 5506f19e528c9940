//! `spc bench`: how fast kernels are, and how fast they could be.
//!
//! | file | what it does |
//! |---|---|
//! | `suite` | the kernels, as text |
//! | `data` | the tensors |
//! | `device` | a GPU as a machine |
//! | `cases` | which kernels run on a tensor, in which forms |
//! | `timing` | runs one and takes its times |
//! | `record` | what was measured, and as JSON |
//! | `table`, `plot`, `page` | the same for people |
//! | `baseline` | beside an earlier run |
//! | `against` | beside what other libraries take |
//! | `tune` | other schedules, measured |
//! | `plans` | lines of many factors beside their best splits by hand |
//! | `ranks` | on many ranks, compared with one |

pub(crate) mod against;
mod baseline;
pub(crate) mod cases;
pub(crate) mod data;
pub(crate) mod device;
mod page;
mod plans;
mod plot;
mod ranks;
pub(crate) mod record;
pub(crate) mod suite;
mod table;
pub(crate) mod timing;
mod tune;

use crate::arguments::FormatsArguments;
use crate::arguments::{KernelArguments, NamedFile, dimension, element, named_file, named_format, nameless_format};
use crate::failure::{Failure, note};
use crate::files::InputKind;
use crate::output;
use crate::predicted::predictions;
use crate::progress::Progress;
use crate::ranks::{OverlapArgument, RanksArguments};
use crate::run::{BackendName, load, notes, open, read, refuse};
use crate::{settings, threads};
use against::Peers;
use baseline::Baseline;
use cases::{Choices, Setting};
use clap::{Args, ValueEnum};
use data::Data;
use record::{Case, Findings, Refused};
use spc::cuda::model::Predictions;
use spc::execute::{Backend, Operand, Program, ProgramOptions, Way};
use spc::io;
use spc::measure::{Effort, Machine, caches};
use spc::tensor::AnyTensor;
use spc_compiler::ir::ElementType;
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use timing::{Budget, Clocks, Measuring, Subject};

/// Measure kernels against the limits of the machine
///
/// Runs the kernels of the benchmark suites on tensors, in one process: each kernel, mode, format, rank, element type and number
/// of threads. Beside each median stand the operations and bytes that a model counts, and the part of the time that memory
/// and processor, measured in the same run, need at least. A TENSOR is a file; a tensor of the suite with a scale, irrS or
/// irrS:0.1; or uniform:100x200x300:5000 (shape and number of entries), and so kronecker, power-law and stacked.
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// What to measure on; some generated tensors if not given. `plans` measures lines of many factors beside their best splits by
    /// hand, on what `third=FILE` and the like say behind it
    #[arg(value_name = "TENSOR", conflicts_with = "expression")]
    tensors: Vec<OsString>,
    /// The kernels: elementwise multiply add scalar ttv ttm mttkrp, of matrices spmv spmm sddmm spgemm; all that fit if not given
    #[arg(long = "kernel", value_name = "NAME", value_delimiter = ',')]
    kernels: Vec<String>,
    /// The modes, from 1; all if not given
    #[arg(long = "mode", value_name = "N", value_delimiter = ',', conflicts_with = "expression")]
    modes: Vec<NonZeroUsize>,
    /// How tensors are stored, with commas between: csf,coo,hicoo(128); with `--expression` NAME=FORMAT, as `spc run` takes it
    #[arg(short = 'f', long = "format", value_name = "FORMATS")]
    formats: Vec<String>,
    #[command(flatten)]
    named: FormatsArguments,
    /// The lengths of dense modes
    #[arg(long = "rank", value_name = "N", value_delimiter = ',', default_values_t = [16], conflicts_with = "expression")]
    ranks: Vec<usize>,
    /// The element types
    #[arg(long = "element", alias = "type", value_name = "TYPE", value_delimiter = ',', value_parser = element, default_value = "f64", conflicts_with = "expression")]
    elements: Vec<ElementType>,
    /// The numbers of threads; as many as there are processors if not given
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<NonZeroUsize>,
    /// Measure this kernel instead: a `.ti` file or an assignment, as `spc run` takes it
    #[arg(long, value_name = "FILE|EXPR")]
    expression: Option<String>,
    /// With `--expression`, take warnings for errors
    #[arg(long, requires = "expression")]
    strict: bool,
    /// With `--expression`, where an input comes from
    #[arg(short, long = "input", value_name = "NAME=SOURCE", value_parser = named_file(), requires = "expression")]
    inputs: Vec<NamedFile>,
    #[command(flatten)]
    from: InputKind,
    /// With `--expression`, the extent of an index
    #[arg(long = "dim", value_name = "INDEX=EXTENT", value_parser = dimension, requires = "expression")]
    dimensions: Vec<(String, usize)>,
    /// What runs the kernels; on a GPU the machine is what its memory does
    #[arg(long, value_enum, conflicts_with = "threads")]
    backend: Option<BackendName>,
    /// With `--backend cuda`, run kernels on the processor and predict how long this GPU would take: h100, h200, a100, v100, or a file
    /// that describes one
    #[arg(long, value_name = "GPU|FILE", requires = "backend")]
    model: Option<String>,
    /// How many seconds the runs of one kernel take together, about
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5)]
    budget: f64,
    /// Fewer runs, one format, smaller generated tensors, and a shorter look at the machine
    #[arg(long)]
    quick: bool,
    /// How long a look at the machine; thorough if not given
    #[arg(long, value_enum, value_name = "LOOK")]
    machine: Option<Look>,
    /// Write all figures to a file, as `--json` prints them
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Write a page with tables and pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the roofline picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Measure other schedules of each kernel too, and remember the fastest where it is better than the default
    #[arg(long)]
    tune: bool,
    /// Measure kernels that give the same bits in every run, on any number of threads
    #[arg(long, conflicts_with = "tune")]
    deterministic: bool,
    /// Show how many times slower each is than in an earlier run's JSON file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Fail if something is so many times slower than in the earlier run
    #[arg(long, value_name = "RATIO", requires = "baseline")]
    fail_above: Option<f64>,
    #[command(flatten)]
    on_ranks: RanksArguments,
    #[command(flatten)]
    overlap: OverlapArgument,
    /// Show how many times as long other libraries take, by a JSON list of figures: peer, tensor, kernel, mode, rank, element, median_ms, and clock if that is not `kernel`
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
}

/// How much time measuring the machine takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Look {
    /// Next to none: rooflines say little
    Least,
    /// A second
    Quick,
    /// A few seconds, up to what no cache holds
    Thorough,
}

/// What the machine can do, for each number of threads; 0 are as many as there are processors.
pub(crate) fn machines(numbers: &[usize], look: Look) -> Result<Vec<Machine>, Failure> {
    let progress = Progress::new("measuring the machine");
    let effort = match look {
        Look::Least => Effort::Least,
        Look::Quick => Effort::Quick,
        Look::Thorough => Effort::Thorough,
    };
    let mut machines: Vec<Machine> = Vec::new();
    for &threads in numbers {
        if machines.iter().any(|machine| machine.threads() == threads) {
            continue;
        }
        progress.step(match threads {
            0 => "measuring the machine".to_owned(),
            threads => format!("measuring the machine, {threads} threads"),
        });
        let machine = threads::on(threads, || Machine::measure(effort))?;
        if machines.iter().all(|other| other.threads() != machine.threads()) {
            machines.push(machine);
        }
    }
    Ok(machines)
}

impl Bench {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if !(self.budget > 0.0 && self.budget <= 3600.0) {
            return Err(Failure::usage("`--budget` is a number of seconds above 0, at most 3600"));
        }
        self.on_ranks.check(&[self.overlap.given()])?;
        if self.on_ranks.are_asked_for() {
            return self.on_ranks();
        }
        let baseline = self.baseline.as_deref().map(Baseline::read).transpose()?;
        if self.model.is_some() && self.backend != Some(BackendName::Cuda) {
            return Err(Failure::usage("`--model` predicts what a GPU does: with `--backend cuda`"));
        }
        if self.tune && self.backend == Some(BackendName::Interpreter) {
            return Err(Failure::usage(
                "schedules of the interpreter are not worth tuning: leave out `--backend` or `--tune`",
            ));
        }
        if self.model.is_some() && self.wants_plans() {
            return Err(Failure::usage("`plans` are measured: there is no `--model` of them"));
        }
        let model = self.model.as_deref().map(predictions).transpose()?;
        let peers = self.against.as_deref().map(Peers::read).transpose()?;
        let choices = match self.expression.is_none() && !self.wants_plans() {
            true => Some(self.choices()?.predicted(model.clone())),
            false => None,
        };
        let mut findings = Findings {
            machines: vec![],
            caches: caches(),
            records: vec![],
            refused: vec![],
            tunings: vec![],
            plans: vec![],
        };
        match &choices {
            Some(choices) => self.suite(choices, model.as_ref(), &mut findings)?,
            None if self.wants_plans() => self.plans(&mut findings)?,
            None => self.measure_expression(model, &mut findings)?,
        }
        self.write(&findings, baseline.as_ref())?;
        if let Some(peers) = peers.filter(|_| !settings::json()) {
            output::print(&peers.text(&findings))?;
        }
        match (self.fail_above, baseline) {
            (Some(limit), Some(baseline)) => baseline.check(&findings, limit),
            _ => Ok(()),
        }
    }

    fn choices(&self) -> Result<Choices, Failure> {
        let modes = self.modes.iter().map(|mode| mode.get()).collect();
        for format in &self.formats {
            nameless_format(format).map_err(|error| Failure::usage(format!("`--format`: {error}")))?;
        }
        let choices = Choices::new(&self.kernels, modes, &self.formats, &self.ranks, &self.elements, self.quick)?;
        let choices = choices.tuned(self.tune).deterministic(self.deterministic).defined(self.named.load()?);
        let choices = choices.run_by(self.backend.map(Backend::from));
        choices.check_formats()?;
        Ok(choices)
    }

    fn budget(&self) -> Budget {
        let clocks = Clocks::All;
        match self.quick {
            true => Budget { time: Duration::from_secs_f64(self.budget.min(0.05)), fewest: 3, most: 100, clocks },
            false => Budget { time: Duration::from_secs_f64(self.budget), fewest: 5, most: 1000, clocks },
        }
    }

    /// What is measured on: the processor with each number of threads, or a GPU.
    fn machines(&self, model: Option<&Predictions>) -> Result<Vec<Machine>, Failure> {
        if let Some(model) = model {
            let gpu = model.description();
            note(format!("times are predicted for {} by a model: nothing is measured on a GPU", gpu.name));
            return Ok(vec![device::described(gpu)]);
        }
        if self.backend == Some(BackendName::Cuda) {
            let (machine, place) = device::machine()?;
            if place.contains("Emulation") {
                note(format!("{place} is played by the processor: times mean nothing"));
            }
            return Ok(vec![machine]);
        }
        let look = self.machine.unwrap_or(if self.quick { Look::Quick } else { Look::Thorough });
        let numbers: Vec<usize> = self.threads.iter().map(|threads| threads.get()).collect();
        machines(if numbers.is_empty() { &[0] } else { &numbers }, look)
    }

    /// The tensors of the suite's kernels.
    fn tensors_of_suite(&self) -> Result<Vec<&OsStr>, Failure> {
        let generated: &[&str] = match self.quick {
            true => &["irrS:0.05", "kronecker:20000x20000:200000"],
            false => &["regS", "irrS", "irr2S4d", "kronecker:100000x100000:1000000"],
        };
        let mut tensors: Vec<&OsStr> = self.tensors.iter().map(OsString::as_os_str).collect();
        if tensors.is_empty() {
            tensors.extend(generated.iter().map(OsStr::new));
        }
        // What is wrong with them is told before the machine is measured.
        tensors.iter().try_for_each(|tensor| data::check(tensor))?;
        Ok(tensors)
    }

    fn suite(&self, choices: &Choices, model: Option<&Predictions>, findings: &mut Findings) -> Result<(), Failure> {
        let tensors = self.tensors_of_suite()?;
        findings.machines = self.machines(model)?;
        let (machines, caches) = (findings.machines.clone(), findings.caches.clone());
        for tensor in tensors {
            let progress = Progress::new(format!("reading {}", tensor.display()));
            let data = Data::load(tensor)?;
            drop(progress);
            let setting = Setting { budget: self.budget(), machines: &machines, caches: &caches };
            choices.measure(&data, setting, findings)?;
        }
        if !findings.records.is_empty() {
            return Ok(());
        }
        if findings.refused.is_empty() {
            return Err(Failure::refused("none of these kernels is for tensors of that order or has that mode"));
        }
        let refused = findings.refused.iter().map(Refused::to_string);
        Err(refused.fold(Failure::refused("there is nothing left to measure"), Failure::help))
    }

    fn measure_expression(&self, model: Option<Predictions>, findings: &mut Findings) -> Result<(), Failure> {
        let formats = self.formats.iter().map(|format| named_format(format)).collect::<Result<Vec<_>, _>>();
        let formats = formats.map_err(|error| Failure::usage(format!("`--format` with `--expression`: {error}")))?;
        let kernel = match &self.kernels[..] {
            [] => None,
            [kernel] => Some(kernel.clone()),
            _ => return Err(Failure::usage("`--expression` measures one kernel")),
        };
        let program = self.expression.clone().unwrap_or_default();
        let (named, strict) = (self.named.clone(), self.strict);
        let given = open(&self.inputs, self.from)?;
        let loaded = load(&KernelArguments { program, formats, named, kernel, strict }, &given)?;
        let progress = Progress::new("reading");
        let start = Instant::now();
        let operands = read(loaded.source().single()?, given, &progress)?;
        let read_time = start.elapsed();
        let (source, mut remarks) = loaded.fitted(&operands)?;
        let kernel = source.single()?;
        progress.step("packing and compiling");
        let (deterministic, backend) = (self.deterministic, self.backend.map(Backend::from));
        let options = ProgramOptions { deterministic, backend, model: model.clone(), ..ProgramOptions::default() };
        let program = Program::new(kernel, operands, &self.dimensions, &options)
            .map_err(|error| refuse(error, kernel, &source))?;
        findings.machines = self.machines(model.as_ref())?;
        let sparse = || program.inputs().filter(|(_, tensor)| !tensor.format().is_dense());
        let format_of = |name: &str| kernel.tensors.iter().find(|tensor| tensor.name == name)?.format_name.clone();
        let stored = |(name, tensor): (&str, &AnyTensor)| {
            format!("{name}: {}", format_of(name).unwrap_or_else(|| tensor.format().to_string()))
        };
        remarks.extend(notes(&self.inputs, program.assumed_extents()));
        remarks.iter().for_each(note);
        let files: Vec<_> = self.inputs.iter().map(|input| input.text.to_string_lossy()).collect();
        let first = sparse().next().or_else(|| program.inputs().next());
        let element = first.map_or(ElementType::F64, |(_, tensor)| tensor.element());
        for machine in findings.machines.clone() {
            let case = Case {
                tensor: files.join(", "),
                kernel: kernel.name.clone(),
                mode: 0,
                format: sparse().map(stored).collect::<Vec<_>>().join(", "),
                rank: 0,
                element: element.name(),
                threads: machine.threads(),
            };
            let shape = first.map_or_else(Vec::new, |(_, tensor)| tensor.shape().to_vec());
            let nnz = first.map_or(0, |(_, tensor)| tensor.nnz());
            let measuring = Measuring {
                budget: self.budget(),
                machine: &machine,
                caches: &findings.caches,
                backend,
                model: model.as_ref(),
            };
            let mut tuned = None;
            if self.tune {
                progress.step(format!("tuning on {} threads", machine.threads()));
                let packed = |(name, tensor): (&str, &AnyTensor)| (name.to_owned(), Operand::Tensor(tensor.clone()));
                let inputs: Vec<(String, Operand)> = program.inputs().map(packed).collect();
                tuned = measuring.tune(kernel, &inputs, &self.dimensions, case.clone(), &mut findings.tunings)?;
            }
            progress.step(format!("running on {} threads", machine.threads()));
            let subject = Subject {
                case,
                shape,
                nnz,
                read: read_time,
                pack: program.pack_time() + program.prepare_time(Way::Converted),
            };
            findings.records.push(measuring.record(tuned.as_ref().unwrap_or(&program), subject)?);
        }
        Ok(())
    }

    /// Writes what is asked for, and a table on standard output.
    fn write(&self, findings: &Findings, baseline: Option<&Baseline>) -> Result<(), Failure> {
        if let Some(path) = &self.save {
            io::write_text(path, &format!("{:#}\n", output::versioned(findings.as_json())))?;
        }
        if let Some(path) = &self.svg {
            io::write_text(path, &plot::roofline(findings)?)?;
        }
        if let Some(path) = &self.html {
            io::write_text(path, &page::page(findings, baseline)?)?;
        }
        findings.refused.iter().for_each(note);
        for warning in cases::disagreements(&findings.records) {
            note(warning);
        }
        match settings::json() {
            true => output::print_json(findings.as_json()),
            false => output::print(&table::text(findings, baseline)),
        }
    }
}
