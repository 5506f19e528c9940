//! A GPU: its memory, its streams, and functions in it.

use super::cubin::cubin;
use super::driver::{asked, devices, said, start};
use super::staging::{Chunks, InChunks, Pinned};
use super::{CudaError, Usage};
use crate::execute::device::{Device, DeviceKernel, Grid, Memory, Resident};
use crate::execute::hash::Fnv128;
use cudarc::driver::{result, sys};
use spc_compiler::backend::cuda::{self, Module, Options};
use spc_compiler::ir::{Kernel, Verified};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CString, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// The bytes that an atomic operation changes at least.
const WORD: usize = 4;

/// A GPU that was opened. Clones are the same one. What is copied to it, and what it makes, stays there while the host
/// keeps the same and room is left: a second call with the same tensors copies nothing in, nor does one with results of the first.
#[derive(Debug, Clone)]
pub struct Gpu {
    context: Arc<Context>,
    options: Options,
}

/// The devices that are open, by number: modules and tensors in them are shared by all that use them.
static OPEN: Mutex<BTreeMap<usize, Weak<Context>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The devices whose scopes this thread is in, the innermost last.
    static SCOPES: RefCell<Vec<Gpu>> = const { RefCell::new(Vec::new()) };
}

struct Context {
    ordinal: usize,
    device: sys::CUdevice,
    context: sys::CUcontext,
    name: String,
    architecture: u32,
    resident: Resident,
    pinned: Pinned,
    /// Modules that were loaded, by their text. They stay as long as the context.
    loaded: Mutex<BTreeMap<Fnv128, Arc<Loaded>>>,
}

// SAFETY: the driver's handles may be used on any thread that has made the context current, which every use of them here does
// first.
unsafe impl Send for Context {}
// SAFETY: as above; the driver locks what it shares.
unsafe impl Sync for Context {}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {} ({}, sm_{})", self.ordinal, self.name, self.architecture)
    }
}

/// A module in a device.
#[derive(Default)]
struct Loaded {
    functions: BTreeMap<String, sys::CUfunction>,
    usage: Vec<Usage>,
}

// SAFETY: functions of a module may be launched by any thread.
unsafe impl Send for Loaded {}
// SAFETY: as above; nothing changes them.
unsafe impl Sync for Loaded {}

impl Gpu {
    /// Opens a device by its number, counted from 0. One that is open already is the same.
    ///
    /// # Errors
    /// When there is no driver, no such device, or it can't be used.
    pub fn open(ordinal: usize) -> Result<Self, CudaError> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(context) = open.get(&ordinal).and_then(Weak::upgrade) {
            return Ok(Self { context, options: Options::default() });
        }
        start()?;
        let count = devices()?;
        let number = i32::try_from(ordinal).ok().filter(|_| ordinal < count);
        let number = number.ok_or(CudaError::NoDevice { asked: ordinal, count })?;
        let device = asked("open the device", result::device::get(number))?;
        let name = asked("name the device", result::device::get_name(device))?;
        use sys::CUdevice_attribute::{
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR as MAJOR,
            CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR as MINOR,
        };
        let architecture = attribute(device, MAJOR)? * 10 + attribute(device, MINOR)?;
        // SAFETY: the device was given by the driver; the context is released when it is dropped.
        let context = asked("use the device", unsafe { result::primary_ctx::retain(device) })?;
        let (resident, pinned, loaded) = (Resident::default(), Pinned::default(), Mutex::default());
        let context = Arc::new(Context { ordinal, device, context, name, architecture, resident, pinned, loaded });
        context.keep_freed_memory()?;
        open.insert(ordinal, Arc::downgrade(&context));
        Ok(Self { context, options: Options::default() })
    }

    /// Every device that the driver sees.
    ///
    /// # Errors
    /// When there is no driver, or a device can't be used.
    pub fn all() -> Result<Vec<Self>, CudaError> {
        start()?;
        (0..devices()?).map(Self::open).collect()
    }

    /// Runs something on this thread whose kernels of [`tensor_kernel!`](crate::tensor_kernel) run on the device: `mttkrp(&x, &b,
    /// &c)` and `mttkrp_into(…)` as they stand. The first call of each compiles it. Inputs and results stay on the
    /// device from call to call, as for programs; results also come back. What other threads call, also those of a pool, runs where they say.
    ///
    /// ```no_run
    /// use spc::cuda::Gpu;
    /// use spc::tensor::{Csr, Dense, Tensor};
    ///
    /// spc::tensor_kernel! { fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); } }
    ///
    /// let a = Tensor::<f64, Csr>::from_entries([2, 3], [([0, 1], 2.0), ([1, 2], 3.0)])?;
    /// let mut x = Tensor::<f64, Dense<1>>::from_vec([3], vec![1.0; 3])?;
    /// let y = Gpu::open(0)?.scope(|| spmv(&a, &x))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scope<R>(&self, work: impl FnOnce() -> R) -> R {
        /// Ends a scope, also where it panics.
        struct End;
        impl Drop for End {
            fn drop(&mut self) {
                SCOPES.with_borrow_mut(|scopes| drop(scopes.pop()));
            }
        }
        SCOPES.with_borrow_mut(|scopes| scopes.push(self.clone()));
        let _end = End;
        work()
    }

    /// The device of the innermost scope that this thread is in.
    pub(crate) fn current() -> Option<Self> {
        SCOPES.with_borrow(|scopes| scopes.last().cloned())
    }

    /// Its number, counted from 0.
    pub fn ordinal(&self) -> usize {
        self.context.ordinal
    }

    /// The same device, for kernels that hold to these options: those that give the same bits in every run, for example.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// What its kernels hold to.
    pub fn options(&self) -> Options {
        self.options
    }

    /// What the device calls itself.
    pub fn name(&self) -> &str {
        &self.context.name
    }

    /// What it is compiled for: 90 of `sm_90`.
    pub fn architecture(&self) -> u32 {
        self.context.architecture
    }

    /// The bytes of memory that are free, and those that there are.
    ///
    /// # Errors
    /// What the driver says against it.
    pub fn memory(&self) -> Result<(usize, usize), CudaError> {
        self.context.enter()?;
        asked("count its memory", result::mem_get_info())
    }

    /// The bytes of its second-level cache.
    ///
    /// # Errors
    /// What the driver says against it.
    pub fn cache_bytes(&self) -> Result<usize, CudaError> {
        let bytes = attribute(self.context.device, sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?;
        Ok(bytes as usize)
    }

    /// The number of arrays of inputs and results that stay on the device between calls, and of their bytes.
    pub fn resident(&self) -> (usize, usize) {
        self.context.resident.size()
    }

    /// Brings a kernel to the device, with a stream of its own to run in: what several kernels do may overlap.
    ///
    /// # Errors
    /// When it has what can't run there, can't be compiled or can't be loaded.
    pub fn kernel(&self, kernel: &Verified<Kernel>) -> Result<DeviceKernel, CudaError> {
        let module = cuda::module(kernel, None, self.options).map_err(|refusal| CudaError::Refused {
            kernel: kernel.name.clone(),
            what: refusal.what,
            help: refusal.help,
        })?;
        let stream = self.stream_with(self.load(&module)?)?;
        Ok(DeviceKernel::new(module, Arc::new(stream)))
    }

    /// A stream of its own, for copies and for what other libraries do on the device.
    ///
    /// # Errors
    /// What the driver says against it.
    pub fn stream(&self) -> Result<Stream, CudaError> {
        self.stream_with(Arc::default())
    }

    fn stream_with(&self, functions: Arc<Loaded>) -> Result<Stream, CudaError> {
        Ok(Stream { stream: self.context.stream()?, context: self.context.clone(), functions })
    }

    /// What each function of a kernel takes of the device; nothing where its machine code was found on disk.
    ///
    /// # Errors
    /// As [`Gpu::kernel`].
    pub fn usage(&self, module: &Module) -> Result<Vec<Usage>, CudaError> {
        Ok(self.load(module)?.usage.clone())
    }

    /// A module's functions, compiled for this device where that was not done before.
    fn load(&self, module: &Module) -> Result<Arc<Loaded>, CudaError> {
        let text = cuda::text(module);
        let key = Fnv128::of(text.as_bytes());
        if let Some(found) = self.context.loaded().get(&key) {
            return Ok(found.clone());
        }
        // No thread waits for what others compile.
        let cubin = cubin(&text, &module.name, self.context.architecture)?;
        let mut loaded = self.context.loaded();
        if let Some(found) = loaded.get(&key) {
            return Ok(found.clone());
        }
        self.context.enter()?;
        // SAFETY: the image is whole, machine code for this device or text that ends with zero, as NVRTC gave it.
        let handle = asked("load the kernel", unsafe { result::module::load_data(cubin.image.as_ptr().cast()) })?;
        let mut functions = BTreeMap::new();
        for name in module.function_names() {
            let symbol = CString::new(name.as_str()).map_err(super::NvrtcError::from)?;
            // SAFETY: the module was just loaded, and is never unloaded.
            let function = asked("find a function", unsafe { result::module::get_function(handle, symbol) })?;
            functions.insert(name, function);
        }
        let found = Arc::new(Loaded { functions, usage: cubin.usage });
        loaded.insert(key, found.clone());
        Ok(found)
    }
}

/// What the driver says of a device.
fn attribute(device: sys::CUdevice, attribute: sys::CUdevice_attribute) -> Result<u32, CudaError> {
    // SAFETY: the device was given by the driver.
    let value = unsafe { result::device::get_attribute(device, attribute) };
    asked("describe the device", value).map(|value| u32::try_from(value).unwrap_or(0))
}

impl Context {
    fn loaded(&self) -> MutexGuard<'_, BTreeMap<Fnv128, Arc<Loaded>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the context that of this thread.
    fn enter(&self) -> Result<(), CudaError> {
        // SAFETY: the context is retained until this is dropped.
        asked("use the device", unsafe { result::ctx::set_current(self.context) })
    }

    /// What is freed is kept for what is allocated next: else the driver gives it back whenever a stream is waited for.
    fn keep_freed_memory(&self) -> Result<(), CudaError> {
        let kept = u64::MAX;
        // SAFETY: the pool is the device's own, and the attribute is a number of 64 bits.
        let set = unsafe {
            result::device::get_default_mem_pool(self.device).and_then(|pool| {
                let attribute = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
                sys::cuMemPoolSetAttribute(pool, attribute, (&raw const kept).cast_mut().cast()).result()
            })
        };
        asked("keep memory", set)
    }

    fn stream(&self) -> Result<sys::CUstream, CudaError> {
        self.enter()?;
        asked("make a stream", result::stream::create(result::stream::StreamKind::NonBlocking))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if self.enter().is_ok() {
            self.pinned.end();
        }
        // SAFETY: it was retained once, and is not used any more: kernels keep the context that they are in.
        _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// A stream of a device, with the functions of one module or none: what is done here is done in order. As a [`Device`] it has
/// memory, copies, and times by events.
pub struct Stream {
    context: Arc<Context>,
    stream: sys::CUstream,
    functions: Arc<Loaded>,
}

// SAFETY: streams may be used by any thread that has made their context current.
unsafe impl Send for Stream {}
// SAFETY: as above; the driver locks them.
unsafe impl Sync for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.context.fmt(f)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the stream was made for this alone.
            _ = unsafe { result::stream::destroy(self.stream) };
        }
    }
}

impl Stream {
    /// The driver's `CUstream` as an address: other libraries take it to do their work in this stream. They must not destroy it,
    /// nor use it when this is gone.
    pub fn handle(&self) -> usize {
        self.stream.addr()
    }

    fn enter(&self) -> Result<(), String> {
        self.context.enter().map_err(|error| error.to_string())
    }

    fn wait(&self) -> Result<(), result::DriverError> {
        // SAFETY: the stream is there as long as this.
        unsafe { result::stream::synchronize(self.stream) }
    }

    /// Begins a copy to the device. The bytes have to stay until it is done.
    fn send(&self, memory: Memory, bytes: &[u8]) -> Result<(), String> {
        // SAFETY: so many bytes were allocated there, and those of the host stay until the copy is done.
        unsafe { result::memcpy_htod_async(memory.0, bytes, self.stream) }.map_err(said)
    }

    /// Begins a copy from the device.
    fn receive(&self, memory: Memory, bytes: &mut [u8]) -> Result<(), String> {
        // SAFETY: so many bytes were allocated there, and those of the host stay until the copy is done.
        unsafe { result::memcpy_dtoh_async(bytes, memory.0, self.stream) }.map_err(said)
    }

    /// A copy by way of chunks, which are given back when nothing is on its way to them.
    fn in_chunks(
        &self,
        memory: Memory,
        mut chunks: Chunks,
        copy: impl FnOnce(&mut Chunks, &mut Copying<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let copied = copy(&mut chunks, &mut Copying { stream: self, memory, begun: VecDeque::new() });
        let waited = self.wait().map_err(said);
        self.context.pinned.give_back(chunks);
        copied.and(waited)
    }
}

/// An event of the driver. It is destroyed when it is dropped.
struct Event(sys::CUevent);

impl Event {
    fn record(stream: &Stream) -> Result<Self, result::DriverError> {
        let event = Self(result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)?);
        // SAFETY: event and stream were made in the context that is current.
        unsafe { result::event::record(event.0, stream.stream) }?;
        Ok(event)
    }

    /// Until what was recorded is done.
    fn wait(&self) -> Result<(), result::DriverError> {
        // SAFETY: the event was recorded.
        unsafe { result::event::synchronize(self.0) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: it was created, and is not used any more.
        _ = unsafe { result::event::destroy(self.0) };
    }
}

/// A copy between the host and memory of a device, in chunks.
struct Copying<'a> {
    stream: &'a Stream,
    memory: Memory,
    /// One for each chunk that was not waited for.
    begun: VecDeque<Event>,
}

impl Copying<'_> {
    fn begun(&mut self) -> Result<(), String> {
        self.begun.push_back(Event::record(self.stream).map_err(said)?);
        Ok(())
    }
}

impl InChunks for Copying<'_> {
    fn send(&mut self, offset: usize, chunk: &[u8]) -> Result<(), String> {
        self.stream.send(Memory(self.memory.0 + offset as u64), chunk)?;
        self.begun()
    }

    fn receive(&mut self, offset: usize, chunk: &mut [u8]) -> Result<(), String> {
        self.stream.receive(Memory(self.memory.0 + offset as u64), chunk)?;
        self.begun()
    }

    fn wait(&mut self) -> Result<(), String> {
        self.begun.pop_front().map_or(Ok(()), |event| event.wait().map_err(said))
    }
}

/// The largest numbers of blocks along x and y.
const MOST_BLOCKS: [u32; 2] = [i32::MAX as u32, 65_535];

impl Device for Stream {
    fn allocate(&self, bytes: usize, name: &str) -> Result<Memory, String> {
        self.enter()?;
        // Atomic operations on narrow elements change whole words. An allocation of nothing is refused by the driver.
        let whole = bytes.max(1).checked_next_multiple_of(WORD).unwrap_or(bytes);
        // SAFETY: the stream is there as long as this.
        let address = unsafe { result::malloc_async(self.stream, whole) };
        address.map(Memory).map_err(|error| format!("{bytes} bytes for `{name}`: {}", said(error)))
    }

    fn free(&self, memory: Memory) {
        if self.enter().is_ok() {
            // SAFETY: the memory was allocated, and is given back once.
            _ = unsafe { result::free_async(memory.0, self.stream) };
        }
    }

    fn zero(&self, memory: Memory, bytes: usize) -> Result<(), String> {
        self.enter()?;
        // SAFETY: so many bytes were allocated there.
        unsafe { result::memset_d8_async(memory.0, 0, bytes, self.stream) }.map_err(said)
    }

    fn write(&self, memory: Memory, bytes: &[u8]) -> Result<(), String> {
        self.enter()?;
        let Some(chunks) = self.context.pinned.chunks(bytes) else {
            let sent = self.send(memory, bytes);
            return self.wait().map_err(said).and(sent);
        };
        self.in_chunks(memory, chunks, |chunks, copying| chunks.send(bytes, copying))
    }

    fn read(&self, memory: Memory, bytes: &mut [u8]) -> Result<(), String> {
        self.enter()?;
        let Some(chunks) = self.context.pinned.chunks(bytes) else {
            let received = self.receive(memory, bytes);
            return self.wait().map_err(said).and(received);
        };
        self.in_chunks(memory, chunks, |chunks, copying| chunks.receive(bytes, copying))
    }

    fn copy(&self, from: Memory, to: Memory, bytes: usize) -> Result<(), String> {
        self.enter()?;
        // SAFETY: so many bytes were allocated at both.
        unsafe { result::memcpy_dtod_async(to.0, from.0, bytes, self.stream) }.map_err(said)
    }

    fn launch(&self, function: &str, grid: Grid, arguments: &[u64]) -> Result<(), String> {
        self.enter()?;
        let handle = self.functions.functions.get(function).ok_or_else(|| format!("there is no `{function}`"))?;
        if let Some(axis) = (0..2).find(|&axis| grid.blocks[axis] > MOST_BLOCKS[axis]) {
            return Err(format!("{} blocks of `{function}` are more than a grid has", grid.blocks[axis]));
        }
        let mut values = arguments.to_vec();
        let mut addresses: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        let ([blocks, rows], [threads, high]) = (grid.blocks, grid.threads);
        // SAFETY: the function takes as many arguments of 64 bits as its module says, which made this call; those that are
        // addresses were allocated on this device. The driver copies the arguments before it returns.
        let launched = unsafe {
            let (blocks, threads) = ((blocks, rows, 1), (threads, high, 1));
            result::launch_kernel(*handle, blocks, threads, grid.shared, self.stream, &mut addresses)
        };
        launched.map_err(|error| format!("{function}: {}", said(error)))
    }

    fn timed(&self, work: &mut dyn FnMut() -> Result<(), String>) -> Result<Duration, String> {
        self.enter()?;
        let start = Event::record(self).map_err(said)?;
        work()?;
        let end = Event::record(self).map_err(said)?;
        self.wait().map_err(said)?;
        // SAFETY: both events were recorded, and are done as the stream is.
        let milliseconds = unsafe { result::event::elapsed(start.0, end.0) }.map_err(said)?;
        Ok(Duration::from_secs_f32(milliseconds.max(0.0) / 1e3))
    }

    fn resident(&self) -> Option<&Resident> {
        Some(&self.context.resident)
    }

    fn pin(&self, bytes: &[u8]) -> bool {
        self.enter().is_ok() && self.context.pinned.pin(bytes)
    }

    fn unpin(&self, bytes: &[u8]) {
        if self.enter().is_ok() {
            self.context.pinned.unpin(bytes);
        }
    }
}
