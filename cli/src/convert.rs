//! `spc convert`: between kinds of file.

use crate::arguments::{Shape, shape};
use crate::failure::{self, Failure};
use crate::formats::{FormatsArguments, parse_format};
use crate::progress::Progress;
use crate::run::{literal, without_shape};
use clap::Args;
use spc::execute::Entries;
use spc::io::{self, Contents, FileType, Filled, ReadOptions, TensorFile};
use spc::tensor::{AnyTensor, Coordinates, Duplicates, PackError};
use spc::with_element;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::format::{Format, IndexWidth};
use spc_compiler::ir::ElementType;
use std::path::PathBuf;

/// Convert between kinds of tensor file
///
/// The names say the kinds: .tns, .mtx, .npy, .spct, each also with .gz. Several entries of the same index become their
/// sum. A .spct file holds a tensor in a format of storage, which `--format` says. The fill value of the file is
/// kept.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The file to read
    from: PathBuf,
    /// The file to write
    to: PathBuf,
    /// How a .spct file stores the tensor
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    #[command(flatten)]
    named: FormatsArguments,
    /// The type of the elements; that of the file if not given, or f64 where it says none
    #[arg(long, value_name = "TYPE", value_parser = element)]
    element: Option<ElementType>,
    /// The shape, where the file does not state it
    #[arg(long, value_name = "100x200", value_parser = shape)]
    shape: Option<Shape>,
}

/// Reads the name of an element type.
pub(crate) fn element(name: &str) -> Result<ElementType, String> {
    ElementType::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = ElementType::ALL.iter().map(|element| element.name()).collect();
        format!("the element types are {}", names.join(", "))
    })
}

impl Convert {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let to_packed = match FileType::of(&self.to) {
            Some((kind, _)) => kind == FileType::Spct,
            None => {
                let message = format!("{}: the name does not say what kind of file it is to be", self.to.display());
                return Err(Failure::refused(message).help(format!("known extensions are {}", FileType::EXTENSIONS)));
            }
        };
        if self.format.is_some() && !to_packed {
            return Err(Failure::Usage("`--format` is for a .spct file, the only kind that keeps a format".to_owned()));
        }
        let named = self.named.load()?;
        let progress = Progress::new(format!("reading {}", self.from.display()));
        let options = ReadOptions { shape: self.shape.as_ref().map(|shape| shape.0.clone()), file_type: None };
        let file = TensorFile::open(&self.from, &options)?;
        let element = element_of(&file, self.element)?;
        let Converted { tensor, states_fill, note } =
            with_element!(element, |T| self.read::<T>(&file, &Definitions::of_program(&named)))?;
        progress.step(format!("writing {}", self.to.display()));
        match states_fill {
            true => io::write_tensor_stating_fill(&self.to, &tensor)?,
            false => io::write_tensor(&self.to, &tensor)?,
        }
        drop(progress);
        note.iter().for_each(failure::note);
        Ok(())
    }

    fn read<T: io::Value>(&self, file: &TensorFile, named: &Definitions<'_>) -> Result<Converted, Failure>
    where
        Entries: From<Coordinates<T>>,
    {
        let contents = file.contents::<T>()?;
        let refused = |error: PackError| Failure::refused(format!("{}: {error}", self.from.display()));
        let format = match &self.format {
            Some(text) => Some(parse_format(text, contents.shape().len(), named)?),
            None => None,
        };
        Ok(match contents {
            Contents::Entries(Filled { entries, fill }) => {
                let note = (!entries.shape_is_stated).then(|| without_shape(&self.from, &entries.shape));
                let literal = literal(fill.unwrap_or(T::ZERO), &self.from)?;
                let format = format.unwrap_or_else(|| coordinates(&entries.shape));
                let tensor = Entries::from(entries).pack(&format, Duplicates::Sum, literal).map_err(refused)?;
                Converted { tensor, states_fill: fill.is_some(), note }
            }
            Contents::Tensor(tensor) => {
                let to_packed = matches!(FileType::of(&self.to), Some((FileType::Spct, _)));
                let usual = || (to_packed && tensor.format().is_dense()).then(|| coordinates(tensor.shape()));
                let states_fill = tensor.format().is_dense();
                let tensor = match format.or_else(usual) {
                    Some(format) => tensor.convert(&format).map_err(refused)?,
                    None => tensor,
                };
                Converted { tensor, states_fill, note: None }
            }
        })
    }
}

/// What is to be written.
struct Converted {
    tensor: AnyTensor,
    /// Whether the file stated its fill value, also where that is zero.
    states_fill: bool,
    note: Option<String>,
}

/// The type that a file is read as: what is asked for, or else what the file says.
pub(crate) fn element_of(file: &TensorFile, asked: Option<ElementType>) -> Result<ElementType, Failure> {
    Ok(match asked {
        Some(element) => element,
        None => file.element()?.unwrap_or(ElementType::F64),
    })
}

/// Coordinates, of 64 bits where a mode needs them.
pub(crate) fn coordinates(shape: &[usize]) -> Format {
    let mut format = Format::coo(shape.len());
    for (level, &extent) in format.levels.iter_mut().zip(shape) {
        if extent as u64 > IndexWidth::U32.maximum() {
            level.format.coordinates = IndexWidth::U64;
        }
    }
    if let Some(level) = format.levels.first_mut() {
        level.format.positions = IndexWidth::U64;
    }
    format
}
