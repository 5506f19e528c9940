//! Work on entries that need no rows of other ranks, while these are under way.
//!
//! A rank's entries of the tensor that is shared out are cut in two, and the kernel runs on each part:
//!
//! ```text
//! without      send rows ─────────────▶ take rows   all entries
//! with         send rows   inner entries   take rows   outer entries   add both results
//! ```
//!
//! That is how matrices are multiplied with vectors in PETSc (Balay, Gropp, McInnes and Smith, Efficient Management of Parallelism in
//! Object-Oriented Numerical Software Libraries, 1997). Results of parts are combined as those of ranks are.

use super::DistributeError;
use super::cost::{Counts, Machine, Summary};
use super::dense_rows::row_bytes;
use super::held::packed;
use super::listed::{Listed, has_entries_alone};
use super::operand_rows::{Feed, OperandRows, Source};
use super::plan::Plan;
use super::problem::Problem;
use super::run::Local;
use crate::tensor::AnyTensor;
use spc_compiler::notation::Role;
use std::sync::Arc;

/// Whether a kernel works on entries that need no rows of other ranks while these are under way, and then on the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Overlap {
    /// Where a rank gains by the model, in runs that take the same rows as the one before. Results are dense.
    WherePays(Machine),
    /// Wherever the result is the same but for rounding.
    Always,
    /// Kernels run when all rows have come.
    Never,
}

impl Default for Overlap {
    /// Where it pays on the usual machine.
    fn default() -> Self {
        Self::WherePays(Machine::default())
    }
}

/// What the kernel runs on while rows are under way.
#[derive(Debug, Clone)]
pub(super) enum Cut {
    /// Nothing.
    Nothing,
    /// All entries: none needs a row of another rank.
    All,
    /// Some entries; on the others when the rows have come.
    Two(Arc<Halves>),
}

/// The entries that need no row of another rank, and the others.
#[derive(Debug)]
pub(super) struct Halves {
    pub(super) inner: AnyTensor,
    pub(super) outer: AnyTensor,
}

/// How the entries of a rank are cut.
pub(super) struct Cuts {
    pub(super) overlap: Overlap,
    /// The place of the tensor that is shared out in the kernel, and among the inputs, where entries can be cut.
    shared: Option<(usize, usize)>,
    /// Where the rows of the run before came from, how many runs had them from there, and how entries were cut for it.
    last: (Vec<Source>, usize, Option<Cut>),
}

impl Problem {
    /// The tensor that is shared out, where results of parts of its entries on a rank are combined as those of ranks are: its place in the kernel,
    /// and its name.
    fn cut_in_two(&self, plan: &Plan) -> Option<(usize, &str)> {
        let mut sparse = self.inputs().filter(|(place, _)| !self.kernel.tensors[*place].format.is_dense());
        // Others may have been found to have entries at the same places, which those of a part have not.
        let (place, (name, _)) = sparse.next().filter(|_| sparse.next().is_none())?;
        let is_cut = plan.is_shared(name)
            && plan.distribution.combine.is_some()
            && has_entries_alone(&self.kernel.tensors[place].format)
            // The same bits on any number of ranks take the same order of sums.
            && !self.options.deterministic;
        is_cut.then_some((place, name))
    }

    /// What ranks gain by the model where they work on entries that need no rows of others while these are under way, in a run that is not the
    /// first. Nothing where the slowest one gains nothing, and for a plan of which no rank knows all entries.
    pub fn overlapped(&self, plan: &Plan, machine: Machine) -> Option<Overlapped> {
        let (place, _) = self.cut_in_two(plan)?;
        let entries = plan.entries.as_ref().filter(|entries| {
            entries.order.len() as u64 == plan.counts().iter().map(|counts| counts.entries).sum::<u64>()
        })?;
        let listed = self.listed(&entries.tensor);
        let is_awaited = |index: usize| {
            let mut inputs = self.inputs().filter(|(place, _)| self.kernel.tensors[*place].format.is_dense());
            inputs.any(|(place, (name, _))| {
                plan.is_sent(place, name) && plan.cut(place).is_some_and(|(_, of)| of == index)
            })
        };
        let modes = listed.indices.iter().zip(&plan.distribution.modes[place]);
        let awaited: Vec<_> =
            modes.filter_map(|(column, cut)| Some((column, cut.filter(|&cut| is_awaited(cut))?))).collect();
        let needed: Vec<Vec<u64>> = plan.rows.iter().map(|rows| rows.needed_by(plan.ranks())).collect();
        let (mut inner, mut longest, mut shortened) = (0, 0.0_f64, 0.0_f64);
        for (rank, counts) in plan.counts().iter().enumerate() {
            let is_own = |entry: u32, (column, index): &(&Vec<u64>, usize)| {
                plan.rows[*index].owner(column[entry as usize]) as usize == rank
            };
            let own = entries.of_rank(rank).iter();
            let count = own.filter(|&&entry| awaited.iter().all(|mode| is_own(entry, mode))).count() as u64;
            let Counts { sent, taken, messages, .. } = *counts;
            let results = self.result_bytes(plan, &|index| needed[index][rank])?;
            let gain = match counts.entries - count {
                // No second run is needed.
                0 => 0.0,
                _ => Passes { sent, taken, messages, results }.gain(count, machine),
            };
            let time = Summary::of(&[*counts], 0, machine).time;
            longest = longest.max(time);
            shortened = shortened.max(time - gain.max(0.0));
            inner += count;
        }
        let time = plan.summary(machine).time - (longest - shortened);
        (shortened < longest).then_some(Overlapped { entries: inner, time })
    }

    /// The bytes of results that a rank has before they go to their owners, by how many coordinates it needs of each renumbered index; nothing
    /// where they are sparse.
    fn result_bytes(&self, plan: &Plan, needed: &dyn Fn(usize) -> u64) -> Option<u64> {
        let tensors = self.kernel.tensors.iter().zip(&plan.distribution.modes);
        let results = tensors.filter(|(tensor, _)| tensor.role == Role::Output);
        let bytes = results.map(|(tensor, cuts)| {
            let modes = cuts.iter().zip(self.shape(&tensor.name));
            let here = modes.map(|(cut, &extent)| cut.map_or(extent as u64, needed));
            let bytes = here.fold(tensor.element.bytes() as u64, u64::saturating_mul);
            tensor.format.is_dense().then_some(bytes)
        });
        bytes.sum()
    }
}

/// What work while rows are under way makes of a run, by the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overlapped {
    /// Entries that need no rows of other ranks, all ranks together.
    pub entries: u64,
    /// Seconds of a run.
    pub time: f64,
}

impl Cuts {
    /// Of a kernel whose inputs have these names.
    pub(super) fn of<'a>(local: &Local<'_>, mut inputs: impl Iterator<Item = &'a str>) -> Self {
        let shared = local.problem.cut_in_two(local.plan);
        let shared = shared.and_then(|(place, name)| Some((place, inputs.position(|input| input == name)?)));
        Self { overlap: Overlap::default(), shared, last: (Vec::new(), 0, None) }
    }

    /// The place of the tensor that is cut among the inputs.
    pub(super) fn input(&self) -> Option<usize> {
        self.shared.map(|(_, input)| input)
    }

    /// How entries are cut for the next run.
    pub(super) fn next(
        &mut self,
        local: &Local<'_>,
        (rows, feeds): (&[OperandRows], &[Feed]),
        inputs: &[AnyTensor],
    ) -> Result<Cut, DistributeError> {
        let Some((place, input)) = self.shared.filter(|_| self.overlap != Overlap::Never) else {
            return Ok(Cut::Nothing);
        };
        let sources: Vec<Source> = rows.iter().map(|rows| rows.source).collect();
        if self.last.0 == sources {
            self.last.1 += 1;
        } else {
            self.last = (sources, 1, None);
        }
        if let Some(cut) = &self.last.2 {
            return Ok(cut.clone());
        }
        let own = local.ranks.rank();
        // Of each index, which numbers have rows that come from others.
        let mut awaited: Vec<(usize, Vec<bool>)> = Vec::new();
        for rows in rows.iter().filter(|rows| rows.is_coming()) {
            let mut of_others = vec![false; rows.shape[rows.of.0]];
            let from = rows.route(feeds).from.iter().enumerate().filter(|(rank, _)| *rank != own);
            from.flat_map(|(_, numbers)| numbers).for_each(|&number| of_others[number] = true);
            if of_others.contains(&true) {
                awaited.push((rows.index, of_others));
            }
        }
        let cut = if awaited.is_empty() {
            Cut::All
        } else if self.last.1 < 2 && self.overlap != Overlap::Always {
            // To cut entries takes longer than it saves in one run.
            return Ok(Cut::Nothing);
        } else {
            let passes = Passes::of(local, rows, feeds);
            cut(local, (place, &inputs[input]), &awaited, |inner| match self.overlap {
                Overlap::WherePays(machine) => passes.is_some_and(|passes| passes.gain(inner, machine) > 0.0),
                Overlap::Always | Overlap::Never => true,
            })?
        };
        self.last.2 = Some(cut.clone());
        Ok(cut)
    }
}

/// Cuts entries where so many inner ones are worth it.
fn cut(
    local: &Local<'_>,
    (place, shared): (usize, &AnyTensor),
    awaited: &[(usize, Vec<bool>)],
    pays: impl Fn(u64) -> bool,
) -> Result<Cut, DistributeError> {
    let declared = &local.problem.kernel.tensors[place];
    let listed = Listed::of(shared, None).map_err(|source| DistributeError::pack(&declared.name, source))?;
    let mut is_inner = vec![true; listed.len()];
    for (column, cut) in listed.indices.iter().zip(&local.plan.distribution.modes[place]) {
        for (_, of_others) in awaited.iter().filter(|(index, _)| Some(*index) == *cut) {
            let entries = is_inner.iter_mut().zip(column);
            entries.for_each(|(is_inner, &number)| *is_inner &= !of_others[number as usize]);
        }
    }
    let inner = is_inner.iter().filter(|is_inner| **is_inner).count();
    if inner == listed.len() {
        return Ok(Cut::All);
    }
    if inner == 0 || !pays(inner as u64) {
        return Ok(Cut::Nothing);
    }
    let part = |inside: bool| {
        let entries = (0..listed.len()).filter(|&entry| is_inner[entry] == inside);
        packed(listed.chosen(entries), declared, declared.fill)
    };
    Ok(Cut::Two(Arc::new(Halves { inner: part(true)?, outer: part(false)? })))
}

/// What a rank gains and loses where its kernel runs on some entries while rows of operands are under way, and then on the others.
#[derive(Debug, Clone, Copy, Default)]
struct Passes {
    /// Bytes that it sends and takes.
    sent: u64,
    taken: u64,
    /// Messages in one direction.
    messages: u64,
    /// Bytes of its results, before they go to their owners.
    results: u64,
}

/// Seconds to call a kernel once more.
const CALL: f64 = 5e-6;

/// How often results go through the memory once more: begun and written by the second run, both read and their sum written.
const RESULT_PASSES: f64 = 5.0;

impl Passes {
    /// Of a run that takes these rows; nothing where results are sparse.
    fn of(local: &Local<'_>, rows: &[OperandRows], feeds: &[Feed]) -> Option<Self> {
        let needed = |index: usize| local.needed[index].len() as u64;
        let results = local.problem.result_bytes(local.plan, &needed)?;
        let mut passes = Self { results, ..Self::default() };
        let mut talks = [vec![false; local.ranks.size()], vec![false; local.ranks.size()]];
        let own = local.ranks.rank();
        for rows in rows.iter().filter(|rows| rows.is_coming()) {
            let (route, size) = (rows.route(feeds), row_bytes(&rows.shape, rows.of) as u64);
            let lists = [(&route.to, &mut passes.sent), (&route.from, &mut passes.taken)];
            for ((lists, bytes), talks) in lists.into_iter().zip(&mut talks) {
                for (rank, list) in lists.iter().enumerate().filter(|(rank, _)| *rank != own) {
                    *bytes += list.len() as u64 * size;
                    talks[rank] |= !list.is_empty();
                }
            }
        }
        let count = |talks: &Vec<bool>| talks.iter().filter(|talks| **talks).count() as u64;
        passes.messages = talks.iter().map(count).max().unwrap_or(0);
        Some(passes)
    }

    /// How many seconds less it takes to work on so many entries meanwhile; below zero if it takes more.
    fn gain(&self, entries: u64, machine: Machine) -> f64 {
        let exchange = self.sent.max(self.taken) as f64 / machine.bandwidth + self.messages as f64 * machine.latency;
        let hidden = exchange.min(entries as f64 * machine.entry);
        hidden - CALL - RESULT_PASSES * self.results as f64 / machine.memory
    }
}

#[cfg(test)]
mod tests;
