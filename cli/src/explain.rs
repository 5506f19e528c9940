//! `spc explain`: why the loops are as they are, and what a code or a word means.

use crate::arguments::FormatsArguments;
use crate::arguments::{KernelArguments, Named, NamedFile, dimension, named_file, named_format};
use crate::compile::Target;
use crate::failure::{Failure, note};
use crate::files::InputKind;
use crate::output;
use crate::planning::{self, PlanArguments};
use crate::predicted::{self, predictions};
use crate::progress::Progress;
use crate::run::{load, of_backend, of_ranks, open, ranks_as_json, read, refuse, table_of_ranks};
use crate::settings;
use crate::source::Source;
use crate::standalone::for_device;
use clap::Args;
use serde_json::{Value, json};
use spc::cuda::model::Predictions;
use spc::distribute::{Machine, Problem};
use spc::execute::{Backend, Chain, Operand, Program, ProgramError, ProgramOptions, Uncompiled, with_stack_for};
use spc_compiler::concrete;
use spc_compiler::diagnostics::{self, Code};
use spc_compiler::plan::{Facts, Planned};
use spc_compiler::schedule;
use spc_compiler::topics::{self, Kind};
use spc_compiler::{backend, explanation, notation, pass, syntax};
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;

/// Explain a kernel's loops, a code or a word
///
/// For a kernel: its loops, and each decision of the scheduler with its reason. For a code such as E0102, and for a word such as
/// csr, split, where or fiber: what it means, with an example. Without an argument: all codes and words.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A `.ti` file, kernels or an assignment in index notation, a code, or a word
    #[arg(value_name = "FILE|EXPR|CODE|WORD")]
    target: Option<String>,
    /// How a tensor of an expression is stored
    #[arg(short = 'f', long = "format", value_name = "NAME=FORMAT", value_parser = named_format)]
    formats: Vec<Named>,
    #[command(flatten)]
    named: FormatsArguments,
    /// The kernel of a file that has several
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Take warnings for errors
    #[arg(long)]
    strict: bool,
    /// What the loops are for
    #[arg(long = "target", value_enum, default_value_t = Target::Rust)]
    backend: Target,
    /// For kernels that give the same bits in every run, on any number of threads
    #[arg(long)]
    deterministic: bool,
    /// Plan for these inputs, as `spc run` takes them
    #[arg(short, long = "input", value_name = "NAME=SOURCE", value_parser = named_file())]
    inputs: Vec<NamedFile>,
    #[command(flatten)]
    from: InputKind,
    /// The extent of an index, which the plan may depend on: `r=16`
    #[arg(long = "dim", value_name = "INDEX=EXTENT", value_parser = dimension)]
    dimensions: Vec<(String, usize)>,
    /// How often the kernel is expected to run on each set of inputs
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZeroUsize,
    #[command(flatten)]
    plan: PlanArguments,
    /// With inputs: how so many ranks would share out the entries, or an index, and what they would send in each run
    #[arg(long, value_name = "N", requires = "inputs", conflicts_with = "counters")]
    ranks: Option<NonZeroUsize>,
    /// With `--target cuda` and inputs: run the kernel on the processor, and count what a GPU would do, access by access
    #[arg(long, requires = "inputs")]
    counters: bool,
    /// With `--counters`, the GPU: h100, h200, a100, v100, or a file that describes one
    #[arg(long, value_name = "GPU|FILE", default_value = "h100")]
    model: String,
}

impl Explain {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(target) = self.target else { return output::explain(&everything()) };
        if is_like_a_code(&target) {
            return output::explain(&code(&target)?);
        }
        if is_like_a_word(&target) {
            return output::explain(&word(&target)?);
        }
        if self.counters && self.backend != Target::Cuda {
            return Err(Failure::usage("`--counters` are those of a GPU: add `--target cuda`"));
        }
        let Self { formats, named, kernel, strict, inputs, .. } = self;
        let arguments = KernelArguments { program: target, formats, named, kernel, strict };
        let given = open(&inputs, self.from)?;
        let (source, operands) = match given.is_empty() {
            true => (Source::load(&arguments)?, None),
            false => {
                let loaded = load(&arguments, &given)?;
                let operands = read(loaded.source().single()?, given, &Progress::new("reading"))?;
                (loaded.fitted(&operands)?.0, Some(operands))
            }
        };
        let asked = Asked {
            dimensions: &self.dimensions,
            repeat: self.repeat.get(),
            deterministic: self.deterministic,
            plan: self.plan,
            target: match self.backend {
                Target::Rust => concrete::Target::Cpu,
                Target::Cuda => concrete::Target::Gpu,
            },
            has_inputs: operands.is_some(),
        };
        let mut texts = Vec::new();
        let mut plans: Vec<(&notation::Kernel, Option<(Planned, Facts)>)> = Vec::new();
        if let Some(operands) = operands {
            let kernel = source.single()?;
            if let Some(ranks) = self.ranks {
                return asked.ranks(kernel, operands, &source, ranks.get());
            }
            if self.counters {
                return asked.counters(kernel, operands, &source, &predictions(&self.model)?);
            }
            let uncompiled = asked.uncompiled(kernel, operands).map_err(|error| refuse(error, kernel, &source))?;
            uncompiled.wrong_hints().iter().for_each(note);
            let planned = uncompiled.planned();
            let explained = || {
                let plan = planned.map(|(planned, _)| planned);
                asked.explained(plan, uncompiled.kernel(), uncompiled.scheduled(), &source)
            };
            texts.push(with_stack_for(kernel, explained)?);
            plans.push((kernel, planned.map(|(planned, facts)| (planned.clone(), facts.clone()))));
        } else {
            for kernel in &source.kernels {
                let planned = self.plan.by_text(kernel, &self.dimensions);
                let explained = || {
                    let whole = planned.as_ref().map_or(kernel, |(planned, _)| &planned.kernel);
                    let scheduled =
                        schedule::schedule(whole, asked.options()).map_err(|problems| source.refuse(problems))?;
                    asked.explained(planned.as_ref().map(|(planned, _)| planned), whole, &scheduled, &source)
                };
                texts.push(with_stack_for(kernel, explained)?);
                plans.push((kernel, planned));
            }
        }
        let plans = plans.iter().map(|(kernel, planned)| {
            let plan = planned.as_ref().map(|(planned, facts)| planning::as_json(planned, Some(facts)));
            (kernel.name.clone(), json!(plan))
        });
        output::explain_plans(&texts.join("\n"), plans.collect())
    }
}

/// What a plan is made for.
struct Asked<'a> {
    dimensions: &'a [(String, usize)],
    repeat: usize,
    deterministic: bool,
    plan: PlanArguments,
    target: concrete::Target,
    has_inputs: bool,
}

impl Asked<'_> {
    /// Prints how so many ranks can share out a kernel's data, and what they would send.
    fn ranks(
        &self,
        kernel: &notation::Kernel,
        operands: Vec<(String, Operand)>,
        source: &Source,
        ranks: usize,
    ) -> Result<(), Failure> {
        let progress = Progress::new("placing");
        let because = |error| of_ranks(error, kernel, source);
        let options = ProgramOptions { deterministic: self.deterministic, ..ProgramOptions::default() };
        let problem = Problem::new(kernel, operands, self.dimensions, &options).map_err(because)?;
        let plans = problem.plans(ranks, Machine::default()).map_err(because)?;
        let overlapped = plans.first().and_then(|plan| problem.overlapped(plan, Machine::default()));
        drop(progress);
        if settings::json() {
            let placements: Vec<Value> = plans.iter().map(ranks_as_json).collect();
            return output::print_json(json!({
                "explanation": table_of_ranks(&plans, overlapped),
                "placements": placements,
                "overlapped": overlapped.map(|of| json!({ "entries": of.entries, "modelled_ms": of.time * 1e3 })),
            }));
        }
        output::print(&table_of_ranks(&plans, overlapped))
    }

    /// Runs a kernel by a model of a GPU, and prints what that counts and predicts.
    fn counters(
        &self,
        kernel: &notation::Kernel,
        operands: Vec<(String, Operand)>,
        source: &Source,
        model: &Predictions,
    ) -> Result<(), Failure> {
        let progress = Progress::new("counting");
        let options = ProgramOptions {
            backend: Some(Backend::Cuda),
            deterministic: self.deterministic,
            plan: self.plan.planning(),
            memory: self.plan.memory,
            calls: Some(self.repeat),
            model: Some(model.clone()),
            ..ProgramOptions::default()
        };
        let program = Program::new(kernel, operands, self.dimensions, &options);
        let program = program.map_err(|error| refuse(error, kernel, source))?;
        program.wrong_hints().iter().for_each(note);
        program.run(1).map_err(|error| of_backend(&error))?;
        drop(progress);
        let (predicted, gpu) = (model.take(), model.description());
        match settings::json() {
            true => output::print_json(json!({ "counters": predicted::as_json(&predicted, gpu) })),
            false => output::print(&predicted::text(&predicted, gpu)),
        }
    }

    /// The kernel as `spc run` schedules it for these inputs.
    fn uncompiled(
        &self,
        kernel: &notation::Kernel,
        operands: Vec<(String, Operand)>,
    ) -> Result<Uncompiled, ProgramError> {
        let options = ProgramOptions {
            backend: (self.target == concrete::Target::Gpu).then_some(Backend::Cuda),
            deterministic: self.deterministic,
            plan: self.plan.planning(),
            memory: self.plan.memory,
            calls: Some(self.repeat),
            ..ProgramOptions::default()
        };
        Uncompiled::new(kernel, operands, self.dimensions, &options)
    }

    fn options(&self) -> schedule::Options {
        schedule::Options { target: self.target, deterministic: self.deterministic, ..schedule::Options::default() }
    }

    /// A plan, the loops of what was scheduled, and the decisions about these.
    fn explained(
        &self,
        planned: Option<&Planned>,
        whole: &notation::Kernel,
        scheduled: &schedule::Program,
        source: &Source,
    ) -> Result<String, Failure> {
        let plan = planned.map(|planned| explanation::plan(planned) + "\n");
        let mut text = plan.unwrap_or_default() + &explanation::program(whole, scheduled);
        let compiled = spc_compiler::compile(scheduled.clone()).map_err(|problems| source.refuse(problems))?;
        let for_cuda =
            backend::cuda::Options { deterministic: self.deterministic, ..backend::cuda::Options::default() };
        for compiled in &compiled.kernels {
            match self.target {
                concrete::Target::Gpu => {
                    explanation::decisions(&for_device(compiled, None, for_cuda)?.decisions, &mut text);
                }
                concrete::Target::Cpu => explanation::decisions(&pass::decisions(&compiled.kernel), &mut text),
            }
        }
        if self.target == concrete::Target::Cpu && (self.has_inputs || settings::is_verbose()) {
            let (tier, reason) = Chain::expected(&compiled);
            _ = writeln!(text, "tier: {tier} ({reason})");
        }
        Ok(text)
    }
}

/// An `E` or a `W`, and digits.
fn is_like_a_code(text: &str) -> bool {
    text.strip_prefix(['E', 'e', 'W', 'w'])
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn code(text: &str) -> Result<String, Failure> {
    let code: Code = text.parse().map_err(Failure::refused)?;
    let now = diagnostics::RETIRED.iter().find(|(old, _)| *old == code).map(|(_, now)| *now);
    match (diagnostics::explain(code), now.and_then(diagnostics::explain)) {
        (Some(entry), _) => Ok(entry.to_string()),
        (None, Some(entry)) => Ok(format!("{code} is reported no more; in its place:\n\n{entry}")),
        (None, None) => {
            let failure = Failure::refused(format!("there is no error code {code}"));
            Err(failure.help("`spc explain` lists all codes"))
        }
    }
}

/// Whether a text is no program: no file, no assignment, no kernel. Updates are words.
fn is_like_a_word(text: &str) -> bool {
    let is_file = Path::new(text).exists() || text.ends_with(".ti");
    let is_program = text.contains(['=', '{', ';', '>']) || syntax::neighbours::translated(text).is_some();
    !topics::find(text).is_empty() || !is_file && !is_program
}

fn word(text: &str) -> Result<String, Failure> {
    let found = topics::find(text);
    if found.is_empty() {
        // `bcsr(4)`, `[dense, compressed]`
        let name = text.split('(').next().unwrap_or_default().trim();
        let is_format = topics::find(name).iter().any(|topic| topic.kind == Kind::Format);
        let failure = Failure::refused(format!("there is no word, file or code `{text}`"));
        return Err(match topics::similar(text) {
            _ if is_format || text.starts_with('[') => failure.help(format!("`spc formats '{text}'` draws a format")),
            Some(similar) => {
                failure.help(format!("did you mean `{similar}`?")).help("`spc explain` lists all words and codes")
            }
            None => failure.help("`spc explain` lists all words and codes"),
        });
    }
    Ok(found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// All that there is an explanation of.
fn everything() -> String {
    let rows: Vec<Vec<String>> =
        diagnostics::all().map(|entry| vec![entry.code.to_string(), entry.title.to_owned()]).collect();
    let mut text = format!("codes\n{}", output::table(&rows, 2));
    let topics = topics::all();
    for kind in Kind::ALL {
        let names: Vec<&str> =
            topics.iter().filter(|topic| topic.kind == kind).map(|topic| topic.name.as_str()).collect();
        _ = write!(text, "\n{}\n{}", kind.plural(), wrapped(&names));
    }
    text + "\n`spc explain CODE` and `spc explain WORD` tell more about one of them; `spc explain FILE|EXPR` explains a kernel's loops.\n"
}

/// Words in lines of at most a hundred letters.
fn wrapped(words: &[&str]) -> String {
    let mut lines = vec![String::new()];
    for word in words {
        let length = lines.last().map_or(0, String::len);
        if length > 0 && length + word.len() + 2 > 96 {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { ", " });
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("    {line}\n")).collect()
}
