//! The command `spc`: compiles, runs and explains sparse tensor kernels.
//!
//! One file for each verb. A verb is a struct of arguments with a method `run`; what it prints goes through
//! [`output`](mod@output), what it refuses is a [`Failure`](failure::Failure). Exit status: 0, 1 for a refused input, 2 for
//! wrong usage.

mod arguments;
mod bench;
mod compile;
mod completions;
mod convert;
mod explain;
mod failure;
mod formats;
mod generate;
mod info;
mod output;
mod progress;
mod run;
mod source;
mod test;
mod threads;

use clap::{Parser, Subcommand};
use spc::memory::HugePages;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

/// Compiles tensor index notation over sparse storage formats, and runs it.
#[derive(Debug, Parser)]
#[command(name = "spc", version, max_term_width = 110, disable_help_subcommand = true)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Compile(compile::Compile),
    Run(run::Run),
    Explain(explain::Explain),
    Test(test::Test),
    Info(info::Info),
    Convert(convert::Convert),
    Generate(generate::Generate),
    Bench(Box<bench::Bench>),
    #[command(hide = true)]
    Completions(completions::Completions),
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error: this is a fault of spc, please report it together with the command: {panic}");
    }));
    spc::io::fail_at_size_limit();
    let result = match Command::parse().verb {
        Verb::Compile(verb) => verb.run(),
        Verb::Run(verb) => verb.run(),
        Verb::Explain(verb) => verb.run(),
        Verb::Test(verb) => verb.run(),
        Verb::Info(verb) => threads::on(0, || verb.run()).flatten(),
        Verb::Convert(verb) => threads::on(0, || verb.run()).flatten(),
        Verb::Generate(verb) => threads::on(0, || verb.run()).flatten(),
        Verb::Bench(verb) => verb.run(),
        Verb::Completions(verb) => verb.run(),
    };
    spc::execute::cache_warnings().iter().for_each(failure::note);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
