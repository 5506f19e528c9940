//! Where `-o` options send results.

use crate::arguments::Named;
use crate::failure::Failure;
use crate::output;
use spc::io;
use spc::tensor::AnyTensor;
use spc_compiler::diagnostics::suggest;
use spc_compiler::notation::{Kernel, Role};
use std::path::PathBuf;

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// Standard output, as `.tns`.
    Stdout,
    /// A file of the kind that its name says.
    File(PathBuf),
}

/// Checks the names and the kinds of file, before anything is computed.
pub(super) fn destinations(kernel: &Kernel, outputs: &[Named]) -> Result<Vec<(String, Destination)>, Failure> {
    let names =
        || kernel.tensors.iter().filter(|tensor| tensor.role == Role::Output).map(|tensor| tensor.name.as_str());
    let destination = |output: &Named| {
        if !names().any(|name| name == output.name) {
            let failure = Failure::refused(format!("`{}` has no result `{}`", kernel.name, output.name));
            return Err(match suggest::similar(&output.name, names()) {
                Some(similar) => failure.help(format!("did you mean `{similar}`?")),
                None => failure.help(format!("its results are {}", names().collect::<Vec<_>>().join(", "))),
            });
        }
        if output.text == "-" {
            return Ok((output.name.clone(), Destination::Stdout));
        }
        if io::FileType::of(&output.text).is_none() {
            let message = format!("{}: the name does not say what kind of file it is to be", output.text);
            let help = format!("known extensions are {}", io::FileType::EXTENSIONS);
            return Err(Failure::refused(message).help(help));
        }
        Ok((output.name.clone(), Destination::File(PathBuf::from(&output.text))))
    };
    outputs.iter().map(destination).collect()
}

/// Writes the results. Gives whether one went to standard output.
pub(super) fn write(outputs: &[(String, AnyTensor)], destinations: &[(String, Destination)]) -> Result<bool, Failure> {
    let mut to_stdout = false;
    for (name, destination) in destinations {
        let Some((_, tensor)) = outputs.iter().find(|(output, _)| output == name) else { continue };
        match destination {
            Destination::File(path) => io::write_tensor(path, tensor)?,
            Destination::Stdout => {
                output::with_stdout(|out| io::write_tensor_tns(out, tensor))?;
                to_stdout = true;
            }
        }
    }
    Ok(to_stdout)
}
