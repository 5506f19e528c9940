//! Extents that no file states.

use super::Operand;
use spc_compiler::concrete::Kernel;

/// A mode of an input that does not state its shape: its extent follows from elsewhere, or is the largest index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssumedExtent {
    /// The input's name.
    pub tensor: String,
    /// The mode, from 0.
    pub mode: usize,
    /// The largest index of the entries, counted from 1.
    pub largest: usize,
    /// The extent that the mode has.
    pub extent: usize,
    /// Another input that has this extent; the caller, if `None` and the extent is stated.
    pub by: Option<String>,
    /// Whether the extent is stated, by that input or by the caller, and not itself a largest index.
    pub is_stated: bool,
}

/// The modes whose extents `operands` do not state.
pub(super) fn assumed(
    kernel: &Kernel,
    operands: &[Option<Operand>],
    stated: &[(String, usize)],
    extents: &[usize],
) -> Vec<AssumedExtent> {
    let shapes = || {
        let operands = kernel.tensors.iter().zip(operands);
        // The indices of an array say nothing of the mode that they are for.
        let others = operands.filter(|(_, operand)| !matches!(operand, Some(Operand::Indices(..))));
        others.filter_map(|(tensor, operand)| Some((tensor, operand.as_ref()?.shape()?)))
    };
    let by = |place: usize, name: &str| {
        let variable = |name: &str| kernel.variables.iter().any(|it| it.name == name && it.extent == place);
        let by_caller = stated.iter().any(|(name, _)| variable(name) || kernel.extents[place].name == *name);
        let others = |is_stated: bool| {
            let mut others = shapes().filter(move |(tensor, shape)| tensor.name != name && shape.1 == is_stated);
            others.find_map(|(tensor, (shape, _))| {
                let mut modes = tensor.extents.iter().zip(shape);
                modes.any(|(&other, &extent)| other == place && extent == extents[place]).then(|| tensor.name.clone())
            })
        };
        match (by_caller, others(true)) {
            (true, _) => (None, true),
            (false, Some(other)) => (Some(other), true),
            (false, None) => (others(false), false),
        }
    };
    let mut assumed = Vec::new();
    for (tensor, (shape, _)) in shapes().filter(|(_, (_, is_stated))| !is_stated) {
        for (mode, (&largest, &place)) in shape.iter().zip(&tensor.extents).enumerate() {
            let (name, extent) = (tensor.name.clone(), extents[place]);
            let (by, is_stated) = by(place, &name);
            assumed.push(AssumedExtent { tensor: name, mode, largest, extent, by, is_stated });
        }
    }
    assumed
}
