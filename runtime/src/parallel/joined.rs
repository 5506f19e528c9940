//! Arrays that chunks append to, in one piece.
//!
//! A chunk appends to a vector of its own. When the chunk is done, what it appended goes to its place in the whole array as soon
//! as that is known: when all chunks before it are done. By then it is still in the caches, as a rule, and its vector serves a
//! later chunk. So a large array is in memory once, not in parts and as a whole, and its pages are touched once.
//!
//! ```text
//! chunks     0 1 2 3 4 5 …       chunk 2 is done: it goes behind chunk 1
//! whole      0 0 0 1 1 2 2 2 ┊   chunk 4 was done before: it waits for chunk 3
//! ```
//!
//! This file stands by itself, as that of the chunks does: it is compiled at run time too.

use super::room::{append, in_huge_pages, push, reserve};
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// An array that each chunk appends to.
#[derive(Debug)]
pub struct Joined<T> {
    /// The work of each chunk.
    work: Vec<usize>,
    state: Mutex<State<T>>,
    /// Tells those who wait to move the whole that no thread copies to it.
    settled: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// The array. Elements up to `length` have a place in its memory; its own length counts those from before the loop.
    whole: Vec<T>,
    length: usize,
    /// Whether the memory was there before the loop.
    is_given: bool,
    /// What each chunk appended, when that is done and has no place yet.
    parts: Vec<Option<Vec<T>>>,
    /// How much each has appended.
    lengths: Vec<usize>,
    /// The chunks before this one have places.
    placed: usize,
    /// How much work the chunks were that are done, and how many elements they appended.
    done: usize,
    appended: usize,
    /// How many threads copy to the whole.
    copying: usize,
    /// Whether somebody waits for them: a call of the system costs time even if no thread waits.
    is_awaited: bool,
    /// Vectors that chunks are done with.
    spare: Vec<Vec<T>>,
}

impl<T: Copy> Joined<T> {
    /// An array that continues `whole`, for chunks of so much work.
    pub(super) fn new(whole: &mut Vec<T>, work: &[usize]) -> Joined<T> {
        let whole = std::mem::take(whole);
        let state = State {
            length: whole.len(),
            is_given: whole.capacity() > 0,
            whole,
            parts: work.iter().map(|_| None).collect(),
            lengths: vec![0; work.len()],
            placed: 0,
            done: 0,
            appended: 0,
            copying: 0,
            is_awaited: false,
            spare: Vec::new(),
        };
        Joined { work: work.to_vec(), state: Mutex::new(state), settled: Condvar::new() }
    }

    /// The array that a chunk appends to. It has room for as many elements as the chunk has work: as a rule, an entry of a
    /// result is made of one of an operand at least, and memory that is not written costs little.
    pub fn take(&self, chunk: usize) -> Taken<'_, T> {
        let mut vector = self.lock().spare.pop().unwrap_or_default();
        // Where there is no memory for it, there may be for what comes.
        _ = vector.try_reserve_exact(self.work[chunk]);
        Taken { vector, chunk, home: self }
    }

    /// How many elements each chunk has appended, of those that are done.
    pub fn lengths(&self) -> Vec<usize> {
        self.lock().lengths.clone()
    }

    /// Puts the array where it was before the loop, with what the chunks appended, in their order.
    pub fn join(self, whole: &mut Vec<T>) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        *whole = state.into_whole();
    }

    /// A panic elsewhere is reported there; what it left behind is never looked at.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies parts whose place is known, one after the other, while other threads copy others.
    fn place(&self) {
        let mut state = self.lock();
        while let Some(end) = state.next_end() {
            if state.whole.capacity() < end {
                if state.copying > 0 {
                    state.is_awaited = true;
                    state = self.settled.wait(state).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                state.grow(end, self.work.iter().sum());
            }
            let (mut part, place) = state.next_place();
            drop(state);
            // SAFETY: `next_place` gives room for the part in the whole's memory, which lies beyond the length that the whole
            // says and which it gives to no other thread. The memory stays where it is as long as `copying` counts this thread.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), place, part.len()) };
            part.clear();
            state = self.lock();
            state.spare.push(part);
            state.copying -= 1;
            if state.copying == 0 && std::mem::take(&mut state.is_awaited) {
                self.settled.notify_all();
            }
        }
    }
}

impl<T: Copy> State<T> {
    /// Where the next part ends in the whole, if it is there.
    fn next_end(&self) -> Option<usize> {
        let part = self.parts.get(self.placed)?.as_ref()?;
        Some(self.length + part.len())
    }

    /// Takes the next part, and its place: whoever asked for [`State::next_end`] has seen to it that it is there and has room.
    fn next_place(&mut self) -> (Vec<T>, *mut T) {
        let part = self.parts[self.placed].take().unwrap_or_default();
        debug_assert!(self.length + part.len() <= self.whole.capacity(), "there is room for the part");
        let place = self.whole.as_mut_ptr().wrapping_add(self.length);
        self.placed += 1;
        self.length += part.len();
        self.copying += 1;
        (part, place)
    }

    /// Makes the memory larger, for what comes up to `end` and for what is likely to follow: twice as much as would come if the
    /// chunks that are not done append as much for their work as the others. What is not used of it costs nothing, unlike to
    /// move the whole again.
    fn grow(&mut self, end: usize, work: usize) {
        debug_assert_eq!(self.copying, 0, "no thread copies to memory that moves");
        let whole = self.appended as u128 * work as u128 / self.done.max(1) as u128;
        let likely = usize::try_from(2 * whole).unwrap_or(usize::MAX);
        self.settle();
        let more = |room: usize| room.saturating_sub(self.length);
        for room in [more(likely.max(end)), more(end + end / 2)] {
            if self.whole.try_reserve_exact(room).is_ok() {
                return in_huge_pages(self.whole.as_ptr(), self.whole.capacity());
            }
        }
        reserve(&mut self.whole, end - self.length);
    }

    /// Lets the whole say how long it is.
    fn settle(&mut self) {
        debug_assert_eq!(self.copying, 0, "what has a place is there");
        // SAFETY: the elements up to `length` are those that the whole had, and those that were copied behind: `next_place`
        // counts them one after the other within the capacity, and no thread copies any more.
        unsafe { self.whole.set_len(self.length) };
    }

    fn into_whole(mut self) -> Vec<T> {
        self.settle();
        let mut rest = self.parts.split_off(self.placed).into_iter().flatten();
        if self.whole.capacity() == 0
            && let Some(first) = rest.next()
        {
            // One chunk: its memory is the array's.
            self.whole = first;
        }
        rest.for_each(|part| append(&mut self.whole, &part));
        if !self.is_given {
            self.whole.shrink_to_fit();
        }
        self.whole
    }
}

/// Where a chunk's vector goes when the chunk is done.
pub(super) trait Home<T> {
    /// Puts it there.
    fn put(&self, chunk: usize, vector: Vec<T>);
}

impl<T: Copy> Home<T> for Joined<T> {
    #[inline(never)]
    fn put(&self, chunk: usize, part: Vec<T>) {
        let mut state = self.lock();
        state.done += self.work[chunk];
        state.appended += part.len();
        state.lengths[chunk] = part.len();
        state.parts[chunk] = Some(part);
        drop(state);
        // What a kernel that unwinds has appended is never looked at.
        if self.work.len() > 1 && !std::thread::panicking() {
            self.place();
        }
    }
}

/// A chunk's vector, taken out of its place and put back when this is dropped.
///
/// The vector lies here and not behind the lock, and its address does not leave the function that took it (therefore the
/// inlining), so that a loop keeps its parts in registers.
pub struct Taken<'a, T> {
    pub(super) vector: Vec<T>,
    pub(super) chunk: usize,
    pub(super) home: &'a dyn Home<T>,
}

impl<T: fmt::Debug> fmt::Debug for Taken<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taken").field("vector", &self.vector).field("chunk", &self.chunk).finish_non_exhaustive()
    }
}

impl<T> Taken<'_, T> {
    /// Appends an element, as [`push`](super::push) does.
    #[inline(always)]
    pub fn push(&mut self, element: T) {
        push(&mut self.vector, element);
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = Vec<T>;

    #[inline(always)]
    fn deref(&self) -> &Vec<T> {
        &self.vector
    }
}

impl<T> DerefMut for Taken<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.vector
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.home.put(self.chunk, std::mem::take(&mut self.vector));
    }
}
