//! Contiguous values that begin on a cache line.

use crate::memory::OutOfMemory;
use crate::{fault, memory};
use bytemuck::{CheckedBitPattern, NoUninit, Pod, Zeroable};
use std::any::Any;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut, Range};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where a buffer of its own making begins: a multiple of this many bytes.
pub const ALIGNMENT: usize = 64;

/// An owned slice. What [`Buffer::zeroed`] makes begins on a 64-byte boundary, which vector loads of whole cache lines are
/// up to 1.6 times faster on; what comes from a `Vec` stays where it is and is not copied.
///
/// ```
/// use spc::tensor::Buffer;
///
/// let mut buffer = Buffer::<f64>::zeroed(100);
/// buffer[3] = 1.5;
/// assert_eq!(buffer.as_ptr().align_offset(64), 0);
/// assert_eq!(buffer.iter().sum::<f64>(), 1.5);
/// assert_eq!(Buffer::from(vec![1u32, 2]).as_slice(), [1, 2]);
/// ```
pub struct Buffer<T> {
    /// The elements are those of the storage from `start` on.
    storage: Storage<T>,
    start: usize,
    length: usize,
    /// Whether somebody else may write to the elements.
    is_exposed: AtomicBool,
}

/// Where elements lie.
enum Storage<T> {
    /// In memory of the buffer's own. It is never reallocated, so they stay aligned.
    Own(Vec<T>),
    /// In another buffer, which is shared. They are copied before they are changed.
    Part(Arc<Buffer<T>>),
    /// In memory of somebody else. They are copied before they are changed.
    Foreign(Foreign<T>),
}

/// Memory of somebody else.
struct Foreign<T> {
    first: NonNull<T>,
    /// What keeps the memory; where it is only borrowed, nothing.
    owner: Option<Arc<dyn Any + Send + Sync>>,
    /// Whether it was lent to be written to: then nobody else has it.
    is_lent: bool,
}

// SAFETY: the elements are read as through a `&[T]`, or are this one's alone as behind a `Box<[T]>`; the owner may go to another
// thread.
unsafe impl<T: Send + Sync> Send for Foreign<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Foreign<T> {}
impl<T> UnwindSafe for Foreign<T> {}
impl<T> RefUnwindSafe for Foreign<T> {}

/// What buffers hold: bytes of whatever type have no more to it than themselves, all zeros are one, and which are one can be
/// checked, as not all are a `bool`.
pub trait Plain: Zeroable + NoUninit + CheckedBitPattern + Send + Sync {}

impl<T: Zeroable + NoUninit + CheckedBitPattern + Send + Sync> Plain for T {}

impl<T: Plain> Buffer<T> {
    /// `length` zeros, aligned. The system hands out pages of zeros when they are first touched, so this takes no time.
    ///
    /// # Panics
    /// When there is not enough memory; [`Buffer::try_zeroed`] does not.
    pub fn zeroed(length: usize) -> Self {
        Self::allocate(length).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`Buffer::zeroed`], for a length that comes from outside.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub fn try_zeroed(length: usize) -> Result<Self, OutOfMemory> {
        if fault::strikes() {
            return Err(OutOfMemory { length, size: size_of::<T>() });
        }
        Self::allocate(length)
    }

    fn allocate(length: usize) -> Result<Self, OutOfMemory> {
        let size = size_of::<T>();
        let failure = OutOfMemory { length, size };
        if length == 0 {
            return Ok(Self::from(Vec::new()));
        }
        let slack = ALIGNMENT.checked_div(size).unwrap_or(0);
        let total = length.checked_add(slack).ok_or(failure)?;
        total.checked_mul(size).filter(|&bytes| isize::try_from(bytes).is_ok()).ok_or(failure)?;
        // With the alignment of `T` this is `calloc`; asking the allocator for 64 would have it write every page.
        let storage = bytemuck::allocation::try_zeroed_vec::<T>(total).map_err(|()| failure)?;
        memory::in_huge_pages(&storage);
        let offset = storage.as_ptr().align_offset(ALIGNMENT);
        let start = if offset <= slack { offset } else { 0 };
        Ok(Self::new(Storage::Own(storage), start, length))
    }

    /// A copy of a slice, aligned.
    pub fn copy_of(values: &[T]) -> Self {
        let mut buffer = Self::zeroed(values.len());
        buffer.copy_from_slice(values);
        buffer
    }
}

/// Aligned memory for elements that are yet to be written: a buffer of zeros may have to be cleared first.
pub(crate) struct Room<T> {
    storage: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Plain> Room<T> {
    /// For so many elements.
    pub(crate) fn try_new(length: usize) -> Result<Self, OutOfMemory> {
        let size = size_of::<T>();
        let failure = OutOfMemory { length, size };
        if fault::strikes() {
            return Err(failure);
        }
        let slack = if length == 0 { 0 } else { ALIGNMENT.checked_div(size).unwrap_or(0) };
        let mut storage = Vec::<T>::new();
        storage.try_reserve_exact(length.checked_add(slack).ok_or(failure)?).map_err(|_| failure)?;
        memory::in_huge_pages(storage.spare_capacity_mut());
        let offset = storage.as_ptr().align_offset(ALIGNMENT);
        let start = if offset <= slack { offset } else { 0 };
        storage.resize(start, T::zeroed());
        Ok(Self { storage, start, length })
    }

    /// Where the elements go.
    pub(crate) fn places(&mut self) -> &mut [MaybeUninit<T>] {
        &mut self.storage.spare_capacity_mut()[..self.length]
    }

    /// The elements.
    ///
    /// # Safety
    /// Each of the [places](Self::places) has been written to.
    pub(crate) unsafe fn written(self) -> Buffer<T> {
        let Self { mut storage, start, length } = self;
        // SAFETY: before `start` are zeros, the caller vouches for the `length` elements behind it, and the room for both was
        // reserved.
        unsafe { storage.set_len(start + length) };
        Buffer::new(Storage::Own(storage), start, length)
    }
}

impl<T: Plain> Buffer<T> {
    /// The same bytes as elements of another type of that size, in the same memory unless that type asks for a larger alignment.
    pub(crate) fn cast<U: Pod>(self) -> Buffer<U> {
        match self {
            Self { storage: Storage::Own(storage), start, length, .. } => {
                Buffer::new(Storage::Own(cast_vec(storage)), start, length)
            }
            shared => Buffer::from(cast_vec(shared.to_vec())),
        }
    }
}

fn cast_vec<T: Plain, U: Pod>(elements: Vec<T>) -> Vec<U> {
    bytemuck::allocation::try_cast_vec(elements)
        .unwrap_or_else(|(_, elements)| elements.into_iter().map(bytemuck::cast).collect())
}

impl<T> Buffer<T> {
    fn new(storage: Storage<T>, start: usize, length: usize) -> Self {
        Self { storage, start, length, is_exposed: AtomicBool::new(false) }
    }

    /// The elements of what owns them, which is dropped with the last tensor that has them: without a copy, whatever it is.
    ///
    /// ```
    /// use spc::tensor::Buffer;
    ///
    /// let owner: Box<[f64]> = vec![1.0, 2.0].into();
    /// let address = owner.as_ptr();
    /// let buffer = Buffer::owned_by(owner);
    /// assert_eq!((buffer.as_ptr(), buffer.as_slice()), (address, &[1.0, 2.0][..]));
    /// ```
    pub fn owned_by(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Self {
        let owner = Arc::new(owner);
        let elements: &[T] = (*owner).as_ref();
        let (first, length) = (NonNull::from(elements).cast(), elements.len());
        // The owner stays where it is and is only reachable by `&`, so the elements are there as long as the `Arc`.
        Self::new(Storage::Foreign(Foreign { first, owner: Some(owner), is_lent: false }), 0, length)
    }

    /// Elements in memory of somebody else, which is written to where they are changed: how a kernel writes into an array of a
    /// caller in another language.
    ///
    /// ```
    /// use spc::tensor::Buffer;
    /// use std::{ptr::NonNull, sync::Arc};
    ///
    /// let first = NonNull::from(Box::leak(Box::new([1.0, 2.0]))).cast();
    /// // SAFETY: nobody else reads the array, and it is there for good.
    /// let mut buffer = unsafe { Buffer::<f64>::lent(first, 2, Arc::new(())) };
    /// buffer[1] = 5.0;
    /// assert_eq!((buffer.as_ptr(), buffer.as_slice()), (first.as_ptr().cast_const(), &[1.0, 5.0][..]));
    /// ```
    ///
    /// # Safety
    /// From `first` on lie `length` elements, aligned, each of them valid, which nobody else reads or writes as long as `owner` is
    /// there.
    pub unsafe fn lent(first: NonNull<T>, length: usize, owner: Arc<dyn Any + Send + Sync>) -> Self {
        Self::new(Storage::Foreign(Foreign { first, owner: Some(owner), is_lent: true }), 0, length)
    }

    /// Elements that are borrowed for a time which the type does not say.
    ///
    /// # Safety
    /// Neither the buffer nor an `Arc` of it is there when the borrow ends. A copy may be.
    pub(super) unsafe fn borrowed(elements: &[T]) -> Self {
        let foreign = Foreign { first: NonNull::from(elements).cast(), owner: None, is_lent: false };
        Self::new(Storage::Foreign(foreign), 0, elements.len())
    }

    /// Whether the elements are borrowed, so that they may be gone when this is still there.
    pub(super) fn is_borrowed(&self) -> bool {
        matches!(self.storage, Storage::Foreign(Foreign { owner: None, .. }))
    }

    /// Some elements of a buffer, which stay where they are as long as they are not changed here.
    ///
    /// ```
    /// use spc::tensor::Buffer;
    /// use std::sync::Arc;
    ///
    /// let whole = Arc::new(Buffer::from(vec![1, 2, 3, 4]));
    /// let mut part = Buffer::part(&whole, 1..3);
    /// assert_eq!(part.as_ptr(), whole[1..].as_ptr());
    /// part[0] = 5;
    /// assert_eq!((part.as_slice(), whole[1]), (&[5, 3][..], 2));
    /// ```
    ///
    /// # Panics
    /// When the range does not lie in the buffer.
    pub fn part(whole: &Arc<Self>, range: Range<usize>) -> Self {
        let length = whole[range.clone()].len();
        Self::new(Storage::Part(whole.clone()), range.start, length)
    }

    /// Whether the elements are those of another buffer, or of another owner, or [exposed](Self::expose).
    pub fn is_part(&self) -> bool {
        !matches!(self.storage, Storage::Own(_)) || self.is_exposed.load(Ordering::Acquire)
    }

    /// Says that somebody else may write to the elements from now on, such as code in another language that was given a pointer. Nothing
    /// that depends on them is kept, and they are copied before they are changed here.
    pub fn expose(&self) {
        self.is_exposed.store(true, Ordering::Release);
        if let Storage::Part(whole) = &self.storage {
            whole.expose();
        }
    }

    /// What keeps the elements in memory of somebody else; none where the memory is the library's.
    ///
    /// ```
    /// use spc::tensor::Buffer;
    ///
    /// let buffer = Buffer::owned_by(Box::from([1.0, 2.0]) as Box<[f64]>);
    /// assert!(buffer.owner().is_some_and(|owner| owner.is::<Box<[f64]>>()));
    /// assert!(Buffer::from(vec![1.0, 2.0]).owner().is_none());
    /// ```
    pub fn owner(&self) -> Option<&(dyn Any + Send + Sync)> {
        match &self.storage {
            Storage::Own(_) => None,
            Storage::Part(whole) => whole.owner(),
            Storage::Foreign(foreign) => Some(foreign.owner.as_deref().unwrap_or(&())),
        }
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        let range = self.start..self.start + self.length;
        match &self.storage {
            Storage::Own(storage) => &storage[range],
            Storage::Part(whole) => &whole[range],
            // SAFETY: `first` and `length` were those of a slice, which an owner keeps or the maker of a borrowed buffer, and
            // it does not change. `start` is 0.
            Storage::Foreign(foreign) => unsafe { slice::from_raw_parts(foreign.first.as_ptr(), self.length) },
        }
    }
}

impl<T: Copy> Buffer<T> {
    /// The elements, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        if self.is_part() && !matches!(self.storage, Storage::Foreign(Foreign { is_lent: true, .. })) {
            *self = self.to_vec().into();
        }
        match &mut self.storage {
            Storage::Own(storage) => &mut storage[self.start..self.start + self.length],
            // SAFETY: as `lent` was promised; the slice lasts no longer than the borrow of this buffer, which has the elements alone.
            Storage::Foreign(foreign) => unsafe { slice::from_raw_parts_mut(foreign.first.as_ptr(), self.length) },
            Storage::Part(_) => &mut [],
        }
    }

    /// The elements as a vector: without a copy where they came from one.
    pub fn into_vec(self) -> Vec<T> {
        match self.storage {
            Storage::Part(_) | Storage::Foreign(_) => self.to_vec(),
            Storage::Own(mut storage) => {
                storage.truncate(self.start + self.length);
                storage.drain(..self.start);
                storage
            }
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(storage: Vec<T>) -> Self {
        let length = storage.len();
        Self::new(Storage::Own(storage), 0, length)
    }
}

impl<T: Plain> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        values.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Plain> Clone for Buffer<T> {
    /// A copy, aligned whether or not this one is.
    fn clone(&self) -> Self {
        Self::copy_of(self)
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Copy> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq> Eq for Buffer<T> {}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_buffers_and_clones_are_aligned() {
        for length in [0, 1, 7, 8, 9, 1000, 100_000] {
            let bytes = Buffer::<u8>::zeroed(length);
            let doubles = Buffer::<f64>::zeroed(length).clone();
            assert!(bytes.len() == length && bytes.iter().all(|&byte| byte == 0));
            assert!(doubles.len() == length && doubles.iter().all(|&double| double == 0.0));
            if length > 0 {
                assert_eq!(bytes.as_ptr().align_offset(ALIGNMENT), 0);
                assert_eq!(doubles.as_ptr().align_offset(ALIGNMENT), 0);
            }
        }
    }

    #[test]
    fn room_that_is_written_is_an_aligned_buffer() {
        for length in [0, 1, 7, 100, 100_000] {
            let mut room = Room::<u32>::try_new(length).unwrap();
            assert_eq!(room.places().len(), length);
            room.places().iter_mut().zip(0..).for_each(|(place, number)| *place = MaybeUninit::new(number));
            // SAFETY: all places have been written to.
            let buffer = unsafe { room.written() };
            assert!(buffer.iter().copied().eq(0..length as u32));
            assert!(length == 0 || buffer.as_ptr().align_offset(ALIGNMENT) == 0);
            assert!(buffer.into_vec().into_iter().eq(0..length as u32));
        }
        assert!(Room::<f64>::try_new(usize::MAX).is_err());
        assert!(Room::<f64>::try_new(usize::MAX / 16).is_err());
    }

    #[test]
    fn a_vector_goes_in_and_out_without_a_copy() {
        let vector = vec![1.0, 2.0, 3.0];
        let address = vector.as_ptr();
        let buffer = Buffer::from(vector);
        assert_eq!(buffer.as_ptr(), address);
        let vector = buffer.into_vec();
        assert_eq!((vector.as_ptr(), vector), (address, vec![1.0, 2.0, 3.0]));
    }

    #[test]
    fn an_aligned_buffer_becomes_a_vector_of_its_elements() {
        let mut buffer = Buffer::<i32>::zeroed(5);
        for (place, element) in buffer.iter_mut().enumerate() {
            *element = place as i32;
        }
        assert_eq!(buffer.into_vec(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn too_much_memory_is_an_error() {
        for length in [usize::MAX, usize::MAX / 8, usize::MAX / 16] {
            assert_eq!(Buffer::<f64>::try_zeroed(length), Err(OutOfMemory { length, size: 8 }));
        }
    }
}
