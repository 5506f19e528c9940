//! Matrices as other libraries have them: arrays in, arrays out.

use super::{
    AnyTensor, Compressed, Coordinates, Csc, Csr, DenseLevel, Duplicates, Element, Index, IndexArray, Indices,
    InvalidTensor, LevelArrays, Levels, Mode, PackError, Permuted, StorageFormat, Tensor, Unique, WrongElement, pack,
};
use spc_compiler::format::{Format, IndexWidth, LevelFormat};
use spc_compiler::level::types::IndexType;

mod sealed {
    pub trait Sealed {}
}

/// The types that indices may have: those of stored indices, and `usize`, `i32` and `i64`, which are stored as `u64`, `u32` and `u64`
/// without a copy.
pub trait SourceIndex: sealed::Sealed + Copy + Send + Sync + 'static {
    /// What they are stored as.
    type Stored: Index;

    /// The same indices in the same memory.
    ///
    /// # Errors
    /// When one is negative.
    fn stored(indices: &[Self]) -> Result<&[Self::Stored], InvalidTensor>;

    /// The same indices in the same memory.
    ///
    /// # Errors
    /// When one is negative.
    fn into_stored(indices: Vec<Self>) -> Result<Vec<Self::Stored>, InvalidTensor>;

    /// The same indices in the same memory.
    ///
    /// # Errors
    /// When one is too large for a signed type.
    fn from_stored(indices: Vec<Self::Stored>) -> Result<Vec<Self>, InvalidTensor>;
}

macro_rules! source_indices {
    ($($type:ident $stored:ident $is_valid:expr;)*) => {$(
        impl sealed::Sealed for $type {}

        impl SourceIndex for $type {
            type Stored = $stored;

            fn stored(indices: &[Self]) -> Result<&[$stored], InvalidTensor> {
                let is_valid: fn(&$type) -> bool = $is_valid;
                match indices.iter().position(|index| !is_valid(index)) {
                    Some(position) => Err(InvalidTensor::Negative { position }),
                    None => Ok(bytemuck::cast_slice(indices)),
                }
            }

            fn into_stored(indices: Vec<Self>) -> Result<Vec<$stored>, InvalidTensor> {
                Self::stored(&indices)?;
                Ok(bytemuck::allocation::cast_vec(indices))
            }

            fn from_stored(indices: Vec<$stored>) -> Result<Vec<Self>, InvalidTensor> {
                let indices: Vec<$type> = bytemuck::allocation::cast_vec(indices);
                Self::stored(&indices)?;
                Ok(indices)
            }
        }
    )*};
}
source_indices! {
    u8 u8 |_| true;
    u16 u16 |_| true;
    u32 u32 |_| true;
    u64 u64 |_| true;
    usize u64 |_| true;
    i32 u32 |index| *index >= 0;
    i64 u64 |index| *index >= 0;
}

/// The formats of matrices by compressed rows: [`Csr`], and [`Csr64`] and the like with indices of other widths.
pub trait CompressedRows: StorageFormat {
    /// The type of stored columns.
    type Coordinate: Index;
    /// The type of stored positions.
    type Position: Index;
}

/// The formats of matrices by compressed columns: [`Csc`], and [`Csc64`] and the like with indices of other widths.
pub trait CompressedColumns: StorageFormat {
    /// The type of stored rows.
    type Coordinate: Index;
    /// The type of stored positions.
    type Position: Index;
}

/// Compressed sparse rows with indices of 64 bits, as of libraries that count in `usize`: `[dense, compressed(u64, pos = u64)]` in a
/// kernel.
pub type Csr64 = Levels<(DenseLevel, Compressed<Unique, u64, u64>)>;
/// Compressed sparse columns with indices of 64 bits: `(i, j) -> [j: dense, i: compressed(u64, pos = u64)]` in a kernel.
pub type Csc64 = Permuted<(Mode<1>, Mode<0>), Levels<(DenseLevel, Compressed<Unique, u64, u64>)>>;
/// A dense matrix, column by column: `(i, j) -> [j: dense, i: dense]` in a kernel.
pub type ColumnMajor = Permuted<(Mode<1>, Mode<0>), Levels<(DenseLevel, DenseLevel)>>;

impl CompressedRows for Csr {
    type Coordinate = u32;
    type Position = u32;
}

impl<C: Index, P: Index> CompressedRows for Levels<(DenseLevel, Compressed<Unique, C, P>)> {
    type Coordinate = C;
    type Position = P;
}

impl CompressedColumns for Csc {
    type Coordinate = u32;
    type Position = u32;
}

impl<C: Index, P: Index> CompressedColumns
    for Permuted<(Mode<1>, Mode<0>), Levels<(DenseLevel, Compressed<Unique, C, P>)>>
{
    type Coordinate = C;
    type Position = P;
}

/// A matrix by compressed rows or columns, as arrays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedParts<P, C, T> {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Where each row begins, or each column, and where the last ends.
    pub positions: Vec<P>,
    /// The column of each entry, or its row; ascending in each row or column.
    pub coordinates: Vec<C>,
    /// The value of each entry.
    pub values: Vec<T>,
}

impl<T: Element, F: StorageFormat> Tensor<T, F> {
    /// A tensor with the given entries, in any order: for each mode their indices. Values of one index are summed.
    ///
    /// ```
    /// use spc::tensor::{Csr, Tensor};
    ///
    /// let a = Tensor::<f64, Csr>::from_coo([2, 3], &[&[1, 0, 1], &[2, 1, 0]], &[4.0, 2.0, 3.0])?;
    /// assert_eq!(a.values(), [2.0, 3.0, 4.0]);
    /// # Ok::<(), spc::tensor::PackError>(())
    /// ```
    ///
    /// # Errors
    /// When an index is negative or beyond the shape, a list has another length than the values, or as [`pack`].
    pub fn from_coo<I: SourceIndex>(
        shape: impl AsRef<[usize]>,
        indices: &[&[I]],
        values: &[T],
    ) -> Result<Self, PackError> {
        let shape = shape.as_ref().to_vec();
        let column = |indices: &&[I]| {
            let stored = I::stored(indices)?;
            Ok(match <I::Stored as IndexType>::WIDTH.bytes() {
                8 => Indices::U64(stored.iter().map(|index| index.to_usize() as u64).collect()),
                _ => Indices::U32(stored.iter().map(|index| index.to_usize() as u32).collect()),
            })
        };
        let indices = indices.iter().map(column).collect::<Result<_, InvalidTensor>>()?;
        let entries = Coordinates { shape, shape_is_stated: true, indices, values: values.to_vec() };
        Ok(Self::of(pack(entries, &F::format(), Duplicates::Sum)?))
    }
}

impl<T: Element, F: CompressedRows> Tensor<T, F> {
    /// A matrix by compressed rows, of arrays that are checked and not copied: `positions` has a number more than there are rows,
    /// `coordinates` are the columns, ascending in each row. Indices are of the format's widths, signed or not.
    ///
    /// ```
    /// use spc::tensor::{Csr, Tensor};
    ///
    /// let a = Tensor::<f64, Csr>::from_csr(2, 3, vec![0i32, 1, 3], vec![1i32, 0, 2], vec![2.0, 3.0, 4.0])?;
    /// assert_eq!(a.get(&[1, 2]), Some(4.0));
    /// assert_eq!(a.into_csr::<u32, u32>()?.positions, [0, 1, 3]);
    /// # Ok::<(), spc::tensor::InvalidTensor>(())
    /// ```
    ///
    /// # Errors
    /// As [`AnyTensor::from_parts`]; also for a negative index.
    pub fn from_csr<P: SourceIndex<Stored = F::Position>, C: SourceIndex<Stored = F::Coordinate>>(
        rows: usize,
        columns: usize,
        positions: Vec<P>,
        coordinates: Vec<C>,
        values: Vec<T>,
    ) -> Result<Self, InvalidTensor> {
        Ok(Self::of(compressed([rows, columns], &[0, 1], positions, coordinates, values)?))
    }

    /// The arrays, without a copy where no other tensor shares them.
    ///
    /// # Errors
    /// When an index is too large for a signed type.
    pub fn into_csr<P: SourceIndex<Stored = F::Position>, C: SourceIndex<Stored = F::Coordinate>>(
        self,
    ) -> Result<CompressedParts<P, C, T>, InvalidTensor> {
        Ok(parts(self.into_any())?.1)
    }
}

impl<T: Element, F: CompressedColumns> Tensor<T, F> {
    /// A matrix by compressed columns, of arrays that are checked and not copied: `positions` has a number more than there are columns,
    /// `coordinates` are the rows, ascending in each column.
    ///
    /// # Errors
    /// As [`AnyTensor::from_parts`]; also for a negative index.
    pub fn from_csc<P: SourceIndex<Stored = F::Position>, C: SourceIndex<Stored = F::Coordinate>>(
        rows: usize,
        columns: usize,
        positions: Vec<P>,
        coordinates: Vec<C>,
        values: Vec<T>,
    ) -> Result<Self, InvalidTensor> {
        Ok(Self::of(compressed([rows, columns], &[1, 0], positions, coordinates, values)?))
    }

    /// The arrays, without a copy where no other tensor shares them.
    ///
    /// # Errors
    /// When an index is too large for a signed type.
    pub fn into_csc<P: SourceIndex<Stored = F::Position>, C: SourceIndex<Stored = F::Coordinate>>(
        self,
    ) -> Result<CompressedParts<P, C, T>, InvalidTensor> {
        Ok(parts(self.into_any())?.1)
    }
}

/// The format of a matrix whose `modes` are dense and compressed.
pub(super) fn compressed_format(modes: &[usize], positions: IndexWidth, coordinates: IndexWidth) -> Format {
    Format::permuted(
        modes,
        &[LevelFormat::DENSE, LevelFormat::COMPRESSED.with_positions(positions).with_coordinates(coordinates)],
    )
}

/// A matrix of arrays, in the format that their widths say.
pub(super) fn compressed<P: SourceIndex, C: SourceIndex, T: Element>(
    shape: [usize; 2],
    modes: &[usize],
    positions: Vec<P>,
    coordinates: Vec<C>,
    values: Vec<T>,
) -> Result<AnyTensor, InvalidTensor> {
    let positions: IndexArray = <P::Stored as Index>::wrap(P::into_stored(positions)?);
    let coordinates: IndexArray = <C::Stored as Index>::wrap(C::into_stored(coordinates)?);
    let format = compressed_format(modes, positions.width(), coordinates.width());
    let levels = vec![LevelArrays::NONE, LevelArrays::of(positions, coordinates)];
    AnyTensor::from_parts(shape.to_vec(), format, levels, T::wrap(values))
}

/// Arrays, and the order of the modes that they store.
type Ordered<A> = ([usize; 2], A);

/// The arrays of a compressed matrix, and the order of its modes.
pub(super) fn parts<P: SourceIndex, C: SourceIndex, T: Element>(
    matrix: AnyTensor,
) -> Result<Ordered<CompressedParts<P, C, T>>, InvalidTensor> {
    let expected = |modes: [usize; 2]| compressed_format(&modes, P::Stored::WIDTH, C::Stored::WIDTH);
    let Some(modes) = [[0, 1], [1, 0]].into_iter().find(|&modes| expected(modes) == *matrix.format()) else {
        let (expected, found) = (Box::new(expected([0, 1])), Box::new(matrix.format().clone()));
        return Err(super::WrongType::Format { expected, found }.into());
    };
    let element = WrongElement { expected: T::TYPE, found: matrix.element() };
    let super::Parts { shape, levels, values, .. } = matrix.into_parts();
    let arrays = levels.into_iter().nth(1).and_then(|level| {
        let (positions, coordinates) = level.into_arrays();
        P::Stored::unwrap_owned(positions?).zip(C::Stored::unwrap_owned(coordinates?))
    });
    let (positions, coordinates) = arrays.unwrap_or_default();
    let values = values.into_buffer::<T>().ok_or(super::WrongType::Element(element))?.into_vec();
    let parts = CompressedParts {
        rows: shape[0],
        columns: shape[1],
        positions: P::from_stored(positions.into_buffer().into_vec())?,
        coordinates: C::from_stored(coordinates.into_buffer().into_vec())?,
        values,
    };
    Ok((modes, parts))
}
