//! Names that do not exist, and which may be meant.

use crate::failure::Failure;
use spc_compiler::diagnostics::suggest;
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax;
use std::fmt::Display;

/// Refuses a name: `message` says that there is none such. A similar one is suggested; else all are listed as `they`, such as
/// `its kernels are`.
pub(crate) fn unknown<'a>(
    message: impl Display,
    name: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
    they: &str,
) -> Failure {
    Failure::refused(message).help(remedy(name, names, they))
}

/// The same for a name within an argument, as one line.
pub(crate) fn refusal<'a>(
    message: impl Display,
    name: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
    they: &str,
) -> String {
    format!("{message}: {}", remedy(name, names, they))
}

fn remedy<'a>(name: &str, names: impl IntoIterator<Item = &'a str> + Clone, they: &str) -> String {
    match suggest::similar(name, names.clone()) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("{they} {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// A name of a format, or the format itself.
pub(crate) fn of_format(format: &Format) -> String {
    const NAMES: [&str; 9] = ["csr", "csc", "dcsr", "coo", "csf", "dia", "lco", "alto", "ell"];
    let is = |name: &&str| {
        let found = syntax::parse_format(name).ok();
        let found = found.and_then(|found| resolve(&found, format.order, &Definitions::prelude()).ok());
        found.as_ref() == Some(format)
    };
    NAMES.iter().find(|name| is(name)).map_or_else(|| format.to_string(), |name| (*name).to_owned())
}
