//! What was found out of patterns, remembered as long as their index arrays are there.
//!
//! Clones and tensors of one pattern share index arrays, so what was found for one is found again for all, whatever their values:
//!
//! ```text
//! A, and B = 2 A            one pattern: fibers, figures are found once
//! C, packed from a file     another one, also where it has the same entries
//! ```

use super::{AnyTensor, IndexArray, LevelArrays};
use spc_compiler::format::Format;
use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

/// So many patterns are remembered.
const MOST: usize = 64;

/// A pattern, by the identity of its index arrays.
#[derive(Clone)]
pub(crate) struct Pattern {
    arrays: Vec<Weak<dyn Any + Send + Sync>>,
    shape: Vec<usize>,
    format: Format,
}

impl Pattern {
    /// The pattern of the first levels of a tensor.
    pub(crate) fn of(tensor: &AnyTensor, levels: usize) -> Self {
        let arrays = tensor.levels[..levels].iter().flat_map(LevelArrays::iter).map(IndexArray::identity);
        Self { arrays: arrays.collect(), shape: tensor.shape.clone(), format: tensor.format.clone() }
    }

    /// Whether there is an array to know it by.
    fn is_known(&self) -> bool {
        !self.arrays.is_empty()
    }

    fn is_gone(&self) -> bool {
        self.arrays.iter().any(|array| array.strong_count() == 0)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        let same = self.arrays.len() == other.arrays.len()
            && self.arrays.iter().zip(&other.arrays).all(|(own, its)| own.ptr_eq(its));
        same && self.shape == other.shape && self.format == other.format
    }
}

/// What is remembered of patterns.
pub(crate) struct Patterns<T>(Mutex<Vec<(Pattern, T)>>);

impl<T: Clone> Patterns<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The list is complete at any panic.
    fn lock(&self) -> MutexGuard<'_, Vec<(Pattern, T)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is remembered of a pattern and is as wanted.
    pub(crate) fn find(&self, pattern: &Pattern, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
        let all = self.lock();
        all.iter().find(|(known, what)| known == pattern && is_wanted(what)).map(|(_, what)| what.clone())
    }

    /// Remembers something of a pattern, in place of what it replaces. The oldest is forgotten where there is too much.
    pub(crate) fn keep(&self, pattern: Pattern, what: T, is_replaced: impl Fn(&T) -> bool) {
        if !pattern.is_known() {
            return;
        }
        let mut all = self.lock();
        all.retain(|(known, old)| !(known.is_gone() || *known == pattern && is_replaced(old)));
        if all.len() == MOST {
            all.remove(0);
        }
        all.push((pattern, what));
    }
}
