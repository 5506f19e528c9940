//! Files that are larger than the memory, stored as `.spct` files.
//!
//! ```
//! use spc::io::{self, LargeFile, ReadOptions};
//! use spc::tensor::Duplicates;
//! use spc_compiler::format::Format;
//!
//! let folder = tempfile::tempdir()?;
//! let (from, to) = (folder.path().join("x.tns"), folder.path().join("x.spct"));
//! std::fs::write(&from, "1 3 2.5\n2 1 -1\n")?;
//! let memory = 64 << 20;
//! let file = LargeFile::open(&from, &ReadOptions::default(), None, memory)?;
//! assert_eq!((file.shape(), file.shape_is_stated()), (&[2, 3][..], false));
//! assert_eq!(file.pack(&to, &Format::csf(2), Duplicates::Sum)?, 2);
//! assert_eq!(io::read(&to)?.entries::<f64>()?, [(vec![0, 2], 2.5), (vec![1, 0], -1.0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::entries::{self, Entries};
use super::kind::{Asked, Text as TextKind};
use super::text_head::TextHead;
use super::value::{self, Carrier, sealed};
use super::write::{Scratch, to_file};
use super::{ReadError, ReadErrorKind, ReadOptions, StoredTensor, TensorFile, WriteError};
use super::{contents, source, spct};
use crate::tensor::{Duplicates, Indices, PackError, Runs, RunsError, Values};
use crate::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};
use std::path::{Path, PathBuf};

/// No less memory is worked with.
const LEAST: u64 = 1 << 20;

/// A file of entries that are not held in memory together: a text (`.tns`, or `.mtx` in `coordinate`), or a `.spct` file whose format
/// comes in parts.
#[derive(Debug)]
pub struct LargeFile {
    path: PathBuf,
    from: From,
    element: ElementType,
    shape: Vec<usize>,
    shape_is_stated: bool,
    from_zero: bool,
    fill: Option<Literal>,
    memory: u64,
}

#[derive(Debug)]
enum From {
    Text(TextKind),
    Stored(StoredTensor),
}

/// Why a file could not be stored in another.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackFileError {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Its entries can't be stored so.
    #[error("{}: {source}", path.display())]
    Pack {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: PackError,
    },
    /// The other, or what is needed beside it meanwhile, can't be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What takes entries as they come.
type Take<'a> = dyn FnMut(Vec<Indices>, Values) -> Result<(), PackFileError> + 'a;

impl LargeFile {
    /// Looks at a file whose entries are to be elements of a type; of its own if that is not said, or `f64` where it says none. A text that
    /// states no shape is read to its end. About so many bytes of `memory` are used, at least 1 MiB.
    ///
    /// # Errors
    /// [`ReadError`] if the file can't be read, is damaged as far as it is read, or is of a kind that is read as a whole.
    pub fn open(
        path: impl AsRef<Path>,
        options: &ReadOptions,
        element: Option<ElementType>,
        memory: u64,
    ) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let begun = TensorFile::begin(path, options)?;
        let memory = memory.max(LEAST);
        let element = element.or(begun.element()?).unwrap_or(ElementType::F64);
        let in_file = |error: ReadError| error.in_file(path);
        let file_type = begun.file_type();
        if file_type.kind().is_packed() {
            let stored = StoredTensor::open(path)?;
            let shape = stored.shape().to_vec();
            contents::same_shape(&shape, options.shape.as_deref()).map_err(in_file)?;
            let fill = contents::retyped_fill(stored.fill(), stored.element(), element).map_err(in_file)?;
            let (path, from, fill) = (path.to_owned(), From::Stored(stored), Some(fill));
            return Ok(Self { path, from, element, shape, shape_is_stated: true, from_zero: false, fill, memory });
        }
        let Some(kind) = file_type.kind().text() else {
            let message = format!("a .{} file is read as a whole", file_type.name());
            return Err(ReadError::new(ReadErrorKind::NotSupported, message).in_file(path));
        };
        let (path, from) = (path.to_owned(), From::Text(kind));
        let shape = options.shape.clone();
        let shape_is_stated = shape.is_some();
        let shape = shape.unwrap_or_default();
        let from_zero = options.from_zero;
        let mut file = Self { path, from, element, shape, shape_is_stated, from_zero, fill: None, memory };
        file.look(kind).map_err(|error| error.in_file(&file.path))?;
        Ok(file)
    }

    /// The extent of each mode; where the file does not state it, the largest index.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Whether the file states the shape, or the caller.
    pub fn shape_is_stated(&self) -> bool {
        self.shape_is_stated
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// How it is stored, where it says so and comes in parts.
    pub fn format(&self) -> Option<&Format> {
        match &self.from {
            From::Text(_) => None,
            From::Stored(stored) => Some(stored.format()),
        }
    }

    /// Stores the tensor in a `.spct` file, which appears when it is complete, and says how many values it has, padding among them. Files
    /// beside it take as much room as the entries in binary, and the arrays of the result, until it is there. The bytes are the same as those
    /// of a conversion in memory.
    ///
    /// # Errors
    /// When the file can't be read or is damaged, its entries do not pack (only formats of `dense`, `compressed` and `singleton` levels are
    /// made so), or the result can't be written.
    pub fn pack(&self, to: impl AsRef<Path>, format: &Format, duplicates: Duplicates) -> Result<usize, PackFileError> {
        let to = to.as_ref();
        let scratch = Scratch::beside(to)?;
        let failed = |error: RunsError| match error {
            RunsError::Pack(source) => PackFileError::Pack { path: self.path.clone(), source },
            RunsError::Io(error) => WriteError::io(to, error).into(),
        };
        let fill = self.fill.unwrap_or(self.element.zero());
        let memory = usize::try_from(self.memory).unwrap_or(usize::MAX);
        let runs = Runs::new(format, &self.shape, (self.element, fill), duplicates, scratch.path(), memory);
        let mut runs = runs.map_err(failed)?;
        self.walk(format, &mut |indices, values| runs.add(&indices, &values).map_err(failed))?;
        let assembled = runs.assemble().map_err(failed)?;
        let nnz = assembled.nnz;
        let tensor = (self.shape.as_slice(), format);
        to_file(to, false, |out| spct::write_assembled(out, (self.element, fill), tensor, assembled))?;
        Ok(nnz)
    }

    /// Goes through the entries, as they are converted to a format.
    fn walk(&self, format: &Format, take: &mut Take<'_>) -> Result<(), PackFileError> {
        let stored = match &self.from {
            From::Text(kind) => {
                return with_element!(self.element, |T| {
                    self.walk_text::<<T as sealed::Value>::Carrier>(*kind, take)
                });
            }
            From::Stored(stored) => stored,
        };
        // Entries take several times the room that they are stored in.
        let count = stored.bytes() / (self.memory / 16).max(1) + 1;
        let parts = stored.parts(usize::try_from(count).unwrap_or(usize::MAX), None)?;
        for number in 0..parts.len() {
            let part = parts.read(number)?;
            let entries = part.converted_entries(format);
            let (indices, values) = entries.map_err(|error| ReadError::from(error).in_file(&self.path))?;
            let values = value::retyped(values, self.element).map_err(|error| error.in_file(&self.path))?;
            take(indices, values)?;
        }
        Ok(parts.check()?)
    }

    /// What the beginning of a text states, and else its end.
    fn look(&mut self, kind: TextKind) -> Result<(), ReadError> {
        with_element!(self.element, |T| self.look_carried::<<T as sealed::Value>::Carrier>(kind))
    }

    fn look_carried<C: Carrier>(&mut self, kind: TextKind) -> Result<(), ReadError> {
        let mut text = Text::<C>::begin(self, kind)?;
        self.fill = match text.begun.fill() {
            None => None,
            Some(fill) => {
                let literal = contents::uncarried_fill(fill, self.element)?.ok_or_else(|| {
                    let message = format!("the fill value is {fill}, but it must be a real number");
                    ReadError::new(ReadErrorKind::NotSupported, message)
                })?;
                Some(literal)
            }
        };
        if let Some(shape) = text.begun.shape() {
            contents::same_shape(shape, self.shape_is_stated.then_some(&self.shape))?;
            (self.shape, self.shape_is_stated) = (shape.to_vec(), true);
            return Ok(());
        }
        let mut largest = Vec::new();
        while let Some(read) = text.next()? {
            largest.resize(read.largest.len(), 0);
            largest.iter_mut().zip(read.largest).for_each(|(all, here)| *all = here.max(*all));
        }
        self.shape = largest.into_iter().map(|extent| extent as usize).collect();
        Ok(())
    }

    fn walk_text<C: Carrier>(&self, kind: TextKind, take: &mut Take<'_>) -> Result<(), PackFileError> {
        let in_file = |error: ReadError| error.in_file(&self.path);
        let mut text = Text::<C>::begin(self, kind).map_err(in_file)?;
        while let Some(read) = text.next().map_err(in_file)? {
            let values = value::uncarried(read.values, self.element).map_err(|error| in_file(error.into()))?;
            take(read.indices, values)?;
        }
        Ok(())
    }
}

/// A text that is read in blocks of lines.
struct Text<C> {
    path: PathBuf,
    text: Box<dyn std::io::Read + Send>,
    is_gzip: bool,
    begun: TextHead<C>,
    /// How many bytes a block has.
    size: usize,
    /// The next block, and where its entries begin.
    block: Vec<u8>,
    start: usize,
    /// What has been read of the line behind it.
    rest: Vec<u8>,
    /// How many lines came before.
    lines: usize,
}

impl<C: Carrier> Text<C> {
    fn begin(file: &LargeFile, kind: TextKind) -> Result<Self, ReadError> {
        let path = file.path.clone();
        let (mut text, is_gzip) = source::text(&path)?;
        // Indices, keys and room for sorting take many times as much as the text of short numbers.
        let size = usize::try_from(file.memory / 16).unwrap_or(usize::MAX).max(1 << 16);
        let mut rest = Vec::new();
        let block = entries::next_block(&mut *text, size, &mut rest);
        let block = block.map_err(|error| source::failed(&path, is_gzip, error))?;
        let shape = file.shape_is_stated.then_some(&file.shape[..]);
        let asked = Asked { element: file.element, shape, from_zero: file.from_zero, member: None };
        let begun = TextHead::new(kind, &block, &asked)?;
        let start = begun.body();
        Ok(Self { path, text, is_gzip, begun, size, block, start, rest, lines: 0 })
    }

    /// The entries of the next block.
    fn next(&mut self) -> Result<Option<Entries<C>>, ReadError> {
        if self.block.is_empty() {
            self.begun.finish()?;
            return Ok(None);
        }
        let (block, start) = (&self.block, self.start);
        let read = entries::parse::<C>(block, start, self.begun.layout())?;
        let read = self.begun.checked(block, start, read).map_err(|error| error.after_lines(self.lines))?;
        self.lines += block.iter().filter(|&&byte| byte == b'\n').count();
        let next = entries::next_block(&mut *self.text, self.size, &mut self.rest);
        self.block = next.map_err(|error| source::failed(&self.path, self.is_gzip, error))?;
        self.start = 0;
        Ok(Some(read))
    }
}
