//! Parallel loops of machine code on the run time's own chunks.

use super::layout::{CHUNKS, Kind, Layout, PARTIALS};
use super::session::{
    Add, BEFORE, BEGIN, END, Plan, Run, SAME, Session, Share, Sharing, Words, put, segment, start, take, with_kind,
};
use crate::execute::native::abi::Array;
use crate::parallel::{Chunks, Fixed, Joined, JoinedPositions, Owned, Position, Private, Segmented};
use spc_compiler::ir::{ArrayId, ChunkPolicy, Count, Weights};
use std::slice;

/// An array among chunks.
trait Shared: Sync {
    /// Runs a chunk with the words of its part.
    fn with(&self, chunk: usize, body: &mut dyn FnMut([u64; 5]));

    /// How much each chunk has appended.
    fn lengths(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Brings the parts together.
    fn join(self: Box<Self>, _children: &[usize]) {}
}

fn words<T>(base: usize, elements: &mut [T], next: &mut [T]) -> [u64; 5] {
    let address = |elements: &mut [T]| elements.as_mut_ptr() as u64;
    let (length, further) = (elements.len() as u64, next.len() as u64);
    [address(elements), length, base as u64, address(next), further]
}

impl<T: Words> Shared for Owned<'_, T> {
    fn with(&self, chunk: usize, body: &mut dyn FnMut([u64; 5])) {
        let mut part = self.take(chunk);
        let range = part.range();
        body(words(range.start, &mut part[range], &mut []));
    }
}

/// The address of a frame, which chunks read.
struct Frame(*mut u64);

// SAFETY: they do not write to it.
unsafe impl Sync for Frame {}

/// What reduces, with how it combines.
struct Reduced<S> {
    shared: S,
    add: Add,
    frame: *mut u64,
}

// SAFETY: chunks read the frame, which says where failures are noted.
unsafe impl<S: Sync> Sync for Reduced<S> {}

impl<T: Words> Shared for Reduced<Segmented<'_, T>> {
    fn with(&self, chunk: usize, body: &mut dyn FnMut([u64; 5])) {
        let mut part = self.shared.take(chunk);
        let (base, elements, next) = part.parts();
        body(words(base, elements, next));
    }

    fn join(self: Box<Self>, _: &[usize]) {
        let Reduced { shared, add, frame } = *self;
        shared.combine(&adds(add, frame));
    }
}

impl<T: Words> Shared for Reduced<Private<'_, T>> {
    fn with(&self, chunk: usize, body: &mut dyn FnMut([u64; 5])) {
        self.shared.with(chunk, |elements| body(words(0, elements, &mut [])));
    }

    fn join(self: Box<Self>, _: &[usize]) {
        let Reduced { shared, add, frame } = *self;
        shared.combine(&adds(add, frame));
    }
}

fn adds<T>(add: Add, frame: *mut u64) -> impl Fn(&mut [T], &[T]) + Sync {
    let frame = Frame(frame);
    move |into: &mut [T], from: &[T]| {
        let frame = &frame;
        let length = into.len().min(from.len()) as u64;
        // SAFETY: the code was made for elements of this type, and both have so many.
        unsafe { add(frame.0, into.as_mut_ptr().cast(), from.as_ptr().cast(), length) };
    }
}

/// What appends, with the whole that it continues.
struct Appended<S> {
    shared: S,
    whole: *mut Array,
}

// SAFETY: only the thread that began the loop uses the whole, when it joins the parts.
unsafe impl<S: Sync> Sync for Appended<S> {}

/// Runs a chunk with a vector, by its parts.
fn with_vector<T>(vector: &mut Vec<T>, body: &mut dyn FnMut([u64; 5])) {
    let mut parts = Array { data: std::ptr::null_mut(), length: 0, capacity: 0 };
    put(&mut parts, std::mem::take(vector));
    body([&raw mut parts as u64, 0, 0, 0, 0]);
    // SAFETY: they were put there above, and machine code appends elements of this type.
    *vector = unsafe { take(&mut parts) };
}

impl<T: Words> Shared for Appended<Joined<T>> {
    fn with(&self, chunk: usize, body: &mut dyn FnMut([u64; 5])) {
        with_vector(&mut self.shared.take(chunk), body);
    }

    fn lengths(&self) -> Vec<usize> {
        self.shared.lengths()
    }

    fn join(self: Box<Self>, _: &[usize]) {
        let mut whole = Vec::new();
        self.shared.join(&mut whole);
        // SAFETY: the vector that was there is empty since the loop began.
        put(unsafe { &mut *self.whole }, whole);
    }
}

impl<T: Words + Position> Shared for Appended<JoinedPositions<T>> {
    fn with(&self, chunk: usize, body: &mut dyn FnMut([u64; 5])) {
        with_vector(&mut self.shared.take(chunk), body);
    }

    fn join(self: Box<Self>, children: &[usize]) {
        // SAFETY: only this thread uses the whole, which is in the frame until the loop ends.
        let parts = unsafe { &mut *self.whole };
        // SAFETY: they are the parts of a vector of this type; chunks have had others.
        let mut whole = unsafe { take::<T>(parts) };
        self.shared.join(&mut whole, children);
        put(parts, whole);
    }
}

/// What machine code left in a frame of an array: its address and its length.
unsafe fn described(layout: Layout, frame: *mut u64, array: ArrayId) -> (u64, usize) {
    // SAFETY: the caller's frame has all arrays.
    unsafe { (*frame.add(layout.array(array)), *frame.add(layout.array(array) + 1) as usize) }
}

/// Runs a loop. What it reduces is in the session afterwards, and its address in the frame.
pub(super) fn drive(session: &mut Session<'_>, frame: *mut u64, plan: &Plan) {
    let run = session.run;
    // SAFETY: the query was made for this frame.
    let query = |which: u64, place: usize| unsafe { (plan.query)(frame, which, place as u64) as usize };
    let chunks = cut(run, frame, plan, &query);
    if run.has_failed() {
        return;
    }
    if let Some(uneven) = plan.uneven.as_ref().filter(|_| !chunks.are_even()) {
        return drive(session, frame, uneven);
    }
    let shares: Vec<Box<dyn Shared + '_>> = plan
        .shares
        .iter()
        .enumerate()
        .map(|(place, share)| shared(run, frame, &chunks, place, share, &query))
        .collect();
    if run.has_failed() {
        return;
    }
    session.partials = vec![[0; 2]; chunks.count() * plan.reductions];
    struct Addresses(*mut u64, *mut [u64; 2]);
    // SAFETY: chunks read the frame, and each writes the partial results of its own.
    unsafe impl Sync for Addresses {}
    let addresses = Addresses(frame, session.partials.as_mut_ptr());
    let addresses = &addresses;
    chunks.run(&|chunk| {
        let (low, high) = chunks.range(chunk);
        with_all(&shares, chunk, &mut Vec::new(), &mut |parts| {
            if run.has_failed() {
                return;
            }
            let mut session = Session::new(run);
            // SAFETY: the code was made for this plan: it knows the frame, and what each part is.
            unsafe {
                let partials = addresses.1.add(chunk * plan.reductions);
                (plan.body)(addresses.0, &raw mut session, low as u64, high as u64, parts.as_ptr(), partials);
            }
        });
    });
    if run.has_failed() {
        return;
    }
    let lengths: Vec<Vec<usize>> = shares.iter().map(|share| share.lengths()).collect();
    // Positions first: they need the lengths of what they point into, which joining ends.
    let (positions, others): (Vec<_>, Vec<_>) = shares
        .into_iter()
        .zip(&plan.shares)
        .partition(|(_, share)| matches!(share.sharing, Sharing::JoinedPositions { .. }));
    for (shared, share) in positions.into_iter().chain(others) {
        match share.sharing {
            Sharing::JoinedPositions { children } => shared.join(&lengths[children]),
            _ => shared.join(&[]),
        }
    }
    // SAFETY: the frame is this thread's alone again.
    unsafe {
        frame.add(PARTIALS).write(session.partials.as_mut_ptr() as u64);
        frame.add(CHUNKS).write(chunks.count() as u64);
    }
}

/// Runs a chunk with its parts of all arrays.
fn with_all(
    shares: &[Box<dyn Shared + '_>],
    chunk: usize,
    parts: &mut Vec<[u64; 5]>,
    body: &mut dyn FnMut(&[[u64; 5]]),
) {
    let Some((first, rest)) = shares.split_first() else { return body(parts) };
    first.with(chunk, &mut |part| {
        parts.push(part);
        with_all(rest, chunk, parts, body);
        parts.pop();
    });
}

fn cut(run: &Run<'_>, frame: *mut u64, plan: &Plan, query: &dyn Fn(u64, usize) -> usize) -> Chunks {
    let (begin, end) = (query(BEGIN, 0), query(END, 0));
    let before: &dyn Fn(usize) -> usize = &|place| query(BEFORE, place);
    let ChunkPolicy { weights, count, .. } = plan.policy;
    let chunks = if plan.is_deterministic {
        let is_private = |share: &&Share| matches!(share.sharing, Sharing::Private { .. });
        // SAFETY: the frame is that of the loop.
        let length = |share: &Share| unsafe { described(run.tables.layout, frame, share.array).1 };
        let copied: Vec<usize> = plan.shares.iter().filter(is_private).map(length).collect();
        let fixed = match count {
            Count::Copies if !copied.is_empty() => Fixed::copying(copied.iter().sum()),
            Count::AppendingBounded => Fixed::appending_bounded(),
            Count::Appending => Fixed::appending(),
            Count::Copies | Count::Writing => Fixed::writing(),
        };
        match weights {
            Weights::Even => fixed.even(begin, end),
            Weights::Work => fixed.by_work(begin, end, before),
            Weights::WorkAndPlaces => fixed.weighted(begin, end, before),
        }
    } else {
        match (weights, count) {
            (Weights::Even, Count::Writing) => Chunks::even(begin, end),
            (Weights::Even, Count::Copies) => Chunks::even_per_thread(begin, end),
            (Weights::Even, Count::Appending) => Chunks::even_appending(begin, end),
            (Weights::Even, Count::AppendingBounded) => Chunks::even_appending_bounded(begin, end),
            (Weights::Work, Count::Writing) => Chunks::by_work(begin, end, before),
            (Weights::Work, Count::Copies) => Chunks::by_work_per_thread(begin, end, before),
            (Weights::Work, Count::Appending) => Chunks::by_work_appending(begin, end, before),
            (Weights::Work, Count::AppendingBounded) => Chunks::by_work_appending_bounded(begin, end, before),
            (Weights::WorkAndPlaces, Count::Writing) => Chunks::weighted(begin, end, before),
            (Weights::WorkAndPlaces, Count::Copies) => Chunks::weighted_per_thread(begin, end, before),
            (Weights::WorkAndPlaces, Count::Appending) => Chunks::weighted_appending(begin, end, before),
            (Weights::WorkAndPlaces, Count::AppendingBounded) => Chunks::weighted_appending_bounded(begin, end, before),
        }
    };
    if plan.is_aligned { chunks.aligned(&|place| query(SAME, place) != 0) } else { chunks }
}

/// An array among the chunks.
fn shared<'a>(
    run: &Run<'_>,
    frame: *mut u64,
    chunks: &Chunks,
    place: usize,
    share: &Share,
    query: &dyn Fn(u64, usize) -> usize,
) -> Box<dyn Shared + 'a> {
    // SAFETY: the frame is that of the loop.
    let (data, length) = unsafe { described(run.tables.layout, frame, share.array) };
    let begins = |at: usize| query(start(place), at);
    /// # Safety
    /// The array has so many elements, which nothing else uses while the loop runs.
    unsafe fn whole<'a, T>(data: u64, length: usize) -> &'a mut [T] {
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts_mut(data as *mut T, length) }
    }
    // SAFETY: the frame says what machine code has of the array: elements of its kind, or the parts of a vector of them. The loop shares it,
    // and nothing else uses it meanwhile.
    unsafe {
        match share.sharing {
            Sharing::Owned => {
                with_kind!(share.kind, |T| Box::new(chunks.owned(whole::<T>(data, length), &begins)))
            }
            Sharing::Segmented { identity, add, anew } => with_kind!(share.kind, |T| {
                let whole = whole::<T>(data, length);
                let (length, identity) = (query(segment(place), 0), <T as Words>::of(identity));
                let shared = match anew {
                    true => chunks.segmented_anew(whole, &begins, length, identity),
                    false => chunks.segmented(whole, &begins, length, identity),
                };
                Box::new(Reduced { shared, add, frame })
            }),
            Sharing::Private { identity, add } => with_kind!(share.kind, |T| {
                let shared = chunks.private(whole::<T>(data, length), <T as Words>::of(identity));
                Box::new(Reduced { shared, add, frame })
            }),
            Sharing::Joined => with_kind!(share.kind, |T| {
                let parts = data as *mut Array;
                let mut vector = take::<T>(&mut *parts);
                Box::new(Appended { shared: chunks.joined(&mut vector), whole: parts })
            }),
            Sharing::JoinedPositions { .. } => {
                let whole = data as *mut Array;
                match share.kind {
                    Kind::One => Box::new(Appended { shared: chunks.joined_positions::<u8>(), whole }),
                    Kind::Two => Box::new(Appended { shared: chunks.joined_positions::<u16>(), whole }),
                    Kind::Four => Box::new(Appended { shared: chunks.joined_positions::<u32>(), whole }),
                    _ => Box::new(Appended { shared: chunks.joined_positions::<u64>(), whole }),
                }
            }
        }
    }
}
