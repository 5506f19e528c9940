//! The tensor of a decomposition.

use super::arguments::TensorArguments;
use super::checkpoint::Identity;
use super::engine::refuse;
use crate::convert::element_of;
use crate::failure::{Failure, note};
use crate::files::InputKind;
use crate::formats::{format_for, parse_format};
#[cfg(feature = "mpi")]
use crate::processes::Processes;
use crate::progress::Progress;
use crate::ranks::RanksArguments;
use crate::run::{default_format, of_file, without_shape};
use crate::{names, output};
use spc::decompose::DistributedTensor;
use spc::distribute::{Communicator, SharedFile};
use spc::execute::Operand;
use spc::io::TensorFile;
use spc::tensor::{AnyTensor, Duplicates, PackError};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::ElementType;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

/// A tensor that was read.
pub(super) struct Given {
    /// The file.
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) element: ElementType,
    /// How many entries are stored.
    pub(super) stored: u64,
    pub(super) held: Held,
    /// The format by its name.
    pub(super) format: String,
    pub(super) read_time: Duration,
    /// What was said of it on standard error.
    pub(super) notes: Vec<String>,
}

/// Where its entries are.
pub(super) enum Held {
    Whole(AnyTensor),
    /// With the ranks, or the parts, that are here.
    OnRanks(BTreeMap<usize, DistributedTensor>),
}

/// A file of which each rank reads its part.
pub(super) struct InParts {
    start: Instant,
    name: String,
    file: SharedFile,
    format: String,
}

impl TensorArguments {
    /// Reads it for ranks where these are asked for, and else as a whole.
    pub(super) fn read_on(&self, ranks: &RanksArguments, is_deterministic: bool) -> Result<Given, Failure> {
        match self.in_parts(ranks)? {
            Some(in_parts) => in_parts.read(ranks, None, is_deterministic),
            None => self.read(),
        }
    }

    /// Reads it in all processes that were started together.
    #[cfg(feature = "mpi")]
    pub(super) fn read_in(
        &self,
        all: &Processes,
        ranks: &RanksArguments,
        is_deterministic: bool,
    ) -> Result<Given, Failure> {
        match all.agree(self.in_parts(ranks))? {
            // A process that can't read its part leaves others waiting.
            Some(in_parts) => {
                let read = in_parts.read(ranks, Some(all.rank()), is_deterministic);
                Ok(read.unwrap_or_else(|failure| all.end(failure)))
            }
            None => all.agree(self.read()),
        }
    }

    /// The file, where there are ranks that can read it in parts and its format is not asked for.
    fn in_parts(&self, ranks: &RanksArguments) -> Result<Option<InParts>, Failure> {
        let start = Instant::now();
        if !ranks.are_asked_for() || self.format.is_some() {
            return Ok(None);
        }
        let file = self.opened()?;
        let name = file.path().display().to_string();
        let in_parts = |shared: SharedFile| {
            let format = match &shared {
                SharedFile::Stored(stored) => names::of_format(stored.format()),
                SharedFile::Text(_) => "coo".to_owned(),
            };
            InParts { start, name, format, file: shared }
        };
        Ok(SharedFile::of(&file, self.element_in(&file)?)?.map(in_parts))
    }

    fn opened(&self) -> Result<TensorFile, Failure> {
        self.from.open(&self.input, self.shape.as_ref().map(|shape| shape.0.clone()))
    }

    /// The elements that entries are read as.
    fn element_in(&self, file: &TensorFile) -> Result<ElementType, Failure> {
        Ok(match element_of(file, self.element)? {
            // The library says why it takes none of these.
            complex if complex.is_complex() => complex,
            ElementType::F32 => ElementType::F32,
            _ => ElementType::F64,
        })
    }

    /// Reads and stores it.
    pub(super) fn read(&self) -> Result<Given, Failure> {
        let start = Instant::now();
        let named = self.named.load()?;
        let progress = Progress::new(format!("reading {}", self.input.display()));
        let file = self.opened()?;
        let name = file.path().display().to_string();
        let element = self.element_in(&file)?;
        let operand = of_file(&file, element, None)?;
        progress.step(format!("storing {name}"));
        let mut notes = Vec::new();
        let shape = match &operand {
            Operand::Tensor(tensor) => tensor.shape().to_vec(),
            Operand::Entries(entries) | Operand::Filled(entries, _) => {
                if !entries.shape_is_stated() {
                    notes.push(without_shape(file.path(), entries.shape()));
                }
                entries.shape().to_vec()
            }
            _ => Vec::new(),
        };
        let (text, reason) = match &self.format {
            Some(text) => (text.clone(), None),
            None => match default_format(&file, shape.len())? {
                Some(default) => (default.format, Some(default.reason)),
                None => ("dense".to_owned(), None),
            },
        };
        let format = format_for(&text, &shape, &Definitions::of_program(&named))?;
        let tensor = stored(operand, &format, None).map_err(|error| Failure::refused(format!("{name}: {error}")))?;
        if let Some(reason) = reason {
            notes.push(format!("the tensor is stored as {text}, {reason}; `-f dense` stores every element"));
        }
        drop(progress);
        notes.iter().for_each(note);
        Ok(Given { read_time: start.elapsed(), notes, ..Given::of(name, tensor, text) })
    }
}

impl InParts {
    fn read(
        self,
        ranks: &RanksArguments,
        process: Option<&dyn Communicator>,
        is_deterministic: bool,
    ) -> Result<Given, Failure> {
        let Self { start, name, file, format } = self;
        let _progress = Progress::new(format!("reading {name}"));
        let read = |own: &dyn Communicator| DistributedTensor::of_file(&file, own).map(|tensor| (own.rank(), tensor));
        let all = ranks.run_each(process, is_deterministic, refuse, read)?;
        let all: BTreeMap<usize, DistributedTensor> = all.into_iter().flatten().collect();
        let first = all.values().next().expect("there is a rank");
        let (shape, element, stored) = (first.shape().to_vec(), first.element(), first.stored());
        let notes = match first.shape_is_stated() {
            true => Vec::new(),
            false => vec![without_shape(Path::new(&name), &shape)],
        };
        notes.iter().for_each(note);
        Ok(Given { name, shape, element, stored, held: Held::OnRanks(all), format, read_time: start.elapsed(), notes })
    }
}

impl Given {
    fn of(name: String, tensor: AnyTensor, format: String) -> Self {
        let (shape, element, stored) = (tensor.shape().to_vec(), tensor.element(), tensor.nnz() as u64);
        let (held, read_time, notes) = (Held::Whole(tensor), Duration::ZERO, Vec::new());
        Self { name, shape, element, stored, held, format, read_time, notes }
    }

    /// All of it, for methods that run on one rank.
    ///
    /// # Errors
    /// When ranks have read it in parts.
    pub(super) fn whole(&self) -> Result<&AnyTensor, Failure> {
        match &self.held {
            Held::Whole(tensor) => Ok(tensor),
            Held::OnRanks(_) => Err(Failure::usage("this runs on one rank").help("leave out the ranks")),
        }
    }

    /// What it is, in a line.
    pub(super) fn line(&self) -> String {
        let (shape, element) = (output::shape(&self.shape), self.element.name());
        format!("{}: {shape}, {element} {}, {} stored", self.name, self.format, self.stored)
    }

    /// What a run of a verb on this tensor must have in common with another, as far as the tensor goes.
    pub(super) fn identity(&self, verb: &str) -> Result<Identity, Failure> {
        let (entries, checksum) = checksum(self.whole()?);
        Ok(vec![
            ("verb", verb.to_owned()),
            ("shape", output::shape(&self.shape)),
            ("entries", entries.to_string()),
            ("checksum of entries", format!("{checksum:016x}")),
            ("element", self.element.name().to_owned()),
        ])
    }
}

/// A number that another tensor of the same shape is not likely to have: of the entries that are not zero, in whatever order they are
/// stored.
fn checksum(tensor: &AnyTensor) -> (usize, u64) {
    let values = tensor.values();
    let (mut count, mut sum) = (0usize, 0u64);
    tensor.for_each_position(|index, position| {
        let value = values.get_f64(position);
        if value != 0.0 {
            let mixed = index.iter().fold(value.to_bits(), |mixed, &coordinate| mix(mixed ^ coordinate as u64));
            count += 1;
            sum = sum.wrapping_add(mix(mixed));
        }
    });
    (count, sum)
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// What was read, in a format; where a file does not state its shape, that is `shape`, if it is large enough.
fn stored(operand: Operand, format: &Format, shape: Option<&[usize]>) -> Result<AnyTensor, PackError> {
    let (entries, fill) = match operand {
        Operand::Tensor(tensor) if tensor.format() == format => return Ok(tensor),
        Operand::Tensor(tensor) => return tensor.convert(format),
        Operand::Entries(entries) => {
            let zero = entries.element().zero();
            (entries, zero)
        }
        Operand::Filled(entries, fill) => (entries, fill),
        // A file is none of these.
        Operand::Stored(_) | Operand::Indices(..) | Operand::Scalar(_) | Operand::Random { .. } | Operand::Ones => {
            unreachable!("an operand that no file is")
        }
    };
    let fits = |shape: &[usize]| entries.shape().iter().zip(shape).all(|(least, extent)| least <= extent);
    let entries = match shape {
        Some(shape) if !entries.shape_is_stated() && fits(shape) => entries.with_shape(shape.to_vec()),
        _ => entries,
    };
    entries.pack(format, Duplicates::Sum, fill)
}

/// Reads a tensor of a known shape, such as weights: sparse where its file lists entries.
pub(super) fn of_shape(path: &OsStr, shape: &[usize], element: ElementType) -> Result<AnyTensor, Failure> {
    let file: TensorFile = InputKind::default().open(path, None)?;
    let name = file.path().display().to_string();
    let order = shape.len();
    let operand = of_file(&file, element, Some(order))?;
    let format = match default_format(&file, order)? {
        Some(default) => parse_format(&default.format, order, &Definitions::prelude())?,
        None => Format::dense(order),
    };
    let found = match &operand {
        Operand::Entries(entries) | Operand::Filled(entries, _) => entries.shape().len(),
        Operand::Tensor(tensor) => tensor.order(),
        _ => order,
    };
    if found != order {
        return Err(Failure::file(name, format!("it has {found} modes, but {order} are needed")));
    }
    let tensor = stored(operand, &format, Some(shape)).map_err(|error| Failure::file(&name, error))?;
    if tensor.shape() != shape {
        let (found, needed) = (output::shape(tensor.shape()), output::shape(shape));
        return Err(Failure::file(name, format!("its shape is {found}, but {needed} is needed")));
    }
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spc::tensor::{Csf, Tensor};

    fn of(entries: [([usize; 3], f64); 3]) -> AnyTensor {
        Tensor::<f64, Csf<3>>::from_entries([4, 4, 4], entries).unwrap().into()
    }

    #[test]
    fn a_checksum_tells_values_and_places() {
        let first = of([([0, 1, 2], 1.0), ([1, 0, 2], 2.0), ([3, 3, 3], 4.0)]);
        assert_eq!(checksum(&first), checksum(&first.convert(&Format::dense(3)).unwrap()));
        assert_ne!(checksum(&first), checksum(&of([([0, 1, 2], 2.0), ([1, 0, 2], 1.0), ([3, 3, 3], 4.0)])));
        assert_ne!(checksum(&first), checksum(&of([([1, 0, 2], 1.0), ([0, 1, 2], 2.0), ([3, 3, 3], 4.0)])));
    }
}
