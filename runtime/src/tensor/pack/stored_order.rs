//! In which order a format stores entries.

use super::super::Indices;
use super::super::layout::Layout;
use super::key::{Fields, Key, Wide};
use super::sorted::Source;
use super::{PackError, check_indices};
use crate::memory;
use spc_compiler::format::Format;

/// Entries in the order in which a format stores them, by keys that are bytes: they compare as entries are stored.
#[derive(Debug, Default)]
pub(crate) struct StoredOrder {
    /// The number of each entry.
    entries: Vec<u32>,
    keys: Vec<u8>,
    width: usize,
}

impl StoredOrder {
    /// Entries of equal coordinates keep their order.
    ///
    /// # Errors
    /// When an index is beyond the shape, the tensor has too many large modes, there are more than 2^32 entries, or not enough memory.
    pub(crate) fn of(format: &Format, shape: &[usize], indices: &[Indices], count: usize) -> Result<Self, PackError> {
        let layout = Layout::new(format, shape).map_err(PackError::from)?;
        check_indices(&layout.shape, indices, count)?;
        let fields = Fields::of_layout(&layout);
        let source = Source { indices, layout: &layout, fields: &fields };
        match fields.bits {
            0..=64 => sorted::<u64>(&source, count),
            65..=128 => sorted::<u128>(&source, count),
            129..=Wide::BITS => sorted::<Wide>(&source, count),
            bits => Err(PackError::TooWide { bits }),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The bytes of a key.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The number of the entry at a place.
    pub(crate) fn entry(&self, place: usize) -> usize {
        self.entries[place] as usize
    }

    /// The key of the entry at a place.
    pub(crate) fn key(&self, place: usize) -> &[u8] {
        &self.keys[place * self.width..][..self.width]
    }
}

fn sorted<K: Key>(source: &Source<'_>, count: usize) -> Result<StoredOrder, PackError> {
    let (keys, _) = source.keys::<K>(count)?;
    let last = u32::try_from(count).map_err(|_| PackError::TooLarge { level: 0, count })?;
    let mut entries: Vec<u32> = memory::try_collected(0..last)?;
    entries.sort_by_key(|&entry| keys[entry as usize]);
    let width = size_of::<K>();
    let mut bytes = memory::try_room(count * width)?;
    for &entry in &entries {
        let words = (0..width as u32 / 8).rev().map(|word| keys[entry as usize].bits_from(64 * word));
        words.for_each(|word| bytes.extend_from_slice(&word.to_be_bytes()));
    }
    Ok(StoredOrder { entries, keys: bytes, width })
}
