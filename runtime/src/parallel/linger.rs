//! Threads that look out for the next parallel loop for a while, before they sleep.
//!
//! A program that calls one small kernel after the other leaves rayon's threads idle in between. They soon sleep, and to wake one
//! takes longer than many a loop does alone. So threads that were called for a loop wait for the next for [`LINGER`], and give
//! the processor to whoever else wants it meanwhile. The thread that began the loop goes on at once.

use super::gate::Gate;
use rayon::Yield;
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long threads wait for a loop.
const LINGER: Duration = Duration::from_micros(200);

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

fn now() -> u64 {
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Those that wait for the next loop of one thread. Each thread that begins loops has its own: threads of one pool do not wait for
/// what is done in another.
#[derive(Default)]
pub(super) struct Waiting {
    /// How many threads wait, or are about to.
    count: AtomicUsize,
    /// When the last loop began or ended, in nanoseconds since [`START`].
    last: AtomicU64,
    /// Where they find the next.
    pub(super) gate: Gate,
}

thread_local! {
    static WAITING: Arc<Waiting> = Arc::default();
}

/// Those that wait for this thread's loops.
pub(super) fn waiting() -> Arc<Waiting> {
    WAITING.with(Arc::clone)
}

impl Waiting {
    /// Lets the other threads wait for the next loop, unless some do or are about to; whether they were called.
    pub(super) fn call(self: &Arc<Self>) -> bool {
        self.stay();
        let others = rayon::current_num_threads().saturating_sub(1);
        if others == 0 || self.count.compare_exchange(0, others, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return false;
        }
        // A thread that is none of rayon's goes on itself, and needs a processor too.
        let own = rayon::current_thread_index().unwrap_or(0);
        let waiting = Arc::clone(self);
        rayon::spawn_broadcast(move |thread| {
            if thread.index() != own {
                waiting.wait();
                waiting.count.fetch_sub(1, Ordering::Relaxed);
            }
        });
        true
    }

    /// Has those that wait begin to count anew.
    pub(super) fn stay(&self) {
        self.last.store(now(), Ordering::Relaxed);
    }

    /// Works on what comes, until nothing has come for long enough.
    fn wait(&self) {
        let limit = u64::try_from(LINGER.as_nanos()).unwrap_or(u64::MAX);
        self.gate.look_out(|| {
            if rayon::yield_now() != Some(Yield::Executed) {
                std::thread::yield_now();
            }
            now().saturating_sub(self.last.load(Ordering::Relaxed)) < limit
        });
    }
}
