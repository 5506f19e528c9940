//! Coordinates and positions: index arrays of any width.

use super::{Buffer, Shared};
use bytemuck::Pod;
use spc_compiler::format::IndexWidth;
use spc_compiler::level::types::IndexType;
use std::fmt;

// In a browser there is no room for tensors whose sizes take more than 32 bits.
const _: () = assert!(usize::BITS == 64 || cfg!(target_family = "wasm"), "spc counts in 64 bits");

mod sealed {
    pub trait Sealed {}
}

/// The types of stored indices: `u8 u16 u32 u64`.
pub trait Index: sealed::Sealed + Pod + Ord + Send + Sync + Default + fmt::Debug + fmt::Display + IndexType {
    /// Widened.
    fn to_usize(self) -> usize;

    /// Narrowed as by `as`: whoever writes an index array has checked its largest element once.
    fn narrowed(index: usize) -> Self;

    /// An index array of these.
    fn wrap(buffer: impl Into<Shared<Self>>) -> IndexArray;

    /// The elements of an index array of this width, out of the array.
    #[doc(hidden)]
    fn unwrap_owned(array: IndexArray) -> Option<Shared<Self>>;

    /// The elements of an index array of this width.
    fn unwrap(array: &IndexArray) -> Option<&Shared<Self>>;
}

/// An index array of one of four widths, cheap to clone: tensors of the same structure share it.
///
/// ```
/// use spc::tensor::IndexArray;
///
/// let coordinates = IndexArray::from(vec![0u32, 3, 5]);
/// assert_eq!((coordinates.len(), coordinates.get(1)), (3, 3));
/// assert_eq!(coordinates.typed::<u32>(), Some(&[0, 3, 5][..]));
/// assert_eq!(coordinates.typed::<u8>(), None);
/// ```
#[derive(Clone)]
pub enum IndexArray {
    /// 8 bits each.
    U8(Shared<u8>),
    /// 16 bits each.
    U16(Shared<u16>),
    /// 32 bits each.
    U32(Shared<u32>),
    /// 64 bits each.
    U64(Shared<u64>),
}

impl IndexArray {
    /// Which array it is, for one who does not keep it.
    pub(crate) fn identity(&self) -> std::sync::Weak<dyn std::any::Any + Send + Sync> {
        match self {
            IndexArray::U8(elements) => elements.identity(),
            IndexArray::U16(elements) => elements.identity(),
            IndexArray::U32(elements) => elements.identity(),
            IndexArray::U64(elements) => elements.identity(),
        }
    }

    /// Whether the elements are memory of its own.
    pub(super) fn is_own(&self) -> bool {
        !match self {
            IndexArray::U8(elements) => elements.is_part(),
            IndexArray::U16(elements) => elements.is_part(),
            IndexArray::U32(elements) => elements.is_part(),
            IndexArray::U64(elements) => elements.is_part(),
        }
    }
}

/// Evaluates an expression with the elements of an [`IndexArray`] as a slice of their own type.
macro_rules! with_indices {
    ($array:expr, |$slice:ident| $body:expr) => {
        match $array {
            $crate::tensor::IndexArray::U8(buffer) => {
                let $slice = buffer.as_slice();
                $body
            }
            $crate::tensor::IndexArray::U16(buffer) => {
                let $slice = buffer.as_slice();
                $body
            }
            $crate::tensor::IndexArray::U32(buffer) => {
                let $slice = buffer.as_slice();
                $body
            }
            $crate::tensor::IndexArray::U64(buffer) => {
                let $slice = buffer.as_slice();
                $body
            }
        }
    };
}
pub(crate) use with_indices;

/// Evaluates an expression with a type parameter that stands for the type of an [`IndexWidth`].
macro_rules! with_width {
    ($width:expr, |$index:ident| $body:expr) => {
        match $width {
            spc_compiler::format::IndexWidth::U8 => {
                type $index = u8;
                $body
            }
            spc_compiler::format::IndexWidth::U16 => {
                type $index = u16;
                $body
            }
            spc_compiler::format::IndexWidth::U32 => {
                type $index = u32;
                $body
            }
            spc_compiler::format::IndexWidth::U64 => {
                type $index = u64;
                $body
            }
        }
    };
}
pub(crate) use with_width;

impl IndexArray {
    /// The width of its elements.
    pub fn width(&self) -> IndexWidth {
        match self {
            IndexArray::U8(_) => IndexWidth::U8,
            IndexArray::U16(_) => IndexWidth::U16,
            IndexArray::U32(_) => IndexWidth::U32,
            IndexArray::U64(_) => IndexWidth::U64,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        with_indices!(self, |indices| indices.len())
    }

    /// Whether it has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of bytes of its elements.
    pub fn bytes(&self) -> usize {
        self.len() * self.width().bytes()
    }

    /// An element, widened. In a loop over many, [`IndexArray::typed`] once before it is faster.
    ///
    /// # Panics
    /// When there is no such element.
    pub fn get(&self, place: usize) -> usize {
        with_indices!(self, |indices| indices[place].to_usize())
    }

    /// The last element, widened.
    pub fn last(&self) -> Option<usize> {
        with_indices!(self, |indices| indices.last().map(|index| index.to_usize()))
    }

    /// The elements, where they are of type `I`.
    pub fn typed<I: Index>(&self) -> Option<&[I]> {
        I::unwrap(self).map(|buffer| buffer.as_slice())
    }

    /// The elements, where they are `u8`.
    pub fn as_u8(&self) -> Option<&[u8]> {
        self.typed()
    }

    /// The elements, where they are `u16`.
    pub fn as_u16(&self) -> Option<&[u16]> {
        self.typed()
    }

    /// The elements, where they are `u32`.
    pub fn as_u32(&self) -> Option<&[u32]> {
        self.typed()
    }

    /// The elements, where they are `u64`.
    pub fn as_u64(&self) -> Option<&[u64]> {
        self.typed()
    }

    /// The elements, widened, one after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        (0..self.len()).map(|place| self.get(place))
    }

    /// The elements as bytes.
    pub fn as_bytes(&self) -> &[u8] {
        with_indices!(self, |indices| bytemuck::cast_slice(indices))
    }

    /// `indices` in the given width; `None` where one does not fit.
    pub fn narrowed(indices: impl IntoIterator<Item = usize>, width: IndexWidth) -> Option<Self> {
        with_width!(width, |I| {
            let narrow = |index: usize| (index as u64 <= width.maximum()).then(|| I::narrowed(index));
            Some(indices.into_iter().map(narrow).collect::<Option<Vec<I>>>()?.into())
        })
    }

    /// The same array, also where its elements are borrowed.
    ///
    /// # Safety
    /// As for [`Shared::alias`].
    pub(crate) unsafe fn alias(&self) -> Self {
        // SAFETY: as the caller promises.
        unsafe {
            match self {
                IndexArray::U8(indices) => IndexArray::U8(indices.alias()),
                IndexArray::U16(indices) => IndexArray::U16(indices.alias()),
                IndexArray::U32(indices) => IndexArray::U32(indices.alias()),
                IndexArray::U64(indices) => IndexArray::U64(indices.alias()),
            }
        }
    }

    /// Whether both are the same array in memory, or equal element for element and of the same width.
    pub fn shares_or_equals(&self, other: &Self) -> bool {
        self.width() == other.width() && (self.as_bytes().as_ptr() == other.as_bytes().as_ptr() || self == other)
    }
}

macro_rules! indices {
    ($($type:ident $variant:ident),*) => {$(
        impl sealed::Sealed for $type {}

        impl Index for $type {
            #[inline]
            fn to_usize(self) -> usize {
                self as usize
            }

            #[inline]
            fn narrowed(index: usize) -> Self {
                index as $type
            }

            fn wrap(buffer: impl Into<Shared<Self>>) -> IndexArray {
                IndexArray::$variant(buffer.into())
            }

            fn unwrap_owned(array: IndexArray) -> Option<Shared<Self>> {
                match array {
                    IndexArray::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }

            fn unwrap(array: &IndexArray) -> Option<&Shared<Self>> {
                match array {
                    IndexArray::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }
        }

        impl From<Vec<$type>> for IndexArray {
            fn from(indices: Vec<$type>) -> Self {
                IndexArray::$variant(indices.into())
            }
        }

        impl From<Buffer<$type>> for IndexArray {
            fn from(indices: Buffer<$type>) -> Self {
                IndexArray::$variant(indices.into())
            }
        }
    )*};
}
indices!(u8 U8, u16 U16, u32 U32, u64 U64);

impl PartialEq for IndexArray {
    /// By elements, whatever their widths.
    fn eq(&self, other: &Self) -> bool {
        if self.width() == other.width() {
            return self.as_bytes() == other.as_bytes();
        }
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for IndexArray {}

impl fmt::Debug for IndexArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.width().name())?;
        super::debug_shortened(f, self.len(), |place| self.get(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_widens_and_counts_its_bytes() {
        for width in IndexWidth::ALL {
            let array = IndexArray::narrowed([0, 7, 255], width).unwrap();
            assert_eq!(array.width(), width);
            assert_eq!(array.iter().collect::<Vec<_>>(), [0, 7, 255]);
            assert_eq!(array.bytes(), 3 * width.bytes());
            assert_eq!((array.last(), array.is_empty()), (Some(255), false));
            assert_eq!(array, IndexArray::from(vec![0u64, 7, 255]));
        }
    }

    #[test]
    fn what_does_not_fit_is_not_narrowed() {
        assert_eq!(IndexArray::narrowed([256], IndexWidth::U8), None);
        assert_eq!(IndexArray::narrowed([1 << 32], IndexWidth::U32), None);
        assert!(IndexArray::narrowed([1 << 32], IndexWidth::U64).is_some());
    }
}
