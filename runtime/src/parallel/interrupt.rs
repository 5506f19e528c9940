//! Kernels that stop when somebody asks for it.
//!
//! The thread that begins a parallel loop asks now and then, and the others find out before they take their next chunk. So a loop on
//! threads of a pool costs one more load for each chunk, and the question may be one that a certain thread alone can answer: whether
//! Python has a signal for its main thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::thread::LocalKey;
use std::time::{Duration, Instant};

/// How long a question is left alone.
const PATIENCE: Duration = Duration::from_millis(20);

/// What asks whether to stop.
pub(crate) struct Question {
    ask: Box<dyn Fn() -> bool>,
    /// When it was asked last.
    last: Cell<Instant>,
    is_stopped: Cell<bool>,
}

impl Question {
    /// Whether to stop; asked anew where that is some time ago.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.get() || self.last.get().elapsed() >= PATIENCE && self.ask()
    }

    /// The same, asked now.
    fn ask(&self) -> bool {
        self.is_stopped.set(self.is_stopped.get() || (self.ask)());
        self.last.set(Instant::now());
        self.is_stopped.get()
    }
}

type Slot = RefCell<Option<Rc<Question>>>;

thread_local! {
    /// The question for kernels that this thread begins.
    static ASKED: Slot = const { RefCell::new(None) };
    /// That of the kernel that this thread has begun. What is done around kernels in parallel is not stopped.
    static WATCHED: Slot = const { RefCell::new(None) };
}

/// What is in a slot for a while.
struct Held {
    slot: &'static LocalKey<Slot>,
    before: Option<Rc<Question>>,
}

impl Held {
    fn new(slot: &'static LocalKey<Slot>, now: Option<Rc<Question>>) -> Self {
        Self { slot, before: slot.replace(now) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.slot.replace(self.before.take()));
    }
}

/// Calls `body`. Kernels that it calls, on the thread that it runs on, ask about every 20 milliseconds whether to stop; when the answer is
/// yes, they end with [`Error::Interrupted`](crate::execute::Error::Interrupted).
///
/// A kernel asks between the chunks of its parallel loops, and the interpreter anywhere. What runs as one chunk ends first: a kernel
/// without a parallel loop, one with little work, or on one thread. The threads share a loop of much work in eight chunks each at least, or
/// one where a chunk has a copy of the result. Tensors that a call was to write its results into hold anything afterwards.
///
/// The question is asked on the thread that calls this, while others work. `stop` may look at a clock, or at a flag that a handler of
/// signals sets:
///
/// ```
/// # #[cfg(feature = "compile")] {
/// use spc::execute::{Backend, Error, Kernel, ProgramError, interruptible};
/// use spc::tensor::{AnyTensor, LevelArrays};
/// use spc_compiler::format::Format;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let kernel = Kernel::builder("s = A(i, j) * A(j, k) * A(k, i)").backend(Backend::Interpreter).compile().unwrap();
/// let a = AnyTensor::from_parts(vec![300, 300], Format::dense(2), vec![LevelArrays::NONE; 2], vec![1.0; 90_000].into()).unwrap();
/// let stop = Arc::new(AtomicBool::new(false));
/// let asked = Arc::clone(&stop);
/// let handler = std::thread::spawn(move || stop.store(true, Ordering::Relaxed));
/// let result = interruptible(move || asked.load(Ordering::Relaxed), || kernel.call(&[&a]));
/// assert!(matches!(result, Err(ProgramError::Execute(Error::Interrupted { .. }))));
/// # handler.join().unwrap();
/// # }
/// ```
pub fn interruptible<R>(stop: impl Fn() -> bool + 'static, body: impl FnOnce() -> R) -> R {
    let question = Question { ask: Box::new(stop), last: Cell::new(Instant::now()), is_stopped: Cell::new(false) };
    let _held = Held::new(&ASKED, Some(Rc::new(question)));
    body()
}

/// Runs a kernel, whose loops then ask. What this thread does for others meanwhile is not asked for.
pub(crate) fn watched<R>(body: impl FnOnce() -> R) -> R {
    let asked = Held::new(&ASKED, None);
    let _watched = Held::new(&WATCHED, asked.before.clone());
    body()
}

/// What the kernel on this thread asks.
#[cfg(feature = "compile")]
pub(crate) fn question() -> Option<Rc<Question>> {
    WATCHED.with_borrow(Clone::clone)
}

/// Runs a loop with the question of the kernel that it is in. What this thread does for others meanwhile has none.
pub(super) fn with_question<R>(body: impl FnOnce(Option<&Question>) -> R) -> R {
    let held = Held::new(&WATCHED, None);
    body(held.before.as_deref())
}

/// What a kernel unwinds with that was asked to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupted;

impl Interrupted {
    /// Unwinds, without a word to the hook for panics: this is no fault of the program.
    #[cold]
    pub(crate) fn unwind(self) -> ! {
        std::panic::resume_unwind(Box::new(self))
    }
}
