//! An input that is in a file, of which each rank reads its part alone.
//!
//! Parts of a text are ranges of its bytes, which have nothing to do with who works on which entries: ranks exchange what they have read
//! (`redistribute`). A `.spct` file comes in parts of its stored order; where entries are shared out in that order, they are where they
//! are needed.

use super::DistributeError;
use super::communicator::Communicator;
use super::listed::Listed;
use super::placement::Placement;
use super::plan::{Plan, check_grid};
use super::problem::Problem;
use super::redistribute::{in_grid, in_stored_order};
use crate::execute::{Entries, Error, Operand, ProgramError, ProgramOptions};
use crate::io::{Found, ReadError, ReadErrorKind, StoredTensor, Sum, TextParts};
use spc_compiler::ir::Literal;
use spc_compiler::notation::{Kernel, Tensor};

/// A file whose entries are shared out, and that no rank reads as a whole.
#[derive(Debug, Clone)]
pub enum SharedFile {
    /// A `.spct` file. Where its format does not come in parts, each rank reads all of it.
    Stored(StoredTensor),
    /// A text with a line for each entry.
    Text(TextParts),
}

impl From<StoredTensor> for SharedFile {
    fn from(stored: StoredTensor) -> Self {
        SharedFile::Stored(stored)
    }
}

impl From<TextParts> for SharedFile {
    fn from(text: TextParts) -> Self {
        SharedFile::Text(text)
    }
}

impl SharedFile {
    /// Whether entries are so placed where each rank knows its part of them alone: in equal numbers in the order in which they are stored,
    /// or in a grid.
    pub fn takes(placement: &Placement) -> bool {
        matches!(placement, Placement::Shares { .. } | Placement::Grid { .. })
    }
}

impl Problem {
    /// A kernel and its inputs where the tensor that is shared out is in a file: each rank reads a part, and no rank has all entries. The
    /// plan is made of what ranks say of theirs. All ranks call it.
    ///
    /// # Errors
    /// As [`Problem::new`] and [`Problem::plan`]; when the placement is none that a file [takes](SharedFile::takes); when the file can't be
    /// read or is damaged, on each rank; and when another rank has stopped.
    pub fn of_file(
        kernel: &Kernel,
        mut inputs: Vec<(String, Operand)>,
        file: &SharedFile,
        placement: &Placement,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
        ranks: &dyn Communicator,
    ) -> Result<(Self, Plan), DistributeError> {
        let (Placement::Shares { tensor } | Placement::Grid { tensor, .. }) = placement else {
            return Err(DistributeError::Refused {
                what: format!("`{placement}` is chosen by all entries, and each rank reads a part of the file"),
                help: "share them out in equal numbers (`X`) or in a grid (`X:4x2x1`), or read the file as a whole"
                    .to_owned(),
            });
        };
        let Some(place) = kernel.tensors.iter().position(|declared| declared.name == *tensor) else {
            return Err(DistributeError::Refused {
                what: format!("`{tensor}` is no input of the kernel"),
                help: "share out one that is".to_owned(),
            });
        };
        inputs.retain(|(name, _)| name != tensor);
        if let SharedFile::Stored(stored) = file
            && let Err(error) = stored.parts(1, None)
            && error.kind() == ReadErrorKind::NotSupported
        {
            // Each rank reads all of it.
            inputs.push((tensor.clone(), stored.clone().into()));
            let problem = Self::new(kernel, inputs, dimensions, options)?;
            let plan = problem.plan(placement, ranks.size())?;
            return Ok((problem, plan));
        }
        let of_file = OfFile { tensor, placement, declared: &kernel.tensors[place], ranks };
        let own = match file {
            SharedFile::Stored(stored) => of_file.stored(stored)?,
            SharedFile::Text(text) => of_file.text(text)?,
        };
        inputs.push((tensor.clone(), own));
        let problem = Self::new(kernel, inputs, dimensions, options)?;
        let plan = Plan::of_parts(&problem, tensor, placement, ranks)?;
        Ok((problem, plan))
    }
}

/// A file, and what becomes of its entries.
struct OfFile<'a> {
    tensor: &'a str,
    placement: &'a Placement,
    declared: &'a Tensor,
    ranks: &'a dyn Communicator,
}

impl OfFile<'_> {
    fn unread(&self) -> impl Fn(ReadError) -> DistributeError + '_ {
        |source| ProgramError::from(Error::Read { tensor: self.tensor.to_owned(), source }).into()
    }

    /// This rank's part of a `.spct` file.
    fn stored(&self, stored: &StoredTensor) -> Result<Operand, DistributeError> {
        let Self { tensor, ranks, .. } = *self;
        let parts = stored.parts(ranks.size(), None).map_err(self.unread())?;
        let rank = ranks.rank();
        let own = match rank < parts.len() {
            true => parts.read(rank).map_err(self.unread())?,
            false => stored.without_entries().map_err(|source| DistributeError::pack(tensor, source))?,
        };
        // One rank checks what all have read.
        let sums = if rank < parts.len() { parts.sums(rank) } else { Vec::new() };
        let message = sums.iter().flat_map(|sum| [u64::from(sum.checksum), sum.bytes]).flat_map(u64::to_le_bytes);
        if let Some(all) = ranks.gather(message.collect())? {
            for (number, message) in all.iter().enumerate().take(parts.len()) {
                let numbers: Vec<u64> = numbers(message).collect();
                let sum = |pair: &[u64]| Sum { checksum: pair[0] as u32, bytes: pair[1] };
                parts.take_sums(number, numbers.chunks_exact(2).map(sum).collect());
            }
            parts.check().map_err(self.unread())?;
        }
        if let Placement::Shares { .. } = self.placement {
            return Ok(own.into());
        }
        // A file that says no fill value has the declared one, and its entries are those that a conversion takes.
        let own = if own.fill().is_zero() { own.with_fill(self.declared.fill) } else { own };
        let entries = own.converted_entries(&self.declared.format);
        let (indices, values) = entries.map_err(|source| DistributeError::pack(tensor, source.into()))?;
        let placed = self.placed(Listed::of_columns(own.shape().to_vec(), &indices, &values))?;
        Ok(Operand::Filled(placed.entries(), own.fill()))
    }

    /// This rank's entries of a text.
    fn text(&self, text: &TextParts) -> Result<Operand, DistributeError> {
        let part = text.part(self.ranks.rank(), self.ranks.size()).map_err(self.unread())?;
        let said = self.ranks.gather_all(&message(&part.found))?;
        let found: Vec<Found> = said.iter().map(|message| of_message(message)).collect();
        let (shape, is_stated) = text.joined(&found).map_err(self.unread())?;
        let own = Listed::of_columns(shape, &part.indices, &part.values);
        let entries = self.placed(own)?.entries();
        let entries = if is_stated { entries } else { entries.with_least_shape() };
        Ok(with_fill(entries, text.fill()))
    }

    /// Entries where the placement has them.
    fn placed(&self, own: Listed) -> Result<Listed, DistributeError> {
        match self.placement {
            Placement::Grid { parts, .. } => {
                check_grid(self.placement, own.shape.len(), self.ranks.size())?;
                Ok(in_grid(own, parts, self.ranks)?)
            }
            _ => in_stored_order(own, &self.declared.format, self.ranks)?
                .map_err(|error| DistributeError::pack(self.tensor, error)),
        }
    }
}

fn with_fill(entries: Entries, fill: Option<Literal>) -> Operand {
    match fill {
        Some(fill) => Operand::Filled(entries, fill),
        None => Operand::Entries(entries),
    }
}

fn message(found: &Found) -> Vec<u8> {
    let head = [found.lines, found.entries, u64::from(found.is_faulty)];
    head.iter().chain(&found.largest).flat_map(|number| number.to_le_bytes()).collect()
}

fn of_message(message: &[u8]) -> Found {
    let mut numbers = numbers(message);
    let mut next = || numbers.next().unwrap_or_default();
    let (lines, entries, is_faulty) = (next(), next(), next() != 0);
    Found { lines, entries, is_faulty, largest: numbers.collect() }
}

fn numbers(message: &[u8]) -> impl Iterator<Item = u64> + '_ {
    message.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}
