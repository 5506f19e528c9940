//! Where `-o` options send results.

use crate::arguments::NamedFile;
use crate::failure::Failure;
use crate::files::{Destination, OutputKind};
use crate::names;
use spc::distribute::ResultFile;
use spc::tensor::AnyTensor;
use spc_compiler::notation::{Kernel, Role};
use std::path::{Path, PathBuf};

/// Checks the names and the kinds of file, before anything is computed.
pub(super) fn destinations(
    kernel: &Kernel,
    outputs: &[NamedFile],
    to: OutputKind,
) -> Result<Vec<(String, Destination)>, Failure> {
    let names =
        || kernel.tensors.iter().filter(|tensor| tensor.role == Role::Output).map(|tensor| tensor.name.as_str());
    let destination = |output: &NamedFile| {
        if !names().any(|name| name == output.name) {
            let message = format!("`{}` has no result `{}`", kernel.name, output.name);
            return Err(names::unknown(message, &output.name, names(), "its results are"));
        }
        Ok((output.name.clone(), to.destination(&output.text)?))
    };
    let destinations = outputs.iter().map(destination).collect::<Result<Vec<_>, Failure>>()?;
    distinct(&destinations)?;
    Ok(destinations)
}

/// Refuses two results for one file, however it is spelled: the second would replace the first.
fn distinct(destinations: &[(String, Destination)]) -> Result<(), Failure> {
    let mut taken: Vec<(PathBuf, &str)> = Vec::new();
    let mut printed: Option<&str> = None;
    for (name, destination) in destinations {
        let other = match destination {
            Destination::Stdout(_) => printed.replace(name),
            Destination::File(path, _) => {
                let Some(target) = target(path)? else { continue };
                let other = taken.iter().find(|(taken, _)| *taken == target).map(|&(_, other)| other);
                taken.push((target, name));
                other
            }
        };
        if let Some(other) = other {
            let message = format!("`{other}` and `{name}` would both be written to {}", destination.name());
            return Err(Failure::refused(message).help("give each result a file of its own"));
        }
    }
    Ok(())
}

/// The file that a path leads to, through links; none of a pipe or a device, which take one result after the other.
fn target(path: &Path) -> Result<Option<PathBuf>, Failure> {
    if let Ok(target) = path.canonicalize() {
        return Ok(target.metadata().map_or(true, |metadata| metadata.is_file()).then_some(target));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = folder.canonicalize().map_err(|error| {
        let message = format!("{}: the folder {} can't be opened: {error}", path.display(), folder.display());
        Failure::refused(message)
    })?;
    Ok(path.file_name().map(|name| there.join(name)))
}

/// Writes the results. Gives whether one went to standard output.
pub(super) fn write(outputs: &[(String, AnyTensor)], destinations: &[(String, Destination)]) -> Result<bool, Failure> {
    let mut to_stdout = false;
    for (name, destination) in destinations {
        let Some((_, tensor)) = outputs.iter().find(|(output, _)| output == name) else { continue };
        destination.write(tensor, false)?;
        to_stdout |= destination.is_stdout();
    }
    Ok(to_stdout)
}

/// The files of results that ranks may write together: those of which no other destination is compressed or the standard output.
pub(super) fn in_parts(destinations: &[(String, Destination)]) -> Vec<ResultFile> {
    let file = |(name, destination): &(String, Destination)| match destination {
        Destination::File(path, (file_type, false)) => {
            Some(ResultFile { name: name.clone(), path: path.clone(), file_type: *file_type })
        }
        _ => None,
    };
    let is_alone = |of: &ResultFile| {
        destinations.iter().filter(|(name, _)| *name == of.name).all(|destination| file(destination).is_some())
    };
    destinations.iter().filter_map(file).filter(is_alone).collect()
}
