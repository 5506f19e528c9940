//! Copies in other formats that are kept with a tensor.
//!
//! A kernel whose loops can't read an operand as it is stored reads a copy, and an iteration calls it with the same tensor again and
//! again. A copy that is asked for a second time is kept with the tensor and its clones, as long as their values are not changed:
//!
//! ```text
//! call      1            2            3, 4, …
//! copy      made         made, kept   found
//! ```
//!
//! So who calls once has no more in memory than before. Of borrowed arrays, and those that belong to somebody else, no copy is kept: they
//! may be changed elsewhere.

use spc_compiler::format::Format;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// So many formats are remembered, and their copies kept, of one tensor.
const MOST: usize = 3;

/// What is kept with a tensor `T`, and shared by its clones. Tensors are equal whatever is kept.
#[derive(Clone)]
pub(super) struct Kept<T>(Arc<Mutex<Vec<Asked<T>>>>);

/// A format that a copy was asked for in.
struct Asked<T> {
    format: Format,
    /// The copy, if that was not the only time.
    copy: Option<T>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept(Arc::default())
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, _: &Kept<T>) -> bool {
        true
    }
}

impl<T> fmt::Debug for Kept<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} formats", self.lock().len())
    }
}

impl<T> Kept<T> {
    /// The list is complete whenever somebody panics.
    fn lock(&self) -> MutexGuard<'_, Vec<Asked<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The formats that are remembered.
    #[cfg(test)]
    pub(super) fn formats(&self) -> Vec<Format> {
        self.lock().iter().map(|asked| asked.format.clone()).collect()
    }
}

impl<T: Clone> Kept<T> {
    pub(super) fn find(&self, format: &Format) -> Option<T> {
        self.lock().iter().find(|asked| asked.format == *format)?.copy.clone()
    }

    /// Notes that a copy was made, and keeps it if it is not the first one.
    pub(super) fn note(&self, format: &Format, copy: &T) {
        let mut all = self.lock();
        match all.iter_mut().find(|asked| asked.format == *format) {
            Some(asked) => asked.copy = Some(copy.clone()),
            None => {
                if all.len() == MOST {
                    all.remove(0);
                }
                all.push(Asked { format: format.clone(), copy: None });
            }
        }
    }

    /// For a tensor whose values are about to change: its clones keep theirs.
    pub(super) fn forget(&mut self) {
        if !self.lock().is_empty() {
            *self = Kept::default();
        }
    }
}
