//! Rows in chunks that stay in the cache, where an outer loop comes by each row again.
//!
//! With `A: dia`, whose diagonals are walked before the rows that they have entries in:
//!
//! ```text
//! for all d                                  for all i_block
//!     for all i: y(i) += A(d, i) * x(j)          with t
//!                                        →           for all d
//!                                                        for all i_inside: t(i_inside) += A(d, i) * x(j)
//!                                                    then
//!                                                        for all i_inside: y(i) = t(i_inside)
//!                                                where i = 1024 * i_block + i_inside
//! ```
//!
//! Threads then have rows of their own, where before they had copies of all rows to be added up.

use super::level_variables;
use super::state::{LoopOrder, Scheduler, Term};
use super::{Computed, Extent, ExtentOf, IndexVariable, OutputStructure, Target, Variable};
use crate::ir::{IndexExpr, IndexOperator, Size};
use crate::remark::{What, Why};

/// The rows of a chunk, where a row is one number: those of all operands fit any first-level cache.
const ROWS: u64 = 1024;
/// The same where a row has several.
const LONG_ROWS: u64 = 64;

impl Scheduler<'_> {
    /// The order of a nest's loops, with those over the rows of the result cut into chunks, where an outer loop over stored
    /// coordinates comes by each of them again.
    pub(super) fn in_chunks(&mut self, term: &Term, bound: &[IndexVariable], order: LoopOrder) -> LoopOrder {
        let Some(rows) = self.repeated_rows(term, bound, &order) else { return order };
        let is_vector = order.vector == Some(rows);
        let asked = self.kernel.asked.chunks.iter().find(|asked| asked.rows == rows).cloned();
        let by = asked.as_ref().map_or(if is_vector { ROWS } else { LONG_ROWS }, |asked| asked.by);
        let name = self.kernel.variable(rows).to_owned();
        let extent = self.kernel.variables[rows.0].extent;
        let parts =
            asked.as_ref().map_or([format!("{name}_block"), format!("{name}_inside")], |asked| asked.names.clone());
        let block = self.part_of(&parts[0], ExtentOf::Blocks { extent, by });
        let inside = self.part_of(&parts[1], ExtentOf::Inside(by));
        if let Some(asked) = asked {
            self.kernel.asked.keep(asked.span);
        }
        let size = i64::try_from(by).expect("chunks are small");
        let blocks = IndexExpr::binary(IndexOperator::Multiply, IndexExpr::Variable(block), IndexExpr::Constant(size));
        let index = IndexExpr::binary(IndexOperator::Add, blocks, IndexExpr::Variable(inside));
        self.kernel.variables[rows.0].value = Some(Computed::Index { index, guarded: true, block: Some(block) });
        let outer = self.kernel.variable(order.loops[0]).to_owned();
        let parts = [block, inside].map(|part| self.kernel.variable(part).to_owned());
        let what = What::Chunks { rows: name.clone(), by, outer: outer.clone(), parts };
        self.decide(what, Why::ComesAgain { outer, rows: name });
        self.apply_pending();
        let loops = order.loops.into_iter().map(|variable| if variable == rows { inside } else { variable });
        LoopOrder {
            loops: [block].into_iter().chain(loops).collect(),
            vector: if is_vector { Some(inside) } else { order.vector },
        }
    }

    /// The index of the rows of a dense result that the outermost loop, over computed coordinates that are stored, comes by again.
    fn repeated_rows(&self, term: &Term, bound: &[IndexVariable], order: &LoopOrder) -> Option<IndexVariable> {
        let kernel = &self.kernel;
        let (outer, inner) = order.loops.split_first()?;
        let format = &kernel.tensor(term.target.tensor).format;
        let rows = *level_variables(&term.target, format).first()?;
        let asked = &kernel.asked;
        let is_of_rows = |&(before, after): &(IndexVariable, IndexVariable)| before == rows || after == rows;
        // What is asked of these two loops is had without chunks.
        let is_free = asked.chunks.iter().any(|chunks| chunks.rows == rows)
            || !asked.order.iter().any(is_of_rows)
                && !asked.parallel.iter().any(|parallel| parallel == outer || *parallel == rows)
                && asked.vector.iter().all(|vector| *vector == rows);
        let is_stored = kernel.variables[outer.0].level.is_some();
        let is_plain = kernel.variables[rows.0].value.is_none() && kernel.variables[rows.0].level.is_none();
        let repeats = is_stored && kernel.is_reduced(*outer, &term.target) && inner.contains(&rows);
        let is_for_cpu = kernel.target == Target::Cpu && bound.is_empty() && is_free;
        let is_dense = term.in_memory && term.structure == OutputStructure::Dense && format.is_dense();
        (is_for_cpu && is_dense && is_plain && repeats && self.is_dense_along(term, rows)).then_some(rows)
    }

    fn part_of(&mut self, name: &str, of: ExtentOf) -> IndexVariable {
        let mut name = name.to_owned();
        while self.kernel.variables.iter().any(|variable| variable.name == name) {
            name.push('_');
        }
        self.kernel.extents.push(Extent { name: name.clone(), written: Vec::new(), size: Size::Runtime, of: Some(of) });
        let extent = self.kernel.extents.len() - 1;
        self.kernel.variables.push(Variable { name, extent, value: None, has_loop: false, level: None, share: None });
        IndexVariable(self.kernel.variables.len() - 1)
    }
}
