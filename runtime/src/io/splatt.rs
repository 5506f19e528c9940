//! `.bin`: coordinates in binary, as SPLATT writes them.
//!
//! ```text
//! i32 0                  coordinates
//! u64 4 or 8             bytes of an index
//! u64 4 or 8             bytes of a value, a floating point number
//! modes, extents, entries, the indices of each mode from 0     indices
//! values
//! ```
//!
//! Numbers are little-endian. Source: S. Smith et al., SPLATT: The Surprisingly Parallel spArse Tensor Toolkit, version 2.0, `src/io.c`, 2017.

use spc_compiler::ir::ElementType;

use super::compressed::within;
use super::contents::Loaded;
use super::kind::{Asked, Description, Kind};
use super::{Layout, ReadError, ReadErrorKind, npy};
use crate::memory;

/// The kind of file.
pub(super) struct Splatt;

/// The bytes before the number of modes.
const HEAD: usize = 20;

/// More modes than any tensor has.
const MOST_MODES: u64 = 255;

impl Kind for Splatt {
    fn begins(&self, head: &[u8]) -> bool {
        File::of(head).is_ok()
    }

    fn check_start(&self, head: &[u8]) -> Result<(), ReadError> {
        match head {
            [b's', b'p', b't', b'n', ..] => Err(ReadError::new(
                ReadErrorKind::NotSupported,
                "a binary file of GenTen is not read: write text with it",
            )),
            [1, 0, 0, 0, ..] => {
                let message =
                    "a file of compressed fibers of SPLATT is not read: write coordinates by `splatt convert`";
                Err(ReadError::new(ReadErrorKind::NotSupported, message))
            }
            [0, 0, 0, 0, 4 | 8, 0, 0, 0, ..] => Ok(()),
            _ => Err(ReadError::new(ReadErrorKind::Header, "the file does not begin as a binary file of SPLATT does")),
        }
    }

    fn describe(&self, head: &[u8], _member: Option<&str>) -> Result<Description, ReadError> {
        let file = File::of(head)?;
        let (element, stored) = (Some(file.element), "SPLATT coordinates in binary".to_owned());
        let order = Some(file.shape.len());
        Ok(Description { element, computed: element, layout: Layout::Entries, order, fill: None, stored })
    }

    fn read(&self, bytes: &[u8], _asked: &Asked<'_>) -> Result<Loaded, ReadError> {
        let mut file = File::of(bytes)?;
        let indices = (0..file.shape.len()).map(|mode| {
            let extent = file.shape[mode];
            within(file.rest.numbers(file.entries)?, mode, extent)
        });
        let indices = indices.collect::<Result<Vec<_>, _>>()?;
        let data = file.rest.take(file.entries, file.element.bytes())?;
        if !file.rest.bytes.is_empty() {
            let message = format!("{} bytes follow the values: the file is no tensor of SPLATT", file.rest.bytes.len());
            return Err(ReadError::new(ReadErrorKind::Corrupt, message));
        }
        let values = npy::values_of(data, file.element, false)?;
        Ok(Loaded::entries(file.shape, indices, values))
    }
}

/// The head of a file, and the bytes behind it.
struct File<'file> {
    element: ElementType,
    shape: Vec<usize>,
    entries: usize,
    rest: Rest<'file>,
}

/// The bytes that were not read yet.
struct Rest<'file> {
    bytes: &'file [u8],
    /// The bytes of an index.
    width: usize,
}

impl<'file> Rest<'file> {
    fn take(&mut self, count: usize, width: usize) -> Result<&'file [u8], ReadError> {
        let length = count.checked_mul(width).filter(|&length| length <= self.bytes.len()).ok_or_else(|| {
            ReadError::new(ReadErrorKind::Corrupt, "the file is cut short, or its head is wrong: get it again")
        })?;
        let (taken, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        Ok(taken)
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<u64>, ReadError> {
        let bytes = self.take(count, self.width)?;
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
        Ok(memory::try_collected(bytes.chunks_exact(self.width).map(number))?)
    }
}

impl<'file> File<'file> {
    fn of(bytes: &'file [u8]) -> Result<Self, ReadError> {
        let wrong = |what: String| ReadError::new(ReadErrorKind::Header, what);
        let (head, rest) =
            bytes.split_at_checked(HEAD).ok_or_else(|| wrong("the file has no head of SPLATT".into()))?;
        Splatt.check_start(head)?;
        let width = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
        let (index, value) = (width(4), width(12));
        let element = match value {
            4 => ElementType::F32,
            8 => ElementType::F64,
            _ => return Err(wrong(format!("values of {value} bytes, where SPLATT has 4 or 8"))),
        };
        if !matches!(index, 4 | 8) {
            return Err(wrong(format!("indices of {index} bytes, where SPLATT has 4 or 8")));
        }
        let mut rest = Rest { bytes: rest, width: index as usize };
        let modes = rest.numbers(1)?[0];
        if !(1..=MOST_MODES).contains(&modes) {
            return Err(wrong(format!("{modes} modes: at most {MOST_MODES} are supported")));
        }
        let extent = |extent: u64| isize::try_from(extent).map(|extent| extent as usize);
        let shape = rest.numbers(modes as usize)?.into_iter().map(extent).collect::<Result<Vec<_>, _>>();
        let shape = shape.map_err(|_| wrong("an extent is larger than memory".into()))?;
        let entries = rest.numbers(1)?[0];
        let entries =
            usize::try_from(entries).map_err(|_| wrong(format!("{entries} entries are more than memory has")))?;
        Ok(Self { element, shape, entries, rest })
    }
}

#[cfg(test)]
mod tests {
    use crate::io::{FileType, TensorFile};
    use spc_compiler::ir::ElementType;

    /// Entries (0, 3, 1) and (1, 0, 0) of 2 × 4 × 2.
    fn bytes(wide: bool, double: bool) -> Vec<u8> {
        let mut bytes = 0_i32.to_le_bytes().to_vec();
        bytes.extend((if wide { 8_u64 } else { 4 }).to_le_bytes());
        bytes.extend((if double { 8_u64 } else { 4 }).to_le_bytes());
        for number in [3_u64, 2, 4, 2, 2, 0, 1, 3, 0, 1, 0] {
            bytes.extend(&number.to_le_bytes()[..if wide { 8 } else { 4 }]);
        }
        for value in [0.1, -2.5] {
            if double { bytes.extend(f64::to_le_bytes(value)) } else { bytes.extend((value as f32).to_le_bytes()) }
        }
        bytes
    }

    #[test]
    fn coordinates_of_each_width() {
        for (wide, double) in [(false, false), (true, false), (false, true), (true, true)] {
            let file = TensorFile::of_bytes(FileType::Splatt, bytes(wide, double));
            let element = if double { ElementType::F64 } else { ElementType::F32 };
            assert_eq!((file.element().unwrap(), file.order().unwrap()), (Some(element), Some(3)));
            let entries = file.contents::<f64>().unwrap().into_coordinates().unwrap();
            assert_eq!(entries.shape, [2, 4, 2]);
            let index = |entry| entries.indices.iter().map(|mode| mode.at(entry)).collect::<Vec<_>>();
            assert_eq!([index(0), index(1)], [[0, 3, 1], [1, 0, 0]]);
            assert_eq!(entries.values, [if double { 0.1 } else { f64::from(0.1_f32) }, -2.5]);
        }
    }

    #[test]
    fn damage_is_refused() {
        let message = |bytes: Vec<u8>| {
            let read = TensorFile::of_bytes(FileType::Splatt, bytes).contents::<f64>();
            read.map(drop).map_err(|error| error.to_string()).err()
        };
        let good = bytes(false, true);
        for length in 0..good.len() {
            assert!(message(good[..length].to_vec()).is_some(), "{length}");
        }
        assert!(message([&good[..], &[0]].concat()).unwrap().contains("1 bytes follow the values"));
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            message(bytes).unwrap_or_default()
        };
        assert!(changed(0, 1).contains("compressed fibers"));
        assert!(changed(4, 5).contains("does not begin"));
        assert!(changed(12, 2).contains("values of 2 bytes"));
        assert!(changed(20, 0).contains("0 modes"));
        assert!(changed(39, 0x7f).contains("cut short"));
        assert!(changed(48, 9).contains("index 9 of mode 2"));
        assert!(message(b"sptn0000000000000000".to_vec()).unwrap().contains("GenTen"));
    }
}
