//! Memory of the caller: all that goes through a pointer.
//!
//! A pointer may be null where its length is 0. What can be known of an array is checked: that it is there, aligned, not longer than
//! memory can be, that its elements are of a type and truth values are 0 or 1. That so many elements lie there is the caller's word.

use crate::status::{Failure, Status};
use spc::tensor::{Buffer, Element, ElementType, IndexArray};
use spc::with_element;
use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `spc_indices`: positions or coordinates.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Indices {
    /// The first element; null for an array that a level does not have.
    pub data: *const c_void,
    /// The number of elements.
    pub length: u64,
    /// The bytes of an element: 1, 2, 4 or 8.
    pub bytes: u64,
}

/// `spc_level`: the arrays of a level.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Level {
    /// Where children begin and end.
    pub positions: Indices,
    /// The coordinates.
    pub coordinates: Indices,
}

/// `spc_values`: the values of a tensor.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Values {
    /// The first element.
    pub data: *const c_void,
    /// The number of elements.
    pub length: u64,
    /// Their type: `SPC_F64` and so on.
    pub element: i32,
}

/// `spc_target`: an array that a call writes a result to.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Target {
    /// The first element.
    pub data: *mut c_void,
    /// The number of elements.
    pub length: u64,
    /// Their type: `SPC_F64` and so on.
    pub element: i32,
    /// The number of modes.
    pub order: u32,
    /// The extent of each mode.
    pub shape: *const u64,
}

/// `spc_owner`: what keeps arrays that are borrowed.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Owner {
    /// Handed to `release`.
    pub object: *mut c_void,
    /// Called once, when nothing has the arrays any longer.
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

/// What is promised of pointers that come from outside: see the page of this module.
pub(crate) type Pointer<T> = *const T;

/// A value behind a pointer.
pub(crate) fn value<T: Copy>(pointer: Pointer<T>, name: &str) -> Result<T, Failure> {
    check(pointer, name)?;
    // SAFETY: it is not null and aligned; the caller says that a value of the type lies there, of which all fields are plain.
    Ok(unsafe { pointer.read() })
}

/// Writes a value to where a pointer says.
pub(crate) fn put<T>(pointer: *mut T, name: &str, value: T) -> Result<(), Failure> {
    check(pointer, name)?;
    // SAFETY: it is not null and aligned; the caller says that there is room for a value of the type.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Whether a result can be written before it is computed.
pub(crate) fn check<T>(pointer: *const T, name: &str) -> Result<(), Failure> {
    match pointer {
        _ if pointer.is_null() => Err(Failure::argument(format!("`{name}` is NULL"))),
        _ if !pointer.is_aligned() => Err(misaligned(name, align_of::<T>())),
        _ => Ok(()),
    }
}

fn misaligned(name: &str, bytes: usize) -> Failure {
    Failure::argument(format!("`{name}` does not begin at a multiple of {bytes} bytes, as its elements do"))
}

/// A string.
pub(crate) fn text(pointer: Pointer<c_char>, name: &str) -> Result<String, Failure> {
    check(pointer, name)?;
    // SAFETY: it is not null; the caller says that a string ends in 0.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map(str::to_owned).map_err(|_| Failure::argument(format!("`{name}` is no UTF-8")))
}

/// Copies a text to a buffer of the caller's, with a 0 behind it; `length` becomes that of the whole text.
pub(crate) fn give_text(text: &str, buffer: *mut c_char, capacity: u64, length: *mut u64) -> Result<(), Failure> {
    if !length.is_null() {
        put(length, "length", text.len() as u64)?;
    }
    let needed = text.len() as u64 + 1;
    if buffer.is_null() && capacity == 0 && !length.is_null() {
        return Ok(());
    }
    check(buffer, "buffer")?;
    if capacity < needed {
        return Err(Failure::argument(format!(
            "the text takes {needed} bytes with its end, but `capacity` is {capacity}"
        )));
    }
    // SAFETY: the caller says that there are `capacity` bytes, which are enough; the text is not theirs.
    unsafe {
        buffer.copy_from_nonoverlapping(text.as_ptr().cast(), text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

/// Elements behind a pointer, as long as the call is.
pub(crate) fn list<'a, T: Copy>(pointer: Pointer<T>, length: u64, name: &str) -> Result<&'a [T], Failure> {
    let (first, length) = extent::<T>(pointer.cast(), length, name)?;
    // SAFETY: `extent` has checked what can be; the caller says that so many elements lie there during the call, all of plain fields.
    Ok(unsafe { slice::from_raw_parts(first.as_ptr(), length) })
}

/// Room for elements behind a pointer, as long as the call is.
pub(crate) fn room<'a, T: Copy>(pointer: *mut T, length: u64, name: &str) -> Result<&'a mut [T], Failure> {
    let (first, length) = extent::<T>(pointer.cast_const().cast(), length, name)?;
    // SAFETY: as in `list`; the caller says that nothing else uses them during the call.
    Ok(unsafe { slice::from_raw_parts_mut(first.as_ptr(), length) })
}

/// No array has more: it is what programs can address.
const MOST_BYTES: u64 = if (isize::MAX as u64) < 1 << 47 { isize::MAX as u64 } else { 1 << 47 };

/// The first element and how many there are; a length that no memory has is refused.
fn extent<T>(data: *const c_void, length: u64, name: &str) -> Result<(NonNull<T>, usize), Failure> {
    let bytes = length.checked_mul(size_of::<T>() as u64).filter(|bytes| *bytes <= MOST_BYTES);
    let count = bytes.and_then(|_| usize::try_from(length).ok());
    let count =
        count.ok_or_else(|| Failure::argument(format!("`{name}` can't have {length} elements: no memory has")))?;
    if count == 0 {
        return Ok((NonNull::dangling(), 0));
    }
    let Some(first) = NonNull::new(data.cast_mut().cast::<T>()) else {
        return Err(Failure::argument(format!("`{name}` is NULL, but is to have {length} elements")));
    };
    if !first.is_aligned() {
        return Err(misaligned(name, align_of::<T>()));
    }
    // Addresses do not go on at 0.
    if (first.as_ptr() as usize).checked_add(count * size_of::<T>()).is_none() {
        return Err(Failure::argument(format!("`{name}` can't have {length} elements: no memory has")));
    }
    Ok((first, count))
}

/// What keeps the arrays of a tensor. It releases them when the last of them is dropped, if the tensor has come about.
pub(crate) struct Keeper {
    owner: Owner,
    is_ours: AtomicBool,
}

// SAFETY: the object is only handed to `release`, which the header says may be called by any thread.
unsafe impl Send for Keeper {}
// SAFETY: as above.
unsafe impl Sync for Keeper {}

impl Keeper {
    /// What keeps arrays that are borrowed; `None` for such as are copied, as nothing releases them.
    pub(crate) fn of(owner: Pointer<Owner>) -> Result<Option<Arc<Self>>, Failure> {
        if owner.is_null() {
            return Ok(None);
        }
        let owner = value(owner, "owner")?;
        Ok(owner.release.is_some().then(|| Arc::new(Self { owner, is_ours: AtomicBool::new(false) })))
    }

    /// From here on the arrays are ours to release; before, a failure leaves them to the caller.
    pub(crate) fn take(&self) {
        self.is_ours.store(true, Ordering::Release);
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let (true, Some(release)) = (self.is_ours.load(Ordering::Acquire), self.owner.release) {
            // SAFETY: the caller gave the function for this object, to be called once, by any thread.
            unsafe { release(self.owner.object) };
        }
    }
}

/// Elements of the caller's, as long as their keeper is there.
struct Borrowed<T> {
    first: NonNull<T>,
    length: usize,
    _keeper: Arc<Keeper>,
}

// SAFETY: they are only read, as through a `&[T]`.
unsafe impl<T: Sync> Send for Borrowed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Borrowed<T> {}

impl<T> AsRef<[T]> for Borrowed<T> {
    fn as_ref(&self) -> &[T] {
        // SAFETY: so many elements lie there, aligned, until the keeper releases them; each is valid, as all types of elements but truth
        // values have a value for any bytes, and truth values are copied. Nothing writes to them while a kernel runs, as the header says.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

/// The elements of an array: borrowed, or copied where nothing keeps them.
fn elements<T: Copy + Send + Sync + 'static>(
    data: *const c_void,
    length: u64,
    keeper: Option<&Arc<Keeper>>,
    name: &str,
) -> Result<Buffer<T>, Failure> {
    let (first, length) = extent::<T>(data, length, name)?;
    match keeper {
        Some(keeper) => Ok(Buffer::owned_by(Borrowed { first, length, _keeper: keeper.clone() })),
        None => {
            let mut copy = Vec::new();
            copy.try_reserve_exact(length)
                .map_err(|error| Failure::new(Status::Memory, format!("`{name}`: {error}")))?;
            // SAFETY: as in `list`.
            copy.extend_from_slice(unsafe { slice::from_raw_parts(first.as_ptr(), length) });
            Ok(Buffer::from(copy))
        }
    }
}

/// An index array; none where there is no pointer and no length.
pub(crate) fn indices(array: Indices, keeper: Option<&Arc<Keeper>>, name: &str) -> Result<Option<IndexArray>, Failure> {
    if array.data.is_null() && array.length == 0 && array.bytes == 0 {
        return Ok(None);
    }
    let Indices { data, length, bytes } = array;
    Ok(Some(match bytes {
        1 => elements::<u8>(data, length, keeper, name)?.into(),
        2 => elements::<u16>(data, length, keeper, name)?.into(),
        4 => elements::<u32>(data, length, keeper, name)?.into(),
        8 => elements::<u64>(data, length, keeper, name)?.into(),
        other => return Err(Failure::argument(format!("an index of `{name}` has 1, 2, 4 or 8 bytes, not {other}"))),
    }))
}

/// Values. Truth values are copied: a byte that is written later may be none.
pub(crate) fn values(array: Values, keeper: Option<&Arc<Keeper>>) -> Result<spc::tensor::Values, Failure> {
    let element = element(array.element)?;
    if element == ElementType::Bool {
        let bytes = elements::<u8>(array.data, array.length, None, "values")?;
        return truth_values(bytes.as_slice()).map(bool::wrap);
    }
    with_element!(element, |T| Ok(T::wrap(elements::<T>(array.data, array.length, keeper, "values")?)))
}

/// Bytes other than 0 and 1 are no truth values.
fn truth_values(bytes: &[u8]) -> Result<Buffer<bool>, Failure> {
    if let Some(place) = bytes.iter().position(|byte| *byte > 1) {
        let byte = bytes[place];
        let message = format!("truth value {place} is the byte {byte}, which is neither 0 nor 1");
        return Err(Failure::argument(message));
    }
    Ok(bytes.iter().map(|byte| *byte == 1).collect())
}

/// An array that is lent to be written to; for truth values, one of ours, which [`give`] copies.
pub(crate) fn target(target: &Target) -> Result<spc::tensor::Values, Failure> {
    fn lend<T: Element + 'static>(data: *mut c_void, length: u64) -> Result<spc::tensor::Values, Failure> {
        let (first, length) = extent::<T>(data, length, "data of a target")?;
        // SAFETY: so many elements lie there, aligned; each is a number. Nothing else uses them during the call, in which the buffer
        // ends, as the header says.
        Ok(T::wrap(unsafe { Buffer::lent(first, length, Arc::new(())) }))
    }
    let element = element(target.element)?;
    if element == ElementType::Bool {
        let (_, length) = extent::<u8>(target.data, target.length, "data of a target")?;
        let made = Buffer::<bool>::try_zeroed(length);
        return made.map(bool::wrap).map_err(|error| Failure::new(Status::Memory, error.to_string()));
    }
    with_element!(element, |T| lend::<T>(target.data, target.length))
}

/// The bytes of a target.
pub(crate) fn range_of(target: &Target) -> Result<Range<usize>, Failure> {
    let bytes = target.length.saturating_mul(element(target.element)?.bytes() as u64);
    let (first, length) = extent::<u8>(target.data, bytes, "data of a target")?;
    let first = first.as_ptr() as usize;
    Ok(first..first + length)
}

/// Copies values to a target of as many.
pub(crate) fn give(values: &spc::tensor::Values, target: &Target) -> Result<(), Failure> {
    let bytes = values.as_bytes();
    room::<u8>(target.data.cast(), bytes.len() as u64, "data of a target")?.copy_from_slice(bytes);
    Ok(())
}

/// The types of elements, by their numbers.
pub(crate) const ELEMENTS: [ElementType; 15] = [
    ElementType::F64,
    ElementType::F32,
    ElementType::F16,
    ElementType::BF16,
    ElementType::I8,
    ElementType::I16,
    ElementType::I32,
    ElementType::I64,
    ElementType::U8,
    ElementType::U16,
    ElementType::U32,
    ElementType::U64,
    ElementType::Bool,
    ElementType::C32,
    ElementType::C64,
];

fn element(number: i32) -> Result<ElementType, Failure> {
    let found = usize::try_from(number).ok().and_then(|number| ELEMENTS.get(number));
    found
        .copied()
        .ok_or_else(|| Failure::argument(format!("there is no element type {number}: say SPC_F64 or another")))
}

/// The number of an element type.
pub(crate) fn number_of(element: ElementType) -> i32 {
    ELEMENTS.iter().position(|other| *other == element).map_or(-1, |number| number as i32)
}

/// Extents as they come from outside.
pub(crate) fn shape(pointer: Pointer<u64>, order: u32) -> Result<Vec<usize>, Failure> {
    let extents = list(pointer, u64::from(order), "shape")?;
    let whole = |extent: &u64| usize::try_from(*extent).map_err(|_| Failure::argument("an extent is too large"));
    extents.iter().map(whole).collect()
}
