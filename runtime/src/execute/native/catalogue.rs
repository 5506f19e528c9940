//! Libraries of kernels that were compiled elsewhere, in one file.
//!
//! ```text
//! spc catalogue 1
//! x86-64-v3 2 81234 0f3a…      a level, how many kernels, the bytes of its library, their checksum
//! 77a0…                        what each kernel is known by, in the order of the library
//! 4be1…
//!                              an empty line, then the libraries, one behind the other
//! ```

use super::abi::Entry;
use super::helpers::Helpers;
use super::level::{LEVELS, Level};
use super::rustc::{NativeBuild, Rustc};
use super::{NativeError, NativeKernel, compiled, key, load, text};
use crate::execute::array::Signature;
use crate::execute::cache::{self, Cache, LibraryFile};
use crate::execute::hash::Fnv128;
use crate::execute::tier::Tier;
use spc_compiler::backend;
use spc_compiler::ir::{self, Kernel};
use std::collections::BTreeMap;
use std::env;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread;
use std::time::Instant;

const HEAD: &str = "spc catalogue 1";

/// The file beside a program.
const NAME: &str = "spc.catalogue";

/// Names the file.
const VARIABLE: &str = "SPC_CATALOGUE";

/// A kernel as a catalogue has it.
struct Nameless {
    text: String,
    signature: Signature,
    key: Fnv128,
}

impl Nameless {
    /// Nothing for a kernel that is none without its names.
    fn of(kernel: &Kernel) -> Option<Nameless> {
        let kernel = ir::verify(kernel.clone().without_names()).ok()?;
        super::check(&kernel).ok()?;
        static HELPERS: LazyLock<Fnv128> = LazyLock::new(|| Fnv128::of(text::helpers().as_bytes()));
        let (text, signature) = (backend::rust::text(&kernel), Signature::of(&kernel));
        let key = key(*HELPERS, &text::library(&[(&text, signature.clone())]));
        Some(Nameless { text, signature, key })
    }
}

/// The file of some kernels for some levels, and how many kernels these are.
pub(in crate::execute) fn build(kernels: Vec<Kernel>, levels: &[Level]) -> Result<(Vec<u8>, usize), NativeError> {
    let all = kernels.iter().filter_map(Nameless::of).map(|kernel| (kernel.key, kernel));
    let all: BTreeMap<Fnv128, Nameless> = all.collect();
    let texts: Vec<(&str, Signature)> =
        all.values().map(|kernel| (kernel.text.as_str(), kernel.signature.clone())).collect();
    let sources = text::library(&texts);
    let rustc = Rustc::find(&Cache::of_environment(), &|name| env::var_os(name))?;
    let libraries = thread::scope(|scope| {
        let library = |level: &Level| {
            let helpers = Helpers::of(&rustc, NativeBuild::Level(*level));
            compiled(&Cache::in_folder(None), &rustc, &sources, &helpers, None).map(|made| made.library.bytes)
        };
        let workers: Vec<_> = levels.iter().map(|level| scope.spawn(move || library(level))).collect();
        workers.into_iter().map(|worker| worker.join().expect("it does not panic")).collect::<Result<Vec<_>, _>>()
    })?;
    let mut head = format!("{HEAD}\n");
    for (level, library) in levels.iter().zip(&libraries) {
        let (count, bytes, checksum) = (all.len(), library.len(), Fnv128::of(library));
        _ = writeln!(head, "{} {count} {bytes} {checksum}", level.name);
        all.keys().for_each(|key| _ = writeln!(head, "{key}"));
    }
    head.push('\n');
    Ok(([&[head.into_bytes()], &libraries[..]].concat().concat(), all.len()))
}

/// What this process has found.
struct Catalogue {
    places: BTreeMap<Fnv128, usize>,
    path: PathBuf,
    library: Vec<u8>,
    checksum: String,
    entries: OnceLock<Option<Vec<Entry>>>,
}

static FILE: OnceLock<PathBuf> = OnceLock::new();

pub(in crate::execute) fn set_path(path: PathBuf) {
    _ = FILE.set(path);
}

fn path() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let beside = || Some(env::current_exe().ok()?.parent()?.join(NAME));
    named.or_else(|| FILE.get().cloned()).or_else(beside)
}

/// The best library for this processor, where there is a file.
static CATALOGUE: LazyLock<Option<Catalogue>> = LazyLock::new(|| {
    let path = path()?;
    let bytes = cache::read_installed(&path)?;
    Catalogue::read(path, &bytes)
});

impl Catalogue {
    fn read(path: PathBuf, bytes: &[u8]) -> Option<Catalogue> {
        let end = bytes.windows(2).position(|two| two == b"\n\n")?;
        let mut lines = std::str::from_utf8(&bytes[..end]).ok()?.lines();
        if lines.next() != Some(HEAD) {
            return None;
        }
        let mut begin = end + 2;
        let mut best: Option<(usize, Vec<Fnv128>, &[u8], String)> = None;
        while let Some(line) = lines.next() {
            let mut words = line.split(' ');
            let name = words.next()?;
            let count: usize = words.next()?.parse().ok()?;
            let size: usize = words.next()?.parse().ok()?;
            let checksum = words.next()?.to_owned();
            let keys = lines.by_ref().take(count).map(Fnv128::parse).collect::<Option<Vec<_>>>()?;
            let library = bytes.get(begin..begin.checked_add(size)?)?;
            begin += size;
            let place = LEVELS.iter().position(|level| level.name == name && (level.is_here)());
            if let Some(place) = place
                && best.as_ref().is_none_or(|(other, ..)| *other < place)
            {
                best = Some((place, keys, library, checksum));
            }
        }
        let (_, keys, library, checksum) = best?;
        let places = keys.into_iter().enumerate().map(|(place, key)| (key, place)).collect();
        Some(Catalogue { places, path, library: library.to_owned(), checksum, entries: OnceLock::new() })
    }

    /// The entry of a kernel. A library that is damaged has none.
    fn entry(&self, key: Fnv128) -> Option<Entry> {
        let place = *self.places.get(&key)?;
        let entries = self.entries.get_or_init(|| {
            let is_whole = Fnv128::of(&self.library).to_string() == self.checksum;
            let file = LibraryFile { path: self.path.clone(), bytes: self.library.clone() };
            if is_whole { load(&file, self.places.len()).ok() } else { None }
        });
        entries.as_ref()?.get(place).copied()
    }
}

impl NativeKernel {
    /// A kernel of the catalogue, where there is no compiler for this reason.
    pub(in crate::execute) fn of_catalogue(kernel: &Kernel, missing: &NativeError) -> Option<Self> {
        let start = Instant::now();
        let catalogue = CATALOGUE.as_ref()?;
        let entry = catalogue.entry(Nameless::of(kernel)?.key)?;
        let missing = Some(Arc::from(missing.to_string()));
        let signature = Signature::of(kernel);
        Some(Self { signature, entry, compile_time: start.elapsed(), tier: Tier::Catalogue, missing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(level: &str, keys: &[&str], library: &[u8]) -> Vec<u8> {
        let checksum = Fnv128::of(library);
        let head = format!("{HEAD}\n{level} {} {} {checksum}\n{}\n\n", keys.len(), library.len(), keys.join("\n"));
        [head.as_bytes(), library].concat()
    }

    #[test]
    fn what_is_no_catalogue_is_none() {
        let read = |bytes: &[u8]| Catalogue::read("file".into(), bytes);
        let level = LEVELS.iter().rfind(|level| (level.is_here)()).map_or("none", |level| level.name);
        let whole = file(level, &["0a", "1b"], b"library");
        assert_eq!(read(&whole).map(|found| found.places.len()), Some(2));
        assert!(read(&file("of another machine", &["0a"], b"library")).is_none());
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_none(), "{length}");
        }
        let damaged = Catalogue { checksum: "0".to_owned(), ..read(&whole).unwrap() };
        assert!(damaged.entry(Fnv128::parse("0a").unwrap()).is_none());
    }
}
