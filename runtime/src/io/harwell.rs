//! `.rb`, and `.rua` and its relatives: a matrix in compressed columns, as the collections of Harwell and Boeing and of Rutherford and Boeing have it.
//!
//! ```text
//! a title                                                                 key
//!             3             1             1             1
//! RUA                        3             3             4             0
//! (4I3)           (4I3)           (3E25.16)
//!   1  3  4  5
//!   1  3  2  3
//!   4.0000000000000000E+00 -1.0000000000000000E+00  2.5000000000000000E+00
//!   1.0000000000000000E+00
//! ```
//!
//! The third line has the type, rows, columns and entries; the fourth, the Fortran formats of where columns begin, of rows, from 1, and of values. The
//! first letter of the type is `R`, `C`, `P` or `I` for real, complex, pattern or integer values; the second is `U`, `R`, `S`, `Z` or `H` for a
//! matrix that is unsymmetric, rectangular, symmetric, skew-symmetric or hermitian, of which all but the first two have the lower triangle; the third is
//! `A` for an assembled matrix. Right-hand sides behind the matrix are not read.
//!
//! Source: I. S. Duff, R. G. Grimes, J. G. Lewis, Users' Guide for the Harwell-Boeing Sparse Matrix Collection, 1992; The Rutherford-Boeing Sparse
//! Matrix Collection, 1997.

use super::compressed::{expanded, within};
use super::contents::{Loaded, ones};
use super::entries::quote;
use super::kind::{Asked, Description, Kind};
use super::mtx::Symmetry;
use super::mtx::triangle;
use super::value::{self, Carrier, Value};
use super::{Layout, ReadError, ReadErrorKind};
use crate::memory;
use crate::tensor::{Indices, Values};
use crate::with_element;
use spc_compiler::ir::ElementType;

/// The kind of file.
pub(super) struct Harwell;

impl Kind for Harwell {
    fn begins(&self, head: &[u8]) -> bool {
        Head::of(head).is_ok()
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        let (head, _) = Head::of(head)?;
        let (element, computed) = match head.field {
            Field::Real => (None, None),
            Field::Complex => (Some(ElementType::C64), Some(ElementType::C64)),
            Field::Integer => (Some(ElementType::I64), None),
            Field::Pattern => (Some(ElementType::Bool), None),
        };
        let right_sides = if head.has_right_sides { ", whose right-hand sides are not read" } else { "" };
        let stored = format!("Rutherford-Boeing or Harwell-Boeing matrix of type {}{right_sides}", head.name);
        Ok(Description { element, computed, layout: Layout::Entries, order: Some(2), fill: None, stored })
    }

    fn read(&self, text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        with_element!(asked.element, |T| read::<T>(text))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Real,
    Complex,
    Integer,
    Pattern,
}

/// The first lines.
struct Head {
    /// The type, as `RUA`.
    name: String,
    field: Field,
    symmetry: Symmetry,
    rows: usize,
    columns: usize,
    entries: usize,
    pointers: Format,
    indices: Format,
    /// Of a matrix that has values.
    values: Option<Format>,
    has_right_sides: bool,
}

/// A Fortran format of numbers: the count on a line, and the width of each in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Format {
    count: usize,
    width: usize,
    /// How many digits are behind the point, in a number without one.
    fraction: usize,
}

/// The lines of a text, and where they begin.
struct Lines<'text> {
    text: &'text [u8],
    at: usize,
}

impl<'text> Lines<'text> {
    fn next(&mut self) -> Option<(usize, &'text [u8])> {
        let start = self.at;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        self.at = start + length + 1;
        Some((start, rest[..length].strip_suffix(b"\r").unwrap_or(&rest[..length])))
    }
}

/// Rows, columns and entries are below this, so that arrays of them can be counted.
const MOST: usize = match 1_usize.checked_shl(48) {
    Some(most) => most,
    None => usize::MAX,
};

impl Head {
    /// The head, and the lines behind it.
    fn of(text: &[u8]) -> Result<(Self, Lines<'_>), ReadError> {
        let mut lines = Lines { text, at: 0 };
        let wrong = |offset: usize, message: String| ReadError::new(ReadErrorKind::Header, message).at(text, offset);
        let mut line = |what: &str| {
            lines.next().ok_or_else(|| wrong(text.len(), format!("the file ends before {what}: get it again")))
        };
        line("its title")?;
        let (_, counts) = line("how many lines it has")?;
        let (start, kind) = line("the type of the matrix")?;
        let (format_line, formats) = line("the formats of numbers")?;
        let words =
            |line: &[u8]| String::from_utf8_lossy(line).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let natural = |word: &String| word.parse::<usize>().ok().filter(|&number| number < MOST);
        let name = kind.get(..3).unwrap_or_default().to_ascii_uppercase();
        let sizes: Option<Vec<usize>> = words(kind.get(3..).unwrap_or_default()).iter().map(natural).collect();
        let Some(&[rows, columns, entries, ..]) = sizes.as_deref() else {
            let message = format!("{} has no rows, columns and entries behind a type", quote(kind.trim_ascii()));
            return Err(wrong(start, message));
        };
        let field = match name[0] {
            b'R' => Field::Real,
            b'C' => Field::Complex,
            b'I' => Field::Integer,
            b'P' | b'Q' => Field::Pattern,
            _ => return Err(wrong(start, format!("{} is no type of matrix, as `RUA`", quote(&name)))),
        };
        let symmetry = match name[1] {
            b'U' | b'R' => Symmetry::General,
            b'S' => Symmetry::Symmetric,
            b'Z' => Symmetry::SkewSymmetric,
            b'H' if field == Field::Complex => Symmetry::Hermitian,
            _ => return Err(wrong(start, format!("{} is no type of matrix, as `RUA`", quote(&name)))),
        };
        if name[2] != b'A' || name[0] == b'Q' {
            let message = format!("type {} is not supported: only assembled matrices, as `RUA`, are", quote(&name));
            return Err(ReadError::new(ReadErrorKind::NotSupported, message).at(text, start));
        }
        if symmetry != Symmetry::General && rows != columns {
            return Err(wrong(start, format!("a matrix of type {} is square", quote(&name))));
        }
        let mut groups = formats.split_inclusive(|&byte| byte == b')').map(<[u8]>::trim_ascii);
        let mut format = || {
            let group = groups.next().unwrap_or_default();
            Format::of(group).ok_or_else(|| {
                let message = format!("format {} is not supported: it is as `(10I8)` or `(4E20.12)`", quote(group));
                ReadError::new(ReadErrorKind::NotSupported, message).at(text, format_line)
            })
        };
        let (pointers, indices) = (format()?, format()?);
        let values = if field == Field::Pattern { None } else { Some(format()?) };
        // The fifth number counts lines of right-hand sides, which a line describes.
        let has_right_sides = words(counts).get(4).and_then(natural).is_some_and(|lines| lines > 0);
        if has_right_sides {
            lines.next();
        }
        let name = String::from_utf8_lossy(&name).into_owned();
        let head = Self { name, field, symmetry, rows, columns, entries, pointers, indices, values, has_right_sides };
        Ok((head, lines))
    }
}

impl Format {
    /// Reads `(10I8)`, `(1P,4D20.12)` and the like.
    fn of(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.to_ascii_uppercase().replace(' ', "");
        let inner = text.strip_prefix('(')?.strip_suffix(')')?;
        // A scale has no meaning for numbers with an exponent, which `number` demands.
        let (is_scaled, inner) = match inner.split_once('P') {
            Some((scale, rest)) if scale.parse::<i32>().is_ok() => (true, rest.trim_start_matches(',')),
            _ => (false, inner),
        };
        let letter = inner.find(|letter: char| !letter.is_ascii_digit())?;
        let count = if letter == 0 { 1 } else { inner[..letter].parse().ok()? };
        let kind = inner[letter..].chars().next().filter(|kind| "IEDFG".contains(*kind))?;
        let (width, fraction) = inner[letter + 1..].split_once('.').unwrap_or((&inner[letter + 1..], "0"));
        // The exponent's width, as in `E25.16E3`.
        let fraction = fraction.split_once('E').map_or(fraction, |(fraction, _)| fraction);
        let format = Self { count, width: width.parse().ok()?, fraction: fraction.parse().ok()? };
        let is_sane =
            (1..=1000).contains(&format.count) && (1..=1000).contains(&format.width) && format.fraction < 1000;
        (is_sane && !(is_scaled && matches!(kind, 'F' | 'G'))).then_some(format)
    }
}

/// The next numbers, on lines of their own.
fn fields<'text>(
    lines: &mut Lines<'text>,
    format: Format,
    count: usize,
    what: &str,
    take: &mut dyn FnMut(usize, &'text [u8]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut found = 0;
    while found < count {
        let Some((start, line)) = lines.next() else {
            let message = format!("only {found} of {count} {what}: the file is cut short");
            return Err(ReadError::new(ReadErrorKind::Entries, message).at(lines.text, lines.text.len()));
        };
        let wanted = format.count.min(count - found);
        let is_whole = lines.at <= lines.text.len();
        let mut numbers = numbers_of(line, format.width, wanted);
        if !is_whole && !line.len().is_multiple_of(format.width) {
            // The end of the last number may be missing, as the end of the line is.
            numbers.pop();
        }
        for (offset, field) in numbers {
            take(start + offset, field)?;
            found += 1;
        }
    }
    Ok(())
}

/// The numbers of a line, and where they begin. Some programs write fields of another width than the format says, with blanks between them: as many as
/// there should be are those.
fn numbers_of(line: &[u8], width: usize, wanted: usize) -> Vec<(usize, &[u8])> {
    let begin = |field: &[u8]| field.as_ptr() as usize - line.as_ptr() as usize;
    let apart: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).take(wanted + 1).collect();
    let fields = match apart.len() == wanted {
        true => apart,
        false => {
            line.chunks(width).take(wanted).map(<[u8]>::trim_ascii).take_while(|field| !field.is_empty()).collect()
        }
    };
    fields.into_iter().map(|field| (begin(field), field)).collect()
}

/// Whole numbers from 1, as numbers from 0.
fn positions(lines: &mut Lines<'_>, format: Format, count: usize, what: &str) -> Result<Vec<u64>, ReadError> {
    let text = lines.text;
    let mut numbers = memory::try_room(count.min(text.len()))?;
    fields(lines, format, count, what, &mut |offset, field| {
        let number = std::str::from_utf8(field).ok().and_then(|field| field.parse::<u64>().ok());
        let number = number.and_then(|number| number.checked_sub(1)).ok_or_else(|| {
            let message = format!("{} is no whole number from 1", quote(field));
            ReadError::new(ReadErrorKind::Index, message).at(text, offset)
        })?;
        numbers.push(number);
        Ok(())
    })?;
    Ok(numbers)
}

/// A number as other programs write it: with a point, and a letter before the exponent.
fn number(field: &[u8], fraction: usize) -> Vec<u8> {
    let mut text = field.to_vec();
    let sign = text.iter().skip(1).position(|byte| matches!(byte, b'+' | b'-')).map(|place| place + 1);
    if let Some(sign) = sign.filter(|&sign| text[sign - 1].is_ascii_digit() || text[sign - 1] == b'.') {
        text.insert(sign, b'E');
    }
    let end = text.iter().position(u8::is_ascii_alphabetic).unwrap_or(text.len());
    let begin = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let has_digits = end > begin && text[begin..end].iter().all(u8::is_ascii_digit);
    if has_digits && fraction > 0 {
        let missing = fraction.saturating_sub(end - begin);
        text.splice(begin..begin, std::iter::repeat_n(b'0', missing));
        text.insert(end + missing - fraction, b'.');
    }
    text
}

fn read<T: Value>(text: &[u8]) -> Result<Loaded, ReadError> {
    let element = T::TYPE;
    let (head, mut lines) = Head::of(text)?;
    if head.field == Field::Complex && !T::Carrier::COMPLEX {
        let message = format!("the values are complex, which {element} is not: read them as c32 or c64");
        return Err(ReadError::new(ReadErrorKind::NotSupported, message));
    }
    let pointers = positions(&mut lines, head.pointers, head.columns.saturating_add(1), "beginnings of columns")?;
    let rows = positions(&mut lines, head.indices, head.entries, "rows")?;
    let columns = expanded("the list of where columns begin", &pointers, head.columns, head.entries)?;
    if columns.len() != head.entries {
        let message = format!("the columns have {} entries, and the head states {}", columns.len(), head.entries);
        return Err(ReadError::new(ReadErrorKind::Entries, message));
    }
    let values: Vec<T::Carrier> = match head.values {
        None => carried::<T>(ones(head.entries, element)?)?,
        Some(format) => values::<T>(&mut lines, &head, format)?,
    };
    if !head.has_right_sides
        && let Some(offset) = more(&mut lines)
    {
        let message = "lines behind the matrix are not understood: remove them".to_owned();
        return Err(ReadError::new(ReadErrorKind::Entries, message).at(text, offset));
    }
    let indices = vec![within(rows, 0, head.rows)?, within(columns, 1, head.columns)?];
    let (indices, values) = both_triangles::<T::Carrier>(indices, values, element, head.symmetry)?;
    Ok(Loaded::entries(vec![head.rows, head.columns], indices, value::uncarried(values, element)?))
}

fn carried<T: Value>(values: Values) -> Result<Vec<T::Carrier>, ReadError> {
    value::carriers(values, T::TYPE)
}

/// Where a line begins that is not blank.
fn more(lines: &mut Lines<'_>) -> Option<usize> {
    std::iter::from_fn(|| lines.next()).find(|(_, line)| !line.trim_ascii().is_empty()).map(|(offset, _)| offset)
}

fn values<T: Value>(lines: &mut Lines<'_>, head: &Head, format: Format) -> Result<Vec<T::Carrier>, ReadError> {
    type Part<C> = <C as Carrier>::Part;
    let (text, element) = (lines.text, T::TYPE);
    let is_complex = head.field == Field::Complex;
    let count = if is_complex { head.entries.saturating_mul(2) } else { head.entries };
    let mut parts: Vec<Part<T::Carrier>> = memory::try_room(count.min(text.len()))?;
    let is_whole = head.field == Field::Integer && !value::are_whole(element);
    fields(lines, format, count, "values", &mut |offset, field| {
        let part = match is_whole {
            true => value::parse_stated(field, ElementType::I64, element),
            false => value::parse(&number(field, format.fraction), element),
        };
        let part = part.map_err(|_| {
            let message = format!("value {} is none that {element} holds: read it as another type", quote(field));
            ReadError::new(ReadErrorKind::Value, message).at(text, offset)
        })?;
        parts.push(part);
        Ok(())
    })?;
    let zero = <Part<T::Carrier> as crate::tensor::Element>::ZERO;
    Ok(match is_complex {
        true => memory::try_collected(parts.chunks_exact(2).map(|pair| T::Carrier::of_parts(pair[0], pair[1])))?,
        false => memory::try_collected(parts.iter().map(|&part| T::Carrier::of_parts(part, zero)))?,
    })
}

/// The entries of a matrix, of which the file may have one triangle.
fn both_triangles<C: Carrier>(
    indices: Vec<Indices>,
    values: Vec<C>,
    element: ElementType,
    symmetry: Symmetry,
) -> Result<(Vec<Indices>, Vec<C>), ReadError> {
    if symmetry == Symmetry::General {
        return Ok((indices, values));
    }
    let wrong = triangle::first_misplaced(&indices, &values, symmetry);
    let wrong = wrong.or_else(|| triangle::first_without_negative(&values, element, symmetry));
    if let Some((entry, message)) = wrong {
        return Err(ReadError::new(ReadErrorKind::Entries, format!("entry {}: {message}", entry + 1)));
    }
    Ok(triangle::mirror(indices, values, element, symmetry)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::complex::c64;
    use crate::io::{FileType, TensorFile};
    use crate::tensor::Coordinates;

    fn read<T: Value>(text: &str) -> Result<Coordinates<T>, String> {
        let file = TensorFile::of_bytes(FileType::Harwell, text.as_bytes().to_vec());
        let read = file.contents::<T>().and_then(|contents| contents.into_coordinates());
        read.map_err(|error| error.to_string().replace("bytes: ", "").replace("bytes:", ""))
    }

    fn entries<T: Value>(x: &Coordinates<T>) -> Vec<([u64; 2], T)> {
        let index = |entry: usize| [0, 1].map(|mode: usize| x.indices[mode].at(entry));
        x.values.iter().enumerate().map(|(entry, &value)| (index(entry), value)).collect()
    }

    /// What `scipy.io.hb_write` of SciPy 1.17.1 wrote: shape, count and sum are those that SciPy says.
    const SCIPY: &str = include_str!("tests/scipy/a.rua");

    #[test]
    fn files_of_scipy_have_their_shape_count_and_sum() {
        let x = read::<f64>(SCIPY).unwrap();
        assert_eq!((x.shape.as_slice(), x.values.len()), (&[7, 5][..], 14));
        assert!((x.values.iter().sum::<f64>() - 7.397).abs() < 1e-12);
        let entries = entries(&x);
        assert_eq!((entries[0], entries[13]), (([1, 0], -1.613), ([6, 4], 3.788)));
        assert!(read::<f32>(SCIPY).unwrap().values.contains(&0.681_f32));
    }

    fn file(kind: &str, formats: &str, body: &str) -> String {
        format!("title\n 3 1 1 1 0\n{kind}\n{formats}\n{body}")
    }

    #[test]
    fn types_and_formats() {
        let pattern = file("PSA  3 3 3 0", "(4I2) (10I2)", " 1 3 4 4\n 1 3 2\n");
        let symmetric = [([0, 0], true), ([2, 0], true), ([1, 1], true), ([0, 2], true)];
        assert_eq!(entries(&read::<bool>(&pattern).unwrap()), symmetric);
        assert_eq!(read::<f64>(&pattern).unwrap().values, [1.0; 4]);
        // Fields without blanks between them, exponents without a letter, and a point that is not written.
        let real = file("rza  2 2 1 0", "(4I1)(4I1)(1P,2D8.2)", "122\n2\n-1.5D+03\n");
        assert_eq!(entries(&read::<f64>(&real).unwrap()), [([1, 0], -1500.0), ([0, 1], 1500.0)]);
        let real = file("RUA  3 1 3 0", "(4I1) (4I1) (3F7.2)", "14\n123\n     -51.5+100   1E12\n");
        assert_eq!(read::<f64>(&real).unwrap().values, [-0.05, 1.5e100, 1e10]);
        let complex = file("CHA  2 2 2 0", "(4I1) (4I1) (4E4.1)", "133\n12\n 1.0 0.0 2.0-3.0\n");
        let hermitian = [([0, 0], c64::new(1.0, 0.0)), ([1, 0], c64::new(2.0, -3.0)), ([0, 1], c64::new(2.0, 3.0))];
        assert_eq!(entries(&read::<c64>(&complex).unwrap()), hermitian);
        assert_eq!(
            read::<f64>(&complex).unwrap_err(),
            "the values are complex, which f64 is not: read them as c32 or c64"
        );
        let whole = file("IUA  1 1 1 0", "(4I1) (4I1) (1I20)", "12\n1\n    9007199254740993\n");
        assert_eq!(read::<i64>(&whole).unwrap().values, [9_007_199_254_740_993]);
        assert!(read::<f64>(&whole).unwrap_err().contains("none that f64 holds"));
    }

    #[test]
    fn damage_is_named() {
        let of = |kind: &str, formats: &str, body: &str| read::<f64>(&file(kind, formats, body)).unwrap_err();
        let good = ("RUA 2 1 2 0", "(2I1) (2I1) (2E4.1)", "13\n12\n 1.0 2.0\n");
        assert!(read::<f64>(&file(good.0, good.1, good.2)).is_ok());
        assert!(of("RUE 2 1 2 0", good.1, good.2).starts_with("3:1: type 'RUE' is not supported"));
        assert!(of("XUA 2 1 2 0", good.1, good.2).starts_with("3:1: 'XUA' is no type of matrix"));
        assert!(of(good.0, "(2I1) (2I1) (2A4)", good.2).starts_with("4:1: format '(2A4)' is not supported"));
        assert_eq!(of(good.0, good.1, "13\n12\n 1.0\n"), "8:1: only 1 of 2 values: the file is cut short");
        assert_eq!(of(good.0, good.1, "13\n02\n"), "6:1: '0' is no whole number from 1");
        assert_eq!(of(good.0, good.1, "12\n12\n 1.0 2.0\n"), "the columns have 1 entries, and the head states 2");
        assert!(of(good.0, good.1, "13\n12\n 1.0 2.0\nmore\n").starts_with("8:1: lines behind the matrix"));
        for length in 0..SCIPY.trim_end().len() {
            assert!(read::<f64>(&SCIPY[..length]).is_err(), "{length}");
        }
    }
}
