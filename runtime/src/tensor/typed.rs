//! Tensors whose format and element type are types, so that a kernel is not handed the wrong one.

use super::{
    AnyTensor, Buffer, Coordinates, Dense, Duplicates, Element, Indices, InvalidTensor, PackError, RowMajor, Scalar,
    StorageFormat, WrongElement, WrongType, pack,
};
use spc_compiler::format::Format;
use std::fmt;
use std::marker::PhantomData;

/// A tensor of elements `T` in format `F`, valid by construction.
///
/// ```
/// use spc::tensor::{Csf, Dense, Tensor};
///
/// let x = Tensor::<f64, Csf<3>>::from_entries([2, 3, 4], [([0, 1, 2], 1.0), ([1, 0, 3], 2.0), ([0, 1, 0], 3.0)])?;
/// assert_eq!(x.values(), [3.0, 1.0, 2.0]);
/// assert_eq!(x.get(&[1, 0, 3]), Some(2.0));
/// assert_eq!(x.get(&[1, 1, 1]), None);
///
/// let b = Tensor::<f64, Dense<2>>::from_fn([3, 2], |index| (10 * index[0] + index[1]) as f64)?;
/// assert_eq!(b.values(), [0.0, 1.0, 10.0, 11.0, 20.0, 21.0]);
/// assert_eq!(x.convert::<Dense<3>>()?.to_dense_vec(), x.to_dense_vec());
/// # Ok::<(), spc::tensor::PackError>(())
/// ```
pub struct Tensor<T, F> {
    pub(super) any: AnyTensor,
    types: PhantomData<fn() -> (T, F)>,
}

const ELEMENT: &str = "a tensor's values are of its element type";

impl<T: Element, F: StorageFormat> Tensor<T, F> {
    /// A tensor with the given entries, in any order; those of the same index are summed.
    ///
    /// # Errors
    /// When an index has another number of modes than the shape or is beyond it, or as [`pack`].
    pub fn from_entries<X: AsRef<[usize]>>(
        shape: impl AsRef<[usize]>,
        entries: impl IntoIterator<Item = (X, T)>,
    ) -> Result<Self, PackError> {
        let shape = shape.as_ref().to_vec();
        let mut columns = vec![Vec::new(); shape.len()];
        let mut values = Vec::new();
        for (index, value) in entries {
            let index = index.as_ref();
            if index.len() != shape.len() {
                return Err(PackError::Modes { shape: shape.len(), indices: index.len() });
            }
            for (column, &index) in columns.iter_mut().zip(index) {
                column.push(index as u64);
            }
            values.push(value);
        }
        let indices = columns.into_iter().map(Indices::U64).collect();
        Self::from_coordinates(Coordinates { shape, shape_is_stated: true, indices, values })
    }

    /// A tensor with the given entries; those of the same index are summed.
    ///
    /// # Errors
    /// As [`pack`].
    pub fn from_coordinates(coordinates: Coordinates<T>) -> Result<Self, PackError> {
        Ok(Self::of(pack(coordinates, &F::format(), Duplicates::Sum)?))
    }

    /// A tensor whose elements are all zero; only dense levels store them.
    ///
    /// # Errors
    /// When the shape has another number of modes than the format, or dense levels are too large.
    pub fn zeros(shape: impl AsRef<[usize]>) -> Result<Self, PackError> {
        let none: [([usize; 0], T); 0] = [];
        Self::from_entries(shape, none)
    }

    /// Of a tensor that has the types.
    pub(super) fn of(any: AnyTensor) -> Self {
        Self { any, types: PhantomData }
    }

    /// The extent of each mode.
    pub fn shape(&self) -> &[usize] {
        self.any.shape()
    }

    /// The number of stored entries.
    pub fn nnz(&self) -> usize {
        self.any.nnz()
    }

    /// The stored values, in storage order.
    pub fn values(&self) -> &[T] {
        self.any.values_of().expect(ELEMENT)
    }

    /// The stored values, to be changed: any value is valid. Copies them where they are shared with another tensor.
    pub fn values_mut(&mut self) -> &mut [T] {
        self.any.values_mut().expect(ELEMENT)
    }

    /// The stored values, in storage order, in the vector that the tensor has; a copy where another tensor shares them.
    pub fn into_values(self) -> Vec<T> {
        self.any.into_parts().values.into_buffer().expect(ELEMENT).into_vec()
    }

    /// The value at an index, where it is stored. `None` also beyond the shape.
    pub fn get(&self, index: &[usize]) -> Option<T> {
        self.any.locate(index).map(|position| self.values()[position])
    }

    /// Calls `visit(index, value)` for each stored entry, in storage order.
    pub fn for_each_entry(&self, mut visit: impl FnMut(&[usize], T)) {
        let values = self.values();
        self.any.for_each_position(|index, position| visit(index, values[position]));
    }

    /// The stored entries, in storage order.
    pub fn entries(&self) -> Vec<(Vec<usize>, T)> {
        self.any.entries().expect(ELEMENT)
    }

    /// The stored entries as a list, in storage order.
    pub fn to_coordinates(&self) -> Coordinates<T> {
        self.any.to_coordinates().expect(ELEMENT)
    }

    /// All elements, row-major, zero where none is stored.
    ///
    /// # Panics
    /// When there is not enough memory for them; to convert to `Dense` gives an error then.
    pub fn to_dense_vec(&self) -> Vec<T> {
        let dense = self.any.convert(&Format::dense(F::ORDER)).unwrap_or_else(|error| panic!("{error}"));
        dense.values_of().expect(ELEMENT).to_vec()
    }

    /// The same tensor in another format of the same order.
    ///
    /// # Errors
    /// As [`AnyTensor::convert`].
    pub fn convert<G: StorageFormat>(&self) -> Result<Tensor<T, G>, PackError> {
        Ok(Tensor::of(self.any.convert(&G::format())?))
    }

    /// The tensor without its types.
    pub fn as_any(&self) -> &AnyTensor {
        &self.any
    }

    /// The tensor without its types, to be replaced by one of the same types.
    pub(crate) fn as_any_mut(&mut self) -> &mut AnyTensor {
        &mut self.any
    }

    /// The tensor without its types.
    pub fn into_any(self) -> AnyTensor {
        self.any
    }
}

impl<const N: usize> RowMajor for Dense<N> {}

impl<T: Element, F: RowMajor> Tensor<T, F> {
    /// A dense tensor of the given elements, row-major, without copying them.
    ///
    /// # Errors
    /// When the shape has another number of modes than the format, or there are more or fewer elements than it says.
    pub fn from_vec(shape: impl AsRef<[usize]>, values: Vec<T>) -> Result<Self, InvalidTensor> {
        let levels = vec![super::LevelArrays::NONE; F::ORDER];
        let values = T::wrap(Buffer::from(values));
        AnyTensor::from_parts(shape.as_ref().to_vec(), F::format(), levels, values).map(Self::of)
    }

    /// A dense tensor of what a function gives for each index, called in row-major order.
    ///
    /// # Errors
    /// When the shape has another number of modes than the format, or there is not enough memory.
    pub fn from_fn(shape: impl AsRef<[usize]>, mut element: impl FnMut(&[usize]) -> T) -> Result<Self, InvalidTensor> {
        let mut tensor = AnyTensor::zeros(shape.as_ref().to_vec(), F::format(), T::TYPE)?;
        let mut index = vec![0; tensor.order()];
        let shape = tensor.shape.clone();
        for value in tensor.values_mut::<T>().expect(ELEMENT) {
            *value = element(&index);
            for (index, &extent) in index.iter_mut().zip(&shape).rev() {
                *index += 1;
                if *index < extent {
                    break;
                }
                *index = 0;
            }
        }
        Ok(Self::of(tensor))
    }
}

impl<T: Element> Tensor<T, Scalar> {
    /// Its one value.
    pub fn value(&self) -> T {
        self.values()[0]
    }
}

impl<T: Element> From<T> for Tensor<T, Scalar> {
    fn from(value: T) -> Self {
        let values = T::wrap(Buffer::copy_of(&[value]));
        Self::of(AnyTensor::from_parts_trusted(Vec::new(), Scalar::format(), Vec::new(), values))
    }
}

impl<T: Element, F: StorageFormat> TryFrom<AnyTensor> for Tensor<T, F> {
    type Error = WrongType;

    fn try_from(any: AnyTensor) -> Result<Self, WrongType> {
        let expected = F::format();
        if *any.format() != expected {
            return Err(WrongType::Format { expected: Box::new(expected), found: Box::new(any.format().clone()) });
        }
        if any.element() != T::TYPE {
            return Err(WrongElement { expected: T::TYPE, found: any.element() }.into());
        }
        Ok(Self::of(any))
    }
}

impl<T, F> From<Tensor<T, F>> for AnyTensor {
    fn from(tensor: Tensor<T, F>) -> Self {
        tensor.any
    }
}

impl<T, F> Clone for Tensor<T, F> {
    fn clone(&self) -> Self {
        Self { any: self.any.clone(), types: PhantomData }
    }
}

impl<T, F> PartialEq for Tensor<T, F> {
    fn eq(&self, other: &Self) -> bool {
        self.any == other.any
    }
}

impl<T, F> fmt::Debug for Tensor<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coo, Csc, Csf, Csr, Dense, Scoo};
    use super::*;

    fn matrix<F: StorageFormat>() -> Tensor<f64, F> {
        Tensor::from_entries([2, 3], [([1, 2], 3.0), ([0, 1], 1.0), ([1, 0], 2.0)]).unwrap()
    }

    #[test]
    fn formats_hold_the_same_elements() {
        let dense = vec![0.0, 1.0, 0.0, 2.0, 0.0, 3.0];
        assert_eq!(matrix::<Csr>().to_dense_vec(), dense);
        assert_eq!(matrix::<Csc>().to_dense_vec(), dense);
        assert_eq!(matrix::<Scoo<2>>().to_dense_vec(), dense);
        assert_eq!(matrix::<Csc>().values(), [2.0, 1.0, 3.0]);
        assert_eq!(matrix::<Csr>().convert::<Csc>().unwrap(), matrix::<Csc>());
        assert_eq!(matrix::<Dense<2>>().convert::<Coo<2>>().unwrap().nnz(), 3);
        assert_eq!(matrix::<Dense<2>>(), Tensor::from_vec([2, 3], dense).unwrap());
    }

    #[test]
    fn shapes_and_indices_are_checked() {
        let slices: &[(&[usize], i32)] = &[(&[0, 1], 5)];
        assert!(Tensor::<i32, Csr>::from_entries(&[2, 2][..], slices.iter().copied()).is_ok());
        assert!(Tensor::<i32, Csr>::from_entries([2, 2], [([0, 1, 1], 5)]).is_err());
        assert!(Tensor::<i32, Csr>::from_entries([2, 2, 2], [([0, 1, 1], 5)]).is_err());
        assert!(Tensor::<i32, Csf<2>>::from_entries([2, 2], [([0, 2], 5)]).is_err());
        assert!(Tensor::<i32, Csf<2>>::zeros([2]).is_err());
        assert!(Tensor::<u8, Dense<2>>::from_vec([2, 2], vec![1, 2, 3]).is_err());
    }

    #[test]
    fn values_of_one_clone_change_alone() {
        let mut a = matrix::<Csr>();
        let b = a.clone();
        a.values_mut()[0] = 9.0;
        assert_eq!((a.get(&[0, 1]), b.get(&[0, 1])), (Some(9.0), Some(1.0)));
    }

    #[test]
    fn types_are_checked_when_they_come_back() {
        let any = matrix::<Csr>().into_any();
        assert_eq!(Tensor::<f64, Csr>::try_from(any.clone()), Ok(matrix()));
        let error = Tensor::<f64, Csc>::try_from(any.clone()).unwrap_err();
        assert!(error.to_string().contains("stored as [dense, compressed], not as (i, j) ->"));
        let error = Tensor::<f32, Csr>::try_from(any).unwrap_err();
        assert_eq!(error.to_string(), "the elements are f64, not f32");
    }

    #[test]
    fn scalars_are_tensors_of_order_zero() {
        let mut alpha = Tensor::<f32, Scalar>::from(2.5);
        alpha.values_mut()[0] += 1.0;
        assert_eq!((alpha.value(), alpha.get(&[]), alpha.shape().len()), (3.5, Some(3.5), 0));
        assert_eq!(alpha.to_dense_vec(), [3.5]);
        assert_eq!(Tensor::<f32, Scalar>::zeros([]).unwrap().value(), 0.0);
    }

    #[test]
    fn functions_fill_in_row_major_order() {
        let tensor = Tensor::<i64, Dense<3>>::from_fn([2, 1, 3], |index| (100 * index[0] + index[2]) as i64).unwrap();
        assert_eq!(tensor.values(), [0, 1, 2, 100, 101, 102]);
        assert_eq!(Tensor::<i64, Dense<2>>::from_fn([0, 3], |_| 1).unwrap().nnz(), 0);
    }
}
