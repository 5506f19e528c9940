//! Formats by name: those that every program has, and those that a file defines.

use crate::failure::Failure;
use crate::source;
use clap::Args;
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{self, Definitions};
use spc_compiler::syntax::{self, Program};

/// Where formats beside the known ones have their names from.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FormatsArguments {
    /// A `.ti` file whose `format` definitions can be named as formats
    #[arg(long = "formats", value_name = "FILE")]
    pub(crate) definitions: Option<String>,
}

impl FormatsArguments {
    /// The file, parsed and checked; a program without definitions where there is none.
    pub(crate) fn load(&self) -> Result<Program, Failure> {
        let Some(path) = &self.definitions else { return Ok(Program::default()) };
        source::checked(path).map(|file| file.program)
    }
}

/// The format of that text for a tensor of order `order`.
pub(crate) fn parse_format(text: &str, order: usize, definitions: &Definitions<'_>) -> Result<Format, Failure> {
    let parsed = syntax::parse_format(text);
    let resolved = parsed.and_then(|format| resolve::resolve(&format, order, definitions));
    resolved.map_err(|problems| source::rendered(&[(text, "--format", problems)]))
}
