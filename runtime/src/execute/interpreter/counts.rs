//! How much the interpreter does.

use std::cell::Cell;

/// What kernels did in the interpreter, one by one: a lane of a vector loop counts as an iteration. Combining what chunks of parallel
/// loops have made does not count, as the interpreter chooses at random how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Operations on elements: products, sums, comparisons that choose one, functions. Those on indices do not count.
    pub operations: u64,
    /// Elements that were stored or updated in arrays.
    pub updates: u64,
    /// Iterations of loops, and elements of lists that are intersected or folded.
    pub walked: u64,
    /// Elements that arrays began with, or were filled with.
    pub filled: u64,
}

impl Counts {
    /// All together.
    pub fn total(&self) -> u64 {
        self.operations + self.updates + self.walked + self.filled
    }
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { operations: 0, updates: 0, walked: 0, filled: 0 }) };
}

/// What the interpreter does on this thread while something runs.
pub fn counted<R>(run: impl FnOnce() -> R) -> (R, Counts) {
    let before = COUNTS.take();
    let result = run();
    let counts = COUNTS.replace(before);
    add(|all| {
        all.operations += counts.operations;
        all.updates += counts.updates;
        all.walked += counts.walked;
        all.filled += counts.filled;
    });
    (result, counts)
}

/// Runs something that does not count: how often chunks are combined is chance.
pub(super) fn uncounted<R>(run: impl FnOnce() -> R) -> R {
    let before = COUNTS.get();
    let result = run();
    COUNTS.set(before);
    result
}

pub(super) fn add(change: impl FnOnce(&mut Counts)) {
    let mut counts = COUNTS.get();
    change(&mut counts);
    COUNTS.set(counts);
}
