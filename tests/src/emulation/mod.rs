//! Generated CUDA C on the processor: a device that tests use where there is no GPU.
//!
//! The text of kernels goes unchanged through a C++ compiler, with `device.h` in front, which knows what CUDA declares without a
//! header; all kernels of a batch become one library. `runtime.cpp` runs the threads of a block as fibers: warps with
//! shuffles and ballots, barriers, shared memory, atomic operations; threads take turns in a random order. `races.inc`
//! watches every access: two threads at one place of which one writes, what is out of bounds, shared memory that was not
//! set. The first of these stops the launch with a message.

pub mod driver;
pub mod standalone;

use crate::harness::Skip;
use spc::decompose::Engine;
use spc::execute::device::{Device, DeviceKernel, Grid, Memory, Resident};
use spc::execute::{Chain, Executable, KernelBuilder};
use spc_compiler::Program;
use spc_compiler::backend::cuda::{self, Module, Refusal};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A program whose kernels are in a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Emulated {
    modules: Vec<Module>,
}

impl Emulated {
    /// The CUDA C of each module.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.modules.iter().map(cuda::text)
    }

    /// The modules.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The modules, to be changed.
    pub fn modules_mut(&mut self) -> &mut [Module] {
        &mut self.modules
    }
}

/// The modules of a program, with names that no other program of a batch has.
///
/// # Errors
/// What can't run on a device.
pub fn modules(program: &Program, number: usize, options: cuda::Options) -> Result<Emulated, Refusal> {
    let kernels = program.kernels.iter().zip(0..);
    let module = |(compiled, link): (&spc_compiler::Compiled, i32)| {
        cuda::module(&compiled.kernel, Some(&format!("{}_{number}_{link}", plain(&compiled.kernel.name))), options)
    };
    Ok(Emulated { modules: kernels.map(module).collect::<Result<_, _>>()? })
}

/// A name as every C++ compiler takes it, so short that what is added to it is kept.
fn plain(name: &str) -> String {
    name.chars().take(64).map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// A device for all programs of a batch.
///
/// # Errors
/// There is no C++ compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile(programs: &[&Emulated]) -> Result<Arc<Emulation>, Skip> {
    Command::new("g++").arg("--version").output().map_err(|_| Skip::without_cpp())?;
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("files can be written");
    write("device.h", DEVICE);
    std::fs::write(folder.path().join("runtime.o"), runtime()).expect("files can be written");
    // One file for each processor.
    let mut batches = vec![String::new(); 2];
    for (number, module) in programs.iter().flat_map(|program| &program.modules).enumerate() {
        let file = format!("{}.cu", module.name);
        write(&file, &cuda::text(module));
        let batch = &mut batches[number % 2];
        *batch += &format!("namespace in_{} {{\n#include \"{file}\"\n}}\n", module.name);
        for function in module.function_names() {
            *batch += &format!("SPC_EXPORT_AS({function}, in_{}::{function})\n", module.name);
        }
    }
    let mut steps: Vec<Vec<String>> = Vec::new();
    for (number, batch) in batches.iter().enumerate() {
        write(&format!("batch_{number}.cpp"), batch);
        let (source, object) = (format!("batch_{number}.cpp"), format!("batch_{number}.o"));
        let watched = ["-fsanitize=thread", "--param=tsan-distinguish-volatile=1"];
        let plain =
            ["-O1", "-g1", "-fwrapv", "-ffp-contract=off", "-include", "device.h", "-c", &source, "-o", &object];
        steps.push(compiler(&[&watched[..], &plain].concat()));
    }
    std::thread::scope(|scope| {
        for step in &steps {
            scope.spawn(|| run(folder.path(), step));
        }
    });
    run(folder.path(), &compiler(&["-shared", "runtime.o", "batch_0.o", "batch_1.o", "-o", "batch.so"]));
    Ok(Arc::new(Emulation::open(&folder.path().join("batch.so"))))
}

const DEVICE: &str = include_str!("../../../runtime/src/cuda/model/emulation/device.h");

/// The object of `runtime.cpp`, which all batches share.
fn runtime() -> &'static [u8] {
    static OBJECT: OnceLock<Vec<u8>> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        for (name, text) in [
            ("device.h", DEVICE),
            ("runtime.cpp", include_str!("../../../runtime/src/cuda/model/emulation/runtime.cpp")),
            ("races.inc", include_str!("../../../runtime/src/cuda/model/emulation/races.inc")),
        ] {
            std::fs::write(folder.path().join(name), text).expect("files can be written");
        }
        let arguments = ["-O1", "-DSPC_RACECHECK", "-c", "runtime.cpp", "-o", "runtime.o"];
        run(folder.path(), &compiler(&arguments));
        std::fs::read(folder.path().join("runtime.o")).expect("it was compiled")
    })
}

fn compiler(arguments: &[&str]) -> Vec<String> {
    let common = ["g++", "-std=c++17", "-w", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti"];
    let common = common.iter().chain(&["-fno-extern-tls-init", "-DSPC_SMEM_MAX=49152"]);
    common.chain(arguments).map(|&argument| argument.to_owned()).collect()
}

fn run(folder: &Path, command: &[String]) {
    let output = Command::new(&command[0]).args(&command[1..]).current_dir(folder).output().expect("g++ runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "g++ refuses what was generated:\n{}", &said[..said.len().min(8000)]);
}

/// A program that runs in an emulation.
pub fn chain(program: &Program, emulated: &Emulated, device: &Arc<Emulation>) -> Chain {
    let links = program.kernels.iter().zip(&emulated.modules).map(|(compiled, module)| {
        let device: Arc<dyn Device> = device.clone();
        Executable::on_device(compiled.kernel.clone(), DeviceKernel::new(module.clone(), device))
    });
    Chain::of_links(program, links.collect())
}

/// An engine of decompositions whose kernels run here, each on a device of its own that keeps inputs and results between calls.
///
/// # Errors
/// There is no C++ compiler.
pub fn engine() -> Result<Engine, Skip> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    Command::new("g++").arg("--version").output().map_err(|_| Skip::without_cpp())?;
    let link = |program: &Program| {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let emulated = modules(program, number, cuda::Options::default()).expect("the kernel runs on a device");
        let device = compile(&[&emulated]).unwrap_or_else(|_| panic!("there is a C++ compiler"));
        device.keep_inputs();
        Ok(chain(program, &emulated, &device))
    };
    let compile = move |builder: KernelBuilder| builder.compile_on(&link);
    Ok(Engine { compile: Some(Arc::new(compile)), ..Engine::default() })
}

/// How `runtime.cpp` launches; the same fields in the same order.
#[repr(C)]
struct Configuration {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    /// 0: in order, 1: from the last, 2: random.
    order: u32,
    /// 1: shared memory is full of ones at first; 2: strict.
    flags: u32,
    padding: u32,
    seed: u64,
    first: u64,
    last: u64,
}

type Invoke = unsafe extern "C" fn(*mut *mut c_void);
type Launch = unsafe extern "C" fn(Invoke, *mut *mut c_void, *const Configuration, *mut c_char, usize, *mut u64) -> i32;
type Watch = unsafe extern "C" fn(*const c_void, usize, *const c_char);
type Forget = unsafe extern "C" fn(*const c_void);

/// A library of kernels and their memory.
#[derive(Debug)]
pub struct Emulation {
    library: libloading::Library,
    /// What was allocated, by address. Who holds it may launch: the library watches one launch at a time.
    memory: Mutex<BTreeMap<u64, Box<[u64]>>>,
    /// What the order of blocks and threads comes from.
    seed: AtomicU64,
    /// What stays in its memory, where it is asked to keep inputs and results.
    resident: OnceLock<Resident>,
    /// The functions that were launched.
    launched: Mutex<Vec<String>>,
}

impl Emulation {
    fn open(path: &Path) -> Self {
        // SAFETY: the library was compiled from the files beside this one and from kernels; it does nothing when it is loaded.
        let library = unsafe { libloading::Library::new(path) }.expect("what was linked can be loaded");
        let (memory, seed, resident) = (Mutex::default(), AtomicU64::new(1), OnceLock::new());
        Self { library, memory, seed, resident, launched: Mutex::default() }
    }

    /// From now on inputs and results stay in its memory between calls.
    pub fn keep_inputs(&self) {
        self.resident.get_or_init(Resident::default);
    }

    /// The functions that were launched since the last time that this was asked for.
    pub fn launched(&self) -> Vec<String> {
        std::mem::take(&mut self.launched.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Blocks and threads take turns in another order from now on.
    pub fn shuffle(&self, seed: u64) {
        self.seed.store(seed, Ordering::Relaxed);
    }

    fn symbol<T: Copy>(&self, name: &str) -> Result<T, String> {
        // SAFETY: the callers name functions of `runtime.cpp` and `races.inc` with their types, or `spc_invoke_…`, which
        // `SPC_EXPORT_AS` defines as an `Invoke`.
        let symbol = unsafe { self.library.get::<T>(name.as_bytes()) };
        symbol.map(|symbol| *symbol).map_err(|error| error.to_string())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Box<[u64]>>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The memory from an address on, to be read or written for `bytes`.
fn within(memory: &BTreeMap<u64, Box<[u64]>>, address: Memory, bytes: usize) -> Result<*mut u8, String> {
    let (begin, words) = memory.range(..=address.0).next_back().ok_or("nothing is at that address")?;
    let inside = address.0 - begin + bytes as u64 <= words.len() as u64 * 8;
    if inside { Ok(address.0 as *mut u8) } else { Err("a copy leaves the memory that it is for".to_owned()) }
}

impl Device for Emulation {
    fn allocate(&self, bytes: usize, name: &str) -> Result<Memory, String> {
        let mut memory = self.lock();
        // What was not set is not zero.
        let mut words = vec![0xfff7_dead_fff7_dead_u64; bytes.div_ceil(8) + 1].into_boxed_slice();
        let address = words.as_mut_ptr() as u64;
        memory.insert(address, words);
        let name = CString::new(plain(name)).expect("plain names have no zero");
        let watch: Watch = self.symbol("spc_race_buffer")?;
        // SAFETY: the memory is there until it is freed, and then forgotten. Atomic operations on bytes touch whole words.
        unsafe { watch(address as *const c_void, bytes.next_multiple_of(4), name.as_ptr()) };
        Ok(Memory(address))
    }

    fn free(&self, address: Memory) {
        let mut memory = self.lock();
        if let Ok(forget) = self.symbol::<Forget>("spc_race_forget") {
            // SAFETY: it looks the address up among those that are watched.
            unsafe { forget(address.0 as *const c_void) };
        }
        memory.remove(&address.0);
    }

    fn zero(&self, address: Memory, bytes: usize) -> Result<(), String> {
        let memory = self.lock();
        let to = within(&memory, address, bytes)?;
        // SAFETY: so many bytes are there, and the lock is held.
        unsafe { std::ptr::write_bytes(to, 0, bytes) };
        Ok(())
    }

    fn write(&self, address: Memory, bytes: &[u8]) -> Result<(), String> {
        let memory = self.lock();
        let to = within(&memory, address, bytes.len())?;
        // SAFETY: so many bytes are there, and the lock is held.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
        Ok(())
    }

    fn read(&self, address: Memory, bytes: &mut [u8]) -> Result<(), String> {
        let memory = self.lock();
        let from = within(&memory, address, bytes.len())?;
        // SAFETY: so many bytes are there, and the lock is held.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn copy(&self, from: Memory, to: Memory, bytes: usize) -> Result<(), String> {
        let memory = self.lock();
        let (from, to) = (within(&memory, from, bytes)?, within(&memory, to, bytes)?);
        // SAFETY: so many bytes are there on both sides, and the lock is held.
        unsafe { std::ptr::copy(from, to, bytes) };
        Ok(())
    }

    fn launch(&self, function: &str, grid: Grid, arguments: &[u64]) -> Result<(), String> {
        let memory = self.lock();
        let run: Launch = self.symbol("spc_run")?;
        let invoke: Invoke = self.symbol(&format!("spc_invoke_{function}"))?;
        self.launched.lock().unwrap_or_else(PoisonError::into_inner).push(function.to_owned());
        let mut values = arguments.to_vec();
        let mut addresses: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        let configuration = Configuration {
            grid: [grid.blocks[0], grid.blocks[1], 1],
            block: [grid.threads[0], grid.threads[1], 1],
            shared: grid.shared,
            order: 2,
            flags: 3,
            padding: 0,
            seed: self.seed.load(Ordering::Relaxed) + memory.len() as u64,
            first: 0,
            last: u64::from(grid.blocks[0]) * u64::from(grid.blocks[1]),
        };
        let mut message = [0; 512];
        // SAFETY: the function takes as many arguments of 64 bits as its module says, which made this call; all memory that
        // they point to is there, as the lock is held, and accesses outside of it stop the launch. The message ends with zero.
        let message = unsafe {
            let status = run(
                invoke,
                addresses.as_mut_ptr(),
                &raw const configuration,
                message.as_mut_ptr(),
                message.len(),
                std::ptr::null_mut(),
            );
            (status != 0).then(|| CStr::from_ptr(message.as_ptr()).to_string_lossy().into_owned())
        };
        message.map_or(Ok(()), |message| Err(format!("{function}: {message}")))
    }

    fn resident(&self) -> Option<&Resident> {
        self.resident.get()
    }
}
