//! The chunks of a loop on the threads of a pool.
//!
//! Every thread begins with a share of the chunks, and always with the same one: what it wrote in one loop lies in its cache when
//! the next begins. Who is done takes chunks from the ends of the others' shares. No thread waits for another but the one
//! that began the loop, and that one looks out for the end before it sleeps: a thread that sleeps takes longer to wake than
//! many a loop takes.

use super::interrupt::{self, Question};
use super::linger::{self, Waiting};
use rayon::Scope;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
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

    /// Works, and looks out for the end of what others have taken.
    fn lead(&self, question: Option<&Question>) {
        self.work(question);
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
    let waiting = linger::waiting();
    let is_done = interrupt::with_question(|question| run_asking(count, body, question, &waiting));
    waiting.call();
    is_done
}

fn run_asking(count: usize, body: &(dyn Fn(usize) + Sync), question: Option<&Question>, waiting: &Waiting) -> bool {
    // A kernel may have many short loops.
    if question.is_some_and(Question::is_stopped) {
        return false;
    }
    let threads = rayon::current_num_threads().min(count);
    let Some(chunks) = u32::try_from(count).ok().filter(|_| threads > 1) else {
        return (0..count).all(|chunk| {
            body(chunk);
            !question.is_some_and(Question::is_stopped)
        });
    };
    let bound = |thread: usize| (u64::from(chunks) * thread as u64 / threads as u64) as u32;
    let shares = (0..threads).map(|thread| Share::new(bound(thread), bound(thread + 1))).collect();
    let team = Team { shares, body, count, done: AtomicUsize::new(0), is_stopped: AtomicBool::new(false) };
    let others = threads - 1;
    match question {
        // Threads look out for the loop, and need not be called.
        _ if waiting.is_called() && !waiting.gate.is_open() => {
            waiting.gate.open(&|| team.work(None), || match waiting.gate.absent(others) {
                0 => team.lead(question),
                absent => rayon::in_place_scope(|scope| {
                    team.call(scope, absent);
                    team.lead(question);
                }),
            })
        }
        _ if rayon::current_thread_index().is_some() => rayon::in_place_scope(|scope| {
            team.call(scope, others);
            team.lead(question);
        }),
        // This thread is none of those that work, and would sleep until they are done.
        Some(question) => {
            let is_ended = Ended::default();
            rayon::in_place_scope(|scope| {
                scope.spawn(|scope| {
                    let _end = End(&is_ended);
                    team.call(scope, others);
                    team.lead(None);
                });
                while !is_ended.within(interrupt::PATIENCE) && !question.ask() {}
                team.stops(Some(question));
            });
        }
        None => rayon::scope(|scope| {
            team.call(scope, others);
            team.lead(None);
        }),
    }
    team.done.into_inner() == count
}

/// Whether the thread that leads a loop has nothing more to do.
#[derive(Default)]
struct Ended {
    is_ended: Mutex<bool>,
    change: Condvar,
}

impl Ended {
    /// Waits for it, but not for longer.
    fn within(&self, patience: Duration) -> bool {
        let guard = self.is_ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.change.wait_timeout_while(guard, patience, |is_ended| !*is_ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Says when it is dropped that there is nothing more to do, also by a panic.
struct End<'a>(&'a Ended);

impl Drop for End<'_> {
    fn drop(&mut self) {
        *self.0.is_ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.change.notify_one();
    }
}
