//! Reading and writing tensor files.
//!
//! What comes in is a path, whose extension says what kind of file it is ([`FileType`]), and what goes out is a list of
//! entries, [`Coordinates`]; writing goes the other way. Text is read by all threads. Any file may be compressed with
//! gzip; one thread decompresses text then, and the others read what is there already.
//!
//! ```
//! use spc::io::{self, ReadOptions};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.tns");
//! std::fs::write(&path, "1 3 2.5\n2 1 -1\n")?;
//! let x = io::read::<f64>(&path, &ReadOptions::default())?;
//! assert_eq!(x.shape, [2, 3]);
//! assert_eq!(x.values, [2.5, -1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An error says where: `x.tns:17:4: index 0: indices start from 1`.

mod entries;
mod error;
mod file_type;
mod indices;
pub mod mtx;
pub mod npy;
mod source;
pub mod spct;
pub mod tns;
mod value;
mod write;

pub use error::{ReadError, ReadErrorKind, WriteError, WriteErrorKind};
pub use file_type::FileType;
pub use value::Value;
pub use write::{write_mtx, write_tns};

use std::path::Path;

use spc_compiler::format::level;

use self::source::Source;
use crate::tensor::{AnyTensor, Coordinates, WrongElement};
use crate::with_element;

/// What a caller knows about a file that is to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The extent of each mode. A file that states its own must agree; one that does not must have no index beyond it.
    pub shape: Option<Vec<usize>>,
    /// The kind of file, for names that do not say it.
    pub file_type: Option<FileType>,
}

/// Reads the entries of a tensor file, in the order in which they stand there.
///
/// A dense file (`.npy`, or `array` in `.mtx`) gives an entry for each element that is not zero.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be read, is of no known kind, or is not what its kind prescribes; the first such
/// place in the file is told. Integer types also refuse values that they do not hold exactly. A `.spct` file whose missing
/// entries are not zero is refused: [`read_tensor`] reads it.
pub fn read<T: Value>(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Coordinates<T>, ReadError> {
    let path = path.as_ref();
    let (file_type, source) = load(path, options)?;
    let shape = options.shape.as_deref();
    if let Source::Gzip(bytes) = &source
        && let Some(entries) = parse_compressed(file_type, bytes, shape)
    {
        return agreeing(entries, shape).map_err(|error| error.in_file(path));
    }
    let bytes = source.text(path)?;
    let entries = match file_type {
        FileType::Tns => tns::parse(&bytes, shape),
        FileType::Mtx => mtx::parse(&bytes),
        FileType::Npy => npy::parse(&bytes),
        FileType::Spct => spct::parse(&bytes).and_then(|tensor| converted(&tensor)),
    };
    entries.and_then(|entries| agreeing(entries, shape)).map_err(|error| error.in_file(path))
}

/// Reads a file that holds a tensor with its format: `.spct`, or `.npy`, which is dense.
///
/// # Errors
///
/// As [`read`]; also for the kinds of file that hold a list of entries, which are to be read so and packed.
pub fn read_tensor(path: impl AsRef<Path>, options: &ReadOptions) -> Result<AnyTensor, ReadError> {
    let path = path.as_ref();
    let (file_type, source) = load(path, options)?;
    let bytes = source.text(path)?;
    let tensor = match file_type {
        FileType::Npy => npy::parse_tensor(&bytes),
        FileType::Spct => spct::parse(&bytes),
        FileType::Tns | FileType::Mtx => {
            let message = "the file holds entries and not a packed tensor: read the entries, and pack them";
            Err(ReadError::new(ReadErrorKind::NotSupported, message))
        }
    };
    tensor.map_err(|error| error.in_file(path))
}

/// Writes entries to a file of the kind that the extension says, `.spct` excepted.
///
/// The file appears when it is complete; if anything fails, what was there before still is.
///
/// # Errors
///
/// [`WriteError`] if the file cannot be written, or its kind is unknown or cannot hold the tensor.
pub fn write<T: Value>(path: impl AsRef<Path>, entries: &Coordinates<T>) -> Result<(), WriteError> {
    let path = path.as_ref();
    let (file_type, compressed) = writable(path)?;
    write::to_file(path, compressed, |out| match file_type {
        FileType::Tns => write_tns(out, entries),
        FileType::Mtx => write_mtx(out, entries),
        FileType::Npy => npy::write(out, entries),
        FileType::Spct => {
            let message = "a .spct file holds a packed tensor: pack the entries first, or write them as .tns";
            Err(write::invalid(message.to_owned()))
        }
    })
}

/// Writes a tensor to a file of the kind that the extension says. Only `.spct` keeps its format.
///
/// Fill values that are stored because the last level is dense, and has a place for every coordinate, are left out of `.tns`
/// and `.mtx` files, which do not say what a missing entry is.
///
/// # Errors
///
/// As [`write()`].
pub fn write_tensor(path: impl AsRef<Path>, tensor: &AnyTensor) -> Result<(), WriteError> {
    fn entries<T: Value>(path: &Path, tensor: &AnyTensor) -> Result<(), WriteError> {
        let refuse = |error: WrongElement| WriteError::new(WriteErrorKind::NotSupported, path, error.to_string());
        write(path, &stored::<T>(tensor).map_err(refuse)?)
    }
    let path = path.as_ref();
    match writable(path)? {
        (FileType::Spct, compressed) => write::to_file(path, compressed, |out| spct::write(out, tensor)),
        _ => with_element!(tensor.element(), |T| entries::<T>(path, tensor)),
    }
}

/// Writes the entries of a tensor as `.tns` text: what [`write_tensor`] writes to a `.tns` file.
///
/// # Errors
///
/// As [`write_tns`].
pub fn write_tensor_tns(out: &mut dyn std::io::Write, tensor: &AnyTensor) -> std::io::Result<()> {
    fn entries<T: Value>(out: &mut dyn std::io::Write, tensor: &AnyTensor) -> std::io::Result<()> {
        write_tns(out, &stored::<T>(tensor).map_err(|error| write::invalid(error.to_string()))?)
    }
    with_element!(tensor.element(), |T| entries::<T>(out, tensor))
}

/// Writes text to a file of any name, which appears when it is complete.
///
/// # Errors
///
/// When the file can't be written.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<(), WriteError> {
    write::to_file(path.as_ref(), false, |out| out.write_all(text.as_bytes()))
}

/// The entries of text that is decompressed on one thread and parsed on the others. None where there is one thread only, or too
/// little text; and where anything is wrong, which is found again, with its place, in the whole text.
fn parse_compressed<T: Value>(file_type: FileType, bytes: &[u8], shape: Option<&[usize]>) -> Option<Coordinates<T>> {
    const LEAST: usize = 1 << 16;
    if rayon::current_num_threads() == 1 || bytes.len() < LEAST {
        return None;
    }
    match file_type {
        FileType::Tns => tns::parse_blocks(&mut source::decompressed(bytes), shape, entries::BLOCK),
        FileType::Mtx => mtx::parse_blocks(&mut source::decompressed(bytes), entries::BLOCK),
        FileType::Npy | FileType::Spct => None,
    }
}

/// The kind and the bytes of a file.
fn load(path: &Path, options: &ReadOptions) -> Result<(FileType, Source), ReadError> {
    let Some(file_type) = options.file_type.or_else(|| FileType::of(path).map(|(kind, _)| kind)) else {
        return Err(ReadError::new(ReadErrorKind::UnknownFormat, FileType::unknown(path)).in_file(path));
    };
    Ok((file_type, source::load(path)?))
}

fn writable(path: &Path) -> Result<(FileType, bool), WriteError> {
    let unknown = || WriteError::new(WriteErrorKind::UnknownFormat, path, FileType::unknown(path));
    FileType::of(path).ok_or_else(unknown)
}

/// The entries of a tensor without the fill values that only a last level that fills up stores.
fn stored<T: Value>(tensor: &AnyTensor) -> Result<Coordinates<T>, WrongElement> {
    let mut entries = tensor.to_coordinates::<T>()?;
    if tensor.format().levels.last().is_some_and(|last| level::of(last.format.kind).fills()) {
        // A dense tensor lacks nothing, and readers take what has no entry for zero.
        let absent =
            if tensor.format().is_dense() { T::ZERO } else { T::from_literal(tensor.fill()).unwrap_or(T::ZERO) };
        let kept: Vec<bool> = entries.values.iter().map(|value| *value != absent).collect();
        let mut flags = kept.iter();
        entries.values.retain(|_| flags.next() == Some(&true));
        entries.indices.iter_mut().for_each(|mode| indices::retain(mode, &kept));
    }
    Ok(entries)
}

/// The entries of a tensor with another element type, by the rules for text.
fn converted<T: Value>(tensor: &AnyTensor) -> Result<Coordinates<T>, ReadError> {
    fn of<F: Value, T: Value>(tensor: &AnyTensor) -> Result<Coordinates<T>, ReadError> {
        let fail = |message: String| ReadError::new(ReadErrorKind::Value, message);
        if !tensor.fill().is_zero() && !tensor.format().is_dense() {
            let message = format!("what is not stored is {}, which a list of entries can't say", tensor.fill());
            let message = message + ": read the file as a tensor of its element type";
            return Err(ReadError::new(ReadErrorKind::NotSupported, message));
        }
        let Coordinates { shape, shape_is_stated, indices, values } =
            stored::<F>(tensor).map_err(|error| fail(error.to_string()))?;
        let values = value::converted(&values).map_err(fail)?;
        Ok(Coordinates { shape, shape_is_stated, indices, values })
    }
    with_element!(tensor.element(), |F| of::<F, T>(tensor))
}

/// The entries, if the file's shape is the one that the caller stated.
fn agreeing<T>(entries: Coordinates<T>, stated: Option<&[usize]>) -> Result<Coordinates<T>, ReadError> {
    match stated {
        Some(stated) if stated != entries.shape => {
            let shown = |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            let (found, stated) = (shown(&entries.shape), shown(stated));
            let message = format!("the file has shape {found}, but {stated} is asked for: state the file's, or none");
            Err(ReadError::new(ReadErrorKind::Shape, message))
        }
        _ => Ok(entries),
    }
}

#[cfg(test)]
mod tests;
