//! Kernels and decompositions on many ranks: threads of this process, or the processes of a communicator of mpi4py's.
//!
//! The work of a rank is done on a thread apart. Messages between processes are sent and taken by the thread that has called, as an MPI that
//! serves one thread alone asks for; it looks for signals meanwhile.
//!
//! Processes agree before they begin and when they have ended, and what one of them fails by, all others are told where they exchange
//! messages next: so each of them raises an exception, and none waits for one that is gone.
//!
//! | file | what is in it |
//! |---|---|
//! | `processes` | a rank that is a process |
//! | `problem` | kernels |
//! | `planned` | how they share the work out |
//! | `prepared` | kernels that are prepared once, and called many times |
//! | `decompose` | decompositions |

pub(crate) mod decompose;
mod planned;
pub(crate) mod prepared;
pub(crate) mod problem;
mod processes;

use crate::{errors, threads};
use processes::Processes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rayon::ThreadPool;
use spc::decompose::DecomposeError;
use spc::distribute::{CommunicationError, Communicator, DistributeError, ThreadRank, on_threads};
use spc::execute::ProgramError;
use spc_compiler::diagnostics::render::render;
use std::fmt;

/// Why ranks have not come to an end.
#[derive(Debug)]
enum Failure {
    Kernel(DistributeError),
    Decomposition(DecomposeError),
    /// A placement that is not written as one.
    Placement(String),
    /// This rank does not call what the first does.
    Differs(usize),
    Threads(rayon::ThreadPoolBuildError),
    /// Ctrl-C ended the call.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Kernel(error) => error.fmt(f),
            Failure::Decomposition(error) => error.fmt(f),
            Failure::Placement(message) => f.write_str(message),
            Failure::Differs(rank) => write!(
                f,
                "rank {rank} calls with another text, other options or inputs of other shapes than rank 0: all ranks make the same call"
            ),
            Failure::Threads(error) => error.fmt(f),
            Failure::Interrupted => f.write_str("it was interrupted"),
        }
    }
}

impl From<DistributeError> for Failure {
    fn from(error: DistributeError) -> Self {
        Failure::Kernel(error)
    }
}

impl From<CommunicationError> for Failure {
    fn from(error: CommunicationError) -> Self {
        Failure::Kernel(error.into())
    }
}

impl From<DecomposeError> for Failure {
    fn from(error: DecomposeError) -> Self {
        Failure::Decomposition(error)
    }
}

impl Failure {
    /// As an exception; `text` is that of the kernel.
    fn exception(self, text: &str) -> PyErr {
        match self {
            Failure::Kernel(DistributeError::Program(ProgramError::Schedule(found))) => {
                errors::text(format!("\n{}", render(text, "<kernel>", &found.into_sorted(), false)))
            }
            Failure::Kernel(DistributeError::Program(error)) => errors::program(error),
            Failure::Kernel(DistributeError::Communication(error))
            | Failure::Decomposition(DecomposeError::Communication(error)) => errors::other(error),
            Failure::Threads(error) => pyo3::exceptions::PyOSError::new_err(error.to_string()),
            other => errors::value(other),
        }
    }
}

/// How many threads `ranks` asks for; `None` where it is a communicator.
fn count_of(ranks: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    if !ranks.is_instance_of::<PyInt>() {
        return Ok(None);
    }
    let count: usize = ranks.extract()?;
    if count == 0 {
        return Err(PyValueError::new_err("there is at least one rank"));
    }
    Ok(Some(count))
}

/// Runs `body` on ranks, with what `begin` makes: once for ranks that are threads, on each of those that are processes. `said` is what all
/// processes have to agree on. Gives what the first thread makes, or this process.
fn on<S, R>(
    ranks: &Bound<'_, PyAny>,
    said: String,
    begin: impl FnOnce(usize) -> Result<S, Failure> + Send + 'static,
    body: impl Fn(&S, &dyn Communicator) -> Result<R, Failure> + Send + Sync + 'static,
    exception: impl FnOnce(Failure) -> PyErr,
) -> PyResult<R>
where
    S: Send + Sync + 'static,
    R: Send + 'static,
{
    let Some(count) = count_of(ranks)? else {
        let of_rank = move |own: &dyn Communicator| {
            alike(&own.gather_all(said.as_bytes())?)?;
            body(&begin(own.size())?, own)
        };
        return Processes::of(ranks)?.run(of_rank, exception);
    };
    let made = threads::run_apart(ranks.py(), move |stop| {
        let shared = threads::within(|| begin(count))?;
        on_own_threads(count, |own| stop.around(|| body(&shared, own)))
    })?;
    made.map(|mut all| all.swap_remove(0)).map_err(exception)
}

/// What `begin` makes for ranks: once for those that are threads, on each of those that are processes, which agree on `said`.
fn for_ranks<S: Send + 'static>(
    ranks: &Bound<'_, PyAny>,
    said: String,
    begin: impl FnOnce(usize) -> Result<S, Failure> + Send + 'static,
    exception: impl Fn(Failure) -> PyErr,
) -> PyResult<S> {
    match count_of(ranks)? {
        Some(count) => threads::run_apart(ranks.py(), move |_| threads::within(|| begin(count)))?.map_err(exception),
        None => {
            let of_rank = move |own: &dyn Communicator| {
                alike(&own.gather_all(said.as_bytes())?)?;
                begin(own.size())
            };
            Processes::of(ranks)?.run(of_rank, exception)
        }
    }
}

/// Runs `body` as so many ranks that are threads.
fn on_own_threads<R: Send>(
    count: usize,
    body: impl Fn(&dyn Communicator) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    // A rank that waits keeps a thread, so that each has some of its own.
    let each = (threads::get_threads() / count).max(1);
    let pools = (0..count).map(|_| threads::pool_of(each)).collect::<Result<Vec<ThreadPool>, _>>();
    let pools = pools.map_err(Failure::Threads)?;
    on_threads(count, None, |own: &ThreadRank| pools[own.rank()].install(|| body(own)))
}

/// Refuses what ranks have said, where one says something else than the first.
fn alike(said: &[Vec<u8>]) -> Result<(), Failure> {
    said.iter().position(|other| *other != said[0]).map_or(Ok(()), |rank| Err(Failure::Differs(rank)))
}

/// Tells other processes that this one does not make the call that they make.
#[pyfunction]
pub(crate) fn _stopped(ranks: &Bound<'_, PyAny>, reason: &str) -> PyResult<()> {
    if count_of(ranks)?.is_none() {
        Processes::of(ranks)?.stop(reason);
    }
    Ok(())
}
