//! What goes wrong, as exceptions of Python's.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;
use spc::execute::ProgramError;
use std::fmt::Display;

create_exception!(
    _native,
    SpcError,
    PyException,
    "What goes wrong in spc, and is no error in a text, a value or a file."
);

/// A message without what a terminal obeys: names of files and tensors may have control characters.
fn plain(error: impl Display) -> String {
    let mut text = String::new();
    for character in error.to_string().chars() {
        match character {
            '\n' => text.push(character),
            // Marks of the direction of text are no control characters.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                text.extend(character.escape_unicode());
            }
            _ if character.is_control() => text.extend(character.escape_default()),
            _ => text.push(character),
        }
    }
    text
}

/// An input, a shape or an option that does not fit.
pub(crate) fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(plain(error))
}

/// A file that can't be read or written.
pub(crate) fn file(error: impl Display) -> PyErr {
    PyOSError::new_err(plain(error))
}

/// What is neither of these.
pub(crate) fn other(error: impl Display) -> PyErr {
    SpcError::new_err(plain(error))
}

/// A problem in a text: the message has its lines with carets below what is wrong.
pub(crate) fn text(message: String) -> PyErr {
    pyo3::exceptions::PySyntaxError::new_err(plain(message))
}

/// What compiling or running a kernel has found.
pub(crate) fn program(error: ProgramError) -> PyErr {
    match error {
        ProgramError::Text(message) => text(format!("\n{message}")),
        ProgramError::Execute(spc::Error::Memory { .. }) => PyMemoryError::new_err(plain(error)),
        ProgramError::Execute(spc::Error::Native(_) | spc::Error::Stopped { .. } | spc::Error::Interrupted { .. }) => {
            other(error)
        }
        error => value(error),
    }
}
