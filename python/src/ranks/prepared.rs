//! A kernel that is prepared on ranks: each keeps its part, and what it has made last, between calls.
//!
//! Threads that are ranks wait for the next call. So does the one thread of a process, whose messages are sent and taken by the thread that
//! calls.

use super::planned::{Planned, storages};
use super::processes::{Processes, Said, Work};
use super::{Failure, count_of, on_own_threads};
use crate::errors;
use crate::kernel::Argument;
use crate::tensor::{Storage, owned};
use crate::threads::Stop;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spc::distribute::{self, Communicator, DistributeError, Part, Plan, parts_of};
use spc::tensor::AnyTensor;
use std::fmt::Write;
use std::ops::Range;
use std::panic;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Results by name, on the first rank.
type Results = Option<Vec<(String, AnyTensor)>>;

/// What a part has made of a round, or why it refuses it.
type Reply = Result<Results, Failure>;
type Says = Sender<Said<Reply>>;

/// What all parts do in one call.
struct Round {
    /// Other elements of inputs.
    inputs: Vec<(String, AnyTensor)>,
    runs: usize,
    /// Inputs that become results of the run before: between runs, or of the last call where there is none.
    feeds: Vec<(String, String)>,
    gathers: bool,
}

impl Round {
    /// What all processes have to agree on.
    fn said(&self) -> String {
        let mut said = format!("{} {:?} {}", self.runs, self.feeds, self.gathers);
        for (name, tensor) in &self.inputs {
            _ = write!(said, " {name} {:?} {}", tensor.shape(), tensor.element().name());
        }
        said
    }

    /// One part of it.
    fn run(
        &self,
        prepared: &mut distribute::Prepared<'_>,
        last: &mut Option<Part>,
        stop: &Stop,
    ) -> Result<(), Failure> {
        self.inputs.iter().try_for_each(|(name, tensor)| prepared.takes(name, tensor))?;
        self.inputs.iter().try_for_each(|(name, tensor)| prepared.set(name, tensor))?;
        if self.runs == 0 {
            self.feed(prepared, last)?;
        }
        for run in 0..self.runs {
            if run > 0 {
                self.feed(prepared, last)?;
            }
            if stop.is_set() {
                return Err(Failure::Interrupted);
            }
            *last = Some(prepared.run()?);
        }
        Ok(())
    }

    fn feed(&self, prepared: &mut distribute::Prepared<'_>, last: &Option<Part>) -> Result<(), Failure> {
        self.feeds.iter().try_for_each(|(input, result)| Ok(prepared.feed(input, made(last)?, result)?))
    }
}

/// What the last run has made.
fn made(last: &Option<Part>) -> Result<&Part, DistributeError> {
    let (what, help) = ("there is no result yet".to_owned(), "run the kernel before".to_owned());
    last.as_ref().ok_or(DistributeError::Refused { what, help })
}

/// A part at work: it does what it is told until its callers have gone. What is refused is refused by all parts, before they exchange
/// anything, and they go on.
fn serve(
    (problem, plan): (&distribute::Problem, &Plan),
    own: &dyn Communicator,
    rounds: Receiver<Arc<Round>>,
    says: &Says,
    stop: &Stop,
) -> Result<(), Failure> {
    let mut prepared = stop.around(|| problem.prepare(plan, own))?;
    _ = says.send(Said::Made(Ok(None)));
    let mut last = None;
    for round in rounds {
        let made = stop.around(|| {
            round.run(&mut prepared, &mut last, stop)?;
            match round.gathers {
                true => Ok(problem.gather(plan, made(&last)?, own)?),
                false => Ok(None),
            }
        });
        _ = says.send(Said::Made(match made {
            Err(Failure::Kernel(error @ DistributeError::Refused { .. })) => Err(error.into()),
            made => Ok(made?),
        }));
    }
    Ok(())
}

/// Parts at work.
struct AtWork {
    work: Work<Reply>,
    /// To each part that is here.
    rounds: Vec<Sender<Arc<Round>>>,
    stop: Stop,
    /// Where ranks are processes.
    communicator: Option<Py<PyAny>>,
}

impl AtWork {
    /// Begins the parts, and waits until they are prepared.
    fn begin(planned: Arc<Planned>, ranks: &Bound<'_, PyAny>) -> PyResult<Self> {
        let stop = Stop::default();
        let count = count_of(ranks)?;
        let mut processes = count.is_none().then(|| Processes::of(ranks)).transpose()?;
        let pieces = planned.pieces;
        let here = processes.as_ref().map_or(0..pieces, |own| parts_of(pieces, own.size, own.rank));
        let (rounds, receivers): (Vec<_>, Vec<_>) = here.clone().map(|_| mpsc::channel()).unzip();
        let body = of_rank(Arc::clone(&planned), here, receivers, stop.clone());
        let work = match (&mut processes, count) {
            (Some(processes), _) => processes.begin(body)?,
            (None, count) => {
                Work::begin(move |says, _| on_own_threads(count.unwrap_or(1), |own| body(own, says)).map(drop))?
            }
        };
        let communicator = processes.as_ref().map(|_| ranks.clone().unbind());
        let begun = Self { work, rounds, stop, communicator };
        begun.next_of_all(ranks.py(), &mut processes, &planned)?.map_err(|failure| planned.exception(failure))?;
        let interrupted = processes.map_or(Ok(None), |mut processes| processes.end())?;
        interrupted.map_or(Ok(begun), Err)
    }

    /// What the parts here make next: the results, where the first part is here.
    fn next_of_all(&self, py: Python<'_>, processes: &mut Option<Processes<'_>>, planned: &Planned) -> PyResult<Reply> {
        let mut all = Ok(None);
        for _ in &self.rounds {
            let next = match processes {
                Some(processes) => processes.next(&self.work, |failure| planned.exception(failure)),
                None => self.next(py, planned),
            };
            let next = next.inspect_err(|_| {
                self.stop.set();
                self.work.said.leave(py);
            })?;
            all = all.and_then(|found| Ok(next?.or(found)));
        }
        Ok(all)
    }

    /// What a thread that is a rank makes next.
    fn next(&self, py: Python<'_>, planned: &Planned) -> PyResult<Reply> {
        match self.work.said.next(py)? {
            Said::Made(made) => Ok(made),
            Said::Failed(failure) => Err(planned.exception(failure)),
            Said::Panicked(panicked) => panic::resume_unwind(panicked),
            Said::Exchange(_) => unreachable!("threads exchange messages themselves"),
        }
    }

    /// Does a round. The inner error leaves all parts as they were before it.
    fn round(&self, py: Python<'_>, round: Round, planned: &Planned) -> PyResult<PyResult<Results>> {
        let communicator = self.communicator.as_ref().map(|communicator| communicator.bind(py));
        let mut processes = communicator.map(Processes::of).transpose()?;
        if let Some(processes) = &mut processes {
            let said = format!("round {} {}", planned.said, round.said());
            if let Err(error) = processes.agree(&said, |failure| planned.exception(failure))? {
                return Ok(Err(error));
            }
        }
        let round = Arc::new(round);
        // One that is no longer there has said why.
        self.rounds.iter().for_each(|part| _ = part.send(Arc::clone(&round)));
        let made = self.next_of_all(py, &mut processes, planned)?;
        // All have come to the end of it: a signal that came meanwhile leaves them as they are.
        let interrupted = processes.map_or(Ok(None), |mut processes| processes.end())?;
        Ok(interrupted.map_or(Ok(()), Err).and(made.map_err(|failure| planned.exception(failure))))
    }

    /// Ends the parts, and waits for them.
    fn end(self, py: Python<'_>) -> PyResult<()> {
        drop(self.rounds);
        self.work.said.until_gone(py)
    }
}

/// The parts that a rank has, one of them or several.
fn of_rank(
    planned: Arc<Planned>,
    here: Range<usize>,
    receivers: Vec<Receiver<Arc<Round>>>,
    stop: Stop,
) -> impl Fn(&dyn Communicator, &Says) -> Result<(), Failure> + Send + Sync + 'static {
    let receivers: Vec<_> = receivers.into_iter().map(|receiver| Mutex::new(Some(receiver))).collect();
    move |own, says| {
        planned.on_parts(own, |problem, plan, own| {
            let receiver = &receivers[own.rank() - here.start];
            let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
            serve((problem, plan), own, receiver.expect("a part is begun once"), says, &stop)
        })
    }
}

enum State {
    Open(AtWork),
    /// Nothing is at work any more, as this message says.
    Closed(&'static str),
}

impl State {
    fn at_work(&self) -> PyResult<&AtWork> {
        match self {
            State::Open(at_work) => Ok(at_work),
            State::Closed(reason) => Err(errors::value(reason)),
        }
    }
}

/// A kernel that is prepared on ranks.
#[pyclass(frozen, module = "spc._native")]
pub(crate) struct Prepared {
    planned: Arc<Planned>,
    state: Mutex<State>,
    /// The process whose threads are at work.
    process: u32,
}

impl Prepared {
    pub(super) fn new(planned: Planned, ranks: &Bound<'_, PyAny>) -> PyResult<Self> {
        let planned = Arc::new(planned);
        let at_work = AtWork::begin(Arc::clone(&planned), ranks)?;
        Ok(Self { planned, state: Mutex::new(State::Open(at_work)), process: std::process::id() })
    }

    /// What is at work, for one call at a time.
    fn lock(&self) -> PyResult<MutexGuard<'_, State>> {
        if self.process != std::process::id() {
            let message = "the kernel was prepared before this process was forked: prepare it anew";
            return Err(errors::other(message));
        }
        match self.state.try_lock() {
            Ok(state) => Ok(state),
            Err(TryLockError::Poisoned(state)) => {
                let mut state = state.into_inner();
                *state = State::Closed(FAILED);
                Ok(state)
            }
            Err(TryLockError::WouldBlock) => {
                Err(errors::SpcError::new_err("the prepared kernel is at work: it does one call at a time"))
            }
        }
    }
}

/// Why one is closed that was not asked to be.
const FAILED: &str = "the prepared kernel is closed, since a call of it failed or was interrupted: prepare it anew";

#[pymethods]
impl Prepared {
    /// Takes other elements of inputs, runs so many times, and gives the results by name on the first rank, if it gathers them. Between runs, or
    /// instead of any, inputs become results: `feeds` has the names of both.
    fn call(
        &self,
        py: Python<'_>,
        inputs: Vec<(String, Bound<'_, PyAny>)>,
        runs: usize,
        feeds: Vec<(String, String)>,
        gathers: bool,
    ) -> PyResult<Option<Vec<(String, Storage)>>> {
        let mut state = self.lock()?;
        let at_work = state.at_work()?;
        let input = |(name, input): (String, Bound<'_, PyAny>)| match Argument::of(&input)? {
            Argument::Tensor(tensor) => Ok((name, owned(&tensor)?)),
            _ => Err(errors::value(format!("`{name}` is to be an array"))),
        };
        let inputs = inputs.into_iter().map(input).collect::<PyResult<_>>()?;
        match at_work.round(py, Round { inputs, runs, feeds, gathers }, &self.planned) {
            Ok(made) => Ok(made?.map(storages)),
            Err(error) => {
                *state = State::Closed(FAILED);
                Err(error)
            }
        }
    }

    /// An exception where it is closed.
    fn check(&self) -> PyResult<()> {
        self.lock()?.at_work().map(drop)
    }

    /// Ends the threads that are at work.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match std::mem::replace(&mut *self.lock()?, State::Closed("the prepared kernel is closed")) {
            State::Open(at_work) => at_work.end(py),
            State::Closed(_) => Ok(()),
        }
    }

    /// How the work is shared out, and what that costs.
    #[getter]
    fn placement<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.planned.placed().expect("it has begun").told(py)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.process != std::process::id() {
            // The threads are not there, and may have held locks of what is dropped.
            std::mem::forget(std::mem::replace(state, State::Closed(FAILED)));
        }
    }
}
