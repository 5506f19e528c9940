//! A text with a line for each entry, whose first lines are known: what they state, and how the others are to be read.

use super::contents::Loaded;
use super::entries::{Entries, Layout};
use super::kind::{Asked, Text};
use super::value::Carrier;
use super::{ReadError, entries, mtx, source, tns};
use crate::with_element;

/// A text that is read in blocks of lines, or in parts.
pub(super) enum TextHead<C> {
    Tns(tns::Start<C>),
    Mtx(mtx::Begun<C>),
}

impl<C: Carrier> TextHead<C> {
    /// What its first lines say, up to one of an entry; and a shape that the caller states.
    pub(super) fn new(kind: Text, head: &[u8], asked: &Asked<'_>) -> Result<Self, ReadError> {
        Ok(match kind {
            Text::Mtx => TextHead::Mtx(mtx::Begun::new(head, asked.element)?),
            Text::Tns => TextHead::Tns(tns::start(head, asked, entries::chunk_bytes(head))?),
        })
    }

    pub(super) fn layout(&self) -> &Layout {
        match self {
            TextHead::Tns(start) => &start.layout,
            TextHead::Mtx(begun) => &begun.layout,
        }
    }

    /// Where the first line of an entry may begin.
    pub(super) fn body(&self) -> usize {
        match self {
            TextHead::Tns(start) => start.begin,
            TextHead::Mtx(begun) => begun.body(),
        }
    }

    /// As the text or the caller states it.
    pub(super) fn shape(&self) -> Option<&[usize]> {
        match self {
            TextHead::Tns(start) => start.shape.as_deref(),
            TextHead::Mtx(begun) => Some(begun.shape()),
        }
    }

    pub(super) fn fill(&self) -> Option<C> {
        match self {
            TextHead::Tns(start) => start.fill,
            TextHead::Mtx(begun) => begun.fill,
        }
    }

    /// How many entries there are, where the text states it.
    #[cfg(feature = "compile")]
    pub(super) fn stated(&self) -> Option<u64> {
        match self {
            TextHead::Tns(start) => start.count.stated,
            TextHead::Mtx(begun) => Some(begun.stated() as u64),
        }
    }

    /// Entries of the text as they were parsed from a place on.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn checked(&mut self, text: &[u8], start: usize, mut read: Entries<C>) -> Result<Entries<C>, ReadError> {
        match self {
            TextHead::Tns(tns) => {
                tns.count.add(text, start, read.values.len())?;
                match read.fault.take() {
                    Some(fault) => Err(fault.in_text(text)),
                    None => Ok(read),
                }
            }
            TextHead::Mtx(begun) => begun.entries(text, start, read),
        }
    }

    /// So many entries have come.
    #[cfg(feature = "compile")]
    pub(super) fn have_come(&mut self, count: usize) {
        match self {
            TextHead::Tns(start) => start.count.found = count as u64,
            TextHead::Mtx(begun) => begun.have_come(count),
        }
    }

    /// Whether all have come that the text states.
    pub(super) fn finish(&self) -> Result<(), ReadError> {
        match self {
            TextHead::Tns(start) => start.count.finish(),
            TextHead::Mtx(begun) => begun.finish(),
        }
    }
}

/// Reads text that is decompressed on one thread and parsed on the others. None where anything is wrong, which is found again, with its
/// place, in the whole text.
pub(super) fn read_compressed(text: Text, bytes: &[u8], asked: &Asked<'_>) -> Option<Loaded> {
    let mut lines = source::decompressed_lines(bytes);
    with_element!(asked.element, |T| match text {
        Text::Tns => tns::read_blocks::<T>(&mut lines, asked, entries::BLOCK),
        Text::Mtx => mtx::read_blocks::<T>(&mut lines, asked, entries::BLOCK),
    })
}
