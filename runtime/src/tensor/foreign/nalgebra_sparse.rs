//! Sparse matrices of `nalgebra-sparse`.

use super::by_reference;
use crate::tensor::{AnyView, CompressedColumns, CompressedRows, Element, InvalidTensor, Tensor};
use nalgebra_sparse::{CscMatrix, CsrMatrix};

impl<'a, T: Element> TryFrom<&'a CsrMatrix<T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a CsrMatrix<T>) -> Result<Self, InvalidTensor> {
        let (positions, columns, values) = matrix.csr_data();
        Self::from_csr(matrix.nrows(), matrix.ncols(), positions, columns, values)
    }
}

impl<'a, T: Element> TryFrom<&'a CscMatrix<T>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(matrix: &'a CscMatrix<T>) -> Result<Self, InvalidTensor> {
        let (positions, rows, values) = matrix.csc_data();
        Self::from_csc(matrix.nrows(), matrix.ncols(), positions, rows, values)
    }
}

by_reference! {
    [T: Element] CsrMatrix<T>, where [];
    [T: Element] CscMatrix<T>, where [];
}

/// The same arrays, without a copy.
impl<T: Element, F: CompressedRows<Position = u64, Coordinate = u64>> TryFrom<CsrMatrix<T>> for Tensor<T, F> {
    type Error = InvalidTensor;

    fn try_from(matrix: CsrMatrix<T>) -> Result<Self, InvalidTensor> {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let (positions, coordinates, values) = matrix.disassemble();
        Self::from_csr(rows, columns, positions, coordinates, values)
    }
}

/// The same arrays, without a copy.
impl<T: Element, F: CompressedColumns<Position = u64, Coordinate = u64>> TryFrom<CscMatrix<T>> for Tensor<T, F> {
    type Error = InvalidTensor;

    fn try_from(matrix: CscMatrix<T>) -> Result<Self, InvalidTensor> {
        let (rows, columns) = (matrix.nrows(), matrix.ncols());
        let (positions, coordinates, values) = matrix.disassemble();
        Self::from_csc(rows, columns, positions, coordinates, values)
    }
}

const VALID: &str = "a tensor is valid by construction";

/// The same arrays, without a copy unless they are shared.
impl<T: Element, F: CompressedRows<Position = u64, Coordinate = u64>> From<Tensor<T, F>> for CsrMatrix<T> {
    fn from(tensor: Tensor<T, F>) -> Self {
        let parts = tensor.into_csr::<usize, usize>().expect(VALID);
        Self::try_from_csr_data(parts.rows, parts.columns, parts.positions, parts.coordinates, parts.values)
            .expect(VALID)
    }
}

/// The same arrays, without a copy unless they are shared.
impl<T: Element, F: CompressedColumns<Position = u64, Coordinate = u64>> From<Tensor<T, F>> for CscMatrix<T> {
    fn from(tensor: Tensor<T, F>) -> Self {
        let parts = tensor.into_csc::<usize, usize>().expect(VALID);
        Self::try_from_csc_data(parts.rows, parts.columns, parts.positions, parts.coordinates, parts.values)
            .expect(VALID)
    }
}
