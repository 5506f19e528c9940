//! Small helpers on [`Indices`].

use crate::tensor::Indices;

/// The indices of a mode of `extent`, as narrow as it allows.
pub(crate) fn from_usize(extent: usize, indices: impl Iterator<Item = usize>) -> Indices {
    if u64::try_from(extent).is_ok_and(|extent| extent <= 1 << 32) {
        Indices::U32(indices.map(|index| index as u32).collect())
    } else {
        Indices::U64(indices.map(|index| index as u64).collect())
    }
}

/// Keeps the indices of the entries that are `kept`.
pub(crate) fn retain(indices: &mut Indices, kept: &[bool]) {
    let mut flags = kept.iter();
    match indices {
        Indices::U32(indices) => indices.retain(|_| flags.next() == Some(&true)),
        Indices::U64(indices) => indices.retain(|_| flags.next() == Some(&true)),
    }
}
