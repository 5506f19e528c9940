//! Reading and writing tensor files.
//!
//! What comes in is a path, whose extension says what kind of file it is ([`FileType`]), and what goes out is a list of
//! entries, [`Coordinates`]; writing goes the other way. Text is read by all threads. Any file may be compressed with
//! gzip.
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
mod source;
pub mod tns;
mod value;

pub use error::{ReadError, ReadErrorKind, WriteError, WriteErrorKind};
pub use file_type::FileType;
pub use value::Value;

use std::path::Path;

use crate::tensor::Coordinates;

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
/// place in the file is told. Integer types also refuse values that they do not hold exactly.
pub fn read<T: Value>(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Coordinates<T>, ReadError> {
    let path = path.as_ref();
    let Some(file_type) = options.file_type.or_else(|| FileType::of(path).map(|(kind, _)| kind)) else {
        return Err(ReadError::new(ReadErrorKind::UnknownFormat, FileType::unknown(path)).in_file(path));
    };
    let bytes = source::load(path)?;
    let shape = options.shape.as_deref();
    let entries = match file_type {
        FileType::Tns => tns::parse(&bytes, shape),
        FileType::Mtx => mtx::parse(&bytes).and_then(|entries| agreeing(entries, shape)),
        FileType::Npy | FileType::Spct => todo!(),
    };
    entries.map_err(|error| error.in_file(path))
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
