//! What ranks have to do in a run, and what that costs by a simple model: of all entries, or of parts of which each rank has one.

use super::DistributeError;
use super::communicator::{CommunicationError, Communicator};
use super::dense_rows::row_bytes;
use super::homes;
use super::listed::{Listed, Occupied};
use super::message::{message, numbers};
use super::placement::Placement;
use super::problem::Problem;
use super::redistribute::OwnEntries;
use spc_compiler::notation::{Access, IndexVariable, Role};
use spc_compiler::schedule::{Distribution, Shared};
use std::collections::BTreeSet;

/// What one rank has to do in a run, as it follows from the plan; but for entries of sparse results, which are known only when they are
/// computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Stored entries of the shared tensor.
    pub entries: u64,
    /// Bytes of operands that it sends to others.
    pub sent: u64,
    /// Bytes of operands that it takes from others.
    pub taken: u64,
    /// Bytes of results that it sends to their owners.
    pub results_sent: u64,
    /// Bytes of results that it takes from others.
    pub results_taken: u64,
    /// Messages that it sends.
    pub messages: u64,
    /// About as many bytes of entries of sparse results as it sends to their owners.
    pub entries_sent: u64,
    /// About as many as it takes from others.
    pub entries_taken: u64,
}

/// What a plan costs, by a simple model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Machine {
    /// Seconds for an entry of the shared tensor.
    pub entry: f64,
    /// Bytes in a second, in each direction.
    pub bandwidth: f64,
    /// Seconds for a message.
    pub latency: f64,
    /// Bytes of its memory that a rank reads or writes in a second.
    pub memory: f64,
}

impl Default for Machine {
    /// 10 ns an entry, 10 GB/s, 2 µs a message; 20 GB/s of memory.
    fn default() -> Self {
        Self { entry: 10e-9, bandwidth: 10e9, latency: 2e-6, memory: 20e9 }
    }
}

/// What all ranks together have to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Bytes that are sent in one run, all ranks together, without entries of sparse results.
    pub bytes: u64,
    /// About as many bytes of entries of sparse results, all ranks together.
    pub entries: u64,
    /// The most that one rank sends or takes, of both.
    pub most_bytes: u64,
    /// Messages, all ranks together.
    pub messages: u64,
    /// The entries of the rank that has most, over the mean.
    pub imbalance: f64,
    /// Seconds, by the model.
    pub time: f64,
    /// Bytes of operands that every rank has as a whole. A run does not send them; the time has what it takes to bring them there.
    pub replicated: u64,
}

impl Summary {
    /// Of what each rank has to do, and the bytes of operands that every rank has.
    pub(super) fn of(counts: &[Counts], replicated: u64, machine: Machine) -> Self {
        let bytes = counts.iter().map(|counts| counts.sent + counts.results_sent).sum();
        let of_results = counts.iter().map(|counts| counts.entries_sent).sum();
        let of_rank = |counts: &Counts| {
            let sent = counts.sent + counts.results_sent + counts.entries_sent;
            sent.max(counts.taken + counts.results_taken + counts.entries_taken)
        };
        let most_bytes = counts.iter().map(of_rank).max().unwrap_or(0);
        let messages: u64 = counts.iter().map(|counts| counts.messages).sum();
        let most_messages = counts.iter().map(|counts| counts.messages).max().unwrap_or(0);
        let most = counts.iter().map(|counts| counts.entries).max().unwrap_or(0);
        let entries: u64 = counts.iter().map(|counts| counts.entries).sum();
        let mean = entries as f64 / counts.len() as f64;
        Self {
            bytes,
            entries: of_results,
            most_bytes,
            messages,
            imbalance: if entries == 0 { 1.0 } else { most as f64 / mean },
            // What every rank has comes to it, too, from wherever it is.
            time: most as f64 * machine.entry
                + (most_bytes + replicated) as f64 / machine.bandwidth
                + most_messages as f64 * machine.latency,
            replicated,
        }
    }

    pub(super) fn cost(&self, ranks: usize) -> Cost {
        let everywhere = self.replicated.saturating_mul(ranks as u64 - 1);
        let bytes = self.bytes.saturating_add(self.entries).saturating_add(everywhere);
        Cost { time: self.time, bytes, imbalance: self.imbalance }
    }
}

/// What decides between placements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub(super) time: f64,
    pub(super) bytes: u64,
    pub(super) imbalance: f64,
}

impl Cost {
    /// Of those that take about as long as the fastest and are about even, the one that sends least: the model knows neither the network that
    /// others use, too, nor how long kernels take.
    pub(super) fn best(all: impl Iterator<Item = Self> + Clone) -> Option<usize> {
        let least = all.clone().map(|cost| cost.time).fold(f64::INFINITY, f64::min);
        let is_close = |cost: &Self| cost.time <= SLOWER * least && cost.imbalance <= UNEVEN;
        let close = all.clone().enumerate().filter(|(_, cost)| is_close(cost));
        let of_close =
            close.min_by(|(_, one), (_, other)| one.bytes.cmp(&other.bytes).then(one.time.total_cmp(&other.time)));
        let fastest = || all.enumerate().min_by(|(_, one), (_, other)| one.time.total_cmp(&other.time));
        of_close.or_else(fastest).map(|(place, _)| place)
    }
}

/// How much longer than the fastest a placement may take that sends less.
const SLOWER: f64 = 2.0;

/// How many more entries than the mean its rank of most entries may have.
const UNEVEN: f64 = 2.0;

/// What goes with each coordinate of an index that ranks number anew.
#[derive(Debug, Clone, Default)]
pub(super) struct Carried {
    /// The bytes of dense operands: the owner sends them to all others that need the coordinate.
    pub(super) operands: u64,
    /// Those of entries of sparse operands, at coordinates that have some, ascending.
    pub(super) entries: Vec<(u64, u64)>,
    /// The bytes of dense results: those others send them to the owner.
    pub(super) results: u64,
    /// The same of entries of a sparse result.
    pub(super) made: Option<Made>,
}

/// About how many bytes of entries of a sparse result there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    /// Of an entry of the tensor that is shared out.
    by_entry: f64,
    /// At most, of a coordinate of the result.
    most: f64,
}

impl Carried {
    /// The bytes of operands at a coordinate.
    fn operands_at(&self, coordinate: u64) -> u64 {
        let place = self.entries.binary_search_by_key(&coordinate, |(other, _)| *other);
        self.operands + place.map_or(0, |place| self.entries[place].1)
    }
}

/// What operands and results of a kernel take.
#[derive(Debug, Default)]
pub(super) struct AllCarried {
    /// By renumbered index.
    pub(super) of_indices: Vec<Carried>,
    /// The bytes of operands that every rank has as a whole.
    pub(super) replicated: u64,
}

/// The first renumbered mode of a tensor, by its place in the kernel, and its index.
pub(super) fn first_cut(distribution: &Distribution, tensor: usize) -> Option<(usize, usize)> {
    let modes = distribution.modes[tensor].iter().enumerate();
    modes.into_iter().find_map(|(mode, index)| index.map(|index| (mode, index)))
}

/// Whether a dense result comes together row by row.
pub(super) fn comes_in_rows(distribution: &Distribution, problem: &Problem, tensor: usize) -> bool {
    let modes = distribution.modes[tensor].iter().flatten().count();
    modes == 1 && problem.kernel.tensors[tensor].format.is_dense()
}

impl Problem {
    /// What goes with coordinates where these operands are on every rank.
    pub(super) fn carried(&self, distribution: &Distribution, everywhere: &[String]) -> AllCarried {
        let mut all =
            AllCarried { of_indices: vec![Carried::default(); distribution.indices.len()], ..AllCarried::default() };
        for (place, (name, tensor)) in self.inputs() {
            if matches!(&distribution.shared, Shared::Entries(shared) if shared == name) {
                continue;
            }
            let Some((mode, index)) = first_cut(distribution, place).filter(|_| !everywhere.contains(name)) else {
                all.replicated += tensor.storage_bytes() as u64;
                continue;
            };
            let carried = &mut all.of_indices[index];
            if self.kernel.tensors[place].format.is_dense() {
                carried.operands += row_bytes(tensor.shape(), (mode, tensor.element().bytes())) as u64;
            } else {
                let listed = self.listed(name);
                let bytes = listed.entry_bytes() as u64;
                let occupied = Occupied::of(&listed.indices[mode]);
                let weights = occupied.weights().into_iter().map(|weight| u64::from(weight) * bytes);
                carried.entries.extend(occupied.coordinates.iter().copied().zip(weights));
            }
        }
        for carried in &mut all.of_indices {
            carried.entries.sort_unstable();
            carried.entries.dedup_by(|(next, bytes), (coordinate, so_far)| {
                let is_alike = next == coordinate;
                *so_far += if is_alike { *bytes } else { 0 };
                is_alike
            });
        }
        let results = self.kernel.tensors.iter().enumerate().filter(|(_, tensor)| tensor.role == Role::Output);
        for (place, tensor) in results {
            let Some((mode, index)) = first_cut(distribution, place) else { continue };
            let carried = &mut all.of_indices[index];
            let shape = self.shape(&tensor.name);
            match &distribution.shared {
                _ if comes_in_rows(distribution, self, place) => {
                    carried.results += row_bytes(shape, (mode, tensor.element.bytes())) as u64;
                }
                Shared::Entries(shared) => {
                    let bytes = Listed::empty(shape.to_vec(), tensor.element).entry_bytes() as f64;
                    let others = shape.iter().enumerate().filter(|(other, _)| *other != mode);
                    let most = others.map(|(_, &extent)| extent as f64).product::<f64>();
                    carried.made = Some(Made { by_entry: bytes * self.made_by_entry(shared), most: bytes * most });
                }
                Shared::Range(_) => {}
            }
        }
        all
    }

    /// About how many entries of the result an entry of the tensor that is shared out makes: as many as indices that it has not have coordinates,
    /// or as many as a sparse operand has, where its entries are spread evenly.
    fn made_by_entry(&self, shared: &str) -> f64 {
        let statement = &self.kernel.statements[0];
        let target = &statement.target;
        let sparse = |access: &&Access| self.listed_of(&self.kernel.tensor(access.tensor).name).is_some();
        let accesses: Vec<&Access> = statement.value.accesses().into_iter().filter(sparse).collect();
        let is_shared = |access: &&&Access| self.kernel.tensor(access.tensor).name == *shared;
        let of_index = |(&index, &extent): (&IndexVariable, &usize)| {
            let has = |access: &&&Access| access.indices.iter().any(|&other| self.is_alike(other, index));
            if accesses.iter().filter(is_shared).any(|access| has(&access)) {
                return 1.0;
            }
            let spread = |access: &&Access| {
                let name = &self.kernel.tensor(access.tensor).name;
                let modes = access.indices.iter().zip(self.shape(name));
                let others = modes.filter(|(other, _)| !self.is_alike(**other, index));
                let entries = self.listed_of(name).map_or(0, Listed::len) as f64;
                entries / others.map(|(_, &extent)| extent as f64).product::<f64>().max(1.0)
            };
            accesses.iter().filter(has).map(spread).fold(extent as f64, f64::min)
        };
        let shape = self.shape(&self.kernel.tensor(target.tensor).name);
        target.indices.iter().zip(shape).map(of_index).product()
    }
}

/// What ranks have to do, added up coordinate by coordinate.
pub(super) struct Tally {
    pub(super) counts: Vec<Counts>,
    /// To whom each sends rows of operands, and of results.
    talks: [Vec<BTreeSet<u32>>; 2],
    /// The rows of a sparse result of which each has entries; of these those that it sends, and those that it takes from others.
    rows: Vec<[u64; 3]>,
}

impl Tally {
    pub(super) fn new(ranks: usize) -> Self {
        let talks = vec![BTreeSet::new(); ranks];
        Self { counts: vec![Counts::default(); ranks], talks: [talks.clone(), talks], rows: vec![[0; 3]; ranks] }
    }

    /// Adds what is sent of a coordinate, which some ranks need and one of them owns.
    pub(super) fn add(&mut self, (coordinate, users, owner): (u64, &[u32], u32), carried: &Carried) {
        if carried.made.is_some() {
            for &user in users {
                let is_sent = u64::from(user != owner);
                self.rows[user as usize][0] += 1;
                self.rows[user as usize][1] += is_sent;
                self.rows[owner as usize][2] += is_sent;
            }
        }
        if users.len() < 2 {
            return;
        }
        let operands = carried.operands_at(coordinate);
        let [talks, of_results] = &mut self.talks;
        for &user in users.iter().filter(|user| **user != owner) {
            if operands > 0 {
                self.counts[owner as usize].sent += operands;
                self.counts[user as usize].taken += operands;
                talks[owner as usize].insert(user);
            }
            if carried.results > 0 {
                self.counts[user as usize].results_sent += carried.results;
                self.counts[owner as usize].results_taken += carried.results;
                of_results[user as usize].insert(owner);
            }
        }
    }

    /// Of all that was added here.
    pub(super) fn counts(self, carried: &AllCarried) -> Vec<Counts> {
        let Self { mut counts, talks: [talks, of_results], rows } = self;
        for (counts, (talks, of_results)) in counts.iter_mut().zip(talks.iter().zip(&of_results)) {
            counts.messages = (talks.len() + of_results.len()) as u64;
        }
        estimate(&mut counts, &rows, carried.of_indices.iter().find_map(|carried| carried.made));
        counts
    }

    /// Of all that was added on any rank. All ranks call it, and have the same.
    fn counts_of_all(self, made: Option<Made>, ranks: &dyn Communicator) -> Result<Vec<Counts>, CommunicationError> {
        let Self { counts, talks: [talks, of_results], rows } = self;
        // Each adds up what it has to do itself.
        let said = counts.iter().zip(&rows).zip(talks.iter().zip(&of_results));
        let said = said.map(|((counts, rows), (talks, of_results))| {
            let lists = [talks, of_results].map(|list| list.iter().map(|&rank| u64::from(rank)));
            let [talks, of_results] = lists;
            message(numbers_of(counts, rows).into_iter().chain([talks.len() as u64]).chain(talks).chain(of_results))
        });
        let mut own = [0; NUMBERS];
        let mut lists = [BTreeSet::new(), BTreeSet::new()];
        for message in ranks.exchange(said.collect())? {
            let mut numbers = numbers::<u64>(&message);
            own.iter_mut().zip(&mut numbers).for_each(|(own, number)| *own += number);
            let talks = numbers.next().unwrap_or(0) as usize;
            lists[0].extend(numbers.by_ref().take(talks));
            lists[1].extend(numbers);
        }
        // What is sent to whom is known once all homes have said it.
        own[MESSAGES] = lists.iter().map(|list| list.len() as u64).sum();
        let all = ranks.gather_all(&message(own))?;
        let (mut counts, rows): (Vec<Counts>, Vec<[u64; 3]>) = all.iter().map(|message| counts_of(message)).unzip();
        estimate(&mut counts, &rows, made);
        Ok(counts)
    }
}

/// Adds about what is sent of entries of a sparse result: all rows of a rank have as many, and those that it takes as many as any.
fn estimate(counts: &mut [Counts], rows: &[[u64; 3]], made: Option<Made>) {
    let Some(Made { by_entry, most }) = made else { return };
    let of_row = |entries: u64, rows: u64| (entries as f64 / rows.max(1) as f64 * by_entry).min(most);
    let entries = counts.iter().map(|counts| counts.entries).sum();
    let of_any = of_row(entries, rows.iter().map(|[has, ..]| has).sum());
    for (counts, [has, sent, taken]) in counts.iter_mut().zip(rows) {
        counts.entries_sent = (*sent as f64 * of_row(counts.entries, *has)) as u64;
        counts.entries_taken = (*taken as f64 * of_any) as u64;
    }
}

/// How many numbers say what a rank has to do, and which of them its messages are.
const NUMBERS: usize = 9;
const MESSAGES: usize = 5;

fn numbers_of(counts: &Counts, &[has, to, from]: &[u64; 3]) -> [u64; NUMBERS] {
    let &Counts { entries, sent, taken, results_sent, results_taken, messages, .. } = counts;
    [entries, sent, taken, results_sent, results_taken, messages, has, to, from]
}

fn counts_of(message: &[u8]) -> (Counts, [u64; 3]) {
    let mut numbers = numbers::<u64>(message);
    let [entries, sent, taken, results_sent, results_taken, messages, rows @ ..] =
        std::array::from_fn::<u64, NUMBERS, _>(|_| numbers.next().unwrap_or(0));
    let counts = Counts { entries, sent, taken, results_sent, results_taken, messages, ..Counts::default() };
    (counts, rows)
}

/// An index that ranks number anew, where each has some entries of the tensor that is shared out.
pub(super) struct OfParts<'a> {
    pub(super) extent: usize,
    /// The modes of this rank's entries that it stands for.
    pub(super) modes: Vec<&'a Occupied>,
    pub(super) carried: &'a Carried,
}

/// What each rank would have to do if entries, of which each rank has some, were on the ranks of `rank_of`. No rank knows of coordinates that
/// it has not and whose home it is not, so the owners of rows may be others than those of a plan. All ranks call it, and have the same.
pub(super) fn counts_of_parts(
    indices: &[OfParts<'_>],
    rank_of: &[u32],
    ranks: &dyn Communicator,
) -> Result<Vec<Counts>, CommunicationError> {
    let size = ranks.size();
    let mut tally = Tally::new(size);
    rank_of.iter().for_each(|&rank| tally.counts[rank as usize].entries += 1);
    for OfParts { extent, modes, carried } in indices {
        let mut pairs: Vec<(u64, u32)> = modes.iter().flat_map(|mode| mode.pairs(rank_of, size)).collect();
        if modes.len() > 1 {
            pairs.sort_unstable();
        }
        let known = homes::told(*extent, &pairs, ranks)?;
        known.groups().for_each(|group| tally.add(group, carried));
    }
    tally.counts_of_all(indices.iter().find_map(|index| index.carried.made), ranks)
}

/// The placement that costs least, and the rank of each of this rank's entries in it. All ranks call it.
pub(super) fn chosen(
    placements: Vec<Placement>,
    own: &OwnEntries<'_>,
    ranks: &dyn Communicator,
    cost: impl Fn(&[u32]) -> Result<Cost, CommunicationError>,
) -> Result<(Placement, Vec<u32>), CommunicationError> {
    let made = placements.into_iter().map(|placement| Ok((own.ranks(&placement, ranks)?, placement)));
    let mut made = made.collect::<Result<Vec<_>, CommunicationError>>()?;
    let costs = match made.len() {
        1 => Vec::new(),
        _ => made.iter().map(|(rank_of, _)| cost(rank_of)).collect::<Result<_, _>>()?,
    };
    let (rank_of, placement) = made.swap_remove(Cost::best(costs.into_iter()).unwrap_or(0));
    Ok((placement, rank_of))
}

impl Problem {
    /// The placement that is asked for, or else costs least, of a tensor of which this problem has the shape and none of the entries; and the
    /// rank of each of this rank's entries in it. All ranks call it.
    pub(super) fn chosen(
        &self,
        tensor: &str,
        asked: Option<Placement>,
        own: &Listed,
        ranks: &dyn Communicator,
    ) -> Result<(Placement, Vec<u32>), DistributeError> {
        let distribution = self.distribution(&Shared::Entries(tensor.to_owned()))?;
        let (extents, is_cut) = (self.extents_of(&distribution)?, self.is_cut(&distribution, tensor));
        let carried = self.carried(&distribution, &self.everywhere()?);
        let occupied: Vec<Occupied> = own.indices.iter().map(|column| Occupied::of(column)).collect();
        let modes_of = |index| {
            let modes = occupied.iter().zip(&distribution.modes[self.place(tensor)]);
            modes.filter(move |(_, cut)| **cut == Some(index)).map(|(mode, _)| mode).collect()
        };
        let index = |(index, (extent, carried))| OfParts { extent, modes: modes_of(index), carried };
        let indices: Vec<OfParts<'_>> = extents.into_iter().zip(&carried.of_indices).enumerate().map(index).collect();
        let cost = |rank_of: &[u32]| {
            let counts = counts_of_parts(&indices, rank_of, ranks)?;
            Ok(Summary::of(&counts, carried.replicated, Machine::default()).cost(ranks.size()))
        };
        let shape = self.shape(tensor);
        let own = OwnEntries { count: own.len(), shape, occupied: &occupied, is_cut: &is_cut };
        let placements = asked.map_or_else(|| Placement::of_entries(tensor, shape, ranks.size()), |asked| vec![asked]);
        Ok(chosen(placements, &own, ranks, cost)?)
    }

    /// Of which modes of the tensor that is shared out a rank has only the coordinates of its entries.
    pub(super) fn is_cut(&self, distribution: &Distribution, tensor: &str) -> Vec<bool> {
        distribution.modes[self.place(tensor)].iter().map(Option::is_some).collect()
    }
}
