//! What ends a command before its work is done.

use crate::{settings, stderr};
use anstyle::Style;
use serde_json::{Value, json};
use spc_compiler::diagnostics::printable;
use std::fmt::Display;

/// Why a command stops.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An input was refused.
    Refused(Box<Problem>),
    /// A text was refused: this, which has its own headlines, says why to people, and the problems say it to programs.
    Rendered(String, Vec<Problem>),
    /// The arguments contradict each other.
    Usage(Box<Problem>),
    /// What the command has printed says what is wrong.
    Reported,
    /// The standard output is closed at its other end.
    BrokenPipe,
}

/// What is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Problem {
    /// `usage`, `file`, `refused`, or that of a diagnostic.
    pub(crate) code: String,
    /// The message, without a full stop.
    pub(crate) message: String,
    /// Where, if that is known.
    pub(crate) place: Option<Place>,
    /// What to do about it, a line each.
    pub(crate) help: Vec<String>,
}

/// A place in a file or in an argument; lines and columns count from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
}

impl Problem {
    pub(crate) fn new(code: &str, message: impl Display) -> Self {
        Self { code: code.to_owned(), message: message.to_string(), ..Self::default() }
    }

    pub(crate) fn as_json(&self) -> Value {
        let place = self.place.as_ref();
        let place = place.map(|Place { file, line, column }| json!({ "file": file, "line": line, "column": column }));
        json!({ "code": self.code, "message": self.message, "place": place, "help": self.help })
    }
}

impl Failure {
    /// An input was refused.
    pub(crate) fn refused(message: impl Display) -> Self {
        Failure::Refused(Problem::new("refused", message).into())
    }

    /// The arguments contradict each other.
    pub(crate) fn usage(message: impl Display) -> Self {
        Failure::Usage(Problem::new("usage", message).into())
    }

    /// A file that can't be read or used.
    pub(crate) fn file(path: impl Display, reason: impl Display) -> Self {
        let place = Some(Place { file: Some(path.to_string()), ..Place::default() });
        Failure::Refused(Problem { place, ..Problem::new("file", format!("{path}: {reason}")) }.into())
    }

    /// Adds a line that says what to do.
    pub(crate) fn help(mut self, line: impl Display) -> Self {
        match &mut self {
            Failure::Refused(problem) | Failure::Usage(problem) => problem.help.push(line.to_string()),
            Failure::Rendered(text, problems) => {
                let bold = Style::new().bold();
                let end = text.rfind("\nfor more about").unwrap_or(text.len());
                let shown = line.to_string();
                text.insert_str(end, &format!("  {bold}= help{bold:#}: {}\n", printable(&shown)));
                if let Some(problem) = problems.last_mut() {
                    problem.help.push(line.to_string());
                }
            }
            Failure::Reported | Failure::BrokenPipe => {}
        }
        self
    }

    /// The exit status.
    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Refused(_) | Failure::Rendered(..) | Failure::Reported => 1,
            Failure::Usage(_) => 2,
            Failure::BrokenPipe => 0,
        }
    }

    /// What is wrong, for a field `errors` of a document.
    pub(crate) fn errors(&self) -> Vec<Value> {
        match self {
            Failure::Refused(problem) | Failure::Usage(problem) => vec![problem.as_json()],
            Failure::Rendered(_, problems) => problems.iter().map(Problem::as_json).collect(),
            Failure::Reported | Failure::BrokenPipe => Vec::new(),
        }
    }
}

/// What is worth knowing and stops nothing, on standard error.
pub(crate) fn note(message: impl Display) {
    if settings::is_quiet() {
        return;
    }
    let bold = Style::new().bold();
    stderr::write(&format!("{bold}note{bold:#}: {}\n", printable(&message.to_string())));
}

impl Display for Failure {
    /// What is wrong, without what to do about it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Refused(problem) | Failure::Usage(problem) => f.write_str(problem.message.trim_end()),
            Failure::Rendered(text, _) => f.write_str(text.trim_end()),
            Failure::Reported => f.write_str("it is in what was printed"),
            Failure::BrokenPipe => f.write_str("the output is closed at its other end"),
        }
    }
}

impl From<spc::io::ReadError> for Failure {
    fn from(error: spc::io::ReadError) -> Self {
        let file = error.path().map(|path| path.display().to_string());
        let place = Some(Place { file, line: error.line(), column: error.column() });
        Failure::Refused(Problem { place, ..Problem::new("file", error) }.into())
    }
}

impl From<spc::io::WriteError> for Failure {
    fn from(error: spc::io::WriteError) -> Self {
        let place = Some(Place { file: Some(error.path().display().to_string()), ..Place::default() });
        Failure::Refused(Problem { place, ..Problem::new("file", error) }.into())
    }
}
