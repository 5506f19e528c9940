//! Extents: which index variables run over the same range.

use super::{Access, Extent, TensorId, Variable};
use crate::ir::Size;
use crate::notation;

/// Index variables and the extents they run over: variables that index the same mode of a tensor share one.
pub(super) fn extents(notation: &notation::Kernel) -> (Vec<Variable>, Vec<Extent>) {
    let mut class: Vec<usize> = (0..notation.variables.len()).collect();
    let mut first: Vec<Vec<Option<usize>>> =
        notation.tensors.iter().map(|tensor| vec![None; tensor.format.order]).collect();
    for_each_access(notation, &mut |access| {
        for (mode, variable) in access.indices.iter().enumerate() {
            match first[access.tensor.0][mode] {
                None => first[access.tensor.0][mode] = Some(variable.0),
                Some(other) => {
                    let (a, b) = (class[other], class[variable.0]);
                    class.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
                }
            }
        }
    });
    let mut extents: Vec<Extent> = Vec::new();
    let mut place = vec![None; class.len()];
    let mut variables = Vec::new();
    for (variable, &class) in notation.variables.iter().zip(&class) {
        let extent = *place[class].get_or_insert_with(|| {
            extents.push(Extent { name: notation.variables[class].name.clone(), size: Size::Runtime });
            extents.len() - 1
        });
        variables.push(Variable { name: variable.name.clone(), extent });
    }
    (variables, extents)
}

/// The extent of each mode of a tensor.
pub(super) fn mode_extents(notation: &notation::Kernel, tensor: TensorId, variables: &[Variable]) -> Vec<usize> {
    let mut extents = vec![0; notation.tensor(tensor).format.order];
    for_each_access(notation, &mut |access| {
        if access.tensor == tensor {
            for (mode, variable) in access.indices.iter().enumerate() {
                extents[mode] = variables[variable.0].extent;
            }
        }
    });
    extents
}

fn for_each_access(notation: &notation::Kernel, visit: &mut dyn FnMut(&Access)) {
    for statement in &notation.statements {
        visit(&statement.target);
        statement.value.for_each_access(visit);
        statement.mask.iter().for_each(&mut *visit);
    }
}
