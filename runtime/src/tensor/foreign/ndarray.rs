//! Arrays of `ndarray`.

use super::{gaps, input};
use crate::tensor::view::{has_strides, strides_of, wrong_strides};
use crate::tensor::{AnyView, Element, InvalidTensor, LevelArrays, StorageFormat, Tensor, View};
use ndarray::{Array, ArrayBase, ArrayView, Data, Dimension, IxDyn, ShapeBuilder};

impl<'a, T: Element, S: Data<Elem = T>, D: Dimension> TryFrom<&'a ArrayBase<S, D>> for AnyView<'a> {
    type Error = InvalidTensor;

    fn try_from(array: &'a ArrayBase<S, D>) -> Result<Self, InvalidTensor> {
        Self::strided(array.shape(), array.strides(), array.as_slice_memory_order().unwrap_or_default())
            .map_err(|error| gaps(array.shape(), array.strides(), error))
    }
}

impl<'a, T: Element, F: StorageFormat, S: Data<Elem = T>, D: Dimension> TryFrom<&'a ArrayBase<S, D>>
    for View<'a, T, F>
{
    type Error = InvalidTensor;

    fn try_from(array: &'a ArrayBase<S, D>) -> Result<Self, InvalidTensor> {
        Self::strided(array.shape(), array.strides(), array.as_slice_memory_order().unwrap_or_default())
            .map_err(|error| gaps(array.shape(), array.strides(), error))
    }
}

/// A view that lives as long as the array that the argument is a view of.
impl<'a, T: Element, F: StorageFormat, D: Dimension> TryFrom<ArrayView<'a, T, D>> for View<'a, T, F> {
    type Error = InvalidTensor;

    fn try_from(array: ArrayView<'a, T, D>) -> Result<Self, InvalidTensor> {
        Self::strided(array.shape(), array.strides(), array.to_slice_memory_order().unwrap_or_default())
            .map_err(|error| gaps(array.shape(), array.strides(), error))
    }
}

/// A tensor of an array: without a copy where its elements lie as the format says and without gaps, else with one.
impl<T: Element, F: StorageFormat, D: Dimension> TryFrom<Array<T, D>> for Tensor<T, F> {
    type Error = InvalidTensor;

    fn try_from(array: Array<T, D>) -> Result<Self, InvalidTensor> {
        let format = F::format();
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        let order = format.mode_order().filter(|order| format.is_dense() && order.len() == shape.len());
        let Some(order) = order else {
            return Err(wrong_strides(&shape, &strides, Some(&format)));
        };
        let values = match has_strides(&format, &shape, &strides) && array.as_slice_memory_order().is_some() {
            true => {
                let count = array.len();
                let (mut values, offset) = array.into_raw_vec_and_offset();
                values.drain(..offset.unwrap_or(0));
                values.truncate(count);
                values
            }
            false => array.into_dyn().permuted_axes(IxDyn(&order)).iter().copied().collect(),
        };
        let levels = vec![LevelArrays::NONE; shape.len()];
        Ok(Self::of(crate::tensor::AnyTensor::from_parts(shape, format, levels, T::wrap(values))?))
    }
}

/// The elements of a dense tensor, where they lie.
impl<'a, T: Element, F: StorageFormat, D: Dimension> TryFrom<&'a Tensor<T, F>> for ArrayView<'a, T, D> {
    type Error = InvalidTensor;

    fn try_from(tensor: &'a Tensor<T, F>) -> Result<Self, InvalidTensor> {
        let strides = strides_of(tensor.as_any())?;
        let shape = IxDyn(tensor.shape()).strides(IxDyn(&strides));
        let view = ArrayView::from_shape(shape, tensor.values()).and_then(ArrayView::into_dimensionality);
        view.map_err(|_| other_order::<D>(tensor.shape()))
    }
}

/// The elements of a dense tensor as an array of its own: in the vector that the tensor has, where it has it alone.
impl<T: Element, F: StorageFormat, D: Dimension> TryFrom<Tensor<T, F>> for Array<T, D> {
    type Error = InvalidTensor;

    fn try_from(tensor: Tensor<T, F>) -> Result<Self, InvalidTensor> {
        let (strides, shape) = (strides_of(tensor.as_any())?, tensor.shape().to_vec());
        let array = Array::from_shape_vec(IxDyn(&shape).strides(IxDyn(&strides)), tensor.into_values());
        array.and_then(Array::into_dimensionality).map_err(|_| other_order::<D>(&shape))
    }
}

fn other_order<D: Dimension>(shape: &[usize]) -> InvalidTensor {
    let format = format!("an array of {} dimensions", D::NDIM.unwrap_or_default());
    InvalidTensor::Order { format, order: D::NDIM.unwrap_or_default(), modes: shape.len() }
}

input! { [T: Element, S: Data<Elem = T>, D: Dimension] ArrayBase<S, D>, where []; }
