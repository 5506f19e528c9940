//! What comments at the start of a text state: the shape, the fill value, the element type.
//!
//! ```text
//! # shape: 10 20 30
//! # fill: inf
//! # element: f32
//! 1 3 2  5.0
//! ```
//!
//! To other programs these are comments. Each may stand once, before the first entry. A shape is whole numbers between blanks,
//! commas or `x`; a fill value is written as values are, and `true` and `false` are values too; an element type is named as in the
//! language. What follows one of these words and is none of that is an error, and no comment: a slip would change the tensor.

use std::io::{self, Write};

use spc_compiler::ir::ElementType;

use super::entries::{is_line_end, quote};
use super::value::{self, Carrier, Numbers, Refusal};
use super::{ReadError, ReadErrorKind};

/// What a text states, with the place of each thing in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stated<'text> {
    pub(crate) shape: Option<At<Vec<usize>>>,
    fill: Option<At<&'text str>>,
    pub(crate) element: Option<At<ElementType>>,
}

/// Something, and where in the text it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) what: T,
    pub(crate) offset: usize,
}

/// More modes than any tensor has.
const LARGEST_ORDER: usize = 255;

impl<'text> Stated<'text> {
    /// Reads the comments from byte `start` on, up to the first line that is neither a comment nor blank.
    pub(crate) fn of(text: &'text [u8], start: usize, comment: u8) -> Result<Self, ReadError> {
        let mut stated = Self::default();
        let mut at = start;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let end = rest.iter().position(|&byte| is_line_end(byte)).unwrap_or(rest.len());
            let line = &rest[..end];
            let blank = line.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match line.get(blank) {
                None => {}
                Some(&first) if first == comment => stated.comment(text, at + blank, &line[blank..], comment)?,
                Some(_) => break,
            }
            at += end + 1;
        }
        Ok(stated)
    }

    /// The fill value as it is written.
    pub(crate) fn fill_text(&self) -> Option<&'text str> {
        self.fill.as_ref().map(|fill| fill.what)
    }

    /// Takes what a comment states, if it is one that does.
    fn comment(&mut self, text: &[u8], at: usize, line: &'text [u8], comment: u8) -> Result<(), ReadError> {
        let begin = line.iter().take_while(|&&byte| byte == comment || byte.is_ascii_whitespace()).count();
        let Some((key, rest)) = std::str::from_utf8(&line[begin..]).ok().and_then(|line| line.split_once(':')) else {
            return Ok(());
        };
        let offset = at + begin;
        let wrong = |message: String| ReadError::new(ReadErrorKind::Header, message).at(text, offset);
        let again = match key {
            "shape" => {
                let what = shape(rest).ok_or_else(|| wrong(no_shape(rest, comment)))?;
                self.shape.replace(At { what, offset }).is_some()
            }
            "fill" => self.fill.replace(At { what: rest.trim(), offset }).is_some(),
            "element" => {
                let what = ElementType::from_name(rest.trim()).ok_or_else(|| wrong(no_element(rest)))?;
                self.element.replace(At { what, offset }).is_some()
            }
            _ => false,
        };
        if again { Err(wrong(format!("`{key}:` is stated twice: leave one of the lines"))) } else { Ok(()) }
    }

    /// What stands for entries that are missing, if the text says so.
    pub(crate) fn fill<T: Carrier>(&self, text: &[u8], element: ElementType) -> Result<Option<T>, ReadError> {
        let Some(At { what, offset }) = &self.fill else { return Ok(None) };
        let refuse = |refusal: Refusal| {
            let value = quote(what.as_bytes());
            let message = match refusal {
                Refusal::NotANumber => {
                    format!("fill value {value} is none of {element}: write `fill: 7` or `fill: inf`")
                }
                Refusal::NotWhole | Refusal::OutOfRange | Refusal::NotExact => {
                    format!("fill value {value} is none that {element} holds: read the file as a wider element type")
                }
            };
            ReadError::new(ReadErrorKind::Value, message).at(text, *offset)
        };
        let stated = self.element.as_ref().map_or(element, |stated| stated.what);
        fill_value(what, stated, element).map(Some).map_err(refuse)
    }
}

/// Extents between blanks, commas or `x`, perhaps in brackets.
fn shape(text: &str) -> Option<Vec<usize>> {
    let text = text.trim();
    let inner = text.strip_prefix(['(', '[']).map_or(Some(text), |text| text.strip_suffix([')', ']']))?;
    let parts = inner.split(|letter: char| letter.is_whitespace() || matches!(letter, ',' | 'x' | '×'));
    let extent = |part: &str| {
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<usize>().ok().filter(|&extent| digits && isize::try_from(extent).is_ok())
    };
    let shape = parts.filter(|part| !part.is_empty()).map(extent).collect::<Option<Vec<usize>>>()?;
    (shape.len() <= LARGEST_ORDER).then_some(shape)
}

fn no_shape(text: &str, comment: u8) -> String {
    let (text, comment) = (quote(text.trim().as_bytes()), char::from(comment));
    format!("{text} is no shape: `{comment} shape: 10 20 30` states the extent of each mode")
}

fn no_element(text: &str) -> String {
    let names: Vec<&str> = ElementType::ALL.iter().map(|element| element.name()).collect();
    format!("{} is no element type: they are {}", quote(text.trim().as_bytes()), names.join(", "))
}

fn fill_value<T: Carrier>(text: &str, stated: ElementType, element: ElementType) -> Result<T, Refusal> {
    let number = |text: &str| match stated == element {
        true => value::parse(text.as_bytes(), element),
        false => value::parse_stated(text.as_bytes(), stated, element),
    };
    let part = |text: &str| match stated == element {
        true => value::parse(text.as_bytes(), element),
        false => value::parse_stated(text.as_bytes(), stated, element),
    };
    let mut parts = text.split_whitespace();
    match (parts.next(), parts.next(), parts.next()) {
        (Some("true"), None, None) => T::from_integer(1, element).ok_or(Refusal::OutOfRange),
        (Some("false"), None, None) => T::from_integer(0, element).ok_or(Refusal::OutOfRange),
        (Some(value), None, None) => number(value),
        (Some(re), Some(im), None) if T::COMPLEX => Ok(T::of_parts(part(re)?, part(im)?)),
        _ => Err(Refusal::NotANumber),
    }
}

/// Writes the lines that state these things, and the element type unless it is `f64`.
pub(crate) fn write(
    out: &mut dyn Write,
    comment: char,
    shape: Option<&[usize]>,
    fill: Option<&dyn Numbers>,
    element: ElementType,
) -> io::Result<()> {
    let mut text = Vec::new();
    if let Some(shape) = shape {
        write!(text, "{comment} shape:")?;
        shape.iter().try_for_each(|extent| write!(text, " {extent}"))?;
        text.push(b'\n');
    }
    if let Some(fill) = fill {
        write!(text, "{comment} fill: ")?;
        fill.print(0, &mut text);
        text.push(b'\n');
    }
    if element != ElementType::F64 {
        writeln!(text, "{comment} element: {element}")?;
    }
    out.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::c64;
    use crate::io::value::Value;

    #[test]
    fn comments_state_shape_fill_and_element() {
        let text = b"# made by hand\n\n#shape: 10 20x30\n  # fill: -inf\r\n# element: f32\n1 1 1 2\n# shape: 9\n";
        let stated = Stated::of(text, 0, b'#').unwrap();
        assert_eq!(stated.shape.as_ref().unwrap().what, [10, 20, 30]);
        assert_eq!(stated.element.as_ref().unwrap().what, ElementType::F32);
        assert_eq!(stated.fill::<f32>(text, ElementType::F32).unwrap(), Some(f32::NEG_INFINITY));
        assert_eq!(Stated::of(b"# Shape: see [1]\n# size: 3\n1 2\n", 0, b'#').unwrap(), Stated::default());
        assert!(Stated::of(b"# shape:\n5\n", 0, b'#').unwrap().shape.unwrap().what.is_empty());
        assert_eq!(Stated::of(b"% shape: (3, 4)\n", 0, b'%').unwrap().shape.unwrap().what, [3, 4]);
    }

    #[test]
    fn slips_are_told_with_their_line() {
        let of = |text: &str| Stated::of(text.as_bytes(), 0, b'#').unwrap_err().to_string();
        assert_eq!(
            of("\n# shape: ten\n"),
            "2:3: 'ten' is no shape: `# shape: 10 20 30` states the extent of each mode"
        );
        assert_eq!(
            of("# shape: 3 -1\n"),
            "1:3: '3 -1' is no shape: `# shape: 10 20 30` states the extent of each mode"
        );
        assert_eq!(of("# shape: 3\n# shape: 3\n"), "2:3: `shape:` is stated twice: leave one of the lines");
        assert_eq!(
            of("# element: f8\n"),
            "1:3: 'f8' is no element type: they are f64, f32, i32, i64, u8, i8, i16, u16, u32, u64, f16, bf16, bool, c32, c64"
        );
        let text = b"# fill: 2.5\n";
        let message = Stated::of(text, 0, b'#').unwrap().fill::<i64>(text, ElementType::I32).unwrap_err().to_string();
        assert_eq!(message, "1:3: fill value '2.5' is none that i32 holds: read the file as a wider element type");
    }

    #[test]
    fn what_is_written_is_read() {
        fn check<T: Value>(fill: T, expected: &str) {
            let mut text = Vec::new();
            write(&mut text, '#', Some(&[3, 0]), Some(&&[fill][..]), T::TYPE).unwrap();
            assert_eq!(String::from_utf8_lossy(&text), expected);
            let stated = Stated::of(&text, 0, b'#').unwrap();
            assert_eq!(stated.shape.as_ref().unwrap().what, [3, 0]);
            let read = T::of_carrier(stated.fill(&text, T::TYPE).unwrap().unwrap());
            assert_eq!(bytemuck::bytes_of(&read), bytemuck::bytes_of(&fill), "{expected}");
        }
        check(-0.0, "# shape: 3 0\n# fill: -0\n");
        check(f64::NAN, "# shape: 3 0\n# fill: NaN\n");
        check(true, "# shape: 3 0\n# fill: 1\n# element: bool\n");
        check(i64::MIN, "# shape: 3 0\n# fill: -9223372036854775808\n# element: i64\n");
        check(c64::new(7.0, 0.0), "# shape: 3 0\n# fill: 7 0\n# element: c64\n");
    }
}
