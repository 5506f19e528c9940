//! What a strategy is, and why one does not fit a loop.

use crate::gpu::{Builder, Refusal};
use crate::ir::{Parallel, Statement, expand};
use std::fmt;

/// A parallel loop that is to be mapped.
pub(super) struct Loop {
    /// As it was lowered.
    pub merged: Parallel,
    /// With its merges as loops.
    pub parallel: Parallel,
    /// The same, or the loop over its children where it does nothing but run through them.
    pub places: Parallel,
}

impl Loop {
    pub(super) fn new(builder: &mut Builder, parallel: &Parallel) -> Self {
        let merged = parallel.clone();
        let mut parallel = merged.clone();
        let mut next = Some(&mut parallel);
        while let Some(node) = next {
            expand(&mut builder.module.kernel, &mut node.body, &|_, _| false);
            next = node.uneven.as_deref_mut();
        }
        let places = super::children::descended(builder, &parallel).unwrap_or_else(|| parallel.clone());
        Self { merged, parallel, places }
    }

    /// Whether its places are all there is to it: no runs of equal coordinates, and no variables that it reduces into.
    pub(super) fn check_plain(&self) -> Result<(), Refused> {
        match (self.places.aligned, self.places.reductions.is_empty()) {
            (Some(_), _) => Err(Refused::Runs),
            (None, false) => Err(Refused::Reduces),
            (None, true) => Ok(()),
        }
    }

    /// Says which strategy maps it, and why those before do not.
    pub(super) fn decide(&self, builder: &mut Builder, name: &str, refused: &[(&str, Refused)]) {
        let counter = self.parallel.body.iter().find_map(|statement| match statement {
            Statement::For { variable, .. } => Some(builder.module.kernel.variable(*variable).name.clone()),
            _ => None,
        });
        let of = counter.map_or("a parallel loop".to_owned(), |counter| format!("the parallel loop over {counter}"));
        let reasons: Vec<String> = refused.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
        let why = if reasons.is_empty() { "it is the first strategy".to_owned() } else { reasons.join("; ") };
        builder.decide(format!("{of} is mapped by {name}"), &why);
    }
}

/// Makes the launches of a loop that a strategy fits.
pub(super) type Emit<'a> = Box<dyn FnOnce(&mut Builder) -> Result<(), Refusal> + 'a>;

/// A way to map a parallel loop.
pub(super) trait Strategy: Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Whether it fits a loop: then what emits the loop's launches.
    ///
    /// # Errors
    /// Why it does not.
    fn fits<'a>(&self, builder: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused>;
}

/// Why a strategy does not fit a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// No update has to come in a known order, or updates are none that can be written down for each entry.
    NoTermsInOrder,
    /// No keys are collected.
    NoKeys,
    /// Nothing is appended.
    NothingAppended,
    /// No lists of entries are merged at a place.
    NoMerge,
    /// What is merged are other lists than the entries of a place, or what is done with them is more than to append.
    OtherMerge,
    /// There is no partition of entries.
    NoEntries,
    /// It reduces into variables.
    Reduces,
    /// Runs of equal coordinates are one place.
    Runs,
    /// No result has segments that ascend with places.
    NoSegments,
    /// Sums of segments are short: neither rows nor in a known order.
    ShortSegments,
    /// A segment has more than one element.
    LongSegments,
    /// Rounded sums have to come in a known order.
    InOrder,
    /// A place does more than add once.
    AddsMore,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTermsInOrder => "no sum of one term an entry has to come in a known order",
            Self::NoKeys => "no keys are collected",
            Self::NothingAppended => "nothing is appended",
            Self::NoMerge => "a place merges no lists",
            Self::OtherMerge => "what a place merges are not just its entries, or it does more than append",
            Self::NoEntries => "there is no partition of entries",
            Self::Reduces => "the loop reduces into variables",
            Self::Runs => "runs of equal coordinates are one place",
            Self::NoSegments => "no result has segments that ascend with places",
            Self::ShortSegments => "segments are no rows, and their sums need no order",
            Self::LongSegments => "a segment has several elements",
            Self::InOrder => "rounded sums have to come in a known order",
            Self::AddsMore => "a place does more than add to one element once",
        })
    }
}
