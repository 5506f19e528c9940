//! Headers that other programs write before the entries of a `.tns` file.
//!
//! ```text
//! 3            3 2          sptensor
//! 4 5 6        4 5 6        3
//! 1 3 2 5.0    1 3 2 5.0    4 5 6
//! 2 1 1 -0.5   2 1 1 -0.5   2
//!                           1 3 2 5.0
//!                           2 1 1 -0.5
//! ```
//!
//! From the left: ParTI and HiCOO write the order and the extents; MLIR, the order, the number of entries and the extents; the Tensor Toolbox of
//! MATLAB, pyttb and GenTen, the word `sptensor`, the order, the extents and the number of entries. A line of a header has another number of
//! fields than an entry has, so that no entry is taken for one.

use super::entries::{first_entry, offset_of_entry, quote};
use super::{ReadError, ReadErrorKind};

/// What begins a comment.
pub(super) const COMMENT: u8 = b'#';

/// A header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// The programs that write it.
    pub(super) name: &'static str,
    pub(super) shape: Vec<usize>,
    /// How many entries there are, where it says so.
    pub(super) entries: Option<u64>,
    /// Where the extents are.
    pub(super) offset: usize,
    /// Where the entries begin.
    pub(super) body: usize,
}

/// Other objects of the Tensor Toolbox; a `tensor` has [a head of its own](dense).
const OTHERS: [&[u8]; 5] = [b"tensor", b"matrix", b"ktensor", b"ttensor", b"sumtensor"];

/// The lines of a text from a byte on.
struct Lines<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Lines<'text> {
    /// Where the next line begins that is neither blank nor a comment, and its fields.
    fn next(&mut self) -> Option<(usize, Vec<&'text [u8]>)> {
        let line = first_entry(self.text, self.at, COMMENT)?;
        self.at = offset_of_entry(self.text, line.0, COMMENT, 1);
        Some(line)
    }
}

/// Reads a header, if a text has one from a byte on.
///
/// # Errors
///
/// What is wrong after the word `sptensor`; and another object of the Tensor Toolbox.
pub(super) fn header(text: &[u8], begin: usize) -> Result<Option<Header>, ReadError> {
    let mut lines = Lines { text, at: begin };
    let Some((start, first)) = lines.next() else { return Ok(None) };
    let is = |word: &[u8]| first.len() == 1 && first[0].eq_ignore_ascii_case(word);
    if let Some(object) = OTHERS.into_iter().find(|object| is(object)) {
        let message = format!("a {} of the Tensor Toolbox is not supported: write it as a `sptensor`", quote(object));
        return Err(ReadError::new(ReadErrorKind::NotSupported, message).at(text, start));
    }
    if is(b"sptensor") {
        let (Some((_, order)), Some((offset, extents)), Some((_, count))) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(wrong(text, start));
        };
        let (order, shape, count) = (naturals(&order), naturals(&extents), naturals(&count));
        let (Some([order]), Some(shape), Some([count])) = (order.as_deref(), shape, count.as_deref()) else {
            return Err(wrong(text, offset));
        };
        if shape.len() as u64 != *order {
            return Err(wrong(text, offset));
        }
        let (name, entries, body) = ("the Tensor Toolbox, pyttb or GenTen", Some(*count), lines.at);
        return Ok(extents_of(&shape).map(|shape| Header { name, shape, entries, offset, body }));
    }
    let Some(numbers) = naturals(&first).filter(|numbers| matches!(numbers.len(), 1 | 2)) else { return Ok(None) };
    let Some((offset, extents)) = lines.next() else { return Ok(None) };
    let body = lines.at;
    let Some(shape) = naturals(&extents).filter(|extents| extents.len() as u64 == numbers[0]) else { return Ok(None) };
    let entries = numbers.get(1).copied();
    let is_header = match lines.next() {
        // One value follows the indices, or both parts of a complex one.
        Some((_, entry)) => matches!(entry.len().checked_sub(shape.len()), Some(1 | 2)),
        // `2 0` and `3 5` are two entries of a vector too.
        None => entries.is_none() || entries == Some(0) && shape.len() != first.len(),
    };
    let name = if entries.is_some() { "MLIR" } else { "ParTI or HiCOO" };
    let header = |shape| Header { name, shape, entries, offset, body };
    Ok(extents_of(&shape).filter(|_| is_header).map(header))
}

/// The shape of a `tensor` of the Tensor Toolbox, and where its elements begin, if a text from a byte on is one: the word, the order, the extents, and the
/// elements with the index of the first mode running fastest.
///
/// # Errors
///
/// What is wrong after the word.
pub(super) fn dense(text: &[u8], begin: usize) -> Result<Option<(Vec<usize>, usize)>, ReadError> {
    let mut lines = Lines { text, at: begin };
    let Some((start, _)) =
        lines.next().filter(|(_, first)| first.len() == 1 && first[0].eq_ignore_ascii_case(b"tensor"))
    else {
        return Ok(None);
    };
    let order = lines.next().and_then(|(_, order)| naturals(&order));
    let shape = lines.next().and_then(|(_, extents)| extents_of(&naturals(&extents)?));
    match (order.as_deref(), shape) {
        (Some([order]), Some(shape)) if *order == shape.len() as u64 => Ok(Some((shape, lines.at))),
        _ => {
            let message = "after `tensor` there should be lines with the order and the extents";
            Err(ReadError::new(ReadErrorKind::Header, message).at(text, start))
        }
    }
}

fn wrong(text: &[u8], offset: usize) -> ReadError {
    let message = "after `sptensor` there should be lines with the order, the extents and the number of entries";
    ReadError::new(ReadErrorKind::Header, message).at(text, offset)
}

/// Fields that are whole numbers.
fn naturals(fields: &[&[u8]]) -> Option<Vec<u64>> {
    let natural = |field: &&[u8]| {
        let digits = field.iter().all(u8::is_ascii_digit);
        std::str::from_utf8(field).ok().filter(|_| digits)?.parse::<u64>().ok()
    };
    fields.iter().map(natural).collect()
}

fn extents_of(numbers: &[u64]) -> Option<Vec<usize>> {
    numbers.iter().map(|&extent| isize::try_from(extent).ok().map(|extent| extent as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_from_entries() {
        let of = |text: &str| {
            let header = header(text.as_bytes(), 0).unwrap()?;
            assert!(text[header.body..].is_empty() || text[header.body..].starts_with("1 3 2"), "{text}");
            Some((header.name, header.shape, header.entries))
        };
        let shape = vec![4, 5, 6];
        assert_eq!(of("3\n4 5 6\n1 3 2 5.0\n"), Some(("ParTI or HiCOO", shape.clone(), None)));
        assert_eq!(of("# extended FROSTT\n3 1\n4 5 6\n1 3 2 5\n"), Some(("MLIR", shape.clone(), Some(1))));
        assert_eq!(of("3 0\n4 5 6\n"), Some(("MLIR", shape.clone(), Some(0))));
        let toolbox = of("sptensor\n3\n4 5 6\n1\n1 3 2 5\n");
        assert_eq!(toolbox, Some(("the Tensor Toolbox, pyttb or GenTen", shape, Some(1))));
        for entries in
            ["1 2\n2 3\n3 4\n", "1 1 5\n1 1 1 5\n", "2 3\n4 5\n", "2 0\n3 5\n", "7\n", "3\n4 5 6\n1 1\n", "1 2 3\n"]
        {
            assert_eq!(of(entries), None, "{entries}");
        }
        let refused = |text: &str| header(text.as_bytes(), 0).unwrap_err().to_string();
        assert_eq!(
            refused("tensor\n2\n1 1\n0\n"),
            "1:1: a 'tensor' of the Tensor Toolbox is not supported: write it as a `sptensor`"
        );
        assert!(refused("sptensor\n3\n4 5\n1\n").starts_with("3:1: after `sptensor`"));
        assert!(refused("sptensor\n3\n").starts_with("1:1: after `sptensor`"));
    }
}
