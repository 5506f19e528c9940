//! How the index arrays of a sparse output come about.

use super::order::{level_variables, stored_levels};
use super::{Access, Expr, OutputStructure, Tensor, simplify_expr, without};
use crate::format::level::is_located;
use crate::notation::simplify::literal;

/// What the structure of an output is decided from.
pub(super) struct Question<'a> {
    /// The output as it is accessed.
    pub target: &'a Access,
    /// Everything that is read, masks included.
    pub reads: &'a [Access],
    /// The tensors.
    pub tensors: &'a [Tensor],
    /// The right-hand side, sums included.
    pub value: &'a Expr,
    /// What must have an entry.
    pub masks: &'a [Access],
}

impl Question<'_> {
    /// The structure, and the reason.
    pub(super) fn decide(&self) -> (OutputStructure, String) {
        let output = &self.tensors[self.target.tensor.0].format;
        let stored = stored_levels(output);
        if stored == 0 {
            return (OutputStructure::Dense, "every level of the result is dense".to_owned());
        }
        let drivers: Vec<&Access> =
            self.reads.iter().filter(|access| self.is_sparse_over_output(access, stored)).collect();
        if let [driver] = drivers[..]
            && self.has_same_levels(driver, stored)
            && self.decides_entries(driver)
        {
            let access = driver.clone();
            let why = format!("the result has an entry where {} has one", self.tensors[driver.tensor.0].name);
            return (OutputStructure::Shared { access, levels: stored }, why);
        }
        (OutputStructure::Appended, "no operand has the structure of the result".to_owned())
    }

    /// Whether the operand has a level that is not dense over a mode of the output's stored levels.
    fn is_sparse_over_output(&self, access: &Access, stored: usize) -> bool {
        let output = &self.tensors[self.target.tensor.0].format;
        let over = &level_variables(self.target, output)[..stored];
        let format = &self.tensors[access.tensor.0].format;
        level_variables(access, format)
            .iter()
            .zip(&format.levels)
            .any(|(variable, level)| over.contains(variable) && !is_located(level.format))
    }

    /// Whether the operand's outer levels are the output's stored levels.
    fn has_same_levels(&self, access: &Access, stored: usize) -> bool {
        let output = &self.tensors[self.target.tensor.0].format;
        let format = &self.tensors[access.tensor.0].format;
        format.levels.len() >= stored
            && level_variables(access, format)[..stored] == level_variables(self.target, output)[..stored]
            && format.levels[..stored].iter().zip(&output.levels).all(|(a, b)| a.format == b.format)
    }

    /// Whether the right-hand side is the result's fill value wherever the operand has no entry.
    fn decides_entries(&self, access: &Access) -> bool {
        let fill = self.tensors[self.target.tensor.0].fill;
        let missing = || simplify_expr(without(self.tensors, self.value, access));
        self.masks.iter().any(|mask| mask.same_place(access))
            || literal(&missing()).is_some_and(|value| value.equals(fill))
    }
}
