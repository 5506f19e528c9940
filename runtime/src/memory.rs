//! Large arrays in huge pages.
//!
//! A processor finds the memory behind an address by a table of pages. It remembers some two thousand of them: 8 MB in pages of
//! 4 KiB, 4 GB in pages of 2 MiB. Loops that gather from larger arrays than that, as rows of a factor by a sparse index, wait
//! for the table as long as for the memory itself, and an array of small pages is handed out, and cleared, one page at a time.
//! Linux gives huge pages to whoever asks (`/sys/kernel/mm/transparent_hugepage/enabled` says `madvise` or `always`); this is
//! what asks. Where the system has none, nothing changes.
//!
//! Tensors that this crate makes ask by themselves. [`HugePages`] asks for every large array of a program: for vectors that
//! tensors are made from, and those that kernels of the macro grow. It also keeps large blocks that are given back for the next
//! that asks, 256 MB at most.

mod kept;

use crate::fault;
use crate::parallel::{self, LEAST_IN_HUGE_PAGES as LEAST};
use bytemuck::Zeroable;
use std::alloc::{GlobalAlloc, Layout, System};

/// There is not enough memory for a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is not enough memory here for {} bytes, {length} elements of {size} bytes each",
    total(.length, .size)
)]
pub struct OutOfMemory {
    /// The number of elements asked for.
    pub length: usize,
    /// The size of each in bytes.
    pub size: usize,
}

fn total(length: &usize, size: &usize) -> u128 {
    *length as u128 * *size as u128
}

/// The system's allocator, with huge pages for what takes 4 MiB or more, and with blocks of 1 MiB or more kept for the next that asks.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: spc::memory::HugePages = spc::memory::HugePages;
/// # fn main() {
/// #     let mut numbers = vec![1u8; 100];
/// #     numbers.resize(9 << 20, 2);
/// #     numbers.resize(20 << 20, 3);
/// #     assert_eq!((numbers[99], numbers[100], numbers[19 << 20]), (1, 2, 3));
/// #     assert!(vec![0u64; 1 << 20].iter().all(|&number| number == 0));
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct HugePages;

// SAFETY: memory is the system allocator's, which keeps the rules; a block has one owner; advice about pages changes neither what they
// hold nor who owns them.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the rules of `GlobalAlloc`, which are also those of `System`.
        advised(unsafe { kept::alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        advised(unsafe { System.alloc_zeroed(kept::whole(layout)) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(new) = Layout::from_size_align(size, layout.align()) else { return std::ptr::null_mut() };
        let (old, new) = (kept::whole(layout), kept::whole(new).size());
        if old.size() == new {
            return memory;
        }
        // SAFETY: as above; the system allocator knows `memory` by this layout.
        advised(unsafe { System.realloc(memory, old, new) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { kept::dealloc(memory, layout) }
    }
}

/// Memory that has just been allocated, or null, with advice to the system.
pub(crate) fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    if !memory.is_null() {
        parallel::in_huge_pages(memory, size);
    }
    memory
}

/// Asks for huge pages behind an array that was not written to yet.
pub(crate) fn in_huge_pages<T>(array: &[T]) {
    parallel::in_huge_pages(array.as_ptr(), array.len());
}

/// So many zeros, in huge pages.
pub(crate) fn try_zeroed<T: Zeroable>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let failure = OutOfMemory { length: count, size: size_of::<T>() };
    if fault::strikes() {
        return Err(failure);
    }
    let array = bytemuck::allocation::try_zeroed_vec(count).map_err(|()| failure)?;
    in_huge_pages(&array);
    Ok(array)
}

/// Room for so many elements.
pub(crate) fn try_room<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut array = Vec::new();
    try_reserve(&mut array, count)?;
    Ok(array)
}

/// Whether there is memory for so many elements, as far as that can be told before they are there.
pub(crate) fn check_room(length: usize, size: usize) -> Result<(), OutOfMemory> {
    let failure = OutOfMemory { length, size };
    let bytes = length.checked_mul(size).ok_or(failure)?;
    if bytes >= LEAST {
        // An allocation without a use might be optimized away.
        std::hint::black_box(&try_room::<u8>(bytes).map_err(|_| failure)?);
    }
    Ok(())
}

/// More room in a vector.
pub(crate) fn try_reserve<T>(array: &mut Vec<T>, more: usize) -> Result<(), OutOfMemory> {
    let failure = || OutOfMemory { length: array.len().saturating_add(more), size: size_of::<T>() };
    if fault::strikes() {
        return Err(failure());
    }
    let failure = failure();
    array.try_reserve(more).map_err(|_| failure)
}

/// The elements in a vector of its own.
pub(crate) fn try_collected<T>(elements: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let mut array = try_room(elements.len())?;
    array.extend(elements);
    Ok(array)
}

/// The most bytes for what is made beside inputs and results: half of what is available if it is not said.
pub fn budget(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(|| available() / 2)
}

/// How many bytes of memory the system has to give: what is free, or can be made free. Where it does not say, 4 GB.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.map_or(4_000_000_000, |kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = LEAST / 2;

    #[test]
    fn arrays_of_every_size_and_place_are_what_they_were() {
        let whole = vec![7u8; 5 * PAGE];
        for (begin, end) in [(0, 0), (0, 1), (3, LEAST), (1, LEAST + 1), (PAGE - 1, 4 * PAGE + 5), (0, 5 * PAGE)] {
            in_huge_pages(&whole[begin..end]);
        }
        assert!(whole.iter().all(|&byte| byte == 7));
    }

    #[test]
    fn what_grows_and_shrinks_keeps_its_contents() {
        let layout = |size| Layout::from_size_align(size, 8).unwrap();
        let sizes = [10, LEAST - 1, LEAST, 9 * PAGE + 3, LEAST, 10];
        // SAFETY: each size is above zero, and memory is used within the size that it has.
        unsafe {
            let mut memory = HugePages.alloc_zeroed(layout(sizes[0]));
            assert_eq!(*memory.add(9), 0);
            *memory = 5;
            for pair in sizes.windows(2) {
                memory = HugePages.realloc(memory, layout(pair[0]), pair[1]);
                assert_eq!(*memory, 5);
                *memory.add(pair[1] - 1) = 1;
            }
            HugePages.dealloc(memory, layout(sizes[5]));
        }
    }
}
