//! The contract of a kind of file. Each kind is one file of code that implements [`Kind`], and a row of the table in
//! [`file_type`](super::file_type).
//!
//! ```text
//! bytes ── describe ──▶ Description   the beginning is enough
//!       ── read ──────▶ Loaded        of the element type that is asked for, or of the file's own
//! Listed, AnyTensor ── Writer ──▶ bytes
//! ```

use std::borrow::Cow;
use std::io::{self, Write};

use super::ReadError;
use super::contents::{Listed, Loaded};
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;

/// A kind of file.
pub(super) trait Kind: Sync {
    /// Whether a file whose name does not tell looks like one of this kind; `head` is its beginning, decompressed.
    fn begins(&self, head: &[u8]) -> bool;

    /// Refuses a file that begins otherwise than this kind does; `head` has at least its first 16 bytes.
    fn check_start(&self, _head: &[u8]) -> Result<(), ReadError> {
        Ok(())
    }

    /// How many bytes a file has that begins so, where that can be told.
    fn length(&self, _start: &[u8]) -> Option<usize> {
        None
    }

    /// Whether the beginning of a file says how it stores its tensor.
    fn has_head(&self) -> bool {
        true
    }

    /// Whether `FILE:NAME` names one of several tensors in a file.
    fn has_members(&self) -> bool {
        false
    }

    /// The same file without compression inside of it, so that it is decompressed once.
    fn unpacked(&self, file: Vec<u8>) -> Result<Vec<u8>, ReadError> {
        Ok(file)
    }

    /// The text that it is, where lines of entries are read in parallel, in blocks and by ranks.
    fn text(&self) -> Option<Text> {
        None
    }

    /// Whether a file is a packed tensor, whose arrays are read one by one.
    fn is_packed(&self) -> bool {
        false
    }

    /// The properties of the tensor. An error where `head` is damaged, or is less than it takes.
    fn describe(&self, head: &[u8], member: Option<&str>) -> Result<Description, ReadError>;

    /// Reads a file, of this element type or of its own.
    fn read(&self, file: &[u8], asked: &Asked<'_>) -> Result<Loaded, ReadError>;

    /// The keys of each mode, in the order of its indices, of a file that has keys for indices.
    fn keys(&self, _file: Bytes<'_>, _member: Option<&str>) -> Result<Vec<Option<Vec<String>>>, ReadError> {
        Ok(Vec::new())
    }

    /// The writer, of a kind that is written.
    fn writer(&self) -> Option<&dyn Writer> {
        None
    }
}

/// The bytes of a file, decompressed where they are needed.
pub(super) type Bytes<'a> = &'a dyn Fn() -> Result<Cow<'a, [u8]>, ReadError>;

/// How a kind of file is written.
pub(super) trait Writer: Sync {
    /// Writes a list of entries.
    fn write_entries(&self, out: &mut dyn Write, entries: &Listed<'_>) -> io::Result<()>;

    /// Writes a tensor.
    fn write_tensor(&self, out: &mut dyn Write, tensor: &AnyTensor) -> io::Result<()>;

    /// Whether the format of a tensor is kept.
    fn keeps_format(&self) -> bool {
        false
    }

    /// Whether the elements of a dense array follow its header, row by row, so that ranks write a range each.
    #[cfg(feature = "compile")]
    fn is_array(&self) -> bool {
        false
    }
}

/// A text with a line for each entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Tns,
    Mtx,
}

/// How a file stores its tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// All elements: `.npy`, `array` in `.mtx`, a plain array in `.npz`.
    Dense,
    /// A list of entries: `.tns`, `coordinate` in `.mtx`, what `SciPy` writes into `.npz`.
    Entries,
    /// Packed in this format: `.spct`.
    Packed(Format),
}

/// The properties of a tensor that the beginning of a file states.
#[derive(Debug)]
pub(super) struct Description {
    /// The element type that holds every value as it is written; none where any number may follow.
    pub(super) element: Option<ElementType>,
    /// The element type to compute with: as `element`, but none where whole numbers or a pattern stand for real numbers.
    pub(super) computed: Option<ElementType>,
    pub(super) layout: Layout,
    pub(super) order: Option<usize>,
    /// The value of entries that are missing, as the language writes it.
    pub(super) fill: Option<String>,
    /// How the file stores it, in the words of its kind.
    pub(super) stored: String,
}

/// The arguments of a reader.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) element: ElementType,
    /// As the caller states it.
    pub(super) shape: Option<&'a [usize]>,
    /// Whether the indices of a `.tns` file count from 0.
    pub(super) from_zero: bool,
    /// One of several tensors in the file.
    pub(super) member: Option<&'a str>,
}
