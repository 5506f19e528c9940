//! Lines of text in, entries out: the engine that the `.tns` and the `.mtx` reader share.
//!
//! The text is cut at line ends into chunks that threads parse on their own; their columns are then copied, once, into
//! the columns of the result. What comes out does not depend on where the cuts were, errors included:
//!
//! ```text
//! "1 2 3.5\n"      mode 0: 0 1
//! "# note\n"   →   mode 1: 1 0
//! "2 1 -1\n"       values: 3.5 -1
//! ```

mod blocks;
mod chunk;
mod cursor;
mod explain;
mod join;
mod number;

pub(crate) use blocks::{next_block, parse_blocks};
pub(crate) use cursor::is_line_end;
pub(crate) use explain::quote;
pub(crate) use explain::shown;

use std::sync::atomic::{AtomicUsize, Ordering};

use self::chunk::Chunk;
use self::cursor::Cursor;
use super::value::{self, Carrier};
use super::{ReadError, ReadErrorKind};
use crate::progress::{Unit, Work};
use crate::tensor::{Indices, OutOfMemory, tasks};
use spc_compiler::ir::ElementType;

/// How the lines of a text are to be read.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// The element type: no value is none of that type.
    pub(crate) element: ElementType,
    /// The element type that the text states, where that is another one.
    pub(crate) stated: Option<ElementType>,
    /// Whole numbers up to this are read without a look at what is stated.
    pub(crate) exact: u64,
    /// The largest index of each mode, from 1; as many as a line has indices.
    pub(crate) limits: Vec<u64>,
    /// What to do about an index that is beyond its limit, where the limits are a shape that somebody stated rather than what the
    /// machine can hold.
    pub(crate) larger: Option<&'static str>,
    /// What indices count from.
    pub(crate) base: Base,
    /// What follows the indices.
    pub(crate) values: Values,
    /// What begins a comment.
    pub(crate) comment: u8,
    /// How many bytes each chunk has, roughly.
    pub(crate) chunk_bytes: usize,
}

/// What the indices of a text count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Zero,
    One,
    /// One; what to do where the text counts from 0.
    OneOr(&'static str),
}

impl Base {
    /// What is added to an index for it to count from 1.
    #[inline(always)]
    pub(crate) fn shift(self) -> u64 {
        u64::from(self == Base::Zero)
    }
}

/// What follows the indices of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    /// Any number.
    Real,
    /// A whole number: another one is an error, whatever the element type.
    Integer,
    /// Nothing: every value is one.
    Pattern,
    /// The real part and the imaginary part of a number, for complex element types only.
    Complex,
}

/// How values are read as an element type, of a text that may state another: as [`Layout::stated`] and [`Layout::exact`].
pub(crate) fn precision(element: ElementType, stated: Option<ElementType>) -> (Option<ElementType>, u64) {
    let part = |element: ElementType| element.part().unwrap_or(element);
    match stated.filter(|&stated| part(stated) != part(element)) {
        Some(stated) if stated.range().0 < 0 => {
            (Some(stated), value::exact(element).min(stated.range().1.try_into().unwrap_or(u64::MAX)))
        }
        Some(stated) => (Some(stated), 0),
        None if value::are_whole(element) => (None, u64::MAX),
        None => (None, value::EXACT),
    }
}

impl Values {
    /// How many fields they take.
    pub(crate) fn fields(self) -> usize {
        match self {
            Values::Pattern => 0,
            Values::Real | Values::Integer => 1,
            Values::Complex => 2,
        }
    }
}

/// The entries of a text, up to its first fault if it has one.
#[derive(Debug)]
pub(crate) struct Entries<T> {
    /// The indices of each mode, from 0.
    pub(crate) indices: Vec<Indices>,
    /// The largest index of each mode, from 1; 0 where there is no entry.
    pub(crate) largest: Vec<u64>,
    /// The values.
    pub(crate) values: Vec<T>,
    /// What is wrong with the line after the last entry.
    pub(crate) fault: Option<Fault>,
}

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: ReadErrorKind,
    /// In bytes from the start of the text.
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl Fault {
    /// As an error with line and column.
    pub(crate) fn in_text(self, text: &[u8]) -> ReadError {
        ReadError::new(self.kind, self.message).at(text, self.offset)
    }
}

/// A chunk size that gives each thread several chunks, so that none waits long for the last one.
pub(crate) fn chunk_bytes(text: &[u8]) -> usize {
    (text.len() / (8 * rayon::current_num_threads())).clamp(64 << 10, 4 << 20)
}

/// How many bytes a block has of text that comes in blocks.
pub(crate) const BLOCK: usize = 1 << 20;

/// The largest index that a mode can have where no shape is stated: what a `Vec` could be indexed by.
pub(crate) const LARGEST_INDEX: u64 = isize::MAX as u64;

/// Reads the lines of `text` from byte `start` on.
///
/// # Errors
///
/// Too little memory; what is wrong with a line is part of the result.
pub(crate) fn parse<T: Carrier>(text: &[u8], start: usize, layout: &Layout) -> Result<Entries<T>, OutOfMemory> {
    let cuts = cut(text, start, layout.chunk_bytes);
    let first_faulty = AtomicUsize::new(usize::MAX);
    let work = Work::begin(Unit::Bytes, text.len().saturating_sub(start));
    let chunks = tasks::map(&tasks::ranges(cuts.len(), 1), &|range| {
        let number = range.start;
        let (from, to) = cuts[number];
        // Whatever comes behind a fault is not asked for.
        if first_faulty.load(Ordering::Relaxed) < number {
            return Ok(Chunk::empty(layout));
        }
        let chunk = Chunk::parse(&text[..to], from, layout)?;
        work.add(to - from);
        if chunk.fault.is_some() {
            first_faulty.fetch_min(number, Ordering::Relaxed);
        }
        Ok(chunk)
    });
    join::join(chunks.into_iter().collect::<Result<_, _>>()?, layout.limits.len())
}

/// Byte ranges of about `chunk_bytes` that end behind a line end, except perhaps the last.
pub(crate) fn cut(text: &[u8], start: usize, chunk_bytes: usize) -> Vec<(usize, usize)> {
    let mut cuts = Vec::new();
    let mut from = start;
    while from < text.len() {
        let least = from.saturating_add(chunk_bytes.max(1)).min(text.len());
        let line_end = text[least - 1..].iter().position(|&byte| byte == b'\n');
        let to = line_end.map_or(text.len(), |distance| least + distance);
        cuts.push((from, to));
        from = to;
    }
    cuts
}

/// The first line of `text` from byte `start` on that holds an entry: where its first field begins, and its fields.
pub(crate) fn first_entry(text: &[u8], start: usize, comment: u8) -> Option<(usize, Vec<&[u8]>)> {
    let mut cursor = Cursor::new(text, start);
    cursor.find_entry(comment).then(|| (cursor.at(), cursor.rest_of_line(comment)))
}

/// The fields of each whole line of `text` that is neither blank nor a comment.
pub(crate) fn lines_of(text: &[u8], comment: u8) -> impl Iterator<Item = Vec<&[u8]>> {
    let whole = text.iter().rposition(|&byte| is_line_end(byte)).map_or(text.len(), |end| end + 1);
    let mut cursor = Cursor::new(&text[..whole], 0);
    std::iter::from_fn(move || cursor.find_entry(comment).then(|| cursor.line(comment)))
}

/// Where the first field of entry number `entry` begins, for a message about it.
pub(crate) fn offset_of_entry(text: &[u8], start: usize, comment: u8, entry: usize) -> usize {
    let mut cursor = Cursor::new(text, start);
    for _ in 0..entry {
        cursor.find_entry(comment);
        cursor.skip_line();
    }
    cursor.find_entry(comment);
    cursor.at()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_behind_line_ends() {
        let text = b"ab\nc\n\ndefgh\ni";
        for size in 0..20 {
            let cuts = cut(text, 0, size);
            assert_eq!(cuts.first().unwrap().0, 0);
            assert_eq!(cuts.last().unwrap().1, text.len());
            assert!(cuts.windows(2).all(|pair| pair[0].1 == pair[1].0 && text[pair[0].1 - 1] == b'\n'), "{cuts:?}");
        }
        assert_eq!(cut(text, 0, 1).len(), 5);
        assert!(cut(b"", 0, 4).is_empty());
    }

    #[test]
    fn finds_entries_between_comments() {
        let text = b"% x\n\n 1 2\n%\n\t3 4 % y\n";
        assert_eq!(offset_of_entry(text, 0, b'%', 0), 6);
        assert_eq!(offset_of_entry(text, 0, b'%', 1), 13);
        assert_eq!(first_entry(text, 10, b'%'), Some((13, vec![&b"3"[..], b"4"])));
    }
}
