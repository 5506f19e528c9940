//! What can keep a program from running.

use crate::execute::{Error, ExtentSource, NativeError};
use crate::tensor::{IndexError, InvalidTensor, PackError};
use spc_compiler::diagnostics::{Diagnostics, suggest};
use spc_compiler::ir::ElementType;

/// Why a kernel can't be run on some inputs. Messages count modes from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// The kernel can't be scheduled. The diagnostics' spans are those of the text that the kernel was checked from.
    #[error("{}", .0.iter().map(|diagnostic| diagnostic.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Schedule(Diagnostics),
    /// What is wrong with a kernel's text or with a format, with the place.
    #[error("{0}")]
    Text(String),
    /// A text has no kernel or several, where one is asked for.
    #[error("a kernel is compiled from a text of one `fn`, but this has {}", several(.names))]
    NotOneKernel {
        /// The kernels of the text.
        names: Vec<String>,
    },
    /// A format is given besides a text that declares it.
    #[error("a format is given for `{tensor}`, but the text declares its formats: write it there")]
    FormatTwice {
        /// The tensor.
        tensor: String,
    },
    /// The system refuses threads.
    #[error("there are no such threads: {source}")]
    Threads {
        /// Why not.
        source: std::io::Error,
    },
    /// An input is no tensor.
    #[error("`{tensor}`: {source}")]
    Input {
        /// The parameter.
        tensor: String,
        /// Why not.
        source: InvalidTensor,
    },
    /// An array of indices has elements that are none.
    #[error("`{tensor}`: {source}")]
    Indices {
        /// The parameter.
        tensor: String,
        /// Why not.
        source: IndexError,
    },
    /// Too few or too many targets for the results.
    #[error("`{kernel}` has {}, but gets {found} to write to", several(.expected))]
    Targets {
        /// The kernel.
        kernel: String,
        /// Its results.
        expected: Vec<String>,
        /// How many targets there are.
        found: usize,
    },
    /// There is no result of a name, or it has been taken.
    #[error("there is no result `{name}`{}", remedy(None, "the results are", .known))]
    NoSuchResult {
        /// As asked for.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// A kernel has several results where one is asked for.
    #[error("the kernel has {}: take each by its name", several(.names))]
    NotOneResult {
        /// The results.
        names: Vec<String>,
    },
    /// A result is of another type than asked for.
    #[error("the result `{tensor}` has {found}, which is no {expected}")]
    ResultType {
        /// The result.
        tensor: String,
        /// Its type, in words.
        found: String,
        /// The type asked for.
        expected: &'static str,
    },
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
    /// A kernel can't run on its results, or the rule that ends it sees no number.
    #[error("{0}")]
    Repetition(String),
    /// A call can't be made, or the kernel stopped.
    #[error(transparent)]
    Execute(#[from] Error),
}

impl From<NativeError> for ProgramError {
    fn from(error: NativeError) -> Self {
        Self::Execute(error.into())
    }
}

impl ProgramError {
    /// There is no index of a name.
    pub(in crate::execute) fn no_such_index(name: &str, known: &[&str]) -> Self {
        let similar = suggest::similar(name, known.iter().copied()).map(str::to_owned);
        let known = known.iter().map(|&known| known.to_owned()).collect();
        Self::NoSuchIndex { name: name.to_owned(), similar, known }
    }
}

/// ``2 (`y`, `z`)``
fn several(names: &[String]) -> String {
    let listed: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".to_owned() } else { format!("{} ({})", names.len(), listed.join(", ")) }
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
