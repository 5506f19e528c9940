//! How large each index gets, before the kernel is compiled.
//!
//! Tensors, files that state their shape, and the caller's `dimensions` say an extent; they must agree. Entries of a file
//! that states no shape say a lower bound: where nothing says the extent, it is the largest bound.

use super::{Operand, ProgramError};
use crate::execute::{Error, ExtentSource};
use spc_compiler::concrete::Kernel;
use spc_compiler::diagnostics::suggest;

/// What is known of an extent.
#[derive(Debug, Clone, Default)]
struct Known {
    /// As somebody says it.
    stated: Option<(usize, ExtentSource)>,
    /// What entries need at least, and whose they are.
    bound: Option<(usize, String, usize)>,
}

/// The extent of each of a kernel's extents. `operands` has a place for each of the kernel's tensors.
pub(super) fn resolve(
    kernel: &Kernel,
    operands: &[Option<Operand>],
    stated: &[(String, usize)],
) -> Result<Vec<usize>, ProgramError> {
    let mut known = vec![Known::default(); kernel.extents.len()];
    for (name, extent) in stated {
        let mut variables = kernel.variables.iter().filter(|variable| variable.name == *name).peekable();
        if variables.peek().is_none() {
            return Err(no_such_index(kernel, name));
        }
        for variable in variables {
            state(kernel, &mut known, variable.extent, *extent, ExtentSource::Stated)?;
        }
    }
    for (tensor, operand) in kernel.tensors.iter().zip(operands) {
        let Some((shape, is_stated)) = operand.as_ref().and_then(Operand::shape) else { continue };
        if shape.len() != tensor.extents.len() {
            let (expected, found) = (tensor.extents.len(), shape.len());
            return Err(Error::Order { tensor: tensor.name.clone(), expected, found }.into());
        }
        for (mode, (&extent, &place)) in shape.iter().zip(&tensor.extents).enumerate() {
            if is_stated {
                state(kernel, &mut known, place, extent, ExtentSource::Mode { tensor: tensor.name.clone(), mode })?;
            } else if known[place].bound.as_ref().is_none_or(|(bound, ..)| *bound < extent) {
                known[place].bound = Some((extent, tensor.name.clone(), mode));
            }
        }
    }
    known.into_iter().zip(&kernel.extents).map(|(known, extent)| settle(known, &extent.name)).collect()
}

/// Notes an extent that somebody says, or checks that it is what was said before.
fn state(
    kernel: &Kernel,
    known: &mut [Known],
    place: usize,
    extent: usize,
    source: ExtentSource,
) -> Result<(), ProgramError> {
    match &known[place].stated {
        None => known[place].stated = Some((extent, source)),
        Some((first, _)) if *first == extent => {}
        Some((first_extent, first)) => {
            return Err(Error::Extents {
                index: kernel.extents[place].name.clone(),
                first: first.clone(),
                first_extent: *first_extent,
                second: source,
                second_extent: extent,
            }
            .into());
        }
    }
    Ok(())
}

fn settle(known: Known, index: &str) -> Result<usize, ProgramError> {
    match known {
        Known { stated: Some((extent, by)), bound: Some((needed, tensor, mode)) } if needed > extent => {
            Err(ProgramError::Beyond { tensor, mode, needed, index: index.to_owned(), extent, by })
        }
        Known { stated: Some((extent, _)), .. } | Known { stated: None, bound: Some((extent, ..)) } => Ok(extent),
        Known { stated: None, bound: None } => Err(Error::NoExtent { index: index.to_owned() }.into()),
    }
}

fn no_such_index(kernel: &Kernel, name: &str) -> ProgramError {
    let mut known: Vec<&str> = Vec::new();
    for variable in &kernel.variables {
        if !known.contains(&variable.name.as_str()) {
            known.push(&variable.name);
        }
    }
    let similar = suggest::similar(name, known.iter().copied()).map(str::to_owned);
    ProgramError::NoSuchIndex { name: name.to_owned(), similar, known: known.into_iter().map(str::to_owned).collect() }
}
