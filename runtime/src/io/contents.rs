//! What a file holds.

use spc_compiler::format::Format;

use super::value::{Carrier, Value, sealed};
use super::{ReadError, ReadErrorKind};
use crate::tensor::{AnyTensor, Coordinates, ElementType, LevelArrays, OutOfMemory, Values};
use crate::with_element;
use std::any::Any;

/// A list of entries, and what the others are.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled<T> {
    /// The entries.
    pub entries: Coordinates<T>,
    /// What stands for entries that are missing, if the file says so.
    pub fill: Option<T>,
}

/// What a file holds: a list of entries, or a tensor with its format.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents<T> {
    /// A list of entries: `.tns`, and `coordinate` in `.mtx`.
    Entries(Filled<T>),
    /// A tensor of that element type: `.spct`; dense, `.npy`, and `array` in `.mtx`.
    Tensor(AnyTensor),
}

impl<T: Value> Filled<T> {
    /// The entries, where others are zero or whatever the reader takes them for.
    pub(super) fn of_zeros(self) -> Result<Coordinates<T>, ReadError> {
        match self.fill {
            Some(fill) if fill != T::ZERO => Err(has_fill(&fill.to_string())),
            _ => Ok(self.entries),
        }
    }
}

impl<C: Carrier> Contents<C> {
    /// As elements of a type that was carried.
    pub(super) fn of_carriers<T: sealed::Value<Carrier = C>>(self) -> Result<Contents<T>, ReadError> {
        match self {
            Contents::Entries(Filled { entries, fill }) => {
                let Coordinates { shape, shape_is_stated, indices, values } = entries;
                let values = T::of_carriers(values)?;
                let entries = Coordinates { shape, shape_is_stated, indices, values };
                Ok(Contents::Entries(Filled { entries, fill: fill.map(T::of_carrier) }))
            }
            Contents::Tensor(tensor) if tensor.element() == T::TYPE => Ok(Contents::Tensor(tensor)),
            Contents::Tensor(tensor) => {
                let carriers = tensor.values().clone().into_buffer::<C>().unwrap_or_default();
                let values = T::of_carriers(carriers.into_vec())?;
                dense(tensor.shape().to_vec(), T::wrap(values)).map(Contents::Tensor)
            }
        }
    }
}

impl<T: Value> Contents<T> {
    /// The entries in a list, where others are zero. Of what is stored only because the format has a place for every coordinate,
    /// that is what is not zero.
    ///
    /// # Errors
    ///
    /// [`ReadErrorKind::NotSupported`] if missing entries are not zero, [`ReadErrorKind::Memory`].
    pub fn into_coordinates(self) -> Result<Coordinates<T>, ReadError> {
        match self {
            Contents::Entries(filled) => filled.of_zeros(),
            Contents::Tensor(tensor) if !tensor.fill().is_zero() && !tensor.format().is_dense() => {
                Err(has_fill(&tensor.fill().to_string()))
            }
            Contents::Tensor(tensor) => Ok(present_any(&tensor, T::ZERO)?),
        }
    }

    /// The entries in a list, with what the others are: zero, of a dense tensor.
    ///
    /// # Errors
    ///
    /// [`ReadErrorKind::Memory`].
    pub fn into_filled(self) -> Result<Filled<T>, ReadError> {
        match self {
            Contents::Entries(filled) => Ok(filled),
            Contents::Tensor(tensor) => {
                let own = T::from_literal(tensor.fill()).filter(|_| !tensor.format().is_dense());
                let fill = own.unwrap_or(T::ZERO);
                Ok(Filled { entries: present_any(&tensor, fill)?, fill: Some(fill) })
            }
        }
    }

    /// The extent of each mode; for a list of entries perhaps the least that holds them.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        match self {
            Contents::Entries(filled) => &filled.entries.shape,
            Contents::Tensor(tensor) => tensor.shape(),
        }
    }
}

fn has_fill(fill: &str) -> ReadError {
    let message = format!("the fill value is {fill}, but here it has to be zero");
    ReadError::new(ReadErrorKind::NotSupported, message + ": `io::TensorFile` reads files with their fill values")
}

/// Refuses a shape that is not the one that the caller stated.
pub(super) fn same_shape(found: &[usize], stated: Option<&[usize]>) -> Result<(), ReadError> {
    match stated {
        Some(stated) if stated != found => {
            let shown = |shape: &[usize]| shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
            let (found, stated) = (shown(found), shown(stated));
            let message = format!("the file has shape {found}, but {stated} is asked for: state the file's, or none");
            Err(ReadError::new(ReadErrorKind::Shape, message))
        }
        _ => Ok(()),
    }
}

/// A dense tensor, its last mode contiguous.
pub(super) fn dense(shape: Vec<usize>, values: Values) -> Result<AnyTensor, ReadError> {
    let format = Format::dense(shape.len());
    let levels = vec![LevelArrays::NONE; shape.len()];
    AnyTensor::from_parts(shape, format, levels, values).map_err(ReadError::of_arrays)
}

/// As [`present`], which is compiled once in this crate and not again in each that reads.
fn present_any<T: Value>(tensor: &AnyTensor, missing: T) -> Result<Coordinates<T>, OutOfMemory> {
    fn of(element: ElementType, tensor: &AnyTensor, missing: &dyn Any) -> Result<Box<dyn Any>, OutOfMemory> {
        with_element!(element, |U| {
            let missing: &U = missing.downcast_ref().expect(SAME_TYPE);
            Ok(Box::new(present(tensor, *missing)?))
        })
    }
    Ok(*of(T::TYPE, tensor, &missing)?.downcast().expect(SAME_TYPE))
}

/// Why what is of an element type is found to be.
pub(super) const SAME_TYPE: &str = "it is of the element type that it is asked for";

/// The entries of a tensor without those that the last level stores only because it has a place for every coordinate, and whose
/// value is `missing`.
pub(super) fn present<T: Value>(tensor: &AnyTensor, missing: T) -> Result<Coordinates<T>, OutOfMemory> {
    let mut entries = tensor.try_to_coordinates::<T>()?;
    if tensor.format().levels.last().is_some_and(|last| last.format.kind.fills) {
        entries.remove(&missing);
    }
    Ok(entries)
}
