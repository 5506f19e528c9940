//! Arrays of Python's as arrays of ours, in the same memory.
//!
//! An array is borrowed by the buffer protocol, and exported as long as something here has it: NumPy then neither frees nor resizes it.
//! Python code, other threads and other processes can still write to it. So only numbers are borrowed, of which any bits are one: truth
//! values are copied, and index arrays are copied before they are checked. An owner knows whether its memory may be written to.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use spc::complex::{c32, c64};
use spc::half::f16;
use spc::tensor::{Buffer, Element, ElementType, IndexArray, Values};
use std::any::Any;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;

/// An array that is exported to us.
pub(crate) struct Exported(Box<ffi::Py_buffer>);

// SAFETY: the view is only read, and it is released by a thread that is attached to the interpreter.
unsafe impl Send for Exported {}
// SAFETY: as above.
unsafe impl Sync for Exported {}

impl Exported {
    /// The array of an object, contiguous in the order of its modes; to be written to if `writable`.
    pub(crate) fn of(object: &Bound<'_, PyAny>, writable: bool) -> PyResult<Self> {
        // SAFETY: all zeros are a view that nothing was asked of yet.
        let mut view: Box<ffi::Py_buffer> = Box::new(unsafe { std::mem::zeroed() });
        let flags = ffi::PyBUF_FORMAT | ffi::PyBUF_C_CONTIGUOUS | if writable { ffi::PyBUF_WRITABLE } else { 0 };
        // SAFETY: the object is alive, and the view is ours to be filled.
        if unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut *view, flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(Self(view))
    }

    /// The shape.
    pub(crate) fn shape(&self) -> Vec<usize> {
        let count = usize::try_from(self.0.ndim).unwrap_or(0);
        if count == 0 || self.0.shape.is_null() {
            return Vec::new();
        }
        // SAFETY: a view of so many modes has as many extents.
        unsafe { slice::from_raw_parts(self.0.shape, count) }.iter().map(|&extent| extent.max(0) as usize).collect()
    }

    fn is_writable(&self) -> bool {
        self.0.readonly == 0
    }

    fn bytes(&self) -> usize {
        usize::try_from(self.0.len).unwrap_or(0)
    }

    /// The type of the elements, if it is one of ours, of this machine's byte order.
    pub(crate) fn element(&self) -> PyResult<ElementType> {
        // SAFETY: a view that was asked for its format has a string, or none for bytes.
        let format = (!self.0.format.is_null()).then(|| unsafe { CStr::from_ptr(self.0.format) });
        let format = format.map_or("B", |format| format.to_str().unwrap_or("?!"));
        let plain =
            format.strip_prefix(['@', '=', if cfg!(target_endian = "little") { '<' } else { '>' }]).unwrap_or(format);
        Ok(match (plain, self.0.itemsize) {
            ("d", 8) => ElementType::F64,
            ("f", 4) => ElementType::F32,
            ("e", 2) => ElementType::F16,
            ("b", 1) => ElementType::I8,
            ("h", 2) => ElementType::I16,
            ("i" | "l", 4) => ElementType::I32,
            ("q" | "l", 8) => ElementType::I64,
            ("B", 1) => ElementType::U8,
            ("H", 2) => ElementType::U16,
            ("I" | "L", 4) => ElementType::U32,
            ("Q" | "L", 8) => ElementType::U64,
            ("?", 1) => ElementType::Bool,
            ("Zf", 8) => ElementType::C32,
            ("Zd", 16) => ElementType::C64,
            _ => {
                let message =
                    format!("elements of the type {format:?} are none of a tensor's: convert them with astype");
                return Err(PyTypeError::new_err(message));
            }
        })
    }

    /// The first element, and how many there are.
    fn elements<T>(&self) -> PyResult<(NonNull<T>, usize)> {
        let length = self.bytes() / size_of::<T>();
        let first = match NonNull::new(self.0.buf.cast::<T>()) {
            Some(first) if length > 0 => first,
            _ => return Ok((NonNull::dangling(), 0)),
        };
        if !first.is_aligned() {
            return Err(PyValueError::new_err("the array does not lie on a boundary of its elements: copy it"));
        }
        Ok((first, length))
    }

    fn lend<T: Send + Sync + 'static>(self) -> PyResult<Buffer<T>> {
        let (first, length) = self.elements::<T>()?;
        Ok(Buffer::owned_by(Elements { first, length, owner: self, elements: PhantomData }))
    }

    fn lend_to_write<T: Send + Sync + 'static>(self) -> PyResult<Buffer<T>> {
        let (first, length) = self.elements::<T>()?;
        // SAFETY: the elements are exported as long as the owner is there. That no other thread uses them meanwhile is asked of
        // the caller, as of all that writes to an array of NumPy's without the lock.
        Ok(unsafe { Buffer::lent(first, length, Arc::new(self)) })
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // At the very end there is no interpreter, and nothing left to release.
        let view = &mut *self.0;
        // SAFETY: the view was filled by `PyObject_GetBuffer`, and is released once.
        _ = Python::try_attach(|_| unsafe { ffi::PyBuffer_Release(view) });
    }
}

/// The elements of an array that is exported.
struct Elements<T> {
    first: NonNull<T>,
    length: usize,
    owner: Exported,
    elements: PhantomData<T>,
}

// SAFETY: they are only read, as through a `&[T]`.
unsafe impl<T: Sync> Send for Elements<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Elements<T> {}

impl<T> AsRef<[T]> for Elements<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: so many elements lie there, aligned, as long as the array is exported; each is valid: they are numbers.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

/// Whether Python may write to the elements: to memory of ours, and to an array that was writable when it was borrowed.
pub(crate) fn is_writable<T: 'static>(elements: &Buffer<T>) -> bool {
    let of_python = |owner: &(dyn Any + Send + Sync)| {
        owner.downcast_ref::<Elements<T>>().is_some_and(|elements| elements.owner.is_writable())
    };
    elements.owner().is_none_or(of_python)
}

/// Coordinates or positions, borrowed: of 8 to 64 bits, with a sign or without. Negative ones become such as are beyond every extent,
/// which the check of the tensor finds. They are to be copied before they are checked.
pub(crate) fn indices(object: &Bound<'_, PyAny>) -> PyResult<IndexArray> {
    let array = Exported::of(object, false)?;
    Ok(match array.element()? {
        ElementType::I32 | ElementType::U32 => array.lend::<u32>()?.into(),
        ElementType::I64 | ElementType::U64 => array.lend::<u64>()?.into(),
        ElementType::U16 => array.lend::<u16>()?.into(),
        ElementType::U8 => array.lend::<u8>()?.into(),
        other => return Err(PyTypeError::new_err(format!("elements {} are no indices", other.name()))),
    })
}

/// The values of an array, and its shape. Truth values are copied: as in NumPy, each byte but 0 is true.
pub(crate) fn values(object: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Values)> {
    let array = Exported::of(object, false)?;
    let shape = array.shape();
    if array.element()? == ElementType::Bool {
        let (first, length) = array.elements::<u8>()?;
        // SAFETY: so many bytes lie there as long as the array is exported, and bytes are valid whatever they are.
        let bytes = unsafe { slice::from_raw_parts(first.as_ptr(), length) };
        return Ok((shape, bool::wrap(bytes.iter().map(|&byte| byte != 0).collect::<Buffer<bool>>())));
    }
    Ok((shape, with_array(array, false)?))
}

/// The same, to be written to.
pub(crate) fn values_to_write(object: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Values)> {
    let array = Exported::of(object, true)?;
    let shape = array.shape();
    if array.element()? == ElementType::Bool {
        return Err(PyTypeError::new_err("out= takes no array of truth values"));
    }
    Ok((shape, with_array(array, true)?))
}

fn with_array(array: Exported, writable: bool) -> PyResult<Values> {
    fn wrap<T: Element + 'static>(array: Exported, writable: bool) -> PyResult<Values> {
        Ok(T::wrap(if writable { array.lend_to_write::<T>()? } else { array.lend::<T>()? }))
    }
    match array.element()? {
        ElementType::F64 => wrap::<f64>(array, writable),
        ElementType::F32 => wrap::<f32>(array, writable),
        ElementType::F16 => wrap::<f16>(array, writable),
        ElementType::I8 => wrap::<i8>(array, writable),
        ElementType::I16 => wrap::<i16>(array, writable),
        ElementType::I32 => wrap::<i32>(array, writable),
        ElementType::I64 => wrap::<i64>(array, writable),
        ElementType::U8 => wrap::<u8>(array, writable),
        ElementType::U16 => wrap::<u16>(array, writable),
        ElementType::U32 => wrap::<u32>(array, writable),
        ElementType::U64 => wrap::<u64>(array, writable),
        ElementType::Bool => Err(PyTypeError::new_err("an array of truth values is copied, not borrowed")),
        ElementType::C32 => wrap::<c32>(array, writable),
        ElementType::C64 => wrap::<c64>(array, writable),
        ElementType::BF16 => Err(PyTypeError::new_err("NumPy has no elements bf16")),
    }
}
