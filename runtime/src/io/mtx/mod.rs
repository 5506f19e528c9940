//! `.mtx`: the text format of the Matrix Market, as the SuiteSparse collection has it.
//!
//! ```text
//! %%MatrixMarket matrix coordinate real symmetric
//! % rows, columns, entries
//! 3 3 2
//! 1 1  4.0
//! 3 1  -1.0
//! ```
//!
//! `matrix` and `vector`; `coordinate` and `array` (all elements, column by column); `real`, `integer`, `complex` (two numbers, the real and the
//! imaginary part) and `pattern` (every value is 1); `general`, `symmetric`, `skew-symmetric` and `hermitian`. Of a symmetric matrix the file has the lower triangle; reading adds the
//! other one behind it, so that the example gives the three entries (1, 1), (3, 1) and (1, 3).
//!
//! Comments between the first line and the size line may state what the format has no place for, as in [`.tns`](super::tns):
//! `% fill: inf` where the fill value is not zero, `% element: f32`, and `% shape: 3` of a vector, which is a matrix of one column
//! to others, or `% shape:` of a scalar.
//!
//! Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats, NIST IR 5935, 1996.

mod array;
mod header;
pub(super) mod triangle;

use std::io::Read;
use std::sync::OnceLock;

pub(super) use self::header::{COMMENT, Symmetry};
use self::header::{Field, Header, Storage};
use super::contents::{Contents, Filled, Loaded};
use super::entries::{self, Base, Entries, Fault, Layout, Values};
use super::kind::{Asked, Description, Kind, Text, Writer};
use super::value::{self, Carrier, Value};
use super::{ReadError, ReadErrorKind};
use crate::tensor::{Coordinates, Indices};
use crate::with_element;
use spc_compiler::ir::ElementType;

/// Reads `.mtx` text, which is [what a file holds](self).
///
/// # Errors
///
/// [`ReadError`] with line and column of the first thing in the text that is wrong; or without, if the text states a fill value
/// other than zero.
pub fn parse<T: Value>(text: &[u8]) -> Result<Coordinates<T>, ReadError> {
    let contents = parse_in_chunks::<T::Carrier>(text, T::TYPE, entries::chunk_bytes(text))?;
    contents.of_carriers::<T>()?.into_coordinates()
}

/// As [`parse`], with chunks of about `chunk_bytes`.
pub(crate) fn parse_in_chunks<T: Carrier>(
    text: &[u8],
    element: ElementType,
    chunk_bytes: usize,
) -> Result<Contents<T>, ReadError> {
    let (header, layout) = layout::<T>(text, element, chunk_bytes)?;
    let fill = header.stated(text)?.fill(text, element)?;
    let mut read = entries::parse::<T>(text, header.body, &layout)?;
    let place_of = |entry| entries::offset_of_entry(text, header.body, COMMENT, entry);
    let stated = header.stored();
    let fault = first_fault(&mut read, &header, element, stated, place_of);
    if let Some(fault) = fault.or_else(|| missing(&header, read.values.len())) {
        return Err(fault.in_text(text));
    }
    contents(&header, element, read, fill)
}

/// The kind of file.
pub(super) struct Mtx;

impl Kind for Mtx {
    fn begins(&self, head: &[u8]) -> bool {
        header::has_banner(head)
    }

    fn text(&self) -> Option<Text> {
        Some(Text::Mtx)
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        let header = header::parse(head)?;
        let stated = header.stated(head)?;
        let own = || match header.field {
            Field::Real => None,
            Field::Integer => Some(ElementType::I64),
            Field::Unsigned => Some(ElementType::U64),
            Field::Pattern => Some(ElementType::Bool),
            Field::Complex => Some(ElementType::C64),
        };
        let said = stated.element.as_ref().map(|element| element.what);
        let element = said.or_else(own);
        let computed = said.or(element.filter(|element| element.is_complex()));
        let layout = match header.storage {
            Storage::Array => super::Layout::Dense,
            Storage::Coordinate(_) => super::Layout::Entries,
        };
        // A matrix of one column may be read as a vector.
        let order = Some(if header.is_vector { 1 } else { 2 });
        let object = if header.is_vector { "vector" } else { "matrix" };
        let storage = if layout == super::Layout::Dense { "array" } else { "coordinate" };
        let (field, symmetry) = (header.field.name(), header.symmetry.name());
        let stored = format!("Matrix Market, {object} {storage} {field} {symmetry}");
        Ok(Description { element, computed, layout, order, fill: stated.fill_text().map(str::to_owned), stored })
    }

    fn read(&self, text: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        fn of<T: Value>(text: &[u8]) -> Result<Loaded, ReadError> {
            let contents = parse_in_chunks::<T::Carrier>(text, T::TYPE, entries::chunk_bytes(text))?;
            Ok(contents.of_carriers::<T>()?.into())
        }
        with_element!(asked.element, |T| of::<T>(text))
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(&Text::Mtx)
    }
}

/// As [`parse`], of text that comes in blocks of about `block` bytes; None where anything is wrong with it.
pub(super) fn read_blocks<T: Value>(text: &mut (dyn Read + Send), asked: &Asked<'_>, block: usize) -> Option<Loaded> {
    let contents = parse_blocks::<T::Carrier>(text, asked.element, block)?;
    Some(contents.of_carriers::<T>().ok()?.into())
}

/// As [`parse`], of text that comes in blocks of about `block` bytes; None where anything is wrong with it.
pub(crate) fn parse_blocks<T: Carrier>(
    text: &mut (dyn Read + Send),
    element: ElementType,
    block: usize,
) -> Option<Contents<T>> {
    let header = OnceLock::new();
    let layout_of = |text: &[u8]| {
        let (found, layout) = layout::<T>(text, element, block).ok()?;
        let (body, fill) = (found.body, found.stated(text).ok()?.fill::<T>(text, element).ok()?);
        header.set((found, fill)).ok()?;
        Some((body, layout))
    };
    let mut read = entries::parse_blocks(text, block, &layout_of)?;
    let (header, fill) = header.into_inner()?;
    let fault = first_fault(&mut read, &header, element, header.stored(), |_| 0);
    match fault.or_else(|| missing(&header, read.values.len())) {
        None => contents(&header, element, read, fill).ok(),
        Some(_) => None,
    }
}

/// The header, and how the lines behind it are to be read.
fn layout<T: Carrier>(text: &[u8], element: ElementType, chunk_bytes: usize) -> Result<(Header, Layout), ReadError> {
    let header = header::parse(text)?;
    let values = match header.field {
        Field::Real => Values::Real,
        Field::Integer | Field::Unsigned => Values::Integer,
        Field::Pattern => Values::Pattern,
        Field::Complex if T::COMPLEX => Values::Complex,
        Field::Complex => {
            let message = format!("the values are complex, which {element} is not: read them as c32 or c64");
            return Err(ReadError::new(ReadErrorKind::NotSupported, message).at(text, 0));
        }
    };
    let limits = match header.storage {
        Storage::Coordinate(_) if header.is_vector => vec![header.shape[0] as u64],
        Storage::Coordinate(_) => header.shape.map(|extent| extent as u64).to_vec(),
        Storage::Array => Vec::new(),
    };
    let said = header.stated(text)?.element.map(|element| element.what);
    // Whole numbers stay whole ones of their type.
    let said = said.or_else(|| header.whole().filter(|_| !value::are_whole(element)));
    let (stated, exact) = entries::precision(element, said);
    let larger = Some("state a larger shape");
    Ok((
        header,
        Layout { element, stated, exact, limits, larger, base: Base::One, values, comment: COMMENT, chunk_bytes },
    ))
}

/// The matrix, from the entries of the file.
fn contents<T: Carrier>(
    header: &Header,
    element: ElementType,
    read: Entries<T>,
    fill: Option<T>,
) -> Result<Contents<T>, ReadError> {
    if header.storage == Storage::Array {
        return array::expand(header, element, header.symmetry, &read.values).map(Contents::Tensor);
    }
    let (indices, values) = both_triangles(header, element, read.indices, read.values)?;
    let entries = Coordinates { shape: header.modes.clone(), shape_is_stated: true, indices, values };
    Ok(Contents::Entries(Filled { entries, fill }))
}

/// The entries of a matrix, of which the file may have one triangle.
fn both_triangles<T: Carrier>(
    header: &Header,
    element: ElementType,
    indices: Vec<Indices>,
    values: Vec<T>,
) -> Result<(Vec<Indices>, Vec<T>), ReadError> {
    let (mut indices, values) = match header.symmetry {
        Symmetry::General => (indices, values),
        symmetry => triangle::mirror(indices, values, element, symmetry)?,
    };
    indices.truncate(header.modes.len());
    Ok((indices, values))
}

/// A matrix whose entries come in blocks of lines, the first of which has the header.
pub(super) struct Begun<T> {
    header: Header,
    pub(super) layout: Layout,
    pub(super) fill: Option<T>,
    /// The text before the entries.
    head: Vec<u8>,
    found: usize,
}

impl<T: Carrier> Begun<T> {
    pub(super) fn new(text: &[u8], element: ElementType) -> Result<Self, ReadError> {
        let (header, layout) = layout::<T>(text, element, entries::chunk_bytes(text))?;
        if header.storage == Storage::Array {
            let message = "the file has all elements of the matrix, which are read as a whole";
            return Err(ReadError::new(ReadErrorKind::NotSupported, message));
        }
        let fill = header.stated(text)?.fill(text, element)?;
        let head = text[..header.body].to_vec();
        Ok(Self { header, layout, fill, head, found: 0 })
    }

    /// Where entries begin in the first block.
    pub(super) fn body(&self) -> usize {
        self.header.body
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.header.modes
    }

    /// How many entries the file has.
    #[cfg(feature = "compile")]
    pub(super) fn stated(&self) -> usize {
        self.header.stored()
    }

    /// So many entries came before the next block.
    #[cfg(feature = "compile")]
    pub(super) fn have_come(&mut self, entries: usize) {
        self.found = entries;
    }

    /// The entries of the next block, which has been read from a byte on.
    pub(super) fn entries(&mut self, text: &[u8], start: usize, mut read: Entries<T>) -> Result<Entries<T>, ReadError> {
        let element = self.layout.element;
        let place_of = |entry| entries::offset_of_entry(text, start, COMMENT, entry);
        let left = self.header.stored().saturating_sub(self.found);
        if let Some(mut fault) = first_fault(&mut read, &self.header, element, left, place_of) {
            if fault.kind == ReadErrorKind::Entries && read.values.len() > left {
                fault.message = more(self.header.stored());
            }
            return Err(fault.in_text(text));
        }
        self.found += read.values.len();
        let (indices, values) = both_triangles(&self.header, element, read.indices, read.values)?;
        Ok(Entries { indices, values, ..read })
    }

    /// Whether all entries were there.
    pub(super) fn finish(&self) -> Result<(), ReadError> {
        missing(&self.header, self.found).map_or(Ok(()), |fault| Err(fault.in_text(&self.head)))
    }
}

impl Header {
    /// How many entries the file has.
    fn stored(&self) -> usize {
        match self.storage {
            Storage::Coordinate(stated) => stated,
            Storage::Array => array::stored(self.shape, self.symmetry),
        }
    }
}

/// What is said where a file has fewer entries than it states.
fn missing(header: &Header, found: usize) -> Option<Fault> {
    let stated = header.stored();
    (found < stated).then(|| {
        let message = format!("only {found} of {stated} entries: the file is cut short, or the size line is wrong");
        Fault { kind: ReadErrorKind::Entries, offset: header.size_line, message }
    })
}

fn more(stated: usize) -> String {
    format!("more entries than the {stated} that the size line states: correct the size line")
}

/// Of what may be wrong with the entries that are there, of which so many are to come, what comes first in the file.
fn first_fault<T: Carrier>(
    read: &mut Entries<T>,
    header: &Header,
    element: ElementType,
    stated: usize,
    place_of: impl Fn(usize) -> usize,
) -> Option<Fault> {
    let found = read.values.len();
    let misplaced = triangle::first_misplaced(&read.indices, &read.values, header.symmetry)
        .map(|(entry, message)| (entry, ReadErrorKind::Entries, message));
    let unsigned = triangle::first_without_negative(&read.values, element, header.symmetry)
        .map(|(entry, message)| (entry, ReadErrorKind::Value, message));
    let first = [misplaced, unsigned].into_iter().flatten().min_by_key(|&(entry, ..)| entry);
    if let Some((entry, kind, message)) = first.filter(|&(entry, ..)| entry < stated) {
        return Some(Fault { kind, offset: place_of(entry), message });
    }
    if found > stated {
        return Some(Fault { kind: ReadErrorKind::Entries, offset: place_of(stated), message: more(stated) });
    }
    read.fault.take()
}
