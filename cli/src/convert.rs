//! `spc convert`: between kinds of file.

use crate::arguments::{FormatsArguments, Shape, bytes, element, nameless_format, shape};
use crate::failure::{self, Failure};
use crate::files::{Destination, InputKind, OutputKind};
use crate::formats::format_for;
use crate::progress::Progress;
use crate::run::{literal, without_shape};
use crate::{output, settings};
use clap::Args;
use serde_json::json;
use spc::execute::Entries;
use spc::io::{self, Contents, FileType, Filled, LargeFile, ReadErrorKind, ReadOptions, TensorFile};
use spc::memory;
use spc::tensor::{AnyTensor, Coordinates, Duplicates, PackError};
use spc::with_element;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::format::{Format, IndexWidth};
use spc_compiler::ir::ElementType;
use spc_compiler::syntax;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Convert between kinds of tensor file
///
/// The names say the kinds: .tns, .mtx, .npy, .npz and .spct are read and written, .smtx, .rb, .mat, .edges, .csv and .bin (SPLATT) are read, each also with .gz; x.npz:A is
/// the array A of an archive, x.mat:A a variable, x.csv:user,item,rating columns of a table. `-` is the standard input or output. Several entries of the same index become their sum. A .spct file holds a tensor in a format of
/// storage, which `--format` says; a .npz file is one of SciPy's csr, csc or coo, or a dense array. The fill value of the file
/// is kept.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The file to read; `-` for the standard input
    #[arg(value_name = "FROM")]
    input: OsString,
    /// The file to write; `-` for the standard output
    #[arg(value_name = "TO")]
    output: OsString,
    #[command(flatten)]
    from: InputKind,
    #[command(flatten)]
    to: OutputKind,
    /// How a .spct or .npz file stores the tensor
    #[arg(short, long, value_name = "FORMAT", value_parser = nameless_format)]
    format: Option<String>,
    #[command(flatten)]
    named: FormatsArguments,
    /// The type of the elements; that of the file if not given, or f64 where it says none
    #[arg(long, value_name = "TYPE", value_parser = element)]
    element: Option<ElementType>,
    /// The shape, where the file does not state it
    #[arg(long, value_name = "100x200", value_parser = shape)]
    shape: Option<Shape>,
    /// A file for the keys of a table whose columns have text for indices: `mode,index,key`, counted from 0
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// About how many bytes of memory to use, as 2GB; half of what is free if not given. What takes more to convert is sorted by way of
    /// files beside the result, which then is a .spct file of `dense`, `compressed` and `singleton` levels
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
}

impl Convert {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let destination = self.to.destination(&self.output)?;
        let keeps_format = destination.kind().keeps_format();
        if self.format.is_some() && !keeps_format {
            return Err(Failure::usage("`--format` is for .spct and .npz files, the only kinds that keep a format"));
        }
        let named = self.named.load()?;
        if let Some(large) = self.large()? {
            return self.pack_large(&large, &destination, &Definitions::of_program(&named));
        }
        let progress = Progress::new(format!("reading {}", self.input.display()));
        let file = self.from.open(&self.input, self.shape.as_ref().map(|shape| shape.0.clone()))?;
        let element = element_of(&file, self.element)?;
        let keys = file.keys()?;
        let Converted { tensor, states_fill, note } =
            with_element!(element, |T| self.read::<T>(&file, &destination, &Definitions::of_program(&named)))?;
        progress.step(format!("writing {}", destination.name()));
        destination.write(&tensor, states_fill)?;
        drop(progress);
        let keyed: Vec<String> = keys
            .iter()
            .enumerate()
            .filter(|(_, keys)| keys.is_some())
            .map(|(mode, _)| (mode + 1).to_string())
            .collect();
        let unwritten = match &self.keys {
            Some(path) => {
                io::write_keys(path, &keys)?;
                None
            }
            None => (!keyed.is_empty()).then(|| {
                let modes = keyed.join(", ");
                format!(
                    "keys of mode {modes} are numbered as they appear: `--keys FILE` writes which number is which key"
                )
            }),
        };
        let notes: Vec<String> = note.into_iter().chain(unwritten).collect();
        notes.iter().for_each(failure::note);
        told(&destination, tensor.shape(), tensor.element(), tensor.nnz(), &notes)
    }

    /// The file, where it takes more memory to convert than there is.
    fn large(&self) -> Result<Option<LargeFile>, Failure> {
        let memory = memory::budget(self.memory);
        // What a symmetric format stores is known once all entries are.
        let is_symmetric = self
            .format
            .as_ref()
            .is_some_and(|format| syntax::parse_format(format).is_ok_and(|format| format.symmetry.is_some()));
        let to_packed = !is_symmetric && matches!(FileType::of(&self.output), Some((FileType::Spct, false)));
        let kind = FileType::of(&self.input).or(self.from.from);
        let Some((_, is_gzip)) = kind.filter(|(kind, _)| to_packed && kind.comes_in_parts()) else {
            return Ok(None);
        };
        let Ok(metadata) = std::fs::metadata(&self.input) else { return Ok(None) };
        // Beside the text are its entries, and keys to sort them by; text compresses to a fifth or so.
        let times = if is_gzip { 15 } else { 3 };
        if !metadata.is_file() || metadata.len().saturating_mul(times) <= memory {
            return Ok(None);
        }
        let progress = Progress::new(format!("looking at {}", self.input.display()));
        let shape = self.shape.as_ref().map(|shape| shape.0.clone());
        let options = ReadOptions {
            shape,
            file_type: FileType::of(&self.input).is_none().then_some(kind).flatten().map(|(kind, _)| kind),
            from_zero: self.from.is_from_zero(),
        };
        let opened = LargeFile::open(&self.input, &options, self.element, memory);
        drop(progress);
        match opened {
            // Without a limit, what has to be read as a whole may fit all the same.
            Err(error) if self.memory.is_none() && error.kind() == ReadErrorKind::NotSupported => Ok(None),
            opened => Ok(Some(opened?)),
        }
    }

    fn pack_large(&self, file: &LargeFile, destination: &Destination, named: &Definitions<'_>) -> Result<(), Failure> {
        let format = match &self.format {
            Some(text) => format_for(text, file.shape(), named)?,
            None => file.format().cloned().unwrap_or_else(|| coordinates(file.shape())),
        };
        let progress = Progress::new(format!("converting {}", self.input.display()));
        let nnz = file.pack(&self.output, &format, Duplicates::Sum).map_err(|error| Failure::refused(&error))?;
        drop(progress);
        let note = (!file.shape_is_stated()).then(|| without_shape(Path::new(&self.input), file.shape()));
        note.iter().for_each(failure::note);
        told(destination, file.shape(), file.element(), nnz, note.as_slice())
    }

    fn read<T: io::Value>(
        &self,
        file: &TensorFile,
        destination: &Destination,
        named: &Definitions<'_>,
    ) -> Result<Converted, Failure>
    where
        Entries: From<Coordinates<T>>,
    {
        let contents = file.contents::<T>()?;
        let refused = |error: PackError| Failure::refused(format!("{}: {error}", file.path().display()));
        let format = match &self.format {
            Some(text) => Some(format_for(text, contents.shape(), named)?),
            None => None,
        };
        Ok(match contents {
            Contents::Entries(Filled { entries, fill }) => {
                let note = (!entries.shape_is_stated).then(|| without_shape(file.path(), &entries.shape));
                let literal = literal(fill.unwrap_or(T::ZERO), file.path())?;
                let format = format.unwrap_or_else(|| coordinates(&entries.shape));
                let tensor = Entries::from(entries).pack(&format, Duplicates::Sum, literal).map_err(refused)?;
                Converted { tensor, states_fill: fill.is_some(), note }
            }
            Contents::Tensor(tensor) => {
                let to_packed = destination.kind() == FileType::Spct;
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

/// Says what was written, where programs ask.
fn told(
    destination: &Destination,
    shape: &[usize],
    element: ElementType,
    nnz: usize,
    notes: &[String],
) -> Result<(), Failure> {
    if !settings::json() || destination.is_stdout() {
        return Ok(());
    }
    output::print_json(json!({
        "file": destination.name(), "kind": destination.kind().name(), "shape": shape,
        "element": element.name(), "nnz": nnz, "notes": notes,
    }))
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
            level.format = level.format.with_coordinates(IndexWidth::U64);
        }
    }
    if let Some(level) = format.levels.first_mut() {
        level.format = level.format.with_positions(IndexWidth::U64);
    }
    format
}
