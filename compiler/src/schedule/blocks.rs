//! Blocks of a constant size: what their rows sum up to stays at hand while the blocks of a row are walked, each once.
//!
//! ```text
//! for all i_block, i_inside                                for all i_block
//!     with t                                                   with t
//!         for all j_block, j_inside                                for all j_block
//!             t += A(i_block, j_block, i_inside, j_inside)             for all i_inside
//!                  * x(j)                                  →               with t_1
//!     then y(i) = t                                                            for all j_inside: t_1 += A(…) * x(j)
//!                                                                          then t(i_inside) += t_1
//!                                                              then
//!                                                                  for all i_inside: y(i) = t(i_inside)
//! ```
//!
//! A block's coordinate is read once, and its values as they are stored. What a row of a block gives is summed up apart: a sum that
//! goes on through all blocks would wait for each addition before it begins the next.

use super::factor::Nest;
use super::state::Scheduler;
use super::{Access, IndexVariable, Kernel, Target};
use crate::format::Coordinate;
use crate::level::is_located;
use crate::remark::{What, Why};

/// So many sums may be at hand where each is one number.
const MOST_SUMS: u64 = 1024;
/// So many where each is a row of numbers.
const MOST_ROWS: u64 = 32;

impl Kernel {
    /// How many values a variable takes that goes through the inside of stored blocks, where those are dense and of a constant size.
    fn inside_of_block(&self, variable: IndexVariable) -> Option<u64> {
        let level = self.variables[variable.0].level.as_ref()?;
        let level = &self.tensor(level.tensor).stored.as_ref()?.format.levels[level.level];
        match &level.coordinate {
            Coordinate::Remainder(_, size) if is_located(level.format) => match **size {
                Coordinate::Constant(size) => Some(size),
                _ => None,
            },
            _ => None,
        }
    }

    /// Those of some variables whose loops are inside of all that go through blocks, where the sums of a block are few enough to be
    /// at hand.
    pub(super) fn inside_of_blocks(
        &self,
        variables: &[IndexVariable],
        target: &Access,
        vector: Option<IndexVariable>,
    ) -> Vec<IndexVariable> {
        if self.target != Target::Cpu {
            return Vec::new();
        }
        let is_inside = |variable: &IndexVariable| self.inside_of_block(*variable).is_some();
        let inside: Vec<IndexVariable> = variables.iter().copied().filter(is_inside).collect();
        let kept = inside.iter().filter(|variable| !self.is_reduced(**variable, target));
        let sums = kept.filter_map(|&variable| self.inside_of_block(variable)).try_fold(1u64, u64::checked_mul);
        let most = if vector.is_some() { MOST_ROWS } else { MOST_SUMS };
        if sums.is_some_and(|sums| sums <= most) { inside } else { Vec::new() }
    }
}

impl Scheduler<'_> {
    /// Whether the sums over a nest's outermost loop, one for each of `open`, are those of the rows of a block, or of rows of such.
    pub(super) fn sums_blocks(&mut self, nest: &Nest, open: &[IndexVariable]) -> bool {
        let is_row = |variable: &IndexVariable| Some(*variable) == nest.vector;
        let is_inside = |variable: &IndexVariable| self.kernel.inside_of_block(*variable).is_some();
        let inside = self.kernel.inside_of_blocks(open, &nest.target, nest.vector);
        let sums = nest.in_memory && !inside.is_empty() && open.iter().all(|open| is_row(open) || is_inside(open));
        if sums {
            self.decide(What::BlockSums(self.kernel.names(&inside)), Why::ConstantBlocks);
        }
        sums
    }

    /// Whether a sum is added to one of those that are kept for the rows of a block, and all of it lies in one block.
    pub(super) fn is_inside_of_block(&self, nest: &Nest) -> bool {
        let is_inside = |variable: &IndexVariable| self.kernel.inside_of_block(*variable).is_some();
        let is_kept = nest.target.indices.iter().any(is_inside) && !nest.in_memory;
        let is_row = |variable: &IndexVariable| Some(*variable) == nest.vector;
        is_kept && nest.loops.iter().all(|variable| is_row(variable) || is_inside(variable))
    }
}
