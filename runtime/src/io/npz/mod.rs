//! `.npz`: an archive of `.npy` arrays, as `numpy.savez` and `scipy.sparse.save_npz` write it.
//!
//! ```text
//! numpy.savez            arr_0.npy, or whatever the arrays are called: dense
//! scipy.sparse.save_npz  format.npy  shape.npy  data.npy    and of its formats
//!     csr, csc           indptr.npy  indices.npy
//!     bsr                the same, of blocks: data has three modes
//!     coo                row.npy  col.npy, or of another order than two coords.npy
//!     dia                offsets.npy
//! sparse.save_npz        shape.npy  data.npy  fill_value.npy    of PyData, and of its formats
//!     COO                coords.npy
//!     GCXS               indptr.npy  indices.npy  compressed_axes.npy
//! ```
//!
//! An archive with any other member is refused.
//!
//! An archive of several arrays is read one array at a time: `x.npz:weights` names it, and [`Arrays`](super::Arrays) reads all. Members are stored as they are or deflated.
//! Written are deflated members: one dense array `arr_0`, several by [`write_arrays`](super::write_arrays()), or what SciPy reads, `csr` and `csc` for tensors of these formats and `coo`
//! for all others.
//!
//! Sources: `numpy.lib.npyio` and `scipy.sparse._matrix_io`, NumPy 2.4 and SciPy 1.17.

mod archive;
mod read;
mod write;

pub(super) use read::{array, names};
pub(super) use write::write_arrays;

use std::io::{self, Write};

use super::contents::Loaded;
use super::kind::{Asked, Description, Kind, Writer};
use super::value::Value;
use super::write::Listed;
use super::{ReadError, ReadErrorKind};
use crate::tensor::AnyTensor;
use crate::with_element;

/// The kind of file.
pub(super) struct Npz;

impl Kind for Npz {
    fn begins(&self, head: &[u8]) -> bool {
        archive::check_magic(head).is_ok()
    }

    fn check_start(&self, head: &[u8]) -> Result<(), ReadError> {
        archive::check_magic(head)
    }

    /// The directory of an archive is at its end.
    fn has_head(&self) -> bool {
        false
    }

    fn has_members(&self) -> bool {
        true
    }

    fn describe(&self, file: &[u8], member: Option<&str>) -> Result<Description, ReadError> {
        read::description(file, member)
    }

    fn read(&self, file: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        fn of<T: Value>(file: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
            Ok(read::parse::<T::Carrier>(file, T::TYPE, asked.member)?.of_carriers::<T>()?.into())
        }
        with_element!(asked.element, |T| of::<T>(file, asked))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Npz {
    fn write_entries(&self, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
        write::write_entries(out, entries)
    }

    fn write_tensor(&self, out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
        write::write_tensor(out, tensor)
    }

    fn keeps_format(&self) -> bool {
        true
    }
}

/// How SciPy, or PyData's `sparse`, stores a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sparse {
    Csr,
    Csc,
    Bsr,
    Coo,
    Dia,
    Gcxs,
}

impl Sparse {
    const ALL: [Self; 6] = [Self::Csr, Self::Csc, Self::Bsr, Self::Coo, Self::Dia, Self::Gcxs];

    fn name(self) -> &'static str {
        match self {
            Self::Csr => "csr",
            Self::Csc => "csc",
            Self::Bsr => "bsr",
            Self::Coo => "coo",
            Self::Dia => "dia",
            Self::Gcxs => "gcxs",
        }
    }

    /// The members that an archive may have.
    fn members(self) -> &'static [&'static str] {
        match self {
            Self::Csr | Self::Csc | Self::Bsr => {
                &["format", "_is_array", "shape", "data", "fill_value", "indptr", "indices"]
            }
            Self::Coo => &["format", "_is_array", "shape", "data", "fill_value", "row", "col", "coords"],
            Self::Dia => &["format", "_is_array", "shape", "data", "offsets"],
            Self::Gcxs => &["format", "shape", "data", "fill_value", "indptr", "indices", "compressed_axes"],
        }
    }
}

#[cfg(test)]
mod tests;

fn corrupt(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::Corrupt, message)
}
