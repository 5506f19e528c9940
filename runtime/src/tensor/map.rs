//! Arrays of indices: an integer tensor as a tensor of one mode more, which has one entry for each element, at the index that the element
//! is.
//!
//! ```text
//! src   3  0  3              src(e, n)      level 0   dense
//! e     0  1  2        →                    level 1   crd   3  0  3
//! ```

use super::{AnyTensor, Buffer, Element, Index, IndexArray, LevelArrays, OutOfMemory, PackError, Values, tasks};
use spc_compiler::format::{Format, IndexWidth, LevelFormat};
use spc_compiler::ir::ElementType;

/// Why a tensor is no array of indices. Places and indices count from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Its elements are no integers.
    #[error("an array of indices has integers for elements, and these are {}", element.name())]
    Element {
        /// Of what type they are.
        element: ElementType,
    },
    /// An element is below zero.
    #[error("the index at {place:?} is {value}, and indices begin at 0")]
    Below {
        /// Where it is.
        place: Vec<usize>,
        /// What it is.
        value: i128,
    },
    /// An element is no index of the mode that it stands for.
    #[error("the index at {place:?} is {value}, and indices of that mode go from 0 to {}", *extent as i128 - 1)]
    Beyond {
        /// Where it is.
        place: Vec<usize>,
        /// What it is.
        value: i128,
        /// The extent of the mode.
        extent: usize,
    },
    /// The elements can't be laid out row by row.
    #[error(transparent)]
    Pack(#[from] PackError),
}

impl From<OutOfMemory> for IndexError {
    fn from(source: OutOfMemory) -> Self {
        PackError::from(source).into()
    }
}

impl AnyTensor {
    /// The tensor of one mode more that stands for this array of indices in a kernel, in the format `map`; `extent` is that of the last mode,
    /// the least that holds every index if it is not given.
    ///
    /// ```
    /// use spc::tensor::{Dense, Tensor};
    ///
    /// let src = Tensor::<i64, Dense<1>>::from_vec([3], vec![3, 0, 3])?.into_any().to_map(Some(5))?;
    /// assert_eq!(src.format().to_string(), "[dense, singleton]");
    /// assert_eq!(src.shape(), [3, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Elements that are no integers, or no indices of that mode.
    pub fn to_map(&self, extent: Option<usize>) -> Result<AnyTensor, IndexError> {
        let dense = self.convert(&Format::dense(self.order()))?;
        let element = self.element();
        macro_rules! of {
            ($($variant:ident $type:ty),*) => {
                match element {
                    $(ElementType::$variant => stored::<$type>(dense.values_of().unwrap_or_default(), self.shape(), extent),)*
                    _ => Err(IndexError::Element { element }),
                }
            };
        }
        let (coordinates, extent) = of!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)?;
        let mut entries = Buffer::<bool>::try_zeroed(coordinates.len())?;
        entries.fill(true);
        let stored = LevelFormat::SINGLETON.with_coordinates(coordinates.width());
        let format = Format::of_levels(std::iter::repeat_n(LevelFormat::DENSE, self.order()).chain([stored]));
        let mut levels = vec![LevelArrays::NONE; self.order()];
        levels.push(LevelArrays::of_coordinates(coordinates));
        let shape = self.shape().iter().copied().chain([extent]).collect();
        let values = Values::from(entries);
        let fill = ElementType::Bool.zero();
        Ok(AnyTensor::from_filled_parts_trusted(shape, format, levels, values, fill))
    }
}

/// The indices in as few bits as their mode needs, 32 or 64, and its extent.
fn stored<T: Element + Copy + Into<i128>>(
    values: &[T],
    shape: &[usize],
    extent: Option<usize>,
) -> Result<(IndexArray, usize), IndexError> {
    let ranges = tasks::ranges(values.len(), tasks::GRAIN);
    let largest = |range: std::ops::Range<usize>| values[range].iter().map(|&value| value.into()).max();
    let needed = tasks::map(&ranges, &largest).into_iter().flatten().max().unwrap_or(-1) + 1;
    let extent = extent.unwrap_or(usize::try_from(needed).unwrap_or(0));
    let is_index = |value: i128| (0..extent as i128).contains(&value);
    let wrong = |range: std::ops::Range<usize>| range.into_iter().find(|&place| !is_index(values[place].into()));
    if let Some(place) = tasks::first(&ranges, &wrong) {
        let (place, value) = (unraveled(place, shape), values[place].into());
        return Err(match value < 0 {
            true => IndexError::Below { place, value },
            false => IndexError::Beyond { place, value, extent },
        });
    }
    let coordinates = match IndexWidth::U32.maximum() >= extent.saturating_sub(1) as u64 {
        true => narrowed::<T, u32>(values)?,
        false => narrowed::<T, u64>(values)?,
    };
    Ok((coordinates, extent))
}

fn narrowed<T: Element + Copy + Into<i128>, C: Index>(values: &[T]) -> Result<IndexArray, OutOfMemory> {
    let mut coordinates = Buffer::<C>::try_zeroed(values.len())?;
    let parts = coordinates.chunks_mut(tasks::GRAIN).zip(values.chunks(tasks::GRAIN)).collect();
    tasks::each(parts, &|_, (coordinates, values): (&mut [C], &[T])| {
        for (coordinate, &value) in coordinates.iter_mut().zip(values) {
            *coordinate = C::narrowed(value.into() as usize);
        }
    });
    Ok(C::wrap(coordinates))
}

/// The index of an element in each mode.
fn unraveled(mut place: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (index, &extent) in index.iter_mut().zip(shape).rev() {
        (*index, place) = (place % extent, place / extent);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::super::{Dense, Tensor};
    use super::*;

    fn of(values: Vec<i64>) -> AnyTensor {
        Tensor::<i64, Dense<1>>::from_vec([values.len()], values).unwrap().into_any()
    }

    #[test]
    fn indices_are_stored_as_they_are_and_checked() {
        let indices = of(vec![3, 0, 3]).to_map(None).unwrap();
        assert_eq!((indices.shape(), indices.coordinates(1).unwrap().as_u32()), (&[3, 4][..], Some(&[3, 0, 3][..])));
        let entries = vec![(vec![0, 3], true), (vec![1, 0], true), (vec![2, 3], true)];
        assert_eq!(indices.entries::<bool>().unwrap(), entries);
        let beyond = of(vec![3, 0, 3]).to_map(Some(3)).unwrap_err().to_string();
        assert_eq!(beyond, "the index at [0] is 3, and indices of that mode go from 0 to 2");
        let below = of(vec![3, -1]).to_map(None).unwrap_err().to_string();
        assert_eq!(below, "the index at [1] is -1, and indices begin at 0");
        let real = Tensor::<f64, Dense<1>>::from_vec([1], vec![1.0]).unwrap().into_any();
        assert_eq!(
            real.to_map(None).unwrap_err().to_string(),
            "an array of indices has integers for elements, and these are f64"
        );
        assert_eq!(of(vec![]).to_map(None).unwrap().shape(), [0, 0]);
    }

    #[test]
    fn indices_of_long_modes_have_64_bits() {
        let indices = of(vec![1 << 40]).to_map(None).unwrap();
        assert_eq!(indices.coordinates(1).unwrap().as_u64(), Some(&[1 << 40][..]));
    }
}
