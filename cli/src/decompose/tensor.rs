//! The tensor of a decomposition.

use super::arguments::TensorArguments;
use super::checkpoint::Identity;
use crate::convert::element_of;
use crate::failure::{Failure, note};
use crate::files::InputKind;
use crate::formats::parse_format;
use crate::output;
use crate::progress::Progress;
use crate::run::{default_format, of_file, without_shape};
use spc::execute::Operand;
use spc::io::TensorFile;
use spc::tensor::{AnyTensor, Duplicates, PackError};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::ElementType;
use std::ffi::OsStr;
use std::time::{Duration, Instant};

/// A tensor that was read.
pub(super) struct Given {
    /// The file.
    pub(super) name: String,
    pub(super) tensor: AnyTensor,
    /// The format by its name.
    pub(super) format: String,
    pub(super) read_time: Duration,
    /// What was said of it on standard error.
    pub(super) notes: Vec<String>,
}

impl TensorArguments {
    /// Reads and stores it.
    pub(super) fn read(&self) -> Result<Given, Failure> {
        let start = Instant::now();
        let named = self.named.load()?;
        let progress = Progress::new(format!("reading {}", self.input.display()));
        let file = self.from.open(&self.input, self.shape.as_ref().map(|shape| shape.0.clone()))?;
        let name = file.path().display().to_string();
        let element = match element_of(&file, self.element)? {
            // The library says why it takes none of these.
            complex if complex.is_complex() => complex,
            ElementType::F32 => ElementType::F32,
            _ => ElementType::F64,
        };
        let operand = of_file(&file, element, None)?;
        progress.step(format!("storing {name}"));
        let mut notes = Vec::new();
        let order = match &operand {
            Operand::Tensor(tensor) => tensor.order(),
            Operand::Entries(entries) | Operand::Filled(entries, _) => {
                if !entries.shape_is_stated() {
                    notes.push(without_shape(file.path(), entries.shape()));
                }
                entries.shape().len()
            }
            _ => 0,
        };
        let (text, reason) = match &self.format {
            Some(text) => (text.clone(), None),
            None => match default_format(&file, order)? {
                Some(default) => (default.format, Some(default.reason)),
                None => ("dense".to_owned(), None),
            },
        };
        let format = parse_format(&text, order, &Definitions::of_program(&named))?;
        let tensor = stored(operand, &format, None).map_err(|error| Failure::refused(format!("{name}: {error}")))?;
        if let Some(reason) = reason {
            notes.push(format!("the tensor is stored as {text}, {reason}; `-f dense` stores every element"));
        }
        drop(progress);
        notes.iter().for_each(note);
        Ok(Given { name, tensor, format: text, read_time: start.elapsed(), notes })
    }
}

impl Given {
    /// What it is, in a line.
    pub(super) fn line(&self) -> String {
        let (shape, element) = (output::shape(self.tensor.shape()), self.tensor.element().name());
        format!("{}: {shape}, {element} {}, {} stored", self.name, self.format, self.tensor.nnz())
    }

    /// What a run of a verb on this tensor must have in common with another, as far as the tensor goes.
    pub(super) fn identity(&self, verb: &str) -> Identity {
        let (entries, checksum) = self.checksum();
        vec![
            ("verb", verb.to_owned()),
            ("shape", output::shape(self.tensor.shape())),
            ("entries", entries.to_string()),
            ("checksum of entries", format!("{checksum:016x}")),
            ("element", self.tensor.element().name().to_owned()),
        ]
    }

    /// A number that another tensor of the same shape is not likely to have: of the entries that are not zero, in whatever order they
    /// are stored.
    fn checksum(&self) -> (usize, u64) {
        let values = self.tensor.values();
        let (mut count, mut sum) = (0usize, 0u64);
        self.tensor.for_each_position(|index, position| {
            let value = values.get_f64(position);
            if value != 0.0 {
                let mixed = index.iter().fold(value.to_bits(), |mixed, &coordinate| mix(mixed ^ coordinate as u64));
                count += 1;
                sum = sum.wrapping_add(mix(mixed));
            }
        });
        (count, sum)
    }
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
        Operand::Stored(_) | Operand::Scalar(_) | Operand::Random { .. } | Operand::Ones => {
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

    fn given(entries: [([usize; 3], f64); 3]) -> Given {
        let tensor = Tensor::<f64, Csf<3>>::from_entries([4, 4, 4], entries).unwrap().into();
        Given { name: String::new(), tensor, format: String::new(), read_time: Duration::ZERO, notes: Vec::new() }
    }

    #[test]
    fn a_checksum_tells_values_and_places() {
        let first = given([([0, 1, 2], 1.0), ([1, 0, 2], 2.0), ([3, 3, 3], 4.0)]);
        let dense = Given { tensor: first.tensor.convert(&Format::dense(3)).unwrap(), ..given([([0; 3], 1.0); 3]) };
        assert_eq!(first.checksum(), dense.checksum());
        assert_ne!(first.checksum(), given([([0, 1, 2], 2.0), ([1, 0, 2], 1.0), ([3, 3, 3], 4.0)]).checksum());
        assert_ne!(first.checksum(), given([([1, 0, 2], 1.0), ([0, 1, 2], 2.0), ([3, 3, 3], 4.0)]).checksum());
    }
}
