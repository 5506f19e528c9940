//! What can be wrong with a program, as data, and the words for it.
//!
//! Stages push [`Diagnostic`]s into a [`Diagnostics`] and go on as far as they can, so that one run reports every
//! problem of a file. Nothing here prints: [`render`](mod@render) (feature `pretty`) turns diagnostics into the text
//! that people see, and the macro turns them into `compile_error!`s.

pub mod codes;
mod printable;
#[cfg(feature = "pretty")]
pub mod render;
pub mod suggest;
pub(crate) mod words;

pub use codes::{Entry, RETIRED, all, explain};
pub use printable::{is_obeyed, printable, printable_json, spelled};

use std::fmt;
use std::str::FromStr;

/// A range of bytes in the source text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span from byte `start` to before byte `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span::new(self.start.min(other.start), self.end.max(other.end))
    }
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing comes of the program.
    Error,
    /// The program has a meaning, which is probably not what was meant.
    Warning,
}

/// The line and the column of a byte of a text, in characters; both count from 1.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

/// One problem of a program: what, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is: as its code says, unless warnings are to be errors.
    pub severity: Severity,
    /// Which kind of problem; `spc explain CODE` expands it.
    pub code: Code,
    /// The headline, without a full stop.
    pub message: String,
    /// The text that is underlined.
    pub span: Span,
    /// Written beside the underlined text; may be empty.
    pub label: String,
    /// Other places that matter, each with its words.
    pub related: Vec<(Span, String)>,
    /// What to do about it, a line each.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// A problem of kind `code` at `span`.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let (severity, message) = (code.severity, message.into());
        Self { severity, code, message, span, label: String::new(), related: Vec::new(), help: Vec::new() }
    }

    /// The same as an error.
    pub fn into_error(self) -> Self {
        Self { severity: Severity::Error, ..self }
    }

    /// Sets the words beside the underlined text.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place that matters.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Adds a line of help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// The problems found so far, in any order; [`Diagnostics::into_sorted`] orders them by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// No problems.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records a problem.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All problems by position, without repetitions.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.0.sort_by(|a, b| (a.span, a.code, &a.message).cmp(&(b.span, b.code, &b.message)));
        self.0.dedup();
        self.0
    }

    /// All problems, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(found: I) -> Self {
        Self(found.into_iter().collect())
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, iter: I) {
        self.0.extend(iter);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The number of a kind of problem, printed as `E0102`; that of a warning as `W0101`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// How bad such a problem is.
    pub severity: Severity,
    /// The digits.
    pub number: u16,
}

impl Code {
    /// The code of an error.
    pub const fn error(number: u16) -> Self {
        Self { severity: Severity::Error, number }
    }

    /// The code of a warning.
    pub const fn warning(number: u16) -> Self {
        Self { severity: Severity::Warning, number }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.severity {
            Severity::Error => 'E',
            Severity::Warning => 'W',
        };
        write!(f, "{letter}{:04}", self.number)
    }
}

/// A text that is no code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotACode;

impl fmt::Display for NotACode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a code: a code is an `E` or a `W` and four digits, such as `E0102`")
    }
}

impl std::error::Error for NotACode {}

impl FromStr for Code {
    type Err = NotACode;

    /// Reads `E0102` and `W0101`, also with a small letter.
    fn from_str(text: &str) -> Result<Self, NotACode> {
        let error = text.strip_prefix(['E', 'e']).map(|digits| (Severity::Error, digits));
        let warning = || text.strip_prefix(['W', 'w']).map(|digits| (Severity::Warning, digits));
        let (severity, digits) = error.or_else(warning).ok_or(NotACode)?;
        if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NotACode);
        }
        digits.parse().map(|number| Code { severity, number }).map_err(|_| NotACode)
    }
}
