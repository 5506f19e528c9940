//! What is known of the sizes of a kernel's tensors.

use std::collections::BTreeMap;

/// A set of modes, a bit each: bit 0 is the first mode.
pub type Modes = u32;

/// What is known when a plan is made. Nothing need be: an empty set of facts is what a macro without hints has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Extents of index variables by name, where they are stated.
    pub extents: BTreeMap<String, u64>,
    /// Tensors by name.
    pub tensors: BTreeMap<String, TensorFacts>,
    /// The bytes that temporaries may take together, where that is limited.
    pub memory: Option<u64>,
    /// The threads that loops run on.
    pub threads: usize,
    /// How often the kernel is expected to be called with inputs of one pattern: what is paid once, as a sorted copy, is spread over
    /// so many calls.
    pub calls: f64,
}

/// What is known of a tensor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TensorFacts {
    /// The extent of each mode; empty where none is known.
    pub shape: Vec<Option<u64>>,
    /// Stored entries, where they are known.
    pub entries: Option<Known>,
    /// Distinct coordinates of a set of modes. Those of all prefixes of the order of storage cost nothing to know.
    pub distinct: BTreeMap<Modes, Known>,
    /// How entries spread over the coordinates of a set of modes.
    pub degrees: BTreeMap<Modes, Degrees>,
    /// The orders of modes in which the tensor is stored or a copy is kept.
    pub orders: Vec<Vec<usize>>,
}

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// What it is taken to be.
    pub estimate: f64,
    /// What it is at most.
    pub bound: f64,
    /// Where it comes from.
    pub source: Source,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It was counted, or estimated from the data.
    Measured,
    /// The text says so.
    Hint,
    /// It was assumed.
    Assumed,
}

/// Entries under one coordinate of a set of modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degrees {
    /// The mean over coordinates that have entries.
    pub mean: f64,
    /// The most.
    pub largest: f64,
    /// The root of the sum of the squares, over all coordinates: with it the join of two tensors over the modes is bounded.
    pub norm: f64,
}

impl Known {
    /// A figure that was counted.
    pub fn measured(count: f64) -> Self {
        Self { estimate: count, bound: count, source: Source::Measured }
    }
}
