//! The threads that kernels run on: rayon's, or those that `set_threads` asked for; new ones in a process that was forked, where
//! threads of its parent are gone.

use crate::errors;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
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
const PATIENCE: Duration = Duration::from_millis(50);

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
            let next = || self.0.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(PATIENCE);
            match py.detach(next) {
                Ok(sent) => return Ok(sent),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(errors::SpcError::new_err("the call ended without a result"));
                }
            }
        }
    }
}

/// Runs a call on a thread that `begin` has begun, and looks for signals meanwhile: after Ctrl-C its results are dropped when they come.
fn interruptible<R: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce() -> R + Send + 'static,
    begin: impl FnOnce(Box<dyn FnOnce() + Send>) -> PyResult<()>,
) -> PyResult<R> {
    let (sender, receiver) = mpsc::channel();
    begin(Box::new(move || _ = sender.send(panic::catch_unwind(AssertUnwindSafe(call)))))?;
    match Awaited::new(receiver).next(py)? {
        Ok(result) => Ok(result),
        Err(panicked) => panic::resume_unwind(panicked),
    }
}

/// Runs a call on the threads for kernels until it ends, or Ctrl-C ends the wait for it.
pub(crate) fn run_long<R: Send + 'static>(py: Python<'_>, call: impl FnOnce() -> R + Send + 'static) -> PyResult<R> {
    interruptible(py, call, |body| {
        begin(body);
        Ok(())
    })
}

/// The same on a thread apart, for a call that waits for others.
pub(crate) fn run_apart<R: Send + 'static>(py: Python<'_>, call: impl FnOnce() -> R + Send + 'static) -> PyResult<R> {
    interruptible(py, call, begin_apart)
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
    let mut place = POOL.write().unwrap_or_else(PoisonError::into_inner);
    let count = place.as_ref().map_or(0, |pool| pool.current_num_threads());
    // The old pool is left as it is: to end it would be to wait for threads that are not there.
    std::mem::forget(place.replace(new(count)?));
    Ok(())
}
