//! Entries as a list: what readers and generators produce, and what packing starts from.

/// The indices of one mode, from 0, an entry each; 32 bits wide unless one needs more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indices {
    /// All below 2^32.
    U32(Vec<u32>),
    /// Wider.
    U64(Vec<u64>),
}

impl Indices {
    /// That of an entry.
    pub(crate) fn at(&self, entry: usize) -> u64 {
        match self {
            Indices::U32(indices) => indices[entry].into(),
            Indices::U64(indices) => indices[entry],
        }
    }

    /// Those of some entries.
    #[cfg(feature = "decompose")]
    pub(crate) fn chosen(&self, entries: &[usize]) -> Self {
        match self {
            Indices::U32(indices) => Indices::U32(entries.iter().map(|&entry| indices[entry]).collect()),
            Indices::U64(indices) => Indices::U64(entries.iter().map(|&entry| indices[entry]).collect()),
        }
    }

    /// The vector of those that are 32 bits wide.
    pub(crate) fn into_u32(self) -> Option<Vec<u32>> {
        match self {
            Indices::U32(indices) => Some(indices),
            Indices::U64(_) => None,
        }
    }
}

/// Entries of a tensor in any order: index `indices[mode][entry]`, value `values[entry]`.
///
/// Every mode has as many indices as there are values. An entry may occur more than once; packing says what that means.
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinates<T> {
    /// The extent of each mode. For a file that does not state its shape, the largest index plus one.
    pub shape: Vec<usize>,
    /// Whether the source states the shape, rather than it being the least that holds the indices.
    pub shape_is_stated: bool,
    /// The indices of each mode.
    pub indices: Vec<Indices>,
    /// The values.
    pub values: Vec<T>,
}
