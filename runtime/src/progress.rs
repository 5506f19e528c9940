//! How far long work of this process is, for a program that shows it to people.
//!
//! Reading, packing and writing large tensors count what they have done, in one place for all threads; [`current`] tells it. It is
//! for display only: where several tensors are worked on at a time, the counts are those of the work that began last.
//!
//! ```
//! if let Some(state) = spc::progress::current() {
//!     eprintln!("{}%", 100 * state.done / state.total);
//! }
//! ```

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// Bytes of a file or a text.
    Bytes,
    /// Entries that are written.
    Entries,
    /// Parts of a step of packing.
    Parts,
}

/// How far some work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// What is counted.
    pub unit: Unit,
    /// How many are done.
    pub done: u64,
    /// How many there are, at least one.
    pub total: u64,
}

static UNIT: AtomicU8 = AtomicU8::new(0);
static DONE: AtomicU64 = AtomicU64::new(0);
static TOTAL: AtomicU64 = AtomicU64::new(0);

/// The work that is under way, if there is any that counts.
pub fn current() -> Option<State> {
    let (total, done) = (TOTAL.load(Relaxed), DONE.load(Relaxed));
    let unit = match UNIT.load(Relaxed) {
        0 => Unit::Bytes,
        1 => Unit::Entries,
        _ => Unit::Parts,
    };
    (total > 0).then(|| State { unit, done: done.min(total), total })
}

/// Work that counts as long as this lives.
#[derive(Debug)]
pub(crate) struct Work {
    is_counted: bool,
}

impl Work {
    /// So much of it.
    pub(crate) fn begin(unit: Unit, total: usize) -> Self {
        UNIT.store(unit as u8, Relaxed);
        DONE.store(0, Relaxed);
        TOTAL.store(total as u64, Relaxed);
        Self { is_counted: true }
    }

    /// So much of it, unless it is part of work that counts already.
    pub(crate) fn begin_alone(unit: Unit, total: usize) -> Self {
        if TOTAL.load(Relaxed) > 0 { Self { is_counted: false } } else { Self::begin(unit, total) }
    }

    /// So much more is done.
    pub(crate) fn add(&self, more: usize) {
        if self.is_counted {
            DONE.fetch_add(more as u64, Relaxed);
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.is_counted {
            TOTAL.store(0, Relaxed);
        }
    }
}
