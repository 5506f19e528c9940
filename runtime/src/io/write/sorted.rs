//! The order of entries by index.

use std::cmp::Ordering;

use rayon::slice::ParallelSliceMut;

use crate::memory;
use crate::tensor::{Indices, OutOfMemory, tasks};

/// How many entries a task looks at.
const GRAIN: usize = 1 << 16;

/// So many entries in ascending order of their indices, first mode first; `None` if they already stand so. Entries of equal
/// index keep their order.
pub(in crate::io) fn order(
    shape: &[usize],
    indices: &[Indices],
    count: usize,
) -> Result<Option<Vec<usize>>, OutOfMemory> {
    let descends = |entry: usize| compare(indices, entry, entry + 1) == Ordering::Greater;
    let pairs = tasks::ranges(count.saturating_sub(1), GRAIN);
    if tasks::first(&pairs, &|mut pairs| pairs.any(descends).then_some(())).is_none() {
        return Ok(None);
    }
    let bits: Vec<u32> = shape.iter().map(|&extent| usize::BITS - extent.leading_zeros()).collect();
    let order = match bits.iter().sum() {
        0..=64 => by_key(count, |entry| key(indices, &bits, entry) as u64)?,
        65..=128 => by_key(count, |entry| key(indices, &bits, entry))?,
        _ => {
            let mut order: Vec<usize> = memory::try_collected(0..count)?;
            order.par_sort_by(|&a, &b| compare(indices, a, b));
            order
        }
    };
    Ok(Some(order))
}

fn compare(indices: &[Indices], a: usize, b: usize) -> Ordering {
    let of_modes = indices.iter().map(|mode| mode.at(a).cmp(&mode.at(b)));
    of_modes.fold(Ordering::Equal, Ordering::then)
}

/// All indices of an entry in one number, the first mode in its highest bits.
fn key(indices: &[Indices], bits: &[u32], entry: usize) -> u128 {
    let modes = indices.iter().zip(bits);
    modes.fold(0, |key, (mode, bits)| key << bits | u128::from(mode.at(entry)))
}

fn by_key<K: Copy + Default + Ord + Send>(
    count: usize,
    key: impl Fn(usize) -> K + Sync,
) -> Result<Vec<usize>, OutOfMemory> {
    let mut keyed: Vec<(K, usize)> = memory::try_room(count)?;
    keyed.resize(count, Default::default());
    tasks::each(keyed.chunks_mut(GRAIN).collect(), &|task, part: &mut [(K, usize)]| {
        part.iter_mut().zip(task * GRAIN..).for_each(|(place, entry)| *place = (key(entry), entry));
    });
    keyed.par_sort_unstable();
    memory::try_collected(keyed.into_iter().map(|(_, entry)| entry))
}
