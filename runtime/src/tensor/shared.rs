//! Arrays that several tensors have.

use super::{Buffer, Plain};
use std::any::Any;
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

/// A buffer that is shared between its clones, and copied when one of several changes it.
///
/// Elements that are only borrowed (those of a [`View`](super::View)) are not shared: a clone is a copy. So whoever has a clone may
/// keep it.
///
/// ```
/// use spc::tensor::{Buffer, Shared};
///
/// let shared = Shared::from(Buffer::from(vec![1u32, 2]));
/// assert_eq!(shared.clone().as_ptr(), shared.as_ptr());
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Shared<T>(Arc<Buffer<T>>);

impl<T> From<Arc<Buffer<T>>> for Shared<T> {
    fn from(buffer: Arc<Buffer<T>>) -> Self {
        Self(buffer)
    }
}

impl<T> From<Buffer<T>> for Shared<T> {
    fn from(buffer: Buffer<T>) -> Self {
        Self(Arc::new(buffer))
    }
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(elements: Vec<T>) -> Self {
        Buffer::from(elements).into()
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T: Plain> Clone for Shared<T> {
    fn clone(&self) -> Self {
        if self.0.is_borrowed() { Buffer::clone(&self.0).into() } else { Self(self.0.clone()) }
    }
}

impl<T> Deref for Shared<T> {
    type Target = Buffer<T>;

    fn deref(&self) -> &Buffer<T> {
        &self.0
    }
}

impl<T> Shared<T> {
    /// The same elements, also where they are borrowed.
    ///
    /// # Safety
    /// It has no owner, nor has an array that came from it, when the borrow ends that this has its elements from.
    pub(crate) unsafe fn alias(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Plain> Shared<T> {
    /// The buffer, to be changed: a copy where others have it too, or where it is somebody else's memory.
    pub fn make_mut(&mut self) -> &mut Buffer<T> {
        self.own();
        Arc::make_mut(&mut self.0)
    }

    /// The buffer, where it is not shared.
    pub(crate) fn get_mut(&mut self) -> Option<&mut Buffer<T>> {
        self.own();
        Arc::get_mut(&mut self.0)
    }

    /// Copies borrowed elements.
    fn own(&mut self) {
        if self.0.is_borrowed() {
            *self = self.clone();
        }
    }

    /// The buffer: without a copy where it is not shared.
    pub fn into_buffer(self) -> Buffer<T> {
        if self.0.is_borrowed() { Buffer::clone(&self.0) } else { Arc::unwrap_or_clone(self.0) }
    }

    /// Some elements, which are shared; borrowed ones are copied.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        if self.0.is_borrowed() { Buffer::copy_of(&self.0[range]).into() } else { Buffer::part(&self.0, range).into() }
    }
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// Which array it is, for one who does not keep it.
    pub(crate) fn identity(&self) -> Weak<dyn Any + Send + Sync> {
        Arc::downgrade(&self.0) as Weak<dyn Any + Send + Sync>
    }
}
