//! `.npy`: one dense array, as `NumPy` writes it.
//!
//! Versions 1 to 3; element types `<f8 <f4 <f2 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 |b1 <c8 <c16`, and `<V2`, which
//! is what NumPy calls the `bf16` of the package `ml_dtypes`, each also with `>`, in big-endian order; C and Fortran order. Written are version
//! 1, little-endian and C order.
//!
//! Source: `numpy.lib.format`, the `NumPy` manual.

use std::io::{self, Write};
use std::ops::Range;

use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;

use super::contents::Loaded;
use super::entries::quote;
use super::kind::{Asked, Description, Kind, Writer};
use super::value::sealed::Value as Sealed;
use super::value::{self, Numbers, Value};
use super::write::{Listed, check, invalid, short};
use super::{Layout, ReadError, ReadErrorKind};
use crate::memory;
use crate::progress::{Unit, Work};
use crate::tensor::values::with_values;
use crate::tensor::{AnyTensor, Buffer, Coordinates, OutOfMemory, Values};
use crate::with_element;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The kind of file.
pub(super) struct Npy;

impl Kind for Npy {
    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    fn check_start(&self, head: &[u8]) -> Result<(), ReadError> {
        check_magic(head)
    }

    fn length(&self, start: &[u8]) -> Option<usize> {
        total(start)
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        let Header { element, shape, big_endian, fortran_order, .. } = description(head)?;
        let bytes = if big_endian { "big-endian " } else { "" };
        let order = if fortran_order { "Fortran" } else { "C" };
        let stored = format!("NumPy array of {bytes}{element} in {order} order");
        let (element, order) = (Some(element), Some(shape.len()));
        Ok(Description { element, computed: element, layout: Layout::Dense, order, fill: None, stored })
    }

    fn read(&self, file: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        parse_as(file, asked.element).map(Loaded::Tensor)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Npy {
    fn write_entries(&self, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
        write_filled(out, entries)
    }

    fn write_tensor(&self, out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
        with_element!(tensor.element(), |T| write_tensor::<T>(out, tensor))
    }

    #[cfg(feature = "compile")]
    fn is_array(&self) -> bool {
        true
    }
}

/// What the header says, and the bytes of the elements.
#[derive(Debug, PartialEq, Eq)]
struct Header<'file> {
    element: ElementType,
    big_endian: bool,
    fortran_order: bool,
    shape: Vec<usize>,
    data: &'file [u8],
}

/// The same of elements of any type.
pub(super) struct Raw<'file> {
    pub(super) descr: &'file str,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
    pub(super) data: &'file [u8],
}

/// Reads a `.npy` file as a list of the elements that are not zero.
///
/// # Errors
///
/// [`ReadError`] if it is no such file, is cut short, has an element type that is not supported, or an element that `T`
/// does not hold.
pub fn parse<T: Value>(file: &[u8]) -> Result<Coordinates<T>, ReadError> {
    Ok(super::contents::present(&parse_as(file, T::TYPE)?, T::ZERO)?)
}

/// Reads a `.npy` file as a dense tensor of the element type that the file has.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_tensor(file: &[u8]) -> Result<AnyTensor, ReadError> {
    let header = header(file)?;
    elements(&header, header.element)
}

/// The same of another element type.
pub(super) fn parse_as(file: &[u8], element: ElementType) -> Result<AnyTensor, ReadError> {
    elements(&header(file)?, element)
}

/// The shape, and the elements row by row.
#[cfg(feature = "npz")]
pub(super) fn values<C: value::Carrier>(file: &[u8], element: ElementType) -> Result<(Vec<usize>, Vec<C>), ReadError> {
    let header = header(file)?;
    let values = value::carriers(stored(&header)?, element)?;
    let values = if header.fortran_order { transposed(&header.shape, &values)? } else { values };
    Ok((header.shape, values))
}

/// The type of the elements, of a file of which the beginning is enough.
#[cfg(feature = "npz")]
pub(super) fn element_of(file: &[u8]) -> Result<ElementType, ReadError> {
    Ok(description(file)?.element)
}

/// The extents, of a file of which the beginning is enough.
#[cfg(feature = "npz")]
pub(super) fn shape_of(file: &[u8]) -> Result<Vec<usize>, ReadError> {
    Ok(description(file)?.shape)
}

/// How many bytes a file has that begins so, as far as that can be told.
pub(super) fn total(start: &[u8]) -> Option<usize> {
    let Header { element, shape, data, .. } = description(start).ok()?;
    let bytes = shape.iter().try_fold(element.bytes(), |bytes, &extent| bytes.checked_mul(extent))?;
    bytes.checked_add(start.len() - data.len())
}

pub(super) fn check_magic(file: &[u8]) -> Result<(), ReadError> {
    if file.starts_with(MAGIC) {
        return Ok(());
    }
    let start = quote(&file[..file.len().min(8)]);
    let message = format!("begins with {start}: a .npy file begins with '\\x93NUMPY'");
    Err(ReadError::new(ReadErrorKind::Header, message))
}

/// Writes entries as a dense array; what has no entry is zero.
///
/// # Errors
///
/// Those of `out`; and [`InvalidInput`](io::ErrorKind::InvalidInput) if the array does not fit into memory, or an entry
/// occurs twice.
pub fn write<T: Value>(out: &mut dyn Write, entries: &Coordinates<T>) -> io::Result<()> {
    write_filled(out, &Listed::of(entries, None))
}

/// The same where what has no entry is the fill value, if there is one.
pub(super) fn write_filled(out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()> {
    check(entries)?;
    let elements = scatter(entries)?;
    write_header(out, entries.element(), entries.shape)?;
    write_bytes(out, elements.len(), &mut |range, bytes| bytes.extend_from_slice(&elements[range]))
}

/// Writes a tensor as a dense array, which has the fill value wherever nothing is stored.
pub(super) fn write_tensor<T: Value>(out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
    match tensor.values_of::<T>() {
        Some(values) if *tensor.format() == Format::dense(tensor.order()) => write_dense(out, tensor.shape(), &values),
        _ => {
            let entries = tensor.try_to_coordinates::<T>().map_err(short)?;
            let fill = vec![T::from_literal(tensor.fill()).unwrap_or(T::ZERO)];
            write_filled(out, &Listed::of(&entries, Some(&fill)))
        }
    }
}

/// Writes the elements of an array, row by row.
fn write_dense(out: &mut dyn Write, shape: &[usize], values: &dyn Numbers) -> io::Result<()> {
    write_header(out, values.element(), shape)?;
    write_elements(out, values)
}

/// Writes elements that follow each other in an array.
pub(super) fn write_elements(out: &mut dyn Write, values: &dyn Numbers) -> io::Result<()> {
    let size = values.element().bytes();
    let bytes_of = &mut |bytes: Range<usize>, to: &mut Vec<u8>| {
        values.append_bytes(bytes.start / size..bytes.end / size, to);
    };
    write_bytes(out, values.count() * size, bytes_of)
}

/// Writes so many bytes, in blocks of whole elements.
fn write_bytes(
    out: &mut dyn Write,
    count: usize,
    append: &mut dyn FnMut(Range<usize>, &mut Vec<u8>),
) -> io::Result<()> {
    const BLOCK: usize = 1 << 18;
    let mut bytes = memory::try_room(count.min(BLOCK)).map_err(short)?;
    let work = Work::begin(Unit::Bytes, count);
    for begin in (0..count).step_by(BLOCK) {
        bytes.clear();
        append(begin..count.min(begin + BLOCK), &mut bytes);
        out.write_all(&bytes)?;
        work.add(bytes.len());
    }
    Ok(())
}

/// Writes an array of values at places, as many as the shape has.
#[cfg(feature = "npz")]
pub(super) fn write_values(
    out: &mut dyn Write,
    shape: &[usize],
    values: &dyn Numbers,
    place: &dyn Fn(usize) -> usize,
) -> io::Result<()> {
    write_header(out, values.element(), shape)?;
    write_blocks(out, &mut (0..values.count()).map(place), &|place, bytes| values.append_bytes(place..place + 1, bytes))
}

/// The same of whole numbers up to `largest`, in 32 bits where these are enough.
#[cfg(feature = "npz")]
pub(super) fn write_whole(
    out: &mut dyn Write,
    shape: &[usize],
    largest: usize,
    numbers: &mut dyn Iterator<Item = u64>,
) -> io::Result<()> {
    if i32::try_from(largest).is_ok() {
        write_header_of(out, i32::NPY, shape)?;
        return write_blocks(out, numbers, &|number, bytes| bytes.extend_from_slice(&(number as u32).to_le_bytes()));
    }
    write_header_of(out, i64::NPY, shape)?;
    write_blocks(out, numbers, &|number, bytes| bytes.extend_from_slice(&number.to_le_bytes()))
}

/// Writes a text of ASCII letters, as a scalar.
#[cfg(feature = "npz")]
pub(super) fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    write_header_of(out, &format!("|S{}", text.len()), &[])?;
    out.write_all(text.as_bytes())
}

#[cfg(feature = "npz")]
fn write_blocks<T>(
    out: &mut dyn Write,
    values: &mut dyn Iterator<Item = T>,
    append: &dyn Fn(T, &mut Vec<u8>),
) -> io::Result<()> {
    const BLOCK: usize = 1 << 16;
    let mut bytes = memory::try_room(BLOCK + 16).map_err(short)?;
    for value in values {
        append(value, &mut bytes);
        if bytes.len() >= BLOCK {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// Writes what comes before the elements.
pub(super) fn write_header(out: &mut dyn Write, element: ElementType, shape: &[usize]) -> io::Result<()> {
    write_header_of(out, npy_name(element), shape)
}

fn write_header_of(out: &mut dyn Write, descr: &str, shape: &[usize]) -> io::Result<()> {
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    // The elements begin at a multiple of 64.
    let length = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.push_str(&" ".repeat(length - header.len() - 1));
    header.push('\n');
    let length = u16::try_from(header.len()).map_err(|_| invalid("the order is too large for .npy".to_owned()))?;
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(header.as_bytes())
}

/// The bytes of all elements, row by row.
fn scatter(entries: &Listed<'_>) -> io::Result<Buffer<u8>> {
    let size = entries.element().bytes();
    let count = entries.shape.iter().try_fold(1_u128, |count, &extent| count.checked_mul(extent as u128));
    let too_large = || {
        let bytes = count.and_then(|count| count.checked_mul(size as u128));
        let bytes = bytes.map_or_else(String::new, |bytes| format!(", {bytes} bytes"));
        let message = format!(
            "a dense array of shape {:?}{bytes}, does not fit into the memory here: write it as .tns or .spct",
            entries.shape
        );
        io::Error::new(io::ErrorKind::OutOfMemory, message)
    };
    let count = count.and_then(|count| usize::try_from(count).ok()).ok_or_else(too_large)?;
    let bytes = count.checked_mul(size).ok_or_else(too_large)?;
    let mut elements: Buffer<u8> = Buffer::try_zeroed(bytes).map_err(|_| too_large())?;
    let mut value = Vec::with_capacity(size);
    if let Some(fill) = entries.fill.filter(|fill| !fill.is_absent(0)) {
        fill.append_bytes(0..1, &mut value);
        elements.chunks_exact_mut(size).for_each(|element| element.copy_from_slice(&value));
    }
    let mut taken: Buffer<u8> = Buffer::try_zeroed(count.div_ceil(8)).map_err(|_| too_large())?;
    for entry in 0..entries.values.count() {
        let position = entries.indices.iter().zip(entries.shape).fold(0, |position, (mode, &extent)| {
            position * extent + mode.at(entry) as usize // below the extent, as `check` found
        });
        let bit = 1 << (position % 8);
        if taken[position / 8] & bit != 0 {
            return Err(invalid("an entry occurs twice: pack the entries first, which adds them up".to_owned()));
        }
        taken[position / 8] |= bit;
        value.clear();
        entries.values.append_bytes(entry..entry + 1, &mut value);
        elements[position * size..][..size].copy_from_slice(&value);
    }
    Ok(elements)
}

/// The elements as a dense tensor of a type.
fn elements(header: &Header<'_>, element: ElementType) -> Result<AnyTensor, ReadError> {
    let stored = stored(header)?;
    let stored = if header.fortran_order { by_rows(&header.shape, &stored)? } else { stored };
    super::contents::dense(header.shape.clone(), value::retyped(stored, element)?)
}

/// Values from first mode contiguous to last mode contiguous.
pub(super) fn by_rows(shape: &[usize], values: &Values) -> Result<Values, OutOfMemory> {
    fn of<F: Value>(shape: &[usize], values: &[F]) -> Result<Values, OutOfMemory> {
        Ok(F::wrap(transposed(shape, values)?))
    }
    with_values!(values, |values| of(shape, values))
}

/// The elements, of the type that the file has.
fn stored(header: &Header<'_>) -> Result<Values, ReadError> {
    values_of(header.data, header.element, header.big_endian)
}

/// The elements of a type in bytes.
pub(super) fn values_of(data: &[u8], element: ElementType, big_endian: bool) -> Result<Values, ReadError> {
    fn of<F: Value>(data: &[u8]) -> Result<Values, ReadError> {
        let elements: Vec<F> = memory::try_collected(data.chunks_exact(size_of::<F>()).map(F::from_bytes))?;
        Ok(F::wrap(elements))
    }
    if !big_endian {
        return with_element!(element, |F| of::<F>(data));
    }
    let mut turned: Vec<u8> = memory::try_collected(data.iter().copied())?;
    let part = element.part().unwrap_or(element).bytes();
    turned.chunks_exact_mut(part).for_each(<[u8]>::reverse);
    with_element!(element, |F| of::<F>(&turned))
}

/// From first mode contiguous to last mode contiguous.
pub(super) fn transposed<T: Copy>(shape: &[usize], values: &[T]) -> Result<Vec<T>, OutOfMemory> {
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
    memory::try_collected((0..values.len()).map(|place| values[position(place)]))
}

fn corrupt(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::Corrupt, message)
}

fn header(file: &[u8]) -> Result<Header<'_>, ReadError> {
    let header = description(file)?;
    let Header { element, shape, data, .. } = &header;
    let bytes = shape.iter().try_fold(element.bytes(), |bytes, &extent| bytes.checked_mul(extent));
    if bytes == Some(data.len()) {
        return Ok(header);
    }
    let found = data.len();
    Err(corrupt(format!("{found} bytes of data, which is not what shape {shape:?} takes: get the file again")))
}

/// What a header says, and the data that follow it.
fn description(file: &[u8]) -> Result<Header<'_>, ReadError> {
    let Raw { descr, fortran_order, shape, data } = raw(file)?;
    let (element, big_endian) = element(descr).ok_or_else(|| {
        let known = ElementType::ALL.map(npy_name).join(" ");
        let message = format!("elements of type '{descr}' are not supported: use one of {known}");
        ReadError::new(ReadErrorKind::NotSupported, message)
    })?;
    Ok(Header { element, big_endian, fortran_order, shape, data })
}

/// What any header says, and the data that follow it.
pub(super) fn raw(file: &[u8]) -> Result<Raw<'_>, ReadError> {
    let wrong = |message: String| ReadError::new(ReadErrorKind::Header, message);
    check_magic(file)?;
    let rest = &file[MAGIC.len()..];
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
    if let Some(unknown) = keys(text).find(|key| !["descr", "fortran_order", "shape"].contains(key)) {
        let message =
            format!("the header has {}, which is not understood: save the array again", quote(unknown.as_bytes()));
        return Err(ReadError::new(ReadErrorKind::NotSupported, message));
    }
    let descr = field(text, "descr").and_then(quoted).ok_or_else(|| missing("descr"))?;
    let fortran_order = match field(text, "fortran_order") {
        Some(value) if value.starts_with("True") => true,
        Some(value) if value.starts_with("False") => false,
        _ => return Err(missing("fortran_order")),
    };
    let shape = field(text, "shape").and_then(tuple).ok_or_else(|| missing("shape"))?;
    Ok(Raw { descr, fortran_order, shape, data })
}

/// What `NumPy` calls an element type, in little-endian order.
fn npy_name(element: ElementType) -> &'static str {
    with_element!(element, |T| <T as Sealed>::NPY)
}

/// The element type that `NumPy` calls `descr`, and whether its bytes are in big-endian order. Of single bytes, the order may be said all the
/// same.
fn element(descr: &str) -> Option<(ElementType, bool)> {
    let (order, name) = descr.split_at_checked(1)?;
    let element = ElementType::ALL.into_iter().find(|&element| npy_name(element)[1..] == *name)?;
    let is_byte = element.bytes() == 1;
    match order {
        "<" => Some((element, false)),
        ">" => Some((element, !is_byte)),
        "|" | "=" if is_byte => Some((element, false)),
        _ => None,
    }
}

/// The keys of the header, a dictionary in Python's notation: what is in quotes before a colon.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    let mut pieces = text.split('\'').skip(1);
    std::iter::from_fn(move || Some((pieces.next()?, pieces.next()?)))
        .filter(|(_, behind)| behind.trim_start().starts_with(':'))
        .map(|(key, _)| key)
}

/// What follows `'key':` in the header, a dictionary in Python's notation.
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
