//! The tensor of a decomposition: what is refused, and its entries as `f64`.

use super::DecomposeError;
use crate::tensor::{AnyTensor, Coordinates, Element, InvalidTensor, OutOfMemory};
use crate::with_element;

/// Refuses tensors that have no decomposition: those of another order, with elements that are not real numbers, with a fill value but zero, or with
/// a value that is not finite.
///
/// # Errors
/// What is wrong, with the place of the first such value.
pub(super) fn checked(x: &AnyTensor, least: usize, most: usize) -> Result<(), DecomposeError> {
    if !(least..=most).contains(&x.order()) {
        return Err(DecomposeError::Order { found: x.order(), least, most });
    }
    if x.element().is_complex() {
        return Err(DecomposeError::Element(x.element()));
    }
    if !x.fill().is_zero() {
        return Err(DecomposeError::Fill(x.fill().to_string()));
    }
    match first_value(x, |value| !value.is_finite()) {
        Some((index, value)) => Err(DecomposeError::NotFinite { index, value }),
        None => Ok(()),
    }
}

/// Refuses a tensor with a value below zero, for a method that takes none.
///
/// # Errors
/// The place of the first such value.
pub(super) fn not_negative(x: &AnyTensor, method: &'static str) -> Result<(), DecomposeError> {
    match first_value(x, |value| value < 0.0) {
        Some((index, value)) => Err(DecomposeError::Negative { index, value, method }),
        None => Ok(()),
    }
}

/// Refuses a tensor with a value outside of what a loss is defined for.
///
/// # Errors
/// The place of the first such value.
pub(super) fn within(x: &AnyTensor, (least, most): (f64, f64), loss: &'static str) -> Result<(), DecomposeError> {
    match first_value(x, |value| value < least || value > most) {
        Some((index, value)) => Err(DecomposeError::Domain { index, value, loss, least, most }),
        None => Ok(()),
    }
}

/// The first stored entry whose value is such: where it is, and the value.
pub(super) fn first_value(x: &AnyTensor, is_such: impl Fn(f64) -> bool) -> Option<(Vec<usize>, f64)> {
    let values = x.values();
    if !(0..values.len()).any(|position| is_such(values.get_f64(position))) {
        return None;
    }
    let mut first = None;
    x.for_each_position(|index, position| {
        let value = values.get_f64(position);
        if first.is_none() && is_such(value) {
            first = Some((index.to_vec(), value));
        }
    });
    first
}

/// The entries of a tensor that was [checked], as `f64`, without zeros.
///
/// # Errors
/// When there is not enough memory.
pub(super) fn entries(x: &AnyTensor) -> Result<Coordinates<f64>, DecomposeError> {
    fn of<T: Element>(x: &AnyTensor) -> Result<Coordinates<f64>, OutOfMemory> {
        let Coordinates { shape, shape_is_stated, indices, values } = x.try_to_coordinates::<T>()?;
        let values = crate::memory::try_collected(values.into_iter().map(T::to_f64))?;
        Ok(Coordinates { shape, shape_is_stated, indices, values })
    }
    let mut entries = with_element!(x.element(), |T| of::<T>(x)).map_err(InvalidTensor::Memory)?;
    entries.remove(&0.0);
    Ok(entries)
}

/// Entries as `f64`, none zero, the largest between 1 and 2: times a power of two, so that no square leaves the range of `f64`.
#[derive(Debug, Clone)]
pub(super) struct Scaled {
    /// The entries.
    pub entries: Coordinates<f64>,
    /// What they were multiplied by.
    pub scale: f64,
    /// The root of the sum of their squares.
    pub norm: f64,
}

/// The entries of a tensor that was [checked], scaled.
///
/// # Errors
/// When there is not enough memory.
pub(super) fn scaled(x: &AnyTensor) -> Result<Scaled, DecomposeError> {
    scaled_by(entries(x)?, Ok)
}

/// The power of two that brings a largest absolute value to between 1 and 2, as far as its inverse is a normal number too; 1 of zero.
pub(super) fn scale_of(largest: f64) -> f64 {
    if largest > 0.0 { (-largest.log2().floor()).clamp(-1022.0, 1022.0).exp2() } else { 1.0 }
}

/// The largest absolute value.
pub(super) fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// The largest absolute value of a tensor.
pub(super) fn largest_of(x: &AnyTensor) -> f64 {
    let values = x.values();
    largest((0..values.len()).map(|position| values.get_f64(position)))
}

/// Some entries, scaled for the largest of all, which `of_all` gives for the largest of these.
pub(super) fn scaled_by(
    mut entries: Coordinates<f64>,
    of_all: impl FnOnce(f64) -> Result<f64, DecomposeError>,
) -> Result<Scaled, DecomposeError> {
    let scale = scale_of(of_all(largest(entries.values.iter().copied()))?);
    entries.values.iter_mut().for_each(|value| *value *= scale);
    // Sums of parts lose less than one long sum.
    let parts = entries.values.chunks(1024).map(|part| part.iter().map(|value| value * value).sum::<f64>());
    let norm = parts.sum::<f64>().sqrt();
    Ok(Scaled { entries, scale, norm })
}
