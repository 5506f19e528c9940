//! Tensors: valid by construction.
//!
//! [`Coordinates`] come in from files, generators and programs. [`pack`] stores them in any format as an [`AnyTensor`], the
//! arrays of each level and the values, which kernels read and write; all of its constructors check what kernels rely on.
//! A [`Tensor`] is one whose element type and format are types.
//!
//! ```text
//! entries               [dense, compressed]
//! (0, 1) 2.0            level 0
//! (1, 0) 3.0    pack    level 1   pos  0  1     3       AnyTensor::from_parts
//! (1, 2) 4.0  ───────▶            crd  1  0  2       ◀─────────────────────── arrays of one's own
//!                       values         2. 3. 4.
//! ```
//!
//! Index arrays and values are shared where they are equal by construction: between clones, and between an operand and an
//! output of the same structure. A [`View`] borrows them: what outlives the borrow is a copy.
//!
//! # Arrays of other crates
//!
//! With features of their names, references to the dense arrays of `ndarray`, `nalgebra` and `faer` and to the sparse matrices of `sprs`,
//! `nalgebra-sparse` and `faer` become a [`View`] or an [`AnyView`] by `TryFrom`, without a copy; indices are checked each time.
//! By value they become a [`Tensor`], and a tensor becomes one of them, without a copy where its arrays are not shared and they
//! begin where their vector does. Libraries that count in `usize` have [`Csr64`] and [`Csc64`]; `nalgebra` and `faer` have [`ColumnMajor`].
//! Elements with gaps between them (a part of a larger matrix, most dense matrices that `faer` allocates) are in no format: a view of
//! them is an error that says so, and `Tensor::try_from(array)`, of `faer` `Tensor::try_from(matrix.as_ref())`, copies them.

mod any;
mod buffer;
mod column;
mod convert;
mod coordinates;
mod copy;
mod drawing;
mod error;
mod fibers;
mod folded;
mod foreign;
mod formats;
mod hash_table;
pub(crate) mod index_array;
mod iterate;
mod kept;
#[cfg(test)]
mod law;
mod layout;
mod level_arrays;
mod map;
#[cfg(test)]
mod map_law;
mod mapped;
mod matrix;
mod named;
mod pack;
pub(crate) mod parts;
pub(crate) mod patterns;
mod permutation;
mod shared;
mod show;
#[cfg(feature = "compile")]
pub(crate) mod spread;
mod statistics;
pub(crate) mod tasks;
#[cfg(all(test, feature = "compile"))]
mod tests;
mod typed;
mod validate;
pub(crate) mod values;
mod view;
mod walk;

pub use crate::memory::OutOfMemory;
pub use any::{AnyTensor, Parts};
pub(crate) use buffer::Room;
pub use buffer::{ALIGNMENT, Buffer, Plain};
pub(crate) use convert::Listed;
pub use coordinates::{Coordinates, Indices};
pub use drawing::{Drawing, DrawnCell, DrawnLevel, DrawnRow, layout_text};
pub use error::{InvalidTensor, WrongElement, WrongType};
pub use formats::{
    Hermitian, LevelList, Levels, Mode, ModeList, Permuted, RowMajor, Scalar, Skew, StorageFormat, Symmetric,
};
pub use index_array::{Index, IndexArray};
pub(crate) use layout::level_extents;
pub use level_arrays::LevelArrays;
pub use map::IndexError;
pub use mapped::{
    Constant, CoordinateType, Difference, Extent, Interleaved, MapLevels, Mapped, Morton, Product, Quotient, Remainder,
    Sum,
};
pub use matrix::{ColumnMajor, CompressedColumns, CompressedParts, CompressedRows, Csc64, Csr64, SourceIndex};
pub use named::*;
#[cfg(feature = "compile")]
pub(crate) use pack::StoredOrder;
pub(crate) use pack::{Array, Assembled, Runs, RunsError};
pub use pack::{Duplicates, NotSymmetric, PackError, pack, pack_filled};
pub use parts::NotCut;
pub use shared::Shared;
pub use spc_compiler::ir::ElementType;
pub use spc_compiler::level::level_types::*;
pub use spc_compiler::level::types::{Flag, IndexType, LevelType, Nonunique, Ordered, Unique, Unordered};
pub use statistics::{Groups, ModeStatistics, Statistics, StorageSize, statistics, storage_size};
pub use typed::Tensor;
#[cfg(test)]
pub(crate) use values::same_bits;
pub use values::{Element, Values};
pub use view::{AnyView, IndexSlice, View};

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
