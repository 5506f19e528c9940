//! An input that is in a file, of which each rank reads its part alone.
//!
//! Parts of a text are ranges of its bytes, which have nothing to do with who works on which entries: ranks exchange what they have read
//! (`redistribute`). A `.spct` file comes in parts of its stored order; where entries are shared out in that order, they are where they
//! are needed.

use super::DistributeError;
use super::communicator::{CommunicationError, Communicator};
use super::cost::Machine;
use super::listed::Listed;
use super::message::{message, numbers};
use super::placement::Placement;
use super::plan::{Plan, check_grid};
use super::problem::Problem;
use super::redistribute::{in_grid, in_stored_order, moved};
use crate::execute::{Error, Operand, ProgramError, ProgramOptions};
use crate::io::{FileType, Found, ReadError, ReadErrorKind, StoredTensor, Sum, TensorFile, TextParts};
#[cfg(feature = "decompose")]
use crate::tensor::Duplicates;
use crate::tensor::{AnyTensor, PackError};
#[cfg(feature = "decompose")]
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};
use spc_compiler::notation::{Kernel, Tensor};
use spc_compiler::schedule::shared_input;

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

    /// The input of a kernel that ranks read in parts where it is in such a file: of a placement, or where none is asked for, the one whose
    /// entries are best shared out. None where each needs all entries.
    pub fn input(kernel: &Kernel, placement: Option<&Placement>) -> Option<String> {
        match placement {
            Some(placement) => placement.tensor().map(str::to_owned),
            None => shared_input(kernel),
        }
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
    /// plan is made of what ranks say of theirs. Without a placement the schedule says it; where it says nothing it is, of those of entries, the
    /// one that [`Problem::plans`] would take. All ranks call it.
    ///
    /// # Errors
    /// As [`Problem::new`] and [`Problem::plan`]; when each rank needs all entries ([`SharedFile::input`]); when the file can't be read or is
    /// damaged, on each rank; and when another rank has stopped.
    pub fn of_file(
        kernel: &Kernel,
        inputs: Vec<(String, Operand)>,
        file: &SharedFile,
        placement: Option<&Placement>,
        dimensions: &[(String, usize)],
        options: &ProgramOptions,
        ranks: &dyn Communicator,
    ) -> Result<(Self, Plan), DistributeError> {
        let asked = match placement {
            Some(placement) => Some(placement.clone()),
            None => Placement::asked(kernel).map_err(ProgramError::Schedule)?,
        };
        let tensor = SharedFile::input(kernel, asked.as_ref()).ok_or_else(|| needs_all(kernel, asked.as_ref()))?;
        let Some(place) = kernel.tensors.iter().position(|declared| declared.name == tensor) else {
            return Err(DistributeError::Refused {
                what: format!("`{tensor}` is no input of the kernel"),
                help: "share out one that is".to_owned(),
            });
        };
        let new = |mut inputs: Vec<(String, Operand)>, operand| {
            inputs.retain(|(name, _)| *name != tensor);
            inputs.push((tensor.clone(), operand));
            Self::new(kernel, inputs, dimensions, options)
        };
        if let Some(stored) = file.whole() {
            let problem = new(inputs, stored.clone().into())?;
            let plan = match &asked {
                Some(placement) => problem.plan(placement, ranks.size())?,
                None => problem.plans(ranks.size(), Machine::default())?.remove(0),
            };
            return Ok((problem, plan));
        }
        let declared = &kernel.tensors[place];
        if let Some(placement) = &asked {
            check_grid(placement, declared.format.order, ranks.size())?;
        }
        let because = |error: PartError| error.of(&tensor);
        let read = file.read(ranks).map_err(because)?;
        let (placement, inputs, operand) = match (asked, read) {
            (Some(placement @ Placement::Shares { .. }), Read::Stored(own)) => (placement, inputs, own.into()),
            (Some(placement @ (Placement::Shares { .. } | Placement::Grid { .. })), read) => {
                let Own { listed, stated, .. } = Own::of(read, declared).map_err(because)?;
                let placed = match &placement {
                    Placement::Grid { parts, .. } => in_grid(listed, parts, ranks)?,
                    _ => in_stored_order(listed, &declared.format, ranks)?.map_err(|error| because(error.into()))?,
                };
                (placement, inputs, stated.operand(placed))
            }
            (asked, read) => {
                let Own { listed, stated, stored } =
                    Own::of(read, declared).and_then(|own| own.in_order(declared, ranks)).map_err(because)?;
                // What goes with coordinates is known without the entries.
                let others = new(inputs, stated.operand(Listed::empty(listed.shape.clone(), listed.element)))?;
                let (placement, rank_of) = others.chosen(&tensor, asked, &listed, ranks)?;
                let operand = match (&placement, stored) {
                    (Placement::Shares { .. }, Some(stored)) => stored.into(),
                    (Placement::Shares { .. }, None) => stated.operand(listed),
                    _ => stated.operand(moved(listed, &rank_of, ranks)?),
                };
                (placement, others.into_operands(), operand)
            }
        };
        let problem = new(inputs, operand)?;
        let plan = Plan::of_parts(&problem, &tensor, &placement, ranks)?;
        Ok((problem, plan))
    }
}

/// Why a file is not read in parts.
fn needs_all(kernel: &Kernel, placement: Option<&Placement>) -> DistributeError {
    match placement {
        Some(placement) => DistributeError::Refused {
            what: format!("`{placement}` needs all entries on each rank, which reads a part of the file"),
            help: "share out the entries, or read the file as a whole".to_owned(),
        },
        None => DistributeError::Refused {
            what: format!("`{}` has no input whose entries can be shared out", kernel.name),
            help: "read the file as a whole, and share out the range of an index of the result".to_owned(),
        },
    }
}

/// The entries that a rank has read of a file.
struct Own {
    listed: Listed,
    stated: Stated,
    /// The same of a `.spct` file, as they are stored.
    stored: Option<AnyTensor>,
}

/// What a file states of its entries.
struct Stated {
    /// Whether it states the shape.
    shape: bool,
    fill: Option<Literal>,
}

impl Own {
    fn of(read: Read, declared: &Tensor) -> Result<Self, PartError> {
        match read {
            Read::Stored(own) => {
                // A file that says no fill value has the declared one, and its entries are those that a conversion takes.
                let is_declared = own.fill().is_zero() && !declared.fill.is_zero();
                let filled = is_declared.then(|| own.clone().with_fill(declared.fill));
                let filled = filled.as_ref().unwrap_or(&own);
                let (indices, values) = filled.converted_entries(&declared.format).map_err(PackError::from)?;
                let listed = Listed::of_columns(own.shape().to_vec(), &indices, &values);
                let stated = Stated { shape: true, fill: Some(filled.fill()) };
                Ok(Self { listed, stated, stored: Some(own) })
            }
            Read::Lines { own, is_stated, fill } => {
                Ok(Self { listed: own, stated: Stated { shape: is_stated, fill }, stored: None })
            }
        }
    }

    /// The same in the order of ranks, in which those of a `.spct` file are. All ranks call it.
    fn in_order(mut self, declared: &Tensor, ranks: &dyn Communicator) -> Result<Self, PartError> {
        if self.stored.is_none() {
            let here = in_stored_order(self.listed, &declared.format, ranks)??;
            self.listed = here.sorted(&declared.format)?;
        }
        Ok(self)
    }
}

impl Stated {
    /// Entries of the file.
    fn operand(&self, entries: Listed) -> Operand {
        let entries = entries.entries();
        let entries = if self.shape { entries } else { entries.with_least_shape() };
        match self.fill {
            Some(fill) => Operand::Filled(entries, fill),
            None => Operand::Entries(entries),
        }
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
