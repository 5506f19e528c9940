//! What machine code runs with: the tables of its kernel, with the plans of its parallel loops, and what a call has made.

use super::layout::{Kind, Layout};
use crate::complex::{c32, c64};
use crate::execute::native::abi::Array;
use crate::parallel::{self, Bitmap, Interrupted, NoMemory, Table};
use spc_compiler::ir::{ArrayId, ChunkPolicy};
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Evaluates an expression with a type that stands for a kind.
macro_rules! with_kind {
    ($kind:expr, |$type:ident| $result:expr) => {{
        macro_rules! of {
            ($actual:ty) => {{
                type $type = $actual;
                $result
            }};
        }
        match $kind {
            Kind::One => of!(u8),
            Kind::Two => of!(u16),
            Kind::Four => of!(u32),
            Kind::Eight => of!(u64),
            Kind::TwoFours => of!(crate::complex::c32),
            Kind::TwoEights => of!(crate::complex::c64),
        }
    }};
}
pub(super) use with_kind;

/// Why machine code stopped.
#[derive(Debug)]
pub(super) enum Failure {
    Stopped(String),
    NoMemory(NoMemory),
    Interrupted,
}

/// What the machine code of a kernel refers to.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) layout: Layout,
    /// The names and kinds of arrays.
    pub(super) arrays: Vec<(String, Kind)>,
    pub(super) plans: Vec<Plan>,
}

/// A run of a kernel.
#[derive(Debug)]
pub(super) struct Run<'p> {
    pub(super) tables: &'p Tables,
    failed: AtomicBool,
    failure: Mutex<Option<Failure>>,
}

impl<'p> Run<'p> {
    pub(super) fn new(tables: &'p Tables) -> Self {
        Self { tables, failed: AtomicBool::new(false), failure: Mutex::new(None) }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Keeps the first failure.
    pub(super) fn fail(&self, failure: Failure) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        self.failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn into_failure(self) -> Option<Failure> {
        self.failure.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail_by(&self, payload: &(dyn Any + Send)) {
        self.fail(match payload.downcast_ref::<NoMemory>() {
            Some(array) => Failure::NoMemory(array.clone()),
            None if payload.is::<Interrupted>() => Failure::Interrupted,
            None => {
                let said = payload.downcast_ref::<String>().map(String::as_str);
                let said = said.or_else(|| payload.downcast_ref::<&str>().copied());
                Failure::Stopped(said.unwrap_or("it stopped").to_owned())
            }
        });
    }

    /// What the body says, or that it failed.
    pub(super) fn guarded<R>(&self, failed: R, body: impl FnOnce() -> R) -> R {
        match catch_unwind(AssertUnwindSafe(body)) {
            Ok(result) => result,
            Err(payload) => {
                self.fail_by(&*payload);
                failed
            }
        }
    }
}

/// What a call of a function of machine code has made, and frees when it is done.
pub(super) struct Session<'r> {
    pub(super) run: &'r Run<'r>,
    pub(super) locals: Box<[Local]>,
    pub(super) partials: Vec<[u64; 2]>,
}

impl<'r> Session<'r> {
    pub(super) fn new(run: &'r Run<'r>) -> Self {
        let locals = run.tables.arrays.iter().map(|_| Local::None).collect();
        Self { run, locals, partials: Vec::new() }
    }
}

pub(super) enum Local {
    None,
    Vector(Array, Kind),
    Table(Table),
    Bitmap(Bitmap),
}

impl Drop for Local {
    fn drop(&mut self) {
        if let Local::Vector(array, kind) = self {
            // SAFETY: the parts of a vector of this kind, which `put` has left there; nothing else owns it.
            unsafe { with_kind!(*kind, |T| drop(take::<T>(array))) }
        }
    }
}

/// An element as two words.
pub(super) trait Words: parallel::Plain + Send + Sync + 'static {
    fn of(words: [u64; 2]) -> Self;
}

macro_rules! words {
    ($($type:ty)*) => {
        $(impl Words for $type {
            fn of(words: [u64; 2]) -> Self {
                words[0] as $type
            }
        })*
    };
}

words!(u8 u16 u32 u64);

impl Words for c32 {
    fn of(words: [u64; 2]) -> Self {
        c32::new(f32::from_bits(words[0] as u32), f32::from_bits(words[1] as u32))
    }
}

impl Words for c64 {
    fn of(words: [u64; 2]) -> Self {
        c64::new(f64::from_bits(words[0]), f64::from_bits(words[1]))
    }
}

/// The vector whose parts lie there; what is left is empty.
///
/// # Safety
/// They are the parts of a vector of elements that lie in memory as those of `T` do, or nothing.
pub(super) unsafe fn take<T>(array: &mut Array) -> Vec<T> {
    let taken = std::mem::replace(array, Array { data: std::ptr::null_mut(), length: 0, capacity: 0 });
    match NonNull::new(taken.data.cast::<T>()) {
        // SAFETY: as the caller promises.
        Some(data) => unsafe { Vec::from_raw_parts(data.as_ptr(), taken.length, taken.capacity) },
        None => Vec::new(),
    }
}

/// Leaves the parts of a vector.
pub(super) fn put<T>(array: &mut Array, vector: Vec<T>) {
    let mut vector = ManuallyDrop::new(vector);
    *array = Array { data: vector.as_mut_ptr().cast(), length: vector.len(), capacity: vector.capacity() };
}

/// What a chunk does: with the frame, its session, its places, the words of what it shares, and those of what it reduces. Not
/// zero: it failed.
pub(super) type Body =
    unsafe extern "C" fn(*mut u64, *mut Session<'_>, u64, u64, *const [u64; 5], *mut [u64; 2]) -> u64;
/// The value of the expression with a number, at a place.
pub(super) type Query = unsafe extern "C" fn(*mut u64, u64, u64) -> u64;
/// With the frame: combines elements with others, so many of them, one by one.
pub(super) type Add = unsafe extern "C" fn(*mut u64, *mut u8, *const u8, u64) -> u64;

/// A parallel loop.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) body: Body,
    pub(super) query: Query,
    pub(super) policy: ChunkPolicy,
    pub(super) is_deterministic: bool,
    pub(super) is_aligned: bool,
    pub(super) shares: Vec<Share>,
    pub(super) reductions: usize,
    pub(super) uneven: Option<Box<Plan>>,
}

/// The numbers of expressions.
pub(super) const BEGIN: u64 = 0;
pub(super) const END: u64 = 1;
pub(super) const BEFORE: u64 = 2;
pub(super) const SAME: u64 = 3;
/// Where the part of a chunk begins in the array of a number.
pub(super) fn start(share: usize) -> u64 {
    4 + 2 * share as u64
}
/// How long the segments of the array of a number are.
pub(super) fn segment(share: usize) -> u64 {
    5 + 2 * share as u64
}

/// An array that chunks share.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) array: ArrayId,
    pub(super) kind: Kind,
    pub(super) sharing: Sharing,
}

#[derive(Debug)]
pub(super) enum Sharing {
    Owned,
    Segmented {
        identity: [u64; 2],
        add: Add,
        anew: bool,
    },
    Private {
        identity: [u64; 2],
        add: Add,
    },
    Joined,
    /// Of positions in what another share, by its number, is joined to.
    JoinedPositions {
        children: usize,
    },
}
