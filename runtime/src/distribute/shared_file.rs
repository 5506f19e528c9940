//! An input that is in a file, of which each rank reads its part alone.
//!
//! Parts of a text are ranges of its bytes, which have nothing to do with who works on which entries: ranks exchange what they have read
//! (`redistribute`). A `.spct` file comes in parts of its stored order; where entries are shared out in that order, they are where they
//! are needed.

use super::DistributeError;
use super::communicator::{CommunicationError, Communicator};
use super::listed::Listed;
use super::message::{message, numbers};
use super::placement::Placement;
use super::plan::{Plan, check_grid};
use super::problem::Problem;
use super::redistribute::{in_grid, in_stored_order};
use crate::execute::{Entries, Error, Operand, ProgramError, ProgramOptions};
use crate::io::{FileType, Found, ReadError, ReadErrorKind, StoredTensor, Sum, TensorFile, TextParts};
#[cfg(feature = "decompose")]
use crate::tensor::Duplicates;
use crate::tensor::{AnyTensor, PackError};
#[cfg(feature = "decompose")]
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};
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

/// What a rank has read of a file.
enum Read {
    /// A part of a `.spct` file, as it is stored.
    Stored(AnyTensor),
    /// Some lines of a text, which have nothing to do with where their entries are.
    Lines { own: Listed, is_stated: bool, fill: Option<Literal> },
}

/// Why a rank has no part of a file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PartError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Pack(#[from] PackError),
    #[error(transparent)]
    Communication(#[from] CommunicationError),
}

impl PartError {
    /// For an input of a kernel.
    fn of(self, tensor: &str) -> DistributeError {
        match self {
            PartError::Read(source) => ProgramError::from(Error::Read { tensor: tensor.to_owned(), source }).into(),
            PartError::Pack(source) => DistributeError::pack(tensor, source),
            PartError::Communication(error) => error.into(),
        }
    }
}

impl SharedFile {
    /// A file of which so much has been read as [`TensorFile::begin`] does, with elements of this type. None where each rank reads all of it: one
    /// that is compressed or of another kind, a `.spct` file of other elements or whose format does not come in parts.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn of(file: &TensorFile, element: ElementType) -> Result<Option<Self>, ReadError> {
        if !file.path().is_file() {
            return Ok(None);
        }
        if file.file_type() != FileType::Spct {
            return Ok(TextParts::of(file, element).map(Self::from));
        }
        let is_compressed = matches!(FileType::of(file.path()), Some((_, true)));
        if is_compressed || file.stated_shape().is_some() {
            return Ok(None);
        }
        let stored = StoredTensor::open(file.path())?;
        let comes_in_parts = stored.element() == element && stored.parts(1, None).is_ok();
        Ok(comes_in_parts.then(|| stored.into()))
    }

    /// How many modes it has.
    pub fn order(&self) -> usize {
        match self {
            SharedFile::Stored(stored) => stored.shape().len(),
            SharedFile::Text(text) => text.order(),
        }
    }

    /// Whether entries are so placed where each rank knows its part of them alone: in equal numbers in the order in which they are stored,
    /// or in a grid.
    pub fn takes(placement: &Placement) -> bool {
        matches!(placement, Placement::Shares { .. } | Placement::Grid { .. })
    }

    /// The file, where its format does not come in parts: each rank reads all of it.
    pub(crate) fn whole(&self) -> Option<&StoredTensor> {
        let SharedFile::Stored(stored) = self else { return None };
        let parts = stored.parts(1, None);
        parts.is_err_and(|error| error.kind() == ReadErrorKind::NotSupported).then_some(stored)
    }

    /// This rank's part. All ranks call it.
    fn read(&self, ranks: &dyn Communicator) -> Result<Read, PartError> {
        match self {
            SharedFile::Stored(stored) => of_stored(stored, ranks).map(Read::Stored),
            SharedFile::Text(text) => of_text(text, ranks),
        }
    }

    /// This rank's entries as a tensor of all extents, and whether the file states these: about as many as those of any other, in the order in
    /// which they are stored, and of a text in that of their coordinates. What comes several times is summed. All ranks call it.
    #[cfg(feature = "decompose")]
    pub(crate) fn tensor(&self, ranks: &dyn Communicator) -> Result<(AnyTensor, bool), PartError> {
        match self.read(ranks)? {
            Read::Stored(tensor) => Ok((tensor, true)),
            Read::Lines { own, is_stated, fill } => {
                let format = Format::coo(own.shape.len());
                let fill = fill.unwrap_or_else(|| own.element.zero());
                let sorted = in_stored_order(own, &format, ranks)??;
                Ok((sorted.entries().pack(&format, Duplicates::Sum, fill)?, is_stated))
            }
        }
    }
}

/// This rank's part of a `.spct` file.
fn of_stored(stored: &StoredTensor, ranks: &dyn Communicator) -> Result<AnyTensor, PartError> {
    let parts = stored.parts(ranks.size(), None)?;
    let rank = ranks.rank();
    let own = if rank < parts.len() { parts.read(rank)? } else { stored.without_entries()? };
    // One rank checks what all have read.
    let sums = if rank < parts.len() { parts.sums(rank) } else { Vec::new() };
    let own_sums = message(sums.iter().map(|sum| [u64::from(sum.checksum), sum.bytes]));
    if let Some(all) = ranks.gather(own_sums)? {
        for (number, message) in all.iter().enumerate().take(parts.len()) {
            let sum = |[checksum, bytes]: [u64; 2]| Sum { checksum: checksum as u32, bytes };
            parts.take_sums(number, numbers(message).map(sum).collect());
        }
        parts.check()?;
    }
    Ok(own)
}

/// This rank's lines of a text.
fn of_text(text: &TextParts, ranks: &dyn Communicator) -> Result<Read, PartError> {
    let part = text.part(ranks.rank(), ranks.size())?;
    let said = ranks.gather_all(&of_found(&part.found))?;
    let found: Vec<Found> = said.iter().map(|message| found_of(message)).collect();
    let (shape, is_stated) = text.joined(&found)?;
    Ok(Read::Lines { own: Listed::of_columns(shape, &part.indices, &part.values), is_stated, fill: text.fill() })
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
        if let Some(stored) = file.whole() {
            inputs.push((tensor.clone(), stored.clone().into()));
            let problem = Self::new(kernel, inputs, dimensions, options)?;
            let plan = problem.plan(placement, ranks.size())?;
            return Ok((problem, plan));
        }
        check_grid(placement, kernel.tensors[place].format.order, ranks.size())?;
        let of_file = OfFile { placement, declared: &kernel.tensors[place], ranks };
        let read = file.read(ranks).and_then(|read| of_file.operand(read)).map_err(|error| error.of(tensor))?;
        inputs.push((tensor.clone(), read));
        let problem = Self::new(kernel, inputs, dimensions, options)?;
        let plan = Plan::of_parts(&problem, tensor, placement, ranks)?;
        Ok((problem, plan))
    }
}

/// What becomes of the entries of a file.
struct OfFile<'a> {
    placement: &'a Placement,
    declared: &'a Tensor,
    ranks: &'a dyn Communicator,
}

impl OfFile<'_> {
    /// This rank's entries where the placement has them.
    fn operand(&self, read: Read) -> Result<Operand, PartError> {
        match read {
            Read::Stored(own) if matches!(self.placement, Placement::Shares { .. }) => Ok(own.into()),
            Read::Stored(own) => {
                // A file that says no fill value has the declared one, and its entries are those that a conversion takes.
                let own = if own.fill().is_zero() { own.with_fill(self.declared.fill) } else { own };
                let (indices, values) = own.converted_entries(&self.declared.format).map_err(PackError::from)?;
                let placed = self.placed(Listed::of_columns(own.shape().to_vec(), &indices, &values))?;
                Ok(Operand::Filled(placed.entries(), own.fill()))
            }
            Read::Lines { own, is_stated, fill } => {
                let entries = self.placed(own)?.entries();
                let entries = if is_stated { entries } else { entries.with_least_shape() };
                Ok(with_fill(entries, fill))
            }
        }
    }

    fn placed(&self, own: Listed) -> Result<Listed, PartError> {
        match self.placement {
            Placement::Grid { parts, .. } => Ok(in_grid(own, parts, self.ranks)?),
            _ => Ok(in_stored_order(own, &self.declared.format, self.ranks)??),
        }
    }
}

fn with_fill(entries: Entries, fill: Option<Literal>) -> Operand {
    match fill {
        Some(fill) => Operand::Filled(entries, fill),
        None => Operand::Entries(entries),
    }
}

fn of_found(found: &Found) -> Vec<u8> {
    let head = [found.lines, found.entries, u64::from(found.is_faulty)];
    message(head.iter().chain(&found.largest).copied())
}

fn found_of(message: &[u8]) -> Found {
    let mut numbers = numbers::<u64>(message);
    let mut next = || numbers.next().unwrap_or_default();
    let (lines, entries, is_faulty) = (next(), next(), next() != 0);
    Found { lines, entries, is_faulty, largest: numbers.collect() }
}
