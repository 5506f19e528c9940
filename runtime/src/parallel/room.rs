//! Arrays that kernels make and grow, where there may be no memory for them.
//!
//! The extents of a call decide how long these arrays are. What the standard library does where there is no memory is to end the
//! process; here the kernel unwinds with a [`NoMemory`], which whoever runs it makes an error of.
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::marker::PhantomData;
use std::slice;
use std::sync::{Mutex, PoisonError};

/// What a kernel unwinds with where there is no memory for an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMemory {
    /// The lengths of the array's modes.
    shape: Vec<usize>,
    /// The bytes of an element.
    size: usize,
}

impl NoMemory {
    /// For an array of that shape, with elements of so many bytes.
    pub fn new(shape: &[usize], size: usize) -> NoMemory {
        NoMemory { shape: shape.to_vec(), size }
    }

    /// Unwinds, without a word to the hook for panics: this is no fault of the program.
    #[cold]
    pub fn unwind(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoMemory { shape, size } = self;
        for (mode, length) in shape.iter().enumerate() {
            write!(f, "{}{length}", if mode > 0 { " × " } else { "" })?;
        }
        let bytes = shape.iter().try_fold(*size as u128, |bytes, &length| bytes.checked_mul(length as u128));
        let size = format!("elements of {size} byte{}", if *size == 1 { "" } else { "s" });
        match bytes {
            Some(bytes) => write!(f, " {size}, {bytes} bytes together"),
            None => write!(f, " {size}, more than 2^128 bytes together"),
        }
    }
}

/// How large a huge page is, on x86-64 and with the usual page size on AArch64.
const HUGE: usize = 1 << 21;

/// Smaller arrays are left alone: one huge page lies within this many bytes wherever they begin.
pub(crate) const LEAST_IN_HUGE_PAGES: usize = 2 * HUGE;

/// Asks for huge pages behind memory that was not written to yet, where it is large. That it can fail is no matter: it is advice.
pub(crate) fn in_huge_pages<T>(first: *const T, count: usize) {
    let (begin, size) = (first.addr(), count.saturating_mul(size_of::<T>()));
    if size < LEAST_IN_HUGE_PAGES {
        return;
    }
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use std::ffi::{c_int, c_void};
        unsafe extern "C" {
            fn madvise(memory: *mut c_void, size: usize, advice: c_int) -> c_int;
        }
        /// `MADV_HUGEPAGE`
        const ADVICE: c_int = 14;
        let (first, end) = (begin.next_multiple_of(HUGE), (begin + size) / HUGE * HUGE);
        if first < end {
            // SAFETY: the pages lie within an allocation of the caller's. Which size they have changes nothing that a program
            // sees, and the system refuses addresses that are not mapped.
            unsafe { madvise(std::ptr::without_provenance_mut(first), end - first, ADVICE) };
        }
    }
    #[cfg(any(not(target_os = "linux"), miri))]
    let _ = begin;
}

/// Types of which zero bytes are a value.
///
/// # Safety
/// Zero bytes are the value of which [`Plain::is_zero`] is true.
pub unsafe trait Plain: Copy {
    /// Whether all bytes are zero.
    fn is_zero(self) -> bool;
}

macro_rules! plain {
    ($($type:ty)*) => {
        $(
            // SAFETY: the type is a number, and zero is that of zero bytes.
            unsafe impl Plain for $type {
                #[inline(always)]
                fn is_zero(self) -> bool {
                    self == 0
                }
            }
        )*
    };
}

plain!(u8 u16 u32 u64 usize i8 i16 i32 i64);

// SAFETY: zero bytes are `false`.
unsafe impl Plain for bool {
    #[inline(always)]
    fn is_zero(self) -> bool {
        !self
    }
}

// SAFETY: zero bits are zero, but not the negative one.
unsafe impl Plain for f32 {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.to_bits() == 0
    }
}

// SAFETY: as above.
unsafe impl Plain for f64 {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.to_bits() == 0
    }
}

// SAFETY: it is so for each element.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.into_iter().all(T::is_zero)
    }
}

// SAFETY: it is so for both parts, and what is between them may have any bytes.
unsafe impl<T: Plain, U: Plain> Plain for (T, U) {
    #[inline(always)]
    fn is_zero(self) -> bool {
        self.0.is_zero() && self.1.is_zero()
    }
}

/// An array of that shape whose elements are `fill`, in one piece.
///
/// ```
/// assert_eq!(spc::parallel::array(0.5, [2, 2]), [0.5; 4]);
/// assert_eq!(spc::parallel::array(0.5, [usize::MAX, 0, 2]), []);
/// let huge = std::panic::catch_unwind(|| spc::parallel::array(0.0f64, [1 << 40, 1 << 40]));
/// assert!(huge.unwrap_err().is::<spc::parallel::NoMemory>());
/// ```
pub fn array<T: Plain, const N: usize>(fill: T, shape: [usize; N]) -> Vec<T> {
    let no_memory = || NoMemory::new(&shape, size_of::<T>());
    let layout = length(&shape).and_then(|length| Some((length, Layout::array::<T>(length).ok()?)));
    let Some((length, layout)) = layout else { no_memory().unwind() };
    if layout.size() == 0 || !fill.is_zero() {
        let mut array = Vec::new();
        if array.try_reserve_exact(length).is_err() {
            no_memory().unwind();
        }
        array.resize(length, fill);
        return array;
    }
    // The system hands out pages of zeros when they are first touched.
    // SAFETY: the size is not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    if memory.is_null() {
        no_memory().unwind();
    }
    in_huge_pages(memory, layout.size());
    // SAFETY: the memory is of the global allocator, with the layout of `length` elements. They are zero bytes, which are a value
    // of the type.
    unsafe { Vec::from_raw_parts(memory.cast(), length, length) }
}

/// At most so many bytes are kept for later calls.
const KEPT: usize = 1 << 28;

/// A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Memory that was used, for whoever needs some next. What comes from the system has no pages yet: to get them takes longer than to
/// write to them, and kernels that have copies of a result make these in each call.
static UNUSED: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());

/// An array for as long as a kernel runs, which begins on a cache line. Its memory is kept for later calls.
#[derive(Debug)]
pub(super) struct Scratch<T> {
    memory: Vec<Line>,
    length: usize,
    elements: PhantomData<T>,
}

impl<T: Copy> Scratch<T> {
    /// So many elements, each `fill`.
    pub(super) fn new(length: usize, fill: T) -> Scratch<T> {
        const { assert!(align_of::<T>() <= align_of::<Line>(), "elements that a line of memory is aligned for") };
        let lines = length.checked_mul(size_of::<T>()).map(|bytes| bytes.div_ceil(size_of::<Line>()));
        let Some(lines) = lines else { NoMemory::new(&[length], size_of::<T>()).unwind() };
        let mut memory = unused(lines).unwrap_or_default();
        if memory.capacity() < lines {
            if memory.try_reserve_exact(lines).is_err() {
                NoMemory::new(&[length], size_of::<T>()).unwind();
            }
            in_huge_pages(memory.as_ptr(), lines);
        }
        let first: *mut T = memory.as_mut_ptr().cast();
        for place in 0..length {
            // SAFETY: the memory has room for the elements, and begins at a multiple of what they are aligned to.
            unsafe { first.add(place).write(fill) };
        }
        Scratch { memory, length, elements: PhantomData }
    }

    /// They.
    pub(super) fn elements(&self) -> &[T] {
        // SAFETY: all were written when it was made.
        unsafe { slice::from_raw_parts(self.memory.as_ptr().cast(), self.length) }
    }

    /// They, to write to.
    pub(super) fn elements_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nothing else has the memory.
        unsafe { slice::from_raw_parts_mut(self.memory.as_mut_ptr().cast(), self.length) }
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        let memory = std::mem::take(&mut self.memory);
        let bytes = |memory: &Vec<Line>| memory.capacity() * size_of::<Line>();
        let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
        if memory.capacity() > 0 && unused.iter().map(bytes).sum::<usize>() + bytes(&memory) <= KEPT {
            unused.push(memory);
        }
    }
}

/// The smallest unused memory that has room for so many lines. Memory that is much larger stays for those who need it.
fn unused(lines: usize) -> Option<Vec<Line>> {
    let mut unused = UNUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let fits = |memory: &Vec<Line>| (lines..=lines.saturating_mul(4)).contains(&memory.capacity());
    let all = unused.iter().enumerate().filter(|(_, memory)| fits(memory));
    let place = all.min_by_key(|(_, memory)| memory.capacity())?.0;
    Some(unused.swap_remove(place))
}

/// Appends an element, as [`Vec::push`] does. That one hands the vector's address to what makes it longer, and a loop that appends
/// then reads its length from memory each time, where it has just been written.
#[inline(always)]
pub fn push<T>(vector: &mut Vec<T>, element: T) {
    let length = vector.len();
    if length == vector.capacity() {
        *vector = longer(std::mem::take(vector));
    }
    // SAFETY: there is room behind the last element: there was, or `longer` has seen to it. It holds an element then.
    unsafe {
        vector.as_mut_ptr().add(length).write(element);
        vector.set_len(length + 1);
    }
}

/// The same vector with room for more.
#[cold]
#[inline(never)]
fn longer<T>(mut vector: Vec<T>) -> Vec<T> {
    reserve(&mut vector, 1);
    vector
}

/// Appends elements `fill`, as many as an array of that shape has.
///
/// ```
/// let mut elements = vec![1.0];
/// spc::parallel::extend(&mut elements, [2, 2], 0.5);
/// assert_eq!(elements, [1.0, 0.5, 0.5, 0.5, 0.5]);
/// ```
pub fn extend<T: Copy, const N: usize>(vector: &mut Vec<T>, shape: [usize; N], fill: T) {
    let Some(count) = length(&shape) else { NoMemory::new(&shape, size_of::<T>()).unwind() };
    reserve(vector, count);
    vector.resize(vector.len() + count, fill);
}

/// How many elements an array of that shape has, as far as they can be counted.
pub(crate) fn length(shape: &[usize]) -> Option<usize> {
    match shape.contains(&0) {
        true => Some(0),
        false => shape.iter().try_fold(1, |all: usize, &mode| all.checked_mul(mode)),
    }
}

/// Appends the elements of another array.
pub(super) fn append<T: Copy>(vector: &mut Vec<T>, more: &[T]) {
    reserve(vector, more.len());
    vector.extend_from_slice(more);
}

/// Makes room for more elements: for as many again where there is memory for these, as each growth moves what there is.
pub(crate) fn reserve<T>(vector: &mut Vec<T>, more: usize) {
    let length = vector.len();
    if more <= vector.capacity() - length {
        return;
    }
    // Where there is no memory for twice as many, there may be for a part. A smaller one than a sixty-fourth is no help: to fill what is
    // left of the memory by single elements takes minutes.
    let (least, mut room) = (more.max(length / 64), length.max(more).max(4));
    while vector.try_reserve_exact(room).is_err() {
        if room <= least {
            NoMemory::new(&[length.saturating_add(more)], size_of::<T>()).unwind();
        }
        room = (room / 2).max(least);
    }
    in_huge_pages(vector.as_ptr(), vector.capacity());
}
