//! A kernel whose input comes in parts: because it is larger than a device's memory, or to copy one part while another is
//! computed.
//!
//! ```text
//! lane 0     copy X₀ │ compute │ copy y₀ │ copy X₃ │ …
//! lane 1        copy X₁ │ compute │ copy y₁ │ copy X₄ │ …        y = y₀ + y₃ + … + y₁ + y₄ + … + …
//! lane 2           copy X₂ │ compute │ copy y₂ │ copy X₅ │ …
//! ```
//!
//! A lane is a thread of the host with its own stream of a device. Of n lanes, each takes every n-th part and does one thing at a
//! time; together they keep both directions of the link and the device at work. Several devices share the lanes. What results of
//! parts become, and that this is the result of the whole, is what the compiler says: [`schedule::Stream`]. Lane by lane and
//! part by part, results are combined in the same order on every run; dense ones on a device stay there until they are one.

use super::Backend;
use super::around::Around;
use super::call::Call;
use super::chain::{Chain, Outcome};
use super::device::Accumulated;
use super::error::Error;
use crate::io::{ReadError, StoredParts};
use crate::tensor::{AnyTensor, NotCut};
use spc_compiler::concrete::Target;
use spc_compiler::ir::Literal;
use spc_compiler::schedule;
use spc_compiler::schedule::Stream;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// How a tensor comes in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamOptions {
    /// The tensor.
    pub tensor: String,
    /// How many parts.
    pub parts: usize,
    /// How many parts are under way at a time.
    pub lanes: usize,
    /// The level whose positions stay whole, if any does: sums below them are then made in one piece, as without parts.
    pub whole: Option<usize>,
    /// Whether the largest parts come first.
    pub largest_first: bool,
}

impl StreamOptions {
    /// So many parts of a tensor, four under way at a time.
    pub fn new(tensor: impl Into<String>, parts: usize) -> Self {
        Self { tensor: tensor.into(), parts, lanes: 4, whole: None, largest_first: false }
    }
}

/// A kernel whose input comes in parts.
#[derive(Debug, Clone)]
pub struct Streamed {
    /// The same kernel, on a stream of its own each.
    lanes: Vec<Chain>,
    /// Makes one result of two, on the host.
    combine: Chain,
    /// The same on the device of each lane, where results can stay there.
    beside: Vec<Chain>,
    options: StreamOptions,
    /// Which input comes in parts.
    place: usize,
    /// The parts of one that is in a file.
    stored: Option<Arc<StoredParts>>,
    /// What the last run has spent.
    spent: Arc<Mutex<Option<Spent>>>,
}

/// The parts of an input.
enum Parts<'a> {
    /// In memory.
    Here(&'a [AnyTensor]),
    /// In a file, from which they are read in this order.
    Stored { parts: &'a StoredParts, order: Vec<usize>, fill: Literal, of: &'a Streamed },
}

impl Parts<'_> {
    fn len(&self) -> usize {
        match self {
            Parts::Here(parts) => parts.len(),
            Parts::Stored { order, .. } => order.len(),
        }
    }

    fn get(&self, number: usize) -> Result<AnyTensor, Error> {
        match self {
            Parts::Here(parts) => Ok(parts[number].clone()),
            Parts::Stored { parts, order, fill, of } => {
                let part = parts.read(order[number]).map_err(|source| of.unread(source))?;
                Ok(part.with_fill(*fill))
            }
        }
    }

    /// Goes through all of them. The next of a file is read meanwhile: two are in memory at a time.
    fn walk<R>(&self, walk: impl FnOnce(&mut dyn Iterator<Item = Result<AnyTensor, Error>>) -> R) -> R {
        let one_by_one = |number| self.get(number);
        let Parts::Stored { parts, order, fill, of } = self else {
            return walk(&mut (0..self.len()).map(one_by_one));
        };
        std::thread::scope(|scope| {
            let (send, receive) = mpsc::sync_channel(0);
            // Whoever has stopped takes no more.
            let read = move || order.iter().map(|&number| parts.fetch(number)).try_for_each(|part| send.send(part));
            if std::thread::Builder::new().spawn_scoped(scope, read).is_err() {
                return walk(&mut (0..self.len()).map(one_by_one));
            }
            // Checked here, by all threads of the pool that this one is in.
            let checked = receive.into_iter().map(|part| {
                let part = part.and_then(|part| parts.checked(part)).map_err(|source| of.unread(source))?;
                Ok(part.with_fill(*fill))
            });
            walk(&mut { checked })
        })
    }
}

/// Parts, and how long they took to come.
struct Timed<'a, I> {
    parts: I,
    waited: &'a Cell<Duration>,
}

impl<I: Iterator> Iterator for Timed<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let start = Instant::now();
        let next = self.parts.next();
        self.waited.set(self.waited.get() + start.elapsed());
        next
    }
}

/// The inputs of a call.
struct Inputs<'a> {
    /// Which of them is the part.
    place: usize,
    part: AnyTensor,
    /// All, with the whole in its place.
    others: &'a [&'a AnyTensor],
}

impl Inputs<'_> {
    fn all(&self) -> Vec<&AnyTensor> {
        let given = self.others.iter().enumerate();
        given.map(|(place, &input)| if place == self.place { &self.part } else { input }).collect()
    }
}

/// What a lane has made.
enum Made<'a> {
    /// Results that are on the host.
    Here(Outputs),
    /// One that is on a device still, with the call that it is of and the number of its lane.
    There(Call<'a>, Accumulated, usize),
}

/// What a lane has spent on its parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for parts out of a file.
    pub wait: Duration,
    /// Copying to a device.
    pub copy_in: Duration,
    /// In kernels.
    pub compute: Duration,
    /// Copying from a device.
    pub copy_out: Duration,
    /// Combining results.
    pub combine: Duration,
    /// Whether copies to a device went by way of memory of the driver's, because the input's own could not be pinned: they are
    /// slower, and hide less.
    pub pageable: bool,
}

impl Spent {
    fn plus(self, other: Spent) -> Spent {
        Spent {
            wait: self.wait + other.wait,
            copy_in: self.copy_in + other.copy_in,
            compute: self.compute + other.compute,
            copy_out: self.copy_out + other.copy_out,
            combine: self.combine + other.combine,
            pageable: self.pageable || other.pageable,
        }
    }

    /// The longest that one engine is at work, if all were always at work: no run takes less.
    pub fn bound(&self) -> Duration {
        self.copy_in.max(self.compute).max(self.copy_out)
    }
}

impl Streamed {
    /// A kernel in lanes, which must be made of one program; `combine` runs the program of
    /// [`Stream::combine`](spc_compiler::schedule::Stream::combine).
    ///
    /// # Errors
    /// When there is no lane, or the kernel has no such input.
    pub fn new(lanes: Vec<Chain>, combine: Chain, options: StreamOptions) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Stream { tensor: options.tensor.clone(), reason };
        let first = lanes.first().ok_or_else(|| refuse("there is no lane".to_owned()))?;
        let mut inputs = first.declarations().tensors.iter();
        let place = inputs.position(|tensor| tensor.name == options.tensor);
        let place = place.ok_or_else(|| refuse("it is no parameter".to_owned()))?;
        Ok(Self { lanes, combine, beside: Vec::new(), options, place, stored: None, spent: Arc::default() })
    }

    /// The compiled program that combines results, for the processor or for a device.
    ///
    /// # Errors
    /// When it can't be scheduled.
    pub fn combination(stream: &Stream, target: Target) -> Result<spc_compiler::Program, Error> {
        let options = schedule::Options { target, ..schedule::Options::default() };
        schedule::schedule(&stream.combine, options).and_then(spc_compiler::compile).map_err(|problems| {
            let reasons: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
            Error::Stream { tensor: stream.tensor.clone(), reason: reasons.join("; ") }
        })
    }

    /// The same, where results of a lane's parts are combined on its device, by a chain for each lane. That takes place where the
    /// kernel is one, and its result is dense.
    pub fn combined_on_devices(mut self, chains: Vec<Chain>) -> Self {
        let pairs = self.lanes.iter().zip(&chains);
        let all = pairs.filter(|(lane, chain)| lane.accumulates(chain)).count() == self.lanes.len();
        self.beside = if all { chains } else { Vec::new() };
        self
    }

    /// The same, where parts are those of a file and are read when they are needed. They are as the kernel declares the input; what is given
    /// for it when it runs stands for nothing.
    pub fn of_file(mut self, parts: Arc<StoredParts>) -> Self {
        self.stored = Some(parts);
        self
    }

    /// What all lanes together have spent in the last run, once there was one.
    pub fn spent(&self) -> Option<Spent> {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One of the lanes.
    pub fn lane(&self) -> &Chain {
        &self.lanes[0]
    }

    /// Runs the kernel, `repeat` times but at least once, on inputs in the order of their declaration. Times are of all that is
    /// done, copies included.
    ///
    /// # Errors
    /// As [`Chain::run`], and when the tensor can't be cut.
    pub fn run(&self, inputs: &[&AnyTensor], stated: &[(&str, usize)], repeat: usize) -> Result<Outcome, Error> {
        let whole = inputs.get(self.place).ok_or_else(|| self.refuse("there is no input for it".to_owned()))?;
        let (mut run_times, mut last) = (Vec::new(), None);
        let mut measure = |parts: &Parts<'_>| {
            for _ in 0..repeat.max(1) {
                let start = Instant::now();
                let result = self.once(parts, inputs, stated);
                run_times.push(start.elapsed());
                let failed = result.is_err();
                last = Some(result);
                if failed {
                    break;
                }
            }
        };
        let is_there = self.lanes[0].backend() == Backend::Cuda;
        let pageable = match &self.stored {
            Some(stored) => {
                let mut order: Vec<usize> = (0..stored.len()).collect();
                if self.options.largest_first {
                    order.sort_by_key(|&number| std::cmp::Reverse(stored.bytes(number)));
                }
                let fill = self.lanes[0].declarations().tensors[self.place].fill;
                measure(&Parts::Stored { parts: stored, order, fill, of: self });
                is_there
            }
            None => {
                let mut parts = whole.parts(self.options.parts, self.options.whole).map_err(|error| self.cut(error))?;
                if self.options.largest_first {
                    parts.sort_by_key(|part| std::cmp::Reverse(part.storage_bytes()));
                }
                let pinned = self.lanes[0].pin(whole);
                let of_parts = self.lanes[0].pin_each(own_arrays(&parts, whole));
                measure(&Parts::Here(&parts));
                self.lanes[0].unpin_each(&of_parts);
                if pinned {
                    self.lanes[0].unpin(whole);
                }
                !pinned && is_there
            }
        };
        let (outputs, spent) = last.ok_or_else(|| self.refuse("nothing ran".to_owned()))??;
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) = Some(Spent { pageable, ..spent });
        let (tier, reason) = (self.lanes[0].tier(), self.lanes[0].tier_reason());
        Ok(Outcome { outputs, around: Around::default(), run_times, rounds: None, tier, reason })
    }

    /// All parts once.
    fn once(
        &self,
        parts: &Parts<'_>,
        inputs: &[&AnyTensor],
        stated: &[(&str, usize)],
    ) -> Result<(Outputs, Spent), Error> {
        let count = self.lanes.len().min(parts.len());
        let lane = |number: usize| {
            let own = (number..parts.len()).step_by(count).map(|part| parts.get(part));
            self.lane_of(number, own, inputs, stated)
        };
        let results: Vec<Result<(Made<'_>, Spent), Error>> = match count {
            1 => vec![parts.walk(|parts| self.lane_of(0, parts, inputs, stated))],
            _ => std::thread::scope(|scope| {
                let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || lane(number))).collect();
                let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                    thread.join().unwrap_or_else(|_| Err(self.refuse("a lane stopped".to_owned())))
                };
                threads.into_iter().map(join).collect()
            }),
        };
        let mut all: Option<(Made<'_>, Spent)> = None;
        for result in results {
            let (made, own) = result?;
            all = Some(match all {
                None => (made, own),
                Some((so_far, before)) => {
                    let mut spent = before.plus(own);
                    (self.join(so_far, made, &mut spent)?, spent)
                }
            });
        }
        let (made, mut spent) = all.ok_or_else(|| self.refuse("there are no parts".to_owned()))?;
        if let Some(stored) = &self.stored {
            stored.check().map_err(|source| self.unread(source))?;
        }
        Ok((self.fetched(made, &mut spent)?, spent))
    }

    /// What two lanes have made as one: on the device where both are on the same, else on the host.
    fn join<'a>(&self, so_far: Made<'a>, next: Made<'a>, spent: &mut Spent) -> Result<Made<'a>, Error> {
        match (so_far, next) {
            (Made::There(call, one, lane), Made::There(_, other, _)) if one.is_beside(&other) => {
                let (both, time) = self.beside[lane].combine(&one, &other)?;
                spent.combine += time;
                Ok(Made::There(call, both, lane))
            }
            (so_far, next) => {
                let (so_far, next) = (self.fetched(so_far, spent)?, self.fetched(next, spent)?);
                let (both, time) = self.combine(so_far, next)?;
                spent.combine += time;
                Ok(Made::Here(both))
            }
        }
    }

    /// What a lane has made, on the host.
    fn fetched(&self, made: Made<'_>, spent: &mut Spent) -> Result<Outputs, Error> {
        match made {
            Made::Here(outputs) => Ok(outputs),
            Made::There(call, result, lane) => {
                let start = Instant::now();
                let outputs = self.lanes[lane].fetch(call, result)?;
                spent.copy_out += start.elapsed();
                Ok(outputs)
            }
        }
    }

    /// What one lane does. Results of its parts are combined on its device, where `beside` does that there, else on the host.
    fn lane_of(
        &self,
        number: usize,
        parts: impl Iterator<Item = Result<AnyTensor, Error>>,
        inputs: &[&AnyTensor],
        stated: &[(&str, usize)],
    ) -> Result<(Made<'_>, Spent), Error> {
        let waited = Cell::new(Duration::ZERO);
        let parts = Timed { parts, waited: &waited };
        let parts = parts.map(|part| Ok(Inputs { place: self.place, part: part?, others: inputs }));
        let chain = &self.lanes[number];
        let before = chain.copied();
        let mut spent = Spent::default();
        let made = match self.beside.get(number) {
            Some(beside) => {
                let there = self.on_device(chain, beside, parts, stated, &mut spent)?;
                there.map(|(call, result)| Made::There(call, result, number))
            }
            None => self.on_host(chain, parts, stated, &mut spent)?.map(Made::Here),
        };
        let after = chain.copied();
        if self.stored.is_some() {
            spent.wait = waited.get();
        }
        (spent.copy_in, spent.copy_out) = (after.0.saturating_sub(before.0), after.1.saturating_sub(before.1));
        Ok((made.ok_or_else(|| self.refuse("a lane has no part".to_owned()))?, spent))
    }

    /// Calls with each of some inputs, whose results come back and are combined.
    fn on_host<'p>(
        &self,
        chain: &Chain,
        calls: impl Iterator<Item = Result<Inputs<'p>, Error>>,
        stated: &[(&str, usize)],
        spent: &mut Spent,
    ) -> Result<Option<Outputs>, Error> {
        let mut so_far: Option<Outputs> = None;
        for inputs in calls {
            let outcome = chain.run(&inputs?.all(), stated, 1)?;
            spent.compute += outcome.run_times.iter().sum::<Duration>();
            so_far = Some(match so_far {
                None => outcome.outputs,
                Some(so_far) => {
                    let (combined, time) = self.combine(so_far, outcome.outputs)?;
                    spent.combine += time;
                    combined
                }
            });
        }
        Ok(so_far)
    }

    /// The same where results stay on the device: combined there, with the last of the calls.
    fn on_device<'a, 'p>(
        &self,
        chain: &'a Chain,
        beside: &Chain,
        calls: impl Iterator<Item = Result<Inputs<'p>, Error>>,
        stated: &[(&str, usize)],
        spent: &mut Spent,
    ) -> Result<Option<(Call<'a>, Accumulated)>, Error> {
        let mut so_far = None;
        let mut last = None;
        for inputs in calls {
            let mut call = chain.call(&inputs?.all(), stated)?;
            spent.compute += chain.run_onto(&mut call, beside, &mut so_far)?;
            last = Some(call);
        }
        Ok(last.zip(so_far))
    }

    /// One result of two.
    fn combine(&self, so_far: Outputs, part: Outputs) -> Result<(Outputs, Duration), Error> {
        let start = Instant::now();
        let mut combined = Vec::with_capacity(so_far.len());
        for ((name, so_far), (_, part)) in so_far.iter().zip(&part) {
            let mut outcome = self.combine.run(&[so_far, part], &[], 1)?;
            let (_, tensor) = outcome.outputs.pop().ok_or_else(|| self.refuse("nothing was combined".to_owned()))?;
            combined.push((name.clone(), tensor));
        }
        Ok((combined, start.elapsed()))
    }

    fn refuse(&self, reason: String) -> Error {
        Error::Stream { tensor: self.options.tensor.clone(), reason }
    }

    fn unread(&self, source: ReadError) -> Error {
        Error::Read { tensor: self.options.tensor.clone(), source }
    }

    fn cut(&self, error: NotCut) -> Error {
        self.refuse(error.to_string())
    }
}

/// Arrays of parts that are worth to be pinned and are not among those of the whole: positions, which begin at zero in each part.
fn own_arrays<'p>(parts: &'p [AnyTensor], whole: &AnyTensor) -> impl Iterator<Item = &'p [u8]> {
    let of_whole: Vec<_> = whole.arrays().map(<[u8]>::as_ptr_range).collect();
    let is_own = move |bytes: &&[u8]| !of_whole.iter().any(|range| range.contains(&bytes.as_ptr()));
    parts.iter().flat_map(AnyTensor::arrays).filter(|bytes| bytes.len() >= PINNED).filter(is_own)
}

/// The bytes of the smallest array that is pinned by itself.
const PINNED: usize = 1024;

/// Results with their names.
type Outputs = Vec<(String, AnyTensor)>;

/// The stream of a kernel that somebody asks for beside its text.
///
/// # Errors
/// Why the kernel can't have one, and what to do about it.
pub(super) fn of_options(kernel: &spc_compiler::notation::Kernel, options: &StreamOptions) -> Result<Stream, Error> {
    schedule::stream(kernel, &options.tensor, options.parts as u64).map_err(|(message, help)| Error::Stream {
        tensor: options.tensor.clone(),
        reason: format!("{message}; {help}"),
    })
}
