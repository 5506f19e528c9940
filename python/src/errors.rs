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

/// An input, a shape or an option that does not fit.
pub(crate) fn value(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A file that can't be read or written.
pub(crate) fn file(error: impl Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// A problem in a text: the message has its lines with carets below what is wrong.
pub(crate) fn text(message: String) -> PyErr {
    pyo3::exceptions::PySyntaxError::new_err(message)
}

/// What compiling or running a kernel has found.
pub(crate) fn program(error: ProgramError) -> PyErr {
    match error {
        ProgramError::Text(message) => text(format!("\n{message}")),
        ProgramError::Execute(spc::Error::Memory { .. }) => PyMemoryError::new_err(error.to_string()),
        ProgramError::Execute(spc::Error::Native(_) | spc::Error::Stopped { .. } | spc::Error::Interrupted { .. }) => {
            SpcError::new_err(error.to_string())
        }
        other => value(other),
    }
}
