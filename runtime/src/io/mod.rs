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
//! let x = io::read(&path)?; // a tensor, in a format that suits it
//! assert_eq!(x.entries::<f64>()?, [(vec![0, 2], 2.5), (vec![1, 0], -1.0)]);
//! let x = io::read_as::<f64>(&path, &ReadOptions::default())?; // a list of entries
//! assert_eq!(x.shape, [2, 3]);
//! assert_eq!(x.values, [2.5, -1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An error says where: `x.tns:17:4: index '-3' of mode 2: indices start from 1`.

mod arrays;
mod compressed;
mod contents;
mod entries;
mod error;
mod file;
mod file_type;
mod harwell;
mod kind;
mod large;
mod mat;
pub mod mtx;
pub mod npy;
#[cfg(feature = "npz")]
pub mod npz;
#[cfg(not(feature = "npz"))]
#[path = "npz_absent.rs"]
mod npz;
mod probe;
mod smtx;
mod source;
pub mod spct;
mod splatt;
mod stated;
mod table;
mod text_head;
#[cfg(feature = "compile")]
mod text_parts;
pub mod tns;
mod tns_header;
mod value;
mod write;

pub use arrays::{Arrays, write_arrays};
pub use contents::{Contents, Filled};
pub use error::{ReadError, ReadErrorKind, WriteError, WriteErrorKind};
pub use file::TensorFile;
pub use file_type::FileType;
pub use kind::Layout;
pub use large::{LargeFile, PackFileError};
#[cfg(feature = "compile")]
pub(crate) use spct::Sum;
pub use spct::{StoredParts, StoredTensor};
#[cfg(feature = "compile")]
pub(crate) use text_parts::Found;
#[cfg(feature = "compile")]
pub use text_parts::TextParts;
pub use value::Value;
#[cfg(feature = "compile")]
pub(crate) use write::{Begun, Head, Piece, Pieces};
pub use write::{fail_at_size_limit, write_mtx, write_tns};

use std::io::{self, Write};
use std::path::Path;

use value::Numbers;
use write::Listed;

use crate::tensor::{AnyTensor, Coordinates, Csr, Duplicates, StorageFormat, pack_filled};
use crate::with_element;
use spc_compiler::format::Format;

/// What a caller knows about a file that is to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// The extent of each mode. A file that states its own must agree; one that does not must have no index beyond it.
    pub shape: Option<Vec<usize>>,
    /// The kind of file, for names that do not say it.
    pub file_type: Option<FileType>,
    /// Whether the indices of a `.tns` file count from 0, and not from 1. Other kinds of file say where theirs begin.
    pub from_zero: bool,
}

/// Reads a tensor from a file of any kind: of the element type that the file states, `f64` where it states none. An `integer` matrix in
/// `.mtx` with a number that `f64` does not hold is read as `i64`.
///
/// A `.spct` file has its format, and a `.npy` file or an `array` in `.mtx` is dense. Entries are summed where they have one index,
/// and stored by compressed rows in a matrix, else as a tree (`csf`); [`AnyTensor::convert`] stores them in another way. Where a file
/// states no shape, extents are the largest indices; [`read_as`] takes a shape.
///
/// # Errors
///
/// As [`read_as`]; also when there is not enough memory to store the tensor.
pub fn read(path: impl AsRef<Path>) -> Result<AnyTensor, ReadError> {
    read_expecting(path.as_ref(), None)
}

/// The same, where a file that states no shape has this one, if no index is beyond it.
pub(crate) fn read_expecting(path: &Path, shape: Option<&[usize]>) -> Result<AnyTensor, ReadError> {
    fn tensor<T: Value>(file: &TensorFile, shape: Option<&[usize]>) -> Result<AnyTensor, ReadError> {
        let contents = match shape {
            Some(shape) => file.contents_of_order::<T>(shape.len())?,
            None => file.contents::<T>()?,
        };
        match contents {
            Contents::Tensor(tensor) => Ok(tensor),
            Contents::Entries(Filled { mut entries, fill }) => {
                if let Some(shape) = shape
                    && !entries.shape_is_stated
                    && entries.shape.len() == shape.len()
                    && entries.shape.iter().zip(shape).all(|(least, extent)| least <= extent)
                {
                    entries.shape = shape.to_vec();
                }
                let format = match entries.shape.len() {
                    2 => Csr::format(),
                    order => Format::csf(order),
                };
                let packed = pack_filled(entries, &format, Duplicates::Sum, fill.unwrap_or(T::ZERO));
                packed.map_err(|error| ReadError::new(ReadErrorKind::NotSupported, error.to_string()))
            }
        }
    }
    let file = TensorFile::begin(path, &ReadOptions::default())?;
    let (own, computed) = (file.element()?, file.computed_element()?);
    let read = |element| with_element!(element, |T| tensor::<T>(&file, shape)).map_err(|error| error.in_file(path));
    match (read(computed), own) {
        // Whole numbers that `f64` does not hold.
        (Err(error), Some(own)) if own != computed && error.kind() == ReadErrorKind::Value => {
            read(own).map_err(|_| error)
        }
        (read, _) => read,
    }
}

/// Reads the entries of a tensor file as elements of type `T`, in the order in which they stand there.
///
/// A dense file (`.npy`, or `array` in `.mtx`) gives an entry for each element that is not zero, row by row.
///
/// # Errors
///
/// [`ReadError`] if the file cannot be read, is of no known kind, or is not what its kind prescribes; the first such
/// place in the file is told. Integer types also refuse values that they do not hold exactly. A file whose missing
/// entries are not zero is refused: [`TensorFile::contents`] reads it.
pub fn read_as<T: Value>(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Coordinates<T>, ReadError> {
    let path = path.as_ref();
    let contents = TensorFile::open(path, options)?.contents::<T>()?;
    contents.into_coordinates().map_err(|error| error.in_file(path))
}

/// Reads a file that holds a tensor with its format: `.spct`, or `.npy`, which is dense.
///
/// # Errors
///
/// As [`read_as`]; also for the kinds of file that hold a list of entries, which are to be read so and packed.
pub fn read_tensor(path: impl AsRef<Path>, options: &ReadOptions) -> Result<AnyTensor, ReadError> {
    TensorFile::begin(path, options)?.tensor()
}

/// Writes entries to a file of the kind that the extension says, `.spct` excepted.
///
/// The file appears when it is complete; if anything fails, what was there before still is.
///
/// # Errors
///
/// [`WriteError`] if the file cannot be written, or its kind is unknown or cannot hold the tensor.
pub fn write<T: Value>(path: impl AsRef<Path>, entries: &Coordinates<T>) -> Result<(), WriteError> {
    write_filled(path.as_ref(), entries, None)
}

/// Writes the [keys](TensorFile::keys) of a table as a table: a line for each key, with its mode and its index, both from 0.
///
/// # Errors
///
/// As [`write()`].
pub fn write_keys(path: impl AsRef<Path>, keys: &[Option<Vec<String>>]) -> Result<(), WriteError> {
    write::to_file(path.as_ref(), false, |out| {
        writeln!(out, "mode,index,key")?;
        for (mode, keys) in keys.iter().enumerate() {
            for (index, key) in keys.iter().flatten().enumerate() {
                writeln!(out, "{mode},{index},\"{}\"", key.replace('"', "\"\""))?;
            }
        }
        Ok(())
    })
}

/// Writes a tensor to a file of the kind that the extension says. Only `.spct` keeps its format.
///
/// A dense tensor is written with all its elements, zeros too. Of another, `.tns` and `.mtx` files have the stored entries and,
/// where the fill value is not zero, a comment that states it; elements equal to the fill value that are stored only
/// because the last level is dense and has a place for every coordinate, are left out. A `.npy` file has the fill value
/// wherever nothing is stored.
///
/// # Errors
///
/// As [`write()`].
pub fn write_tensor(path: impl AsRef<Path>, tensor: &AnyTensor) -> Result<(), WriteError> {
    let path = path.as_ref();
    let (file_type, compressed) = writable(path)?;
    write::to_file(path, compressed, |out| file_type.writer()?.write_tensor(out, tensor))
}

/// The same, but `.tns` and `.mtx` files state the fill value in any case, also where it is zero, and of a dense tensor have the
/// elements that are not zero.
///
/// # Errors
///
/// As [`write()`].
pub fn write_tensor_stating_fill(path: impl AsRef<Path>, tensor: &AnyTensor) -> Result<(), WriteError> {
    fn entries<T: Value>(path: &Path, tensor: AnyTensor) -> Result<(), WriteError> {
        let filled = Contents::<T>::Tensor(tensor).into_filled();
        let Filled { entries, fill } = filled.map_err(|error| WriteError::memory(path, &error))?;
        write_filled(path, &entries, fill)
    }
    let path = path.as_ref();
    match writable(path)? {
        (file_type, _) if file_type.is_text() => {
            with_element!(tensor.element(), |T| entries::<T>(path, tensor.clone()))
        }
        _ => write_tensor(path, tensor),
    }
}

/// Writes a tensor as [`write_tensor`] does, to anything: as such a kind of file, compressed by gzip if asked.
///
/// # Errors
///
/// Those of `out`; and [`InvalidInput`](io::ErrorKind::InvalidInput) if the kind cannot hold the tensor.
pub fn write_tensor_to(
    out: &mut dyn Write,
    (file_type, compressed): (FileType, bool),
    tensor: &AnyTensor,
) -> io::Result<()> {
    write::to_stream(out, compressed, |out| file_type.writer()?.write_tensor(out, tensor))
}

/// The same, as [`write_tensor_stating_fill`] does.
///
/// # Errors
///
/// As [`write_tensor_to`].
pub fn write_tensor_stating_fill_to(
    out: &mut dyn Write,
    (file_type, compressed): (FileType, bool),
    tensor: &AnyTensor,
) -> io::Result<()> {
    fn entries<T: Value>(out: &mut dyn Write, file_type: FileType, tensor: AnyTensor) -> io::Result<()> {
        let filled = Contents::<T>::Tensor(tensor).into_filled();
        let short = |error: ReadError| io::Error::new(io::ErrorKind::OutOfMemory, error.message().to_owned());
        let Filled { entries, fill } = filled.map_err(short)?;
        let fill = fill.map(|fill| vec![fill]);
        let fill = fill.as_ref().map(|fill| fill as &dyn Numbers);
        file_type.writer()?.write_entries(out, &Listed::of(&entries, fill))
    }
    if !file_type.is_text() {
        return write_tensor_to(out, (file_type, compressed), tensor);
    }
    write::to_stream(out, compressed, |out| {
        with_element!(tensor.element(), |T| entries::<T>(out, file_type, tensor.clone()))
    })
}

/// Writes entries as [`write()`] does, to anything: as such a kind of file, compressed by gzip if asked.
///
/// # Errors
///
/// As [`write_tensor_to`].
pub fn write_to<T: Value>(
    out: &mut dyn Write,
    (file_type, compressed): (FileType, bool),
    entries: &Coordinates<T>,
) -> io::Result<()> {
    write::to_stream(out, compressed, |out| file_type.writer()?.write_entries(out, &Listed::of(entries, None)))
}

/// Writes a file of any name by `write`, as [`write()`] does: it appears when it is complete.
///
/// # Errors
///
/// Those of `write`, and when the file can't be written.
pub fn write_with(
    path: impl AsRef<Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    write::to_file(path.as_ref(), false, write)
}

/// Writes text to a file of any name, which appears when it is complete.
///
/// # Errors
///
/// When the file can't be written.
pub fn write_text(path: impl AsRef<Path>, text: &str) -> Result<(), WriteError> {
    write::to_file(path.as_ref(), false, |out| out.write_all(text.as_bytes()))
}

/// Writes bytes to a file, whole or not at all.
///
/// # Errors
/// When the file can't be written.
#[doc(hidden)]
pub fn write_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), WriteError> {
    write::to_file(path.as_ref(), false, |out| out.write_all(bytes))
}

/// Writes entries; others are `fill`, or not said to be anything.
fn write_filled<T: Value>(path: &Path, entries: &Coordinates<T>, fill: Option<T>) -> Result<(), WriteError> {
    let (file_type, compressed) = writable(path)?;
    let fill = fill.map(|fill| vec![fill]);
    let listed = Listed::of(entries, fill.as_ref().map(|fill| fill as &dyn Numbers));
    write::to_file(path, compressed, |out| file_type.writer()?.write_entries(out, &listed))
}

fn writable(path: &Path) -> Result<(FileType, bool), WriteError> {
    let unknown = || WriteError::new(WriteErrorKind::UnknownFormat, path, FileType::unknown(path));
    FileType::of(path).ok_or_else(unknown)
}

#[cfg(test)]
mod tests;
