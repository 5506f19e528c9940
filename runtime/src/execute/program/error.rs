//! What can keep a program from running.

use crate::execute::{Error, ExtentSource, NativeError};
use crate::tensor::PackError;
use spc_compiler::diagnostics::Diagnostics;
use spc_compiler::ir::ElementType;

/// Why a kernel can't be run on some inputs. Messages count modes from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The kernel can't be scheduled. The diagnostics' spans are those of the text that the kernel was checked from.
    #[error("{}", .0.iter().map(|diagnostic| diagnostic.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Schedule(Diagnostics),
    /// An input is given for what is no parameter.
    #[error("the kernel has no parameter `{name}`{}", remedy(.similar.as_deref(), "its parameters are", .known))]
    NoSuchInput {
        /// As given.
        name: String,
        /// The parameter that is probably meant.
        similar: Option<String>,
        /// The kernel's parameters.
        known: Vec<String>,
    },
    /// A parameter is given twice.
    #[error("`{name}` is given twice")]
    GivenTwice {
        /// The parameter.
        name: String,
    },
    /// A parameter has no input.
    #[error("there is no input for `{name}`")]
    NoInput {
        /// The parameter.
        name: String,
    },
    /// An extent is stated for an index that the kernel does not have.
    #[error("the kernel has no index `{name}`{}", remedy(.similar.as_deref(), "its indices are", .known))]
    NoSuchIndex {
        /// As stated.
        name: String,
        /// The index that is probably meant.
        similar: Option<String>,
        /// The kernel's indices.
        known: Vec<String>,
    },
    /// An entry lies beyond the extent of its mode.
    #[error(
        "mode {} of `{tensor}` has an entry at {needed} (counting from 1, as in a file), \
         beyond the extent {extent} that index `{index}` has {by}", mode + 1
    )]
    Beyond {
        /// The tensor.
        tensor: String,
        /// The mode.
        mode: usize,
        /// The extent that would hold its entries.
        needed: usize,
        /// The index variable.
        index: String,
        /// Its extent.
        extent: usize,
        /// Who says so.
        by: ExtentSource,
    },
    /// An input can't be stored as it is declared.
    #[error("`{tensor}`: {source}")]
    Pack {
        /// The tensor.
        tensor: String,
        /// Why not.
        source: PackError,
    },
    /// Random elements or ones for a tensor that is not dense.
    #[error(
        "`{tensor}` is stored as {format}: random elements and ones are for dense tensors; \
         `spc generate` makes files of random entries"
    )]
    FilledSparse {
        /// The tensor.
        tensor: String,
        /// Its format.
        format: String,
    },
    /// A number that a scalar's type can't hold.
    #[error("`{tensor}` is declared {}, which does not hold {value}", element.name())]
    Scalar {
        /// The parameter.
        tensor: String,
        /// The number.
        value: f64,
        /// The parameter's type.
        element: ElementType,
    },
    /// A call can't be made, or the kernel stopped.
    #[error(transparent)]
    Execute(#[from] Error),
}

impl From<NativeError> for ProgramError {
    fn from(error: NativeError) -> Self {
        Self::Execute(error.into())
    }
}

/// `: did you mean …?`, or what there is.
fn remedy(similar: Option<&str>, list: &str, known: &[String]) -> String {
    match similar {
        Some(similar) => format!(": did you mean `{similar}`?"),
        None if known.is_empty() => String::new(),
        None => {
            let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
            format!("; {list} {}", known.join(", "))
        }
    }
}
