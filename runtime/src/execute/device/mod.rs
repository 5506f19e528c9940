//! A call on a device: the host's side of what the CUDA backend plans.
//!
//! A [`Device`] has memory, moves bytes and starts functions. What it is does not matter here: a GPU, or an emulation that
//! tests use. [`DeviceKernel::run`] follows the steps of a module: it copies arrays to the device, makes others, launches, and
//! copies results back. Where the device has a [`Resident`], inputs and results stay there too, for calls that read them next.
//!
//! | file | what it does |
//! |---|---|
//! | `run` | one run of a module, step by step |
//! | `resident` | arrays of inputs and results that stay on the device between calls |
//! | `measured` | what was measured of these |

mod measured;
mod resident;
mod run;

pub use resident::Resident;

use super::call::Call;
use super::error::Error;
use measured::Measured;
use run::{Held, Run};
use spc_compiler::backend::cuda::Module;
use spc_compiler::ir::{self, ArrayId, Source};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Memory of a device: an address there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory(pub u64);

/// How many blocks of how many threads run a function: along x and y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// Blocks.
    pub blocks: [u32; 2],
    /// The threads of each.
    pub threads: [u32; 2],
    /// The bytes of memory that the threads of a block share, besides what the function says itself.
    pub shared: u32,
}

/// Something that runs functions on memory of its own.
pub trait Device: fmt::Debug + Send + Sync {
    /// Makes room for so many bytes.
    ///
    /// # Errors
    /// When there is none.
    fn allocate(&self, bytes: usize, name: &str) -> Result<Memory, String>;

    /// Gives memory back.
    fn free(&self, memory: Memory);

    /// Sets bytes to zero.
    ///
    /// # Errors
    /// What the device says against it.
    fn zero(&self, memory: Memory, bytes: usize) -> Result<(), String>;

    /// Copies to the device.
    ///
    /// # Errors
    /// What the device says against it.
    fn write(&self, memory: Memory, bytes: &[u8]) -> Result<(), String>;

    /// Copies from the device, when all that was launched is done.
    ///
    /// # Errors
    /// What the device says against it, or against what was launched.
    fn read(&self, memory: Memory, bytes: &mut [u8]) -> Result<(), String>;

    /// Copies on the device.
    ///
    /// # Errors
    /// What the device says against it.
    fn copy(&self, from: Memory, to: Memory, bytes: usize) -> Result<(), String>;

    /// Runs a function. Its arguments, sizes and addresses, are 64 bits each.
    ///
    /// # Errors
    /// What the device says against it.
    fn launch(&self, function: &str, grid: Grid, arguments: &[u64]) -> Result<(), String>;

    /// How long the device takes for some work, until all that was launched is done.
    ///
    /// # Errors
    /// Those of the work.
    fn timed(&self, work: &mut dyn FnMut() -> Result<(), String>) -> Result<Duration, String> {
        let start = Instant::now();
        work()?;
        Ok(start.elapsed())
    }

    /// What stays in the device's memory between calls, if anything does.
    fn resident(&self) -> Option<&Resident> {
        None
    }

    /// Pins the host's memory, so that the device copies it without the processor; whether it could be.
    fn pin(&self, _bytes: &[u8]) -> bool {
        false
    }

    /// Ends what [`Device::pin`] began.
    fn unpin(&self, _bytes: &[u8]) {}
}

/// A kernel whose functions are on a device.
#[derive(Debug, Clone)]
pub struct DeviceKernel {
    module: Arc<Module>,
    device: Arc<dyn Device>,
    /// How long copies in and out have taken.
    copied: Arc<Copied>,
    /// What was measured of inputs that stay on the device.
    measured: Arc<Measured>,
}

impl DeviceKernel {
    /// A module whose text the device has compiled.
    pub fn new(module: Module, device: Arc<dyn Device>) -> Self {
        Self { module: Arc::new(module), device, copied: Arc::default(), measured: Arc::default() }
    }

    /// How long copies to the device and from it have taken since the kernel was made.
    pub fn copied(&self) -> (Duration, Duration) {
        self.copied.get()
    }

    /// What runs it.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// Runs a call, and says how long the device took, without copies.
    ///
    /// # Errors
    /// When the device stops it, or there is no memory.
    pub fn run(&self, call: &mut Call<'_>) -> Result<Duration, Error> {
        let mut time = [Duration::ZERO];
        self.run_each(call, &mut time)?;
        Ok(time[0])
    }

    /// Runs a call several times, and adds to each time how long the device took. Results are copied once, from the last run.
    ///
    /// # Errors
    /// As [`DeviceKernel::run`].
    pub(super) fn run_each(&self, call: &mut Call<'_>, times: &mut [Duration]) -> Result<(), Error> {
        let dimensions = extents(call);
        let arrays = call.begin();
        let last = times.len().saturating_sub(1);
        for (number, time) in times.iter_mut().enumerate() {
            let mut run = self.run_with(dimensions.clone());
            let mut result = run.compute(arrays, &self.copied);
            if number == last {
                result = result.and_then(|time| run.take_all(arrays, &self.copied).map(|()| time));
                // Results of parts become one elsewhere.
                if result.is_ok() && !arrays.iter().any(|array| array.data.is_part()) {
                    run.leave(arrays);
                }
            }
            run.end();
            *time += result.map_err(|message| self.stopped(message))?;
        }
        Ok(())
    }

    fn begin(&self, call: &Call<'_>) -> Run<'_> {
        self.run_with(extents(call))
    }

    fn run_with(&self, dimensions: Vec<u64>) -> Run<'_> {
        let (held, borrowed, known) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
        let (module, device, measured) = (&self.module, &*self.device, &self.measured);
        Run { module, device, dimensions, held, borrowed, known, measured }
    }

    fn stopped(&self, message: String) -> Error {
        Error::Device { kernel: self.module.kernel.name.clone(), message }
    }

    // Results that stay on the device.

    /// The array of the one result, where that is all there is to it: the values of a dense tensor.
    fn result(&self) -> Option<ArrayId> {
        let kernel = &self.module.kernel;
        let is_result = |array: &ir::Array| {
            let tensor = array.role.tensor().map(|tensor| kernel.tensor(tensor));
            tensor
                .filter(|tensor| matches!(tensor.source, Source::Output { .. }))
                .map(|tensor| tensor.format.is_dense())
        };
        let mut results = kernel.parameters().filter_map(|(id, array)| is_result(array).map(|is_dense| (id, is_dense)));
        match (results.next(), results.next()) {
            (Some((id, true)), None) => Some(id),
            _ => None,
        }
    }

    /// Whether results of this kernel can stay on the device, to be combined there by another.
    pub(super) fn accumulates(&self, combine: &DeviceKernel) -> bool {
        self.result().is_some() && combine.result().is_some() && combine.module.kernel.parameters().count() == 3
    }

    /// Runs a call, and combines its result with what is on the device, where it stays.
    ///
    /// # Errors
    /// As [`DeviceKernel::run`].
    pub(super) fn run_onto(
        &self,
        call: &mut Call<'_>,
        combine: &DeviceKernel,
        so_far: &mut Option<Accumulated>,
    ) -> Result<Duration, Error> {
        let mut run = self.begin(call);
        let time = run.compute(call.begin(), &self.copied);
        let part = self.result().and_then(|id| run.held.remove(&id)).filter(|_| time.is_ok());
        run.end();
        let (mut time, Some(part)) = (time.map_err(|message| self.stopped(message))?, part) else {
            return Err(self.stopped("its result is not on the device".to_owned()));
        };
        let part = Accumulated { held: Some(part), device: self.device.clone() };
        *so_far = Some(match so_far.take() {
            None => part,
            Some(before) => {
                let (both, spent) = combine.combine(&before, &part)?;
                time += spent;
                both
            }
        });
        Ok(time)
    }

    /// One result of two that are on the device of this.
    pub(super) fn combine(&self, first: &Accumulated, second: &Accumulated) -> Result<(Accumulated, Duration), Error> {
        let kernel = &self.module.kernel;
        // Every element is at its place in both: as many rows of one as there are elements.
        let (Some(first), Some(second)) = (first.held, second.held) else {
            return Err(self.stopped("a result is not on the device".to_owned()));
        };
        let extents = kernel.dimensions.iter().enumerate();
        let length = |(place, _): (usize, _)| if place == 0 { first.length } else { 1 };
        let mut run = self.run_with(extents.map(length).collect());
        let ids: Vec<ArrayId> = kernel.parameters().map(|(id, _)| id).collect();
        let [one, other, result] = ids[..] else { return Err(self.stopped("it combines no two results".to_owned())) };
        run.held.extend([(one, first), (other, second)]);
        let time = run.make(result, first.length).and_then(|_| run.steps());
        let made = run.held.remove(&result);
        [one, other].iter().for_each(|id| _ = run.held.remove(id));
        let made = made.map(|held| Accumulated { held: Some(held), device: self.device.clone() });
        run.end();
        match (time.map_err(|message| self.stopped(message))?, made) {
            (time, Some(made)) => Ok((made, time)),
            _ => Err(self.stopped("nothing was combined".to_owned())),
        }
    }

    /// Copies a result that stayed on the device into a call that has run. It is there from now on as any other result.
    ///
    /// # Errors
    /// What the device says against it.
    pub(super) fn fetch(&self, call: &mut Call<'_>, mut result: Accumulated) -> Result<(), Error> {
        let mut run = self.begin(call);
        run.held.extend(self.result().zip(result.held.take()));
        let arrays = call.begin();
        let taken = run.take_all(arrays, &self.copied);
        if taken.is_ok() {
            run.leave(arrays);
        }
        run.end();
        taken.map_err(|message| self.stopped(message))
    }
}

/// The extents of a call's dimensions.
fn extents(call: &Call<'_>) -> Vec<u64> {
    call.dimensions().iter().map(|&extent| extent as u64).collect()
}

/// How long copies in and out have taken.
#[derive(Debug, Default)]
struct Copied(Mutex<(Duration, Duration)>);

impl Copied {
    fn get(&self) -> (Duration, Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, (copy_in, copy_out): (Duration, Duration)) {
        let mut copied = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *copied = (copied.0 + copy_in, copied.1 + copy_out);
    }
}

/// A result that stays on a device until it is dropped.
#[derive(Debug)]
pub(super) struct Accumulated {
    /// Until somebody else takes it.
    held: Option<Held>,
    device: Arc<dyn Device>,
}

impl Accumulated {
    /// Whether it is in the same memory as another: one that keeps the same arrays.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        let both = self.device.resident().zip(other.device.resident());
        both.is_some_and(|(one, other)| std::ptr::eq(one, other))
    }
}

impl Drop for Accumulated {
    fn drop(&mut self) {
        if let Some(held) = self.held.take() {
            self.device.free(held.memory);
        }
    }
}
