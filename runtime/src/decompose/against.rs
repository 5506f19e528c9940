//! Models and tensors: what they are to each other, and models written out.

use super::entries::{checked, largest_of, scale_of};
use super::{DecomposeError, Factor, show};
use crate::memory;
use crate::tensor::{AnyTensor, LevelArrays, Values};
use spc_compiler::format::Format;

/// A tensor against a model, both times a power of two, so that no square leaves the range of `f64`.
pub(super) struct Against {
    scale: f64,
    /// ‖X‖².
    square: f64,
    /// ⟨X, M⟩.
    inner: f64,
}

impl Against {
    /// Visits each stored entry of a tensor of real numbers; `model` gives the model's element at an index.
    pub(super) fn of(
        x: &AnyTensor,
        shape: &[usize],
        model: &mut dyn FnMut(&[usize]) -> f64,
    ) -> Result<Self, DecomposeError> {
        let x = &*x.unfolded()?;
        checked(x, 1, usize::MAX)?;
        same_shape(shape, x.shape())?;
        let scale = scale_of(largest_of(x));
        let mut found = Self { scale, square: 0.0, inner: 0.0 };
        x.for_each_position(|index, position| {
            let value = x.values().get_f64(position) * scale;
            if value != 0.0 {
                found.square += value * value;
                found.inner += value * (model(index) * scale);
            }
        });
        Ok(found)
    }

    /// ⟨X, M⟩.
    pub(super) fn inner(&self) -> f64 {
        self.inner / self.scale / self.scale
    }

    /// ‖X - M‖, with the norm of the model.
    pub(super) fn residual(&self, norm: f64) -> f64 {
        self.scaled(norm) / self.scale
    }

    fn scaled(&self, norm: f64) -> f64 {
        let norm = norm * self.scale;
        (self.square + norm * norm - 2.0 * self.inner).max(0.0).sqrt()
    }

    /// 1 - ‖X - M‖ / ‖X‖.
    pub(super) fn fit(&self, norm: f64) -> f64 {
        match (self.square, self.scaled(norm)) {
            (0.0, 0.0) => 1.0,
            (square, residual) => 1.0 - residual / square.sqrt(),
        }
    }
}

pub(super) fn same_shape(model: &[usize], other: &[usize]) -> Result<(), DecomposeError> {
    if model == other {
        return Ok(());
    }
    let (model, other) = (show::shape(model), show::shape(other));
    Err(DecomposeError::Model(format!("the model has shape {model}, but what it is compared with has {other}")))
}

/// Refuses a factor with a number that is not finite.
pub(super) fn finite_matrix(factor: &Factor, mode: usize) -> Result<(), DecomposeError> {
    let Some(place) = factor.values().iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let columns = factor.shape()[1];
    let (mode, row, column) = (mode + 1, place / columns + 1, place % columns + 1);
    let value = factor.values()[place];
    let message = format!("the factor of mode {mode} has {value} at ({row}, {column}): models have finite numbers");
    Err(DecomposeError::Model(message))
}

/// Zeros for all elements of a shape.
pub(super) fn room(shape: &[usize]) -> Result<Vec<f64>, DecomposeError> {
    let count = shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
    let room = memory::try_zeroed(count.unwrap_or(usize::MAX / size_of::<f64>()));
    room.map_err(|_| {
        let bytes = shape.iter().map(|&extent| extent as f64).product::<f64>() * size_of::<f64>() as f64;
        let shape = show::shape(shape);
        let message = format!(
            "all elements of the model, {shape}, take {bytes:.3e} bytes, and there is not enough memory here for them: \
             ask for single elements"
        );
        DecomposeError::Model(message)
    })
}

/// A dense tensor of these elements, row after row.
pub(super) fn dense(shape: Vec<usize>, values: Vec<f64>) -> Result<AnyTensor, DecomposeError> {
    let order = shape.len();
    Ok(AnyTensor::from_parts(shape, Format::dense(order), vec![LevelArrays::NONE; order], Values::from(values))?)
}
