//! The threads that kernels run on: rayon's, or those that `set_threads` asked for; new ones in a process that was forked, where
//! threads of its parent are gone.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

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

fn new(count: usize) -> PyResult<Arc<ThreadPool>> {
    let count = count.min(spc::parallel::most_threads());
    ThreadPoolBuilder::new()
        .num_threads(count)
        .build()
        .map(Arc::new)
        .map_err(|error| PyOSError::new_err(error.to_string()))
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
