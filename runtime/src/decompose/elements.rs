//! Numbers as the elements that kernels compute with, and back. Models are of `f64`; factors in kernels are of `f32` or `f64`.

use super::DecomposeError;
use crate::tensor::{AnyTensor, Element, ElementType, LevelArrays, Values};
use crate::with_element;
use spc_compiler::format::Format;

/// The elements of factors in kernels: those that are asked for, else `f32` for a tensor of `f32` and `f64` for all others.
///
/// # Errors
/// When something else is asked for.
pub(super) fn kernel_element(own: ElementType, asked: Option<ElementType>) -> Result<ElementType, DecomposeError> {
    match asked {
        Some(ElementType::F32 | ElementType::F64) => Ok(asked.unwrap_or(ElementType::F64)),
        Some(other) => {
            let name = other.name();
            Err(DecomposeError::Option(format!("factors are of f64 or f32, and not of {name}")))
        }
        None if own == ElementType::F32 => Ok(ElementType::F32),
        None => Ok(ElementType::F64),
    }
}

/// A dense tensor of numbers, row after row, as elements of a type.
pub(super) fn dense(shape: &[usize], numbers: &[f64], element: ElementType) -> Result<AnyTensor, DecomposeError> {
    let mut tensor = AnyTensor::zeros(shape.to_vec(), Format::dense(shape.len()), element)?;
    set(&mut tensor, numbers);
    Ok(tensor)
}

/// Numbers as elements of a type.
pub(super) fn values(numbers: &[f64], element: ElementType) -> Values {
    match element {
        ElementType::F32 => numbers.iter().map(|&number| number as f32).collect::<Vec<_>>().into(),
        _ => numbers.to_vec().into(),
    }
}

/// The same entries as elements of another type, `f32` or `f64`.
pub(super) fn of_element(x: &AnyTensor, element: ElementType) -> Result<AnyTensor, DecomposeError> {
    if x.element() == element {
        return Ok(x.clone());
    }
    Ok(x.with_values(values(&numbers(x), element))?.with_fill(element.zero()))
}

/// A dense matrix of zeros for each of these numbers of rows.
pub(super) fn zeros(rows: &[usize], columns: usize, element: ElementType) -> Result<Vec<AnyTensor>, DecomposeError> {
    let one = |&rows: &usize| AnyTensor::zeros(vec![rows, columns], Format::dense(2), element);
    Ok(rows.iter().map(one).collect::<Result<_, _>>()?)
}

/// Writes numbers into a dense tensor that has as many elements.
pub(super) fn set(tensor: &mut AnyTensor, numbers: &[f64]) {
    fn convert<T: Element>(values: &mut [T], numbers: &[f64]) {
        values.iter_mut().zip(numbers).for_each(|(value, number)| *value = T::from_c64((*number).into()));
    }
    with_element!(tensor.element(), |T| if let Some(values) = tensor.values_mut::<T>() {
        convert(values, numbers);
    });
}

/// The stored values of a tensor.
pub(super) fn numbers(tensor: &AnyTensor) -> Vec<f64> {
    with_element!(tensor.element(), |T| tensor
        .values_of::<T>()
        .unwrap_or_default()
        .iter()
        .map(|value| value.to_f64())
        .collect())
}

/// A tensor of arrays that belong together.
pub(super) fn of_levels(shape: Vec<usize>, format: Format, levels: Vec<LevelArrays>, of: &AnyTensor) -> AnyTensor {
    AnyTensor::from_parts_trusted(shape, format, levels, of.values().clone())
}
