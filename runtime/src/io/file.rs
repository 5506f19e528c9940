//! Files in memory, to be read as any element type.

use std::path::{Path, PathBuf};

use spc_compiler::ir::{ElementType, Literal};

use super::contents::{Contents, Filled, same_shape};
use super::source::{self, Source};
use super::value::{self, Value};
use super::{FileType, ReadError, ReadErrorKind, ReadOptions, entries, mtx, npy, spct, tns};
use crate::tensor::{AnyTensor, Buffer};
use crate::with_element;

/// A file that is in memory, its kind known, to be read as any element type.
pub struct TensorFile {
    path: PathBuf,
    file_type: FileType,
    source: Source,
    shape: Option<Vec<usize>>,
}

impl TensorFile {
    /// Reads a file into memory.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the file cannot be read, or is of no known kind.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let Some(file_type) = options.file_type.or_else(|| FileType::of(path).map(|(kind, _)| kind)) else {
            return Err(ReadError::new(ReadErrorKind::UnknownFormat, FileType::unknown(path)).in_file(path));
        };
        let source = source::load(path, file_type).map_err(|error| error.in_file(path))?;
        Ok(Self { path: path.to_owned(), file_type, source, shape: options.shape.clone() })
    }

    /// A plain file of these bytes.
    #[cfg(test)]
    pub(super) fn of_bytes(file_type: FileType, bytes: Vec<u8>) -> Self {
        Self { path: PathBuf::from("bytes"), file_type, source: Source::Plain(bytes), shape: None }
    }

    /// The kind of file.
    #[must_use]
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// The type of its elements, if the file says it.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn element(&self) -> Result<Option<ElementType>, ReadError> {
        let element = match (self.file_type, &self.source) {
            (FileType::Npy, Source::Plain(bytes)) => npy::element_of(bytes).map(Some),
            (FileType::Spct, Source::Plain(bytes)) => spct::element(bytes).map(Some),
            (FileType::Mtx, source) => source.head().and_then(|text| mtx::element(&text)),
            (_, source) => source.head().and_then(|text| tns::element(&text)),
        };
        element.map_err(|error| error.in_file(&self.path))
    }

    /// What the file holds, as elements of type `T`.
    ///
    /// # Errors
    ///
    /// As [`read`](super::read()), but for a fill value other than zero, which is part of what comes out.
    pub fn contents<T: Value>(&self) -> Result<Contents<T>, ReadError> {
        self.contents_of(self.shape.as_deref())
    }

    /// The same, where a file of no entries that does not state its shape has that many modes.
    ///
    /// # Errors
    ///
    /// As [`contents`](Self::contents).
    pub fn contents_of_order<T: Value>(&self, order: usize) -> Result<Contents<T>, ReadError> {
        match self.contents() {
            Err(error) if error.kind() == ReadErrorKind::Shape && self.shape.is_none() => {
                match self.contents_of(Some(&vec![0; order])) {
                    Ok(Contents::Entries(Filled { mut entries, fill })) if entries.values.is_empty() => {
                        entries.shape_is_stated = false;
                        Ok(Contents::Entries(Filled { entries, fill }))
                    }
                    _ => Err(error),
                }
            }
            read => read,
        }
    }

    fn contents_of<T: Value>(&self, shape: Option<&[usize]>) -> Result<Contents<T>, ReadError> {
        let contents = self.parse(shape).and_then(|contents| {
            same_shape(contents.shape(), shape)?;
            Ok(contents)
        });
        contents.map_err(|error| error.in_file(&self.path))
    }

    fn parse<T: Value>(&self, shape: Option<&[usize]>) -> Result<Contents<T>, ReadError> {
        if let Source::Gzip(bytes) = &self.source
            && let Some(contents) = parse_compressed(self.file_type, bytes, shape)
        {
            return Ok(contents);
        }
        let bytes = self.source.text()?;
        match self.file_type {
            FileType::Tns => tns::parse_in_chunks(&bytes, shape, entries::chunk_bytes(&bytes)).map(Contents::Entries),
            FileType::Mtx => mtx::parse_in_chunks(&bytes, entries::chunk_bytes(&bytes)),
            FileType::Npy => npy::parse_as::<T>(&bytes).map(Contents::Tensor),
            FileType::Spct => spct::parse(&bytes).and_then(retyped::<T>).map(Contents::Tensor),
        }
    }

    /// A packed tensor as it is, of the element type that the file has.
    pub(super) fn tensor(&self) -> Result<AnyTensor, ReadError> {
        let bytes = self.source.text().map_err(|error| error.in_file(&self.path))?;
        let tensor = match self.file_type {
            FileType::Npy => npy::parse_tensor(&bytes),
            FileType::Spct => spct::parse(&bytes),
            FileType::Tns | FileType::Mtx => {
                let message = "the file holds entries and not a packed tensor: read the entries, and pack them";
                Err(ReadError::new(ReadErrorKind::NotSupported, message))
            }
        };
        tensor.map_err(|error| error.in_file(&self.path))
    }
}

/// The entries of text that is decompressed on one thread and parsed on the others. None where there is one thread only, or too
/// little text; and where anything is wrong, which is found again, with its place, in the whole text.
fn parse_compressed<T: Value>(file_type: FileType, bytes: &[u8], shape: Option<&[usize]>) -> Option<Contents<T>> {
    const LEAST: usize = 1 << 16;
    if rayon::current_num_threads() == 1 || bytes.len() < LEAST {
        return None;
    }
    let mut text = source::decompressed_lines(bytes);
    match file_type {
        FileType::Tns => tns::parse_blocks(&mut text, shape, entries::BLOCK).map(Contents::Entries),
        FileType::Mtx => mtx::parse_blocks(&mut text, entries::BLOCK),
        FileType::Npy | FileType::Spct => None,
    }
}

/// The tensor with elements of another type, by the rules for text.
fn retyped<T: Value>(tensor: AnyTensor) -> Result<AnyTensor, ReadError> {
    fn of<F: Value, T: Value>(tensor: AnyTensor) -> Result<AnyTensor, ReadError> {
        let values = tensor.values_of::<F>().unwrap_or_default();
        let values = value::converted::<F, T>(values)?;
        let fill = value::converted::<F, T>(&F::from_literal(tensor.fill()).map_or_else(Vec::new, |fill| vec![fill]))?;
        let fill: Literal = fill.first().and_then(|fill| fill.literal()).unwrap_or(T::TYPE.zero());
        let (shape, format, levels) = (tensor.shape().to_vec(), tensor.format().clone(), tensor.levels().to_vec());
        let values = T::wrap(Buffer::from(values));
        AnyTensor::from_filled_parts(shape, format, levels, values, fill).map_err(ReadError::of_arrays)
    }
    if tensor.element() == T::TYPE {
        return Ok(tensor);
    }
    with_element!(tensor.element(), |F| of::<F, T>(tensor))
}
