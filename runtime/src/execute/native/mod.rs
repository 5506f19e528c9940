//! Kernels that are compiled at run time, by the user's `rustc`, for this processor.
//!
//! | file | what it does |
//! |---|---|
//! | `text` | makes a library of kernels' texts, and a crate of the helpers of [`crate::parallel`] and the way to the host |
//! | `batch` | compiles the kernels of many programs together |
//! | `helpers` | compiles that crate, once for a compiler and its flags |
//! | `rustc` | finds the compiler and calls it |
//! | `process` | runs it, for a limited time |
//! | `load` | opens what it made |
//! | `abi` | what host and library hand to each other; compiled on both sides |
//! | `complex` | complex numbers for the library; compiled only there |
//! | `ready` | what is compiled with the helpers, and not with each kernel; compiled only there |
//! | `library` | the library's side: memory, threads and panics; compiled only there |
//! | `host` | the host's side |
//! | `level` | levels of processors |
//! | `catalogue` | libraries that were compiled elsewhere |
//! | `c` | the same by a C compiler, from what the C backend prints |
//! | `standalone` | libraries and crates of kernels that need nothing of this crate |
//!
//! A kernel's own text is safe Rust, which the compiler enforces (it lies in a file of its own, in a module that forbids unsafe
//! code). So what this folder has to get right is
//! that arrays cross the border with their types and lengths, and that both sides use one allocator: the library's
//! is the host's, which makes a vector that a kernel has filled the host's vector, without a copy. A panic in a kernel, also one
//! on another thread, is caught on the library's side and comes back as [`Error::Stopped`].

#[allow(unreachable_pub, reason = "public in the crate of the helpers")]
pub(super) mod abi;
mod batch;
mod c;
pub(super) mod catalogue;
#[cfg(test)]
#[allow(unreachable_pub)]
mod complex;
pub(super) mod error;
pub(crate) mod external;
mod helpers;
pub(super) mod host;
pub(super) mod level;
mod load;
mod process;
mod rustc;
pub mod standalone;
#[cfg(test)]
mod tests;
mod text;
#[cfg(not(any(unix, windows)))]
mod without_libraries;

use self::abi::{DONE, Entry, INTERRUPTED, Invocation, NO_MEMORY, PANICKED};
pub use self::error::NativeError;
use self::helpers::Helpers;
use self::load::load;
pub(super) use self::process::cancellable;
pub use self::rustc::NativeBuild;
use self::rustc::Rustc;
use self::text::Sources;
#[cfg(not(any(unix, windows)))]
use self::without_libraries::Library;
use super::array::{Access, Signature};
use super::cache::{Cache, LibraryFile, Part, Workshop};
use super::call::Call;
use super::error::Error;
use super::hash::Fnv128;
use super::tier::Tier;
#[cfg(any(unix, windows))]
use libloading::Library;
use spc_compiler::ir::{Kernel, Size};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A kernel in a library that was compiled on this machine, for this machine.
#[derive(Debug, Clone)]
pub struct NativeKernel {
    signature: Signature,
    entry: Entry,
    compile_time: Duration,
    tier: Tier,
    /// Why there is no Rust compiler, where that is known and the kernel runs as one has made it.
    missing: Option<Arc<str>>,
}

/// The libraries that this process has loaded, with the entries of their kernels. They stay loaded.
static LOADED: Mutex<BTreeMap<Fnv128, Vec<Entry>>> = Mutex::new(BTreeMap::new());

impl NativeKernel {
    /// Compiles a kernel, or finds it where it was compiled before.
    ///
    /// `text` is what the Rust backend prints for `kernel`: safe Rust that defines `pub fn NAME`, named as the kernel (as
    /// [`function_name`](spc_compiler::backend::rust::function_name) spells that), and uses [`crate::parallel`] under the name `parallel`. The function takes each dimension whose size comes with the call as
    /// `usize`, and then each parameter: `&[T]` for an array that is read, `&mut [T]` for the values of an output whose
    /// structure is given, `&mut Vec<T>` for an array that is appended to.
    ///
    /// # Errors
    /// When there is no compiler, it refuses the text, or its library can't be written or loaded.
    pub fn compile(text: &str, kernel: &Kernel) -> Result<Self, NativeError> {
        Self::compile_in(&Cache::of_environment(), text, kernel)
    }

    /// Compiles several kernels, each with its text, to one library: to start the compiler takes longer than to compile a
    /// small kernel. Each then says that it took the time of all.
    ///
    /// # Errors
    /// As [`NativeKernel::compile`].
    pub fn compile_all(kernels: &[(&str, &Kernel)]) -> Result<Vec<Self>, NativeError> {
        Self::compile_all_in(&Cache::of_environment(), kernels, NativeBuild::default())
    }

    /// Compiles the kernels of many programs, each with its text, to few libraries: one for each processor that there is work for. A
    /// kernel that is there already, or that several programs have, is not compiled again. Each says that it took its share of the time.
    ///
    /// A program whose kernel the compiler refuses has its error; the others do not notice.
    pub fn compile_many(programs: &[Vec<(&str, &Kernel)>]) -> Vec<Result<Vec<Self>, NativeError>> {
        batch::compile_many(&Cache::of_environment(), programs, NativeBuild::default())
    }

    /// The same, compiled otherwise.
    ///
    /// # Errors
    /// As [`NativeKernel::compile`].
    #[doc(hidden)]
    pub fn compile_all_as(build: NativeBuild, kernels: &[(&str, &Kernel)]) -> Result<Vec<Self>, NativeError> {
        Self::compile_all_in(&Cache::of_environment(), kernels, build)
    }

    fn compile_in(cache: &Cache, text: &str, kernel: &Kernel) -> Result<Self, NativeError> {
        Ok(Self::compile_all_in(cache, &[(text, kernel)], NativeBuild::default())?.remove(0))
    }

    fn compile_all_in(
        cache: &Cache,
        kernels: &[(&str, &Kernel)],
        build: NativeBuild,
    ) -> Result<Vec<Self>, NativeError> {
        let start = Instant::now();
        for (_, kernel) in kernels {
            check(kernel)?;
        }
        let signed: Vec<(&str, Signature)> =
            kernels.iter().map(|(text, kernel)| (*text, Signature::of(kernel))).collect();
        let Found { entries, tier, missing } = match entries(cache, &text::library(&signed), build) {
            Err(error) if error.is_missing_compiler() => {
                let of_catalogue = |(_, kernel): &(&str, &Kernel)| Self::of_catalogue(kernel, &error);
                return kernels.iter().map(of_catalogue).collect::<Option<_>>().ok_or(error);
            }
            found => found?,
        };
        let compile_time = start.elapsed();
        let signatures = signed.into_iter().map(|(_, signature)| signature);
        let kernel = |(signature, entry)| Self { signature, entry, compile_time, tier, missing: missing.clone() };
        Ok(signatures.zip(entries).map(kernel).collect())
    }

    /// Where native code for kernels would come from, and why there is no compiler if there is none; nothing is compiled.
    pub(super) fn expected(kernels: &[(&str, &Kernel)]) -> Result<(Tier, Option<NativeError>), NativeError> {
        let (cache, build) = (Cache::of_environment(), NativeBuild::default());
        kernels.iter().try_for_each(|(_, kernel)| check(kernel))?;
        let signed: Vec<(&str, Signature)> =
            kernels.iter().map(|(text, kernel)| (*text, Signature::of(kernel))).collect();
        let sources = text::library(&signed);
        let is_kept = |key| loaded().contains_key(&key) || cache.library(Part::Kernels, key).is_some();
        match Rustc::find(&cache, &|name| std::env::var_os(name)) {
            Ok(rustc) if is_kept(key(Helpers::of(&rustc, build).key, &sources)) => Ok((Tier::Cached, None)),
            Ok(_) => Ok((Tier::Rustc, None)),
            Err(error) if error.is_missing_compiler() => {
                let is_there = |(_, kernel): &(&str, &Kernel)| Self::of_catalogue(kernel, &error).is_some();
                match noted(&cache, &note(&sources, build)) {
                    Some(key) if is_kept(key) => Ok((Tier::Cached, Some(error))),
                    _ if kernels.iter().all(is_there) => Ok((Tier::Catalogue, Some(error))),
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    /// How long it took to get the kernel: to compile it, or to find it.
    pub fn compile_time(&self) -> Duration {
        self.compile_time
    }

    /// Whether it had been compiled before, on this machine.
    pub fn from_cache(&self) -> bool {
        self.tier == Tier::Cached
    }

    /// Where it comes from.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// Why no Rust compiler was asked, where there is none.
    pub(super) fn missing(&self) -> Option<&str> {
        self.missing.as_deref()
    }

    /// Runs a call, and says how long the kernel took: it alone. Its parallel loops run on the threads of the rayon pool
    /// that this is called in.
    ///
    /// A call may run more than once: outputs are made new each time.
    ///
    /// # Errors
    /// When the call is of a kernel with other declarations, or the kernel panics.
    pub fn run(&self, call: &mut Call<'_>) -> Result<Duration, Error> {
        let kernel = call.kernel();
        self.signature.check(call.kernel(), call.parameters())?;
        let (mut few, mut many) = ([0; FEW], Vec::new());
        let sizes = call.dimensions().iter().zip(&self.signature.sizes);
        let with_call = sizes.filter(|(_, size)| **size == Size::Runtime).map(|(&extent, _)| extent);
        let dimensions = collected(with_call, &mut few, &mut many);
        let is_timed = call.is_timed();
        let arrays = call.begin();
        let (mut few, mut many) = ([host::nothing(); FEW], Vec::new());
        let table = collected(arrays.iter_mut().map(host::lend), &mut few, &mut many);
        let mut invocation =
            Invocation { dimensions: dimensions.as_ptr(), arrays: table.as_mut_ptr(), message: host::nothing() };
        let start = is_timed.then(Instant::now);
        // SAFETY: the entry was compiled from `text::library` for this signature, which is the call's, as was checked above. So it
        // reads as many dimensions and arrays as there are, each of its own type. `host::lend` lends what it writes for writing
        // and gives what it appends to, and all live until it returns. The text of the kernel itself has no unsafe code.
        let status = unsafe { (self.entry)(&raw const host::HOST, &raw mut invocation) };
        let time = start.map_or(Duration::ZERO, |start| start.elapsed());
        let stopped = |message: String| Err(Error::stopped(kernel, message));
        match status {
            DONE => {}
            PANICKED | NO_MEMORY | INTERRUPTED => {
                // SAFETY: a library that returns one of these has given its message, a vector of bytes.
                let message = unsafe { host::receive::<u8>(&invocation.message) };
                let message = String::from_utf8_lossy(&message).into_owned();
                return match status {
                    NO_MEMORY => Err(Error::no_memory(kernel, message)),
                    INTERRUPTED => Err(Error::interrupted(kernel)),
                    _ => stopped(message),
                };
            }
            other => return stopped(format!("it returned {other}")),
        }
        for (array, given) in arrays.iter_mut().zip(&*table) {
            if array.parameter.access == Access::Append {
                // SAFETY: the library has given a vector of this parameter's type for each that it appends to.
                array.data = unsafe { host::receive_data(given, array.parameter.element) };
            }
        }
        Ok(time)
    }
}

/// So many words or arrays lie on the stack.
const FEW: usize = 8;

/// The items in one place: `few`, or `many` where they are more.
fn collected<'t, T: Copy>(
    mut items: impl Iterator<Item = T>,
    few: &'t mut [T; FEW],
    many: &'t mut Vec<T>,
) -> &'t mut [T] {
    let mut count = 0;
    for (place, item) in few.iter_mut().zip(&mut items) {
        *place = item;
        count += 1;
    }
    let Some(next) = items.next() else { return &mut few[..count] };
    many.extend_from_slice(few);
    many.push(next);
    many.extend(items);
    many
}

/// Refuses a kernel that can't be compiled by itself, whatever its text.
fn check(kernel: &Kernel) -> Result<(), NativeError> {
    if let Some(generic) = kernel.dimensions.iter().find(|dimension| dimension.size == Size::Generic) {
        return Err(NativeError::Generic { kernel: kernel.name.clone(), index: generic.name.clone() });
    }
    // It stands in the text that calls the kernel, which is not safe code.
    let is_of_names =
        |c: char| c.is_alphanumeric() || c == '_' || !(c.is_ascii() || c.is_whitespace() || c.is_control());
    if !kernel.name.chars().all(is_of_names) {
        return Err(NativeError::Name { kernel: kernel.name.clone() });
    }
    Ok(())
}

/// Entries of a library, and where it comes from.
struct Found {
    entries: Vec<Entry>,
    tier: Tier,
    missing: Option<Arc<str>>,
}

/// The entries of the library that is compiled from these sources.
fn entries(cache: &Cache, sources: &Sources, build: NativeBuild) -> Result<Found, NativeError> {
    let found = |entries, tier| Found { entries, tier, missing: None };
    let count = sources.kernels.len();
    // Without the compiler, which of them compiled a library is not known: a note says it of the latest.
    let note = note(sources, build);
    let rustc = match Rustc::find(cache, &|name| std::env::var_os(name)) {
        Ok(rustc) => rustc,
        Err(error) if error.is_missing_compiler() => {
            let Some(entries) = noted(cache, &note).and_then(|key| kept(cache, key, count)) else { return Err(error) };
            return Ok(Found { missing: Some(Arc::from(error.to_string())), ..found(entries, Tier::Cached) });
        }
        Err(error) => return Err(error),
    };
    let helpers = Helpers::of(&rustc, build);
    let key = key(helpers.key, sources);
    if let Some(entries) = kept(cache, key, count) {
        return Ok(found(entries, Tier::Cached));
    }
    // Another may compile the same now, or the helpers.
    let begin = Instant::now();
    let waits = || begin.elapsed() < rustc.limit && !process::is_cancelled();
    let _turn = cache.turn(Part::Kernels, key, &waits);
    if let Some(entries) = kept(cache, key, count) {
        return Ok(found(entries, Tier::Cached));
    }
    let _turn = helpers.kept(cache).is_none().then(|| cache.turn(Part::Helpers, helpers.key, &waits));
    let compiled = match helpers.kept(cache) {
        Some(kept) => match compiled(cache, &rustc, sources, &helpers, Some(&kept)) {
            // Another process has removed or damaged the helpers.
            Err(_) if cache.library(Part::Helpers, helpers.key).is_none() => {
                compiled(cache, &rustc, sources, &helpers, None)
            }
            result => result,
        },
        None => compiled(cache, &rustc, sources, &helpers, None),
    }?;
    // It is kept when it has been loaded: what can't be is not there for ever.
    let entries = load(&compiled.library, count)?;
    if let Some(workshop) = &compiled.helpers {
        helpers.keep(cache, workshop);
    }
    cache.keep(Part::Kernels, key, &compiled.workshop, &compiled.library);
    cache.keep_note(&note, &key.to_string());
    loaded().insert(key, entries.clone());
    Ok(found(entries, Tier::Rustc))
}

/// Whether the Rust compiler has compiled what all kernels use: a kernel takes it tenths of a second then, and seconds else.
pub fn has_helpers() -> bool {
    let cache = Cache::of_environment();
    let rustc = Rustc::find(&cache, &|name| std::env::var_os(name));
    rustc.is_ok_and(|rustc| Helpers::of(&rustc, NativeBuild::default()).kept(&cache).is_some())
}

/// What the Rust compiler that kernels are compiled by says of itself, where there is one.
#[doc(hidden)]
pub fn rust_compiler() -> Option<String> {
    let rustc = Rustc::find(&Cache::of_environment(), &|name| std::env::var_os(name)).ok()?;
    rustc.version.lines().next().map(str::to_owned)
}

/// What says which library of these sources is the latest.
fn note(sources: &Sources, build: NativeBuild) -> String {
    format!("compiled-{}", key(Helpers::key_without_compiler(build), sources))
}

fn noted(cache: &Cache, note: &str) -> Option<Fnv128> {
    Fnv128::parse(&cache.note(note)?)
}

/// What a library is known by: what it is compiled with, and its texts.
fn key(compiled_with: Fnv128, sources: &Sources) -> Fnv128 {
    let mut key = compiled_with;
    key.write(sources.root.as_bytes());
    sources.kernels.iter().for_each(|text| key.write(text.as_bytes()));
    key
}

/// The entries of a library that was compiled before.
fn kept(cache: &Cache, key: Fnv128, count: usize) -> Option<Vec<Entry>> {
    if let Some(entries) = loaded().get(&key) {
        return Some(entries.clone());
    }
    let library = cache.library(Part::Kernels, key)?;
    if let Ok(entries) = load(&library, count) {
        loaded().insert(key, entries.clone());
        return Some(entries);
    }
    cache.discard(Part::Kernels, key, &library);
    None
}

/// A library that was compiled, and the folders that it was compiled in.
struct Compiled {
    library: LibraryFile,
    workshop: Workshop,
    /// Where its helpers were compiled, if they were not there.
    helpers: Option<Workshop>,
}

/// Compiles a library, linked to helpers that are there or are compiled first: in the cache, or elsewhere where there is no room.
fn compiled(
    cache: &Cache,
    rustc: &Rustc,
    sources: &Sources,
    helpers: &Helpers<'_>,
    kept: Option<&Path>,
) -> Result<Compiled, NativeError> {
    let failure = |source| NativeError::File { path: cache.place(), source };
    let workshop = cache.workshop().map_err(failure)?;
    let (folder, place) = (workshop.folder().to_owned(), || cache.workshop());
    match compile(rustc, sources, helpers, kept, workshop, &place) {
        // The folder is full or gone, not the text wrong.
        Err(error) if is_full(&error) || !folder.is_dir() => {
            compile(rustc, sources, helpers, kept, Workshop::elsewhere().map_err(failure)?, &Workshop::elsewhere)
        }
        result => result,
    }
}

/// Compiles a library in a folder. Helpers that are not there are compiled in a folder of their own.
fn compile(
    rustc: &Rustc,
    sources: &Sources,
    helpers: &Helpers<'_>,
    kept: Option<&Path>,
    workshop: Workshop,
    place: &dyn Fn() -> std::io::Result<Workshop>,
) -> Result<Compiled, NativeError> {
    let failure = |path: PathBuf| move |source| NativeError::File { path, source };
    write(workshop.source(Part::Kernels), &sources.root)?;
    for (place, text) in sources.kernels.iter().enumerate() {
        write(workshop.beside(&text::kernel_file(place)), text)?;
    }
    let made = match kept {
        Some(_) => None,
        None => {
            let made = place().map_err(failure(workshop.folder().to_owned()))?;
            helpers.compile(&made)?;
            Some(made)
        }
    };
    let linked = made.as_ref().map(|made| made.library(Part::Helpers));
    rustc.compile(&workshop, Part::Kernels, linked.as_deref().or(kept), helpers.build)?;
    let library = workshop.compiled(Part::Kernels).map_err(failure(workshop.library(Part::Kernels)))?;
    Ok(Compiled { library, workshop, helpers: made })
}

fn write(path: PathBuf, text: &str) -> Result<(), NativeError> {
    fs::write(&path, text).map_err(|source| NativeError::File { path, source })
}

/// Whether there was no room on the disk for what was compiled.
fn is_full(error: &NativeError) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match error {
        NativeError::File { source, .. } => matches!(source.kind(), StorageFull | QuotaExceeded),
        NativeError::Compile { output, .. } => {
            ["No space left on device", "Disk quota exceeded"].iter().any(|said| output.contains(said))
        }
        _ => false,
    }
}

fn loaded() -> std::sync::MutexGuard<'static, BTreeMap<Fnv128, Vec<Entry>>> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner)
}
