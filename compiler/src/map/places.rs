//! Threads for each place of the range, by an even partition: the grid of the launch is the range.
//!
//! ```text
//! parallel low..high in 0..n            launch for n places
//!     for i in low..high                    i = thread
//!         y[i] = …                          y[i] = …
//! ```

use super::strategy::{Emit, Loop, Refused, Strategy};
use super::work_item::Team;
use crate::gpu::{Builder, Refusal};
use crate::ir::{ArrayId, Parallel};

/// Threads for each place.
pub(super) struct EvenPlaces;

impl Strategy for EvenPlaces {
    fn name(&self) -> &'static str {
        "a grid of places"
    }

    fn fits<'a>(&self, _: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        Ok(Box::new(|builder| builder.in_tiles(node, |builder| over_places(builder, &node.places).map(|_| ()))))
    }
}

/// A launch with threads for each place.
pub(super) fn over_places(builder: &mut Builder, parallel: &Parallel) -> Result<Team, Refusal> {
    let (grid, body) = builder.places_of(parallel);
    let what = format!("for each {}", builder.module.kernel.variable(grid.places.place).name);
    let apart: Vec<ArrayId> = grid.copied.iter().map(|copied| copied.array).collect();
    let team = match grid.totals.is_empty() && (apart.is_empty() || parallel.aligned.is_none()) {
        true if apart.is_empty() => builder.team(&body, &grid.atomic, parallel.aligned.is_none()),
        true => builder.team_apart(&body, &grid.atomic, &apart).unwrap_or_else(|| Team::Thread.holding(body)),
        false => Team::Thread.holding(body),
    };
    let (team, body) = team.with_body();
    let lanes = builder.lanes_of(&team, &grid.count);
    builder.launch(&grid, team.clone(), body, lanes, &what)?;
    Ok(team)
}
