//! A loop that threads enter by themselves while they look out for it.
//!
//! To hand a loop to threads of a pool takes microseconds: memory for each call, queues, and a thread that finds the call there. A thread
//! that looks out for the next loop anyhow needs one number that changes. So does one of OpenMP, which is what libraries of kernels run on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often a thread looks before it does something else.
const LOOKS: usize = 64;

/// How long the thread that began a loop only looks out for those that are in it.
const PATIENCE: Duration = Duration::from_millis(1);

/// What one thread writes and others read, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// Where one thread opens loops, one at a time, and others enter them.
#[derive(Default)]
pub(super) struct Gate {
    /// Odd while a loop is open. It grows, so that no thread takes a loop for one that it was in before.
    number: Apart<AtomicU64>,
    /// What is open.
    open: AtomicPtr<Loop<'static>>,
    /// How many threads look out for the next loop.
    present: Apart<AtomicUsize>,
    /// How many are in the loop, or look whether it is still open.
    inside: Apart<AtomicUsize>,
}

/// A loop, on the stack of the thread that opens it.
struct Loop<'a> {
    work: &'a (dyn Fn() + Sync),
    /// What a thread in it has panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Gate {
    /// How many of so many threads do not look out for the next loop, once those that do something short in between are back.
    pub(super) fn absent(&self, of: usize) -> usize {
        let mut looks = 0;
        loop {
            let absent = of.saturating_sub(self.present.0.load(Ordering::SeqCst));
            if absent == 0 || looks == LOOKS {
                return absent;
            }
            looks += 1;
            std::hint::spin_loop();
        }
    }

    /// Whether a loop is open.
    pub(super) fn is_open(&self) -> bool {
        !self.number.0.load(Ordering::Relaxed).is_multiple_of(2)
    }

    /// Calls `lead`, while threads that look out call `work`, and waits for these. One thread opens a gate, and not one that is open.
    ///
    /// # Panics
    /// When `lead` does, or a thread in `work`.
    pub(super) fn open<R>(&self, work: &(dyn Fn() + Sync), lead: impl FnOnce() -> R) -> R {
        debug_assert!(!self.is_open(), "one loop at a time");
        let opened = Loop { work, panic: Mutex::new(None) };
        self.open.store(ptr::from_ref(&opened).cast_mut().cast(), Ordering::Relaxed);
        // Behind this, a thread that has left has seen it, or is no longer counted as present.
        self.number.0.fetch_add(1, Ordering::SeqCst);
        let closes = Closes(self);
        let result = lead();
        drop(closes);
        match opened.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(panic) => resume_unwind(panic),
            None => result,
        }
    }

    /// Goes into a loop that is open, and not the one that this thread was in last.
    fn enter(&self, last: &mut u64) {
        let number = self.number.0.load(Ordering::SeqCst);
        if number.is_multiple_of(2) || number == *last {
            return;
        }
        *last = number;
        self.inside.0.fetch_add(1, Ordering::SeqCst);
        let _leaves = Leaves(&self.inside.0);
        if self.number.0.load(Ordering::SeqCst) == number {
            // SAFETY: it was stored before the number, and is there until the gate is closed and no thread is inside: this thread was
            // counted before the gate was closed, or it would have found another number.
            let open = unsafe { &*self.open.load(Ordering::Relaxed) };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(open.work)) {
                open.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
            }
        }
    }

    /// Goes into each loop that opens, until `rest` says no. It is called in between, where this thread is not present: it may take long.
    pub(super) fn look_out(&self, mut rest: impl FnMut() -> bool) {
        let mut last = 0;
        loop {
            self.present.0.fetch_add(1, Ordering::SeqCst);
            for _ in 0..LOOKS {
                self.enter(&mut last);
                std::hint::spin_loop();
            }
            self.present.0.fetch_sub(1, Ordering::SeqCst);
            // What was opened before counts on it.
            self.enter(&mut last);
            if !rest() {
                return;
            }
        }
    }
}

/// A thread that is inside, and leaves.
struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// An open gate, which is closed and waited for when it is dropped, also by a panic.
struct Closes<'a>(&'a Gate);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        self.0.number.0.fetch_add(1, Ordering::SeqCst);
        let is_empty = || self.0.inside.0.load(Ordering::SeqCst) == 0;
        for _ in 0..LOOKS {
            if is_empty() {
                return;
            }
            std::hint::spin_loop();
        }
        let start = Instant::now();
        while !is_empty() {
            match start.elapsed() {
                waited if waited < PATIENCE => std::thread::yield_now(),
                // A part of what it has waited already is no loss, and leaves the processor to others.
                waited => std::thread::sleep(waited / 32),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Calls `body` with a gate that another thread looks out at.
    fn with_another(body: impl FnOnce(&Gate)) {
        let (gate, is_ended) = (Gate::default(), AtomicBool::new(false));
        /// Ends the other thread, also by a panic.
        struct Ends<'a>(&'a AtomicBool);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        std::thread::scope(|scope| {
            scope.spawn(|| {
                gate.look_out(|| {
                    std::thread::yield_now();
                    !is_ended.load(Ordering::Relaxed)
                });
            });
            let _ends = Ends(&is_ended);
            body(&gate);
        });
        assert_eq!((gate.present.0.into_inner(), gate.inside.0.into_inner()), (0, 0));
    }

    /// Waits for what another thread does.
    fn until(is_true: impl Fn() -> bool) {
        while !is_true() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn threads_that_look_out_enter_each_loop_once() {
        with_another(|gate| {
            for loops in 0..if cfg!(miri) { 5 } else { 1000 } {
                let entered = AtomicUsize::new(0);
                let work = || _ = entered.fetch_add(1, Ordering::Relaxed);
                let led = gate.open(&work, || {
                    assert!(gate.is_open());
                    until(|| entered.load(Ordering::Relaxed) > 0);
                    loops
                });
                assert_eq!((led, entered.into_inner(), gate.is_open()), (loops, 1, false));
            }
        });
    }

    #[test]
    fn a_loop_is_left_before_it_ends() {
        with_another(|gate| {
            for _ in 0..if cfg!(miri) { 3 } else { 100 } {
                let (is_inside, has_left) = (AtomicBool::new(false), AtomicBool::new(false));
                let work = || {
                    is_inside.store(true, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_micros(50));
                    has_left.store(true, Ordering::Relaxed);
                };
                // What the work borrows is dropped behind this, whether it ends or panics.
                let led = catch_unwind(AssertUnwindSafe(|| {
                    gate.open(&work, || {
                        until(|| is_inside.load(Ordering::Relaxed));
                        panic!("the leader");
                    })
                }));
                assert_eq!(led.unwrap_err().downcast_ref(), Some(&"the leader"));
                assert!(has_left.into_inner() && !gate.is_open());
            }
        });
    }

    #[test]
    fn a_panic_inside_is_the_leaders() {
        with_another(|gate| {
            for number in 0..if cfg!(miri) { 3 } else { 100 } {
                let is_inside = AtomicBool::new(false);
                let work = || {
                    is_inside.store(true, Ordering::Relaxed);
                    std::panic::resume_unwind(Box::new(number));
                };
                let opened = || gate.open(&work, || until(|| is_inside.load(Ordering::Relaxed)));
                let panic = catch_unwind(AssertUnwindSafe(opened)).unwrap_err();
                assert_eq!(panic.downcast_ref(), Some(&number));
            }
        });
    }
}
