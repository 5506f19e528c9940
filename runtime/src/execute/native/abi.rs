//! What the host and a compiled kernel hand to each other.
//!
//! This text is compiled on both sides, so that they can't disagree.

use std::ffi::c_void;

/// The version of what is below.
pub const VERSION: u32 = 3;

/// What the host does for a kernel. It outlives every call.
#[repr(C)]
pub struct Host {
    /// How many threads parallel loops run on.
    pub threads: extern "C" fn() -> usize,
    /// Calls `body(data, index)` for each index below `count`, in any order or at the same time, and returns when all are done. Whether
    /// all were called: if not, somebody has asked the kernel to stop.
    pub run_all: unsafe extern "C" fn(count: usize, body: Body, data: *const c_void) -> bool,
    /// `std::alloc::alloc`: what the kernel appends becomes the host's without a copy.
    pub allocate: unsafe extern "C" fn(size: usize, align: usize) -> *mut u8,
    /// `std::alloc::alloc_zeroed`
    pub allocate_zeroed: unsafe extern "C" fn(size: usize, align: usize) -> *mut u8,
    /// `std::alloc::realloc`
    pub reallocate: unsafe extern "C" fn(memory: *mut u8, size: usize, align: usize, new_size: usize) -> *mut u8,
    /// `std::alloc::dealloc`
    pub free: unsafe extern "C" fn(memory: *mut u8, size: usize, align: usize),
}

/// One iteration of [`Host::run_all`]. It does not unwind.
pub type Body = unsafe extern "C" fn(data: *const c_void, index: usize);

/// One call of a kernel.
#[repr(C)]
pub struct Invocation {
    /// The sizes of the dimensions that come with the call, in order.
    pub dimensions: *const usize,
    /// The kernel's parameters, in order.
    pub arrays: *mut Array,
    /// What a panic said, or for what there was no memory, as bytes that the host then owns.
    pub message: Array,
}

/// An array in memory, of a type that both sides know.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Array {
    /// The first element; properly aligned even where there is none.
    pub data: *mut c_void,
    /// How many elements.
    pub length: usize,
    /// The capacity of the vector, where this is one that the other side then owns: an array to append to, which the host
    /// gives and the kernel gives back, and the message.
    pub capacity: usize,
}

/// The symbol that a library exports: runs the kernel, and returns [`DONE`], [`PANICKED`], [`NO_MEMORY`] or [`INTERRUPTED`].
pub type Entry = unsafe extern "C" fn(host: *const Host, invocation: *mut Invocation) -> i32;

/// The kernel ran.
pub const DONE: i32 = 0;
/// It panicked; [`Invocation::message`] says why, and appended arrays were not given.
pub const PANICKED: i32 = 1;
/// There was no memory for an array that it makes; [`Invocation::message`] says for which, and appended arrays were not given.
pub const NO_MEMORY: i32 = 2;
/// It was asked to stop, and did; appended arrays were not given.
pub const INTERRUPTED: i32 = 3;
