//! Who has which rows, and what is sent: the same plan on every rank, made of the coordinates alone.

use super::communicator::Communicator;
use super::cost::{Cost, Counts, Machine, Summary, Tally, comes_in_rows, first_cut};
use super::message::{message, number, numbers};
use super::placement::{Placement, ranges};
use super::problem::Problem;
use super::rows::Rows;
use super::{DistributeError, Renumbered};
use crate::execute::ProgramError;
use spc_compiler::schedule::{Distribution, Shared, shared_input, shared_ranges};
use std::fmt;
use std::ops::Range;

/// The most ranks that a plan is made for.
const MOST_RANKS: usize = 1 << 20;

/// The most coordinates of a range that is shared out: each rank lists those of its part.
const LONGEST_RANGE: usize = 1 << 28;

/// How a kernel runs on so many ranks.
#[derive(Debug)]
pub struct Plan {
    pub(super) placement: Placement,
    pub(super) ranks: usize,
    pub(super) distribution: Distribution,
    /// For each renumbered index: who needs which coordinate, and who owns it.
    pub(super) rows: Vec<Rows>,
    /// The shared tensor's entries by rank.
    pub(super) entries: Option<ByRank>,
    /// The operands that the schedule wants on every rank.
    everywhere: Vec<String>,
    /// What each rank has to do.
    counts: Vec<Counts>,
    /// The bytes of operands that every rank has as a whole.
    replicated: u64,
}

/// Entries of a tensor, those of one rank after those of another.
#[derive(Debug)]
pub(super) struct ByRank {
    /// Which input.
    pub(super) tensor: String,
    pub(super) order: Vec<u32>,
    pub(super) begin: Vec<usize>,
}

impl ByRank {
    /// Those of one rank alone, all of which are its own.
    fn alone(tensor: &str, count: usize, own: usize, ranks: usize) -> Self {
        let begin = (0..=ranks).map(|rank| if rank <= own { 0 } else { count }).collect();
        Self { tensor: tensor.to_owned(), order: (0..count as u32).collect(), begin }
    }

    fn of(tensor: &str, rank_of: &[u32], ranks: usize) -> Self {
        let mut begin = vec![0usize; ranks + 1];
        rank_of.iter().for_each(|&rank| begin[rank as usize + 1] += 1);
        (0..ranks).for_each(|rank| begin[rank + 1] += begin[rank]);
        let mut next = begin.clone();
        let mut order = vec![0u32; rank_of.len()];
        for (entry, &rank) in rank_of.iter().enumerate() {
            order[next[rank as usize]] = entry as u32;
            next[rank as usize] += 1;
        }
        Self { tensor: tensor.to_owned(), order, begin }
    }

    pub(super) fn of_rank(&self, rank: usize) -> &[u32] {
        &self.order[self.begin[rank]..self.begin[rank + 1]]
    }
}

impl Plan {
    /// See [`Problem::plan`].
    pub(super) fn of(problem: &Problem, placement: &Placement, ranks: usize) -> Result<Self, DistributeError> {
        let shared = match placement {
            Placement::Shares { tensor } | Placement::Grid { tensor, .. } | Placement::Bisection { tensor } => {
                Shared::Entries(tensor.clone())
            }
            Placement::Range { index } => Shared::Range(index.clone()),
        };
        let distribution = problem.distribution(&shared)?;
        let extents = problem.extents_of(&distribution)?;
        let (rows, entries) = match placement {
            Placement::Range { index } if extents[0] > LONGEST_RANGE => {
                return Err(DistributeError::Refused {
                    what: format!("the range of `{index}` has {} coordinates", extents[0]),
                    help: format!("share out the entries of an input; ranges have at most {LONGEST_RANGE}"),
                });
            }
            Placement::Range { .. } => (vec![Rows::Ranges(problem.ranges(&distribution, extents[0], ranks))], None),
            Placement::Shares { tensor } | Placement::Grid { tensor, .. } | Placement::Bisection { tensor } => {
                let listed = problem.listed(tensor);
                check_grid(placement, listed.shape.len(), ranks)?;
                let place = problem.place(tensor);
                let rank_of = placement.ranks_of(listed, &problem.is_cut(&distribution, tensor), ranks);
                let rows = (0..distribution.indices.len()).map(|index| {
                    let modes =
                        (0..listed.indices.len()).filter(|&mode| distribution.modes[place][mode] == Some(index));
                    let pairs =
                        modes.flat_map(|mode| listed.indices[mode].iter().copied().zip(rank_of.iter().copied()));
                    Rows::of(extents[index], pairs.collect(), ranks)
                });
                (rows.collect(), Some(ByRank::of(tensor, &rank_of, ranks)))
            }
        };
        let counts = entries.as_ref().map(|entries| entries.begin.windows(2).map(|pair| (pair[1] - pair[0]) as u64));
        let counts = counts.map(Iterator::collect);
        Self::counted(problem, placement.clone(), ranks, (distribution, rows, entries), counts)
    }

    /// The plan where this rank's input of that name has the entries that are its own, and no others, as those of other ranks do. All ranks
    /// call it.
    ///
    /// # Errors
    /// When the kernel can't be distributed so, or another rank has stopped.
    pub(super) fn of_parts(
        problem: &Problem,
        tensor: &str,
        placement: &Placement,
        ranks: &dyn Communicator,
    ) -> Result<Self, DistributeError> {
        let shared = Shared::Entries(tensor.to_owned());
        let distribution = problem.distribution(&shared)?;
        let extents = problem.extents_of(&distribution)?;
        let (listed, place) = (problem.listed(tensor), problem.place(tensor));
        let size = ranks.size();
        let counts = ranks.gather_all(&message([listed.len() as u64]))?;
        let counts = counts.iter().map(|count| number(count)).collect();
        let mut rows = Vec::with_capacity(extents.len());
        // One after the other, as what ranks say is much more than what is kept of it.
        for (index, extent) in extents.into_iter().enumerate() {
            let modes = distribution.modes[place].iter().zip(&listed.indices);
            let own = modes.filter(|(cut, _)| **cut == Some(index)).flat_map(|(_, column)| column.iter().copied());
            let mut needed: Vec<u64> = own.collect();
            needed.sort_unstable();
            needed.dedup();
            let said = ranks.gather_all(bytemuck::cast_slice(&needed))?;
            let of_rank = |(rank, said): (usize, &Vec<u8>)| {
                numbers(said).map(move |coordinate| (coordinate, rank as u32)).collect::<Vec<_>>()
            };
            let pairs: Vec<(u64, u32)> = said.iter().enumerate().flat_map(of_rank).collect();
            drop(said);
            rows.push(Rows::of(extent, pairs, size));
        }
        let entries = Some(ByRank::alone(tensor, listed.len(), ranks.rank(), size));
        Self::counted(problem, placement.clone(), size, (distribution, rows, entries), Some(counts))
    }

    /// With what each rank has to do, of which so many entries are known where entries are shared.
    fn counted(
        problem: &Problem,
        placement: Placement,
        ranks: usize,
        (distribution, rows, entries): (Distribution, Vec<Rows>, Option<ByRank>),
        counts: Option<Vec<u64>>,
    ) -> Result<Self, DistributeError> {
        let everywhere = problem.everywhere()?;
        let mut plan =
            Self { placement, ranks, distribution, rows, entries, everywhere, counts: Vec::new(), replicated: 0 };
        plan.count(problem, counts);
        Ok(plan)
    }

    /// How the entries or the range are shared out.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// So many ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The indices of which a rank has only what it needs.
    pub fn renumbered(&self) -> &[Renumbered] {
        &self.distribution.indices
    }

    /// What each rank has to do.
    pub fn counts(&self) -> &[Counts] {
        &self.counts
    }

    /// What all ranks together have to do, on such a machine.
    pub fn summary(&self, machine: Machine) -> Summary {
        Summary::of(&self.counts, self.replicated, machine)
    }

    /// The first renumbered mode of a tensor, by its place in the kernel, and its index.
    pub(super) fn cut(&self, tensor: usize) -> Option<(usize, usize)> {
        first_cut(&self.distribution, tensor)
    }

    /// Whether a dense result comes together row by row.
    pub(super) fn has_rows(&self, problem: &Problem, tensor: usize) -> bool {
        comes_in_rows(&self.distribution, problem, tensor)
    }

    /// Whether it is the tensor whose entries are shared out.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        self.entries.as_ref().is_some_and(|entries| entries.tensor == name)
    }

    /// Whether parts of an operand are sent: those of the shared one lie where they are needed, and others may be on every rank.
    pub(super) fn is_sent(&self, tensor: usize, name: &str) -> bool {
        self.cut(tensor).is_some() && !self.is_shared(name) && !self.is_replicated(name)
    }

    /// Whether the schedule wants an operand on every rank.
    pub(super) fn is_replicated(&self, name: &str) -> bool {
        self.everywhere.iter().any(|everywhere| everywhere == name)
    }

    fn count(&mut self, problem: &Problem, entries: Option<Vec<u64>>) {
        let mut tally = Tally::new(self.ranks);
        let counts = &mut tally.counts;
        match entries {
            Some(entries) => counts.iter_mut().zip(entries).for_each(|(counts, entries)| counts.entries = entries),
            None => {
                // A rank goes through all entries of what is not cut, if it has a part of the range.
                let has_part = |rank: usize| match &self.rows[..] {
                    [Rows::Ranges(ranges)] => !ranges[rank].is_empty(),
                    _ => true,
                };
                for (place, (name, _)) in problem.inputs() {
                    if problem.kernel.tensors[place].format.is_dense() {
                        continue;
                    }
                    let listed = problem.listed(name);
                    match self.cut(place) {
                        Some((mode, _)) => listed.indices[mode]
                            .iter()
                            .for_each(|&index| counts[self.rows[0].owner(index) as usize].entries += 1),
                        None => (0..counts.len())
                            .filter(|&rank| has_part(rank))
                            .for_each(|rank| counts[rank].entries += listed.len() as u64),
                    }
                }
            }
        }
        let carried = problem.carried(&self.distribution, &self.everywhere);
        for (rows, carried) in self.rows.iter().zip(&carried.of_indices) {
            rows.groups().for_each(|group| tally.add(group, carried));
        }
        self.replicated = carried.replicated;
        self.counts = tally.counts(&carried);
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {} ranks", self.placement, self.ranks)
    }
}

pub(super) fn check_grid(placement: &Placement, modes: usize, ranks: usize) -> Result<(), DistributeError> {
    let Placement::Grid { parts, .. } = placement else { return Ok(()) };
    let refuse = |what: String, help: &str| Err(DistributeError::Refused { what, help: help.to_owned() });
    if parts.len() != modes {
        let what = format!("a grid over {} modes of a tensor that has {modes}", parts.len());
        return refuse(what, "say the parts of each mode, 1 where it is not cut");
    }
    if placement.cells() != Some(ranks) {
        return refuse(
            format!("a grid of other than {ranks} cells"),
            "each rank has one cell: the parts multiply to the ranks",
        );
    }
    Ok(())
}

impl Problem {
    /// How entries, or a range, can be shared out among so many ranks: plans, first the one to take: of those that take at most
    /// twice the least time by the model and are about even, the one that sends least. The others follow by time. Where the
    /// schedule says it (`distribute(X)`), this one.
    ///
    /// # Errors
    /// When the kernel can't be distributed.
    pub fn plans(&self, ranks: usize, machine: Machine) -> Result<Vec<Plan>, DistributeError> {
        if let Some(asked) = Placement::asked(&self.kernel).map_err(ProgramError::Schedule)? {
            return Ok(vec![self.plan(&asked, ranks)?]);
        }
        let mut placements = Vec::new();
        if let Some(tensor) = shared_input(&self.kernel) {
            placements = Placement::of_entries(&tensor, self.shape(&tensor), ranks);
        }
        placements.extend(shared_ranges(&self.kernel).into_iter().map(|index| Placement::Range { index }));
        let (mut plans, mut refused) = (Vec::new(), None);
        for placement in &placements {
            match self.plan(placement, ranks) {
                Ok(plan) => plans.push(plan),
                // Of a range that is too long.
                Err(error @ DistributeError::Refused { .. }) => refused = refused.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        if plans.is_empty() {
            return Err(refused.unwrap_or_else(|| DistributeError::Refused {
                what: format!("`{}` can't be distributed", self.kernel.name),
                help: "each term must be nothing without an entry of one sparse input, or an index of the result stand alone for modes"
                    .to_owned(),
            }));
        }
        plans.sort_by(|one, other| one.summary(machine).time.total_cmp(&other.summary(machine).time));
        if let Some(best) = Cost::best(plans.iter().map(|plan| plan.summary(machine).cost(ranks))) {
            plans[..=best].rotate_right(1);
        }
        Ok(plans)
    }

    /// The plan of a placement.
    ///
    /// # Errors
    /// When the kernel can't be distributed so.
    ///
    /// # Panics
    /// When there is no rank.
    pub fn plan(&self, placement: &Placement, ranks: usize) -> Result<Plan, DistributeError> {
        assert!(ranks > 0, "there is at least one rank");
        if ranks > MOST_RANKS {
            let help = format!("a plan is of at most {MOST_RANKS}");
            return Err(DistributeError::Refused { what: format!("{ranks} ranks are too many"), help });
        }
        Plan::of(self, placement, ranks)
    }

    /// The ranges of the one renumbered index, of about equal numbers of entries.
    fn ranges(&self, distribution: &Distribution, extent: usize, ranks: usize) -> Vec<Range<usize>> {
        let mut weights = vec![0u32; extent];
        for (place, (name, _)) in self.inputs() {
            let mode = distribution.modes[place].iter().position(Option::is_some);
            if let Some(mode) = mode.filter(|_| !self.kernel.tensors[place].format.is_dense()) {
                self.listed(name).indices[mode].iter().for_each(|&index| weights[index as usize] += 1);
            }
        }
        ranges(&weights, ranks)
    }
}
