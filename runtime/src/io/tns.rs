//! `.tns`: the text format of FROSTT, an entry a line.
//!
//! ```text
//! # a comment
//! 1 3 2  5.0
//! 2 1 1  -0.5
//! ```
//!
//! Each line has the indices of an entry, from 1, and its value, separated by blanks or tabs. `#` starts a comment,
//! blank lines are skipped. The first line says the order, and the largest indices are the shape unless the caller states one, or
//! a comment at the start:
//!
//! ```text
//! # shape: 10 20 30
//! # fill: inf
//! # element: f32
//! ```
//!
//! Other programs read over these lines; what is written here begins with the shape, with the fill value where it is not
//! zero, and with the element type where it is not `f64`. No index may be beyond a shape that is stated. Where no fill value is,
//! missing entries are what the reader takes them for.
//!
//! A complex number is two values, the real part and the imaginary part. A file that states neither its element type nor its shape
//! does not tell them from indices: what reads it as `c32` or `c64` expects them, and what reads it as another element type does not.
//!
//! Source: S. Smith et al., FROSTT: The Formidable Repository of Open Sparse Tensors and Tools, 2017.

use std::io::Read;
use std::sync::OnceLock;

use spc_compiler::ir::ElementType;

use super::contents::{Contents, Filled};
use super::entries::{self, Entries, LARGEST_INDEX, Layout, Values, quote};
use super::stated::{At, Stated};
use super::value::{Carrier, Value};
use super::{ReadError, ReadErrorKind};
use crate::tensor::{Coordinates, Indices};

pub(super) const COMMENT: u8 = b'#';

/// What is added where the second line has another number of fields than the first.
pub(super) const HEADER_HINT: &str = "; if the first line is a header, remove it";

/// More modes than any tensor has; a line with more fields is no entry.
const LARGEST_ORDER: usize = 255;

/// Some editors put this before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads `.tns` text, which is [what a file holds](self); `shape` states the extents if they are known.
///
/// # Errors
///
/// [`ReadError`] with line and column of the first thing in the text that is wrong; or without, if there is no entry and
/// no stated shape, or if the text states a fill value other than zero.
pub fn parse<T: Value>(text: &[u8], shape: Option<&[usize]>) -> Result<Coordinates<T>, ReadError> {
    let filled = parse_in_chunks::<T::Carrier>(text, T::TYPE, shape, entries::chunk_bytes(text))?;
    Contents::Entries(filled).of_carriers::<T>()?.into_coordinates()
}

/// As [`parse`], with chunks of about `chunk_bytes`.
pub(crate) fn parse_in_chunks<T: Carrier>(
    text: &[u8],
    element: ElementType,
    shape: Option<&[usize]>,
    chunk_bytes: usize,
) -> Result<Filled<T>, ReadError> {
    let Start { begin, layout, shape, fill } = start::<T>(text, element, shape, chunk_bytes)?;
    let Entries { indices, largest, values, fault } = entries::parse(text, begin, &layout)?;
    if let Some(fault) = fault {
        let after_one_line = fault.kind == ReadErrorKind::FieldCount && values.len() == 1;
        let error = fault.in_text(text);
        return Err(if after_one_line { error.with_hint(HEADER_HINT) } else { error });
    }
    Ok(Filled { entries: coordinates(indices, &largest, values, shape), fill })
}

/// As [`parse`], of text that comes in blocks of about `block` bytes; None where anything is wrong with it.
pub(crate) fn parse_blocks<T: Carrier>(
    text: &mut (dyn Read + Send),
    element: ElementType,
    shape: Option<&[usize]>,
    block: usize,
) -> Option<Filled<T>> {
    let stated = OnceLock::new();
    let layout_of = |text: &[u8]| {
        entries::first_entry(text, 0, COMMENT)?;
        let Start { begin, layout, shape, fill } = start::<T>(text, element, shape, block).ok()?;
        stated.set((shape, fill)).ok()?;
        Some((begin, layout))
    };
    let Entries { indices, largest, values, .. } = entries::parse_blocks(text, block, &layout_of)?;
    let (shape, fill) = stated.into_inner()?;
    Some(Filled { entries: coordinates(indices, &largest, values, shape), fill })
}

/// The element type that a text states.
pub(super) fn element(text: &[u8]) -> Result<Option<ElementType>, ReadError> {
    Ok(Stated::of(text, begin(text), COMMENT)?.element.map(|element| element.what))
}

/// The number of indices of an entry, which the shape that is stated tells, or else the first entry.
pub(super) fn order_of(text: &[u8]) -> Result<Option<usize>, ReadError> {
    let stated = Stated::of(text, begin(text), COMMENT)?;
    let is_complex = stated.element.as_ref().is_some_and(|element| element.what.is_complex());
    let values = if is_complex { Values::Complex } else { Values::Real };
    let first = || entries::first_entry(text, begin(text), COMMENT)?.1.len().checked_sub(values.fields());
    Ok(stated.shape.map(|shape| shape.what.len()).or_else(first))
}

/// The fill value that a text states, as it is written there.
pub(super) fn fill_text(text: &[u8]) -> Result<Option<String>, ReadError> {
    Ok(Stated::of(text, begin(text), COMMENT)?.fill_text().map(str::to_owned))
}

/// How the lines of a text are to be read, and what it states.
pub(super) struct Start<T> {
    /// Where the first line begins.
    pub(super) begin: usize,
    pub(super) layout: Layout,
    /// As the caller or the text states it.
    pub(super) shape: Option<Vec<usize>>,
    pub(super) fill: Option<T>,
}

fn begin(text: &[u8]) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 }
}

pub(super) fn start<T: Carrier>(
    text: &[u8],
    element: ElementType,
    shape: Option<&[usize]>,
    chunk_bytes: usize,
) -> Result<Start<T>, ReadError> {
    let begin = begin(text);
    let stated = Stated::of(text, begin, COMMENT)?;
    let fill = stated.fill(text, element)?;
    let asked = |stated: &At<Vec<usize>>| {
        let fail = |error: ReadError| error.at(text, stated.offset);
        super::contents::same_shape(&stated.what, shape).map_err(fail)
    };
    stated.shape.as_ref().map_or(Ok(()), asked)?;
    let by_file = stated.shape.is_some();
    let shape = stated.shape.map(|shape| shape.what).or_else(|| shape.map(<[usize]>::to_vec));
    let first = entries::first_entry(text, begin, COMMENT);
    let said = stated.element.as_ref().map(|stated| stated.what);
    let known = said.map(ElementType::is_complex);
    if let (Some(true), Some(stated), false) = (known, &stated.element, T::COMPLEX) {
        let message = format!("the values are complex, which {element} is not: read them as c32 or c64");
        return Err(ReadError::new(ReadErrorKind::NotSupported, message).at(text, stated.offset));
    }
    // Lines of a known number of indices tell whether one value follows them or two.
    let alone =
        || first.as_ref().zip(shape.as_ref()).is_some_and(|((_, fields), shape)| fields.len() == shape.len() + 1);
    let complex = T::COMPLEX && known.unwrap_or_else(|| !alone());
    let values = if complex { Values::Complex } else { Values::Real };
    let order = match (first, &shape) {
        (Some((offset, fields)), None) if fields.len() == values.fields() && is_last(text, offset) => 0,
        (Some((offset, fields)), _) => {
            order(&fields, values, shape.as_deref(), by_file).map_err(|error| error.at(text, offset))?
        }
        (None, Some(shape)) => shape.len(),
        (None, None) => return Err(without_entries()),
    };
    let limits = match &shape {
        Some(shape) => shape.iter().map(|&extent| extent as u64).collect(),
        None => vec![LARGEST_INDEX; order],
    };
    let larger = if by_file { "correct the line `# shape:`" } else { "state a larger shape" };
    let larger = shape.is_some().then_some(larger);
    let (stated, exact) = entries::precision(element, said);
    let layout = Layout { element, stated, exact, limits, larger, values, comment: COMMENT, chunk_bytes };
    Ok(Start { begin, layout, shape, fill })
}

fn coordinates<T>(indices: Vec<Indices>, largest: &[u64], values: Vec<T>, shape: Option<Vec<usize>>) -> Coordinates<T> {
    let shape_is_stated = shape.is_some();
    let shape = shape.unwrap_or_else(|| largest.iter().map(|&index| index as usize).collect());
    Coordinates { shape, shape_is_stated, indices, values }
}

/// Whether nothing but comments follows the line that begins at a byte.
fn is_last(text: &[u8], offset: usize) -> bool {
    entries::offset_of_entry(text, offset, COMMENT, 1) == text.len()
}

/// The order that the first line has.
fn order(fields: &[&[u8]], values: Values, shape: Option<&[usize]>, by_file: bool) -> Result<usize, ReadError> {
    let refuse = |message| Err(ReadError::new(ReadErrorKind::FieldCount, message));
    let Some(order) = fields.len().checked_sub(values.fields()) else {
        return refuse(format!("{} alone: of a complex number, both parts stand in a line", quote(fields[0])));
    };
    match shape {
        Some(shape) if shape.len() != order && by_file => refuse(format!(
            "{} fields, where the line `# shape:` states {} modes and so {} fields: correct the one or the other",
            fields.len(),
            shape.len(),
            shape.len() + values.fields()
        )),
        Some(shape) if shape.len() != order => refuse(format!(
            "{} fields, where the stated shape has order {} and so {}: state an extent for each mode",
            fields.len(),
            shape.len(),
            shape.len() + values.fields()
        )),
        None if order == 0 => refuse(format!(
            "{} alone: a line has at least one index and a value; if it is a header, remove it",
            quote(fields[0])
        )),
        _ if order > LARGEST_ORDER => {
            refuse(format!("{} fields: at most {LARGEST_ORDER} indices and a value are supported", fields.len()))
        }
        _ => Ok(order),
    }
}

fn without_entries() -> ReadError {
    let message = "there is no entry, so the order cannot be known: state the shape";
    ReadError::new(ReadErrorKind::Shape, message)
}
