//! A device that runs on the processor, and says how long a GPU would take.

use super::cache::Cache;
use super::counts::Counts;
use super::description::Description;
use super::error::ModelError;
use super::library::{Library, Tracing};
use super::loads::loads_in_flight;
use super::log::{PredictedLaunch, Predictions, Touched};
use super::occupancy::{Occupancy, Taken};
use super::predict::Launched;
use super::replay::replay;
use crate::cuda::Nvrtc;
use crate::execute::cache::Cache as Kept;
use crate::execute::device::{Device, DeviceKernel, Grid, Memory, Resident};
use crate::execute::hash::Fnv128;
use spc_compiler::backend::cuda::{self, Module, Options, Step};
use spc_compiler::ir::{Kernel, Verified};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What a GPU's memory is given in.
const ALIGNMENT: usize = 256;

#[derive(Clone)]
#[repr(align(256))]
struct Chunk(#[expect(dead_code, reason = "it is room")] [u8; ALIGNMENT]);

/// Functions of a module on the processor. As a [`Device`] it has memory and runs them; the times that it tells are predicted, and what it
/// has counted is with its [`Predictions`].
pub struct Counted {
    predictions: Predictions,
    library: Library,
    text: Arc<str>,
    takes: BTreeMap<String, Taken>,
    /// Functions whose launches are no part of a call's time.
    once: BTreeSet<String>,
    state: Mutex<State>,
    resident: Resident,
}

/// What changes. Who holds it may launch: the library counts one launch at a time.
struct State {
    memory: BTreeMap<u64, Array>,
    names: BTreeMap<u32, String>,
    l2: Cache,
    /// Seconds since the work began that is timed.
    clock: f64,
}

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a model of {}", self.predictions.description().name)
    }
}

struct Array {
    room: Box<[Chunk]>,
    bytes: u64,
    name: String,
}

impl Counted {
    /// A kernel whose runs are predicted.
    ///
    /// # Errors
    /// When it has what can't run on a GPU, or there is no `g++`.
    pub fn kernel(
        kernel: &Verified<Kernel>,
        options: Options,
        predictions: &Predictions,
    ) -> Result<DeviceKernel, ModelError> {
        let module = cuda::module(kernel, None, options).map_err(|refusal| ModelError::Refused {
            kernel: kernel.name.clone(),
            what: refusal.what,
            help: refusal.help,
        })?;
        let text = cuda::text(&module);
        let device = Self::of_text(&text, &module.function_names(), predictions)?;
        let device = Self { once: measuring(&module), ..device };
        Ok(DeviceKernel::new(module, Arc::new(device)))
    }

    /// Functions of a text of CUDA C whose arguments have 64 bits each.
    ///
    /// # Errors
    /// When there is no `g++`, or it refuses the text.
    pub fn of_text(text: &str, functions: &[String], predictions: &Predictions) -> Result<Self, ModelError> {
        let library = Library::compile(text, functions)?;
        let description = predictions.description();
        let l2 = Cache::new(description.l2_bytes);
        let state = State { memory: BTreeMap::new(), names: BTreeMap::new(), l2, clock: 0.0 };
        Ok(Self {
            takes: assembled(text, description),
            predictions: predictions.clone(),
            library,
            text: text.into(),
            once: BTreeSet::new(),
            state: Mutex::new(state),
            resident: Resident::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A launch that was counted, and its time.
    fn predict(
        &self,
        state: &mut State,
        function: &str,
        grid: Grid,
        occupancy: Occupancy,
        mut counts: Counts,
    ) -> Result<PredictedLaunch, String> {
        let (gpu, takes) = (self.predictions.description(), self.takes_of(function));
        let threads = (grid.threads[0] * grid.threads[1]) as usize;
        let warps = threads.div_ceil(32);
        let sectors = self.library.sectors()?;
        let traffic = replay(&counts, gpu, warps, occupancy.blocks, occupancy.l1_bytes, sectors, &mut state.l2);
        let mut touched = Vec::new();
        for (address, array) in &state.memory {
            let sectors = self.library.seen(*address)?;
            if sectors > 0 {
                touched.push(Touched { array: array.name.clone(), bytes: array.bytes, sectors });
            }
        }
        let distinct = touched.iter().map(|touched| touched.sectors).sum();
        let launched =
            Launched { counts: &counts, traffic: &traffic, takes: &takes, occupancy: &occupancy, warps, distinct };
        let time = launched.time(gpu);
        counts.stream = Vec::new();
        counts.ends = Vec::new();
        let is_once = self.once.contains(function);
        let (function, text) = (function.to_owned(), self.text.clone());
        Ok(PredictedLaunch { function, text, grid, takes, occupancy, counts, traffic, touched, is_once, time })
    }

    fn takes_of(&self, function: &str) -> Taken {
        self.takes.get(function).copied().unwrap_or_default()
    }

    /// What a copy of so many bytes takes that memory reads and writes.
    fn pass(&self, bytes: usize) {
        let gpu = self.predictions.description();
        self.lock().clock += bytes as f64 / gpu.bandwidth() + gpu.launch_us * 1e-6;
    }
}

/// The functions that find out what need not be found out again.
fn measuring(module: &Module) -> BTreeSet<String> {
    let mut once = BTreeSet::new();
    for step in &module.steps {
        step.for_each(&mut |step| {
            if let Step::Measure { function, .. } = step {
                once.insert(module.functions[*function].name.clone());
            }
        });
    }
    once
}

/// What each function takes of a multiprocessor, where NVRTC is found; it does not need a GPU.
fn assembled(text: &str, gpu: &Description) -> BTreeMap<String, Taken> {
    let architecture = format!("sm_{}", gpu.architecture);
    let mut key = Fnv128::of(text.as_bytes());
    [architecture.as_str(), env!("CARGO_PKG_VERSION")].iter().for_each(|piece| key.write(piece.as_bytes()));
    let (cache, note) = (Kept::of_environment(), format!("takes-{key}"));
    if let Some(kept) = cache.bytes(&note).and_then(|bytes| String::from_utf8(bytes).ok()) {
        return kept.lines().filter_map(read_line).collect();
    }
    let compiled = Nvrtc::find().and_then(|nvrtc| nvrtc.compile(text, "kernel.cu", &architecture));
    let Ok(compiled) = compiled else { return BTreeMap::new() };
    let loads = loads_in_flight(&compiled.ptx);
    let taken = compiled.usage.into_iter().map(|usage| {
        let loads = loads.get(&usage.function).copied().unwrap_or(Taken::default().loads);
        let registers = Some(usage.registers).filter(|registers| *registers > 0);
        (usage.function, Taken { registers, spilled: usage.spill_stores, shared: usage.shared, loads })
    });
    let all: BTreeMap<String, Taken> = taken.collect();
    cache.keep_bytes(&note, all.iter().map(line).collect::<String>().as_bytes());
    all
}

fn line((function, taken): (&String, &Taken)) -> String {
    let Taken { registers, spilled, shared, loads } = taken;
    format!("{function} {} {spilled} {shared} {loads}\n", registers.unwrap_or(0))
}

fn read_line(line: &str) -> Option<(String, Taken)> {
    let mut words = line.split(' ');
    let function = words.next()?.to_owned();
    let mut number = || words.next()?.parse().ok();
    let registers = Some(number()?).filter(|registers| *registers > 0);
    let (spilled, shared) = (number()?, number()?);
    Some((function, Taken { registers, spilled, shared, loads: words.next()?.parse().ok()? }))
}

/// The memory from an address on, to be read or written for `bytes`.
fn within(state: &State, address: Memory, bytes: usize) -> Result<*mut u8, String> {
    let (begin, array) = state.memory.range(..=address.0).next_back().ok_or("nothing is at that address")?;
    let inside = address.0 - begin + bytes as u64 <= (array.room.len() * ALIGNMENT) as u64;
    if inside { Ok(address.0 as *mut u8) } else { Err("a copy leaves the memory that it is for".to_owned()) }
}

impl Device for Counted {
    fn allocate(&self, bytes: usize, name: &str) -> Result<Memory, String> {
        let mut state = self.lock();
        // What was not set is not zero.
        let mut room = vec![Chunk([0xAD; ALIGNMENT]); bytes.div_ceil(ALIGNMENT).max(1)].into_boxed_slice();
        let address = room.as_mut_ptr() as u64;
        let known = state.names.iter().find(|(_, known)| *known == name).map(|(number, _)| *number);
        let number = known.unwrap_or(state.names.len() as u32);
        state.names.insert(number, name.to_owned());
        self.library.watch(address, (room.len() * ALIGNMENT) as u64, number)?;
        state.memory.insert(address, Array { room, bytes: bytes as u64, name: name.to_owned() });
        Ok(Memory(address))
    }

    fn free(&self, memory: Memory) {
        let mut state = self.lock();
        _ = self.library.forget(memory.0);
        state.memory.remove(&memory.0);
    }

    fn zero(&self, memory: Memory, bytes: usize) -> Result<(), String> {
        let state = self.lock();
        let to = within(&state, memory, bytes)?;
        // SAFETY: so many bytes are there, and the lock is held.
        unsafe { to.write_bytes(0, bytes) };
        drop(state);
        self.pass(bytes);
        Ok(())
    }

    fn write(&self, memory: Memory, bytes: &[u8]) -> Result<(), String> {
        let state = self.lock();
        let to = within(&state, memory, bytes.len())?;
        // SAFETY: so many bytes are there, which nobody else uses as the lock is held; the host's lie elsewhere.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.predictions.note(|so_far| so_far.brought += bytes.len() as u64);
        Ok(())
    }

    fn read(&self, memory: Memory, bytes: &mut [u8]) -> Result<(), String> {
        let state = self.lock();
        let from = within(&state, memory, bytes.len())?;
        // SAFETY: as for `write`.
        unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) };
        self.predictions.note(|so_far| so_far.taken += bytes.len() as u64);
        Ok(())
    }

    fn copy(&self, from: Memory, to: Memory, bytes: usize) -> Result<(), String> {
        let state = self.lock();
        let (from, to) = (within(&state, from, bytes)?, within(&state, to, bytes)?);
        // SAFETY: so many bytes are at both, which may overlap, and the lock is held.
        unsafe { from.copy_to(to, bytes) };
        drop(state);
        self.pass(2 * bytes);
        Ok(())
    }

    fn launch(&self, function: &str, grid: Grid, arguments: &[u64]) -> Result<(), String> {
        let mut state = self.lock();
        let (gpu, takes) = (self.predictions.description(), self.takes_of(function));
        let threads = (grid.threads[0] * grid.threads[1]) as usize;
        let occupancy = Occupancy::of(gpu, &takes, threads, grid.shared as usize);
        let stretch = (occupancy.blocks * gpu.multiprocessors) as u32;
        let tracing = Tracing { stretch, budget: self.predictions.budget() };
        // SAFETY: the function takes as many arguments of 64 bits as its module says, which made this call; all memory that they
        // point to is there, as the lock is held.
        let counts = unsafe { self.library.launch(function, grid, arguments, tracing, &state.names) };
        let counts = counts.map_err(|message| format!("{function}: {message}"))?;
        if counts.totals.unknown > 0 {
            return Err(format!("{function}: {} accesses are to no array", counts.totals.unknown));
        }
        let launch = self.predict(&mut state, function, grid, occupancy, counts)?;
        if !launch.is_once {
            state.clock += launch.time.seconds;
        }
        self.predictions.note(|so_far| so_far.launches.push(launch));
        Ok(())
    }

    /// The predicted time. Nothing is in the second-level cache at first.
    fn timed(&self, work: &mut dyn FnMut() -> Result<(), String>) -> Result<Duration, String> {
        let mut state = self.lock();
        state.clock = 0.0;
        state.l2 = Cache::new(self.predictions.description().l2_bytes);
        drop(state);
        work()?;
        Ok(Duration::from_secs_f64(self.lock().clock))
    }

    fn resident(&self) -> Option<&Resident> {
        Some(&self.resident)
    }
}
