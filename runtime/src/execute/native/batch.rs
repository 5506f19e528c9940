//! Many programs at once: to start the compiler and to read the helpers takes as long as some kernels.

use super::helpers::Helpers;
use super::rustc::Rustc;
use super::{Found, NativeBuild, NativeError, NativeKernel, check, entries, key, loaded, text};
use crate::execute::array::Signature;
use crate::execute::cache::{Cache, Part};
use crate::execute::hash::Fnv128;
use crate::execute::tier::Tier;
use spc_compiler::ir::Kernel;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::thread;
use std::time::{Duration, Instant};

/// A second compiler is started for so many kernels.
const FEW: usize = 6;

/// A kernel by itself.
struct Single<'a> {
    text: &'a str,
    signature: Signature,
    key: Fnv128,
}

/// As [`NativeKernel::compile_many`].
pub(super) fn compile_many(
    cache: &Cache,
    programs: &[Vec<(&str, &Kernel)>],
    build: NativeBuild,
) -> Vec<Result<Vec<NativeKernel>, NativeError>> {
    let start = Instant::now();
    let known = prepare(cache, programs, build);
    let count = programs.iter().map(Vec::len).sum::<usize>().max(1);
    let share = start.elapsed() / u32::try_from(count).unwrap_or(u32::MAX);
    programs
        .iter()
        .map(|program| {
            let found = known.as_ref().and_then(|known| of_program(known, program, share));
            found.map_or_else(|| NativeKernel::compile_all_in(cache, program, build), Ok)
        })
        .collect()
}

/// The kernels of a program, if all have been compiled.
fn of_program(known: &Known<'_>, program: &[(&str, &Kernel)], share: Duration) -> Option<Vec<NativeKernel>> {
    let loaded = loaded();
    let kernel = |(text, kernel): &(&str, &Kernel)| {
        let signature = Signature::of(kernel);
        let single = known.of(text, &signature)?;
        let entry = *loaded.get(&single.key)?.first()?;
        let tier = if known.made.contains(&single.key) { Tier::Rustc } else { Tier::Cached };
        Some(NativeKernel { signature, entry, compile_time: share, tier, missing: None })
    };
    program.iter().map(kernel).collect()
}

/// Kernels by their texts.
struct Known<'a> {
    singles: BTreeMap<&'a str, Vec<Single<'a>>>,
    /// Those that were compiled now.
    made: Vec<Fnv128>,
}

impl Known<'_> {
    fn of(&self, text: &str, signature: &Signature) -> Option<&Single<'_>> {
        self.singles.get(text)?.iter().find(|single| single.signature == *signature)
    }
}

/// Compiles what is not there yet. What fails is left to be compiled by itself, which says why.
fn prepare<'a>(cache: &Cache, programs: &[Vec<(&'a str, &Kernel)>], build: NativeBuild) -> Option<Known<'a>> {
    let rustc = Rustc::find(cache, &|name| std::env::var_os(name)).ok()?;
    let helpers = Helpers::of(&rustc, build);
    let mut known = Known { singles: BTreeMap::new(), made: Vec::new() };
    for (text, kernel) in programs.iter().flatten().filter(|(_, kernel)| check(kernel).is_ok()) {
        let signature = Signature::of(kernel);
        if known.of(text, &signature).is_none() {
            let key = key(helpers.key, &text::library(&[(text, signature.clone())]));
            known.singles.entry(text).or_default().push(Single { text, signature, key });
        }
    }
    let missing: Vec<&Single<'_>> =
        known.singles.values().flatten().filter(|single| !is_there(cache, single)).collect();
    // Who compiles the helpers is alone.
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let batches = match helpers.kept(cache) {
        None => 1,
        Some(_) => processors.min(missing.len().div_ceil(FEW)).max(1),
    };
    let done: Vec<Fnv128> = thread::scope(|scope| {
        let batches = missing.chunks(missing.len().div_ceil(batches).max(1));
        let workers: Vec<_> = batches.map(|batch| scope.spawn(|| compile(cache, batch, build))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    known.made = done;
    Some(known)
}

/// Whether a kernel has been compiled by itself or in a batch of this process, or is in the cache.
fn is_there(cache: &Cache, single: &Single<'_>) -> bool {
    loaded().contains_key(&single.key) || cache.library(Part::Kernels, single.key).is_some()
}

/// Compiles a batch, and notes each of its kernels as one that was compiled by itself; gives those.
fn compile(cache: &Cache, batch: &[&Single<'_>], build: NativeBuild) -> Vec<Fnv128> {
    let kernels: Vec<(&str, Signature)> = batch.iter().map(|single| (single.text, single.signature.clone())).collect();
    let Ok(Found { entries, .. }) = entries(cache, &text::library(&kernels), build) else { return Vec::new() };
    let mut loaded = loaded();
    for (single, entry) in batch.iter().zip(entries) {
        loaded.insert(single.key, vec![entry]);
    }
    batch.iter().map(|single| single.key).collect()
}
