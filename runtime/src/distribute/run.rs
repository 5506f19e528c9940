//! One rank's part of a run: rows of operands come from their owners, the kernel runs on what the rank has, and rows of the result go to
//! theirs.

use super::DistributeError;
use super::communicator::Communicator;
use super::dense_rows::{chosen, copy_row, put_rows, rows_of};
use super::listed::{Listed, dense, from_bytes};
use super::plan::Plan;
use super::problem::Problem;
use super::rows::Rows;
use crate::execute::{Chain, Operand, ProgramError, combination};
use crate::tensor::{AnyTensor, Duplicates, Element, Values};
use crate::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal, ReduceOperator};
use spc_compiler::notation::Tensor;
use std::cell::OnceCell;
use std::time::Duration;

/// What a rank has of the results, and what it took.
#[derive(Debug)]
pub struct Part {
    pub(super) results: Vec<(usize, Held)>,
    /// Taking rows of operands from their owners.
    pub exchange_time: Duration,
    /// Scheduling and compiling the kernel for what this rank has.
    pub compile_time: Duration,
    /// In the kernel.
    pub kernel_time: Duration,
    /// Bringing rows of results to their owners, and combining them there.
    pub combine_time: Duration,
}

/// What a rank has of one result.
#[derive(Debug)]
pub(super) enum Held {
    /// Rows of a dense result, those that the rank owns.
    Rows(Vec<u8>),
    /// Entries at the coordinates that the rank owns.
    Entries(Listed),
    /// Elements of a dense result, row by row, that come after those of the ranks before it.
    Elements(Values),
    /// All of it, the same on each rank.
    Whole(AnyTensor),
}

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

    /// The results as a whole, on the first rank. All ranks call it.
    ///
    /// # Errors
    /// When another rank has stopped, or there is not enough memory.
    pub fn gather(
        &self,
        plan: &Plan,
        part: Part,
        ranks: &dyn Communicator,
    ) -> Result<Option<Vec<(String, AnyTensor)>>, DistributeError> {
        let mut all = Vec::new();
        for (place, held) in part.results {
            let declared = &self.kernel.tensors[place];
            let shape = self.shape(&declared.name).to_vec();
            let own = match &held {
                Held::Rows(bytes) => bytes.clone(),
                Held::Entries(listed) => listed.message(),
                Held::Elements(values) => values.as_bytes().to_vec(),
                Held::Whole(_) => Vec::new(),
            };
            let Some(messages) = ranks.gather(own)? else { continue };
            let pack = |source| DistributeError::pack(&declared.name, source);
            let tensor = match held {
                Held::Whole(tensor) => tensor,
                Held::Rows(_) => {
                    let tensor = self.of_all_rows(plan, place, &messages)?;
                    tensor.with_fill(declared.fill).convert(&declared.format).map_err(pack)?
                }
                Held::Elements(_) => {
                    let tensor = dense(shape, declared.element, &messages.concat());
                    tensor.map_err(|error| pack(error.into()))?.with_fill(declared.fill)
                }
                Held::Entries(_) => {
                    let mut listed = Listed::empty(shape, declared.element);
                    messages.iter().for_each(|message| listed.read(message));
                    packed(listed, declared, self.begins(declared))?
                }
            };
            all.push((declared.name.clone(), tensor));
        }
        Ok((ranks.rank() == 0).then_some(all))
    }

    /// A result of the rows that ranks own, row by row.
    pub(super) fn of_all_rows(
        &self,
        plan: &Plan,
        place: usize,
        rows: &[Vec<u8>],
    ) -> Result<AnyTensor, DistributeError> {
        let declared = &self.kernel.tensors[place];
        let shape = self.shape(&declared.name).to_vec();
        let (mode, index) = plan.cut(place).expect("rows are of an index");
        let mut bytes = self.begin(declared, shape.iter().product());
        for (rank, rows) in rows.iter().enumerate() {
            let owned = plan.rows[index].owned(rank);
            put_rows(&mut bytes, &shape, (mode, declared.element.bytes()), &owned, rows);
        }
        dense(shape, declared.element, &bytes).map_err(|error| DistributeError::pack(&declared.name, error.into()))
    }

    /// What elements of a result begin as.
    fn begins(&self, declared: &Tensor) -> Literal {
        let statement = &self.kernel.statements[0];
        match self.kernel.tensor(statement.target.tensor).name == declared.name {
            true => self.kernel.begins_with(statement),
            false => declared.fill,
        }
    }

    /// The bytes of so many elements of a result, as they begin.
    pub(super) fn begin(&self, declared: &Tensor, count: usize) -> Vec<u8> {
        literal_bytes(self.begins(declared), declared.element).repeat(count)
    }
}

/// A rank at work.
pub(super) struct Local<'a> {
    pub(super) problem: &'a Problem,
    pub(super) plan: &'a Plan,
    pub(super) ranks: &'a dyn Communicator,
    /// The coordinates of each renumbered index that it needs, ascending: the place of one is its number here.
    pub(super) needed: Vec<Vec<u64>>,
    /// What makes one result of two, from when it was needed.
    pub(super) combination: OnceCell<Chain>,
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
        for (entry, &coordinate) in listed.indices[mode].iter().enumerate() {
            if rows.owner(coordinate) == own {
                rows.others(coordinate).for_each(|user| listed.write(entry, &mut messages[user as usize]));
            }
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
        let listed = self.problem.listed(name);
        let mut here = Listed::empty(listed.shape.clone(), listed.element);
        let own = self.plan.entries.as_ref().expect("entries are shared").of_rank(self.ranks.rank());
        own.iter().for_each(|&entry| here.push(listed.index(entry as usize), listed.value(entry as usize)));
        Operand::Entries(self.renumbered(place, here))
    }

    /// Entries by this rank's numbers. Those at coordinates that nothing here needs are left out.
    fn renumbered(&self, place: usize, mut listed: Listed) -> crate::execute::Entries {
        for (mode, index) in self.plan.distribution.modes[place].iter().enumerate() {
            let Some(index) = *index else { continue };
            let needed = &self.needed[index];
            let mut kept = Listed::empty(listed.shape.clone(), listed.element);
            kept.shape[mode] = needed.len();
            for entry in 0..listed.len() {
                if let Ok(number) = needed.binary_search(&listed.indices[mode][entry]) {
                    let index = listed.index(entry).enumerate();
                    kept.push(
                        index.map(|(other, old)| if other == mode { number as u64 } else { old }),
                        listed.value(entry),
                    );
                }
            }
            listed = kept;
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

    /// Brings what this rank has made of a result to the owners, and takes what is this rank's.
    pub(super) fn result(&self, place: usize, tensor: AnyTensor) -> Result<Held, DistributeError> {
        let declared = &self.problem.kernel.tensors[place];
        match self.plan.cut(place) {
            None => self.whole(declared, tensor),
            Some(cut) if self.plan.has_rows(self.problem, place) => self.owned_rows(place, tensor, cut),
            Some(cut) => self.owned_entries(place, &tensor, cut),
        }
    }

    /// The combination of what all ranks have.
    fn whole(&self, declared: &Tensor, tensor: AnyTensor) -> Result<Held, DistributeError> {
        let begins = self.problem.begins(declared);
        let mut all = Vec::new();
        for message in self.ranks.gather_all(&Listed::of(&tensor, None).message())? {
            let mut listed = Listed::empty(tensor.shape().to_vec(), tensor.element());
            listed.read(&message);
            all.push(packed(listed, declared, begins)?);
        }
        Ok(Held::Whole(self.combined(declared, all)?))
    }

    /// Rows of a dense result.
    fn owned_rows(
        &self,
        place: usize,
        tensor: AnyTensor,
        (mode, index): (usize, usize),
    ) -> Result<Held, DistributeError> {
        let declared = &self.problem.kernel.tensors[place];
        let tensor = tensor
            .convert(&Format::dense(tensor.order()))
            .map_err(|source| DistributeError::pack(&declared.name, source))?;
        let (own, rows, width) = (self.ranks.rank() as u32, self.rows(index), declared.element.bytes());
        let mut messages = vec![Vec::new(); self.ranks.size()];
        for (number, &coordinate) in self.needed[index].iter().enumerate() {
            let message = &mut messages[rows.owner(coordinate) as usize];
            copy_row(tensor.values().as_bytes(), tensor.shape(), (mode, width), number, message);
        }
        let taken = self.ranks.exchange(messages)?;
        let mut shape = self.problem.shape(&declared.name).to_vec();
        let owned = rows.owned(own as usize);
        shape[mode] = owned.len();
        let begin = self.problem.begin(declared, shape.iter().product());
        // Each rank has sent the rows that it needs itself.
        let sent_by = |rank: usize| {
            let is_sent = |coordinate: &u64| rows.is_needed(*coordinate, rank as u32);
            let places = owned.iter().enumerate().filter(|(_, coordinate)| is_sent(coordinate));
            places.map(|(place, _)| place as u64).collect::<Vec<u64>>()
        };
        let mut all = Vec::new();
        for (rank, message) in taken.iter().enumerate().filter(|(_, message)| !message.is_empty()) {
            let mut bytes = begin.clone();
            put_rows(&mut bytes, &shape, (mode, width), &sent_by(rank), message);
            all.push(bytes);
        }
        let pack = |source| DistributeError::pack(&declared.name, source);
        let tensor = |bytes: &[u8]| dense(shape.clone(), declared.element, bytes).map_err(|error| pack(error.into()));
        let combined = match all.len() {
            0 => begin,
            1 => all.remove(0),
            _ if self.adds() => with_element!(declared.element, |T| added::<T>(&all)),
            _ => {
                let all = all
                    .iter()
                    .map(|bytes| tensor(bytes)?.with_fill(declared.fill).convert(&declared.format).map_err(pack));
                let combined = self.combined(declared, all.collect::<Result<_, DistributeError>>()?)?;
                combined.convert(&Format::dense(shape.len())).map_err(pack)?.values().as_bytes().to_vec()
            }
        };
        Ok(Held::Rows(rows_of(combined, &shape, (mode, width))))
    }

    /// Entries of a result.
    fn owned_entries(
        &self,
        place: usize,
        tensor: &AnyTensor,
        (mode, index): (usize, usize),
    ) -> Result<Held, DistributeError> {
        let declared = &self.problem.kernel.tensors[place];
        let begins = self.problem.begins(declared);
        let begin = literal_bytes(begins, declared.element);
        let mut here = Listed::of(tensor, declared.format.is_dense().then_some(&begin));
        here.shape = self.problem.shape(&declared.name).to_vec();
        for (column, cut) in here.indices.iter_mut().zip(&self.plan.distribution.modes[place]) {
            if let Some(cut) = *cut {
                column.iter_mut().for_each(|number| *number = self.needed[cut][*number as usize]);
            }
        }
        let own_rank = self.ranks.rank();
        let mut messages = vec![Vec::new(); self.ranks.size()];
        let mut kept = Vec::new();
        for (entry, &coordinate) in here.indices[mode].iter().enumerate() {
            match self.rows(index).owner(coordinate) as usize {
                owner if owner == own_rank => kept.push(entry),
                owner => here.write(entry, &mut messages[owner]),
            }
        }
        let taken = self.ranks.exchange(messages)?;
        let empty = || Listed::empty(self.problem.shape(&declared.name).to_vec(), declared.element);
        // In the order of ranks, so that what is combined does not depend on who owns it.
        let mut all: Vec<Listed> = Vec::new();
        for (rank, message) in taken.iter().enumerate() {
            let mut listed = empty();
            if rank == own_rank && kept.len() == here.len() {
                listed = std::mem::replace(&mut here, empty());
            } else if rank == own_rank {
                kept.iter().for_each(|&entry| listed.push(here.index(entry), here.value(entry)));
            } else {
                listed.read(message);
            }
            all.extend(Some(listed).filter(|listed| listed.len() > 0));
        }
        drop((here, taken));
        let owned = match all.len() {
            0 => empty(),
            1 => all.remove(0),
            _ => {
                let all = all.into_iter().map(|listed| packed(listed, declared, begins)).collect::<Result<_, _>>()?;
                let combined = self.combined(declared, all)?;
                let listed = Listed::of(&combined, declared.format.is_dense().then_some(&begin));
                // Blocks have places of rows that are others'.
                let mut own = empty();
                for entry in 0..listed.len() {
                    if self.rows(index).owner(listed.indices[mode][entry]) == self.ranks.rank() as u32 {
                        own.push(listed.index(entry), listed.value(entry));
                    }
                }
                own
            }
        };
        Ok(Held::Entries(owned))
    }

    /// Whether results of ranks are added.
    fn adds(&self) -> bool {
        let combine = self.plan.distribution.combine.as_ref();
        combine.is_some_and(|stream| stream.operator == ReduceOperator::Add)
    }

    /// One result of several, in the order of their ranks.
    fn combined(&self, declared: &Tensor, all: Vec<AnyTensor>) -> Result<AnyTensor, DistributeError> {
        let mut all = all.into_iter();
        let first = all.next().expect("there is a rank");
        let Some(stream) = self.plan.distribution.combine.as_ref().filter(|_| all.len() > 0) else { return Ok(first) };
        let chain = match self.combination.get() {
            Some(chain) => chain,
            None => {
                let chain = combination(stream, &self.problem.options).map_err(ProgramError::from)?;
                self.combination.get_or_init(|| chain)
            }
        };
        all.try_fold(first, |so_far, next| {
            let mut outcome = chain.run(&[&so_far, &next], &[], 1).map_err(ProgramError::from)?;
            let (_, tensor) = outcome.outputs.pop().expect("it has a result");
            Ok(tensor.with_fill(declared.fill))
        })
    }
}

/// Entries in the format of a result.
fn packed(listed: Listed, declared: &Tensor, begins: Literal) -> Result<AnyTensor, DistributeError> {
    let fill = if declared.format.is_dense() { begins } else { declared.fill };
    let packed = listed.entries().pack(&declared.format, Duplicates::Refuse, fill);
    let tensor = packed.map_err(|source| DistributeError::pack(&declared.name, source))?;
    Ok(tensor.with_fill(declared.fill))
}

/// Sums of values that are given as bytes.
fn added<T: Element + bytemuck::CheckedBitPattern>(all: &[Vec<u8>]) -> Vec<u8> {
    let mut total: Vec<T> = from_bytes(&all[0]);
    for bytes in &all[1..] {
        let values = bytes.chunks_exact(size_of::<T>()).map(bytemuck::checked::pod_read_unaligned::<T>);
        total.iter_mut().zip(values).for_each(|(total, value)| *total = total.plus(value));
    }
    bytemuck::cast_slice(&total).to_vec()
}

fn literal_bytes(literal: Literal, element: ElementType) -> Vec<u8> {
    with_element!(element, |T| bytemuck::bytes_of(&T::from_literal(literal).unwrap_or(T::ZERO)).to_vec())
}
