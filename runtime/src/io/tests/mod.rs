//! Tests that go through several of the files here.

mod bad_files;
mod bits;
mod chunks;
mod elements;
mod files;
mod good_files;
mod large;
mod round_trip;
mod shared_data;

use crate::tensor::{Coordinates, Indices};

/// Indices of 32 bits.
fn narrow(indices: &[u32]) -> Indices {
    Indices::U32(indices.to_vec())
}

/// The index, from 0, of each entry.
fn rows<T>(entries: &Coordinates<T>) -> Vec<Vec<u64>> {
    let index = |mode: &Indices, entry: usize| match mode {
        Indices::U32(indices) => u64::from(indices[entry]),
        Indices::U64(indices) => indices[entry],
    };
    (0..entries.values.len()).map(|entry| entries.indices.iter().map(|mode| index(mode, entry)).collect()).collect()
}
