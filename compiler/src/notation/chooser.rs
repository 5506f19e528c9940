//! What of a temporary is read: only what a sparse tensor chooses, or all.

use super::simplify::{is_identity, known, literal, simplify, with_missing};
use super::{Access, Assignment, Expr, IndexVariable, Kernel, Reading, Role, TensorId};

/// The sparse tensor, at the indices of what a statement makes, outside of whose entries nothing is read of it: of a dense temporary.
pub(super) fn chooser(kernel: &Kernel, place: usize) -> Option<Access> {
    let made = &kernel.statements[place];
    let temporary = made.target.tensor;
    let tensor = kernel.tensor(temporary);
    let is_plain = |access: &Access| {
        let is_running = |index: &IndexVariable| kernel.variables[index.0].value.is_none();
        let mut indices = access.indices.iter().enumerate();
        indices.all(|(mode, index)| is_running(index) && !access.indices[..mode].contains(index))
    };
    let is_candidate = tensor.role == Role::Temporary
        && tensor.format.is_dense()
        && tensor.format.order > 1
        && made.mask.is_none()
        && made.operator.is_none()
        && is_plain(&made.target)
        && kernel.statements[..place].iter().all(|other| other.target.tensor != temporary);
    if !is_candidate {
        return None;
    }
    let is_there = |of: TensorId| {
        kernel.tensor(of).role == Role::Input || kernel.statements[..place].iter().any(|made| made.target.tensor == of)
    };
    let is_made_later = |of: TensorId| kernel.statements[place..].iter().any(|made| made.target.tensor == of);
    let mut choices: Option<Vec<Access>> = None;
    for reader in &kernel.statements[place + 1..] {
        // What is updated holds something outside of the mask as well.
        if reader.target.tensor == temporary {
            return None;
        }
        for read in reader.reads().filter(|read| read.tensor == temporary) {
            if read.reads != Reading::Value || !is_plain(read) {
                return None;
            }
            let here = reader.reads().filter(|other| {
                let tensor = kernel.tensor(other.tensor);
                let is_pattern = tensor.is_sparse() && tensor.format.stores_entries_only();
                is_pattern
                    && is_there(other.tensor)
                    && !is_made_later(other.tensor)
                    && other.indices.len() == read.indices.len()
                    && other.indices.iter().all(|index| read.indices.contains(index))
                    && does_nothing_without(kernel, reader, other)
            });
            // At the indices of the temporary.
            let own = |index: &IndexVariable| {
                let mode = read.indices.iter().position(|other| other == index).expect("both have the same indices");
                made.target.indices[mode]
            };
            let here = here.map(|mask| {
                let indices = mask.indices.iter().map(own).collect();
                Access { indices, reads: Reading::Value, ..mask.clone() }
            });
            let here: Vec<Access> = here.collect();
            choices = Some(match choices {
                None => here,
                Some(before) => {
                    before.into_iter().filter(|one| here.iter().any(|other| other.same_place(one))).collect()
                }
            });
        }
    }
    choices?.into_iter().next()
}

/// Whether a statement does nothing where an operand or a mask has no entry.
fn does_nothing_without(kernel: &Kernel, statement: &Assignment, access: &Access) -> bool {
    if statement.mask.as_ref().is_some_and(|mask| mask.same_place(access)) {
        return true;
    }
    let missing = |other: &Access| other.same_place(access).then(|| kernel.tensor(access.tensor).fill);
    let is_nothing = |value| match statement.operator {
        Some(operator) => is_identity(operator, value),
        None => value.equals(kernel.tensor(statement.target.tensor).fill),
    };
    match &statement.value {
        Expr::Reduce(operator, _, body) => {
            literal(&simplify(with_missing(body, &missing))).is_some_and(|value| is_identity(*operator, value))
        }
        value => known(value, &missing).is_some_and(is_nothing),
    }
}
