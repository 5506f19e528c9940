//! The chunks of a loop on the threads of a pool.
//!
//! Every thread begins with a share of the chunks, and always with the same one: what it wrote in one loop lies in its cache when
//! the next begins. Who is done takes chunks from the ends of the others' shares. No thread waits for another but the one
//! that began the loop, and that one only for those that are at work: a thread that sleeps takes longer to wake than many a loop takes.

use super::interrupt::{self, Question};
use super::linger;
use rayon::Scope;
use rayon::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the thread that began a loop looks out for its end.
const PATIENCE: Duration = Duration::from_micros(200);

/// The chunks of a share that are not taken yet: the first in the upper half, one past the last in the lower. In cache lines of
/// its own.
#[repr(align(128))]
struct Share(AtomicU64);

impl Share {
    fn new(first: u32, end: u32) -> Self {
        Share(AtomicU64::new(u64::from(first) << 32 | u64::from(end)))
    }

    /// Takes a chunk, and leaves the range that is given for the one that was there.
    fn take(&self, at_end: bool) -> Option<usize> {
        let ends = |both: u64| ((both >> 32) as u32, both as u32);
        let rest = |both: u64| {
            let (first, end) = ends(both);
            let (first, end) = if at_end { (first, end.checked_sub(1)?) } else { (first.checked_add(1)?, end) };
            (first <= end).then_some(u64::from(first) << 32 | u64::from(end))
        };
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).ok()?;
        let (first, end) = ends(before);
        Some(if at_end { end - 1 } else { first } as usize)
    }
}

/// A loop while it runs.
struct Team<'a> {
    shares: Vec<Share>,
    body: &'a (dyn Fn(usize) + Sync),
    count: usize,
    /// How many chunks are done.
    done: AtomicUsize,
    /// Whether no more of them are to be taken.
    is_stopped: AtomicBool,
}

impl Team<'_> {
    /// Works until all chunks are taken, or the answer to a question is to stop.
    fn work(&self, question: Option<&Question>) {
        let own = rayon::current_thread_index().unwrap_or(0) % self.shares.len();
        let others = (1..self.shares.len()).map(|distance| ((own + distance) % self.shares.len(), true));
        for (share, at_end) in std::iter::once((own, false)).chain(others) {
            let mut done = 0;
            while !self.stops(question)
                && let Some(chunk) = self.shares[share].take(at_end)
            {
                (self.body)(chunk);
                done += 1;
            }
            if done > 0 {
                // Once, and not for each: all write it.
                self.done.fetch_add(done, Ordering::Release);
            }
        }
    }

    /// Whether to stop; a thread that has a question tells the others.
    fn stops(&self, question: Option<&Question>) -> bool {
        if question.is_some_and(Question::is_stopped) {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Calls that many threads, each of which calls others: to wake all takes no longer than to wake a few.
    fn call<'s>(&'s self, scope: &Scope<'s>, threads: usize) {
        for part in [threads.div_ceil(2), threads / 2] {
            if part > 0 {
                scope.spawn(move |scope| {
                    self.call(scope, part - 1);
                    self.work(None);
                });
            }
        }
    }

    /// Calls that many threads, works, and looks out for the end of what others have taken.
    fn lead(&self, called: usize, question: Option<&Question>) {
        let lead = || {
            self.work(question);
            self.look_out();
        };
        match called {
            0 => lead(),
            called => rayon::in_place_scope(|scope| {
                self.call(scope, called);
                lead();
            }),
        }
    }

    /// Looks out for the end of what others have taken.
    fn look_out(&self) {
        let start = Instant::now();
        let is_under_way =
            || self.done.load(Ordering::Acquire) < self.count && !self.is_stopped.load(Ordering::Relaxed);
        while is_under_way() && start.elapsed() < PATIENCE {
            if rayon::yield_now() != Some(rayon::Yield::Executed) {
                std::hint::spin_loop();
            }
        }
    }
}

/// Calls `body` with each of `0..count`, at the same time on as many threads as there are and are free. Whether all were called: no
/// more of them are, once the kernel is asked to stop. Afterwards the threads wait for more of it for a while.
pub(super) fn run(count: usize, body: &(dyn Fn(usize) + Sync)) -> bool {
    interrupt::with_question(|question| run_asking(count, body, question))
}

thread_local! {
    /// Whether this thread is in a task.
    static IS_IN_TASK: Cell<bool> = const { Cell::new(false) };
}

/// Calls `body` with each of `0..count`, all of them, as [`run`] does. Tasks that begin tasks of their own give them to the pool: what is
/// left of these when others are done is to be found by those.
pub(super) fn run_tasks(count: usize, body: &(dyn Fn(usize) + Sync)) {
    if IS_IN_TASK.get() || linger::waiting().gate.is_open() {
        return (0..count).into_par_iter().with_max_len(1).for_each(body);
    }
    let body = |task: usize| {
        let _leaves = Entered(IS_IN_TASK.replace(true));
        body(task);
    };
    run_asking(count, &body, None);
}

/// A thread that is in a task until this is dropped; and whether it was in one before.
struct Entered(bool);

impl Drop for Entered {
    fn drop(&mut self) {
        IS_IN_TASK.set(self.0);
    }
}

fn run_asking(count: usize, body: &(dyn Fn(usize) + Sync), question: Option<&Question>) -> bool {
    // A kernel may have many short loops.
    if question.is_some_and(Question::is_stopped) {
        return false;
    }
    let one_by_one = || {
        (0..count).all(|chunk| {
            body(chunk);
            !question.is_some_and(Question::is_stopped)
        })
    };
    let threads = rayon::current_num_threads().min(count);
    let Some(chunks) = u32::try_from(count).ok().filter(|_| threads > 1) else {
        return one_by_one();
    };
    let waiting = linger::waiting();
    // In a loop that this thread has begun itself, threads of a pool are called; one that is none of them would wait for those that are busy.
    let is_inside = waiting.gate.is_open();
    if is_inside && rayon::current_thread_index().is_none() {
        return one_by_one();
    }
    let bound = |thread: usize| (u64::from(chunks) * thread as u64 / threads as u64) as u32;
    let shares = (0..threads).map(|thread| Share::new(bound(thread), bound(thread + 1))).collect();
    let team = Team { shares, body, count, done: AtomicUsize::new(0), is_stopped: AtomicBool::new(false) };
    if is_inside {
        team.lead(threads - 1, question);
    } else {
        // Threads that sleep find the loop when they are awake: this one does not wait for them.
        let are_awake = !waiting.call();
        waiting.gate.open(&|| team.work(None), || {
            // Some may have gone meanwhile, or do something else.
            let absent = if are_awake { waiting.gate.absent(threads - 1) } else { 0 };
            team.lead(absent, question);
        });
        waiting.stay();
    }
    team.done.into_inner() == count
}
