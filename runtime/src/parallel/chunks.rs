//! Chunks of equal work, and what each of them writes.
//!
//! [`Chunks`] cuts a range of places into chunks and runs a body once for each, in any order or at the same time. What the
//! chunks write to one array comes together in one of these ways, each of which a chunk gets at with `take` or `with`:
//!
//! | | a chunk has | afterwards |
//! |---|---|---|
//! | [`Owned`] | its own part of the array | nothing to do |
//! | [`Segmented`] | its own part, and the segment that it may share with the next chunk | those segments are combined |
//! | [`Private`] | a copy of the whole array, but the first has the array itself | the copies are combined, in the order of the chunks; their memory is kept for later calls |
//! | [`Joined`] | an array that grows | nothing to do: the arrays are joined, in the order of the chunks, as these are done |
//! | [`JoinedPositions`] | the same, of positions in another | the arrays are joined, and the positions grow |
//! | [`Partial`] | one value | the values come back, in the order of the chunks |
//!
//! This file stands by itself: it uses `std` and what stands in the module around it. So it serves
//! both as a module of this crate and as a part of the text that is compiled at run time.

use super::joined::{Home, Joined, Taken};
use super::room::{Plain, Scratch, append, array};
use std::ops::{Index, IndexMut, Range, RangeTo};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Less work than this is not worth a second chunk.
const GRAIN: usize = 4096;

/// The same where chunks append: what they append is made, put in order and moved.
const GRAIN_OF_APPENDS: usize = 1024;

/// Where each thread has a chunk, further ones must be worth more: to cut and to begin one takes as long as hundreds of units of work.
const FURTHER: usize = 4 * GRAIN;

/// Chunks for each thread, so that one that falls behind is made up for by the others.
const CHUNKS_PER_THREAD: usize = 8;

/// Chunks for each thread where they append: what one of them appends should not leave the caches before it is put in its place.
const APPENDING_PER_THREAD: usize = 32;

/// So much work of a chunk leaves in the caches what it appends, if that is no more than its work.
const BOUNDED: usize = 1 << 16;

/// As many threads as chunks are cut for where their number must not matter: [`Fixed`].
const FIXED: usize = 16;

/// At most so many elements are in all copies of fixed chunks, which may have more copies than there are threads.
const COPIED: usize = 1 << 26;

/// What chunks do, for which a thread has fewer or more of them.
#[derive(Debug, Clone, Copy)]
enum Chunking {
    /// They have copies of an array.
    Copying,
    /// They have copies of arrays of so many elements, whatever the number of threads is.
    CopyingFixed(usize),
    /// They write to places that are there.
    Writing,
    /// They append as much as they like.
    Appending,
    /// They append no more elements than they have work.
    AppendingBounded,
}

/// A range of places cut into chunks, none of them empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunks {
    /// Chunk `c` is `bounds[c]..bounds[c + 1]`.
    bounds: Vec<usize>,
    /// The work of each.
    work: Vec<usize>,
    /// Whether they have about equal shares of the work.
    are_even: bool,
    /// Whether they begin in order.
    in_order: bool,
}

impl Chunks {
    /// `begin..end` in chunks of equally many places. No chunks where `begin >= end`, one where there is little work.
    pub fn even(begin: usize, end: usize) -> Chunks {
        Chunks::even_of(begin, end, Cut::of(Chunking::Writing))
    }

    /// The same with at most one chunk a thread, for where a chunk has a copy of an array.
    pub fn even_per_thread(begin: usize, end: usize) -> Chunks {
        Chunks::even_of(begin, end, Cut::of(Chunking::Copying))
    }

    /// The same for loops that append: more chunks, which begin in order.
    pub fn even_appending(begin: usize, end: usize) -> Chunks {
        Chunks::even_of(begin, end, Cut::of(Chunking::Appending)).begun_in_order()
    }

    /// The same for loops whose chunks append no more elements than they have work: fewer chunks, as each of them costs something.
    pub fn even_appending_bounded(begin: usize, end: usize) -> Chunks {
        Chunks::even_of(begin, end, Cut::of(Chunking::AppendingBounded)).begun_in_order()
    }

    /// `begin..end` in chunks of equal work, where `before(place)` is the work before a place of `begin..=end`, ascending.
    ///
    /// A place counts one unit beside its work: a million empty rows are work too (as in Merrill & Garland, Merge-based
    /// parallel sparse matrix-vector multiplication, 2016). A place is never divided, however much work it is.
    pub fn weighted(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, &beside_places(begin, before), Cut::of(Chunking::Writing))
    }

    /// The same with at most one chunk a thread, for where a chunk has a copy of an array.
    pub fn weighted_per_thread(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, &beside_places(begin, before), Cut::of(Chunking::Copying))
    }

    /// The same for loops that append: more chunks, which begin in order.
    pub fn weighted_appending(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, &beside_places(begin, before), Cut::of(Chunking::Appending)).begun_in_order()
    }

    /// The same where a chunk appends no more elements than it has work.
    pub fn weighted_appending_bounded(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, &beside_places(begin, before), Cut::of(Chunking::AppendingBounded))
            .begun_in_order()
    }

    /// `begin..end` in chunks of equal work, where places without work cost nothing: a loop that goes over what is stored never
    /// comes by them.
    pub fn by_work(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, before, Cut::of(Chunking::Writing))
    }

    /// The same with at most one chunk a thread, for where a chunk has a copy of an array.
    pub fn by_work_per_thread(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, before, Cut::of(Chunking::Copying))
    }

    /// The same for loops that append: more chunks, which begin in order.
    pub fn by_work_appending(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, before, Cut::of(Chunking::Appending)).begun_in_order()
    }

    /// The same where a chunk appends no more elements than it has work.
    pub fn by_work_appending_bounded(begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        Chunks::weighted_of(begin, end, before, Cut::of(Chunking::AppendingBounded)).begun_in_order()
    }

    fn even_of(begin: usize, end: usize, cut: Cut) -> Chunks {
        let total = end.saturating_sub(begin);
        Chunks::cut(begin, end, total, cut, &mut |_, share| begin + share)
    }

    fn weighted_of(begin: usize, end: usize, before: &dyn Fn(usize) -> usize, cut: Cut) -> Chunks {
        if begin >= end {
            return Chunks { bounds: vec![begin], work: Vec::new(), are_even: true, in_order: false };
        }
        let nothing = before(begin);
        let work = |place: usize| before(place).saturating_sub(nothing);
        let total = work(end);
        let count = cut.count(total);
        if count == 1 {
            return Chunks { bounds: vec![begin, end], work: vec![total], are_even: true, in_order: false };
        }
        let share = total / count;
        let mut search = Search { before: &work, slack: share / 64, low: (begin, 0), behind: vec![(end, total)] };
        let mut chunks =
            Chunks::cut(begin, end, total, cut, &mut |low, work| search.place(work).unwrap_or(end).max(low));
        let bounds: Vec<usize> = chunks.bounds.iter().map(|&bound| work(bound)).collect();
        chunks.work = lengths(&bounds);
        let longest = chunks.work.iter().copied().max().unwrap_or(0);
        let allowance = total / (CHUNKS_PER_THREAD * cut.threads);
        chunks.are_even = longest <= share.saturating_add(allowance).max(GRAIN);
        chunks
    }

    /// Cuts where equal shares of `total` end; `place(low, share)` is a place, from `low` on, with that work before it.
    fn cut(begin: usize, end: usize, total: usize, cut: Cut, place: &mut dyn FnMut(usize, usize) -> usize) -> Chunks {
        let count = cut.count(total);
        let mut bounds = Vec::with_capacity(count + 1);
        bounds.push(begin);
        if begin < end {
            for chunk in 1..count {
                let share = (total as u128 * chunk as u128 / count as u128) as usize;
                let low = bounds[bounds.len() - 1];
                let bound = place(low, share);
                if low < bound && bound < end {
                    bounds.push(bound);
                }
            }
            bounds.push(end);
        }
        Chunks { work: lengths(&bounds), bounds, are_even: true, in_order: false }
    }

    fn begun_in_order(self) -> Chunks {
        Chunks { in_order: true, ..self }
    }

    /// The same chunks, but for those that begin at a place where `same` is true: they begin later, at the first place
    /// where it is not, so that a run of equal elements lies in one chunk.
    pub fn aligned(self, same: &dyn Fn(usize) -> bool) -> Chunks {
        let Some((&end, inner)) = self.bounds.split_last() else { return self };
        let Some((&begin, inner)) = inner.split_first() else { return self };
        let mut bounds = vec![begin];
        for &bound in inner {
            let low = bounds[bounds.len() - 1];
            if bound <= low {
                continue;
            }
            let bound = (bound..end).find(|&place| !same(place)).unwrap_or(end);
            if bound < end {
                bounds.push(bound);
            } else {
                break;
            }
        }
        bounds.push(end);
        Chunks { work: lengths(&bounds), bounds, are_even: self.are_even, in_order: self.in_order }
    }

    /// Whether the chunks have about equal shares of the work: none is longer than was meant by more than an eighth of what a
    /// thread has to do, for which the other threads may have to wait. A single place may be longer.
    pub fn are_even(&self) -> bool {
        self.are_even
    }

    /// How many chunks there are.
    pub fn count(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The first place of a chunk and one past its last.
    pub fn range(&self, chunk: usize) -> (usize, usize) {
        (self.bounds[chunk], self.bounds[chunk + 1])
    }

    /// Runs `body` once for each chunk, in any order or at the same time.
    pub fn run(&self, body: &(dyn Fn(usize) + Sync)) {
        match self.count() {
            0 => {}
            1 => body(0),
            count if self.in_order => {
                let next = AtomicUsize::new(0);
                super::run_all(count, &|_| body(next.fetch_add(1, Ordering::Relaxed)));
            }
            count => super::run_all(count, body),
        }
    }

    /// Divides `whole` among the chunks: one that begins at `place` owns the elements from `start(place)` up to where the
    /// next chunk's begin. The first chunk's begin at 0, the last's end with the array.
    ///
    /// # Panics
    /// When the starts do not ascend or lie beyond the array.
    pub fn owned<'a, T>(&self, whole: &'a mut [T], start: &dyn Fn(usize) -> usize) -> Owned<'a, T> {
        let mut rest = whole;
        let mut base = 0;
        let mut parts = Vec::with_capacity(self.count());
        for chunk in 0..self.count() {
            let next = if chunk + 1 < self.count() { start(self.bounds[chunk + 1]) } else { base + rest.len() };
            assert!(
                next >= base && next - base <= rest.len(),
                "chunk {chunk} owns {base}..{next} of an array that ends at {}",
                base + rest.len()
            );
            let (elements, later) = rest.split_at_mut(next - base);
            parts.push(Mutex::new(Some(Part { base, elements })));
            (rest, base) = (later, next);
        }
        Owned { parts }
    }

    /// Divides `whole` among the chunks as [`Chunks::owned`] does, where neighbours may meet in one segment of `length`
    /// elements: the one that the later begins in. The earlier has a copy of it, all `fill` at first.
    ///
    /// # Panics
    /// When the starts do not ascend or lie beyond the array.
    pub fn segmented<'a, T: Copy>(
        &self,
        whole: &'a mut [T],
        start: &dyn Fn(usize) -> usize,
        length: usize,
        fill: T,
    ) -> Segmented<'a, T> {
        let last = self.count().saturating_sub(1);
        let mut parts = Vec::with_capacity(self.count());
        for (chunk, part) in self.owned(whole, start).parts.into_iter().enumerate() {
            let Part { base, elements } = unlock(part).expect("each part is taken once");
            let next = if chunk == last { 0 } else { length };
            parts.push(Mutex::new(Segments { base, elements, next: Vec::new(), length: next, anew: false }));
        }
        Segmented { fill, parts }
    }

    /// As [`Chunks::segmented`], where all elements of `whole` are `fill` at first, whatever they were.
    ///
    /// # Panics
    /// As there.
    pub fn segmented_anew<'a, T: Copy>(
        &self,
        whole: &'a mut [T],
        start: &dyn Fn(usize) -> usize,
        length: usize,
        fill: T,
    ) -> Segmented<'a, T> {
        if self.count() == 0 {
            whole.fill(fill);
        }
        let segmented = self.segmented(whole, start, length, fill);
        for part in &segmented.parts {
            lock(part).anew = true;
        }
        segmented
    }

    /// `whole` for the first chunk, and for each other an array of that length whose elements are `fill` at first.
    pub fn private<'a, T: Copy>(&self, whole: &'a mut [T], fill: T) -> Private<'a, T> {
        let copies = (1..self.count()).map(|_| Mutex::new(None)).collect();
        Private { length: whole.len(), fill, whole: Mutex::new(whole), copies }
    }

    /// An empty array for each chunk, to append to, that together continue `whole`. This is empty until they are joined.
    pub fn joined<T: Copy>(&self, whole: &mut Vec<T>) -> Joined<T> {
        Joined::new(whole, &self.work)
    }

    /// An empty array for each chunk, to append positions to.
    pub fn joined_positions<T>(&self) -> JoinedPositions<T> {
        JoinedPositions { parts: slots(self.count()), room: self.work.clone() }
    }

    /// One value for each chunk: `identity`, unless the chunk sets another.
    pub fn partial<T: Copy>(&self, identity: T) -> Partial<T> {
        Partial { values: (0..self.count()).map(|_| Mutex::new(identity)).collect() }
    }
}

/// The work before a place, and the places before it from `begin` on.
fn beside_places<'w>(begin: usize, before: &'w dyn Fn(usize) -> usize) -> impl Fn(usize) -> usize + 'w {
    move |place| before(place).saturating_add(place - begin)
}

/// Into how many chunks work is cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    chunking: Chunking,
    threads: usize,
}

impl Cut {
    /// For the threads that there are.
    fn of(chunking: Chunking) -> Cut {
        Cut { chunking, threads: super::threads().max(1) }
    }

    /// Of this much work. Chunks that append are worth it on one thread too: what grows is small then.
    fn count(self, work: usize) -> usize {
        let threads = self.threads;
        if let Chunking::Writing = self.chunking
            && threads > 1
        {
            // As many for each thread.
            let further = (work / (FURTHER * threads)).min(CHUNKS_PER_THREAD) * threads;
            return further.max((work / GRAIN).clamp(1, threads));
        }
        let most = match self.chunking {
            Chunking::Copying => threads,
            // To make and to add copies takes no longer than the work, about.
            Chunking::CopyingFixed(length) => {
                let worth = work.saturating_mul(4) / length.max(1);
                threads.min(worth).min(COPIED / length.max(1)).max(1)
            }
            Chunking::Writing => 1,
            Chunking::Appending => APPENDING_PER_THREAD * threads,
            Chunking::AppendingBounded => {
                (work / BOUNDED).clamp(CHUNKS_PER_THREAD * threads, APPENDING_PER_THREAD * threads)
            }
        };
        let least = match self.chunking {
            Chunking::Appending | Chunking::AppendingBounded => (work / GRAIN_OF_APPENDS).clamp(1, threads),
            Chunking::Copying | Chunking::CopyingFixed(_) | Chunking::Writing => 1,
        };
        (work / GRAIN).clamp(least, most)
    }
}

/// Cuts ranges into chunks that are the same on any number of threads. What is combined from them, in their order, then has the
/// same bits.
///
/// ```
/// use spc::parallel::{Fixed, with_threads};
///
/// let cut = || Fixed::writing().even(0, 1_000_000);
/// assert_eq!(with_threads(2, cut)?, with_threads(5, cut)?);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Fixed(Chunking);

impl Fixed {
    /// For loops that write to places that are there.
    pub fn writing() -> Fixed {
        Fixed(Chunking::Writing)
    }

    /// For chunks that have copies of arrays of so many elements together: fewer chunks where these are long.
    pub fn copying(length: usize) -> Fixed {
        Fixed(Chunking::CopyingFixed(length))
    }

    /// For loops that append.
    pub fn appending() -> Fixed {
        Fixed(Chunking::Appending)
    }

    /// For loops whose chunks append no more elements than they have work.
    pub fn appending_bounded() -> Fixed {
        Fixed(Chunking::AppendingBounded)
    }

    /// As [`Chunks::even`].
    pub fn even(self, begin: usize, end: usize) -> Chunks {
        self.in_order(Chunks::even_of(begin, end, self.cut()))
    }

    /// As [`Chunks::weighted`].
    pub fn weighted(self, begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        self.in_order(Chunks::weighted_of(begin, end, &beside_places(begin, before), self.cut()))
    }

    /// As [`Chunks::by_work`].
    pub fn by_work(self, begin: usize, end: usize, before: &dyn Fn(usize) -> usize) -> Chunks {
        self.in_order(Chunks::weighted_of(begin, end, before, self.cut()))
    }

    fn cut(self) -> Cut {
        Cut { chunking: self.0, threads: FIXED }
    }

    fn in_order(self, chunks: Chunks) -> Chunks {
        match self.0 {
            Chunking::Appending | Chunking::AppendingBounded => chunks.begun_in_order(),
            Chunking::Copying | Chunking::CopyingFixed(_) | Chunking::Writing => chunks,
        }
    }
}

/// A search for places with so much work before them, ascending. A range may be that of all numbers that stand for an entry, and each
/// question a search in what is stored. So places are guessed from those that were asked for before, in turn with halving what is
/// between them, and nearly so much work is enough.
struct Search<'w> {
    before: &'w dyn Fn(usize) -> usize,
    /// How much more a place may have before it.
    slack: usize,
    /// A place before that which is looked for, with the work before it.
    low: (usize, usize),
    /// Those behind it, the nearest last.
    behind: Vec<(usize, usize)>,
}

impl Search<'_> {
    /// A place with at least this much work before it, and hardly more than needed; no place where all have less.
    fn place(&mut self, work: usize) -> Option<usize> {
        while let Some(low) = self.behind.pop_if(|place| place.1 < work) {
            self.low = low;
        }
        let mut halves = false;
        loop {
            let (low, least) = (self.low, *self.behind.last()?);
            if least.0 <= low.0 + 1 || least.1 - work <= self.slack {
                return Some(least.0);
            }
            let range = (least.0 - low.0) as u128;
            let missing = work.saturating_add(self.slack / 2) - low.1;
            let guess = if halves { range / 2 } else { range * missing as u128 / (least.1 - low.1) as u128 };
            let place = low.0.saturating_add(guess as usize).clamp(low.0 + 1, least.0 - 1);
            halves = !halves;
            match (place, (self.before)(place)) {
                place if place.1 < work => self.low = place,
                place => self.behind.push(place),
            }
        }
    }
}

/// How many places each chunk has.
fn lengths(bounds: &[usize]) -> Vec<usize> {
    bounds.windows(2).map(|bound| bound[1] - bound[0]).collect()
}

fn slots<T>(count: usize) -> Vec<Mutex<Vec<T>>> {
    (0..count).map(|_| Mutex::new(Vec::new())).collect()
}

/// A panic elsewhere is reported there; what it left behind is never looked at.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlock<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What lies behind each. To collect an iterator over a vector that is used up takes as long to compile as a small kernel.
fn unlocked<T>(mutexes: Vec<Mutex<T>>) -> Vec<T> {
    let mut all = Vec::with_capacity(mutexes.len());
    for mutex in mutexes {
        all.push(unlock(mutex));
    }
    all
}

/// An array of which each chunk owns a part.
#[derive(Debug)]
pub struct Owned<'a, T> {
    parts: Vec<Mutex<Option<Part<'a, T>>>>,
}

impl<'a, T> Owned<'a, T> {
    /// The part that a chunk owns.
    ///
    /// # Panics
    /// When the part was taken before.
    pub fn take(&self, chunk: usize) -> Part<'a, T> {
        lock(&self.parts[chunk]).take().expect("a chunk takes its part once")
    }
}

/// A part of an array, indexed as the whole is.
#[derive(Debug)]
pub struct Part<'a, T> {
    /// The place of `elements[0]` in the whole.
    base: usize,
    elements: &'a mut [T],
}

impl<T> Part<'_, T> {
    /// Which elements of the whole these are.
    pub fn range(&self) -> Range<usize> {
        self.base..self.base + self.elements.len()
    }
}

// An index below the base wraps around to one that is far out of bounds, so that one comparison refuses both.
impl<T> Index<usize> for Part<'_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.elements[index.wrapping_sub(self.base)]
    }
}

impl<T> IndexMut<usize> for Part<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.elements[index.wrapping_sub(self.base)]
    }
}

impl<T> Index<Range<usize>> for Part<'_, T> {
    type Output = [T];

    #[inline(always)]
    fn index(&self, range: Range<usize>) -> &[T] {
        &self.elements[range.start.wrapping_sub(self.base)..range.end.wrapping_sub(self.base)]
    }
}

impl<T> IndexMut<Range<usize>> for Part<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, range: Range<usize>) -> &mut [T] {
        &mut self.elements[range.start.wrapping_sub(self.base)..range.end.wrapping_sub(self.base)]
    }
}

impl<T> Index<RangeTo<usize>> for Part<'_, T> {
    type Output = [T];

    #[inline(always)]
    fn index(&self, range: RangeTo<usize>) -> &[T] {
        &self[0..range.end]
    }
}

impl<T> IndexMut<RangeTo<usize>> for Part<'_, T> {
    #[inline(always)]
    fn index_mut(&mut self, range: RangeTo<usize>) -> &mut [T] {
        &mut self[0..range.end]
    }
}

/// An array of which each chunk owns a part, and shares a segment with the next.
#[derive(Debug)]
pub struct Segmented<'a, T> {
    fill: T,
    parts: Vec<Mutex<Segments<'a, T>>>,
}

/// A chunk's own elements, and what it has of the segment that the next chunk begins in.
#[derive(Debug)]
struct Segments<'a, T> {
    /// The place of `elements[0]` in the whole.
    base: usize,
    elements: &'a mut [T],
    /// The segment behind these; empty where the chunk has not been taken.
    next: Vec<T>,
    /// How long that is.
    length: usize,
    /// Whether the elements are going to be filled.
    anew: bool,
}

/// What is left where they are taken from.
impl<T> Default for Segments<'_, T> {
    fn default() -> Self {
        Segments { base: 0, elements: &mut [], next: Vec::new(), length: 0, anew: false }
    }
}

impl<'a, T: Plain> Segmented<'a, T> {
    /// The elements that a chunk touches.
    pub fn take(&self, chunk: usize) -> TakenSegments<'_, 'a, T> {
        let home = &self.parts[chunk];
        let mut segments = std::mem::take(&mut *lock(home));
        if segments.next.is_empty() {
            segments.next = array(self.fill, [segments.length]);
        }
        if std::mem::take(&mut segments.anew) {
            segments.elements.fill(self.fill);
        }
        TakenSegments { segments, home }
    }

    /// Combines each chunk's copy of the segment that the next begins in with that, in the order of the chunks:
    /// `add(segment, copy)`.
    pub fn combine(self, add: &dyn Fn(&mut [T], &[T])) {
        let mut parts: Vec<Segments<'a, T>> = unlocked(self.parts);
        for chunk in 0..parts.len() {
            let copy = std::mem::take(&mut parts[chunk].next);
            // A chunk that begins in the same segment as the next has no elements of its own.
            let owner = parts[chunk + 1..].iter_mut().find(|part| !part.elements.is_empty());
            if let Some(owner) = owner.filter(|_| !copy.is_empty()) {
                add(&mut owner.elements[..copy.len()], &copy);
            }
        }
    }
}

/// The elements of a chunk, indexed as the whole is.
#[derive(Debug)]
pub struct TakenSegments<'s, 'a, T> {
    segments: Segments<'a, T>,
    home: &'s Mutex<Segments<'a, T>>,
}

#[cfg(feature = "jit")]
impl<T> TakenSegments<'_, '_, T> {
    /// Where the elements begin in the whole, they, and those of the segment behind.
    pub(crate) fn parts(&mut self) -> (usize, &mut [T], &mut [T]) {
        let Segments { base, elements, next, .. } = &mut self.segments;
        (*base, elements, next)
    }
}

impl<T> Drop for TakenSegments<'_, '_, T> {
    fn drop(&mut self) {
        *lock(self.home) = std::mem::take(&mut self.segments);
    }
}

// The elements end where the next segment begins, so an index beyond them is one of that, or out of bounds there; and one
// below the base wraps around to one that is.
impl<T> Index<usize> for TakenSegments<'_, '_, T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        let Segments { base, elements, next, .. } = &self.segments;
        let at = index.wrapping_sub(*base);
        if at < elements.len() { &elements[at] } else { &next[at - elements.len()] }
    }
}

impl<T> IndexMut<usize> for TakenSegments<'_, '_, T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        let Segments { base, elements, next, .. } = &mut self.segments;
        let at = index.wrapping_sub(*base);
        if at < elements.len() { &mut elements[at] } else { &mut next[at - elements.len()] }
    }
}

impl<T> Index<Range<usize>> for TakenSegments<'_, '_, T> {
    type Output = [T];

    #[inline(always)]
    fn index(&self, range: Range<usize>) -> &[T] {
        let Segments { base, elements, next, .. } = &self.segments;
        let (start, end) = (range.start.wrapping_sub(*base), range.end.wrapping_sub(*base));
        if start < elements.len() { &elements[start..end] } else { &next[start - elements.len()..end - elements.len()] }
    }
}

impl<T> IndexMut<Range<usize>> for TakenSegments<'_, '_, T> {
    #[inline(always)]
    fn index_mut(&mut self, range: Range<usize>) -> &mut [T] {
        let Segments { base, elements, next, .. } = &mut self.segments;
        let (start, end) = (range.start.wrapping_sub(*base), range.end.wrapping_sub(*base));
        let own = elements.len();
        if start < own { &mut elements[start..end] } else { &mut next[start - own..end - own] }
    }
}

impl<T> Index<RangeTo<usize>> for TakenSegments<'_, '_, T> {
    type Output = [T];

    #[inline(always)]
    fn index(&self, range: RangeTo<usize>) -> &[T] {
        &self[0..range.end]
    }
}

impl<T> IndexMut<RangeTo<usize>> for TakenSegments<'_, '_, T> {
    #[inline(always)]
    fn index_mut(&mut self, range: RangeTo<usize>) -> &mut [T] {
        &mut self[0..range.end]
    }
}

/// An array that the first chunk works on, and of which each other has a copy.
#[derive(Debug)]
pub struct Private<'a, T> {
    length: usize,
    fill: T,
    whole: Mutex<&'a mut [T]>,
    /// Those of the chunks from the second on; none where the chunk has not taken its copy.
    copies: Vec<Mutex<Option<Scratch<T>>>>,
}

impl<T: Plain> Private<'_, T> {
    /// Runs a chunk with the array or its copy, which the chunk itself makes: the memory is near the thread that uses it.
    ///
    /// The body has it as an argument because a compiler knows of those, and not of what is captured, that they overlap with
    /// nothing else: sums into one row of rows of others then run in vector registers.
    #[inline]
    pub fn with(&self, chunk: usize, body: impl FnOnce(&mut [T])) {
        let Some(copy) = chunk.checked_sub(1) else { return body(&mut lock(&self.whole)) };
        let mut copy = lock(&self.copies[copy]);
        body(copy.get_or_insert_with(|| Scratch::new(self.length, self.fill)).elements_mut());
    }

    /// Combines the copies into the array, in the order of the chunks: `add(part of the array, the same part of a copy)` for
    /// each. Parts are worked on in parallel.
    pub fn combine(self, add: &(dyn Fn(&mut [T], &[T]) + Sync))
    where
        T: Send + Sync,
    {
        let mut copies: Vec<Scratch<T>> = Vec::with_capacity(self.copies.len());
        for copy in unlocked(self.copies).into_iter().flatten() {
            copies.push(copy);
        }
        if copies.is_empty() {
            return;
        }
        let whole = unlock(self.whole);
        let chunks = Chunks::even(0, whole.len());
        let whole = chunks.owned(whole, &|place| place);
        chunks.run(&|chunk| {
            let part = whole.take(chunk);
            for copy in &copies {
                add(part.elements, &copy.elements()[part.range()]);
            }
        });
    }
}

/// An array of positions that each chunk appends to.
#[derive(Debug)]
pub struct JoinedPositions<T> {
    parts: Vec<Mutex<Vec<T>>>,
    /// How long they may become.
    room: Vec<usize>,
}

impl<T> Home<T> for JoinedPositions<T> {
    #[inline(never)]
    fn put(&self, chunk: usize, vector: Vec<T>) {
        *lock(&self.parts[chunk]) = vector;
    }
}

impl<T: Position> JoinedPositions<T> {
    /// The array that a chunk appends to.
    pub fn take(&self, chunk: usize) -> Taken<'_, T> {
        let mut vector = std::mem::take(&mut *lock(&self.parts[chunk]));
        // Where there is no memory for it, there may be for what comes.
        _ = vector.try_reserve_exact(self.room[chunk]);
        Taken { vector, chunk, home: self }
    }

    /// Appends to `whole` what the chunks appended, in the order of the chunks. The elements are positions in an array to which
    /// each chunk has appended so many `children`, and each grows by what earlier chunks appended to that.
    ///
    /// A position that its type can't hold becomes the type's largest; the length of the children's array then tells.
    pub fn join(self, whole: &mut Vec<T>, children: &[usize]) {
        let offsets = running_sum(0, children);
        let mut parts: Vec<Vec<T>> = unlocked(self.parts);
        let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
        let starts = running_sum(whole.len(), &lengths);
        let total = whole.len() + lengths.iter().sum::<usize>();
        if let [part] = &mut parts[..] {
            // One chunk: nothing lies before it.
            if whole.is_empty() {
                *whole = std::mem::take(part);
            } else {
                append(whole, part);
            }
            return;
        }
        if total <= whole.capacity() {
            whole.resize(total, T::default());
        } else {
            // Zeroed memory comes unmapped: its pages are first touched by the threads that copy.
            let mut larger = array(T::default(), [total]);
            larger[..whole.len()].copy_from_slice(whole);
            *whole = larger;
        }
        let bounds = (0..=parts.len()).collect();
        let chunks = Chunks { bounds, work: lengths, are_even: true, in_order: false };
        let slots = chunks.owned(whole, &|chunk| starts[chunk]);
        let copy = |chunk: usize| {
            let mut slot = slots.take(chunk);
            let (begin, part) = (starts[chunk], &parts[chunk]);
            let by = T::at_most(offsets[chunk]);
            for (to, &from) in slot[begin..begin + part.len()].iter_mut().zip(part) {
                *to = from.grow(by);
            }
        };
        if total < 16 * GRAIN { (0..chunks.count()).for_each(copy) } else { chunks.run(&copy) }
    }
}

/// `start`, `start + lengths[0]`, …: what lies before each.
fn running_sum(start: usize, lengths: &[usize]) -> Vec<usize> {
    let before = |sum: &mut usize, &length: &usize| {
        let here = *sum;
        *sum += length;
        Some(here)
    };
    lengths.iter().scan(start, before).collect()
}

/// The types of stored positions.
pub trait Position: Plain + Default + Send + Sync {
    /// A number, or the largest value where that is too large.
    fn at_most(number: usize) -> Self;

    /// `self + by`, or the largest value where that is too large.
    fn grow(self, by: Self) -> Self;
}

macro_rules! position {
    ($($type:ty)*) => {
        $(impl Position for $type {
            #[inline(always)]
            fn at_most(number: usize) -> Self {
                Self::try_from(number).unwrap_or(Self::MAX)
            }

            #[inline(always)]
            fn grow(self, by: Self) -> Self {
                self.saturating_add(by)
            }
        })*
    };
}

position!(u8 u16 u32 u64);

/// One value for each chunk.
#[derive(Debug)]
pub struct Partial<T> {
    values: Vec<Mutex<T>>,
}

impl<T: Copy> Partial<T> {
    /// Sets a chunk's value.
    pub fn set(&self, chunk: usize, value: T) {
        *lock(&self.values[chunk]) = value;
    }

    /// The values, in the order of the chunks.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.values.into_iter().map(unlock)
    }
}
