//! `.npy`: one dense array, as `NumPy` writes it.
//!
//! Versions 1 to 3; element types `<f8 <f4 <i4 <i8 |u1 |b1 <c8 <c16`; C and Fortran order. Written are version 1 and C order.
//!
//! Source: `numpy.lib.format`, the `NumPy` manual.

use std::io::{self, Write};
use std::sync::Arc;

use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;

use super::entries::quote;
use super::value::sealed::Value as Sealed;
use super::value::{self, Value};
use super::write::{check, invalid};
use super::{ReadError, ReadErrorKind, indices};
use crate::tensor::{AnyTensor, Buffer, Coordinates, Indices, LevelStorage};
use crate::with_element;

const MAGIC: &[u8] = b"\x93NUMPY";

/// A dense array, its last mode contiguous.
#[derive(Debug, Clone, PartialEq)]
struct Array<T> {
    shape: Vec<usize>,
    values: Vec<T>,
}

/// What the header says, and the bytes of the elements.
#[derive(Debug, PartialEq, Eq)]
struct Header<'file> {
    element: ElementType,
    fortran_order: bool,
    shape: Vec<usize>,
    data: &'file [u8],
}

/// Reads a `.npy` file as a list of the elements that are not zero.
///
/// # Errors
///
/// [`ReadError`] if it is no such file, is cut short, has an element type that is not supported, or an element that `T`
/// does not hold.
pub fn parse<T: Value>(file: &[u8]) -> Result<Coordinates<T>, ReadError> {
    let array = elements::<T>(&header(file)?)?;
    Ok(nonzeros(&array.shape, &array.values))
}

/// Reads a `.npy` file as a dense tensor of the element type that the file has.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_tensor(file: &[u8]) -> Result<AnyTensor, ReadError> {
    fn tensor<T: Value>(header: &Header<'_>) -> Result<AnyTensor, ReadError> {
        let Array { shape, values } = elements::<T>(header)?;
        let format = Format::dense(shape.len());
        let levels = vec![LevelStorage::Dense; shape.len()];
        let values = T::wrap(Arc::new(Buffer::from(values)));
        AnyTensor::from_parts(shape, format, levels, values).map_err(|error| corrupt(error.to_string()))
    }
    let header = header(file)?;
    with_element!(header.element, |T| tensor::<T>(&header))
}

/// Writes entries as a dense array; what has no entry is zero.
///
/// # Errors
///
/// Those of `out`; and [`InvalidInput`](io::ErrorKind::InvalidInput) if the array does not fit into memory, or an entry
/// occurs twice.
pub fn write<T: Value>(out: &mut dyn Write, entries: &Coordinates<T>) -> io::Result<()> {
    check(entries)?;
    let values = scatter(entries)?;
    let shape: Vec<String> = entries.shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = shape.join(", ");
    let mut header = format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}{comma}), }}", T::NPY);
    // The elements begin at a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.push_str(&" ".repeat(length - header.len() - 1));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| invalid("the order is too large for .npy".to_owned()))?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    let mut bytes = Vec::new();
    for block in values.chunks(1 << 15) {
        bytes.clear();
        block.iter().for_each(|value| value.append_bytes(&mut bytes));
        out.write_all(&bytes)?;
    }
    Ok(())
}

fn scatter<T: Value>(entries: &Coordinates<T>) -> io::Result<Vec<T>> {
    let too_large = || {
        let remedy = "write it as .tns or .spct";
        invalid(format!("a dense array of shape {:?} does not fit into memory: {remedy}", entries.shape))
    };
    let count = entries.shape.iter().try_fold(1_usize, |count, &extent| count.checked_mul(extent));
    let count = count.ok_or_else(too_large)?;
    let mut values: Buffer<T> = Buffer::try_zeroed(count).map_err(|_| too_large())?;
    let mut taken: Buffer<u8> = Buffer::try_zeroed(count.div_ceil(8)).map_err(|_| too_large())?;
    for (entry, &value) in entries.values.iter().enumerate() {
        let position = entries.indices.iter().zip(&entries.shape).fold(0, |position, (mode, &extent)| {
            let index = match mode {
                Indices::U32(indices) => indices[entry] as usize,
                Indices::U64(indices) => indices[entry] as usize, // below the extent, as `check` found
            };
            position * extent + index
        });
        let bit = 1 << (position % 8);
        if taken[position / 8] & bit != 0 {
            return Err(invalid("an entry occurs twice: pack the entries first, which adds them up".to_owned()));
        }
        taken[position / 8] |= bit;
        values[position] = value;
    }
    Ok(values.into_vec())
}

/// An entry for each element that is not zero.
fn nonzeros<T: Value>(shape: &[usize], values: &[T]) -> Coordinates<T> {
    let kept: Vec<usize> = (0..values.len()).filter(|&position| !values[position].is_zero()).collect();
    let mut stride = 1_usize;
    let mut columns: Vec<Indices> = Vec::with_capacity(shape.len());
    for &extent in shape.iter().rev() {
        columns.push(indices::from_usize(extent, kept.iter().map(|position| position / stride % extent)));
        stride = stride.saturating_mul(extent.max(1)); // saturates only where there is no element
    }
    columns.reverse();
    let values = kept.iter().map(|&position| values[position]).collect();
    Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices: columns, values }
}

/// The elements as `T`, the last mode contiguous.
fn elements<T: Value>(header: &Header<'_>) -> Result<Array<T>, ReadError> {
    let values = with_element!(header.element, |F| converted::<F, T>(header))?;
    let values = if header.fortran_order { transposed(&header.shape, values) } else { values };
    Ok(Array { shape: header.shape.clone(), values })
}

/// The elements as `F`, and then as `T`.
fn converted<F: Value, T: Value>(header: &Header<'_>) -> Result<Vec<T>, ReadError> {
    let elements: Vec<F> = header.data.chunks_exact(size_of::<F>()).map(F::from_bytes).collect();
    value::converted(&elements).map_err(|message| ReadError::new(ReadErrorKind::Value, message))
}

/// From first mode contiguous to last mode contiguous.
fn transposed<T: Copy>(shape: &[usize], values: Vec<T>) -> Vec<T> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1_usize;
    for &extent in shape {
        strides.push(stride);
        stride = stride.saturating_mul(extent.max(1)); // saturates only where there is no element
    }
    let position = |mut place: usize| {
        shape.iter().zip(&strides).rev().fold(0, |position, (&extent, &stride)| {
            let index = place % extent;
            place /= extent;
            position + index * stride
        })
    };
    (0..values.len()).map(|place| values[position(place)]).collect()
}

fn corrupt(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::Corrupt, message)
}

fn header(file: &[u8]) -> Result<Header<'_>, ReadError> {
    let wrong = |message: String| ReadError::new(ReadErrorKind::Header, message);
    let Some(rest) = file.strip_prefix(MAGIC) else {
        let start = quote(&file[..file.len().min(8)]);
        return Err(wrong(format!("begins with {start}: a .npy file begins with '\\x93NUMPY'")));
    };
    let cut_short = || corrupt("the file ends within its header: get it again");
    let (length, rest) = match rest {
        [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
        [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
        &[version, ..] if !(1..=3).contains(&version) => {
            let message = format!("version {version} of the .npy format is not supported: 1, 2 and 3 are");
            return Err(ReadError::new(ReadErrorKind::NotSupported, message));
        }
        _ => return Err(cut_short()),
    };
    let (text, data) = rest.split_at_checked(length).ok_or_else(cut_short)?;
    let text = std::str::from_utf8(text).map_err(|_| wrong("the header is not text".to_owned()))?;
    let missing = |key: &str| wrong(format!("the header has no valid '{key}': {}", quote(text.trim().as_bytes())));
    let descr = field(text, "descr").and_then(quoted).ok_or_else(|| missing("descr"))?;
    let element = element(descr).ok_or_else(|| {
        let known = ElementType::ALL.map(npy_name).join(" ");
        let message = format!("elements of type '{descr}' are not supported: use one of {known}");
        ReadError::new(ReadErrorKind::NotSupported, message)
    })?;
    let width = element.bytes();
    let fortran_order = match field(text, "fortran_order") {
        Some(value) if value.starts_with("True") => true,
        Some(value) if value.starts_with("False") => false,
        _ => return Err(missing("fortran_order")),
    };
    let shape = field(text, "shape").and_then(tuple).ok_or_else(|| missing("shape"))?;
    let bytes = shape.iter().try_fold(width, |bytes, &extent| bytes.checked_mul(extent));
    if bytes == Some(data.len()) {
        return Ok(Header { element, fortran_order, shape, data });
    }
    let found = data.len();
    Err(corrupt(format!("{found} bytes of data, which is not what shape {shape:?} takes: get the file again")))
}

/// What `NumPy` calls an element type, in little-endian order.
fn npy_name(element: ElementType) -> &'static str {
    with_element!(element, |T| <T as Sealed>::NPY)
}

/// The element type that `NumPy` calls `descr`. Of single bytes, the order may be said all the same.
fn element(descr: &str) -> Option<ElementType> {
    let is_named = |element: &ElementType| {
        let name = npy_name(*element);
        name == descr || name.strip_prefix('|').is_some_and(|name| descr.strip_prefix('<') == Some(name))
    };
    ElementType::ALL.into_iter().find(is_named)
}

/// What stands behind `'key':` in the header, a dictionary in Python's notation.
fn field<'text>(text: &'text str, key: &str) -> Option<&'text str> {
    let (_, rest) = text.split_once(&format!("'{key}'"))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.split_once('\'').map(|(inner, _)| inner)
}

fn tuple(text: &str) -> Option<Vec<usize>> {
    let (inner, _) = text.strip_prefix('(')?.split_once(')')?;
    let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}
