//! Results that have an entry for each fiber of an operand.
//!
//! What is summed lies in the levels below those that the result stores, so that the result's entries are the operand's fibers. Where
//! levels tell these one by one, the result shares them. Where they don't, as in `coo`, the operand is read by its fibers, which the run
//! time finds once for each pattern: coordinates in fibers and values are the operand's own.
//!
//! ```text
//! Y(i, j) = sum(k)(X(i, j, k) * v(k))            X: coo, Y: coo, appended
//!
//! Y(i, j) = sum(k)(X_fibers(i, j, k) * v(k))     X_fibers: cfb, Y: coo, shares 2 levels of X_fibers
//! ```

use super::levels::Statement;
use super::state::Scheduler;
use super::stored_levels;
use super::structure::decides_entries;
use super::{Access, Expr, IndexVariable, Tensor, TensorId, TensorKind, Way};
use crate::format::{Coordinate, Format, Level, LevelFormat};
use crate::level::{is_contiguous, is_located, is_sequential};
use crate::remark::{What, Why};

impl Scheduler<'_> {
    /// The statement with its operand read by fibers, where the result has an entry for each and levels don't tell them one by one.
    pub(super) fn by_fibers(&mut self, statement: Statement) -> Statement {
        let Some((driver, format)) = self.fibers(&statement) else { return statement };
        let original = self.kernel.tensor(driver.tensor).clone();
        let mut name = format!("{}_fibers", original.name);
        while self.kernel.tensors.iter().any(|tensor| tensor.name == name) {
            name.push('_');
        }
        let (view, what) = (TensorId(self.kernel.tensors.len()), What::InFibers(original.name.clone()));
        let is_mapped = format.mode_order().is_none();
        self.kernel.tensors.push(Tensor { name, format, kind: TensorKind::Fibers(driver.tensor), ..original });
        let read = |access: &Access| match access.tensor == driver.tensor {
            true => Access { tensor: view, ..access.clone() },
            false => access.clone(),
        };
        let by_fibers = Statement {
            target: statement.target.clone(),
            value: statement.value.map_accesses(&|access| Expr::Access(read(access))),
            masks: statement.masks.iter().map(read).collect(),
            ..statement
        };
        if is_mapped && self.drivers(&by_fibers).is_empty() {
            self.kernel.tensors.pop();
            return statement;
        }
        self.decide(what, Why::EntryForEachFiber);
        by_fibers
    }

    /// The operand whose fibers are the entries of the result, and its format by these.
    fn fibers(&self, statement: &Statement) -> Option<(Access, Format)> {
        let outer = self.stored_outer(&statement.target)?;
        let driver = self.only_sparse(statement)?;
        let tensor = self.kernel.tensor(driver.tensor);
        let is_asked = self.kernel.asked.copies.iter().any(|asked| asked.tensor == driver.tensor);
        let is_own = tensor.kind == TensorKind::Input
            && tensor.pattern.is_none()
            && tensor.stored.is_none()
            && tensor.format.symmetry.is_none();
        let variables = || driver.indices.iter().chain(&statement.target.indices);
        let is_plain = variables().all(|index| self.kernel.variables[index.0].value.is_none())
            && are_distinct(&driver.indices)
            && are_distinct(&statement.target.indices);
        if is_asked || !is_own || !is_plain || !self.may_choose_loops(&statement.target) {
            return None;
        }
        if !self.has_prefix(&driver, &statement.target, outer.len())
            || !decides_entries(&self.kernel, &statement.target, &statement.value, &statement.masks, &driver)
        {
            return None;
        }
        let format = tensor.format.in_fibers(&outer)?;
        let is_walked = |level: &LevelFormat| is_contiguous(*level) && !is_sequential(*level);
        let is_good = format.levels.iter().all(|level| is_walked(&level.format))
            && (format.is_walked() || format.mode_order().is_none());
        is_good.then_some((driver, format))
    }

    /// The levels of a result down to the last that stores something, as the caller gets them.
    fn stored_outer(&self, target: &Access) -> Option<Vec<LevelFormat>> {
        let tensor = self.kernel.tensor(target.tensor);
        let format = tensor.delivered.as_ref().unwrap_or(&tensor.format);
        let levels = format.levels[..stored_levels(format)].iter().map(|level| level.format).collect::<Vec<_>>();
        (!levels.is_empty()).then_some(levels)
    }

    /// The only operand that is not dense.
    fn only_sparse(&self, statement: &Statement) -> Option<Access> {
        let mut found: Vec<Access> = Vec::new();
        let mut add = |access: &Access| {
            let is_sparse = !self.kernel.tensor(access.tensor).format.is_dense();
            if is_sparse && !found.iter().any(|other| other.same_place(access)) {
                found.push(access.clone());
            }
        };
        statement.masks.iter().for_each(&mut add);
        statement.value.for_each_access(&mut add);
        let [only] = &found[..] else { return None };
        Some(only.clone())
    }

    /// Whether the schedule leaves the loops open, or wants the result to share an operand's index arrays.
    fn may_choose_loops(&self, target: &Access) -> bool {
        let asked = &self.kernel.asked;
        let is_open = asked.order.is_empty()
            && asked.parallel.is_empty()
            && asked.chains.is_empty()
            && asked.parts.parts.is_empty()
            && asked.chunks.is_empty()
            && asked.balanced.is_empty()
            && self.pending.is_empty();
        self.asked_way(target).map_or(is_open, |(way, _)| way == Way::Shared)
    }

    /// Whether the first levels of an operand hold what those of the result do.
    fn has_prefix(&self, driver: &Access, target: &Access, depth: usize) -> bool {
        let result = self.kernel.tensor(target.tensor);
        let result = result.delivered.as_ref().unwrap_or(&result.format);
        let format = &self.kernel.tensor(driver.tensor).format;
        let of = |level: &Level, access: &Access| level.coordinate.renumbered(&|mode| access.indices[mode].0);
        format.levels.len() > depth
            && result.levels[depth..].iter().all(is_plain)
            && format.levels.iter().zip(&result.levels[..depth]).all(|(own, its)| of(own, driver) == of(its, target))
    }

    /// Whether the result's levels are the operand's, down to the last of them that stores something.
    pub(super) fn shares_prefix(&self, driver: &Access, target: &Access) -> bool {
        let result = self.kernel.tensor(target.tensor);
        let Some(outer) = self.stored_outer(target).filter(|_| result.delivered.is_some()) else { return false };
        let format = &self.kernel.tensor(driver.tensor).format;
        outer.len() < format.levels.len()
            && self.has_prefix(driver, target, outer.len())
            && format.levels.iter().zip(&outer).all(|(own, of)| own.format == *of)
    }
}

/// Whether a level stores all places of a mode as it is. Levels of blocks follow from several of the operand's.
fn is_plain(level: &Level) -> bool {
    is_located(level.format) && matches!(level.coordinate, Coordinate::Mode(_))
}

fn are_distinct(indices: &[IndexVariable]) -> bool {
    indices.iter().enumerate().all(|(place, index)| !indices[..place].contains(index))
}
