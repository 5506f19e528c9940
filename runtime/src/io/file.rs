//! Files in memory, to be read as any element type.

use std::any::Any;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};

use super::contents::{Contents, Filled, SAME_TYPE, same_shape};
use super::source::{self, Source};
use super::value::{self, Carrier, Value};
use super::{FileType, ReadError, ReadErrorKind, ReadOptions, StoredTensor, entries, mtx, npy, npz, spct, tns};
use crate::tensor::{AnyTensor, Element};
use crate::with_element;

/// A file whose kind is known, to be read as any element type.
pub struct TensorFile {
    path: PathBuf,
    file_type: FileType,
    /// The array that is asked for of an archive.
    array: Option<String>,
    /// What has been read before the contents are asked for: the beginning.
    head: Option<Source>,
    whole: OnceLock<Source>,
    shape: Option<Vec<usize>>,
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

impl TensorFile {
    /// Reads a file into memory. `FILE.npz:NAME` is the array `NAME` of an archive.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the file cannot be read, or is of no known kind.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, ReadError> {
        let file = Self::unread(path.as_ref(), options)?;
        file.source()?;
        Ok(file)
    }

    /// Reads as much of a file as says how it stores its tensor; the rest is read with its contents. What is no regular file,
    /// such as a pipe, is read into memory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn begin(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Self, ReadError> {
        let mut file = Self::unread(path.as_ref(), options)?;
        file.head = source::head(&file.path, file.file_type).map_err(|error| error.in_file(&file.path))?;
        if file.head.is_none() {
            file.source()?;
        }
        Ok(file)
    }

    /// Reads a stream, such as the standard input, into memory; messages call it `name`. The kind is told by the options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn of_stream(stream: &mut dyn Read, name: &str, options: &ReadOptions) -> Result<Self, ReadError> {
        let path = PathBuf::from(name);
        let unknown = || ReadError::new(ReadErrorKind::UnknownFormat, "the kind of file is not stated").in_file(&path);
        let file_type = options.file_type.ok_or_else(unknown)?;
        let source = source::stream(&path, stream, file_type).map_err(|error| error.in_file(&path))?;
        Ok(Self { file_type, whole: source.into(), ..Self::of_kind(path, file_type, options) })
    }

    fn of_kind(path: PathBuf, file_type: FileType, options: &ReadOptions) -> Self {
        Self { path, file_type, array: None, head: None, whole: OnceLock::new(), shape: options.shape.clone() }
    }

    fn unread(path: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let of = |path: &Path| options.file_type.or_else(|| FileType::of(path).map(|(kind, _)| kind));
        if let Some((archive, array)) = in_archive(path) {
            let file_type = of(&archive).unwrap_or(FileType::Npz);
            return Ok(Self { array: Some(array), ..Self::of_kind(archive, file_type, options) });
        }
        let unknown = || ReadError::new(ReadErrorKind::UnknownFormat, FileType::unknown(path)).in_file(path);
        Ok(Self::of_kind(path.to_owned(), of(path).ok_or_else(unknown)?, options))
    }

    /// A plain file of these bytes.
    #[cfg(test)]
    pub(super) fn of_bytes(file_type: FileType, bytes: Vec<u8>) -> Self {
        let whole = Source::Plain(bytes).into();
        Self { whole, ..Self::of_kind(PathBuf::from("bytes"), file_type, &ReadOptions::default()) }
    }

    /// All of the file.
    fn source(&self) -> Result<&Source, ReadError> {
        if let Some(source) = self.whole.get() {
            return Ok(source);
        }
        let source = source::load(&self.path, self.file_type).map_err(|error| error.in_file(&self.path))?;
        Ok(self.whole.get_or_init(|| source))
    }

    /// The kind of file.
    #[must_use]
    pub fn file_type(&self) -> FileType {
        self.file_type
    }

    /// Where it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What has been read of it before its contents are asked for.
    #[cfg(feature = "compile")]
    pub(super) fn head(&self) -> Option<&Source> {
        self.head.as_ref().filter(|_| self.whole.get().is_none())
    }

    /// The shape that the caller states.
    #[cfg(feature = "compile")]
    pub(crate) fn stated_shape(&self) -> Option<&[usize]> {
        self.shape.as_deref()
    }

    /// The type of its elements, if the file says it.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn element(&self) -> Result<Option<ElementType>, ReadError> {
        self.described(|source| match (self.file_type, source) {
            (FileType::Npy, Source::Plain(bytes)) => npy::element_of(bytes).map(Some),
            (FileType::Spct, Source::Plain(bytes)) => spct::element(bytes).map(Some),
            (FileType::Npz, Source::Plain(bytes)) => {
                npz::description(bytes, self.array.as_deref()).map(|found| Some(found.element))
            }
            (FileType::Mtx, source) => source.head().and_then(|text| mtx::element(&text)),
            (_, source) => source.head().and_then(|text| tns::element(&text)),
        })
    }

    /// The type that holds the elements as they are written, if the file says it: as [`element`](Self::element), and `i64`, `u64` or `bool`
    /// where a header of the Matrix Market says `integer`, `unsigned-integer` or `pattern`.
    ///
    /// # Errors
    ///
    /// As [`element`](Self::element).
    pub fn own_element(&self) -> Result<Option<ElementType>, ReadError> {
        match self.file_type {
            FileType::Mtx => self.described(|source| source.head().and_then(|text| mtx::own_element(&text))),
            _ => self.element(),
        }
    }

    /// How it stores its tensor.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn layout(&self) -> Result<Layout, ReadError> {
        self.described(|source| match (self.file_type, source) {
            (FileType::Npy, _) => Ok(Layout::Dense),
            (FileType::Npz, Source::Plain(bytes)) => {
                let found = npz::description(bytes, self.array.as_deref())?;
                Ok(if found.is_sparse { Layout::Entries } else { Layout::Dense })
            }
            (FileType::Spct, Source::Plain(bytes)) => spct::format(bytes).map(Layout::Packed),
            (FileType::Mtx, source) => {
                Ok(if mtx::is_dense(&source.head()?)? { Layout::Dense } else { Layout::Entries })
            }
            _ => Ok(Layout::Entries),
        })
    }

    /// How many modes its tensor has, where the beginning of the file tells: of a matrix in `.mtx` two, though one with one column may
    /// be read as a vector.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn order(&self) -> Result<Option<usize>, ReadError> {
        if let Some(shape) = &self.shape {
            return Ok(Some(shape.len()));
        }
        self.described(|source| match (self.file_type, source) {
            (FileType::Npy, Source::Plain(bytes)) => npy::shape_of(bytes).map(|shape| Some(shape.len())),
            (FileType::Npz, Source::Plain(bytes)) => {
                npz::description(bytes, self.array.as_deref()).map(|found| found.order)
            }
            (FileType::Spct, Source::Plain(bytes)) => spct::format(bytes).map(|format| Some(format.order)),
            (FileType::Mtx, _) => Ok(Some(2)),
            (_, source) => source.head().and_then(|text| tns::order_of(&text)),
        })
    }

    /// What stands for entries that are missing, as the language writes it, if the file says so. Of a dense one nothing is missing.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn fill(&self) -> Result<Option<String>, ReadError> {
        self.described(|source| match (self.file_type, source) {
            (FileType::Spct, Source::Plain(bytes)) => spct::fill(bytes).map(Some),
            (FileType::Tns, source) => tns::fill_text(&source.head()?),
            (FileType::Mtx, source) => mtx::fill_text(&source.head()?),
            _ => Ok(None),
        })
    }

    /// What the beginning of the file says; where that is not enough, all of it.
    fn described<R>(&self, read: impl Fn(&Source) -> Result<R, ReadError>) -> Result<R, ReadError> {
        if let Some(head) = &self.head
            && self.whole.get().is_none()
            && let Ok(found) = read(head)
        {
            return Ok(found);
        }
        read(self.source()?).map_err(|error| error.in_file(&self.path))
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
        let contents = self.parse_any(T::TYPE, shape).and_then(|contents| {
            let contents: Contents<T> = *contents.downcast().expect(SAME_TYPE);
            same_shape(contents.shape(), shape)?;
            Ok(contents)
        });
        contents.map_err(|error| error.in_file(&self.path))
    }

    /// The [`Contents`] in an element type: this is compiled once in this crate, and not again in each that reads.
    fn parse_any(&self, element: ElementType, shape: Option<&[usize]>) -> Result<Box<dyn Any>, ReadError> {
        fn of<T: Value>(file: &TensorFile, shape: Option<&[usize]>) -> Result<Box<dyn Any>, ReadError> {
            Ok(Box::new(file.parse(T::TYPE, shape)?.of_carriers::<T>()?))
        }
        with_element!(element, |T| of::<T>(self, shape))
    }

    /// A packed tensor, where its file was not read yet: array by array, without the bytes of the file beside them.
    fn stored(&self) -> Result<Option<AnyTensor>, ReadError> {
        let is_unread = self.whole.get().is_none() && matches!(self.head, Some(Source::Plain(_)));
        match self.file_type {
            FileType::Spct if is_unread => StoredTensor::open(&self.path)?.read().map(Some),
            _ => Ok(None),
        }
    }

    fn parse<C: Carrier>(&self, element: ElementType, shape: Option<&[usize]>) -> Result<Contents<C>, ReadError> {
        if let Some(tensor) = self.stored()? {
            return retyped(tensor, element).map(Contents::Tensor);
        }
        let source = self.source()?;
        if let Source::Gzip(bytes) = source
            && let Some(contents) = parse_compressed(self.file_type, bytes, element, shape)
        {
            return Ok(contents);
        }
        let bytes = source.text()?;
        let chunk = entries::chunk_bytes(&bytes);
        match self.file_type {
            FileType::Tns => tns::parse_in_chunks(&bytes, element, shape, chunk).map(Contents::Entries),
            FileType::Mtx => mtx::parse_in_chunks(&bytes, element, chunk),
            FileType::Npy => npy::parse_as(&bytes, element).map(Contents::Tensor),
            FileType::Npz => npz::parse(&bytes, element, self.array.as_deref()),
            FileType::Spct => spct::parse(&bytes).and_then(|tensor| retyped(tensor, element)).map(Contents::Tensor),
        }
    }

    /// A packed tensor as it is, of the element type that the file has.
    pub(super) fn tensor(&self) -> Result<AnyTensor, ReadError> {
        if let Some(tensor) = self.stored()? {
            return Ok(tensor);
        }
        let bytes = self.source()?.text().map_err(|error| error.in_file(&self.path))?;
        let tensor = match self.file_type {
            FileType::Npy => npy::parse_tensor(&bytes),
            FileType::Spct => spct::parse(&bytes),
            FileType::Tns | FileType::Mtx | FileType::Npz => {
                let message = "the file holds entries and not a packed tensor: read the entries, and pack them";
                Err(ReadError::new(ReadErrorKind::NotSupported, message))
            }
        };
        tensor.map_err(|error| error.in_file(&self.path))
    }
}

/// The archive and the array that `FILE.npz:NAME` names, where there is no file of that name itself.
fn in_archive(path: &Path) -> Option<(PathBuf, String)> {
    if path.exists() {
        return None;
    }
    let (archive, array) = path.to_str()?.rsplit_once(':')?;
    let is_archive = matches!(FileType::of(archive), Some((FileType::Npz, _)));
    is_archive.then(|| (PathBuf::from(archive), array.to_owned()))
}

/// The entries of text that is decompressed on one thread and parsed on the others. None where there is one thread only, or too
/// little text; and where anything is wrong, which is found again, with its place, in the whole text.
fn parse_compressed<C: Carrier>(
    file_type: FileType,
    bytes: &[u8],
    element: ElementType,
    shape: Option<&[usize]>,
) -> Option<Contents<C>> {
    const LEAST: usize = 1 << 16;
    if rayon::current_num_threads() == 1 || bytes.len() < LEAST {
        return None;
    }
    let mut text = source::decompressed_lines(bytes);
    match file_type {
        FileType::Tns => tns::parse_blocks(&mut text, element, shape, entries::BLOCK).map(Contents::Entries),
        FileType::Mtx => mtx::parse_blocks(&mut text, element, entries::BLOCK),
        FileType::Npy | FileType::Npz | FileType::Spct => None,
    }
}

/// The tensor with elements of another type.
fn retyped(tensor: AnyTensor, element: ElementType) -> Result<AnyTensor, ReadError> {
    if tensor.element() == element {
        return Ok(tensor);
    }
    let values = value::retyped(tensor.values().clone(), element)?;
    let fill = retyped_fill(tensor.fill(), tensor.element(), element)?;
    let (shape, format, levels) = (tensor.shape().to_vec(), tensor.format().clone(), tensor.levels().to_vec());
    AnyTensor::from_filled_parts(shape, format, levels, values, fill).map_err(ReadError::of_arrays)
}

/// A fill value that was carried; none where it is no real number.
pub(super) fn uncarried_fill<C: Carrier>(fill: C, element: ElementType) -> Result<Option<Literal>, ReadError> {
    let fill = value::uncarried(vec![fill], element)?;
    Ok(with_element!(element, |T| fill.as_slice::<T>().and_then(|fill| fill.first()?.literal())))
}

/// The same of a fill value.
pub(super) fn retyped_fill(fill: Literal, from: ElementType, element: ElementType) -> Result<Literal, ReadError> {
    let fill = with_element!(from, |F| F::wrap(Vec::from_iter(F::from_literal(fill))));
    let fill = value::retyped(fill, element)?;
    let fill = with_element!(element, |T| fill.as_slice::<T>().and_then(|fill| fill.first()?.literal()));
    Ok(fill.unwrap_or(element.zero()))
}
