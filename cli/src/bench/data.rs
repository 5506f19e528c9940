//! The tensors that are measured on.

use super::suite::Parameter;
use crate::arguments::{Shape, shape};
use crate::failure::{Failure, note};
use crate::generate::suite_tensor;
use crate::names;
use crate::run::without_shape;
use spc::execute::Entries;
use spc::generate::{self, Initiator, suite};
use spc::io::{self, FileType, ReadOptions, TensorFile};
use spc::tensor::{
    AnyTensor, Coordinates, Duplicates, Element, Indices, Statistics, StorageSize, statistics, storage_size,
};
use spc::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

/// Different seeds for the entries of generated tensors and for what they meet are not needed; this one makes runs alike.
const SEED: u64 = 1;

/// A tensor with a name.
pub(crate) struct Data {
    /// What it is called in reports.
    pub(crate) name: String,
    entries: Coordinates<f64>,
    /// How long it took to read or generate it.
    pub(crate) read_time: Duration,
}

/// A tensor in a format, and how long it took to pack it.
pub(crate) struct Packed {
    pub(crate) tensor: AnyTensor,
    pub(crate) time: Duration,
}

impl Data {
    /// Reads or generates what `text` says: a file; a suite's tensor `irrS` or `irrS:0.1`; `uniform:9x9x9:20`, and so
    /// the other [`GENERATORS`].
    pub(crate) fn load(source: &OsStr) -> Result<Self, Failure> {
        let start = Instant::now();
        let entries = entries(source)?;
        let text = source.to_string_lossy();
        if !entries.shape_is_stated {
            note(without_shape(Path::new(source), &entries.shape));
        }
        let name = match text.rsplit_once('/') {
            Some((_, file)) => file.to_owned(),
            None => text.clone().into_owned(),
        };
        if entries.values.is_empty() {
            return Err(Failure::refused(format!("{text} has no entries to measure with")));
        }
        Ok(Self { name, entries, read_time: start.elapsed() })
    }

    /// The same by another name.
    pub(crate) fn called(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    pub(crate) fn order(&self) -> usize {
        self.entries.shape.len()
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.entries.shape
    }

    pub(crate) fn nnz(&self) -> usize {
        self.entries.values.len()
    }

    /// Slices and fibers of each mode.
    pub(crate) fn statistics(&self) -> Result<Statistics, Failure> {
        statistics(&self.entries).map_err(|error| Failure::refused(format!("{}: {error}", self.name)))
    }

    /// What a format takes to store it.
    pub(crate) fn storage(&self, format: &Format) -> Result<StorageSize, Failure> {
        storage_size(&self.entries, format).map_err(|error| Failure::refused(format!("{}: {error}", self.name)))
    }

    /// The tensor, or what is made of it, in a format.
    pub(crate) fn pack(&self, parameter: Parameter, format: &Format, element: ElementType) -> Result<Packed, Failure> {
        let mut entries = self.entries.clone();
        match parameter {
            Parameter::Turned => turn(&mut entries),
            Parameter::Transposed => {
                entries.shape.reverse();
                entries.indices.reverse();
            }
            Parameter::Last(mode) => {
                let extent = entries.shape.remove(mode);
                let indices = entries.indices.remove(mode);
                entries.shape.push(extent);
                entries.indices.push(indices);
            }
            Parameter::Tensor | Parameter::Random | Parameter::Two => {}
        }
        let entries = typed(entries, element);
        let start = Instant::now();
        let packed = entries.pack(format, Duplicates::Sum, element.zero());
        let tensor = packed.map_err(|error| Failure::refused(format!("{}: {error}", self.name)))?;
        Ok(Packed { tensor, time: start.elapsed() })
    }
}

/// Refuses what is neither a file nor generated, as far as that can be told without reading it.
pub(crate) fn check(source: &OsStr) -> Result<(), Failure> {
    let path = Path::new(source);
    match source.to_str().filter(|_| !path.exists()) {
        Some(text) => match text.split_once(':').unwrap_or((text, "")) {
            (name, _) if suite::find(name).is_some() => Ok(()),
            (name, rest) if GENERATORS.contains(&name) => size(name, rest).map(drop),
            (name, _) => unknown(text, name),
        },
        // A pipe can be read once.
        None if path.is_file() => Ok(TensorFile::begin(path, &ReadOptions::default()).map(drop)?),
        None => Ok(()),
    }
}

/// Refuses a name that is neither a file nor generated.
fn unknown(text: &str, name: &str) -> Result<(), Failure> {
    if FileType::of(text).is_some() || text.contains('/') {
        return Ok(TensorFile::begin(text, &ReadOptions::default()).map(drop)?);
    }
    let names = suite::TENSORS.iter().map(|tensor| tensor.name).chain(GENERATORS);
    let message = format!("there is no file `{text}`, and no tensor `{name}` is generated");
    Err(match FileType::similar(text) {
        Some(similar) => Failure::refused(message).help(format!("did you mean `.{similar}`?")),
        None if text.ends_with(".json") => {
            Failure::refused(message).help(format!("`--save {text}` writes all figures to a file"))
        }
        None => names::unknown(message, name, names, "those are"),
    })
}

fn entries(source: &OsStr) -> Result<Coordinates<f64>, Failure> {
    if let Some(text) = source.to_str().filter(|_| !Path::new(source).exists()) {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        if suite::find(name).is_some() {
            let scale = if rest.is_empty() { Some(1.0) } else { rest.parse().ok() };
            let scale = scale.ok_or_else(|| Failure::refused(format!("`{rest}` is no scale for {name}: a number")))?;
            return suite_tensor(name, scale, SEED);
        }
        if GENERATORS.contains(&name) {
            return generated(name, rest);
        }
        unknown(text, name)?;
    }
    Ok(io::read_as::<f64>(source, &ReadOptions::default())?)
}

/// What tensors are generated by.
pub(crate) const GENERATORS: [&str; 4] = ["uniform", "kronecker", "power-law", "stacked"];

/// How large a generated tensor is.
struct Size {
    shape: Vec<usize>,
    nnz: usize,
}

/// Reads `100x200x300:5000`.
fn size(kind: &str, text: &str) -> Result<Size, Failure> {
    let parts =
        text.split_once(':').and_then(|(extents, nnz)| Some((shape(extents).ok()?, nnz.parse::<usize>().ok()?)));
    let Some((Shape(shape), nnz)) = parts else {
        let failure = Failure::refused(format!("`{kind}:{text}` does not say a shape and a number of entries"));
        return Err(failure.help(format!("it has the form {kind}:100x200x300:5000")));
    };
    Ok(Size { shape, nnz })
}

/// `100x200x300:5000`
fn generated(kind: &str, text: &str) -> Result<Coordinates<f64>, Failure> {
    let Size { shape, nnz } = size(kind, text)?;
    match kind {
        "uniform" => generate::uniform(&shape, nnz, SEED).map_err(Failure::refused),
        "kronecker" => generate::kronecker(&shape, nnz, &Initiator::usual(shape.len()), SEED).map_err(Failure::refused),
        "stacked" => {
            let exponents = vec![suite::EXPONENT; shape.len().saturating_sub(1)];
            generate::stacked(&shape, nnz, &exponents, SEED).map_err(Failure::refused)
        }
        _ => generate::power_law(&shape, nnz, &vec![suite::EXPONENT; shape.len()], SEED).map_err(Failure::refused),
    }
}

/// Adds one to each index of the first mode; the last becomes the first.
fn turn(entries: &mut Coordinates<f64>) {
    let Some(&extent) = entries.shape.first() else { return };
    match &mut entries.indices[0] {
        Indices::U32(indices) => {
            indices.iter_mut().for_each(|index| *index = ((*index as usize + 1) % extent) as u32);
        }
        Indices::U64(indices) => {
            indices.iter_mut().for_each(|index| *index = (*index + 1) % extent as u64);
        }
    }
}

/// The same entries as elements of a type; for integers, parts are rounded up.
fn typed(entries: Coordinates<f64>, element: ElementType) -> Entries {
    fn convert<T: Element>(entries: Coordinates<f64>) -> Coordinates<T> {
        let value = |value: f64| T::from_f64(if T::TYPE.is_integer() { value.ceil() } else { value });
        Coordinates {
            shape: entries.shape,
            shape_is_stated: true,
            indices: entries.indices,
            values: entries.values.into_iter().map(value).collect(),
        }
    }
    with_element!(element, |T| convert::<T>(entries).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::parse_format;
    use spc_compiler::format::resolve::Definitions;

    #[test]
    fn tensors_are_generated_by_name() {
        let data = Data::load("uniform:20x30x40:500".as_ref()).unwrap();
        assert_eq!((data.order(), data.nnz(), data.name.as_str()), (3, 500, "uniform:20x30x40:500"));
        assert_eq!(Data::load("irrS:0.001".as_ref()).unwrap().nnz(), 1000);
        assert_eq!(Data::load("power-law:20x30:50".as_ref()).unwrap().shape(), [20, 30]);
        for wrong in ["uniform:20x30", "irrS:x", "irrX", "uniform:2x2:5", "uniform:2x2:0"] {
            assert!(Data::load(wrong.as_ref()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_turned_tensor_has_other_places() {
        let data = Data::load("uniform:20x30:50".as_ref()).unwrap();
        let format = |name| parse_format(name, 2, &Definitions::prelude()).unwrap();
        let pack = |parameter| data.pack(parameter, &format("csr"), ElementType::F32).unwrap().tensor;
        let (tensor, turned) = (pack(Parameter::Tensor), pack(Parameter::Turned));
        let first = |tensor: &AnyTensor, row: usize| {
            let entries = tensor.entries::<f32>().unwrap();
            entries
                .into_iter()
                .filter(|(index, _)| index[0] == row)
                .map(|(index, value)| (index[1], value))
                .collect::<Vec<_>>()
        };
        assert_eq!(first(&tensor, 19), first(&turned, 0));
        assert_eq!(first(&tensor, 3), first(&turned, 4));
        assert_eq!(pack(Parameter::Transposed).shape(), [30, 20]);
        let counts = data.pack(Parameter::Tensor, &format("coo"), ElementType::I32).unwrap().tensor;
        assert!(counts.entries::<i32>().unwrap().iter().all(|(_, value)| *value == 1));
    }
}
