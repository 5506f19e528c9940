//! The side of the kernel: its memory, its threads and its panics are the host's.

use super::abi::{Array, DONE, Host, INTERRUPTED, Invocation, NO_MEMORY, PANICKED};
use crate::parallel::NoMemory;
use std::any::Any;
use std::alloc::{GlobalAlloc, Layout};
use std::ffi::c_void;
use std::panic::{self, AssertUnwindSafe};
use std::ptr::{null_mut, slice_from_raw_parts, slice_from_raw_parts_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Set at the beginning of every call, always to the same host.
static HOST: AtomicPtr<Host> = AtomicPtr::new(null_mut());

fn host() -> Option<&'static Host> {
    // SAFETY: it is null, or points to the host's table, which is never changed and outlives this library.
    unsafe { HOST.load(Ordering::Acquire).as_ref() }
}

struct HostMemory;

#[global_allocator]
static MEMORY: HostMemory = HostMemory;

// SAFETY: each method is the host's allocator's method of that name, with the same layout; before the first call, when there
// is no host yet, there is no memory. The caller's promises of a layout and of memory are those that the host's method asks for.
unsafe impl GlobalAlloc for HostMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        host().map_or(null_mut(), |host| unsafe { (host.allocate)(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        host().map_or(null_mut(), |host| unsafe { (host.allocate_zeroed)(layout.size(), layout.align()) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        host().map_or(null_mut(), |host| unsafe { (host.reallocate)(memory, layout.size(), layout.align(), new_size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Some(host) = host() {
            // SAFETY: as above.
            unsafe { (host.free)(memory, layout.size(), layout.align()) }
        }
    }
}

/// How many threads the host has for parallel loops.
pub fn threads() -> usize {
    host().map_or(1, |host| (host.threads)())
}

struct Loop<'a> {
    body: &'a (dyn Fn(usize) + Sync),
    failed: AtomicBool,
    /// What the first body unwound with that did.
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

/// What a kernel unwinds with that was asked to stop.
struct Interrupted;

/// Runs a body on the host's threads. Where it panics, this does.
pub fn run_all(count: usize, body: &(dyn Fn(usize) + Sync)) {
    unsafe extern "C" fn iteration(data: *const c_void, index: usize) {
        // SAFETY: `data` is the loop below, which waits for all iterations; it is shared, and `Sync`.
        let parallel = unsafe { &*data.cast::<Loop<'_>>() };
        let body = AssertUnwindSafe(|| (parallel.body)(index));
        if !parallel.failed.load(Ordering::Relaxed)
            && let Err(payload) = panic::catch_unwind(body)
        {
            parallel.failed.store(true, Ordering::Relaxed);
            parallel.payload.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
        }
    }
    let parallel = Loop { body, failed: AtomicBool::new(false), payload: Mutex::new(None) };
    let is_done = match host() {
        // SAFETY: `iteration` may be called at the same time with this loop, until it returns.
        Some(host) => unsafe { (host.run_all)(count, iteration, (&raw const parallel).cast()) },
        None => {
            (0..count).for_each(body);
            true
        }
    };
    if let Some(payload) = parallel.payload.into_inner().unwrap_or_else(PoisonError::into_inner) {
        panic::resume_unwind(payload);
    }
    if !is_done {
        panic::resume_unwind(Box::new(Interrupted));
    }
}

/// What the first panic of a call said.
static MESSAGE: Mutex<Option<String>> = Mutex::new(None);

/// Runs a call; a panic becomes a message.
///
/// # Safety
/// `host` is the table of the host, `invocation` is not used by anybody else until this returns.
#[inline(never)]
pub unsafe fn run(host: *const Host, invocation: *mut Invocation, kernel: &mut dyn FnMut(&mut Invocation)) -> i32 {
    static HOOK: Once = Once::new();
    HOST.store(host.cast_mut(), Ordering::Release);
    HOOK.call_once(|| {
        panic::set_hook(Box::new(|panic| {
            MESSAGE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| panic.to_string());
        }));
    });
    // SAFETY: as the caller promises.
    let invocation = unsafe { &mut *invocation };
    let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| kernel(invocation))) else { return DONE };
    let said = MESSAGE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (status, message) = match payload.downcast_ref::<NoMemory>() {
        Some(array) => (NO_MEMORY, array.to_string()),
        None if payload.is::<Interrupted>() => (INTERRUPTED, String::new()),
        None => (PANICKED, said.unwrap_or_default()),
    };
    give(&mut invocation.message, message.into_bytes());
    status
}

/// An input.
///
/// # Safety
/// The array holds elements of that type, which do not change while the slice is used.
pub unsafe fn input<'a, T>(array: &Array) -> &'a [T] {
    // SAFETY: as the caller promises.
    unsafe { &*slice_from_raw_parts(array.data.cast(), array.length) }
}

/// The values of an output.
///
/// # Safety
/// The array holds elements of that type, which are used through this slice alone while it lives.
pub unsafe fn output<'a, T>(array: &Array) -> &'a mut [T] {
    // SAFETY: as the caller promises.
    unsafe { &mut *slice_from_raw_parts_mut(array.data.cast(), array.length) }
}

/// An array to append to, in the memory that the host gives for it.
///
/// # Safety
/// The array is the parts of a vector of that type, whose memory has no other owner.
pub unsafe fn appended<T>(array: &Array) -> Vec<T> {
    // SAFETY: as the caller promises; the host's allocator is this library's.
    unsafe { Vec::from_raw_parts(array.data.cast(), array.length, array.capacity) }
}

/// Gives a vector to the host: its memory is the host's already.
pub fn give<T>(array: &mut Array, vector: Vec<T>) {
    let mut vector = std::mem::ManuallyDrop::new(vector);
    *array = Array { data: vector.as_mut_ptr().cast(), length: vector.len(), capacity: vector.capacity() };
}
