//! What can be wrong with a file, as values that print as one line.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::tensor::{InvalidTensor, OutOfMemory};
use spc_compiler::diagnostics::printable;

/// Why a file could not be read: a [kind](ReadErrorKind), where, and a sentence with the offending text and a remedy.
///
/// Prints as `x.tns:17:4: index '-3' of mode 2: indices start from 1`; the parts that are not known are left out.
#[derive(Debug)]
pub struct ReadError(Box<ReadFailure>);

#[derive(Debug)]
struct ReadFailure {
    kind: ReadErrorKind,
    path: Option<PathBuf>,
    place: Option<Place>,
    message: String,
    source: Option<io::Error>,
}

/// A line and a column in a text, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
}

/// The kinds of [`ReadError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The operating system refused: the file is missing, is a directory, may not be read.
    Io,
    /// Neither the name nor the caller says what kind of file it is.
    UnknownFormat,
    /// The file is right, but holds what cannot be read here, such as complex numbers.
    NotSupported,
    /// The gzip data are damaged or end early.
    Compression,
    /// A header or size line is wrong.
    Header,
    /// A line has too few or too many fields.
    FieldCount,
    /// An index is not a whole number, is 0, or lies beyond the shape.
    Index,
    /// A value is not a number, or not one that the element type holds.
    Value,
    /// There are more or fewer entries than the file states, or one where the symmetry leaves no room.
    Entries,
    /// The shape is unknown, or not the one that the caller stated.
    Shape,
    /// The file is right as far as can be seen, but this machine has not enough memory for it.
    Memory,
    /// A binary file is cut short, has a wrong checksum or arrays that contradict one another.
    Corrupt,
}

impl ReadError {
    pub(crate) fn new(kind: ReadErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self(Box::new(ReadFailure { kind, path: None, place: None, message, source: None }))
    }

    pub(crate) fn io(path: &Path, doing: &str, error: io::Error) -> Self {
        let mut this = Self::new(ReadErrorKind::Io, format!("cannot {doing}: {error}")).in_file(path);
        this.0.source = Some(error);
        this
    }

    /// Why arrays out of a file make no tensor: damage, or too little memory.
    pub(crate) fn of_arrays(error: InvalidTensor) -> Self {
        match error {
            InvalidTensor::Memory(error) => error.into(),
            error => Self::new(ReadErrorKind::Corrupt, error.to_string()),
        }
    }

    /// States the file that the error is about.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.0.path = Some(path.to_owned());
        self
    }

    /// States the place of byte `offset` of `text`.
    pub(crate) fn at(mut self, text: &[u8], offset: usize) -> Self {
        let before = &text[..offset.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        self.0.place = Some(Place { line, column });
        self
    }

    /// States that so many lines come before the text in which the error is.
    pub(crate) fn after_lines(mut self, lines: usize) -> Self {
        if let Some(place) = &mut self.0.place {
            place.line += lines;
        }
        self
    }

    /// Adds a hint to the end of the message.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        self.0.message.push_str(hint);
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ReadErrorKind {
        self.0.kind
    }

    /// The file, if the text came from one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The line in the (uncompressed) text, from 1.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.0.place.map(|place| place.line)
    }

    /// The column in the line, in characters, from 1.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.0.place.map(|place| place.column)
    }

    /// The sentence without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl From<OutOfMemory> for ReadError {
    fn from(error: OutOfMemory) -> Self {
        Self::new(ReadErrorKind::Memory, format!("the file is too large to be read: {error}"))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.path, self.0.place) {
            (Some(path), Some(place)) => write!(f, "{}:{}:{}: ", shown(path), place.line, place.column)?,
            (Some(path), None) => write!(f, "{}: ", shown(path))?,
            (None, Some(place)) => write!(f, "{}:{}: ", place.line, place.column)?,
            (None, None) => {}
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|error| error as _)
    }
}

/// A path as a terminal may show it.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string()).into_owned()
}

/// Why a file could not be written. What the path held before is still there.
#[derive(Debug)]
pub struct WriteError(Box<WriteFailure>);

#[derive(Debug)]
struct WriteFailure {
    kind: WriteErrorKind,
    path: PathBuf,
    message: String,
    source: Option<io::Error>,
}

/// The kinds of [`WriteError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WriteErrorKind {
    /// The operating system refused: no such folder, no permission, a full disk.
    Io,
    /// This machine has not enough memory for what is to be written.
    Memory,
    /// The name does not say what kind of file to write.
    UnknownFormat,
    /// This kind of file cannot hold this tensor, such as a third-order tensor in a `.mtx` file.
    NotSupported,
}

impl WriteError {
    pub(crate) fn new(kind: WriteErrorKind, path: &Path, message: impl Into<String>) -> Self {
        Self(Box::new(WriteFailure { kind, path: path.to_owned(), message: message.into(), source: None }))
    }

    /// What is to be written does not fit into memory.
    pub(crate) fn memory(path: &Path, error: &ReadError) -> Self {
        Self::new(WriteErrorKind::Memory, path, error.message())
    }

    /// An error of the operating system, or of a writer that says [`io::ErrorKind::InvalidInput`] to mean that the file
    /// format cannot hold the tensor.
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let (kind, message) = match error.kind() {
            io::ErrorKind::InvalidInput => (WriteErrorKind::NotSupported, error.to_string()),
            io::ErrorKind::OutOfMemory => (WriteErrorKind::Memory, error.to_string()),
            _ => (WriteErrorKind::Io, format!("cannot write: {error}")),
        };
        let mut this = Self::new(kind, path, message);
        this.0.source = Some(error);
        this
    }

    /// States what was to be written.
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.0.path = path.to_owned();
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> WriteErrorKind {
        self.0.kind
    }

    /// The file that was to be written.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", shown(&self.0.path), self.0.message)
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|error| error as _)
    }
}
