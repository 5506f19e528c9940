//! Arrays of compressed rows or columns, as several kinds of file have them.

use super::{ReadError, ReadErrorKind};
use crate::memory;
use crate::tensor::Indices;

/// The row of each entry, where `pointers` say at which entry each row begins and the last one ends. There may be more than that many entries, up to
/// `most`. Messages call the pointers by `name`.
///
/// # Errors
///
/// When they do not ascend from 0, or are not one more than the rows.
pub(super) fn expanded(name: &str, pointers: &[u64], rows: usize, most: usize) -> Result<Vec<u64>, ReadError> {
    let wrong = |what: &str| ReadError::new(ReadErrorKind::Corrupt, format!("{name} {what}"));
    if Some(pointers.len()) != rows.checked_add(1) {
        return Err(wrong(&format!("has {} numbers for {rows} rows", pointers.len())));
    }
    if pointers[0] != 0 || !pointers.is_sorted() {
        return Err(wrong("does not ascend from 0"));
    }
    let count = pointers[rows];
    if count > most as u64 {
        return Err(wrong(&format!("ends at {count}, and there are {most} entries")));
    }
    let mut expanded = memory::try_room(count as usize)?;
    for (row, ends) in pointers.windows(2).enumerate() {
        expanded.extend((ends[0]..ends[1]).map(|_| row as u64));
    }
    Ok(expanded)
}

/// The indices of a mode, from 0, in as few bits as its extent takes.
///
/// # Errors
///
/// When one is beyond the extent.
pub(super) fn within(indices: Vec<u64>, mode: usize, extent: usize) -> Result<Indices, ReadError> {
    if let Some(beyond) = indices.iter().find(|&&index| index >= extent as u64) {
        let message = format!("index {beyond} of mode {}, from 0, is beyond its extent {extent}", mode + 1);
        return Err(ReadError::new(ReadErrorKind::Corrupt, message));
    }
    Ok(match extent as u64 <= 1 << 32 {
        true => Indices::U32(memory::try_collected(indices.iter().map(|&index| index as u32))?),
        false => Indices::U64(indices),
    })
}
