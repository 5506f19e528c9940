//! How large each index gets, before the kernel is compiled.
//!
//! Tensors, files that state their shape, and the caller's `dimensions` say an extent; they must agree. Entries of a file
//! that states no shape say a lower bound: where nothing says the extent, it is the largest bound, or what computed indices need.

use super::Operand;
use crate::execute::ProgramError;
use crate::execute::{Error, ExtentSource, bounds};
use spc_compiler::concrete::Kernel;
use spc_compiler::ir::Size;

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
    // What follows from others has no size of its own.
    let fixed = |extent: &spc_compiler::concrete::Extent| match extent.size {
        _ if extent.of.is_some() => Some((0, ExtentSource::Kernel)),
        Size::Constant(size) => Some((usize::try_from(size).unwrap_or(usize::MAX), ExtentSource::Kernel)),
        Size::Runtime | Size::Generic => None,
    };
    let mut known: Vec<Known> =
        kernel.extents.iter().map(|extent| Known { stated: fixed(extent), bound: None }).collect();
    for (name, extent) in stated {
        for place in kernel.extents_called(name).map_err(|known| ProgramError::no_such_index(name, &known))? {
            state(kernel, &mut known, place, *extent, ExtentSource::Stated)?;
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
    settle_all(kernel, known)
}

/// Settles extents in the order of how much is known of them: what is stated, what is bounded from below, and what only
/// computed indices say.
fn settle_all(kernel: &Kernel, known: Vec<Known>) -> Result<Vec<usize>, ProgramError> {
    let bounds = bounds::of_schedule(kernel);
    let mut sizes: Vec<Option<usize>> =
        known.iter().map(|known| known.stated.as_ref().map(|(extent, _)| *extent)).collect();
    // Modes of computed indices come last: how far these reach follows from the others.
    let is_indexed = |place: &usize| bounds.iter().any(|bound| bound.dimension == Some(*place));
    let (computed, plain): (Vec<usize>, Vec<usize>) = (0..known.len()).partition(is_indexed);
    for place in plain.into_iter().chain(computed) {
        if let Known { stated: None, bound: Some((least, ..)) } = known[place] {
            let ends = bounds.iter().filter_map(|bound| bounds::end(bound, place, &sizes));
            sizes[place] = Some(ends.max().unwrap_or(0).max(least));
        }
    }
    bounds::infer(&bounds, &mut sizes);
    let places = known.into_iter().zip(sizes).zip(&kernel.extents);
    let extents =
        places.map(|((known, size), extent)| settle(known, size, extent.shown())).collect::<Result<Vec<_>, _>>()?;
    bounds::check(&bounds, &extents, &|place| (kernel.extents[place].shown(), kernel.extents[place].size))?;
    Ok(extents)
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
                index: kernel.extents[place].shown().to_owned(),
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

fn settle(known: Known, size: Option<usize>, index: &str) -> Result<usize, ProgramError> {
    match known {
        Known { stated: Some((extent, by)), bound: Some((needed, tensor, mode)) } if needed > extent => {
            Err(ProgramError::Beyond { tensor, mode, needed, index: index.to_owned(), extent, by })
        }
        _ => size.ok_or_else(|| Error::NoExtent { index: index.to_owned() }.into()),
    }
}
