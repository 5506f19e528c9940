//! `spc man` and `spc completions`: for the user's system.

use crate::failure::Failure;
use crate::{names, output};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

/// Print completions for a shell
///
/// For instance, `spc completions bash > ~/.local/share/bash-completion/completions/spc`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Command::command(), "spc", &mut text);
        output::print(&String::from_utf8_lossy(&text))
    }
}

/// Print manual pages
///
/// The page of the command, or of the verb that is named, such as `spc man generate uniform | man -l -`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Whose page
    #[arg(value_name = "VERB", conflicts_with = "folder")]
    verb: Vec<String>,
    /// Write all pages into this folder: spc.1, spc-run.1 and so on
    #[arg(short = 'o', long = "output", value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let mut command = crate::Command::command();
        command.build();
        if let Some(folder) = &self.folder {
            std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder.display(), error))?;
            let mut pages = Vec::new();
            pages_of(&command, "spc", &mut pages);
            return pages
                .iter()
                .try_for_each(|(name, page)| Ok(spc::io::write_text(folder.join(format!("{name}.1")), page)?));
        }
        let mut found = &command;
        for verb in &self.verb {
            let verbs: Vec<&str> = found.get_subcommands().map(clap::Command::get_name).collect();
            found = found.find_subcommand(verb).ok_or_else(|| {
                let name = found.get_name();
                names::unknown(format!("`{name}` has no verb `{verb}`"), verb, verbs.iter().copied(), "its verbs are")
            })?;
        }
        output::print(&page(found))
    }
}

/// The page of a command, as roff.
fn page(command: &clap::Command) -> String {
    let mut text = Vec::new();
    // Writing into memory does not fail.
    _ = clap_mangen::Man::new(command.clone()).render(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn pages_of(command: &clap::Command, name: &str, pages: &mut Vec<(String, String)>) {
    pages.push((name.to_owned(), page(command)));
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        pages_of(verb, &format!("{name}-{}", verb.get_name()), pages);
    }
}
