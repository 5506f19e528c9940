//! `spc completions`: for the user's shell.

use crate::failure::Failure;
use crate::output;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        output::with_stdout(|out| {
            let mut text = Vec::new();
            clap_complete::generate(self.shell, &mut crate::Command::command(), "spc", &mut text);
            out.write_all(&text)
        })
    }
}
