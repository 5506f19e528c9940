//! Large blocks of memory that were given back, kept for the next that asks.
//!
//! The system clears the pages of a new block when they are first written to, which takes as long as a kernel that streams through them.
//! Results and what chunks append are of similar sizes from call to call, so that the blocks of one serve the next.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;

/// Blocks of fewer bytes are the system allocator's business.
const LEAST: usize = 1 << 20;

/// The most bytes that are kept.
const MOST: usize = 256 << 20;

/// The number of block sizes between a power of two and the next.
const STEPS: usize = 16;

/// A block that is not in use.
struct Block {
    memory: *mut u8,
    layout: Layout,
}

// SAFETY: a block that is not in use has one owner, the list of blocks.
unsafe impl Send for Block {}

/// The blocks, the one that was given back last at the end.
static KEPT: Mutex<Vec<Block>> = Mutex::new(Vec::new());

/// The layout of the block that serves a request; `None` where blocks of its size are not kept.
fn block(layout: Layout) -> Option<Layout> {
    let size = layout.size();
    if size < LEAST {
        return None;
    }
    let step = size.checked_next_power_of_two()? / (2 * STEPS);
    Layout::from_size_align(size.checked_next_multiple_of(step)?, layout.align()).ok()
}

/// The layout that the system allocator knows the memory of a request by.
pub(super) fn whole(layout: Layout) -> Layout {
    block(layout).unwrap_or(layout)
}

/// Memory for a request: a block that was kept, or the system's.
///
/// # Safety
/// As [`GlobalAlloc::alloc`].
pub(super) unsafe fn alloc(layout: Layout) -> *mut u8 {
    if let Some(memory) = block(layout).and_then(take) {
        return memory;
    }
    // SAFETY: the caller keeps the rules; a block is not smaller than the request.
    let memory = unsafe { System.alloc(whole(layout)) };
    if memory.is_null() {
        shrink(0);
        // SAFETY: as above.
        return unsafe { System.alloc(whole(layout)) };
    }
    memory
}

/// Gives memory back.
///
/// # Safety
/// As [`GlobalAlloc::dealloc`], for memory that the system allocator knows by [`whole`].
pub(super) unsafe fn dealloc(memory: *mut u8, layout: Layout) {
    let is_kept = block(layout).filter(|block| block.size() <= MOST / 2).is_some_and(|layout| {
        let kept = KEPT.try_lock().map(|mut kept| kept.push(Block { memory, layout }));
        shrink(MOST);
        kept.is_ok()
    });
    if !is_kept {
        // SAFETY: the memory is the system allocator's, with this layout.
        unsafe { System.dealloc(memory, whole(layout)) }
    }
}

/// A kept block of just this layout. Where another thread is at the blocks, none: after a fork that may be for ever.
fn take(layout: Layout) -> Option<*mut u8> {
    let mut kept = KEPT.try_lock().ok()?;
    let place = kept.iter().rposition(|block| block.layout == layout)?;
    Some(kept.remove(place).memory)
}

/// Gives the oldest blocks to the system until no more than `most` bytes are kept.
fn shrink(most: usize) {
    let surplus = || {
        let mut kept = KEPT.try_lock().ok()?;
        let bytes: usize = kept.iter().map(|block| block.layout.size()).sum();
        (bytes > most).then(|| kept.remove(0))
    };
    while let Some(Block { memory, layout }) = surplus() {
        // SAFETY: the memory is the system allocator's, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    #[test]
    fn a_block_is_little_larger_than_what_is_asked_for() {
        assert_eq!(block(layout(LEAST - 1)), None);
        for size in [LEAST, LEAST + 1, 3 * LEAST + 5, (1 << 30) - 1, 1 << 30] {
            let block = block(layout(size)).unwrap().size();
            assert!(block >= size && block - size <= size / STEPS, "{size}: {block}");
        }
        assert_eq!(block(layout(isize::MAX as usize - 7)), None, "it would be more than there can be");
    }

    #[test]
    fn what_is_given_back_serves_the_next_and_no_more_is_kept_than_the_limit() {
        let size = 77 * LEAST / 3;
        // SAFETY: memory is given back with the layout that it was asked for with, and written to within that.
        unsafe {
            let first = alloc(layout(size));
            first.write_bytes(3, size);
            dealloc(first, layout(size));
            let again = alloc(layout(size - 1));
            assert_eq!(again, first);
            let other = alloc(layout(size));
            assert_ne!(other, again);
            dealloc(again, layout(size - 1));
            dealloc(other, layout(size));
            let many: Vec<*mut u8> = (0..20).map(|_| alloc(layout(size))).collect();
            many.into_iter().for_each(|memory| dealloc(memory, layout(size)));
        }
        let kept: usize = KEPT.lock().unwrap().iter().map(|block| block.layout.size()).sum();
        assert!(kept <= MOST, "{kept}");
    }
}
