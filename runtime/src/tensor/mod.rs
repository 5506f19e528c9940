//! Tensors: valid by construction.
//!
//! [`Coordinates`] come in from files, generators and programs. An [`AnyTensor`] holds the arrays of any storage format;
//! its constructors check all that kernels rely on.

mod any;
mod buffer;
mod convert;
mod coordinates;
mod error;
mod formats;
mod index_array;
mod iterate;
#[cfg(test)]
mod law;
mod layout;
mod pack;
mod statistics;
mod typed;
mod validate;
mod values;

pub use any::{AnyTensor, LevelStorage, Parts};
pub use buffer::{ALIGNMENT, Buffer, OutOfMemory};
pub use coordinates::{Coordinates, Indices};
pub use error::{InvalidTensor, LevelArray, WrongElement};
pub use formats::{
    Compressed, Coo, Csc, Csf, Csr, Dcsr, Dense, DenseLevel, Flag, LevelList, LevelType, Levels, Mode, ModeList,
    Nonunique, Ordered, Permuted, RowMajor, Scalar, Scoo, Singleton, StorageFormat, Unique, Unordered,
};
pub use index_array::{Index, IndexArray};
pub use pack::{Duplicates, PackError, pack};
pub use statistics::{Groups, ModeStatistics, Statistics, StorageSize, statistics, storage_size};
pub use typed::{Tensor, WrongType};
pub use values::{Element, Values};

use std::fmt;

/// Prints the first elements of what may be millions.
fn debug_shortened<T: fmt::Debug>(
    f: &mut fmt::Formatter<'_>,
    length: usize,
    element: impl Fn(usize) -> T,
) -> fmt::Result {
    let shown = length.min(16);
    let mut list = f.debug_list();
    list.entries((0..shown).map(element));
    if shown < length { list.finish_non_exhaustive() } else { list.finish() }
}
