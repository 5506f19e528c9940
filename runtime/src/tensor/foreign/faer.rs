//! Dense and sparse matrices of `faer`.

use super::{by_reference, gaps, input};
use crate::tensor::{AnyView, ColumnMajor, Element, Index, InvalidTensor, SourceIndex, StorageFormat, Tensor, View};
use faer::sparse::{SparseColMat, SparseRowMat};
use faer::{Col, Mat, MatRef};
use std::slice;

/// The elements of a matrix, column by column; none where there are gaps between them.
fn elements<'a, T>(matrix: MatRef<'a, T>) -> (Vec<usize>, Vec<isize>, &'a [T]) {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    let (by_row, by_column) = (matrix.row_stride(), matrix.col_stride());
    let is_column_major = (rows <= 1 || by_row == 1) && (columns <= 1 || by_column == rows as isize);
    let is_row_major = (columns <= 1 || by_column == 1) && (rows <= 1 || by_row == columns as isize);
    let elements = match rows.checked_mul(columns) {
        // SAFETY: from the first on lie so many elements without a gap, which the matrix is borrowed with.
        Some(count) if count > 0 && (is_column_major || is_row_major) => unsafe {
            slice::from_raw_parts(matrix.as_ptr(), count)
        },
        _ => &[],
    };
    (vec![rows, columns], vec![by_row, by_column], elements)
}

impl<'a, T: Element> TryFrom<MatRef<'a, T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: MatRef<'a, T>) -> Result<Self, InvalidTensor> {
        let (shape, strides, elements) = elements(matrix);
        Self::strided(&shape, &strides, elements).map_err(|error| gaps(&shape, &strides, error))
    }
}

impl<'a, T: Element, F: StorageFormat> TryFrom<MatRef<'a, T>> for View<'a, T, F> {
    type Error = InvalidTensor;

    fn try_from(matrix: MatRef<'a, T>) -> Result<Self, InvalidTensor> {
        let (shape, strides, elements) = elements(matrix);
        Self::strided(&shape, &strides, elements).map_err(|error| gaps(&shape, &strides, error))
    }
}

impl<'a, T: Element> TryFrom<&'a Mat<T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a Mat<T>) -> Result<Self, InvalidTensor> {
        matrix.as_ref().try_into()
    }
}

impl<'a, T: Element, F: StorageFormat> TryFrom<&'a Mat<T>> for View<'a, T, F> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a Mat<T>) -> Result<Self, InvalidTensor> {
        matrix.as_ref().try_into()
    }
}

impl<'a, T: Element> TryFrom<&'a Col<T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(column: &'a Col<T>) -> Result<Self, InvalidTensor> {
        let elements = column.try_as_col_major().map_or(&[][..], |column| column.as_slice());
        Self::strided(&[column.nrows()], &[1], elements)
    }
}

impl<'a, T: Element, F: StorageFormat> TryFrom<&'a Col<T>> for View<'a, T, F> {
    type Error = InvalidTensor;

    fn try_from(column: &'a Col<T>) -> Result<Self, InvalidTensor> {
        Ok(AnyView::try_from(column)?.try_into()?)
    }
}

/// A copy, column by column: faer pads the columns of its matrices.
impl<T: Element> TryFrom<MatRef<'_, T>> for Tensor<T, ColumnMajor> {
    type Error = InvalidTensor;

    fn try_from(matrix: MatRef<'_, T>) -> Result<Self, InvalidTensor> {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let values = (0..columns).flat_map(|column| (0..rows).map(move |row| *matrix.get(row, column)));
        let levels = vec![crate::tensor::LevelArrays::NONE; 2];
        let values = T::wrap(values.collect::<Vec<T>>());
        Ok(Self::of(crate::tensor::AnyTensor::from_parts(vec![rows, columns], ColumnMajor::format(), levels, values)?))
    }
}

/// The elements of a matrix, where they lie.
impl<'a, T: Element> From<&'a Tensor<T, ColumnMajor>> for MatRef<'a, T> {
    fn from(tensor: &'a Tensor<T, ColumnMajor>) -> Self {
        MatRef::from_column_major_slice(tensor.values(), tensor.shape()[0], tensor.shape()[1]).as_dyn_stride()
    }
}

impl<'a, T: Element, I: faer::Index + SourceIndex> TryFrom<&'a SparseRowMat<I, T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a SparseRowMat<I, T>) -> Result<Self, InvalidTensor> {
        let pattern = matrix.symbolic();
        let count = entries(pattern.row_ptr(), pattern.row_nnz())?;
        let (columns, values) = (pattern.col_idx(), matrix.val());
        let (columns, values) = (columns.get(..count).unwrap_or(columns), values.get(..count).unwrap_or(values));
        Self::from_csr(matrix.nrows(), matrix.ncols(), pattern.row_ptr(), columns, values)
    }
}

impl<'a, T: Element, I: faer::Index + SourceIndex> TryFrom<&'a SparseColMat<I, T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a SparseColMat<I, T>) -> Result<Self, InvalidTensor> {
        let pattern = matrix.symbolic();
        let count = entries(pattern.col_ptr(), pattern.col_nnz())?;
        let (rows, values) = (pattern.row_idx(), matrix.val());
        let (rows, values) = (rows.get(..count).unwrap_or(rows), values.get(..count).unwrap_or(values));
        Self::from_csc(matrix.nrows(), matrix.ncols(), pattern.col_ptr(), rows, values)
    }
}

/// How many entries there are; those behind are room.
fn entries<I: SourceIndex>(positions: &[I], counts: Option<&[I]>) -> Result<usize, InvalidTensor> {
    if counts.is_some() {
        let reason = "it is not compressed: there is room between its rows or columns".to_owned();
        return Err(InvalidTensor::Unsupported { format: "a sparse matrix of faer".to_owned(), reason });
    }
    Ok(I::stored(positions)?.last().map_or(0, |last| last.to_usize()))
}

by_reference! {
    [T: Element, I: faer::Index + SourceIndex] SparseRowMat<I, T>, where [];
    [T: Element, I: faer::Index + SourceIndex] SparseColMat<I, T>, where [];
}

input! {
    [T: Element] Mat<T>, where [];
    [T: Element] Col<T>, where [];
}

#[cfg(feature = "compile")]
impl<T: Element> crate::execute::Input for MatRef<'_, T> {
    fn argument(&self) -> Result<crate::execute::Argument<'_>, InvalidTensor> {
        AnyView::try_from(*self).map(crate::execute::Argument::View)
    }
}
