//! Extents: which index variables run over the same range, and which computed indices must lie below which extent.

use super::{Access, Bound, Computed, Extent, IndexVariable, TensorId, Variable};
use crate::ir::{IndexExpr, Size};
use crate::notation;
use std::collections::BTreeMap;

/// Index variables and the extents they run over: variables that index the same mode of a tensor share one, and so do those that
/// one statement of the text has one name for.
pub(super) fn extents(notation: &notation::Kernel) -> (Vec<Variable>, Vec<Extent>) {
    let mut class: Vec<usize> = (0..notation.variables.len()).collect();
    let mut unite = |one: usize, other: usize| {
        let (a, b) = (class[one], class[other]);
        if a != b {
            class.iter_mut().filter(|c| **c == a.max(b)).for_each(|c| *c = a.min(b));
        }
    };
    let mut first: Vec<Vec<Option<usize>>> =
        notation.tensors.iter().map(|tensor| vec![None; tensor.format.order]).collect();
    for_each_access(notation, &mut |access| {
        for (mode, variable) in access.indices.iter().enumerate() {
            match first[access.tensor.0][mode] {
                None => first[access.tensor.0][mode] = Some(variable.0),
                Some(other) => unite(other, variable.0),
            }
        }
    });
    // Modes that may be exchanged have one extent.
    for (tensor, modes) in notation.tensors.iter().zip(&first) {
        let exchanged = tensor.format.symmetry.iter().flat_map(|symmetry| symmetry.modes.windows(2));
        for pair in exchanged {
            if let (Some(one), Some(next)) = (modes[pair[0]], modes[pair[1]]) {
                unite(one, next);
            }
        }
    }
    // What the next round takes has the shape of what this one does.
    let place = |name: &str| notation.tensors.iter().position(|tensor| tensor.name == name);
    for (old, new) in notation.repeat.iter().flat_map(|repeat| &repeat.feeds) {
        let (Some(old), Some(new)) = (place(old), place(new)) else { continue };
        for (old, new) in first[old].iter().zip(&first[new]) {
            if let (Some(old), Some(new)) = (old, new) {
                unite(*old, *new);
            }
        }
    }
    let mut named: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for (id, variable) in notation.variables.iter().enumerate() {
        if let Some(written) = &variable.written {
            unite(*named.entry((written.statement, &written.name)).or_insert(id), id);
        }
    }
    for (value, like) in computed_values(notation) {
        class[value] = class[like];
    }
    let mut extents: Vec<Extent> = Vec::new();
    let mut place = vec![None; class.len()];
    let mut variables = Vec::new();
    let members = |of: usize| -> Vec<IndexVariable> {
        class
            .iter()
            .enumerate()
            .filter(|(_, class)| **class == of)
            .map(|(variable, _)| IndexVariable(variable))
            .collect()
    };
    for (number, (variable, &class)) in notation.variables.iter().zip(&class).enumerate() {
        let extent = *place[class].get_or_insert_with(|| {
            extents.push(extent(notation, &members(class)));
            extents.len() - 1
        });
        let (name, value) = (variable.name.clone(), variable.value.clone());
        let has_loop = value.is_some() && is_searched(notation, number);
        variables.push(Variable { name, extent, has_loop, value: value.map(computed), level: None, share: None });
    }
    (variables, extents)
}

/// Computed variables that index nothing, as `j + 1` where `T(j) = j` is read as `T(j + 1)`, each with the variable that it is
/// made of: nothing asks for an extent of theirs.
fn computed_values(notation: &notation::Kernel) -> Vec<(usize, usize)> {
    let is_value = |id: &usize| names_of_modes(notation, IndexVariable(*id)).is_empty();
    let made_of = |id: usize| {
        let value = notation.variables[id].value.as_ref()?;
        Some((id, value.variables().first()?.0))
    };
    (0..notation.variables.len()).filter(is_value).filter_map(made_of).collect()
}

fn computed(index: IndexExpr<IndexVariable>) -> Computed {
    Computed::Index { index, guarded: false, block: None }
}

/// The extent of some variables, named after the first that is not computed.
fn extent(notation: &notation::Kernel, members: &[IndexVariable]) -> Extent {
    let of = |&variable: &IndexVariable| &notation.variables[variable.0];
    let size = members.iter().find_map(|member| of(member).extent).map_or(Size::Runtime, Size::Constant);
    let mut written: Vec<String> = Vec::new();
    for known in members.iter().filter_map(|member| of(member).written.as_ref()) {
        if !written.contains(&known.name) {
            written.push(known.name.clone());
        }
    }
    if written.is_empty() {
        for name in members.iter().flat_map(|&member| names_of_modes(notation, member)) {
            if !written.contains(&name) {
                written.push(name);
            }
        }
    }
    let plain = members.iter().find(|member| of(member).value.is_none()).map(|member| of(member).name.clone());
    match plain.or_else(|| written.first().cloned()) {
        Some(name) => Extent { name, written, size, of: None },
        // A constant that is only a value: it runs over itself.
        None => Extent { name: of(&members[0]).name.clone(), written, size: Size::Constant(1), of: None },
    }
}

/// The names of the extents of modes that have computed indices only: of all that the variable indexes.
fn names_of_modes(notation: &notation::Kernel, variable: IndexVariable) -> Vec<String> {
    let mut names = Vec::new();
    for_each_access(notation, &mut |access| {
        if let Some(mode) = access.indices.iter().position(|&index| index == variable) {
            names.push(format!("{}{}_size", notation.tensor(access.tensor).name, mode + 1));
        }
    });
    names
}

/// Whether a sparse tensor has the variable as an index: its coordinate must be found among those that are stored.
pub(super) fn is_searched(notation: &notation::Kernel, variable: usize) -> bool {
    let mut found = false;
    for_each_access(notation, &mut |access| {
        found |= notation.tensor(access.tensor).is_sparse() && access.indices.contains(&IndexVariable(variable));
    });
    found
}

/// What computed indices must keep to.
pub(super) fn bounds(notation: &notation::Kernel, variables: &[Variable]) -> Vec<Bound> {
    let mut bounds = Vec::new();
    for (id, variable) in variables.iter().enumerate() {
        let is_index = |access: &Access| access.indices.contains(&IndexVariable(id));
        let mut is_used = false;
        for_each_access(notation, &mut |access| is_used |= is_index(access));
        let Some(Computed::Index { index: value, .. }) = &variable.value else { continue };
        // What has no extents for factors is no larger than indices are.
        if is_used || !value.extents().is_empty() {
            let index = value.map(&mut |made_of: &IndexVariable| variables[made_of.0].extent);
            bounds.push(Bound { extent: is_used.then_some(variable.extent), index });
        }
    }
    bounds
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
