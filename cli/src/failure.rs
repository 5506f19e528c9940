//! What ends a command before its work is done.

use anstyle::{AnsiColor, Style};
use std::fmt::Display;
use std::process::ExitCode;

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An input was refused: a message, and what to do about it.
    Refused {
        /// The message, without a full stop.
        message: String,
        /// A line each.
        help: Vec<String>,
    },
    /// An input was refused, and this text, which has its own headline, says why.
    Rendered(String),
    /// The arguments contradict each other.
    Usage(String),
    /// Nobody reads the standard output any more.
    BrokenPipe,
}

impl Failure {
    /// An input was refused.
    pub(crate) fn refused(message: impl Display) -> Self {
        Failure::Refused { message: message.to_string(), help: Vec::new() }
    }

    /// Adds a line that says what to do.
    pub(crate) fn help(mut self, line: impl Display) -> Self {
        if let Failure::Refused { help, .. } = &mut self {
            help.push(line.to_string());
        }
        self
    }

    /// Prints the message on standard error; gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        let bold = Style::new().bold();
        let red = AnsiColor::BrightRed.on_default().bold();
        match self {
            Failure::Refused { message, help } => {
                anstream::eprintln!("{red}error{red:#}{bold}: {message}{bold:#}");
                for line in help {
                    anstream::eprintln!("  {bold}= help{bold:#}: {line}");
                }
                ExitCode::from(1)
            }
            Failure::Rendered(text) => {
                anstream::eprint!("{text}");
                ExitCode::from(1)
            }
            Failure::Usage(message) => {
                anstream::eprintln!("{red}error{red:#}: {message}\n\nFor more information, try '--help'.");
                ExitCode::from(2)
            }
            Failure::BrokenPipe => ExitCode::SUCCESS,
        }
    }
}

/// What is worth knowing and stops nothing, on standard error.
pub(crate) fn note(message: impl Display) {
    let bold = Style::new().bold();
    anstream::eprintln!("{bold}note{bold:#}: {message}");
}

impl Display for Failure {
    /// What is wrong, without what to do about it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused { message, .. } | Failure::Rendered(message) | Failure::Usage(message) => {
                f.write_str(message.trim_end())
            }
            Failure::BrokenPipe => f.write_str("nobody reads the output"),
        }
    }
}

impl From<spc::io::ReadError> for Failure {
    fn from(error: spc::io::ReadError) -> Self {
        Failure::refused(error)
    }
}

impl From<spc::io::WriteError> for Failure {
    fn from(error: spc::io::WriteError) -> Self {
        Failure::refused(error)
    }
}
