//! Vectors and matrices of `nalgebra`: column by column. What has one column by its type is a vector.

use super::{gaps, input};
use crate::tensor::view::{has_strides, strides_of, wrong_strides};
use crate::tensor::{
    AnyTensor, AnyView, ColumnMajor, Element, InvalidTensor, LevelArrays, StorageFormat, Tensor, View,
};
use nalgebra::{DMatrix, DMatrixView, DVector, DVectorView, Dim, Dyn, Matrix, Scalar, Storage, VecStorage};

/// Shape, strides and elements; no elements where there are gaps between them.
fn parts<T: Scalar, R: Dim, C: Dim, S: Storage<T, R, C>>(
    matrix: &Matrix<T, R, C, S>,
    is_vector: bool,
) -> (Vec<usize>, Vec<isize>, &[T]) {
    let (rows, columns) = matrix.shape();
    let (by_row, by_column) = matrix.data.strides();
    let modes = if is_vector { 1 } else { 2 };
    let shape = vec![rows, columns][..modes].to_vec();
    let strides = vec![by_row.value() as isize, by_column.value() as isize][..modes].to_vec();
    let elements = match matrix.data.is_contiguous() {
        // SAFETY: that is the condition for it.
        true => unsafe { matrix.data.as_slice_unchecked() },
        false => &[],
    };
    (shape, strides, elements)
}

impl<'a, T: Element + Scalar, R: Dim, C: Dim, S: Storage<T, R, C>> TryFrom<&'a Matrix<T, R, C, S>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a Matrix<T, R, C, S>) -> Result<Self, InvalidTensor> {
        let (shape, strides, elements) = parts(matrix, C::try_to_usize() == Some(1));
        Self::strided(&shape, &strides, elements).map_err(|error| gaps(&shape, &strides, error))
    }
}

impl<'a, T: Element + Scalar, F: StorageFormat, R: Dim, C: Dim, S: Storage<T, R, C>> TryFrom<&'a Matrix<T, R, C, S>>
    for View<'a, T, F>
{
    type Error = InvalidTensor;

    fn try_from(matrix: &'a Matrix<T, R, C, S>) -> Result<Self, InvalidTensor> {
        let (shape, strides, elements) = parts(matrix, F::ORDER == 1 && matrix.ncols() == 1);
        Self::strided(&shape, &strides, elements).map_err(|error| gaps(&shape, &strides, error))
    }
}

/// A vector or matrix by value, without a copy: `Dense<1>` for what has one column by its type, else [`ColumnMajor`].
impl<T: Element + Scalar, F: StorageFormat, C: Dim> TryFrom<Matrix<T, Dyn, C, VecStorage<T, Dyn, C>>> for Tensor<T, F> {
    type Error = InvalidTensor;

    fn try_from(matrix: Matrix<T, Dyn, C, VecStorage<T, Dyn, C>>) -> Result<Self, InvalidTensor> {
        let (shape, strides, _) = parts(&matrix, F::ORDER == 1 && matrix.ncols() == 1);
        let format = F::format();
        if !has_strides(&format, &shape, &strides) {
            return Err(wrong_strides(&shape, &strides, Some(&format)));
        }
        let levels = vec![LevelArrays::NONE; shape.len()];
        let values: Vec<T> = matrix.data.into();
        Ok(Self::of(AnyTensor::from_parts(shape, format, levels, T::wrap(values))?))
    }
}

/// The elements of a matrix in [`ColumnMajor`], where they lie.
impl<'a, T: Element + Scalar> From<&'a Tensor<T, ColumnMajor>> for DMatrixView<'a, T> {
    fn from(tensor: &'a Tensor<T, ColumnMajor>) -> Self {
        DMatrixView::from_slice(tensor.values(), tensor.shape()[0], tensor.shape()[1])
    }
}

/// The elements of a vector, where they lie.
impl<'a, T: Element + Scalar> From<&'a Tensor<T, crate::tensor::Dense<1>>> for DVectorView<'a, T> {
    fn from(tensor: &'a Tensor<T, crate::tensor::Dense<1>>) -> Self {
        DVectorView::from_slice(tensor.values(), tensor.shape()[0])
    }
}

/// A matrix of a dense tensor: without a copy of one in [`ColumnMajor`] whose vector is not shared.
impl<T: Element + Scalar, F: StorageFormat> TryFrom<Tensor<T, F>> for DMatrix<T> {
    type Error = InvalidTensor;

    fn try_from(tensor: Tensor<T, F>) -> Result<Self, InvalidTensor> {
        let strides = strides_of(tensor.as_any())?;
        let &[rows, columns] = tensor.shape() else { return Err(other_order("a matrix", 2, tensor.shape())) };
        let is_by_row = strides[0] != 1 && rows > 1;
        let values = tensor.into_values();
        Ok(if is_by_row { Self::from_row_slice(rows, columns, &values) } else { Self::from_vec(rows, columns, values) })
    }
}

/// A vector of a dense tensor: without a copy unless it is shared.
impl<T: Element + Scalar, F: StorageFormat> TryFrom<Tensor<T, F>> for DVector<T> {
    type Error = InvalidTensor;

    fn try_from(tensor: Tensor<T, F>) -> Result<Self, InvalidTensor> {
        strides_of(tensor.as_any())?;
        match tensor.shape() {
            [_] => Ok(Self::from_vec(tensor.into_values())),
            shape => Err(other_order("a vector", 1, shape)),
        }
    }
}

fn other_order(what: &str, order: usize, shape: &[usize]) -> InvalidTensor {
    InvalidTensor::Order { format: what.to_owned(), order, modes: shape.len() }
}

input! {
    [T: Element + Scalar, R: Dim, C: Dim, S: Storage<T, R, C>] Matrix<T, R, C, S>, where [];
}
