//! The host's side: the services that it offers, and the arrays that it lends and receives.

use super::abi::{self, Body, Host};
use crate::execute::array::{Access, Array, Data, Stored};
use crate::memory;
use crate::parallel;
use crate::tensor::{Buffer, values::with_values_mut};
use crate::with_element;
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::ArrayElement;
use std::alloc::{self, Layout};
use std::ffi::c_void;
use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

/// What every kernel gets.
pub(super) static HOST: Host = Host { threads, run_all, allocate, allocate_zeroed, reallocate, free };

extern "C" fn threads() -> usize {
    parallel::threads()
}

unsafe extern "C" fn run_all(count: usize, body: Body, data: *const c_void) -> bool {
    struct Shared(*const c_void);
    // SAFETY: the caller lets `body` be called with it on several threads at a time.
    unsafe impl Sync for Shared {}
    let shared = Shared(data);
    let shared = &shared;
    // SAFETY: the caller lets `body` be called with `data` and each index below `count`, until this returns.
    parallel::run_unless_stopped(count, &move |index| unsafe { body(shared.0, index) })
}

/// The layouts that a kernel asks for come from its own standard library; one that is not valid is refused.
unsafe extern "C" fn allocate(size: usize, align: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        // SAFETY: the caller keeps the rules of `GlobalAlloc`: the size is not zero.
        Ok(layout) => memory::advised(unsafe { alloc::alloc(layout) }, size),
        Err(_) => null_mut(),
    }
}

unsafe extern "C" fn allocate_zeroed(size: usize, align: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        // SAFETY: as above.
        Ok(layout) => memory::advised(unsafe { alloc::alloc_zeroed(layout) }, size),
        Err(_) => null_mut(),
    }
}

unsafe extern "C" fn reallocate(memory: *mut u8, size: usize, align: usize, new_size: usize) -> *mut u8 {
    match Layout::from_size_align(size, align) {
        // SAFETY: the memory comes from `allocate` with this layout, and the new size is valid, by the rules of `GlobalAlloc`.
        Ok(layout) => memory::advised(unsafe { alloc::realloc(memory, layout, new_size) }, new_size),
        Err(_) => null_mut(),
    }
}

unsafe extern "C" fn free(memory: *mut u8, size: usize, align: usize) {
    if let Ok(layout) = Layout::from_size_align(size, align) {
        // SAFETY: the memory comes from `allocate` with this layout.
        unsafe { alloc::dealloc(memory, layout) }
    }
}

/// No array.
pub(super) fn nothing() -> abi::Array {
    abi::Array { data: null_mut(), length: 0, capacity: 0 }
}

/// Evaluates an expression with a type that stands for that of an array's elements.
macro_rules! with_stored {
    ($element:expr, |$type:ident| $result:expr) => {{
        macro_rules! index {
            ($actual:ty) => {{
                type $type = $actual;
                $result
            }};
        }
        match $element {
            ArrayElement::Index(IndexWidth::U8) => index!(u8),
            ArrayElement::Index(IndexWidth::U16) => index!(u16),
            ArrayElement::Index(IndexWidth::U32) => index!(u32),
            ArrayElement::Index(IndexWidth::U64) => index!(u64),
            ArrayElement::Value(element) => with_element!(element, |$type| $result),
        }
    }};
}

/// A parameter's elements, for the kernel: for writing only where it writes them. Where it appends, the memory is the
/// kernel's from now on, and what is left here is empty.
pub(in crate::execute) fn lend(array: &mut Array) -> abi::Array {
    let element = array.parameter.element;
    let (data, length) = match (&mut array.data, array.parameter.access) {
        (data, Access::Append) => return with_stored!(element, |T| give::<T>(data, element)),
        (Data::Index(indices), _) => (indices.as_bytes().as_ptr().cast_mut(), indices.len()),
        (Data::Values(values), Access::Read) => (values.as_bytes().as_ptr().cast_mut(), values.len()),
        (Data::Values(values), Access::Write(_)) => {
            with_values_mut!(values, |values| (values.as_mut_ptr().cast(), values.len()))
        }
    };
    abi::Array { data: data.cast(), length, capacity: 0 }
}

/// The memory of an array that a kernel appends to, as the parts of a vector.
fn give<T: Stored>(data: &mut Data, element: ArrayElement) -> abi::Array {
    let empty = T::put(Buffer::default(), element);
    let vector = T::take(std::mem::replace(data, empty)).unwrap_or_default().into_vec();
    let mut vector = ManuallyDrop::new(vector);
    abi::Array { data: vector.as_mut_ptr().cast(), length: vector.len(), capacity: vector.capacity() }
}

/// A vector that a kernel has given.
///
/// # Safety
/// The kernel has given it with elements of that type, or nothing; it is received once.
pub(super) unsafe fn receive<T>(given: &abi::Array) -> Vec<T> {
    match NonNull::new(given.data.cast::<T>()) {
        // SAFETY: `given` are the parts of a vector of the kernel's. Its memory is this allocator's, by way of `HOST`, with the
        // layout of so many elements of that type.
        Some(data) => unsafe { Vec::from_raw_parts(data.as_ptr(), given.length, given.capacity) },
        None => Vec::new(),
    }
}

/// The elements of a parameter that a kernel has given.
///
/// # Safety
/// As for [`receive`], with the type of `element`.
pub(in crate::execute) unsafe fn receive_data(given: &abi::Array, element: ArrayElement) -> Data {
    // SAFETY: as the caller promises.
    unsafe { with_stored!(element, |T| T::put(receive::<T>(given).into(), element)) }
}

/// What tells this machine's processor from another that shares its cache folder, so far as the system says.
pub(super) fn processor() -> String {
    const LINES: [&str; 9] = [
        "vendor_id",
        "cpu family",
        "model",
        "model name",
        "flags", // x86
        "CPU implementer",
        "CPU part",
        "Features",
        "isa",
    ];
    let mut text = vec![0; 1 << 13];
    let read = File::open("/proc/cpuinfo").and_then(|mut file| file.read(&mut text)).unwrap_or(0);
    let text = String::from_utf8_lossy(&text[..read]);
    let first = text.split("\n\n").next().unwrap_or_default();
    let told = |line: &&str| LINES.contains(&line.split(':').next().unwrap_or_default().trim());
    let lines: Vec<&str> = first.lines().filter(told).collect();
    format!("{} {}\n{}", std::env::consts::ARCH, std::env::consts::OS, lines.join("\n"))
}
