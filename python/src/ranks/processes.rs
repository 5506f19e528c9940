//! A rank that is a process of mpi4py's.

use super::{Failure, alike};
use crate::threads::Awaited;
use crate::{errors, threads};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use spc::distribute::{CommunicationError, Communicator, Traffic};
use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// A communicator of mpi4py's.
pub(super) struct Processes<'py> {
    communicator: Bound<'py, PyAny>,
    pub(super) rank: usize,
    pub(super) size: usize,
    /// What a signal has raised while messages were under way, and when.
    interrupted: Option<(PyErr, Instant)>,
}

/// What the work of ranks says to the thread that has called.
pub(super) enum Said<R> {
    /// Messages to other processes, to be answered with theirs.
    Exchange(Vec<Vec<u8>>),
    Made(R),
    Failed(Failure),
    Panicked(Box<dyn Any + Send>),
}

/// Work of ranks, on a thread apart.
pub(super) struct Work<R> {
    pub(super) said: Awaited<Said<R>>,
    answers: Sender<Vec<Vec<u8>>>,
}

impl<R: Send + 'static> Work<R> {
    /// Begins work, which has what says what it makes, and what it is answered.
    pub(super) fn begin(
        body: impl FnOnce(&Sender<Said<R>>, Receiver<Vec<Vec<u8>>>) -> Result<(), Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let (says, said) = mpsc::channel();
        let (answers, answered) = mpsc::channel();
        threads::begin_apart(move || {
            let ended = panic::catch_unwind(AssertUnwindSafe(|| body(&says, answered)));
            // The caller may have gone.
            _ = match ended {
                Ok(Ok(())) => Ok(()),
                Ok(Err(failure)) => says.send(Said::Failed(failure)),
                Err(panicked) => says.send(Said::Panicked(panicked)),
            };
        })?;
        Ok(Self { said: Awaited::new(said), answers })
    }
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
    pub(super) fn of(communicator: &Bound<'py, PyAny>) -> PyResult<Self> {
        let number = |method: &str| communicator.call_method0(method)?.extract::<usize>();
        let (rank, size) = (number("Get_rank")?, number("Get_size")?);
        Ok(Self { communicator: communicator.clone(), rank, size, interrupted: None })
    }

    /// Runs this rank's part.
    pub(super) fn run<R: Send + 'static>(
        mut self,
        body: impl FnOnce(&dyn Communicator) -> Result<R, Failure> + Send + 'static,
        exception: impl FnOnce(Failure) -> PyErr,
    ) -> PyResult<R> {
        let work = self.begin(move |own, says| {
            let made = body(own)?;
            _ = says.send(Said::Made(made));
            Ok(())
        })?;
        let result = self.next(&work, exception)?;
        self.end()?.map_or(Ok(result), Err)
    }

    /// Begins this rank's part.
    pub(super) fn begin<R: Send + 'static>(
        &mut self,
        body: impl FnOnce(&dyn Communicator, &Sender<Said<R>>) -> Result<(), Failure> + Send + 'static,
    ) -> PyResult<Work<R>> {
        let (rank, size) = (self.rank, self.size);
        let each = threads::get_threads();
        let work = Work::begin(move |says, answered| {
            let asks = says.clone();
            let own = move || Remote { rank, size, asks, answered, traffic: Cell::default() };
            threads::pool_of(each).map_err(Failure::Threads)?.install(|| body(&own(), says))
        });
        work.inspect_err(|error| self.stop(&error.to_string()))
    }

    /// What the work makes next; what it sends and takes until then goes to other processes and comes from them.
    pub(super) fn next<R: Send>(&mut self, work: &Work<R>, exception: impl FnOnce(Failure) -> PyErr) -> PyResult<R> {
        loop {
            match work.said.next(self.communicator.py()) {
                Ok(Said::Exchange(messages)) => {
                    let taken = self.exchange_all(messages)?;
                    // Work that is no longer there has said why.
                    _ = work.answers.send(taken);
                }
                Ok(Said::Made(made)) => return Ok(made),
                Ok(Said::Failed(failure)) => {
                    self.stop(&failure.to_string());
                    return Err(exception(failure));
                }
                Ok(Said::Panicked(panicked)) => {
                    self.stop("it panicked");
                    panic::resume_unwind(panicked);
                }
                Err(error) => return Err(self.interrupt(error)),
            }
        }
    }

    /// Waits for the others to come to the end, too. Gives what a signal here has raised meanwhile.
    pub(super) fn end(&mut self) -> PyResult<Option<PyErr>> {
        self.exchange(vec![Vec::new(); self.size])?;
        Ok(self.interrupted.take().map(|(error, _)| error))
    }

    /// Finds out whether all processes say the same. The inner error is that they do not, or that one of them has stopped before: then nothing
    /// has begun on any.
    pub(super) fn agree(&mut self, said: &str, exception: impl FnOnce(Failure) -> PyErr) -> PyResult<PyResult<()>> {
        match self.exchange_all(vec![said.as_bytes().to_vec(); self.size]) {
            Ok(all) => Ok(alike(&all).map_err(|failure| {
                self.stop(&failure.to_string());
                exception(failure)
            })),
            Err(error) if self.interrupted.is_some() => Err(error),
            Err(error) => Ok(Err(error)),
        }
    }

    /// As [`Self::exchange`]; others are told where this rank was interrupted meanwhile.
    fn exchange_all(&mut self, messages: Vec<Vec<u8>>) -> PyResult<Vec<Vec<u8>>> {
        let taken = self.exchange(messages)?;
        match self.interrupted.take() {
            Some((error, _)) => Err(self.interrupt(error)),
            None => Ok(taken),
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
    pub(super) fn stop(&mut self, reason: &str) {
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
            return Err(errors::other(CommunicationError::Stopped { rank, reason }));
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
    asks: Sender<Said<R>>,
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
        self.exchange_during(messages, &mut || {})
    }

    /// The thread that has called moves messages on, and this one works.
    fn exchange_during(
        &self,
        messages: Vec<Vec<u8>>,
        work: &mut (dyn FnMut() + Send),
    ) -> Result<Vec<Vec<u8>>, CommunicationError> {
        assert_eq!(messages.len(), self.size, "there is a message for each rank");
        let mut traffic = self.traffic.get();
        for (_, message) in messages.iter().enumerate().filter(|(to, message)| *to != self.rank && !message.is_empty())
        {
            traffic += Traffic { bytes: message.len() as u64, messages: 1 };
        }
        let asked = self.asks.send(Said::Exchange(messages)).ok();
        let taken = asked.and_then(|()| {
            work();
            self.answered.recv().ok()
        });
        self.traffic.set(traffic);
        // The thread that has called has raised an exception.
        taken.ok_or_else(|| CommunicationError::Stopped { rank: self.rank, reason: "the call has ended".to_owned() })
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}
