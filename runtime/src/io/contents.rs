//! What a file holds.

use spc_compiler::format::Format;
use spc_compiler::ir::Literal;

use super::value::{self, Carrier, Numbers, Value, sealed};
use super::{ReadError, ReadErrorKind};
use crate::memory;
use crate::tensor::{AnyTensor, Coordinates, Element, ElementType, Indices, LevelArrays, OutOfMemory, Values};
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

/// What a reader found, of an element type that only its values say.
pub(super) enum Loaded {
    Entries(LoadedEntries),
    Tensor(AnyTensor),
}

/// A list of entries, and what the others are.
pub(super) struct LoadedEntries {
    pub(super) shape: Vec<usize>,
    pub(super) shape_is_stated: bool,
    pub(super) indices: Vec<Indices>,
    pub(super) values: Values,
    /// One value, if the file states it.
    pub(super) fill: Option<Values>,
}

impl Loaded {
    /// The entries of a file that states its shape.
    pub(super) fn entries(shape: Vec<usize>, indices: Vec<Indices>, values: Values) -> Self {
        Loaded::Entries(LoadedEntries { shape, shape_is_stated: true, indices, values, fill: None })
    }

    /// The same, of another element type.
    ///
    /// # Errors
    ///
    /// [`ReadErrorKind::Value`]: a value that the type does not hold.
    pub(super) fn retyped(self, element: ElementType) -> Result<Self, ReadError> {
        Ok(match self {
            Loaded::Entries(LoadedEntries { shape, shape_is_stated, indices, values, fill }) => {
                let values = value::retyped(values, element)?;
                let fill = fill.map(|fill| value::retyped(fill, element)).transpose()?;
                Loaded::Entries(LoadedEntries { shape, shape_is_stated, indices, values, fill })
            }
            Loaded::Tensor(tensor) => Loaded::Tensor(retyped(tensor, element)?),
        })
    }
}

impl<T: Value> From<Contents<T>> for Loaded {
    fn from(contents: Contents<T>) -> Self {
        match contents {
            Contents::Tensor(tensor) => Loaded::Tensor(tensor),
            Contents::Entries(Filled { entries, fill }) => {
                let Coordinates { shape, shape_is_stated, indices, values } = entries;
                let fill = fill.map(|fill| T::wrap(vec![fill]));
                Loaded::Entries(LoadedEntries { shape, shape_is_stated, indices, values: T::wrap(values), fill })
            }
        }
    }
}

impl<T: Value> From<Loaded> for Contents<T> {
    /// What was [retyped](Loaded::retyped) to `T`.
    fn from(loaded: Loaded) -> Self {
        match loaded {
            Loaded::Tensor(tensor) => Contents::Tensor(tensor),
            Loaded::Entries(LoadedEntries { shape, shape_is_stated, indices, values, fill }) => {
                let values = values.into_buffer::<T>().unwrap_or_default().into_vec();
                let fill = fill.and_then(|fill| fill.as_slice::<T>()?.first().copied());
                let entries = Coordinates { shape, shape_is_stated, indices, values };
                Contents::Entries(Filled { entries, fill })
            }
        }
    }
}

/// Entries of any element type, to be written.
pub(super) struct Listed<'a> {
    pub(super) shape: &'a [usize],
    pub(super) shape_is_stated: bool,
    pub(super) indices: &'a [Indices],
    pub(super) values: &'a dyn Numbers,
    /// What the others are, if that is said.
    pub(super) fill: Option<&'a dyn Numbers>,
}

impl<'a> Listed<'a> {
    pub(super) fn of<T: Value>(entries: &'a Coordinates<T>, fill: Option<&'a dyn Numbers>) -> Self {
        let Coordinates { shape, shape_is_stated, indices, values } = entries;
        Self { shape, shape_is_stated: *shape_is_stated, indices, values, fill }
    }

    pub(super) fn element(&self) -> ElementType {
        self.values.element()
    }

    /// Whether each entry is `true`, and what has none is `false`: indices alone say that.
    pub(super) fn is_pattern(&self) -> bool {
        let are_true = || (0..self.values.count()).all(|place| !self.values.is_absent(place));
        self.element() == ElementType::Bool && self.fill.is_none_or(|fill| fill.is_absent(0)) && are_true()
    }
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

/// The values of a pattern: 1, or `true`.
pub(super) fn ones(count: usize, element: ElementType) -> Result<Values, OutOfMemory> {
    fn of<T: Value>(count: usize) -> Result<Values, OutOfMemory> {
        let one = T::Carrier::from_integer(1, T::TYPE).map_or(T::ZERO, T::of_carrier);
        Ok(T::wrap(memory::try_collected(std::iter::repeat_n(one, count))?))
    }
    with_element!(element, |T| of::<T>(count))
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

/// The tensor with elements of another type.
fn retyped(tensor: AnyTensor, element: ElementType) -> Result<AnyTensor, ReadError> {
    if tensor.element() == element {
        return Ok(tensor);
    }
    let values = value::retyped(tensor.values().clone(), element)?;
    let fill = retyped_fill(tensor.fill(), tensor.element(), element)?;
    let (shape, format, levels) = (tensor.shape().to_vec(), tensor.format().clone(), tensor.levels().to_vec());
    AnyTensor::from_filled_parts(shape, format, levels, values, fill).map_err(ReadError::of_arrays)
}

/// A fill value that was carried; none where it is no real number.
pub(super) fn uncarried_fill<C: Carrier>(fill: C, element: ElementType) -> Result<Option<Literal>, ReadError> {
    let fill = value::uncarried(vec![fill], element)?;
    Ok(with_element!(element, |T| fill.as_slice::<T>().and_then(|fill| fill.first()?.literal())))
}

/// The same of a fill value.
pub(super) fn retyped_fill(fill: Literal, from: ElementType, element: ElementType) -> Result<Literal, ReadError> {
    let fill = with_element!(from, |F| F::wrap(Vec::from_iter(F::from_literal(fill))));
    let fill = value::retyped(fill, element)?;
    let fill = with_element!(element, |T| fill.as_slice::<T>().and_then(|fill| fill.first()?.literal()));
    Ok(fill.unwrap_or(element.zero()))
}
