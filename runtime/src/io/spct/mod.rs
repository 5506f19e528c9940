//! `.spct`: a packed tensor with its format, in binary: read at the speed of memory, checked in full.
//!
//! ```text
//! 8 bytes    89 'S' 'P' 'C' 'T' 0d 0a 0a       catches files that went through a text conversion
//! u32        version, 1
//! u32        length of the header
//! text       the header, see below
//! arrays     of each level, outermost first: positions, coordinates, where it has them; then the values;
//!            each as u64 length in bytes, and its elements
//! u32        CRC-32 of all that stands before it
//! ```
//!
//! All numbers are little-endian. The header is text, one thing a line:
//!
//! ```text
//! element f64
//! shape 3 4
//! level i0 dense unique ordered u32 u32
//! level i1 compressed unique ordered u32 u32
//! ```
//!
//! Where a missing entry is not zero, a line `fill inf` behind the shape says what it is. A level says its coordinate in prefix notation (`/ i0 4` is `i0 / 4`), its kind, whether coordinates are `unique` or
//! `nonunique`, `ordered` or `unordered`, the widths of coordinates and positions, and where the format says how many positions
//! each parent has, that number. No length is trusted: what is
//! reserved is never more than the file holds, and [`AnyTensor::from_filled_parts`] checks what the arrays say.

mod header;
mod stored;

#[cfg(feature = "compile")]
pub(crate) use stored::Sum;
pub use stored::{StoredParts, StoredTensor};

use std::io::{self, Read, Seek, Write};

use flate2::Crc;
use spc_compiler::format::{Format, IndexWidth, Role};
use spc_compiler::ir::{ElementType, Literal};

use self::header::Header;
use super::contents::Loaded;
use super::entries::quote;
use super::kind::{Asked, Description, Kind, Layout, Writer};
use super::write::{Listed, invalid};
use super::{ReadError, ReadErrorKind};
use crate::progress::{Unit, Work};
use crate::tensor::{
    AnyTensor, Array, Assembled, Buffer, Element, Index, IndexArray, LevelArrays, OutOfMemory, Plain, Values,
};
use crate::with_element;

const MAGIC: &[u8; 8] = b"\x89SPCT\r\n\n";

const VERSION: u32 = 1;

/// How much is written at a time.
const BLOCK: usize = 1 << 22;

/// Reads a `.spct` file, which is [described above](self).
///
/// # Errors
///
/// [`ReadError`] if it is no such file, is of a later version, is damaged or cut short, or does not hold a valid tensor.
pub fn parse(file: &[u8]) -> Result<AnyTensor, ReadError> {
    little_endian().map_err(|message| ReadError::new(ReadErrorKind::NotSupported, message))?;
    check_magic(file)?;
    let mut rest = Bytes(&file[MAGIC.len()..]);
    check_version(rest.u32("version")?)?;
    let (body, checksum) = file.split_at(file.len() - 4);
    let mut crc = Crc::new();
    crc.update(body);
    if crc.sum().to_le_bytes() != checksum {
        return Err(wrong_checksum());
    }
    let length = rest.u32("header")? as usize;
    let header = header::parse(rest.take(length, "header")?)?;
    let mut levels = Vec::with_capacity(header.format.levels.len());
    for level in &header.format.levels {
        let format = level.format;
        let mut array = |role: Role| {
            let declared = format.array(role);
            declared.map(|_| rest.indices(format.width(role), role.name())).transpose()
        };
        let positions = array(Role::Positions)?;
        levels.push(LevelArrays::new(positions, array(Role::Coordinates)?));
    }
    let values = rest.values(header.element)?;
    if rest.0.len() != checksum.len() {
        return Err(corrupt(format!("{} bytes too many behind the values", rest.0.len().abs_diff(checksum.len()))));
    }
    AnyTensor::from_filled_parts(header.shape, header.format, levels, values, header.fill).map_err(ReadError::of_arrays)
}

/// The kind of file.
pub(super) struct Spct;

impl Kind for Spct {
    fn begins(&self, head: &[u8]) -> bool {
        head.starts_with(MAGIC)
    }

    fn check_start(&self, head: &[u8]) -> Result<(), ReadError> {
        check_magic(head)
    }

    fn is_packed(&self) -> bool {
        true
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        let Header { element, fill, format, .. } = header_of(head)?;
        let shown = with_element!(element, |T| T::from_literal(fill).map(|fill| fill.to_string()));
        let fill = Some(shown.unwrap_or_else(|| fill.to_string()));
        let stored = format!("packed as {format}");
        let (element, order) = (Some(element), Some(format.order));
        Ok(Description { element, computed: element, order, layout: Layout::Packed(format), fill, stored })
    }

    fn read(&self, file: &[u8], _asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        parse(file).map(Loaded::Tensor)
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Spct {
    fn write_entries(&self, _out: &mut dyn Write, _entries: &Listed<'_>) -> io::Result<()> {
        let message = "a .spct file holds a packed tensor: pack the entries first, or write them as .tns";
        Err(invalid(message.to_owned()))
    }

    fn write_tensor(&self, out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
        write(out, tensor)
    }

    fn keeps_format(&self) -> bool {
        true
    }
}

/// What a file of which the beginning is enough says.
fn header_of(file: &[u8]) -> Result<Header, ReadError> {
    check_magic(file)?;
    let mut rest = Bytes(&file[MAGIC.len()..]);
    rest.u32("version")?;
    let length = rest.u32("header")? as usize;
    header::parse(rest.take(length, "header")?)
}

pub(super) fn check_magic(file: &[u8]) -> Result<(), ReadError> {
    if file.starts_with(MAGIC) {
        return Ok(());
    }
    let start = quote(&file[..file.len().min(8)]);
    Err(corrupt(format!("begins with {start}: a .spct file begins with {}", quote(MAGIC))))
}

/// Writes a tensor as a `.spct` file.
///
/// # Errors
///
/// Those of `out`.
pub fn write(out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()> {
    little_endian().map_err(|message| invalid(message.to_owned()))?;
    let mut out = Summed { out, crc: Crc::new() };
    begin(&mut out, &Header::of(tensor))?;
    let arrays = tensor.levels().iter().flat_map(LevelArrays::iter);
    let arrays: Vec<&[u8]> = arrays.map(IndexArray::as_bytes).chain([tensor.values().as_bytes()]).collect();
    let work = Work::begin(Unit::Bytes, arrays.iter().map(|array| array.len()).sum());
    for array in arrays {
        out.write_all(&(array.len() as u64).to_le_bytes())?;
        for block in array.chunks(BLOCK) {
            out.write_all(block)?;
            work.add(block.len());
        }
    }
    let checksum = out.crc.sum();
    out.write_all(&checksum.to_le_bytes())
}

/// Writes a tensor of that element type, fill value, shape and format whose arrays are in files.
pub(super) fn write_assembled(
    out: &mut dyn Write,
    (element, fill): (ElementType, Literal),
    (shape, format): (&[usize], &Format),
    assembled: Assembled,
) -> io::Result<()> {
    little_endian().map_err(|message| invalid(message.to_owned()))?;
    let mut out = Summed { out, crc: Crc::new() };
    begin(&mut out, &Header { element, fill, shape: shape.to_vec(), format: format.clone() })?;
    let work = Work::begin(Unit::Bytes, assembled.arrays.iter().map(Array::bytes).sum());
    let mut block = vec![0; BLOCK];
    for array in assembled.arrays {
        out.write_all(&(array.bytes() as u64).to_le_bytes())?;
        let mut file = array.into_file()?;
        file.rewind()?;
        loop {
            let count = file.read(&mut block)?;
            if count == 0 {
                break;
            }
            out.write_all(&block[..count])?;
            work.add(count);
        }
    }
    let checksum = out.crc.sum();
    out.write_all(&checksum.to_le_bytes())
}

/// Writes what stands before the arrays.
fn begin(out: &mut dyn Write, header: &Header) -> io::Result<()> {
    let header = header.to_string();
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&(header.len() as u32).to_le_bytes())?; // some lines
    out.write_all(header.as_bytes())
}

/// Arrays are copied as they are.
fn little_endian() -> Result<(), &'static str> {
    if cfg!(target_endian = "little") { Ok(()) } else { Err(".spct files are little-endian, and this machine is not") }
}

fn check_version(version: u32) -> Result<(), ReadError> {
    if version == VERSION {
        return Ok(());
    }
    let message = format!("version {version} of the .spct format is not supported: this is version {VERSION}");
    Err(ReadError::new(ReadErrorKind::NotSupported, message))
}

/// What is said where a file has not as many bytes as it says.
fn cut_short(what: &str, length: u64, left: u64) -> ReadError {
    corrupt(format!("the {what} should have {length} bytes, but only {left} are left"))
}

/// Whether an array has elements of `width` bytes.
fn check_multiple(what: &str, length: u64, width: usize) -> Result<(), ReadError> {
    if length.is_multiple_of(width as u64) {
        return Ok(());
    }
    Err(corrupt(format!("the {what} have {length} bytes, which is no multiple of {width}")))
}

fn wrong_checksum() -> ReadError {
    corrupt("the checksum is wrong: the file is damaged or cut short, get it again")
}

fn corrupt(message: impl Into<String>) -> ReadError {
    ReadError::new(ReadErrorKind::Corrupt, message)
}

/// What is written, and its checksum.
struct Summed<'out> {
    out: &'out mut dyn Write,
    crc: Crc,
}

impl Write for Summed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.crc.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What is left of a file.
struct Bytes<'file>(&'file [u8]);

impl<'file> Bytes<'file> {
    fn take(&mut self, length: usize, what: &str) -> Result<&'file [u8], ReadError> {
        let Some((taken, rest)) = self.0.split_at_checked(length) else {
            return Err(cut_short(what, length as u64, self.0.len() as u64));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn u32(&mut self, what: &str) -> Result<u32, ReadError> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4, what)?);
        Ok(u32::from_le_bytes(bytes))
    }

    /// The bytes of an array with elements of `width` bytes.
    fn array(&mut self, width: usize, what: &str) -> Result<&'file [u8], ReadError> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8, what)?);
        let length = u64::from_le_bytes(bytes);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let array = self.take(length, what)?;
        check_multiple(what, length as u64, width)?;
        Ok(array)
    }

    fn indices(&mut self, width: IndexWidth, what: &str) -> Result<IndexArray, ReadError> {
        // Any bytes are an index.
        fn of<I: Index>(bytes: &[u8]) -> Result<IndexArray, ReadError> {
            Ok(I::wrap(aligned(bytes)?.unwrap_or_default()))
        }
        let bytes = self.array(width.bytes(), what)?;
        match width {
            IndexWidth::U8 => of::<u8>(bytes),
            IndexWidth::U16 => of::<u16>(bytes),
            IndexWidth::U32 => of::<u32>(bytes),
            IndexWidth::U64 => of::<u64>(bytes),
        }
    }

    fn values(&mut self, element: ElementType) -> Result<Values, ReadError> {
        let bytes = self.array(element.bytes(), "values")?;
        with_element!(element, |T| {
            let values =
                aligned::<T>(bytes)?.ok_or_else(|| corrupt(format!("a value is none of {}", element.name())))?;
            Ok(values.into())
        })
    }
}

/// A copy whose length is a multiple of the element's size; `None` where bytes are no element.
fn aligned<T: Plain>(bytes: &[u8]) -> Result<Option<Buffer<T>>, OutOfMemory> {
    let mut buffer = Buffer::try_zeroed(bytes.len() / size_of::<T>())?;
    for (element, bytes) in buffer.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
        let Ok(read) = bytemuck::checked::try_pod_read_unaligned(bytes) else { return Ok(None) };
        *element = read;
    }
    Ok(Some(buffer))
}

#[cfg(test)]
mod tests;
