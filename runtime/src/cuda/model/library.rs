//! A module as a library of the processor that counts what it does.

use super::counts::{BlockCount, Counts, Kind, Site, Totals};
use super::error::ModelError;
use crate::execute::cache::{Cache, Workshop};
use crate::execute::device::Grid;
use crate::execute::external;
use crate::execute::hash::Fnv128;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::fs;
use std::path::Path;

const FILES: [(&str, &str); 3] = [
    ("device.h", include_str!("emulation/device.h")),
    ("runtime.cpp", include_str!("emulation/runtime.cpp")),
    ("count.inc", include_str!("emulation/count.inc")),
];

const COMMON: [&str; 8] = [
    "-std=c++17",
    "-w",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-extern-tls-init",
    "-DSPC_SMEM_MAX=49152",
];

/// The code has to lie in the order of the loops: lanes come together at the lowest address.
const WATCHED: [&str; 8] = [
    "-g1",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-reorder-blocks",
    "-fno-crossjumping",
    "-fsanitize=thread",
    "--param=tsan-distinguish-volatile=1",
    "-fsanitize-coverage=trace-pc",
];

/// How `runtime.cpp` launches; the same fields in the same order.
#[repr(C)]
struct Configuration {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    order: u32,
    flags: u32,
    padding: u32,
    seed: u64,
    first: u64,
    last: u64,
}

/// `Site` of `count.inc`; the same fields in the same order.
#[repr(C)]
struct RawSite {
    place: u64,
    array: u32,
    kind: u8,
    size: u8,
    padding: u16,
    counts: [u64; 7],
    turns: f64,
}

type Invoke = unsafe extern "C" fn(*mut *mut c_void);
type Launch = unsafe extern "C" fn(Invoke, *mut *mut c_void, *const Configuration, *mut c_char, usize, *mut u64) -> i32;
type Begin = unsafe extern "C" fn(u32, u64, u64);
type End = unsafe extern "C" fn(
    *mut Totals,
    *mut *const RawSite,
    *mut u64,
    *mut *const BlockCount,
    *mut *const u32,
    *mut u64,
    *mut *const u64,
    *mut u64,
);

/// A compiled module. It counts one launch at a time: who uses it holds a lock.
#[derive(Debug)]
pub(super) struct Library(libloading::Library);

/// How much of a launch is traced.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracing {
    /// Blocks that are traced, or not, together: as many as a device has at a time.
    pub(super) stretch: u32,
    /// So many events, about.
    pub(super) budget: u64,
}

impl Library {
    /// The functions of a text of CUDA C, compiled or found where they were compiled before.
    pub(super) fn compile(text: &str, functions: &[String]) -> Result<Self, ModelError> {
        let batch = batch(text, functions);
        let workshop = Workshop::elsewhere()?;
        let folder = workshop.folder();
        let kept = Kept::new(&batch);
        let path = folder.join("counting.so");
        if let Some(bytes) = kept.cache.bytes(&kept.library) {
            fs::write(&path, bytes)?;
        } else {
            compile(folder, &batch, &kept)?;
            kept.cache.keep_bytes(&kept.library, &fs::read(&path)?);
        }
        // SAFETY: the library was compiled from the files beside this one and from the kernel's text; it does nothing when it is
        // loaded, and stays when its file is removed.
        let library = unsafe { libloading::Library::new(&path) };
        library.map(Self).map_err(|error| ModelError::File(error.to_string()))
    }

    fn symbol<T: Copy>(&self, name: &str) -> Result<T, String> {
        // SAFETY: the callers name functions of `runtime.cpp` and `count.inc` with their types, or `spc_invoke_…`, which
        // `SPC_EXPORT_AS` defines as an `Invoke`.
        let symbol = unsafe { self.0.get::<T>(name.as_bytes()) };
        symbol.map(|symbol| *symbol).map_err(|error| error.to_string())
    }

    /// From now on accesses to this memory count as those of an array of this number.
    pub(super) fn watch(&self, address: u64, bytes: u64, number: u32) -> Result<(), String> {
        let watch: unsafe extern "C" fn(u64, u64, u32) = self.symbol("spc_count_array")?;
        // SAFETY: the function notes its arguments.
        unsafe { watch(address, bytes, number) };
        Ok(())
    }

    /// Ends that.
    pub(super) fn forget(&self, address: u64) -> Result<(), String> {
        let forget: unsafe extern "C" fn(u64) = self.symbol("spc_count_forget")?;
        // SAFETY: the function looks the number up.
        unsafe { forget(address) };
        Ok(())
    }

    /// The sectors of an array that the last launch has touched.
    pub(super) fn seen(&self, address: u64) -> Result<u64, String> {
        let seen: unsafe extern "C" fn(u64) -> u64 = self.symbol("spc_count_seen")?;
        // SAFETY: the function looks the number up.
        Ok(unsafe { seen(address) })
    }

    /// One more than the largest number of a sector.
    pub(super) fn sectors(&self) -> Result<u32, String> {
        let sectors: unsafe extern "C" fn() -> u32 = self.symbol("spc_count_sectors")?;
        // SAFETY: the function takes nothing.
        Ok(unsafe { sectors() })
    }

    /// Runs a function, and gives what was counted. `names` are those of the arrays, by their numbers.
    ///
    /// # Safety
    /// All memory that the arguments point to is there, and the function takes as many arguments.
    pub(super) unsafe fn launch(
        &self,
        function: &str,
        grid: Grid,
        arguments: &[u64],
        tracing: Tracing,
        names: &BTreeMap<u32, String>,
    ) -> Result<Counts, String> {
        let run: Launch = self.symbol("spc_run")?;
        let begin: Begin = self.symbol("spc_count_begin")?;
        let invoke: Invoke = self.symbol(&format!("spc_invoke_{function}"))?;
        let mut values = arguments.to_vec();
        let mut addresses: Vec<*mut c_void> = values.iter_mut().map(|value| std::ptr::from_mut(value).cast()).collect();
        let last = u64::from(grid.blocks[0]) * u64::from(grid.blocks[1]);
        let configuration = Configuration {
            grid: [grid.blocks[0], grid.blocks[1], 1],
            block: [grid.threads[0], grid.threads[1], 1],
            shared: grid.shared,
            order: 0,
            flags: 0,
            padding: 0,
            seed: 1,
            first: 0,
            last,
        };
        let mut message = [0; 512];
        // SAFETY: as the caller says; the message ends with zero.
        let message = unsafe {
            begin(tracing.stretch, tracing.budget, last);
            let (to, length) = (message.as_mut_ptr(), message.len());
            let status =
                run(invoke, addresses.as_mut_ptr(), &raw const configuration, to, length, std::ptr::null_mut());
            (status != 0).then(|| CStr::from_ptr(message.as_ptr()).to_string_lossy().into_owned())
        };
        match message {
            Some(message) => Err(message),
            None => self.counts(names),
        }
    }

    fn counts(&self, names: &BTreeMap<u32, String>) -> Result<Counts, String> {
        let end: End = self.symbol("spc_count_end")?;
        let mut totals = Totals::default();
        let (mut sites, mut blocks, mut stream, mut ends) =
            (std::ptr::null(), std::ptr::null(), std::ptr::null(), std::ptr::null());
        let (mut sites_count, mut length, mut warps) = (0, 0, 0);
        // SAFETY: the function fills what it is given with lengths and with memory of the library, which stays as it is until the
        // next launch; what it points to has the types above.
        unsafe {
            end(
                &raw mut totals,
                &raw mut sites,
                &raw mut sites_count,
                &raw mut blocks,
                &raw mut stream,
                &raw mut length,
                &raw mut ends,
                &raw mut warps,
            );
            Ok(Counts {
                sites: slice(sites, sites_count).iter().filter_map(|site| site.named(names)).collect(),
                totals,
                blocks: slice(blocks, totals.blocks).to_vec(),
                stream: slice(stream, length).to_vec(),
                ends: slice(ends, warps).to_vec(),
            })
        }
    }
}

/// Memory of the library.
///
/// # Safety
/// So many are there, or none.
unsafe fn slice<'a, T>(from: *const T, length: u64) -> &'a [T] {
    match length {
        0 => &[],
        // SAFETY: as the caller says.
        length => unsafe { std::slice::from_raw_parts(from, length as usize) },
    }
}

impl RawSite {
    fn named(&self, names: &BTreeMap<u32, String>) -> Option<Site> {
        let [runs, lanes, useful, sectors, lines, distinct, ways] = self.counts;
        let kind = Kind::of(self.kind)?;
        let array = names.get(&self.array).cloned();
        let (place, size, turns) = (self.place, usize::from(self.size), self.turns);
        Some(Site { place, array, kind, size, runs, lanes, useful, sectors, lines, distinct, ways, turns })
    }
}

/// Where what is compiled is kept.
struct Kept {
    cache: Cache,
    runtime: String,
    library: String,
}

impl Kept {
    fn new(batch: &str) -> Self {
        let mut key = Fnv128::of(env!("CARGO_PKG_VERSION").as_bytes());
        FILES.iter().for_each(|(_, text)| key.write(text.as_bytes()));
        COMMON.iter().chain(&WATCHED).for_each(|option| key.write(option.as_bytes()));
        let runtime = format!("counting-{key}");
        key.write(batch.as_bytes());
        Self { cache: Cache::of_environment(), runtime, library: format!("counted-{key}") }
    }
}

/// The text of the functions, in a namespace of their own, and what is called to run each.
fn batch(text: &str, functions: &[String]) -> String {
    let export = |function: &String| format!("SPC_EXPORT_AS({function}, in_spc::{function})\n");
    format!("namespace in_spc {{\n{text}\n}}\n{}", functions.iter().map(export).collect::<String>())
}

fn compile(folder: &Path, batch: &str, kept: &Kept) -> Result<(), ModelError> {
    for (name, text) in FILES {
        fs::write(folder.join(name), text)?;
    }
    fs::write(folder.join("kernels.cpp"), batch)?;
    let runtime = folder.join("runtime.o");
    let is_kept = kept.cache.bytes(&kept.runtime).map(|bytes| fs::write(&runtime, bytes)).transpose()?.is_some();
    std::thread::scope(|scope| {
        let counting = || gpp(folder, &["-O2", "-DSPC_COUNT", "-c", "runtime.cpp", "-o", "runtime.o"]);
        let counting = (!is_kept).then(|| scope.spawn(counting));
        let kernels = ["-O1", "-include", "device.h", "-c", "kernels.cpp", "-o", "kernels.o"];
        gpp(folder, &[&WATCHED[..], &kernels].concat())?;
        counting.map_or(Ok(()), |counting| {
            counting.join().unwrap_or_else(|_| Err(ModelError::Compile("a thread has stopped".to_owned())))
        })
    })?;
    if !is_kept {
        kept.cache.keep_bytes(&kept.runtime, &fs::read(&runtime)?);
    }
    gpp(folder, &["-shared", "-Wl,-Bsymbolic", "runtime.o", "kernels.o", "-o", "counting.so"])
}

fn gpp(folder: &Path, arguments: &[&str]) -> Result<(), ModelError> {
    let compiler = external::find_here("g++").ok_or(ModelError::NoCompiler)?;
    let mut command = external::command(&compiler);
    let output = command.args(COMMON).args(arguments).current_dir(folder).env("TMPDIR", folder).output();
    let output = output.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ModelError::NoCompiler,
        _ => ModelError::File(error.to_string()),
    })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(ModelError::Compile(String::from_utf8_lossy(&output.stderr).chars().take(4000).collect())),
    }
}
