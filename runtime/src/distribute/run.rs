//! One rank's part of a run: rows of operands come from their owners, the kernel runs on what the rank has, and rows of the result go to
//! theirs.

use super::DistributeError;
use super::communicator::Communicator;
use super::dense_rows::chosen;
use super::held::Part;
use super::listed::{Listed, dense};
use super::owners::Returns;
use super::plan::Plan;
use super::problem::Problem;
use super::rows::Rows;
use crate::execute::Operand;
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;

impl Problem {
    /// Runs this rank's part, once. All ranks call it with one plan.
    ///
    /// # Errors
    /// When the kernel can't be compiled or stops, here or on another rank.
    ///
    /// # Panics
    /// When the plan is for another number of ranks.
    pub fn run(&self, plan: &Plan, ranks: &dyn Communicator) -> Result<Part, DistributeError> {
        self.prepare(plan, ranks)?.run()
    }
}

/// A rank at work.
pub(super) struct Local<'a> {
    pub(super) problem: &'a Problem,
    pub(super) plan: &'a Plan,
    pub(super) ranks: &'a dyn Communicator,
    /// The coordinates of each renumbered index that it needs, ascending: the place of one is its number here.
    pub(super) needed: Vec<Vec<u64>>,
    /// What it knows of where results go.
    pub(super) returns: Returns,
}

impl Local<'_> {
    /// The sparse inputs of the rank's kernel, and those that every rank has as a whole; dense ones of which it has some rows are of zeros.
    pub(super) fn inputs(&self) -> Result<Vec<(String, Operand)>, DistributeError> {
        let is_sent = |place: usize, name: &str| self.plan.is_sent(place, name) && !self.is_dense(place);
        let mut messages = vec![Vec::new(); self.ranks.size()];
        for (place, (name, _)) in self.problem.inputs().filter(|(place, (name, _))| is_sent(*place, name)) {
            self.send_entries(place, name, &mut messages);
        }
        let taken = match self.problem.inputs().any(|(place, (name, _))| is_sent(place, name)) {
            true => self.ranks.exchange(messages)?,
            false => messages,
        };
        let mut from: Vec<&[u8]> = taken.iter().map(Vec::as_slice).collect();
        let mut inputs = Vec::new();
        for (place, (name, tensor)) in self.problem.inputs() {
            let operand = match self.plan.cut(place) {
                _ if self.plan.is_shared(name) => self.own_entries(place, name),
                None => tensor.clone().into(),
                Some(_) if self.is_dense(place) => self.zeros(place, tensor)?.into(),
                Some(cut) => self.taken_entries(place, name, cut, &mut from),
            };
            inputs.push((name.clone(), operand));
        }
        Ok(inputs)
    }

    pub(super) fn rows(&self, index: usize) -> &Rows {
        &self.plan.rows[index]
    }

    /// Puts what others need of a sparse operand's entries, where this rank owns them, into messages, in the order in which they are stored, as
    /// many as their number says.
    fn send_entries(&self, place: usize, name: &str, messages: &mut [Vec<u8>]) {
        let (mode, index) = self.plan.cut(place).expect("it is cut");
        let (own, rows) = (self.ranks.rank() as u32, self.rows(index));
        let listed = self.problem.listed(name);
        let mut of_ranks = vec![Vec::new(); messages.len()];
        for (entry, &coordinate) in listed.indices[mode].iter().enumerate() {
            if rows.owner(coordinate) == own {
                rows.others(coordinate).for_each(|user| of_ranks[user as usize].push(entry));
            }
        }
        for (message, entries) in messages.iter_mut().zip(of_ranks) {
            listed.put(entries.into_iter(), message);
        }
    }

    /// The rank that has what belongs to a coordinate of an operand for this one: itself, of one that is on every rank.
    pub(super) fn owner(&self, name: &str, index: usize, coordinate: u64) -> u32 {
        match self.plan.is_replicated(name) {
            true => self.ranks.rank() as u32,
            false => self.rows(index).owner(coordinate),
        }
    }

    /// A sparse operand's entries that this rank needs: its own ones, and those that others have sent.
    fn taken_entries(&self, place: usize, name: &str, (mode, index): (usize, usize), from: &mut [&[u8]]) -> Operand {
        let own = self.ranks.rank() as u32;
        let listed = self.problem.listed(name);
        let mut here = Listed::empty(listed.shape.clone(), listed.element);
        let size = listed.entry_bytes();
        // How many entries each rank has sent of this operand.
        let mut counts = vec![0usize; from.len()];
        for (entry, &coordinate) in listed.indices[mode].iter().enumerate() {
            let owner = self.owner(name, index, coordinate);
            if self.rows(index).is_needed(coordinate, own) {
                match owner == own {
                    true => here.push(listed.index(entry), listed.value(entry)),
                    false => counts[owner as usize] += 1,
                }
            }
        }
        for (from, count) in from.iter_mut().zip(counts) {
            let (message, rest) = from.split_at(count * size);
            here.read(message);
            *from = rest;
        }
        Operand::Entries(self.renumbered(place, here))
    }

    /// A dense operand as the rank has it, but for its elements.
    fn zeros(&self, place: usize, tensor: &AnyTensor) -> Result<AnyTensor, DistributeError> {
        let modes = self.plan.distribution.modes[place].iter().zip(tensor.shape());
        let shape = modes.map(|(index, &extent)| index.map_or(extent, |index| self.needed[index].len())).collect();
        let declared = &self.problem.kernel.tensors[place];
        let zeros = AnyTensor::zeros(shape, Format::dense(tensor.order()), tensor.element());
        let zeros = zeros.map_err(|error| DistributeError::pack(&declared.name, error.into()))?;
        Ok(zeros.with_fill(declared.fill))
    }

    /// A dense operand of the rows that this rank needs, which are given.
    pub(super) fn of_rows(
        &self,
        place: usize,
        mut bytes: Vec<u8>,
        (mode, mut shape): (usize, Vec<usize>),
    ) -> Result<AnyTensor, DistributeError> {
        let declared = &self.problem.kernel.tensors[place];
        // Other modes have the coordinates that are needed, too.
        for (other, index) in self.plan.distribution.modes[place].iter().enumerate() {
            if let Some(index) = index.filter(|_| other != mode) {
                (bytes, shape) = chosen(&bytes, shape, (other, declared.element.bytes()), &self.needed[index]);
            }
        }
        let tensor = dense(shape, declared.element, &bytes);
        let tensor = tensor.map_err(|error| DistributeError::pack(&declared.name, error.into()))?;
        self.declared(place, tensor)
    }

    /// A dense input in the format that the kernel declares.
    pub(super) fn declared(&self, place: usize, tensor: AnyTensor) -> Result<AnyTensor, DistributeError> {
        let declared = &self.problem.kernel.tensors[place];
        let tensor = tensor.with_fill(declared.fill);
        match *tensor.format() == declared.format {
            true => Ok(tensor),
            false => tensor.convert(&declared.format).map_err(|source| DistributeError::pack(&declared.name, source)),
        }
    }

    /// The entries of the shared tensor that are this rank's.
    fn own_entries(&self, place: usize, name: &str) -> Operand {
        let own = self.plan.entries.as_ref().expect("entries are shared").of_rank(self.ranks.rank());
        let here = self.problem.listed(name).chosen(own.iter().map(|&entry| entry as usize));
        Operand::Entries(self.renumbered(place, here))
    }

    /// Entries by this rank's numbers. Those at coordinates that nothing here needs are left out.
    fn renumbered(&self, place: usize, mut listed: Listed) -> crate::execute::Entries {
        for (mode, index) in self.plan.distribution.modes[place].iter().enumerate() {
            let Some(index) = *index else { continue };
            let needed = &self.needed[index];
            let mut left_out = false;
            for coordinate in &mut listed.indices[mode] {
                let number = needed.binary_search(coordinate);
                left_out |= number.is_err();
                *coordinate = number.map_or(u64::MAX, |number| number as u64);
            }
            if left_out {
                let kept: Vec<usize> =
                    (0..listed.len()).filter(|&entry| listed.indices[mode][entry] != u64::MAX).collect();
                listed = listed.chosen(kept.into_iter());
            }
            listed.shape[mode] = needed.len();
        }
        listed.entries()
    }

    /// Extents that no input determines, as they are here.
    pub(super) fn dimensions(&self) -> Vec<(String, usize)> {
        let indices = &self.plan.distribution.indices;
        let here = |name: &String| indices.iter().position(|index| index.names.contains(name));
        let dimension = |(name, extent): &(String, usize)| {
            (name.clone(), here(name).map_or(*extent, |index| self.needed[index].len()))
        };
        self.problem.dimensions.iter().map(dimension).collect()
    }

    pub(super) fn is_dense(&self, place: usize) -> bool {
        self.problem.kernel.tensors[place].format.is_dense()
    }
}
