//! Appending without memory that grows: one launch counts what each place appends, a scan turns counts into places, and a second launch
//! writes.
//!
//! ```text
//! parallel low..high in 0..n            launch for n places: offsets[i] = how many
//!     sharing C_crd joined              scan offsets, lengthen C_crd
//!     push C_crd, j                     launch for n places: C_crd[offsets[i] + …] = j
//! ```

use super::grid::Grid;
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::work_item::Team;
use crate::gpu::append::{self, Appended, Lengths, joined};
use crate::gpu::plan::Step;
use crate::gpu::rewrite::writes;
use crate::gpu::{Builder, Refusal};
use crate::ir::{Expr, Parallel};
use std::collections::BTreeSet;

/// Count, scan, write.
pub(super) struct Counted;

impl Strategy for Counted {
    fn name(&self) -> &'static str {
        "counting before writing"
    }

    fn fits<'a>(&self, _: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        if !node.parallel.sharing.iter().any(|sharing| joined(sharing).is_some()) {
            return Err(Refused::NothingAppended);
        }
        Ok(Box::new(|builder| appended_places(builder, &node.parallel)))
    }
}

/// Launches for a loop that appends: one counts, one writes.
fn appended_places(builder: &mut Builder, parallel: &Parallel) -> Result<(), Refusal> {
    let joined: Vec<Appended> = parallel.sharing.iter().filter_map(joined).collect();
    let (grid, body) = builder.places_of(parallel);
    let chunk = Expr::Variable(grid.places.place).minus(grid.places.begin.clone());
    let kernel = &mut builder.module.kernel;
    let (chunks, histories) = (Some(&grid.count), &mut builder.histories);
    let parts = append::take_apart(kernel, &body, &joined, Lengths::OfChunk, &chunk, chunks, histories)?;
    for (offsets, _) in &parts.offsets {
        let length = grid.count.clone().plus(Expr::Index(1));
        builder.module.steps.push(Step::Make { array: *offsets, length, fill: Some(Expr::Index(0)) });
    }
    let name = builder.module.kernel.variable(grid.places.place).name.clone();
    let counting = Grid { atomic: BTreeSet::new(), copied: Vec::new(), totals: Vec::new(), ..grid.clone() };
    if writes(&parts.count) {
        let what = format!("counts what each {name} appends");
        builder.launch(&counting, Team::Thread, parts.count.clone(), None, &what)?;
    }
    builder.lengthen(&parts, &grid.count);
    let what = format!("writes what each {name} appends");
    let (team, body) = match grid.totals.is_empty() && grid.copied.is_empty() {
        true => builder.row_or_thread(parts.write).with_body(),
        false => (Team::Thread, parts.write),
    };
    let lanes = builder.lanes_of(&team, &grid.count);
    builder.launch(&grid, team, body, lanes, &what)
}
