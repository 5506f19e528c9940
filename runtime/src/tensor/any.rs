//! Tensors whose format and element type are known at run time.

use super::kept::Kept;
use super::layout::Layout;
use super::{Element, IndexArray, InvalidTensor, LevelArrays, Values};
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};
use std::fmt;

/// What a tensor is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Parts {
    /// The extent of each mode.
    pub shape: Vec<usize>,
    /// How it is stored.
    pub format: Format,
    /// The arrays of each level, outermost first.
    pub levels: Vec<LevelArrays>,
    /// A value for each position of the last level; one for a tensor of order 0.
    pub values: Values,
}

/// A tensor of any format and element type. It is **valid by construction**: positions ascend from 0 to the number of
/// coordinates, coordinates are below the extent of their mode and in the order that the format says, no two entries
/// have the same index in each mode, and there is a value for each. Kernels rely on that.
///
/// Index arrays and values are shared between clones; a clone that changes its values makes a copy of them then.
///
/// ```
/// use spc::tensor::{AnyTensor, LevelArrays, Values};
/// use spc_compiler::format::{Format, LevelFormat};
///
/// // | 0 2 0 |
/// // | 3 0 4 |
/// let csr = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
/// let columns = LevelArrays::of(vec![0u32, 1, 3], vec![1u32, 0, 2]);
/// let levels = vec![LevelArrays::NONE, columns];
/// let tensor = AnyTensor::from_parts(vec![2, 3], csr, levels, Values::from(vec![2.0, 3.0, 4.0]))?;
/// assert_eq!(tensor.nnz(), 3);
/// assert_eq!(tensor.entries::<f64>()?[2], (vec![1, 2], 4.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct AnyTensor {
    pub(super) shape: Vec<usize>,
    pub(super) format: Format,
    pub(super) levels: Vec<LevelArrays>,
    pub(super) values: Values,
    pub(super) fill: Literal,
    pub(super) kept: Kept<AnyTensor>,
}

impl AnyTensor {
    /// A tensor of the given arrays, once they are all checked, in parallel and in one pass over each.
    ///
    /// # Errors
    /// The first thing that is wrong with them.
    pub fn from_parts(
        shape: Vec<usize>,
        format: Format,
        levels: Vec<LevelArrays>,
        values: Values,
    ) -> Result<Self, InvalidTensor> {
        let fill = values.element().zero();
        Self::from_filled_parts(shape, format, levels, values, fill)
    }

    /// The same with a fill value, which stands where there is no entry.
    ///
    /// # Errors
    /// As [`from_parts`](Self::from_parts).
    ///
    /// # Panics
    /// When `fill` is of another type than the values.
    pub fn from_filled_parts(
        shape: Vec<usize>,
        format: Format,
        levels: Vec<LevelArrays>,
        values: Values,
        fill: Literal,
    ) -> Result<Self, InvalidTensor> {
        assert_eq!(fill.element(), values.element().computed(), "the fill value is an element");
        let tensor = Self { shape, format, levels, values, fill, kept: Kept::default() };
        tensor.validate()?;
        Ok(tensor)
    }

    /// The same without a look at the arrays, for one who knows that [`from_parts`](Self::from_parts) took arrays with the same
    /// elements: a binding that is called with one matrix again and again.
    ///
    /// # Safety
    /// `from_parts` would accept the parts.
    pub unsafe fn from_known_parts(
        shape: Vec<usize>,
        format: Format,
        levels: Vec<LevelArrays>,
        values: Values,
    ) -> Self {
        Self::from_parts_trusted(shape, format, levels, values)
    }

    /// A tensor of arrays that are right because of how they came about: checked in debug builds only.
    pub(crate) fn from_parts_trusted(
        shape: Vec<usize>,
        format: Format,
        levels: Vec<LevelArrays>,
        values: Values,
    ) -> Self {
        let fill = values.element().zero();
        Self::from_filled_parts_trusted(shape, format, levels, values, fill)
    }

    /// The same with a fill value, which stands where there is no entry.
    pub(crate) fn from_filled_parts_trusted(
        shape: Vec<usize>,
        format: Format,
        levels: Vec<LevelArrays>,
        values: Values,
        fill: Literal,
    ) -> Self {
        let tensor = Self { shape, format, levels, values, fill, kept: Kept::default() };
        if cfg!(debug_assertions)
            && let Err(error) = tensor.validate()
        {
            panic!("{tensor:?} is not valid: {error}");
        }
        tensor
    }

    /// A tensor of zeros in a format all of whose levels are dense.
    ///
    /// # Errors
    /// When a level is not dense, the format does not serve the shape, or there is not enough memory.
    pub fn zeros(shape: Vec<usize>, format: Format, element: ElementType) -> Result<Self, InvalidTensor> {
        let layout = Layout::new(&format, &shape)?;
        if !format.is_dense() {
            let reason = "zeros fill dense levels only; pack no entries instead".to_owned();
            return Err(InvalidTensor::Unsupported { format: format.to_string(), reason });
        }
        let mut count = 1usize;
        for (level, &extent) in layout.extents.iter().enumerate() {
            count = count.checked_mul(extent).ok_or(InvalidTensor::TooLarge { level })?;
        }
        let values = Values::try_zeroed(element, count)?;
        let levels = vec![LevelArrays::NONE; format.levels.len()];
        Ok(Self { shape, format, levels, values, fill: element.zero(), kept: Kept::default() })
    }

    /// What an entry is that is not stored: zero, unless the tensor was made otherwise.
    pub fn fill(&self) -> Literal {
        self.fill
    }

    /// The same stored entries, with another value for those that are not stored.
    ///
    /// # Panics
    /// When the value is of another element type.
    #[must_use]
    pub fn with_fill(mut self, fill: Literal) -> Self {
        assert_eq!(fill.element(), self.element().computed(), "the fill value is an element");
        self.fill = fill;
        self.kept.forget();
        self
    }

    /// The extent of each mode.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of modes.
    pub fn order(&self) -> usize {
        self.shape.len()
    }

    /// How it is stored.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The type of its elements.
    pub fn element(&self) -> ElementType {
        self.values.element()
    }

    /// The arrays of each level, outermost first.
    pub fn levels(&self) -> &[LevelArrays] {
        &self.levels
    }

    /// The position array of a level, where it has one.
    pub fn positions(&self, level: usize) -> Option<&IndexArray> {
        self.levels.get(level)?.positions()
    }

    /// The coordinate array of a level, where it has one.
    pub fn coordinates(&self, level: usize) -> Option<&IndexArray> {
        self.levels.get(level)?.coordinates()
    }

    /// A value for each position of the last level.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The values as a slice.
    pub fn values_of<T: Element>(&self) -> Option<&[T]> {
        self.values.as_slice()
    }

    /// The values as a slice, to be changed; any value is valid. Copies them where they are shared.
    pub fn values_mut<T: Element>(&mut self) -> Option<&mut [T]> {
        self.kept.forget();
        self.values.as_mut_slice()
    }

    /// The values as bytes, to be changed; nothing of `bool`. Copies them where they are shared.
    #[cfg(feature = "compile")]
    pub(crate) fn value_bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.kept.forget();
        self.values.as_bytes_mut()
    }

    /// The same structure with other values.
    ///
    /// # Errors
    /// When they are not as many.
    pub fn with_values(&self, values: Values) -> Result<Self, InvalidTensor> {
        if values.len() != self.values.len() {
            return Err(InvalidTensor::ValueCount { expected: self.values.len(), found: values.len() });
        }
        Ok(Self {
            shape: self.shape.clone(),
            format: self.format.clone(),
            levels: self.levels.clone(),
            values,
            fill: self.fill,
            kept: Kept::default(),
        })
    }

    /// The values of a dense tensor, which has extents of 0 when they are taken.
    pub(crate) fn take_dense(&mut self) -> Values {
        self.shape.fill(0);
        self.kept.forget();
        let none = Values::none(self.element());
        std::mem::replace(&mut self.values, none)
    }

    /// Other values for a tensor that is nothing but a value at each index, as many as these extents say.
    pub(crate) fn put_dense(&mut self, shape: impl Iterator<Item = usize>, values: Values, fill: Literal) {
        self.shape.iter_mut().zip(shape).for_each(|(own, extent)| *own = extent);
        self.kept.forget();
        (self.values, self.fill) = (values, fill);
        debug_assert!(self.validate().is_ok(), "{self:?} is not valid");
    }

    /// What it is made of.
    pub fn into_parts(self) -> Parts {
        let Self { shape, format, levels, values, .. } = self;
        Parts { shape, format, levels, values }
    }

    /// The number of stored entries, explicit zeros and all elements of a dense tensor included. Padding and empty slots are no
    /// entries: where blocks, bands or dense levels below others have places without an entry, those hold the fill value.
    pub fn nnz(&self) -> usize {
        if !self.is_plain() {
            return self.walk().count();
        }
        let are_entries = self.level_layout().stores_modes() && !self.format.pads();
        if are_entries { self.values.len() } else { self.count_entries() }
    }

    /// Whether each position of each level is one entry, or padding of a map, or the parent of such.
    pub(super) fn is_plain(&self) -> bool {
        self.format.levels.iter().all(|level| super::layout::follows(level.format.kind))
    }

    /// The number of positions of a level: how many parents the next level has. One for `depth` 0, which is before all levels.
    pub fn position_count(&self, depth: usize) -> usize {
        let layout = self.level_layout();
        let mut count = 1;
        for (level, storage) in self.levels.iter().enumerate().take(depth) {
            let (format, extent) = (layout.levels[level], layout.extents[level]);
            count = storage.position_count(format, count, extent).expect("a tensor's positions have been counted");
        }
        count
    }

    /// How many coordinates are possible at each level.
    pub(crate) fn level_extents(&self) -> Vec<usize> {
        self.level_layout().extents
    }

    /// The bytes of each array.
    #[cfg(feature = "compile")]
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &[u8]> {
        let levels = self.levels.iter().flat_map(LevelArrays::iter);
        levels.map(IndexArray::as_bytes).chain([self.values.as_bytes()])
    }

    /// The number of bytes of all its arrays.
    pub fn storage_bytes(&self) -> usize {
        self.levels.iter().map(LevelArrays::bytes).sum::<usize>() + self.values.bytes()
    }

    pub(super) fn level_layout(&self) -> Layout {
        Layout::new(&self.format, &self.shape).expect("a tensor's format serves its shape")
    }
}

impl fmt::Debug for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {}, {} stored", self.element().name(), self.shape, self.format, self.nnz())
    }
}
