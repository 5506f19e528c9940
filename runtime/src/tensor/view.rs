//! Tensors in memory that is borrowed.
//!
//! A [`View`] is a tensor whose arrays are slices of somebody else's: they are checked once, when the view is made, and never copied
//! as long as one only looks. It derefs to a [`Tensor`], so that whatever takes a `&Tensor` takes a `&View`: kernels of the macro,
//! [`Kernel::call`](crate::execute::Kernel::call), writers of files. What outlives the borrow is a copy: a clone of the tensor, an
//! index array that a result shares with its operand.

use super::kept::Kept;
use super::matrix::{CompressedColumns, CompressedRows, SourceIndex, compressed_format};
use super::{
    AnyTensor, Buffer, Element, IndexArray, InvalidTensor, LevelArrays, RowMajor, Shared, StorageFormat, Tensor,
    Values, WrongType,
};
use spc_compiler::format::{Format, IndexWidth, LevelFormat};
use spc_compiler::ir::Literal;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A tensor of any format and element type in borrowed memory. It derefs to [`AnyTensor`].
///
/// ```
/// use spc::tensor::AnyView;
///
/// let (positions, columns, values) = ([0usize, 1, 3], [1usize, 0, 2], [2.0, 3.0, 4.0]);
/// let a = AnyView::from_csr(2, 3, &positions, &columns, &values)?;
/// assert_eq!(a.format().to_string(), "[dense, compressed(u64, pos = u64)]");
/// assert_eq!(a.values_of::<f64>().map(<[f64]>::as_ptr), Some(values.as_ptr()));
/// # Ok::<(), spc::tensor::InvalidTensor>(())
/// ```
pub struct AnyView<'a> {
    tensor: AnyTensor,
    memory: PhantomData<&'a [u8]>,
}

/// A tensor of elements `T` in format `F` in borrowed memory. It derefs to [`Tensor`].
///
/// ```
/// use spc::tensor::{Dense, View};
///
/// let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let b = View::<f64, Dense<2>>::from_slice([2, 3], &values)?;
/// assert_eq!(b.get(&[1, 0]), Some(4.0));
/// assert_eq!(b.values().as_ptr(), values.as_ptr());
/// # Ok::<(), spc::tensor::InvalidTensor>(())
/// ```
pub struct View<'a, T, F> {
    tensor: Tensor<T, F>,
    memory: PhantomData<&'a [u8]>,
}

/// Coordinates or positions in borrowed memory: a slice of `u8`, `u16`, `u32`, `u64`, `usize`, `i32` or `i64`.
pub struct IndexSlice<'a> {
    array: IndexArray,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> IndexSlice<'a> {
    /// A slice of indices.
    ///
    /// # Errors
    /// When one is negative.
    pub fn new<I: SourceIndex>(indices: &'a [I]) -> Result<Self, InvalidTensor> {
        let stored = I::stored(indices)?;
        // SAFETY: the array is not handed out but as one of a view of this lifetime.
        let array = <I::Stored as super::Index>::wrap(unsafe { Buffer::borrowed(stored) });
        Ok(Self { array, memory: PhantomData })
    }

    /// The width of an index.
    pub fn width(&self) -> IndexWidth {
        self.array.width()
    }
}

/// Values in borrowed memory, to be handed to a view of the same lifetime only.
fn lent<T: Element>(values: &[T]) -> Values {
    // SAFETY: both callers put them in a view of the slice's lifetime, which hands out no more than a `&` to them.
    T::wrap(Shared::from(unsafe { Buffer::borrowed(values) }))
}

impl<'a> AnyView<'a> {
    /// A tensor of the given arrays: for each level, outermost first, positions and coordinates, where it has them. They are checked
    /// as by [`AnyTensor::from_parts`].
    ///
    /// # Errors
    /// As there.
    pub fn from_parts<T: Element>(
        shape: Vec<usize>,
        format: Format,
        levels: Vec<[Option<IndexSlice<'a>>; 2]>,
        values: &'a [T],
    ) -> Result<Self, InvalidTensor> {
        let mut storage = Vec::with_capacity(levels.len());
        for (number, ([positions, coordinates], level)) in levels.into_iter().zip(&format.levels).enumerate() {
            let arrays = [positions, coordinates].map(|array| array.map(|slice| slice.array));
            let [positions, coordinates] = arrays;
            let arrays = LevelArrays::new(positions, coordinates);
            if !arrays.are_of(level.format) {
                return Err(InvalidTensor::Arrays { level: number, kind: level.format.kind.name });
            }
            storage.push(arrays);
        }
        Ok(Self::of(AnyTensor::from_parts(shape, format, storage, lent(values))?))
    }

    /// A dense tensor of the given elements, row-major.
    ///
    /// # Errors
    /// When there are more or fewer elements than the shape says.
    pub fn from_slice<T: Element>(shape: impl AsRef<[usize]>, values: &'a [T]) -> Result<Self, InvalidTensor> {
        let shape = shape.as_ref().to_vec();
        let levels = vec![LevelArrays::NONE; shape.len()];
        AnyTensor::from_parts(shape.clone(), Format::dense(shape.len()), levels, lent(values)).map(Self::of)
    }

    /// A dense tensor whose element at an index is as many elements behind the first as the strides say. The format lists the modes by
    /// descending stride: row-major is `[dense, dense]`, column-major `(i, j) -> [j: dense, i: dense]`.
    ///
    /// # Errors
    /// When the strides leave gaps, are negative, or repeat elements: then no format has them, and the elements are to be copied.
    pub fn strided<T: Element>(shape: &[usize], strides: &[isize], values: &'a [T]) -> Result<Self, InvalidTensor> {
        let format = dense_format(shape, strides).ok_or_else(|| wrong_strides(shape, strides, None))?;
        Self::in_format(shape, format, values)
    }

    fn in_format<T: Element>(shape: &[usize], format: Format, values: &'a [T]) -> Result<Self, InvalidTensor> {
        let levels = vec![LevelArrays::NONE; format.levels.len()];
        AnyTensor::from_parts(shape.to_vec(), format, levels, lent(values)).map(Self::of)
    }

    /// A matrix by compressed rows: `positions` has a number more than there are rows, `coordinates` are the columns.
    ///
    /// # Errors
    /// As [`AnyTensor::from_parts`]; also for a negative index.
    pub fn from_csr<P: SourceIndex, C: SourceIndex, T: Element>(
        rows: usize,
        columns: usize,
        positions: &'a [P],
        coordinates: &'a [C],
        values: &'a [T],
    ) -> Result<Self, InvalidTensor> {
        Self::compressed([rows, columns], &[0, 1], positions, coordinates, values)
    }

    /// A matrix by compressed columns: `positions` has a number more than there are columns, `coordinates` are the rows.
    ///
    /// # Errors
    /// As [`AnyView::from_csr`].
    pub fn from_csc<P: SourceIndex, C: SourceIndex, T: Element>(
        rows: usize,
        columns: usize,
        positions: &'a [P],
        coordinates: &'a [C],
        values: &'a [T],
    ) -> Result<Self, InvalidTensor> {
        Self::compressed([rows, columns], &[1, 0], positions, coordinates, values)
    }

    fn compressed<P: SourceIndex, C: SourceIndex, T: Element>(
        shape: [usize; 2],
        modes: &[usize],
        positions: &'a [P],
        coordinates: &'a [C],
        values: &'a [T],
    ) -> Result<Self, InvalidTensor> {
        let (positions, coordinates) = (IndexSlice::new(positions)?, IndexSlice::new(coordinates)?);
        let format = compressed_format(modes, positions.width(), coordinates.width());
        let levels = vec![[None, None], [Some(positions), Some(coordinates)]];
        Self::from_parts(shape.to_vec(), format, levels, values)
    }

    pub(super) fn of(tensor: AnyTensor) -> Self {
        Self { tensor, memory: PhantomData }
    }

    /// The same elements in another dense format, where they lie in the order of both: one that differs in modes of one index.
    #[cfg(feature = "compile")]
    pub(crate) fn into_dense(self, format: &Format) -> Self {
        let strides = strides_of(&self.tensor).unwrap_or_default();
        let strides: Vec<isize> = strides.into_iter().map(|stride| stride as isize).collect();
        if !self.tensor.fill.is_zero() || !has_strides(format, &self.tensor.shape, &strides) {
            return self;
        }
        Self::of(AnyTensor { format: format.clone(), kept: Kept::default(), ..self.tensor })
    }

    /// The same stored entries, with another value for those that are not stored.
    ///
    /// # Panics
    /// When the value is of another element type.
    #[must_use]
    pub fn with_fill(self, fill: Literal) -> Self {
        Self::of(self.tensor.with_fill(fill))
    }

    /// A copy that borrows nothing.
    pub fn to_tensor(&self) -> AnyTensor {
        self.tensor.clone()
    }
}

impl<'a, T: Element, F: StorageFormat> View<'a, T, F> {
    /// A dense tensor whose element at an index is as many elements behind the first as the strides say; `F` must be the dense format
    /// that lists the modes by descending stride.
    ///
    /// # Errors
    /// When `F` does not have these strides; an element type or shape that does not fit is one too.
    pub fn strided(shape: &[usize], strides: &[isize], values: &'a [T]) -> Result<Self, InvalidTensor> {
        let format = F::format();
        if !has_strides(&format, shape, strides) {
            return Err(wrong_strides(shape, strides, Some(&format)));
        }
        Ok(Self::of(AnyView::in_format(shape, format, values)?))
    }

    /// Of a tensor that has the types.
    fn of(view: AnyView<'a>) -> Self {
        Self { tensor: Tensor::of(view.tensor), memory: PhantomData }
    }

    /// The view without its types.
    pub fn into_any(self) -> AnyView<'a> {
        AnyView::of(self.tensor.into_any())
    }

    /// A copy that borrows nothing.
    pub fn to_tensor(&self) -> Tensor<T, F> {
        self.tensor.clone()
    }
}

impl<'a, T: Element, F: RowMajor> View<'a, T, F> {
    /// A dense tensor of the given elements, row-major.
    ///
    /// # Errors
    /// When the shape has another number of modes than the format, or there are more or fewer elements than it says.
    pub fn from_slice(shape: impl AsRef<[usize]>, values: &'a [T]) -> Result<Self, InvalidTensor> {
        AnyView::in_format(shape.as_ref(), F::format(), values).map(Self::of)
    }
}

impl<'a, T: Element, F: CompressedRows> View<'a, T, F> {
    /// A matrix by compressed rows: `positions` has a number more than there are rows, `coordinates` are the columns. Indices are of the
    /// format's widths, signed or not.
    ///
    /// # Errors
    /// As [`AnyTensor::from_parts`]; also for a negative index.
    pub fn from_csr<P: SourceIndex<Stored = F::Position>, C: SourceIndex<Stored = F::Coordinate>>(
        rows: usize,
        columns: usize,
        positions: &'a [P],
        coordinates: &'a [C],
        values: &'a [T],
    ) -> Result<Self, InvalidTensor> {
        AnyView::from_csr(rows, columns, positions, coordinates, values).map(Self::of)
    }
}

impl<'a, T: Element, F: CompressedColumns> View<'a, T, F> {
    /// A matrix by compressed columns: `positions` has a number more than there are columns, `coordinates` are the rows.
    ///
    /// # Errors
    /// As [`AnyTensor::from_parts`]; also for a negative index.
    pub fn from_csc<P: SourceIndex<Stored = F::Position>, C: SourceIndex<Stored = F::Coordinate>>(
        rows: usize,
        columns: usize,
        positions: &'a [P],
        coordinates: &'a [C],
        values: &'a [T],
    ) -> Result<Self, InvalidTensor> {
        AnyView::from_csc(rows, columns, positions, coordinates, values).map(Self::of)
    }
}

/// The elements do not lie as the format has them, or as any has.
pub(super) fn wrong_strides(shape: &[usize], strides: &[isize], format: Option<&Format>) -> InvalidTensor {
    let format = format.map(|format| format.to_string().into());
    InvalidTensor::Strides { shape: shape.into(), strides: strides.into(), format }
}

/// Whether a format is dense and its elements lie as the strides say.
pub(super) fn has_strides(format: &Format, shape: &[usize], strides: &[isize]) -> bool {
    let Some(order) = format.mode_order().filter(|order| order.len() == format.levels.len() && format.is_dense())
    else {
        return false;
    };
    if order.len() != shape.len() || shape.len() != strides.len() {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1isize;
    order.iter().rev().all(|&mode| {
        let fits = shape[mode] == 1 || strides[mode] == expected;
        expected = expected.saturating_mul(shape[mode].try_into().unwrap_or(isize::MAX));
        fits
    })
}

/// How many elements are from one index of a mode to the next.
///
/// # Errors
/// When the tensor is not dense, with a level for each mode.
#[cfg(any(feature = "compile", feature = "nalgebra", feature = "ndarray", feature = "faer"))]
pub(super) fn strides_of(tensor: &AnyTensor) -> Result<Vec<usize>, InvalidTensor> {
    let (format, shape) = (tensor.format(), tensor.shape());
    let order = format.mode_order().filter(|order| order.len() == format.levels.len() && format.is_dense());
    let order = order.ok_or_else(|| {
        let (expected, found) = (Box::new(Format::dense(shape.len())), Box::new(format.clone()));
        WrongType::Format { expected, found }
    })?;
    let (mut strides, mut stride) = (vec![0; shape.len()], 1);
    for &mode in order.iter().rev() {
        strides[mode] = stride;
        stride *= shape[mode];
    }
    Ok(strides)
}

/// The dense format whose elements lie as the strides say.
fn dense_format(shape: &[usize], strides: &[isize]) -> Option<Format> {
    let in_order: Vec<usize> = (0..shape.len()).collect();
    let mut by_stride = in_order.clone();
    by_stride.sort_by_key(|&mode| std::cmp::Reverse(strides.get(mode).copied()));
    [in_order, by_stride].into_iter().find_map(|modes| {
        let format = Format::permuted(&modes, &vec![LevelFormat::DENSE; modes.len()]);
        has_strides(&format, shape, strides).then_some(format)
    })
}

impl<'a, T: Element, F: StorageFormat> TryFrom<AnyView<'a>> for View<'a, T, F> {
    type Error = WrongType;

    fn try_from(view: AnyView<'a>) -> Result<Self, WrongType> {
        Ok(Self { tensor: Tensor::try_from(view.tensor)?, memory: PhantomData })
    }
}

impl<'a, T: Element, F: StorageFormat> From<View<'a, T, F>> for AnyView<'a> {
    fn from(view: View<'a, T, F>) -> Self {
        view.into_any()
    }
}

/// One that borrows nothing.
impl From<AnyTensor> for AnyView<'_> {
    fn from(tensor: AnyTensor) -> Self {
        Self::of(tensor)
    }
}

impl<'a> From<&'a AnyTensor> for AnyView<'a> {
    fn from(tensor: &'a AnyTensor) -> Self {
        // SAFETY: the view is there for no longer than the tensor.
        Self::of(unsafe { tensor.alias() })
    }
}

impl<'a, T: Element, F: StorageFormat> From<&'a Tensor<T, F>> for View<'a, T, F> {
    fn from(tensor: &'a Tensor<T, F>) -> Self {
        Self::of(tensor.as_any().into())
    }
}

impl Deref for AnyView<'_> {
    type Target = AnyTensor;

    fn deref(&self) -> &AnyTensor {
        &self.tensor
    }
}

impl<T, F> Deref for View<'_, T, F> {
    type Target = Tensor<T, F>;

    fn deref(&self) -> &Tensor<T, F> {
        &self.tensor
    }
}

impl Clone for AnyView<'_> {
    /// A view of the same memory.
    fn clone(&self) -> Self {
        // SAFETY: it has the lifetime of this one.
        Self::of(unsafe { self.tensor.alias() })
    }
}

impl<T: Element, F: StorageFormat> Clone for View<'_, T, F> {
    /// A view of the same memory.
    fn clone(&self) -> Self {
        // SAFETY: it has the lifetime of this one.
        Self { tensor: Tensor::of(unsafe { self.tensor.as_any().alias() }), memory: PhantomData }
    }
}

impl fmt::Debug for AnyView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensor.fmt(f)
    }
}

impl<T, F> fmt::Debug for View<'_, T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensor.fmt(f)
    }
}

impl fmt::Debug for IndexSlice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.array.fmt(f)
    }
}

impl AnyTensor {
    /// The same tensor, also where its arrays are borrowed.
    ///
    /// # Safety
    /// As for [`Shared::alias`].
    unsafe fn alias(&self) -> Self {
        let alias = |array: Option<&IndexArray>| {
            // SAFETY: as the caller promises.
            array.map(|array| unsafe { array.alias() })
        };
        let level = |level: &LevelArrays| LevelArrays::new(alias(level.positions()), alias(level.coordinates()));
        let levels = self.levels.iter().map(level).collect();
        // SAFETY: as above.
        let values = unsafe { self.values.alias() };
        Self {
            shape: self.shape.clone(),
            format: self.format.clone(),
            levels,
            values,
            fill: self.fill,
            kept: Kept::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Compressed, Csc, Csr, Dense, DenseLevel, Levels, Mode, Permuted, Unique};
    use super::*;

    #[test]
    fn what_outlives_a_view_is_a_copy() {
        let (tensor, levels, part, values);
        {
            let (positions, columns, numbers) = (vec![0u32, 1, 3], vec![1u32, 0, 2], vec![2.0, 3.0, 4.0]);
            let view = View::<f64, Csr>::from_csr(2, 3, &positions, &columns, &numbers).unwrap();
            assert_eq!(view.values().as_ptr(), numbers.as_ptr());
            assert_eq!(view.as_any().coordinates(1).unwrap().as_u32().unwrap().as_ptr(), columns.as_ptr());
            assert_eq!(view.clone().values().as_ptr(), numbers.as_ptr());
            assert_eq!(View::from(&*view).values().as_ptr(), numbers.as_ptr());
            tensor = Tensor::clone(&view);
            levels = view.as_any().levels().to_vec();
            values = view.as_any().values().clone();
            part = view.as_any().parts(2, None).unwrap();
            assert_ne!(tensor.values().as_ptr(), numbers.as_ptr());
        }
        assert_eq!(tensor.entries(), [(vec![0, 1], 2.0), (vec![1, 0], 3.0), (vec![1, 2], 4.0)]);
        assert_eq!(levels[1].coordinates().unwrap().as_u32(), Some(&[1, 0, 2][..]));
        assert_eq!(values.as_slice::<f64>(), Some(&[2.0, 3.0, 4.0][..]));
        assert_eq!(part.iter().map(AnyTensor::nnz).sum::<usize>(), 3);
    }

    #[test]
    fn indices_of_every_type_go_in() {
        type Wide = Levels<(DenseLevel, Compressed<Unique, u64, u64>)>;
        let values = [1.0f32, 2.0];
        assert!(View::<f32, Csr>::from_csr(2, 3, &[0i32, 1, 2], &[2i32, 0], &values).is_ok());
        assert!(View::<f32, Csc>::from_csc(3, 2, &[0u32, 1, 2], &[2u32, 0], &values).is_ok());
        assert!(View::<f32, Wide>::from_csr(2, 3, &[0usize, 1, 2], &[2i64, 0], &values).is_ok());
        let narrow = AnyView::from_csr(2, 3, &[0u8, 1, 2], &[2u16, 0], &values).unwrap();
        assert_eq!(narrow.format().to_string(), "[dense, compressed(u16, pos = u8)]");
        let message = |found: Result<AnyView<'_>, InvalidTensor>| found.unwrap_err().to_string();
        assert_eq!(
            message(AnyView::from_csr(2, 3, &[0i32, 1, 2], &[2i32, -1], &values)),
            "index 1 of an array is negative"
        );
        assert!(message(AnyView::from_csr(2, 3, &[0, 1, 2], &[2, 3], &values)).contains("has coordinate 3"));
        assert!(message(AnyView::from_csr(2, 3, &[0, 1, 3], &[2, 0], &values)).contains("3 in number"));
    }

    #[test]
    fn strides_are_those_of_a_dense_format() {
        type ByColumn = Permuted<(Mode<1>, Mode<0>), Levels<(DenseLevel, DenseLevel)>>;
        let values: Vec<f64> = (0..6).map(f64::from).collect();
        let columns = View::<f64, ByColumn>::strided(&[2, 3], &[1, 2], &values).unwrap();
        assert_eq!((columns.get(&[1, 0]), columns.get(&[0, 1])), (Some(1.0), Some(2.0)));
        let any = AnyView::strided(&[2, 3], &[1, 2], &values).unwrap();
        assert_eq!(any.format().to_string(), "(i, j) -> [j: dense, i: dense]");
        assert!(AnyView::strided(&[2, 3], &[3, 1], &values).unwrap().format().to_string() == "[dense, dense]");
        assert!(AnyView::strided(&[1, 6], &[77, 1], &values).is_ok(), "the stride of one element does not matter");
        for strides in [[1, 3], [6, 2], [-3, 1], [0, 1]] {
            assert!(AnyView::strided(&[2, 3], &strides, &values).is_err(), "{strides:?}");
        }
        let message = View::<f64, Dense<2>>::strided(&[2, 3], &[1, 2], &values).unwrap_err().to_string();
        assert!(
            message.contains("strides [1, 2]") && message.contains("[dense, dense]") && message.contains("copy"),
            "{message}"
        );
    }
}
