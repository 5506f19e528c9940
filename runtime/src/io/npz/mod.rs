//! `.npz`: an archive of `.npy` arrays, as `numpy.savez` and `scipy.sparse.save_npz` write it.
//!
//! ```text
//! numpy.savez            arr_0.npy, or whatever the arrays are called: dense
//! scipy.sparse.save_npz  format.npy  shape.npy  data.npy    and of its formats
//!     csr, csc           indptr.npy  indices.npy
//!     bsr                the same, of blocks: data has three modes
//!     coo                row.npy  col.npy, or of another order than two coords.npy
//!     dia                offsets.npy
//! ```
//!
//! An archive of several arrays is read one array at a time: `x.npz:weights` names it, and [`Arrays`](super::Arrays) reads all. Members are stored as they are or deflated.
//! Written are deflated members: one dense array `arr_0`, several by [`write_arrays`](super::write_arrays()), or what SciPy reads, `csr` and `csc` for tensors of these formats and `coo`
//! for all others.
//!
//! Sources: `numpy.lib.npyio` and `scipy.sparse._matrix_io`, NumPy 2.4 and SciPy 1.17.

mod archive;
mod read;
mod write;

pub(super) use archive::check_magic;
pub(super) use read::{array, description, names, parse};
pub(super) use write::{write_arrays, write_entries, write_tensor};

/// How SciPy stores a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sparse {
    Csr,
    Csc,
    Bsr,
    Coo,
    Dia,
}

impl Sparse {
    const ALL: [Self; 5] = [Self::Csr, Self::Csc, Self::Bsr, Self::Coo, Self::Dia];

    fn name(self) -> &'static str {
        match self {
            Self::Csr => "csr",
            Self::Csc => "csc",
            Self::Bsr => "bsr",
            Self::Coo => "coo",
            Self::Dia => "dia",
        }
    }
}

#[cfg(test)]
mod tests;

fn corrupt(message: impl Into<String>) -> super::ReadError {
    super::ReadError::new(super::ReadErrorKind::Corrupt, message)
}
