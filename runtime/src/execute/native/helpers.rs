//! What all kernels use: compiled once, kept beside them, and linked to each library of kernels.
//!
//! To read and check these 200 KB takes rustc longer than a kernel does. Functions with type parameters, and those that are inlined,
//! are still compiled into each library, as a caller needs them.

use super::rustc::{NativeBuild, Rustc};
use super::{NativeError, host, text, write};
use crate::execute::cache::{Cache, Part, Workshop};
use crate::execute::hash::Fnv128;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The helpers, as a compiler makes them.
pub(super) struct Helpers<'a> {
    rustc: &'a Rustc,
    pub(super) build: NativeBuild,
    /// The text, the compiler, its flags and the processor that it compiles for.
    pub(super) key: Fnv128,
}

impl<'a> Helpers<'a> {
    pub(super) fn of(rustc: &'a Rustc, build: NativeBuild) -> Self {
        let mut key = Self::key_without_compiler(build);
        key.write(rustc.version.as_bytes());
        Self { rustc, build, key }
    }

    /// The text, the flags of a compiler and the processor.
    pub(super) fn key_without_compiler(build: NativeBuild) -> Fnv128 {
        let mut key = Fnv128::of(text::helpers().as_bytes());
        build.flags().chain(build.tuning()).for_each(|flag| key.write(flag.as_bytes()));
        key.write(host::processor().as_bytes());
        key
    }

    /// The file in the cache, where it is there and undamaged.
    pub(super) fn kept(&self, cache: &Cache) -> Option<PathBuf> {
        // What was whole once is not read again by this process.
        static WHOLE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
        let whole = || WHOLE.lock().unwrap_or_else(PoisonError::into_inner);
        let place = cache.home(Part::Helpers, self.key)?;
        if whole().contains(&place) && place.is_file() {
            return Some(place);
        }
        let kept = cache.library(Part::Helpers, self.key)?.path;
        whole().insert(place);
        Some(kept)
    }

    /// Keeps what was compiled in a folder, and proved good by a library that loads. That it can't be kept is no fault.
    pub(super) fn keep(&self, cache: &Cache, workshop: &Workshop) {
        if let Ok(library) = workshop.compiled(Part::Helpers) {
            cache.keep(Part::Helpers, self.key, workshop, &library);
        }
    }

    /// Compiles them in a folder.
    pub(super) fn compile(&self, workshop: &Workshop) -> Result<(), NativeError> {
        write(workshop.source(Part::Helpers), text::helpers())?;
        self.rustc.compile(workshop, Part::Helpers, None, self.build)
    }
}
