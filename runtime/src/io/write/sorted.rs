//! The order of entries by index.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::index;
use crate::memory;
use crate::tensor::{Coordinates, OutOfMemory};

/// The entries in ascending order of their indices, first mode first; `None` if they already stand so. Entries of equal
/// index keep their order.
pub(in crate::io) fn order<T: Sync>(entries: &Coordinates<T>) -> Result<Option<Vec<usize>>, OutOfMemory> {
    let count = entries.values.len();
    let ascends = |entry: usize| compare(entries, entry - 1, entry) != Ordering::Greater;
    if (1..count).into_par_iter().all(ascends) {
        return Ok(None);
    }
    let bits: Vec<u32> = entries.shape.iter().map(|&extent| usize::BITS - extent.leading_zeros()).collect();
    let order = match bits.iter().sum() {
        0..=64 => by_key(count, |entry| key(entries, &bits, entry) as u64)?,
        65..=128 => by_key(count, |entry| key(entries, &bits, entry))?,
        _ => {
            let mut order: Vec<usize> = memory::try_collected(0..count)?;
            order.par_sort_by(|&a, &b| compare(entries, a, b));
            order
        }
    };
    Ok(Some(order))
}

fn compare<T>(entries: &Coordinates<T>, a: usize, b: usize) -> Ordering {
    let of_modes = entries.indices.iter().map(|mode| index(mode, a).cmp(&index(mode, b)));
    of_modes.fold(Ordering::Equal, Ordering::then)
}

/// All indices of an entry in one number, the first mode in its highest bits.
fn key<T>(entries: &Coordinates<T>, bits: &[u32], entry: usize) -> u128 {
    let modes = entries.indices.iter().zip(bits);
    modes.fold(0, |key, (mode, bits)| key << bits | u128::from(index(mode, entry)))
}

fn by_key<K: Ord + Send>(count: usize, key: impl Fn(usize) -> K + Sync) -> Result<Vec<usize>, OutOfMemory> {
    let mut keyed: Vec<(K, usize)> = memory::try_room(count)?;
    (0..count).into_par_iter().map(|entry| (key(entry), entry)).collect_into_vec(&mut keyed);
    keyed.par_sort_unstable();
    memory::try_collected(keyed.into_iter().map(|(_, entry)| entry))
}
