//! The first lines of a Matrix Market file.

use crate::io::entries::{self, quote};
use crate::io::stated::{At, Stated};
use crate::io::{ReadError, ReadErrorKind};
use spc_compiler::ir::ElementType;

/// What begins a comment.
pub(in crate::io) const COMMENT: u8 = b'%';

/// What the header line and the size line say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) storage: Storage,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    /// Whether the object is a `vector`, whose entries have one index.
    pub(super) is_vector: bool,
    /// Rows and columns, which a vector has one of.
    pub(super) shape: [usize; 2],
    /// The extent of each mode: a comment may say that a matrix of one column is a vector.
    pub(super) modes: Vec<usize>,
    /// Where the comments begin.
    comments: usize,
    /// Where the size line begins, for messages.
    pub(super) size_line: usize,
    /// Where the entries begin.
    pub(super) body: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    /// As many entries as stated, with their indices.
    Coordinate(usize),
    /// All elements, column by column.
    Array,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    Unsigned,
    Pattern,
    Complex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::io) enum Symmetry {
    General,
    Symmetric,
    SkewSymmetric,
    Hermitian,
}

impl Field {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Integer => "integer",
            Self::Unsigned => "unsigned-integer",
            Self::Pattern => "pattern",
            Self::Complex => "complex",
        }
    }
}

impl Symmetry {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
            Self::Hermitian => "hermitian",
        }
    }
}

impl Header {
    /// The element type of whole numbers.
    pub(super) fn whole(&self) -> Option<ElementType> {
        match self.field {
            Field::Integer => Some(ElementType::I64),
            Field::Unsigned => Some(ElementType::U64),
            Field::Real | Field::Pattern | Field::Complex => None,
        }
    }

    /// What comments state.
    pub(super) fn stated<'text>(&self, text: &'text [u8]) -> Result<Stated<'text>, ReadError> {
        Stated::of(text, self.comments, COMMENT)
    }
}

/// Reads the header line and the size line.
pub(super) fn parse(text: &[u8]) -> Result<Header, ReadError> {
    let line_end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
    let fail = |kind, message: String| ReadError::new(kind, message).at(text, 0);
    let (is_vector, array, field, symmetry) =
        banner(&text[..line_end]).map_err(|(kind, message)| fail(kind, message))?;
    let Some((size_line, sizes)) = entries::first_entry(text, line_end, COMMENT) else {
        let (_, expected) = sizes_of(is_vector, array);
        return Err(fail(
            ReadErrorKind::Header,
            format!("there is no size line: after the comments, write {expected}"),
        ));
    };
    let (shape, storage) = size(&sizes, is_vector, array)
        .and_then(|(shape, storage)| square(shape, symmetry).map(|()| (shape, storage)))
        .map_err(|message| ReadError::new(ReadErrorKind::Header, message).at(text, size_line))?;
    let after = text[size_line..].iter().position(|&byte| byte == b'\n');
    let body = after.map_or(text.len(), |length| size_line + length + 1);
    let comments = text.len().min(line_end + 1);
    let modes = shape[..if is_vector { 1 } else { 2 }].to_vec();
    let mut header = Header { storage, field, symmetry, is_vector, shape, modes, comments, size_line, body };
    if let Some(At { what, offset }) = header.stated(text)?.shape {
        let columns = [what.first().copied().unwrap_or(1), what.get(1).copied().unwrap_or(1)];
        if what.len() > 2 || columns != shape {
            let [rows, columns] = shape;
            let message =
                format!("the shape is not that of the size line, {rows} {columns}: correct the one or the other");
            return Err(ReadError::new(ReadErrorKind::Header, message).at(text, offset));
        }
        header.modes = what;
    }
    Ok(header)
}

/// Whether it is a vector and whether it is an array, with the field and the symmetry.
type Banner = (bool, bool, Field, Symmetry);

const MAGIC: &str = "%%matrixmarket";

/// Whether a text begins as such a file does.
pub(super) fn has_banner(text: &[u8]) -> bool {
    text.get(..MAGIC.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(MAGIC.as_bytes()))
}

/// `%%MatrixMarket matrix coordinate real general`, in any case.
fn banner(line: &[u8]) -> Result<Banner, (ReadErrorKind, String)> {
    let shown = line.strip_suffix(b"\r").unwrap_or(line);
    let line = String::from_utf8_lossy(line).to_ascii_lowercase();
    // Some editors put a byte order mark before the first line.
    let words: Vec<&str> = line.trim_start_matches('\u{feff}').split_whitespace().collect();
    let wrong = |message: String| (ReadErrorKind::Header, message);
    let unsupported = |message: String| (ReadErrorKind::NotSupported, message);
    if words.first() != Some(&MAGIC) {
        let example = "`%%MatrixMarket matrix coordinate real general`";
        return Err(wrong(format!("the first line is {}: a Matrix Market file begins with {example}", quote(shown))));
    }
    // Some programs write their name behind these.
    let &[_, object, storage, field, symmetry, ..] = words.as_slice() else {
        let expected = "`%%MatrixMarket`, `matrix`, storage, field and symmetry";
        return Err(wrong(format!("the header has {} words: it needs 5, {expected}", words.len())));
    };
    let is_vector = object == "vector";
    if object != "matrix" && !is_vector {
        let object = quote(object.as_bytes());
        return Err(unsupported(format!("object {object} is not supported: only `matrix` and `vector` are")));
    }
    let array = match storage {
        "coordinate" => false,
        "array" => true,
        other => return Err(wrong(format!("storage {}: it is `coordinate` or `array`", quote(other.as_bytes())))),
    };
    let field = match field {
        "real" | "double" => Field::Real,
        "integer" => Field::Integer,
        "unsigned-integer" => Field::Unsigned,
        "pattern" if array => return Err(wrong("an `array` file has values: `pattern` contradicts it".to_owned())),
        "pattern" => Field::Pattern,
        "complex" => Field::Complex,
        other => {
            let expected = "it is `real`, `integer`, `pattern` or `complex`";
            return Err(wrong(format!("field {}: {expected}", quote(other.as_bytes()))));
        }
    };
    let symmetry = match symmetry {
        "general" => Symmetry::General,
        "symmetric" => Symmetry::Symmetric,
        "skew-symmetric" if field == Field::Pattern => {
            return Err(wrong("a `pattern` has no sign: `skew-symmetric` contradicts it".to_owned()));
        }
        "skew-symmetric" => Symmetry::SkewSymmetric,
        "hermitian" if field == Field::Complex => Symmetry::Hermitian,
        "hermitian" => {
            return Err(wrong("`hermitian` is for complex values: a real matrix is `symmetric`".to_owned()));
        }
        other => {
            let expected = "it is `general`, `symmetric`, `skew-symmetric` or `hermitian`";
            return Err(wrong(format!("symmetry {}: {expected}", quote(other.as_bytes()))));
        }
    };
    Ok((is_vector, array, field, symmetry))
}

/// How many fields the size line has, and what they are.
fn sizes_of(is_vector: bool, array: bool) -> (usize, &'static str) {
    match (is_vector, array) {
        (false, false) => (3, "rows, columns and the number of entries"),
        (false, true) => (2, "rows and columns"),
        (true, false) => (2, "the length and the number of entries"),
        (true, true) => (1, "the length"),
    }
}

/// Rows, columns and, unless all elements are there, the number of entries.
fn size(fields: &[&[u8]], is_vector: bool, array: bool) -> Result<([usize; 2], Storage), String> {
    let number = |field: &&[u8]| {
        let value = std::str::from_utf8(field).ok().and_then(|text| text.parse::<usize>().ok());
        let value = value.filter(|&value| isize::try_from(value).is_ok());
        value.ok_or_else(|| format!("size {}: it is a whole number below 2^63", quote(field)))
    };
    let (count, expected) = sizes_of(is_vector, array);
    if fields.len() != count {
        return Err(format!("the size line has {} fields: it needs {count}: {expected}", fields.len()));
    }
    let numbers = fields.iter().map(number).collect::<Result<Vec<usize>, String>>()?;
    let shape = [numbers[0], if is_vector { 1 } else { numbers[1] }];
    Ok((shape, if array { Storage::Array } else { Storage::Coordinate(numbers[count - 1]) }))
}

fn square([rows, columns]: [usize; 2], symmetry: Symmetry) -> Result<(), String> {
    if symmetry == Symmetry::General || rows == columns {
        return Ok(());
    }
    Err(format!("a {} matrix is square, but this one is {rows} x {columns}", symmetry.name()))
}
