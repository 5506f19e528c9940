//! Compressed matrices of `sprs`.

use super::by_reference;
use crate::tensor::matrix::{compressed, parts};
use crate::tensor::{AnyView, Element, InvalidTensor, SourceIndex, StorageFormat, Tensor};
use sprs::{CsMatBase, CsMatI, SpIndex};
use std::ops::Deref;

impl<'a, T, I, P, PS, IS, DS> TryFrom<&'a CsMatBase<T, I, PS, IS, DS, P>> for AnyView<'a>
where
    T: Element,
    I: SpIndex + SourceIndex,
    P: SpIndex + SourceIndex,
    PS: Deref<Target = [P]>,
    IS: Deref<Target = [I]>,
    DS: Deref<Target = [T]>,
{
    type Error = InvalidTensor;

    fn try_from(matrix: &'a CsMatBase<T, I, PS, IS, DS, P>) -> Result<Self, InvalidTensor> {
        let (positions, indices, values) = (matrix.indptr().into_raw_storage(), matrix.indices(), matrix.data());
        match matrix.is_csr() {
            true => Self::from_csr(matrix.rows(), matrix.cols(), positions, indices, values),
            false => Self::from_csc(matrix.rows(), matrix.cols(), positions, indices, values),
        }
    }
}

by_reference! {
    [T, I, P, PS, IS, DS] CsMatBase<T, I, PS, IS, DS, P>, where [
        T: Element,
        I: SpIndex + SourceIndex,
        P: SpIndex + SourceIndex,
        PS: Deref<Target = [P]>,
        IS: Deref<Target = [I]>,
        DS: Deref<Target = [T]>,
    ];
}

/// The same arrays, without a copy.
impl<T, F, I, P> TryFrom<CsMatI<T, I, P>> for Tensor<T, F>
where
    T: Element,
    F: StorageFormat,
    I: SpIndex + SourceIndex,
    P: SpIndex + SourceIndex,
{
    type Error = InvalidTensor;

    fn try_from(matrix: CsMatI<T, I, P>) -> Result<Self, InvalidTensor> {
        let (shape, modes) = ([matrix.rows(), matrix.cols()], if matrix.is_csr() { [0, 1] } else { [1, 0] });
        let (positions, coordinates, values) = matrix.into_raw_storage();
        Ok(compressed(shape, &modes, positions, coordinates, values)?.try_into()?)
    }
}

/// The same arrays, without a copy unless they are shared.
impl<T, F, I, P> TryFrom<Tensor<T, F>> for CsMatI<T, I, P>
where
    T: Element,
    F: StorageFormat,
    I: SpIndex + SourceIndex,
    P: SpIndex + SourceIndex,
{
    type Error = InvalidTensor;

    fn try_from(tensor: Tensor<T, F>) -> Result<Self, InvalidTensor> {
        let (modes, parts) = parts::<P, I, T>(tensor.into_any())?;
        let shape = (parts.rows, parts.columns);
        let made = match modes {
            [0, 1] => Self::try_new(shape, parts.positions, parts.coordinates, parts.values),
            _ => Self::try_new_csc(shape, parts.positions, parts.coordinates, parts.values),
        };
        made.map_err(|(.., error)| InvalidTensor::Unsupported {
            format: "a matrix of sprs".to_owned(),
            reason: error.to_string(),
        })
    }
}
