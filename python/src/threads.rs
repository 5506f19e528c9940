//! The threads that kernels run on: rayon's, or those that `set_threads` asked for; new ones in a process that was forked, where
//! threads of its parent are gone.

use crate::errors;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use spc::execute::interruptible;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::thread;
use std::time::Duration;

static POOL: RwLock<Option<Arc<ThreadPool>>> = RwLock::new(None);
/// Whether this process has used rayon's threads, or a process that it was forked from: then a fork needs new ones.
static USED: AtomicBool = AtomicBool::new(false);

fn pool() -> Option<Arc<ThreadPool>> {
    POOL.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Runs something without the interpreter's lock, on the threads for kernels.
pub(crate) fn run<R: Send>(py: Python<'_>, body: impl FnOnce() -> R + Send) -> R {
    py.detach(|| within(body))
}

/// The same, where the lock is not held.
pub(crate) fn within<R: Send>(body: impl FnOnce() -> R + Send) -> R {
    USED.store(true, Ordering::Relaxed);
    match pool() {
        Some(pool) => pool.install(body),
        None => body(),
    }
}

/// Begins something on one of the threads for kernels. It must not panic.
pub(crate) fn begin(body: impl FnOnce() + Send + 'static) {
    USED.store(true, Ordering::Relaxed);
    match pool() {
        Some(pool) => pool.spawn(body),
        None => rayon::spawn(body),
    }
}

/// Begins something on a thread that is none of those for kernels.
pub(crate) fn begin_apart(body: impl FnOnce() + Send + 'static) -> PyResult<()> {
    thread::Builder::new().name("spc call".to_owned()).spawn(body).map(drop).map_err(refused)
}

/// How often a long call looks for signals.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long a call that was interrupted waits for its kernel to end.
const GRACE: Duration = Duration::from_millis(100);

/// Calls that were interrupted and still write to arrays of Python's, to the end of the chunks that they are at.
static LEFT: Mutex<Vec<Weak<()>>> = Mutex::new(Vec::new());
/// Whether there may be some.
static HAS_LEFT: AtomicBool = AtomicBool::new(false);

/// Waits for calls that were left behind: what they write to may be what the next call reads, or writes its results to.
fn await_left(py: Python<'_>) -> PyResult<()> {
    while HAS_LEFT.load(Ordering::Acquire) {
        {
            let mut left = lock(&LEFT);
            left.retain(|call| call.strong_count() > 0);
            HAS_LEFT.store(!left.is_empty(), Ordering::Release);
        }
        py.detach(|| thread::sleep(Duration::from_millis(1)));
        py.check_signals()?;
    }
    Ok(())
}

/// Runs a call that writes to arrays of Python's, as [`run_long`] does: when it is left behind, the next call waits for it.
pub(crate) fn run_long_into<R: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let running = Arc::new(());
    let left = Arc::downgrade(&running);
    let result = run_long(py, move || {
        let result = call();
        drop(running);
        result
    });
    if result.is_err() && left.strong_count() > 0 {
        lock(&LEFT).push(left);
        HAS_LEFT.store(true, Ordering::Release);
    }
    result
}

/// Runs a call of kernels until they end. They stop between chunks when a signal raises an exception, which is what comes out then.
pub(crate) fn run_call<R: Send>(py: Python<'_>, body: impl FnOnce() -> R + Send) -> PyResult<R> {
    await_left(py)?;
    USED.store(true, Ordering::Relaxed);
    if let Some(pool) = pool() {
        return run_in(py, &pool, body);
    }
    let raised = Arc::new(Mutex::new(None));
    let looked = {
        let raised = Arc::clone(&raised);
        move || match Python::attach(|py| py.check_signals()) {
            Ok(()) => false,
            Err(error) => {
                *lock(&raised) = Some(error);
                true
            }
        }
    };
    let result = py.detach(move || interruptible(looked, body));
    lock(&raised).take().map_or(Ok(result), Err)
}

/// The same on the threads of a pool, while this thread looks for signals.
fn run_in<R: Send>(py: Python<'_>, pool: &ThreadPool, body: impl FnOnce() -> R + Send) -> PyResult<R> {
    let stop = Stop::default();
    let stopped = stop.clone();
    let (sender, receiver) = mpsc::channel();
    let result = pool.in_place_scope(|scope| {
        scope.spawn(move |_| _ = sender.send(panic::catch_unwind(AssertUnwindSafe(|| stopped.around(body)))));
        let awaited = Awaited::new(receiver);
        awaited.next(py).inspect_err(|_| {
            stop.set();
            _ = py.detach(|| lock(&awaited.0).recv());
        })
    });
    result?.or_else(|panicked| panic::resume_unwind(panicked))
}

/// Stops kernels from another thread than those that call them.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Does something on this thread; kernels that it calls can be stopped.
    pub(crate) fn around<R>(&self, body: impl FnOnce() -> R) -> R {
        let asked = Arc::clone(&self.0);
        interruptible(move || asked.load(Ordering::Relaxed), body)
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread sends to the one that has called, which looks for signals meanwhile.
pub(crate) struct Awaited<T>(Mutex<Receiver<T>>);

impl<T: Send> Awaited<T> {
    pub(crate) fn new(receiver: Receiver<T>) -> Self {
        // A receiver is for one thread at a time, which a lock vouches for.
        Self(Mutex::new(receiver))
    }

    /// The next thing that is sent; an exception of a signal comes before it.
    pub(crate) fn next(&self, py: Python<'_>) -> PyResult<T> {
        loop {
            let next = || lock(&self.0).recv_timeout(PATIENCE);
            match py.detach(next) {
                Ok(sent) => return Ok(sent),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(errors::SpcError::new_err("the call ended without a result"));
                }
            }
        }
    }

    /// Waits a moment for something, which is dropped: a call that was interrupted ends so, if it can.
    pub(crate) fn leave(&self, py: Python<'_>) {
        _ = py.detach(|| lock(&self.0).recv_timeout(GRACE));
    }

    /// Waits until all senders have gone.
    pub(crate) fn until_gone(&self, py: Python<'_>) -> PyResult<()> {
        loop {
            match py.detach(|| lock(&self.0).recv_timeout(PATIENCE)) {
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// Runs a call on a thread that `begin` has begun, and looks for signals meanwhile. After Ctrl-C its kernels stop between chunks; where that
/// takes long, its results are dropped when they come.
fn interruptibly<R: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce(&Stop) -> R + Send + 'static,
    begin: impl FnOnce(Box<dyn FnOnce() + Send>) -> PyResult<()>,
) -> PyResult<R> {
    let stop = Stop::default();
    let stopped = stop.clone();
    let (sender, receiver) = mpsc::channel();
    begin(Box::new(move || _ = sender.send(panic::catch_unwind(AssertUnwindSafe(|| call(&stopped))))))?;
    let awaited = Awaited::new(receiver);
    let sent = awaited.next(py).inspect_err(|_| {
        stop.set();
        awaited.leave(py);
    });
    sent?.or_else(|panicked| panic::resume_unwind(panicked))
}

/// Runs a call on the threads for kernels until it ends, or Ctrl-C ends it or the wait for it.
pub(crate) fn run_long<R: Send + 'static>(py: Python<'_>, call: impl FnOnce() -> R + Send + 'static) -> PyResult<R> {
    await_left(py)?;
    let call = move |stop: &Stop| stop.around(call);
    interruptibly(py, call, |body| {
        begin(body);
        Ok(())
    })
}

/// The same on a thread apart, for a call that waits for others, whose kernels it is given what stops.
pub(crate) fn run_apart<R: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce(&Stop) -> R + Send + 'static,
) -> PyResult<R> {
    interruptibly(py, call, begin_apart)
}

fn new(count: usize) -> PyResult<Arc<ThreadPool>> {
    pool_of(count).map(Arc::new).map_err(refused)
}

/// Threads for kernels that nothing else runs on.
pub(crate) fn pool_of(count: usize) -> Result<ThreadPool, rayon::ThreadPoolBuildError> {
    ThreadPoolBuilder::new().num_threads(count.min(spc::parallel::most_threads())).build()
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    PyOSError::new_err(error.to_string())
}

/// Runs kernels on so many threads from now on; `None` for as many as the machine has processors.
#[pyfunction]
#[pyo3(signature = (count = None))]
pub(crate) fn set_threads(count: Option<usize>) -> PyResult<()> {
    if count == Some(0) {
        return Err(pyo3::exceptions::PyValueError::new_err(
            "there is at least one thread: say None for one for each processor",
        ));
    }
    let made = new(count.unwrap_or(0))?;
    *POOL.write().unwrap_or_else(PoisonError::into_inner) = Some(made);
    Ok(())
}

/// On how many threads kernels run.
#[pyfunction]
pub(crate) fn get_threads() -> usize {
    pool().map_or_else(spc::parallel::threads, |pool| pool.current_num_threads())
}

/// New threads for a process that was forked: Python calls this there.
#[pyfunction]
pub(crate) fn _after_fork() -> PyResult<()> {
    if !USED.load(Ordering::Relaxed) {
        return Ok(());
    }
    // Their threads are not there.
    lock(&LEFT).clear();
    HAS_LEFT.store(false, Ordering::Relaxed);
    let mut place = POOL.write().unwrap_or_else(PoisonError::into_inner);
    let count = place.as_ref().map_or(0, |pool| pool.current_num_threads());
    // The old pool is left as it is: to end it would be to wait for threads that are not there.
    std::mem::forget(place.replace(new(count)?));
    Ok(())
}
