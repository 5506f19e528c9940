//! What a rank has made of results goes to the owners, who combine it.

use super::DistributeError;
use super::dense_rows::{add, add_row, copy_row, put_row, put_rows, row_bytes, rows_of};
use super::held::{Held, literal_bytes, packed};
use super::listed::{Listed, dense};
use super::owners::{OfRows, Owner, Owners};
use super::run::Local;
use crate::execute::{ProgramError, combination};
use crate::tensor::{AnyTensor, Duplicates, tasks};
use crate::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::ReduceOperator;
use spc_compiler::notation::Tensor;

/// Entries that are renumbered, or elements that are added, at once.
const CHUNK: usize = 1 << 16;

impl Local<'_> {
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
        let own = Listed::of(&tensor, None).map_err(|source| DistributeError::pack(&declared.name, source))?;
        let mut all = Vec::new();
        for message in self.ranks.gather_all(&own.message())? {
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
        let pack = |source| DistributeError::pack(&declared.name, source);
        let tensor = tensor.convert(&Format::dense(tensor.order())).map_err(pack)?;
        let (own, size, of) = (self.ranks.rank(), self.ranks.size(), (mode, declared.element.bytes()));
        let of_rows =
            self.returns.of_rows[index].get_or_init(|| OfRows::of(self.rows(index), &self.needed[index], own, size));
        let (bytes, here) = (tensor.values().as_bytes(), tensor.shape());
        let mut messages = vec![Vec::new(); size];
        for (rank, numbers) in of_rows.to.iter().enumerate().filter(|(rank, _)| *rank != own) {
            messages[rank].reserve(numbers.len() * row_bytes(here, of));
            numbers.iter().for_each(|&number| copy_row(bytes, here, of, number, &mut messages[rank]));
        }
        let mut taken = self.ranks.exchange(messages)?;
        if of_rows.are_alone(own) {
            return Ok(Held::Rows(rows_of(bytes.to_vec(), here, of)));
        }
        let mut shape = self.problem.shape(&declared.name).to_vec();
        shape[mode] = of_rows.owned.len();
        let begin = self.problem.begin(declared, shape.iter().product());
        if self.adds() {
            let mut total = begin;
            let add: fn(&mut [u8], &[u8]) = with_element!(declared.element, |T| add::<T>);
            let mut sums = RowSums { total: &mut total, shape: &shape, of, is_begun: vec![false; shape[mode]], add };
            // In the order of ranks, so that sums do not depend on who owns a row.
            for (rank, places) in of_rows.from.iter().enumerate() {
                match rank == own {
                    true => sums.add_own(places, bytes, here, &of_rows.to[own]),
                    false => sums.add(places, &taken[rank]),
                }
            }
            return Ok(Held::Rows(rows_of(total, &shape, of)));
        }
        of_rows.to[own].iter().for_each(|&number| copy_row(bytes, here, of, number, &mut taken[own]));
        let mut all = Vec::new();
        for (places, message) in of_rows.from.iter().zip(&taken).filter(|(_, message)| !message.is_empty()) {
            let mut bytes = begin.clone();
            put_rows(&mut bytes, &shape, of, places, message);
            all.push(bytes);
        }
        let tensor = |bytes: &[u8]| dense(shape.clone(), declared.element, bytes).map_err(|error| pack(error.into()));
        let combined = match all.len() {
            0 => begin,
            1 => all.remove(0),
            _ => {
                let all = all
                    .iter()
                    .map(|bytes| tensor(bytes)?.with_fill(declared.fill).convert(&declared.format).map_err(pack));
                let combined = self.combined(declared, all.collect::<Result<_, DistributeError>>()?)?;
                combined.convert(&Format::dense(shape.len())).map_err(pack)?.values().as_bytes().to_vec()
            }
        };
        Ok(Held::Rows(rows_of(combined, &shape, of)))
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
        let left_out = declared.format.is_dense().then_some(&begin[..]);
        let here = Listed::of(tensor, left_out);
        let mut here = here.map_err(|source| DistributeError::pack(&declared.name, source))?;
        let (own, size) = (self.ranks.rank(), self.ranks.size());
        let owners = self.returns.owners[index].get_or_init(|| Owners::of(self.rows(index), &self.needed[index], own));
        // Of each rank, entries that are sent to it; those that stay here, and of these the ones that have to do with no other rank.
        let (mut to, mut joined, mut alone) = (vec![Vec::new(); size], Vec::new(), Vec::new());
        if !owners.are_all_own {
            for (entry, &number) in here.indices[mode].iter().enumerate() {
                match &owners.of_each[number as usize] {
                    Owner { rank, .. } if *rank as usize != own => to[*rank as usize].push(entry),
                    Owner { is_shared: true, .. } => joined.push(entry),
                    Owner { .. } => alone.push(entry),
                }
            }
        }
        here.shape = self.problem.shape(&declared.name).to_vec();
        for (column, cut) in here.indices.iter_mut().zip(&self.plan.distribution.modes[place]) {
            if let Some(cut) = *cut {
                let needed = &self.needed[cut];
                let chunks: Vec<&mut [u64]> = column.chunks_mut(CHUNK).collect();
                tasks::each(chunks, &|_, chunk: &mut [u64]| {
                    chunk.iter_mut().for_each(|number| *number = needed[*number as usize]);
                });
            }
        }
        let mut messages = vec![Vec::new(); size];
        for (message, entries) in messages.iter_mut().zip(&to) {
            here.put(entries.iter().copied(), message);
        }
        let taken = self.ranks.exchange(messages)?;
        if owners.are_all_own {
            return Ok(Held::Entries(here));
        }
        let mut owned = here.chosen(alone.into_iter());
        // In the order of ranks, so that what is combined does not depend on who owns it.
        let of_rank = |(rank, message): (usize, &Vec<u8>)| match rank == own {
            true => here.chosen(joined.iter().copied()),
            false => {
                let mut listed = Listed::empty(here.shape.clone(), declared.element);
                listed.read(message);
                listed
            }
        };
        let all = taken.iter().enumerate().map(of_rank).filter(|listed| listed.len() > 0).collect();
        owned.append(&mut self.joined(declared, all, (mode, index))?);
        Ok(Held::Entries(owned))
    }

    /// Entries of owned rows, of several ranks.
    fn joined(
        &self,
        declared: &Tensor,
        mut all: Vec<Listed>,
        (mode, index): (usize, usize),
    ) -> Result<Listed, DistributeError> {
        let begins = self.problem.begins(declared);
        let is_dense = declared.format.is_dense();
        let nothing = if is_dense { begins } else { declared.fill };
        // Lists of entries are packed with indices of 32 bits.
        let is_narrow = self.problem.shape(&declared.name).iter().all(|&extent| u32::try_from(extent).is_ok());
        let pack = |source| DistributeError::pack(&declared.name, source);
        match all.len() {
            0 => Ok(Listed::empty(self.problem.shape(&declared.name).to_vec(), declared.element)),
            1 => Ok(all.remove(0)),
            // Where an entry that a rank has not adds nothing, the sum is that of those that are there.
            _ if self.adds() && nothing.is_zero() && is_narrow => {
                let mut listed = all.remove(0);
                all.iter_mut().for_each(|others| listed.append(others));
                let (coo, sum) = (Format::coo(listed.shape.len()), Duplicates::Reduce(ReduceOperator::Add));
                let sums = listed.entries().pack(&coo, sum, nothing);
                sums.and_then(|sums| Listed::of(&sums, None)).map_err(pack)
            }
            _ => {
                let all = all.into_iter().map(|listed| packed(listed, declared, begins)).collect::<Result<_, _>>()?;
                let combined = self.combined(declared, all)?;
                let begin = literal_bytes(begins, declared.element);
                let listed = Listed::of(&combined, is_dense.then_some(&begin[..])).map_err(pack)?;
                // Blocks have places of rows that are others'.
                let is_own =
                    |entry: &usize| self.rows(index).owner(listed.indices[mode][*entry]) as usize == self.ranks.rank();
                let own: Vec<usize> = (0..listed.len()).filter(is_own).collect();
                Ok(listed.chosen(own.into_iter()))
            }
        }
    }

    /// What two runs on parts of this rank's entries have made of a result, together.
    pub(super) fn of_both(
        &self,
        place: usize,
        mut first: AnyTensor,
        second: AnyTensor,
    ) -> Result<AnyTensor, DistributeError> {
        let declared = &self.problem.kernel.tensors[place];
        if self.adds()
            && declared.format.is_dense()
            && let Some(total) = first.value_bytes_mut()
        {
            let add: fn(&mut [u8], &[u8]) = with_element!(declared.element, |T| add::<T>);
            let values = second.values().as_bytes();
            let chunk = CHUNK * declared.element.bytes();
            tasks::each(total.chunks_mut(chunk).collect(), &|number, total: &mut [u8]| {
                let begin = number * chunk;
                add(total, &values[begin..begin + total.len()]);
            });
            return Ok(first);
        }
        self.combined(declared, vec![first, second])
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
        let chain = match self.returns.combination.get() {
            Some(chain) => chain,
            None => {
                let chain = combination(stream, &self.problem.options).map_err(ProgramError::from)?;
                self.returns.combination.get_or_init(|| chain)
            }
        };
        all.try_fold(first, |so_far, next| {
            let mut outcome = chain.run(&[&so_far, &next], &[], 1).map_err(ProgramError::from)?;
            let (_, tensor) = outcome.outputs.pop().expect("it has a result");
            Ok(tensor.with_fill(declared.fill))
        })
    }
}

/// Sums of rows that come from several ranks.
struct RowSums<'a> {
    total: &'a mut [u8],
    shape: &'a [usize],
    of: (usize, usize),
    /// Which rows have come from a rank.
    is_begun: Vec<bool>,
    add: fn(&mut [u8], &[u8]),
}

impl RowSums<'_> {
    fn add_row(&mut self, place: usize, row: &[u8]) {
        match std::mem::replace(&mut self.is_begun[place], true) {
            false => put_row(self.total, self.shape, self.of, place, row),
            true => add_row(self.total, self.shape, self.of, place, row, self.add),
        }
    }

    /// Rows that come one after the other.
    fn add(&mut self, places: &[usize], rows: &[u8]) {
        let rows = rows.chunks_exact(row_bytes(self.shape, self.of).max(1));
        places.iter().zip(rows).for_each(|(&place, row)| self.add_row(place, row));
    }

    /// Some rows of a dense tensor.
    fn add_own(&mut self, places: &[usize], bytes: &[u8], shape: &[usize], numbers: &[usize]) {
        let size = row_bytes(shape, self.of);
        let mut row = Vec::with_capacity(size);
        for (&place, &number) in places.iter().zip(numbers) {
            // Rows of the first mode lie in one piece.
            if self.of.0 == 0 {
                self.add_row(place, &bytes[number * size..(number + 1) * size]);
                continue;
            }
            row.clear();
            copy_row(bytes, shape, self.of, number, &mut row);
            self.add_row(place, &row);
        }
    }
}
