//! The command `spc`: compiles, runs and explains sparse tensor kernels.
//!
//! One file for each verb. A verb is a struct of arguments with a method `run`; what it prints goes through
//! [`output`](mod@output), what it refuses is a [`Failure`](failure::Failure). The exit status is what [`STATUS`] says.

mod arguments;
mod bench;
mod cache;
mod catalogue;
mod compile;
mod convert;
mod decompose;
mod explain;
mod failure;
mod files;
mod formats;
mod generate;
mod grad;
mod info;
mod manual;
mod names;
mod output;
mod page;
mod planning;
mod play;
mod predicted;
mod processes;
mod progress;
mod ranks;
mod run;
mod settings;
mod source;
mod standalone;
mod stderr;
mod suite;
mod test;
mod threads;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use failure::{Failure, Problem};
use settings::Settings;
use spc::memory::HugePages;
use spc_compiler::diagnostics::{printable, suggest};
use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Compiles tensor index notation over sparse storage formats, and runs it.
#[derive(Debug, Parser)]
#[command(name = "spc", version, max_term_width = 110, after_help = STATUS)]
struct Command {
    #[command(flatten)]
    settings: Settings,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Compile(compile::Compile),
    Run(Box<run::Run>),
    Explain(explain::Explain),
    Grad(grad::Grad),
    Formats(formats::Formats),
    Play(play::Play),
    Test(test::Test),
    Info(info::Info),
    Convert(convert::Convert),
    Generate(generate::Generate),
    Cp(Box<decompose::Cp>),
    Tucker(Box<decompose::Tucker>),
    Power(Box<decompose::Power>),
    Bench(Box<bench::Bench>),
    Suite(Box<suite::Suite>),
    Cache(cache::Cache),
    Catalogue(catalogue::Catalogue),
    Completions(manual::Completions),
    Man(manual::Man),
}

impl Verb {
    /// Refuses to do in each of many processes what is for one.
    fn alone(&self) -> Result<(), Failure> {
        match ranks::launched() {
            processes
                if processes > 1 && !matches!(self, Verb::Run(_) | Verb::Cp(_) | Verb::Tucker(_) | Verb::Bench(_)) =>
            {
                let message = format!(
                    "{processes} processes were started together, which only `spc run`, `spc cp`, `spc tucker` and `spc bench` are for"
                );
                Err(Failure::usage(message).help("start this verb without `mpirun`"))
            }
            _ => Ok(()),
        }
    }
}

/// What the exit status means.
const STATUS: &str = "\
Exit status: 0, all was done; 1, an input was refused or something went wrong; 2, wrong usage; 101, a fault of spc.
With --json, standard output is one document with a \"schema\" number; where something is refused, it has \"errors\", each with \
a code, a message, a place and help.";

/// The command line, checked.
fn parsed(arguments: &[OsString]) -> Result<Command, ExitCode> {
    let early = Settings::early(arguments);
    early.color.hold();
    let command = Command::command().color(early.color.of_clap());
    let parsed = command.try_get_matches_from(arguments).and_then(|matches| Command::from_arg_matches(&matches));
    parsed.map_err(|mut error| {
        suggest_to(&mut error, arguments);
        let is_help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        if is_help {
            // A closed output loses what is printed.
            _ = error.print();
            return ExitCode::SUCCESS;
        }
        if !early.json {
            stderr::print_styled(&error.render().ansi().to_string());
            return ExitCode::from(2);
        }
        early.hold();
        output::report(Failure::Usage(usage(&error.render().to_string()).into()))
    })
}

/// Has an error say which verb, option or value is probably meant, where clap finds none.
fn suggest_to(error: &mut clap::Error, arguments: &[OsString]) {
    let mut command = &Command::command();
    for argument in arguments.iter().skip(1) {
        command = argument.to_str().and_then(|name| command.find_subcommand(name)).unwrap_or(command);
    }
    let verbs = || command.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    let options = || command.get_arguments().filter_map(|option| Some(format!("--{}", option.get_long()?))).collect();
    let values = |error: &clap::Error| match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.clone(),
        _ => Vec::new(),
    };
    let (given, suggested, names): (_, _, Vec<String>) = match error.kind() {
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand, verbs()),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg, options()),
        ErrorKind::InvalidValue => (ContextKind::InvalidValue, ContextKind::SuggestedValue, values(error)),
        _ => return,
    };
    if error.get(suggested).is_some() {
        return;
    }
    let Some(ContextValue::String(given)) = error.get(given) else { return };
    if let Some(similar) = suggest::similar(given, names.iter().map(String::as_str)) {
        let similar = similar.to_owned();
        error.insert(
            suggested,
            match suggested {
                ContextKind::SuggestedSubcommand => ContextValue::Strings(vec![similar]),
                _ => ContextValue::String(similar),
            },
        );
    }
}

/// What is wrong with the arguments, from the text that people read.
fn usage(text: &str) -> Problem {
    let mut paragraphs = text.trim().split("\n\n");
    let first = paragraphs.next().unwrap_or_default();
    let message: Vec<&str> = first.trim_start_matches("error: ").lines().map(str::trim).collect();
    let help = paragraphs.flat_map(str::lines).map(str::trim).filter_map(|line| line.strip_prefix("tip: "));
    Problem { help: help.map(str::to_owned).collect(), ..Problem::new("usage", message.join(" ")) }
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        let fault = printable(&panic.to_string()).into_owned();
        let report = "this is a fault of spc, please report it together with the command";
        stderr::write(&format!("error: {report}: {fault}\n"));
    }));
    spc::io::fail_at_size_limit();
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let Command { settings, verb } = match parsed(&arguments) {
        Ok(command) => command,
        Err(status) => return status,
    };
    settings.hold();
    if let Err(failure) = verb.alone() {
        return output::report(failure);
    }
    let result = match verb {
        Verb::Compile(verb) => verb.run(),
        Verb::Run(verb) => verb.run(),
        Verb::Explain(verb) => verb.run(),
        Verb::Grad(verb) => verb.run(),
        Verb::Formats(verb) => verb.run(),
        Verb::Play(verb) => verb.run(),
        Verb::Test(verb) => verb.run(),
        Verb::Info(verb) => threads::on(0, || verb.run()).flatten(),
        Verb::Convert(verb) => threads::on(0, || verb.run()).flatten(),
        Verb::Generate(verb) => threads::on(0, || verb.run()).flatten(),
        Verb::Cp(verb) => verb.run(),
        Verb::Tucker(verb) => verb.run(),
        Verb::Power(verb) => verb.run(),
        Verb::Bench(verb) => verb.run(),
        Verb::Suite(verb) => verb.run(),
        Verb::Cache(verb) => verb.run(),
        Verb::Catalogue(verb) => verb.run(),
        Verb::Completions(verb) => verb.run(),
        Verb::Man(verb) => verb.run(),
    };
    spc::execute::cache_warnings().iter().for_each(failure::note);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::report(failure),
    }
}
