//! One thread's part of a text.

use super::cursor::{Cursor, exponential};
use super::explain;
use super::number::number;
use super::{Fault, Layout, Values};
use crate::io::value::{Carrier, Refusal};
use crate::memory;
use crate::tensor::{Indices, OutOfMemory};

/// The entries of a chunk, up to its first fault if it has one.
#[derive(Debug)]
pub(super) struct Chunk<T> {
    pub(super) modes: Vec<Mode>,
    pub(super) values: Vec<T>,
    pub(super) fault: Option<Fault>,
    /// How many entries there is memory for.
    room: usize,
    /// There was not enough memory for another one.
    short: Option<OutOfMemory>,
}

/// The indices of one mode.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) indices: Indices,
    /// The largest of them, from 1; 0 where there is none.
    pub(super) largest: u64,
    limit: u64,
}

impl<T: Carrier> Chunk<T> {
    pub(super) fn empty(layout: &Layout) -> Self {
        let mode = |&limit| Mode { indices: Indices::U32(Vec::new()), largest: 0, limit };
        let modes = layout.limits.iter().map(mode).collect();
        Self { modes, values: Vec::new(), fault: None, room: 0, short: None }
    }

    /// Reads the lines from byte `start` to the end of `text`.
    pub(super) fn parse(text: &[u8], start: usize, layout: &Layout) -> Result<Self, OutOfMemory> {
        let mut chunk = Self::empty(layout);
        chunk.grow(likely_entries(&text[start..], layout.limits.len()))?;
        let mut cursor = Cursor::new(text, start);
        while cursor.find_entry(layout.comment) {
            if chunk.values.len() == chunk.room {
                chunk.grow(chunk.room / 2 + 16)?;
            }
            let line = cursor.clone();
            if chunk.entry(&mut cursor, layout).is_none() {
                if let Some(short) = chunk.short {
                    return Err(short);
                }
                let entries = chunk.values.len();
                chunk.modes.iter_mut().for_each(|mode| mode.truncate(entries));
                chunk.fault = Some(explain::fault::<T>(line, layout));
                break;
            }
        }
        Ok(chunk)
    }

    /// Memory for so many entries more.
    #[cold]
    fn grow(&mut self, more: usize) -> Result<(), OutOfMemory> {
        for mode in &mut self.modes {
            match &mut mode.indices {
                Indices::U32(indices) => memory::try_reserve(indices, more)?,
                Indices::U64(indices) => memory::try_reserve(indices, more)?,
            }
        }
        memory::try_reserve(&mut self.values, more)?;
        self.room += more;
        Ok(())
    }

    /// Reads one line; `None` if anything is wrong with it, and then some modes may already have its index.
    #[inline(always)]
    fn entry(&mut self, cursor: &mut Cursor<'_>, layout: &Layout) -> Option<()> {
        let shift = layout.base.shift();
        for mode in &mut self.modes {
            let begin = cursor.clone();
            let index = match cursor.natural() {
                Some(index) if cursor.at_field_end() => index,
                _ => {
                    *cursor = begin;
                    exponential(cursor.field())?
                }
            };
            let index = index.wrapping_add(shift);
            if index.wrapping_sub(1) >= mode.limit {
                return None;
            }
            cursor.skip_blanks();
            if let Err(short) = mode.push(index, self.room) {
                self.short = Some(short);
                return None;
            }
        }
        let value = match layout.values {
            Values::Pattern => T::from_integer(1, layout.element)?,
            _ => value(cursor, layout).ok()?,
        };
        cursor.skip_blanks();
        cursor.at_line_end(layout.comment).then(|| self.values.push(value))
    }
}

/// Reads the value at the cursor, which goes behind it.
#[inline(always)]
pub(super) fn value<T: Carrier>(cursor: &mut Cursor<'_>, layout: &Layout) -> Result<T, Refusal> {
    if !T::COMPLEX || layout.values != Values::Complex {
        return number(cursor, layout);
    }
    let re = number(cursor, layout)?;
    cursor.skip_blanks();
    Ok(T::of_parts(re, number(cursor, layout)?))
}

impl Mode {
    /// Appends an index, given from 1, where there is memory for so many.
    #[inline(always)]
    fn push(&mut self, index: u64, room: usize) -> Result<(), OutOfMemory> {
        self.largest = self.largest.max(index);
        let index = index - 1;
        match &mut self.indices {
            Indices::U32(indices) => match u32::try_from(index) {
                Ok(index) => indices.push(index),
                Err(_) => return self.widen(index, room),
            },
            Indices::U64(indices) => indices.push(index),
        }
        Ok(())
    }

    #[cold]
    fn widen(&mut self, index: u64, room: usize) -> Result<(), OutOfMemory> {
        if let Indices::U32(narrow) = &self.indices {
            let mut wide = memory::try_room(room)?;
            wide.extend(narrow.iter().map(|&index| u64::from(index)).chain([index]));
            self.indices = Indices::U64(wide);
        }
        Ok(())
    }

    fn truncate(&mut self, length: usize) {
        match &mut self.indices {
            Indices::U32(indices) => indices.truncate(length),
            Indices::U64(indices) => indices.truncate(length),
        }
    }
}

/// How many entries the lines hold if they are as long as the first ones; never more than their bytes can.
fn likely_entries(text: &[u8], order: usize) -> usize {
    let sample = &text[..text.len().min(4096)];
    let lines = sample.iter().filter(|&&byte| byte == b'\n').count().max(1);
    let expected = text.len() * lines / sample.len().max(1);
    // Each index and the value have a digit and something behind it.
    (expected + expected / 16 + 1).min(text.len() / (2 * order + 1) + 1)
}
