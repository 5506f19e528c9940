//! `.smtx`: the pattern of a matrix in compressed rows, as the Deep Learning Matrix Collection has it.
//!
//! ```text
//! 3, 4, 5            rows, columns, entries
//! 0 2 2 5            where each row begins, and the end
//! 0 3 1 2 3          the column of each entry, from 0
//! ```
//!
//! Every entry is 1, or `true` where it is read as `bool`.
//!
//! Source: T. Gale, M. Zaharia, C. Young, E. Elsen, Sparse GPU Kernels for Deep Learning, SC 2020.

use super::compressed::{expanded, within};
use super::contents::{Loaded, ones};
use super::entries::quote;
use super::kind::{Asked, Description, Kind};
use super::{Layout, ReadError, ReadErrorKind};
use crate::memory;
use spc_compiler::ir::ElementType;

/// The kind of file.
pub(super) struct Smtx;

impl Kind for Smtx {
    fn begins(&self, head: &[u8]) -> bool {
        let second = head.split(|&byte| byte == b'\n').nth(1);
        head_of(head).is_ok() && second.is_some_and(|line| line.starts_with(b"0 ") && !line.contains(&b','))
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        head_of(head)?;
        let (element, stored) = (Some(ElementType::Bool), "DLMC pattern in compressed rows".to_owned());
        Ok(Description { element, computed: None, layout: Layout::Entries, order: Some(2), fill: None, stored })
    }

    fn read(&self, text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        let ([rows, columns, count], mut numbers) = head_of(text)?;
        let pointers = numbers.take(rows.saturating_add(1), "where rows begin")?;
        let inner = numbers.take(count, "columns")?;
        if let Some(offset) = numbers.rest() {
            let message = format!("more numbers than {rows} rows and {count} entries take: correct the first line");
            return Err(ReadError::new(ReadErrorKind::Entries, message).at(text, offset));
        }
        let outer = expanded("the second line", &pointers, rows, count)?;
        if outer.len() != count {
            let message = format!("the rows have {} entries, and the first line states {count}", outer.len());
            return Err(ReadError::new(ReadErrorKind::Entries, message));
        }
        let indices = vec![within(outer, 0, rows)?, within(inner, 1, columns)?];
        Ok(Loaded::entries(vec![rows, columns], indices, ones(count, asked.element)?))
    }
}

/// Rows, columns and entries, and the numbers behind them.
fn head_of(text: &[u8]) -> Result<([usize; 3], Numbers<'_>), ReadError> {
    let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    let line = text[..end].trim_ascii();
    let extent = |part: &[u8]| std::str::from_utf8(part.trim_ascii()).ok()?.parse::<usize>().ok();
    let extents: Option<Vec<usize>> = line.split(|&byte| byte == b',').map(extent).collect();
    match extents.as_deref() {
        Some(&[rows, columns, count]) if isize::try_from(rows.max(columns)).is_ok() => {
            Ok(([rows, columns, count], Numbers { text, at: end }))
        }
        _ => {
            let message = format!("the first line is {}: it has rows, columns and entries, as `3, 4, 5`", quote(line));
            Err(ReadError::new(ReadErrorKind::Header, message).at(text, 0))
        }
    }
}

/// Whole numbers with blanks or line ends between them.
struct Numbers<'text> {
    text: &'text [u8],
    at: usize,
}

impl Numbers<'_> {
    /// Where the next number is, if there is one.
    fn rest(&mut self) -> Option<usize> {
        let blanks = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at += blanks;
        (self.at < self.text.len()).then_some(self.at)
    }

    fn take(&mut self, count: usize, what: &str) -> Result<Vec<u64>, ReadError> {
        // No count is trusted: a number takes two bytes, but for the last.
        let mut numbers = memory::try_room(count.min((self.text.len() - self.at) / 2 + 1))?;
        while numbers.len() < count {
            let Some(start) = self.rest() else {
                let message = format!("only {} of {count} numbers of {what}: the file is cut short", numbers.len());
                return Err(ReadError::new(ReadErrorKind::Entries, message).at(self.text, self.at));
            };
            let mut number = 0_u64;
            while let Some(digit) = self.text.get(self.at).filter(|byte| byte.is_ascii_digit()) {
                number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
                self.at += 1;
            }
            let is_number = self.at > start && self.text.get(self.at).is_none_or(u8::is_ascii_whitespace);
            if !is_number {
                let length = self.text[start..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
                let message = format!("{} is no whole number from 0", quote(&self.text[start..start + length]));
                return Err(ReadError::new(ReadErrorKind::Index, message).at(self.text, start));
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use crate::io::{FileType, ReadErrorKind, TensorFile};
    use spc_compiler::ir::ElementType;

    const GOOD: &str = "3, 4, 5\n0 2 2 5 \n0 3 1 2 3 \n";

    /// Indices and values.
    type Entries = Vec<(Vec<u64>, f64)>;

    fn read(text: &str) -> Result<Entries, (ReadErrorKind, String)> {
        let file = TensorFile::of_bytes(FileType::Smtx, text.as_bytes().to_vec());
        let entries = file.contents::<f64>().and_then(|contents| contents.into_coordinates());
        let entries =
            entries.map_err(|error| (error.kind(), error.to_string().replace("bytes: ", "").replace("bytes:", "")))?;
        assert_eq!(entries.shape, [3, 4]);
        let index = |entry| entries.indices.iter().map(|mode| mode.at(entry)).collect();
        Ok((0..entries.values.len()).map(|entry| (index(entry), entries.values[entry])).collect())
    }

    #[test]
    fn rows_are_compressed() {
        let expected = [[0, 0], [0, 3], [2, 1], [2, 2], [2, 3]].map(|index| (index.to_vec(), 1.0));
        assert_eq!(read(GOOD).unwrap(), expected);
        let file = TensorFile::of_bytes(FileType::Smtx, GOOD.as_bytes().to_vec());
        assert_eq!((file.element().unwrap(), file.order().unwrap()), (Some(ElementType::Bool), Some(2)));
        assert_eq!(file.computed_element().unwrap(), ElementType::F64);
        assert_eq!(read("3,4,0\n0 0 0 0\n\n").unwrap(), []);
    }

    #[test]
    fn damage_is_named() {
        let message = |text: &str| read(text).unwrap_err().1;
        assert_eq!(
            message("3 4 5\n"),
            "1:1: the first line is '3 4 5': it has rows, columns and entries, as `3, 4, 5`"
        );
        assert_eq!(
            message("3, 4, 5\n0 2 2 5\n0 3 1 2\n"),
            "4:1: only 4 of 5 numbers of columns: the file is cut short"
        );
        assert_eq!(message("3, 4, 5\n0 2 x 5\n"), "2:5: 'x' is no whole number from 0");
        assert_eq!(
            message(&format!("{GOOD}7\n")),
            "4:1: more numbers than 3 rows and 5 entries take: correct the first line"
        );
        assert_eq!(message("3, 4, 5\n0 2 1 5\n0 3 1 2 3\n"), "the second line does not ascend from 0");
        assert_eq!(message("3, 4, 5\n0 2 2 4\n0 3 1 2 3\n"), "the rows have 4 entries, and the first line states 5");
        assert_eq!(message("3, 4, 5\n0 2 2 5\n0 4 1 2 3\n"), "index 4 of mode 2, from 0, is beyond its extent 4");
        assert!(message("9223372036854775807, 4, 9223372036854775807\n0 1\n").contains("only 2 of"));
        // Cut anywhere, it is refused or the same.
        for length in 0..GOOD.len() {
            let cut = read(&GOOD[..length]);
            assert!(cut.is_err() || cut == read(GOOD), "{length}");
        }
    }
}
