//! `spc explain`: why the loops are as they are, and what an error code means.

use crate::arguments::{KernelArguments, Named, named_format};
use crate::compile::{Target, for_device};
use crate::failure::Failure;
use crate::formats::FormatsArguments;
use crate::output;
use crate::settings;
use crate::source::Source;
use clap::Args;
use serde_json::json;
use spc::execute::with_stack_for;
use spc_compiler::concrete::{self, Decision};
use spc_compiler::diagnostics::{self, Code};
use spc_compiler::{backend, notation, pass};
use std::fmt::Write;

/// Explain a kernel's loops, or an error code
///
/// For a kernel: its loops, and each decision of the scheduler with its reason. For a code such as E0102: what it means,
/// with an example. Without an argument: all codes.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A `.ti` file, an assignment in index notation, or an error code
    #[arg(value_name = "FILE|EXPR|CODE")]
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
}

impl Explain {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Some(target) = self.target else { return print(&all_codes()) };
        if is_like_a_code(&target) {
            return print(&code(&target)?);
        }
        let Self { formats, named, kernel, strict, .. } = self;
        let source = Source::load(&KernelArguments { program: target, formats, named, kernel, strict })?;
        let mut texts = Vec::new();
        let is_for_gpu = self.backend == Target::Cuda;
        let for_cuda =
            backend::cuda::Options { deterministic: self.deterministic, ..backend::cuda::Options::default() };
        let target = if is_for_gpu { concrete::Target::Gpu } else { concrete::Target::Cpu };
        for kernel in &source.kernels {
            let deterministic = self.deterministic;
            let options = concrete::Options { target, deterministic, ..concrete::Options::default() };
            let explained = || {
                let program = concrete::schedule(kernel, options).map_err(|problems| source.refuse(problems))?;
                let mut text = program_explanation(kernel, &program);
                for compiled in &spc_compiler::compile(program).kernels {
                    match target {
                        concrete::Target::Gpu => decisions(&for_device(compiled, for_cuda)?.decisions, &mut text),
                        concrete::Target::Cpu => decisions(&pass::decisions(&compiled.kernel), &mut text),
                    }
                }
                Ok::<String, Failure>(text)
            };
            texts.push(with_stack_for(kernel, explained)?);
        }
        print(&texts.join("\n"))
    }
}

/// Prints an explanation, as JSON where that is asked for.
fn print(text: &str) -> Result<(), Failure> {
    if settings::json() { output::print_json(json!({ "explanation": text })) } else { output::print(text) }
}

/// An `E` or a `W`, and digits.
fn is_like_a_code(text: &str) -> bool {
    text.strip_prefix(['E', 'e', 'W', 'w'])
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn code(text: &str) -> Result<String, Failure> {
    let code: Code = text.parse().map_err(Failure::refused)?;
    match diagnostics::explain(code) {
        Some(entry) => Ok(entry.to_string()),
        None => {
            let failure = Failure::refused(format!("there is no error code {code}"));
            Err(failure.help("`spc explain` lists all codes"))
        }
    }
}

fn all_codes() -> String {
    let rows: Vec<Vec<String>> =
        diagnostics::all().map(|entry| vec![entry.code.to_string(), entry.title.to_owned()]).collect();
    format!(
        "{}\n`spc explain CODE` tells more about one of them; `spc explain FILE|EXPR` explains a kernel's loops.\n",
        output::table(&rows, 2)
    )
}

/// What a kernel becomes: where it has several statements, what became of those, and then each loop nest.
fn program_explanation(kernel: &notation::Kernel, program: &concrete::Program) -> String {
    let mut text = String::new();
    for line in &kernel.documentation {
        _ = writeln!(text, "{}", line.trim());
    }
    if kernel.statements.len() > 1 {
        for statement in &kernel.statements {
            _ = writeln!(text, "{}", kernel.statement(statement));
        }
        text.push('\n');
        decisions(&program.chain.decisions, &mut text);
        text.push('\n');
    }
    let nests: Vec<String> = program.kernels.iter().map(explanation).collect();
    text + &nests.join("\n")
}

fn explanation(kernel: &concrete::Kernel) -> String {
    let mut text = String::new();
    for line in &kernel.summary {
        _ = writeln!(text, "{line}");
    }
    _ = writeln!(text, "\n{kernel}");
    decisions(&kernel.decisions, &mut text);
    text
}

fn decisions(decisions: &[Decision], text: &mut String) {
    for decision in decisions {
        _ = writeln!(text, "* {}\n      {}", decision.what, decision.why);
    }
}
