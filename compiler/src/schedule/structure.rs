//! How the index arrays of a sparse output come about.

use super::order::{storage_edges, topological};
use super::{Access, Expr, Kernel, OutputStructure, Tensor, simplify_expr, without};
use super::{level_variables, stored_levels};
use crate::level::{is_contiguous, is_located};
use crate::notation::simplify::{choice, has_choice, literal};
use crate::remark::Why;

/// What the structure of an output is decided from.
pub(super) struct Question<'a> {
    /// The output as it is accessed.
    pub target: &'a Access,
    /// Everything that is read, masks included.
    pub reads: &'a [Access],
    /// The kernel so far.
    pub kernel: &'a Kernel,
    /// The right-hand side, sums included.
    pub value: &'a Expr,
    /// What must have an entry.
    pub masks: &'a [Access],
}

impl Question<'_> {
    /// The structure, and the reason.
    pub(super) fn decide(&self) -> (OutputStructure, Why) {
        let output = &self.kernel.tensor(self.target.tensor).format;
        let stored = stored_levels(output);
        if stored == 0 {
            return (OutputStructure::Dense, Why::AllDense);
        }
        // A recurrence has the entries of its mask.
        let is_recurrent = self.reads.iter().any(|access| access.values() == self.target.tensor);
        let reads = if is_recurrent { self.masks } else { self.reads };
        let drivers: Vec<&Access> = reads.iter().filter(|access| self.is_sparse_over_output(access, stored)).collect();
        if let [driver] = drivers[..]
            && self.has_same_levels(driver, stored)
            && decides_entries(self.kernel, self.target, self.value, self.masks, driver)
            && self.is_walked_as_stored(driver)
            && self.lies_in_order(driver)
        {
            let access = driver.clone();
            let why = Why::EntriesOf(self.kernel.tensor(driver.tensor).name.clone());
            return (OutputStructure::Shared { access, levels: stored }, why);
        }
        (OutputStructure::Appended, Why::NoStructure)
    }

    /// Whether the operand has a level that is not dense over a mode of the output's stored levels.
    fn is_sparse_over_output(&self, access: &Access, stored: usize) -> bool {
        let output = &self.kernel.tensor(self.target.tensor).format;
        let over = &level_variables(self.target, output)[..stored];
        let format = &self.kernel.tensor(access.tensor).format;
        level_variables(access, format)
            .iter()
            .zip(&format.levels)
            .any(|(variable, level)| over.contains(variable) && !is_located(level.format))
    }

    /// Whether the operand's outer levels are the output's stored levels.
    fn has_same_levels(&self, access: &Access, stored: usize) -> bool {
        let output = &self.kernel.tensor(self.target.tensor).format;
        let format = &self.kernel.tensor(access.tensor).format;
        format.levels.len() >= stored
            && level_variables(access, format)[..stored] == level_variables(self.target, output)[..stored]
            && format.levels[..stored].iter().zip(&output.levels).all(|(a, b)| a.format == b.format)
    }

    /// Whether loops can follow the operand's levels: none of its computed indices is stored above what it is computed from. The
    /// result needs the operand itself, so that no sorted copy can take its place.
    fn is_walked_as_stored(&self, access: &Access) -> bool {
        let variables = self.kernel.loops_of(&access.indices);
        let edges = [storage_edges(self.kernel, access), self.kernel.made_of_edges(&variables)].concat();
        topological(&variables, &edges, |_| ()).is_some()
    }

    /// Whether the parts of a result that loops of its own write lie one behind the other: not where rows are side by side.
    fn lies_in_order(&self, access: &Access) -> bool {
        let levels = &self.kernel.tensor(access.tensor).format.levels;
        levels.iter().all(|level| is_contiguous(level.format))
    }
}

/// Whether the entries of an operand decide those of the result alone: the right-hand side is the result's fill value wherever the
/// operand has none, and no condition in it leaves out more.
pub(super) fn decides_entries(
    kernel: &Kernel,
    target: &Access,
    value: &Expr,
    masks: &[Access],
    operand: &Access,
) -> bool {
    let Tensor { fill, format, .. } = kernel.tensor(target.tensor);
    let fill = *fill;
    let missing = || simplify_expr(without(&kernel.tensors, value, operand));
    // Places of the operand that are padding are padding of a result that shares them.
    let is_own = |condition: &Expr| matches!(condition, Expr::Access(place) if place.same_place(operand));
    let is_shared = |value: &Expr| {
        format.pads() && choice(value, &|nothing| fill.equals(nothing)).is_some_and(|(condition, _)| is_own(condition))
    };
    (!has_choice(value, fill) || is_shared(value))
        && (masks.iter().any(|mask| mask.same_place(operand))
            || literal(&missing()).is_some_and(|value| value.equals(fill)))
}
