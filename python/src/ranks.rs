//! Kernels and decompositions on many ranks: threads of this process, or the processes of a communicator of mpi4py's.
//!
//! The work of a rank is done on a thread apart. Messages between processes are sent and taken by the thread that has called, as an MPI that
//! serves one thread alone asks for; it looks for signals meanwhile.
//!
//! Processes agree before they begin and when they have ended, and what one of them fails by, all others are told where they exchange
//! messages next: so each of them raises an exception, and none waits for one that is gone.

use crate::decompose::{self, Found};
use crate::kernel::{Argument, backend_of};
use crate::tensor::Storage;
use crate::{errors, threads};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyInt, PyTuple};
use rayon::ThreadPool;
use spc::decompose::{AlsOptions, CpOptions, DecomposeError, DistributedTensor, Start, cp_of, cp_on};
use spc::distribute::{
    self, CommunicationError, Communicator, DistributeError, Machine, Placement, Plan, ThreadRank, Traffic, in_parts,
    on_threads, parts_for,
};
use spc::execute::{self, Operand, ProgramError, ProgramOptions, scalar};
use spc::io::{ReadOptions, TensorFile};
use spc::tensor::{AnyTensor, ElementType};
use spc_compiler::diagnostics::render::render;
use spc_compiler::notation;
use std::cell::Cell;
use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

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
            | Failure::Decomposition(DecomposeError::Communication(error)) => {
                errors::SpcError::new_err(error.to_string())
            }
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
            let all = own.gather_all(said.as_bytes())?;
            if let Some(rank) = all.iter().position(|other| *other != all[0]) {
                return Err(Failure::Differs(rank));
            }
            body(&begin(own.size())?, own)
        };
        return Processes::of(ranks)?.run(of_rank, exception);
    };
    // A rank that waits keeps a thread, so that each has some of its own.
    let each = (threads::get_threads() / count).max(1);
    let made = threads::run_apart(ranks.py(), move |stop| {
        let shared = threads::within(|| begin(count))?;
        let pools = (0..count).map(|_| threads::pool_of(each)).collect::<Result<Vec<ThreadPool>, _>>();
        let pools = pools.map_err(Failure::Threads)?;
        let shared = &shared;
        let of_rank = |own: &ThreadRank| pools[own.rank()].install(|| stop.around(|| body(shared, own)));
        on_threads(count, None, of_rank)
    })?;
    made.map(|mut all| all.swap_remove(0)).map_err(exception)
}

/// A communicator of mpi4py's.
struct Processes<'py> {
    communicator: Bound<'py, PyAny>,
    rank: usize,
    size: usize,
    /// What a signal has raised while messages were under way, and when.
    interrupted: Option<(PyErr, Instant)>,
}

/// What a rank's work asks of the thread that has called.
enum Asked<R> {
    Exchange(Vec<Vec<u8>>),
    Ended(std::thread::Result<Result<R, Failure>>),
}

/// The bytes of what precedes messages: whether the rank goes on, how long the message is, how long the longest of the rank is, and why it
/// does not go on.
const HEAD: usize = 512;

/// The most bytes that a rank sends at a time, and takes. Counts of MPI have 31 bits, and what is under way is in memory twice.
const MOST: usize = 1 << 24;

/// How long a rank asks again and again whether messages have come before it sleeps in between.
const EAGER: Duration = Duration::from_millis(2);

/// How long it sleeps then.
const SLEEP: Duration = Duration::from_micros(200);

/// How long a rank that was interrupted waits for others to listen.
const GRACE: Duration = Duration::from_secs(2);

/// A rank that goes on, or why it does not.
fn head(length: usize, longest: usize, failure: Option<&str>) -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[8..16].copy_from_slice(&(length as u64).to_le_bytes());
    head[16..24].copy_from_slice(&(longest as u64).to_le_bytes());
    if let Some(reason) = failure {
        let ends = reason.char_indices().map(|(place, char)| place + char.len_utf8());
        let cut = ends.take_while(|end| *end <= HEAD - 24).last().unwrap_or(0);
        head[24..24 + cut].copy_from_slice(&reason.as_bytes()[..cut]);
        head[..8].copy_from_slice(&(cut as u64 + 1).to_le_bytes());
    }
    head
}

/// The number at a place of a head.
fn number(head: &[u8], place: usize) -> usize {
    let bytes = head[place..place + 8].try_into().expect("eight bytes");
    usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)
}

impl<'py> Processes<'py> {
    fn of(communicator: &Bound<'py, PyAny>) -> PyResult<Self> {
        let number = |method: &str| communicator.call_method0(method)?.extract::<usize>();
        let (rank, size) = (number("Get_rank")?, number("Get_size")?);
        Ok(Self { communicator: communicator.clone(), rank, size, interrupted: None })
    }

    /// Runs this rank's part.
    fn run<R: Send + 'static>(
        mut self,
        body: impl FnOnce(&dyn Communicator) -> Result<R, Failure> + Send + 'static,
        exception: impl FnOnce(Failure) -> PyErr,
    ) -> PyResult<R> {
        let py = self.communicator.py();
        let (asks, asked) = mpsc::channel();
        let (answers, answered) = mpsc::channel();
        let (rank, size) = (self.rank, self.size);
        let each = threads::get_threads();
        let work = move || {
            let to = asks.clone();
            let own = move || Remote { rank, size, asks: to, answered, traffic: Cell::default() };
            let of_rank = || threads::pool_of(each).map_err(Failure::Threads)?.install(|| body(&own()));
            _ = asks.send(Asked::Ended(panic::catch_unwind(AssertUnwindSafe(of_rank))));
        };
        if let Err(error) = threads::begin_apart(work) {
            self.stop(&error.to_string());
            return Err(error);
        }
        let asked = threads::Awaited::new(asked);
        loop {
            match asked.next(py) {
                Ok(Asked::Exchange(messages)) => {
                    let taken = self.exchange(messages)?;
                    if let Some((error, _)) = self.interrupted.take() {
                        return Err(self.interrupt(error));
                    }
                    // Work that is no longer there has said why.
                    _ = answers.send(taken);
                }
                Ok(Asked::Ended(Ok(Ok(result)))) => {
                    self.exchange(vec![Vec::new(); size])?;
                    return self.interrupted.map_or(Ok(result), |(error, _)| Err(error));
                }
                Ok(Asked::Ended(Ok(Err(failure)))) => {
                    self.stop(&failure.to_string());
                    return Err(exception(failure));
                }
                Ok(Asked::Ended(Err(panicked))) => {
                    self.stop("it panicked");
                    panic::resume_unwind(panicked);
                }
                Err(error) => return Err(self.interrupt(error)),
            }
        }
    }

    /// Tells others of a signal here.
    fn interrupt(&mut self, error: PyErr) -> PyErr {
        let py = self.communicator.py();
        self.interrupted = Some((error.clone_ref(py), Instant::now()));
        self.stop("it was interrupted");
        error
    }

    /// Tells others that this rank does not go on. What keeps it from that is no news.
    fn stop(&mut self, reason: &str) {
        _ = self.heads(&|_| head(0, 0, Some(reason)));
    }

    /// As [`Communicator::exchange`]; an exception where another rank has stopped.
    fn exchange(&mut self, mut messages: Vec<Vec<u8>>) -> PyResult<Vec<Vec<u8>>> {
        let own = std::mem::take(&mut messages[self.rank]);
        let longest = messages.iter().map(Vec::len).max().unwrap_or(0);
        let heads = self.heads(&|to| head(messages[to].len(), longest, None))?;
        let heads: Vec<&[u8]> = heads.chunks_exact(HEAD).collect();
        if let Some(rank) = heads.iter().position(|head| number(head, 0) > 0) {
            let reason = &heads[rank][24..23 + number(heads[rank], 0)];
            let reason = String::from_utf8_lossy(reason).into_owned();
            return Err(errors::SpcError::new_err(CommunicationError::Stopped { rank, reason }.to_string()));
        }
        let lengths: Vec<usize> = heads.iter().map(|head| number(head, 8)).collect();
        let longest = heads.iter().map(|head| number(head, 16)).max().unwrap_or(0);
        let mut taken: Vec<Vec<u8>> = vec![Vec::new(); self.size];
        // One that has no room goes on with the others, and fails where it can tell them.
        let has_room = taken.iter_mut().zip(&lengths).all(|(taken, &length)| taken.try_reserve_exact(length).is_ok());
        let piece = (MOST / self.size).max(1);
        for begin in (0..longest).step_by(piece) {
            self.pieces(begin, piece, &messages, &lengths, |from, bytes| {
                if has_room {
                    taken[from].extend_from_slice(bytes);
                }
            })?;
        }
        if !has_room {
            let message = format!("there is no memory for {} bytes of other ranks", lengths.iter().sum::<usize>());
            self.stop(&message);
            return Err(PyMemoryError::new_err(message));
        }
        taken[self.rank] = own;
        Ok(taken)
    }

    /// Sends a head to each rank, and takes theirs.
    fn heads(&mut self, head: &dyn Fn(usize) -> [u8; HEAD]) -> PyResult<Vec<u8>> {
        let py = self.communicator.py();
        let all: Vec<u8> = (0..self.size).flat_map(head).collect();
        let taken = PyByteArray::new_with(py, HEAD * self.size, |_| Ok(()))?;
        let request = self.communicator.call_method1("Ialltoall", (PyBytes::new(py, &all), &taken))?;
        self.wait(request)?;
        Ok(taken.to_vec())
    }

    /// Sends a piece of each message, and hands over those that have come.
    fn pieces(
        &mut self,
        begin: usize,
        piece: usize,
        messages: &[Vec<u8>],
        lengths: &[usize],
        mut take: impl FnMut(usize, &[u8]),
    ) -> PyResult<()> {
        let py = self.communicator.py();
        let part = |length: usize| length.saturating_sub(begin).min(piece);
        let places = |counts: &[usize]| -> Vec<usize> {
            let next = |sum: &mut usize, &count: &usize| Some(std::mem::replace(sum, *sum + count));
            counts.iter().scan(0, next).collect()
        };
        let sent: Vec<usize> = messages.iter().map(|message| part(message.len())).collect();
        let coming: Vec<usize> = lengths.iter().map(|&length| part(length)).collect();
        let (from, to) = (places(&sent), places(&coming));
        let bytes = PyBytes::new_with(py, sent.iter().sum(), |bytes| {
            for ((message, &count), &place) in messages.iter().zip(&sent).zip(&from) {
                if count > 0 {
                    bytes[place..place + count].copy_from_slice(&message[begin..begin + count]);
                }
            }
            Ok(())
        })?;
        let taken = PyByteArray::new_with(py, coming.iter().sum(), |_| Ok(()))?;
        let arguments = ((bytes, (sent, from)), (&taken, (coming.clone(), to.clone())));
        let request = self.communicator.call_method1("Ialltoallv", arguments)?;
        self.wait(request)?;
        // SAFETY: no code of Python's runs while the bytes are read, and MPI has written all of them.
        let taken = unsafe { taken.as_bytes() };
        for (rank, (count, place)) in coming.into_iter().zip(to).enumerate() {
            take(rank, &taken[place..place + count]);
        }
        Ok(())
    }

    /// Waits until messages have been sent and taken.
    fn wait(&mut self, request: Bound<'py, PyAny>) -> PyResult<()> {
        let py = self.communicator.py();
        let begin = Instant::now();
        while !request.call_method0("Test")?.is_truthy()? {
            if self.interrupted.is_none()
                && let Err(error) = py.check_signals()
            {
                self.interrupted = Some((error, Instant::now()));
            }
            if let Some((error, since)) = &self.interrupted
                && since.elapsed() >= GRACE
            {
                let error = error.clone_ref(py);
                let note = "other ranks were not told, and may wait for this one: end them";
                error.value(py).call_method1("add_note", (note,))?;
                // MPI may still read and write the memory that the request has.
                std::mem::forget(request);
                return Err(error);
            }
            py.detach(|| match begin.elapsed() < EAGER {
                true => std::thread::yield_now(),
                false => std::thread::sleep(SLEEP),
            });
        }
        Ok(())
    }
}

/// A rank whose messages the thread that has called sends.
struct Remote<R> {
    rank: usize,
    size: usize,
    asks: Sender<Asked<R>>,
    answered: Receiver<Vec<Vec<u8>>>,
    traffic: Cell<Traffic>,
}

impl<R> Communicator for Remote<R> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        assert_eq!(messages.len(), self.size, "there is a message for each rank");
        let mut traffic = self.traffic.get();
        for (_, message) in messages.iter().enumerate().filter(|(to, message)| *to != self.rank && !message.is_empty())
        {
            traffic += Traffic { bytes: message.len() as u64, messages: 1 };
        }
        let taken = self.asks.send(Asked::Exchange(messages)).ok().and_then(|()| self.answered.recv().ok());
        self.traffic.set(traffic);
        // The thread that has called has raised an exception.
        taken.ok_or_else(|| CommunicationError::Stopped { rank: self.rank, reason: "the call has ended".to_owned() })
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}

/// Tells other processes that this one does not make the call that they make.
#[pyfunction]
pub(crate) fn _stopped(ranks: &Bound<'_, PyAny>, reason: &str) -> PyResult<()> {
    if count_of(ranks)?.is_none() {
        Processes::of(ranks)?.stop(reason);
    }
    Ok(())
}

/// A kernel and its inputs, to be run on ranks.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Problem {
    problem: Arc<distribute::Problem>,
    text: String,
    /// Results have the same bits on any number of ranks.
    deterministic: bool,
    /// What all processes have to agree on.
    said: String,
}

/// What stands for a parameter.
fn operand(argument: Argument) -> Operand {
    match argument {
        Argument::Tensor(tensor) => tensor.into(),
        Argument::Bool(value) => Operand::Scalar(f64::from(u8::from(value))),
        // A large number is what it is, or of another type.
        Argument::Integer(value) if value.unsigned_abs() < 1 << f64::MANTISSA_DIGITS => Operand::Scalar(value as f64),
        Argument::Integer(value) => scalar(value).into(),
        Argument::Real(value) => Operand::Scalar(value),
        Argument::Complex(value) => scalar(value).into(),
        Argument::Complex32(value) => scalar(value).into(),
    }
}

/// The plan of so many ranks; where they are to give the same bits as any other number, of the parts that these have some of.
fn plan(
    problem: &distribute::Problem,
    distribute: Option<&str>,
    ranks: usize,
    deterministic: bool,
) -> Result<Plan, Failure> {
    let asked =
        distribute.map(|text| Placement::parse(text, &|name| problem.is_input(name)).map_err(Failure::Placement));
    let asked = asked.transpose()?;
    let cells = asked.as_ref().and_then(Placement::cells);
    let pieces = match deterministic {
        true => {
            parts_for(ranks, cells).map_err(|error| Failure::Placement(format!("`deterministic` computes {error}")))?
        }
        false => ranks,
    };
    match asked {
        Some(placement) => Ok(problem.plan(&placement, pieces)?),
        None => Ok(problem.plans(pieces, Machine::default())?.remove(0)),
    }
}

#[pymethods]
impl Problem {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "Python's half names them")]
    fn new(
        py: Python<'_>,
        text: String,
        formats: Vec<(String, String)>,
        dimensions: Vec<(String, usize)>,
        backend: Option<&str>,
        deterministic: bool,
        names: Vec<String>,
        inputs: &Bound<'_, PyTuple>,
    ) -> PyResult<Self> {
        let mut said = format!("{text:?} {formats:?} {dimensions:?} {backend:?} {deterministic}");
        let options = ProgramOptions { backend: backend_of(backend)?, deterministic, ..ProgramOptions::default() };
        let builder = execute::Kernel::builder(text.as_str());
        let builder = formats.into_iter().fold(builder, |builder, (tensor, format)| builder.format(tensor, format));
        let kernel: notation::Kernel = builder.checked().map_err(errors::program)?;
        let mut operands = Vec::new();
        for (name, input) in names.into_iter().zip(inputs) {
            let element = kernel.tensors.iter().find(|tensor| tensor.name == name).map(|tensor| tensor.element);
            let argument = Argument::of(&input)?.fitted(element);
            if let Argument::Tensor(tensor) = &argument {
                said.push_str(&format!(" {name} {:?} {}", tensor.shape(), tensor.nnz()));
            }
            operands.push((name, operand(argument)));
        }
        let made = threads::run_long(py, move || distribute::Problem::new(&kernel, operands, &dimensions, &options))?;
        let problem = made.map_err(|error| Failure::Kernel(error).exception(&text))?;
        Ok(Self { problem: Arc::new(problem), text, deterministic, said })
    }

    /// The results by name, on the first rank; nothing on the others.
    fn run(&self, ranks: &Bound<'_, PyAny>, distribute: Option<String>) -> PyResult<Option<Vec<(String, Storage)>>> {
        let said = format!("{} {distribute:?}", self.said);
        let problem = Arc::clone(&self.problem);
        let deterministic = self.deterministic;
        let begin = move |count| Ok((plan(&problem, distribute.as_deref(), count, deterministic)?, problem));
        let body = move |(plan, problem): &(Plan, Arc<distribute::Problem>), own: &dyn Communicator| {
            let of_part = |own: &dyn Communicator| {
                let part = problem.run(plan, own)?;
                Ok(problem.gather(plan, part, own)?)
            };
            if !deterministic {
                return of_part(own);
            }
            // Parts wait for each other, so each has a thread of its own.
            let of_part = |part: &ThreadRank| threads::pool_of(1).map_err(Failure::Threads)?.install(|| of_part(part));
            in_parts(plan.ranks(), own, of_part).map(|mut all| all.swap_remove(0))
        };
        let made = on(ranks, said, begin, body, |failure| failure.exception(&self.text))?;
        Ok(made.map(|results| results.into_iter().map(|(name, tensor)| (name, Storage(tensor))).collect()))
    }

    /// How the entries or a range can be shared out among so many ranks, and what each way costs, that which takes least time first.
    fn plans<'py>(&self, py: Python<'py>, ranks: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        if ranks == 0 {
            return Err(PyValueError::new_err("there is at least one rank"));
        }
        let problem = Arc::clone(&self.problem);
        let plans = threads::run_long(py, move || problem.plans(ranks, Machine::default()))?;
        let plans = plans.map_err(|error| Failure::Kernel(error).exception(&self.text))?;
        let told = |plan: &Plan| {
            let sum = plan.summary(Machine::default());
            let told = PyDict::new(py);
            told.set_item("distribute", plan.placement().to_string())?;
            told.set_item("bytes", sum.bytes)?;
            told.set_item("most_bytes_of_a_rank", sum.most_bytes)?;
            told.set_item("messages", sum.messages)?;
            told.set_item("imbalance", sum.imbalance)?;
            told.set_item("modelled_seconds", sum.time)?;
            told.set_item("bytes_on_every_rank", sum.replicated)?;
            Ok(told)
        };
        plans.iter().map(told).collect()
    }
}

/// Sets a flag when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file of which each rank reads its part.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct SharedFile(distribute::SharedFile);

/// A file that ranks can read in parts; nothing where each has to read all of it.
#[pyfunction]
pub(crate) fn _shared_file(py: Python<'_>, path: PathBuf) -> PyResult<Option<SharedFile>> {
    let opened = py.detach(|| {
        let file = TensorFile::begin(path, &ReadOptions::default())?;
        let element = match file.element()?.unwrap_or(ElementType::F64) {
            element if element == ElementType::F32 || element.is_complex() => element,
            _ => ElementType::F64,
        };
        distribute::SharedFile::of(&file, element)
    });
    Ok(opened.map_err(errors::file)?.map(SharedFile))
}

/// What is decomposed on ranks.
#[derive(Clone)]
enum Source {
    Whole(AnyTensor),
    Parts(distribute::SharedFile),
}

/// CP by least squares on ranks, each of which has the model.
#[pyfunction]
#[pyo3(signature = (x, rank, iterations, tolerance, seed, hosvd, weights, ranks))]
#[allow(clippy::too_many_arguments, reason = "Python's half names them")]
pub(crate) fn _cp_on(
    x: &Bound<'_, PyAny>,
    rank: usize,
    iterations: usize,
    tolerance: f64,
    seed: u64,
    hosvd: bool,
    weights: Option<&Storage>,
    ranks: &Bound<'_, PyAny>,
) -> PyResult<Found> {
    let method = AlsOptions { weights: weights.map(|weights| weights.0.clone()), ..AlsOptions::default() };
    let start = if hosvd { Start::Hosvd { seed } } else { Start::Random { seed } };
    let options = CpOptions { iterations, tolerance, start, ..CpOptions::new(rank) };
    let (x, of_source) = match x.cast_exact::<SharedFile>() {
        Ok(file) => (Source::Parts(file.get().0.clone()), "a file".to_owned()),
        Err(_) => {
            let x = x.cast_exact::<Storage>()?.get().0.clone();
            let said = format!("{:?} {}", x.shape(), x.nnz());
            (Source::Whole(x), said)
        }
    };
    let said = format!("cp {rank} {iterations} {tolerance} {seed} {hosvd} {of_source}");
    // A call that was left by an exception ends after the iteration that it is at.
    let left = Flag(Arc::new(AtomicBool::new(false)));
    let is_left = Arc::clone(&left.0);
    let body = move |_: &(), own: &dyn Communicator| {
        let observe = |_: &_| match is_left.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let observe = &mut { observe };
        Ok(match &x {
            Source::Whole(x) => cp_on(x, &method, &options, own, observe)?,
            Source::Parts(file) => {
                cp_of(&DistributedTensor::of_file(file, own)?, &method, &options, own, observe)?
            }
        })
    };
    let found = on(ranks, said, |_| Ok(()), body, |failure| failure.exception(""))?;
    drop(left);
    decompose::of_ktensor(found)
}
