//! `spc convert`: between kinds of file.

use crate::arguments::{Shape, shape};
use crate::failure::Failure;
use crate::formats::{FormatsArguments, parse_format};
use crate::progress::Progress;
use crate::run::entries;
use clap::Args;
use spc::io::{self, FileType, ReadOptions};
use spc::tensor::{AnyTensor, Duplicates};
use spc_compiler::format::resolve::Definitions;
use spc_compiler::format::{Format, IndexWidth};
use spc_compiler::ir::ElementType;
use std::path::PathBuf;

/// Convert between kinds of tensor file
///
/// The names say the kinds: .tns, .mtx, .npy, .spct, each also with .gz. Several entries of the same index become their
/// sum. A .spct file holds a tensor in a format of storage, which `--format` says.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The file to read
    from: String,
    /// The file to write
    to: PathBuf,
    /// How a .spct file stores the tensor
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
    #[command(flatten)]
    named: FormatsArguments,
    /// The type of the elements
    #[arg(long, value_name = "TYPE", default_value = "f64", value_parser = element)]
    element: ElementType,
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
        let progress = Progress::new(format!("reading {}", self.from));
        let tensor = self.read(&Definitions::of_program(&named))?;
        progress.step(format!("writing {}", self.to.display()));
        Ok(io::write_tensor(&self.to, &tensor)?)
    }

    fn read(&self, named: &Definitions<'_>) -> Result<AnyTensor, Failure> {
        let options = ReadOptions { shape: self.shape.as_ref().map(|shape| shape.0.clone()), file_type: None };
        let entries = entries(self.element, &self.from, &options)?;
        let format = match &self.format {
            Some(text) => parse_format(text, entries.shape().len(), named)?,
            None => coordinates(entries.shape()),
        };
        let zero = entries.element().zero();
        entries
            .pack(&format, Duplicates::Sum, zero)
            .map_err(|error| Failure::refused(format!("{}: {error}", self.from)))
    }
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
