//! `.tns`: the text format of FROSTT, an entry a line.
//!
//! ```text
//! # a comment
//! 1 3 2  5.0
//! 2 1 1  -0.5
//! ```
//!
//! Each line has the indices of an entry, from 1, and its value, separated by blanks or tabs. `#` starts a comment,
//! blank lines are skipped. There is no header: the first line says the order, and the largest indices are the shape
//! unless the caller states one.
//!
//! A complex number is two values, the real part and the imaginary part. The file does not tell them from indices: what reads
//! it as `c32` or `c64` expects them, and what reads it as another element type does not.
//!
//! Source: S. Smith et al., FROSTT: The Formidable Repository of Open Sparse Tensors and Tools, 2017.

use std::io::Read;

use super::entries::{self, Entries, LARGEST_INDEX, Layout, Values, quote};
use super::value::Value;
use super::{ReadError, ReadErrorKind};
use crate::tensor::{Coordinates, Indices};

const COMMENT: u8 = b'#';

/// More modes than any tensor has; a line with more fields is no entry.
const LARGEST_ORDER: usize = 255;

/// Some editors put this before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads `.tns` text, which is [what a file holds](self); `shape` states the extents if they are known.
///
/// # Errors
///
/// [`ReadError`] with line and column of the first thing in the text that is wrong; or without, if there is no entry and
/// no stated shape.
pub fn parse<T: Value>(text: &[u8], shape: Option<&[usize]>) -> Result<Coordinates<T>, ReadError> {
    parse_in_chunks(text, shape, entries::chunk_bytes(text))
}

/// As [`parse`], with chunks of about `chunk_bytes`.
pub(crate) fn parse_in_chunks<T: Value>(
    text: &[u8],
    shape: Option<&[usize]>,
    chunk_bytes: usize,
) -> Result<Coordinates<T>, ReadError> {
    let (start, layout) = layout::<T>(text, shape, chunk_bytes)?;
    let Entries { indices, largest, values, fault } = entries::parse(text, start, &layout);
    if let Some(fault) = fault {
        let after_one_line = fault.kind == ReadErrorKind::FieldCount && values.len() == 1;
        let error = fault.in_text(text);
        let hint = "; if the first line is a header, remove it";
        return Err(if after_one_line { error.with_hint(hint) } else { error });
    }
    Ok(coordinates(indices, &largest, values, shape))
}

/// As [`parse`], of text that comes in blocks of about `block` bytes; None where anything is wrong with it.
pub(crate) fn parse_blocks<T: Value>(
    text: &mut (dyn Read + Send),
    shape: Option<&[usize]>,
    block: usize,
) -> Option<Coordinates<T>> {
    let layout_of = |text: &[u8]| {
        entries::first_entry(text, 0, COMMENT)?;
        layout::<T>(text, shape, block).ok()
    };
    let Entries { indices, largest, values, .. } = entries::parse_blocks(text, block, &layout_of)?;
    Some(coordinates(indices, &largest, values, shape))
}

/// Where the first line begins, and how lines are to be read.
fn layout<T: Value>(text: &[u8], shape: Option<&[usize]>, chunk_bytes: usize) -> Result<(usize, Layout), ReadError> {
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let values = if T::COMPLEX { Values::Complex } else { Values::Real };
    let order = match (entries::first_entry(text, start, COMMENT), shape) {
        (Some((offset, fields)), _) => order(&fields, values, shape).map_err(|error| error.at(text, offset))?,
        (None, Some(shape)) => shape.len(),
        (None, None) => return Err(without_entries()),
    };
    let limits = match shape {
        Some(shape) => shape.iter().map(|&extent| extent as u64).collect(),
        None => vec![LARGEST_INDEX; order],
    };
    Ok((start, Layout { limits, limits_are_stated: shape.is_some(), values, comment: COMMENT, chunk_bytes }))
}

fn coordinates<T>(indices: Vec<Indices>, largest: &[u64], values: Vec<T>, shape: Option<&[usize]>) -> Coordinates<T> {
    let shape_is_stated = shape.is_some();
    let shape = shape.map_or_else(|| largest.iter().map(|&index| index as usize).collect(), <[usize]>::to_vec);
    Coordinates { shape, shape_is_stated, indices, values }
}

/// The order that the first line has.
fn order(fields: &[&[u8]], values: Values, shape: Option<&[usize]>) -> Result<usize, ReadError> {
    let refuse = |message| Err(ReadError::new(ReadErrorKind::FieldCount, message));
    let Some(order) = fields.len().checked_sub(values.fields()) else {
        return refuse(format!("{} alone: of a complex number, both parts stand in a line", quote(fields[0])));
    };
    match shape {
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
