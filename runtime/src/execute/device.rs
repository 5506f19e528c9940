//! A call on a device: the host's side of what the CUDA backend plans.
//!
//! A [`Device`] has memory, moves bytes and starts functions. What it is does not matter here: a GPU, or an emulation that
//! tests use. [`DeviceKernel::run`] follows the steps of a module: it copies arrays to the device, makes others, launches, and
//! copies results back.

use super::array::{Access, Array, Data};
use super::call::Call;
use super::error::Error;
use super::interpreted::overwrite;
use crate::tensor::{IndexArray, Plain, Values};
use crate::with_element;
use spc_compiler::backend::cuda::{BLOCK, Module, Parameter, Places, SCAN_BLOCK, SCANNED, Step, Threads, WARP};
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{
    self, ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Initial, Literal, Size, Source,
};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

/// Arrays that stay on a device between calls: those of inputs, as long as the host keeps them too. Where memory is short, those
/// go that were not used for longest.
#[derive(Debug, Default)]
pub struct Resident {
    /// The one that was used last is the last.
    arrays: Mutex<Vec<Kept>>,
}

/// One of them.
#[derive(Debug)]
struct Kept {
    /// The host's array. As it is shared here, nobody changes it, and nothing else comes to lie at its address.
    data: Data,
    memory: Memory,
    /// How many runs read it.
    readers: usize,
}

impl Resident {
    fn arrays(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of arrays and of their bytes.
    pub fn size(&self) -> (usize, usize) {
        let arrays = self.arrays();
        (arrays.len(), arrays.iter().map(|kept| kept.data.bytes().len()).sum())
    }

    /// Where an array is on the device, for one who reads it there.
    fn borrow(&self, device: &dyn Device, data: &Data, name: &str) -> Result<Memory, String> {
        let mut arrays = self.arrays();
        let place = |kept: &Kept| (kept.data.bytes().as_ptr_range(), kept.data.element());
        let sought = (data.bytes().as_ptr_range(), data.element());
        if let Some(found) = arrays.iter().position(|kept| place(kept) == sought) {
            let mut kept = arrays.remove(found);
            kept.readers += 1;
            let memory = kept.memory;
            arrays.push(kept);
            return Ok(memory);
        }
        // What the host has let go of serves nobody.
        let is_stale = |kept: &mut Kept| kept.readers == 0 && kept.data.is_alone();
        arrays.extract_if(.., is_stale).for_each(|kept| device.free(kept.memory));
        let memory = room(&mut arrays, device, || device.allocate(data.bytes().len(), name))?;
        if let Err(error) = device.write(memory, data.bytes()) {
            device.free(memory);
            return Err(error);
        }
        arrays.push(Kept { data: data.clone(), memory, readers: 1 });
        Ok(memory)
    }

    /// Memory for something else.
    fn make_room(&self, device: &dyn Device, allocate: impl Fn() -> Result<Memory, String>) -> Result<Memory, String> {
        allocate().or_else(|_| room(&mut self.arrays(), device, allocate))
    }

    fn give_back(&self, memory: Memory) {
        if let Some(kept) = self.arrays().iter_mut().find(|kept| kept.memory == memory) {
            kept.readers -= 1;
        }
    }
}

/// Allocates, and frees what nobody reads until there is room.
fn room(
    arrays: &mut Vec<Kept>,
    device: &dyn Device,
    allocate: impl Fn() -> Result<Memory, String>,
) -> Result<Memory, String> {
    loop {
        match allocate() {
            Ok(memory) => return Ok(memory),
            Err(error) => match arrays.iter().position(|kept| kept.readers == 0) {
                Some(oldest) => device.free(arrays.remove(oldest).memory),
                None => return Err(error),
            },
        }
    }
}

/// A kernel whose functions are on a device.
#[derive(Debug, Clone)]
pub struct DeviceKernel {
    module: Arc<Module>,
    device: Arc<dyn Device>,
    /// How long copies in and out have taken.
    copied: Arc<Copied>,
}

impl DeviceKernel {
    /// A module whose text the device has compiled.
    pub fn new(module: Module, device: Arc<dyn Device>) -> Self {
        Self { module: Arc::new(module), device, copied: Arc::default() }
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
        let mut run = self.begin(call);
        let arrays = call.begin();
        let time = run.compute(arrays, &self.copied);
        let result = time.and_then(|time| run.take_all(arrays, &self.copied).map(|()| time));
        run.end();
        result.map_err(|message| self.stopped(message))
    }

    fn begin(&self, call: &Call<'_>) -> Run<'_> {
        self.run_with(call.dimensions().iter().map(|&extent| extent as u64).collect())
    }

    fn run_with(&self, dimensions: Vec<u64>) -> Run<'_> {
        let (held, borrowed) = (BTreeMap::new(), Vec::new());
        Run { module: &self.module, device: &*self.device, dimensions, held, borrowed }
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
        let part = Accumulated { held: part, device: self.device.clone() };
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

    /// One result of two.
    fn combine(&self, first: &Accumulated, second: &Accumulated) -> Result<(Accumulated, Duration), Error> {
        let kernel = &self.module.kernel;
        // Every element is at its place in both: as many rows of one as there are elements.
        let extents = kernel.dimensions.iter().enumerate();
        let length = |(place, _): (usize, _)| if place == 0 { first.held.length } else { 1 };
        let mut run = self.run_with(extents.map(length).collect());
        let ids: Vec<ArrayId> = kernel.parameters().map(|(id, _)| id).collect();
        let [one, other, result] = ids[..] else { return Err(self.stopped("it combines no two results".to_owned())) };
        run.held.extend([(one, first.held), (other, second.held)]);
        let time = run.make(result, first.held.length).and_then(|_| run.steps());
        let made = run.held.remove(&result);
        [one, other].iter().for_each(|id| _ = run.held.remove(id));
        let made = made.map(|held| Accumulated { held, device: self.device.clone() });
        run.end();
        match (time.map_err(|message| self.stopped(message))?, made) {
            (time, Some(made)) => Ok((made, time)),
            _ => Err(self.stopped("nothing was combined".to_owned())),
        }
    }

    /// Copies a result that stayed on the device into a call that has run.
    ///
    /// # Errors
    /// What the device says against it.
    pub(super) fn fetch(&self, call: &mut Call<'_>, result: &Accumulated) -> Result<(), Error> {
        let mut run = self.begin(call);
        run.held.extend(self.result().map(|id| (id, result.held)));
        run.take_all(call.begin(), &self.copied).map_err(|message| self.stopped(message))
    }
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
    held: Held,
    device: Arc<dyn Device>,
}

impl Drop for Accumulated {
    fn drop(&mut self) {
        self.device.free(self.held.memory);
    }
}

/// An array on the device.
#[derive(Debug, Clone, Copy)]
struct Held {
    memory: Memory,
    /// The number of elements.
    length: u64,
}

/// One run of a module.
struct Run<'a> {
    module: &'a Module,
    device: &'a dyn Device,
    dimensions: Vec<u64>,
    held: BTreeMap<ArrayId, Held>,
    /// Memory of what stays on the device, which the run only reads.
    borrowed: Vec<Memory>,
}

type Result<T, E = String> = std::result::Result<T, E>;

impl Run<'_> {
    /// Copies arrays in and does the steps, which is what the time is of.
    fn compute(&mut self, arrays: &[Array], copied: &Copied) -> Result<Duration> {
        let start = Instant::now();
        for ((id, _), array) in self.module.kernel.parameters().zip(arrays) {
            self.bring(id, array)?;
        }
        copied.add((start.elapsed(), Duration::ZERO));
        self.steps()
    }

    fn steps(&mut self) -> Result<Duration> {
        let (device, module) = (self.device, self.module);
        device.timed(&mut || module.steps.iter().try_for_each(|step| self.step(step)))
    }

    /// Copies results back.
    fn take_all(&self, arrays: &mut [Array], copied: &Copied) -> Result<()> {
        let start = Instant::now();
        for ((id, _), array) in self.module.kernel.parameters().zip(arrays) {
            if array.parameter.access != Access::Read {
                self.take(id, array)?;
            }
        }
        copied.add((Duration::ZERO, start.elapsed()));
        Ok(())
    }

    /// An array's elements on the device: where they are already, or copied.
    fn bring(&mut self, id: ArrayId, array: &Array) -> Result<()> {
        let bytes = array.data.bytes();
        let length = (bytes.len() / width(array.parameter.element)) as u64;
        let may_stay = array.parameter.access == Access::Read && !bytes.is_empty() && !array.data.is_part();
        if let Some(resident) = self.device.resident().filter(|_| may_stay) {
            let memory = resident.borrow(self.device, &array.data, self.name(id))?;
            self.borrowed.push(memory);
            self.held.insert(id, Held { memory, length });
            return Ok(());
        }
        let held = self.make(id, length)?;
        match array.parameter.access {
            _ if bytes.is_empty() => Ok(()),
            Access::Write(Initial::Overwritten) => Ok(()),
            Access::Write(Initial::Filled(value)) if value.is_zero() => self.device.zero(held.memory, bytes.len()),
            _ => self.device.write(held.memory, bytes),
        }
    }

    /// Gives memory back.
    fn end(&mut self) {
        let own = |held: &&Held| !self.borrowed.contains(&held.memory);
        self.held.values().filter(own).for_each(|held| self.device.free(held.memory));
        if let Some(resident) = self.device.resident() {
            self.borrowed.drain(..).for_each(|memory| resident.give_back(memory));
        }
    }

    /// Copies a result back, into the memory that is there where its length was known.
    fn take(&self, id: ArrayId, array: &mut Array) -> Result<()> {
        let held = self.held(id)?;
        let element = array.parameter.element;
        let count = usize::try_from(held.length).map_err(|_| "a result is too large".to_owned())?;
        let mut read = vec![0; count * width(element)];
        if count > 0 {
            self.device.read(held.memory, &mut read)?;
        }
        match (&mut array.data, received(&read, element).ok_or("a result holds what is no value")?) {
            (Data::Values(values), Data::Values(written)) if values.len() == count => overwrite(values, &written),
            (data, written) => *data = written,
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Make { array, length, fill } => {
                let length = self.value(length)?;
                self.make(*array, length)?;
                fill.as_ref().map_or(Ok(()), |fill| self.fill(*array, fill))
            }
            Step::Fill { array, value } => self.fill(*array, value),
            Step::Launch { function, places, lanes, workers } => {
                self.launch(*function, places, lanes.as_ref(), workers.as_ref())
            }
            Step::Scan { array, first } => {
                let (held, first) = (self.held(*array)?, self.value(first)?);
                self.scan(held, first)
            }
            Step::Choose { condition, then, otherwise } => {
                let steps = if self.value(condition)? == 0 { otherwise } else { then };
                steps.iter().try_for_each(|step| self.step(step))
            }
            Step::Lengthen { array, length } => {
                let length = self.value(length)?;
                self.lengthen(*array, length)
            }
        }
    }

    // Memory.

    fn held(&self, array: ArrayId) -> Result<Held> {
        self.held.get(&array).copied().ok_or_else(|| format!("`{}` is not on the device", self.name(array)))
    }

    fn name(&self, array: ArrayId) -> &str {
        &self.module.kernel.array(array).name
    }

    fn width(&self, array: ArrayId) -> usize {
        width(self.module.kernel.array(array).element)
    }

    fn bytes(&self, array: ArrayId, length: u64) -> Result<usize> {
        let bytes = usize::try_from(length).ok().and_then(|length| length.checked_mul(self.width(array)));
        bytes.ok_or_else(|| format!("`{}` would be too large", self.name(array)))
    }

    /// Memory for so many elements.
    fn room(&self, array: ArrayId, length: u64) -> Result<Memory> {
        let bytes = self.bytes(array, length)?;
        let room = || self.device.allocate(bytes, self.name(array));
        match self.device.resident() {
            None => room(),
            Some(resident) => resident.make_room(self.device, room),
        }
    }

    /// Makes an array, in place of the one of that name.
    fn make(&mut self, array: ArrayId, length: u64) -> Result<Held> {
        let held = Held { memory: self.room(array, length)?, length };
        if let Some(old) = self.held.insert(array, held) {
            self.device.free(old.memory);
        }
        Ok(held)
    }

    fn lengthen(&mut self, array: ArrayId, length: u64) -> Result<()> {
        let old = self.held(array)?;
        let (kept, memory) = (self.bytes(array, old.length)?, self.room(array, length)?);
        self.held.insert(array, Held { memory, length });
        let copied = if kept > 0 { self.device.copy(old.memory, memory, kept) } else { Ok(()) };
        self.device.free(old.memory);
        copied
    }

    fn fill(&mut self, array: ArrayId, value: &Expr) -> Result<()> {
        let held = self.held(array)?;
        let total = self.bytes(array, held.length)?;
        if total == 0 {
            return Ok(());
        }
        let element = pattern(self.module.kernel.array(array).element, value)?;
        if element.iter().all(|&byte| byte == 0) {
            return self.device.zero(held.memory, total);
        }
        self.device.write(held.memory, &element.repeat(total / element.len()))
    }

    // Launches.

    fn launch(&mut self, function: usize, places: &Expr, lanes: Option<&Expr>, workers: Option<&Expr>) -> Result<()> {
        let places = self.value(places)?;
        let function = &self.module.functions[function];
        if places == 0 && function.threads != Threads::One {
            return Ok(());
        }
        let lanes = lanes.map(|lanes| self.value(lanes)).transpose()?;
        let places = match &function.threads {
            Threads::Each(Places { share: Some(share), .. }) => places.div_ceil(self.value(&share.value)?.max(1)),
            _ => places,
        };
        let mut arguments = Vec::new();
        for parameter in function.parameters(&self.module.kernel) {
            arguments.push(match parameter {
                Parameter::Dimension(id) => self.dimensions[id.index()],
                Parameter::Length(array) => self.held(array)?.length,
                Parameter::Array { array, .. } => self.held(array)?.memory.0,
            });
        }
        let grid = match (&function.threads, lanes) {
            (Threads::One, _) => Grid { blocks: [1, 1], threads: [1, 1] },
            (Threads::Each(of), Some(mean)) if of.group().is_some() => groups(places, mean)?,
            (Threads::Each(_), Some(0)) => rows(places, 1)?,
            (Threads::Each(_), Some(lanes)) => rows(places, lanes)?,
            (Threads::Each(_), None) => {
                let workers = workers.map_or(Ok(u64::MAX), |workers| self.value(workers))?;
                let blocks = places.min(workers).div_ceil(BLOCK);
                Grid { blocks: [count(blocks)?, 1], threads: [count(BLOCK)?, 1] }
            }
        };
        self.device.launch(&function.name, grid, &arguments)
    }

    /// Replaces counts by sums of those before, blocks first, then of blocks.
    fn scan(&mut self, counts: Held, first: u64) -> Result<()> {
        let blocks = counts.length.div_ceil(SCANNED);
        let memory = self.device.allocate(self.sums(blocks)?, "totals")?;
        let totals = Held { memory, length: blocks };
        let result = self.scan_with(counts, first, totals);
        self.device.free(memory);
        result
    }

    fn sums(&self, blocks: u64) -> Result<usize> {
        usize::try_from(blocks).ok().and_then(|blocks| blocks.checked_mul(8)).ok_or("too much to scan".to_owned())
    }

    fn scan_with(&mut self, counts: Held, first: u64, totals: Held) -> Result<()> {
        let along = |blocks: u64| -> Result<Grid> {
            Ok(Grid { blocks: [count(blocks)?, 1], threads: [count(SCAN_BLOCK)?, 1] })
        };
        let (scan, shift) = (self.module.scan(), self.module.shift());
        self.device.launch(&scan, along(totals.length)?, &[counts.length, counts.memory.0, totals.memory.0])?;
        match totals.length {
            1 => self.device.zero(totals.memory, 8)?,
            _ => self.scan(totals, 0)?,
        }
        let arguments = [counts.length, first, counts.memory.0, totals.memory.0];
        self.device.launch(&shift, along(counts.length.div_ceil(SCAN_BLOCK))?, &arguments)
    }

    // Expressions of the host.

    fn value(&self, expr: &Expr) -> Result<u64> {
        match expr {
            Expr::Index(value) => Ok(*value),
            Expr::Dimension(id) => match self.module.kernel.dimension(*id).size {
                Size::Constant(size) => Ok(size),
                Size::Runtime | Size::Generic => Ok(self.dimensions[id.index()]),
            },
            Expr::Length(array) => Ok(self.held(*array)?.length),
            Expr::Load(array, index) => {
                let index = self.value(index)?;
                self.load(*array, index)
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                let value = match operator {
                    BinaryOperator::Add => left.checked_add(right),
                    BinaryOperator::Subtract => Some(left.saturating_sub(right)),
                    BinaryOperator::Multiply => left.checked_mul(right),
                    BinaryOperator::Divide => left.checked_div(right),
                    BinaryOperator::Remainder => left.checked_rem(right),
                    BinaryOperator::Minimum => Some(left.min(right)),
                    BinaryOperator::Maximum => Some(left.max(right)),
                    BinaryOperator::Less => Some(u64::from(left < right)),
                    BinaryOperator::And => Some(left & right),
                    BinaryOperator::Or => Some(left | right),
                    _ => None,
                };
                value.ok_or_else(|| format!("{left} and {right} have no {operator:?}"))
            }
            Expr::Search { array, begin, end, value } => {
                let (mut begin, mut end, value) = (self.value(begin)?, self.value(end)?, self.value(value)?);
                while begin < end {
                    let middle = begin + (end - begin) / 2;
                    if self.load(*array, middle)? < value {
                        begin = middle + 1;
                    } else {
                        end = middle;
                    }
                }
                Ok(begin)
            }
            other => Err(format!("the host can't evaluate {}", self.module.kernel.show(other))),
        }
    }

    /// An element of an index array.
    fn load(&self, array: ArrayId, index: u64) -> Result<u64> {
        let (held, width) = (self.held(array)?, self.width(array));
        if index >= held.length {
            return Err(format!("`{}` has no element {index}", self.name(array)));
        }
        let mut element = [0; 8];
        self.device.read(Memory(held.memory.0 + index * width as u64), &mut element[..width])?;
        Ok(u64::from_le_bytes(element))
    }
}

/// Blocks of groups of lanes, which are as wide as iterations are many.
fn groups(places: u64, iterations: u64) -> Result<Grid> {
    let wide = 1 << iterations.clamp(1, WARP).ilog2();
    let high = BLOCK / wide;
    Ok(Grid { blocks: [count(places.div_ceil(high))?, 1], threads: [count(wide)?, count(high)?] })
}

/// Blocks whose threads run over rows first: parts of a warp for short rows, else as many warps as it takes.
fn rows(places: u64, lanes: u64) -> Result<Grid> {
    let wide = if lanes <= WARP {
        lanes.next_power_of_two()
    } else if lanes <= BLOCK {
        lanes.next_multiple_of(WARP)
    } else {
        WARP
    };
    let high = BLOCK / wide;
    Ok(Grid {
        blocks: [count(places.div_ceil(high))?, count(lanes.div_ceil(wide))?],
        threads: [count(wide)?, count(high)?],
    })
}

fn count(count: u64) -> Result<u32> {
    u32::try_from(count).map_err(|_| format!("{count} blocks are more than a grid has"))
}

fn width(element: ArrayElement) -> usize {
    match element {
        ArrayElement::Index(width) => width.bytes(),
        ArrayElement::Value(element) => element.bytes(),
    }
}

/// The bytes of a constant as an element.
fn pattern(element: ArrayElement, value: &Expr) -> Result<Vec<u8>> {
    let bytes = match (element, value) {
        (ArrayElement::Index(width), Expr::Index(index)) => index.to_le_bytes()[..width.bytes()].to_vec(),
        (ArrayElement::Value(ElementType::Bool), Expr::Bool(value)) => vec![u8::from(*value)],
        (_, Expr::Literal(Literal::Float(ElementType::F64, value))) => value.to_le_bytes().to_vec(),
        (_, Expr::Literal(Literal::Float(ElementType::F32, value))) => (*value as f32).to_le_bytes().to_vec(),
        (_, Expr::Literal(Literal::Float(ElementType::C64, value))) => [value.to_le_bytes(), [0; 8]].concat(),
        (_, Expr::Literal(Literal::Float(ElementType::C32, value))) => [(*value as f32).to_le_bytes(), [0; 4]].concat(),
        (_, Expr::Literal(Literal::Integer(element, value))) => value.to_le_bytes()[..element.bytes()].to_vec(),
        _ => return Err("an array can't be filled with that".to_owned()),
    };
    Ok(bytes)
}

/// Elements that came back; `None` where some bytes are no value of their type.
fn received(read: &[u8], element: ArrayElement) -> Option<Data> {
    fn typed<T: Plain>(read: &[u8]) -> Option<Vec<T>> {
        read.chunks_exact(size_of::<T>()).map(|bytes| bytemuck::checked::try_pod_read_unaligned(bytes).ok()).collect()
    }
    Some(match element {
        ArrayElement::Index(IndexWidth::U8) => Data::Index(IndexArray::from(typed::<u8>(read)?)),
        ArrayElement::Index(IndexWidth::U16) => Data::Index(IndexArray::from(typed::<u16>(read)?)),
        ArrayElement::Index(IndexWidth::U32) => Data::Index(IndexArray::from(typed::<u32>(read)?)),
        ArrayElement::Index(IndexWidth::U64) => Data::Index(IndexArray::from(typed::<u64>(read)?)),
        ArrayElement::Value(element) => {
            let values: Values = with_element!(element, |T| typed::<T>(read)?.into());
            Data::Values(values)
        }
    })
}
