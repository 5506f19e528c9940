//! Files in memory, to be read as any element type.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use spc_compiler::ir::ElementType;

use super::contents::{Contents, Filled, Loaded, same_shape};
use super::kind::{Asked, Description, Layout};
use super::source::{self, Source};
use super::value::Value;
use super::{FileType, ReadError, ReadErrorKind, ReadOptions, StoredTensor, probe, text_head};
use crate::tensor::AnyTensor;

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
    from_zero: bool,
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
        let ReadOptions { ref shape, from_zero, .. } = *options;
        Self { path, file_type, array: None, head: None, whole: OnceLock::new(), shape: shape.clone(), from_zero }
    }

    fn unread(path: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let of = |path: &Path| options.file_type.or_else(|| FileType::of(path).map(|(kind, _)| kind));
        if let Some((archive, array)) = in_archive(path) {
            let file_type = of(&archive).unwrap_or(FileType::Npz);
            return Ok(Self { array: Some(array), ..Self::of_kind(archive, file_type, options) });
        }
        let unknown = || {
            let message = match probe::looks_like(path) {
                Some(kind) => format!("the name does not say what kind of file it is, and {kind}"),
                None => FileType::unknown(path),
            };
            ReadError::new(ReadErrorKind::UnknownFormat, message).in_file(path)
        };
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

    /// Whether the caller says that indices count from 0.
    #[cfg(feature = "compile")]
    pub(super) fn counts_from_zero(&self) -> bool {
        self.from_zero
    }

    /// The element type that holds every value as the file has it, where the file tells: `i64`, `u64` or `bool` where a header of the
    /// Matrix Market says `integer`, `unsigned-integer` or `pattern`, `c64` where it says `complex`, and that of a binary file. None of a text
    /// that states nothing, which is read as `f64`.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn element(&self) -> Result<Option<ElementType>, ReadError> {
        Ok(self.description()?.element)
    }

    /// The element type to compute with where nothing else is asked for: as [`element`](Self::element), but `f64` where the file does not
    /// tell, and where its kind has whole numbers or a pattern for real numbers, as `integer` and `pattern` of the Matrix Market. A number that
    /// `f64` does not hold is then refused.
    ///
    /// # Errors
    ///
    /// As [`element`](Self::element).
    pub fn computed_element(&self) -> Result<ElementType, ReadError> {
        Ok(self.description()?.computed.unwrap_or(ElementType::F64))
    }

    /// How it stores its tensor.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn layout(&self) -> Result<Layout, ReadError> {
        Ok(self.description()?.layout)
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
        Ok(self.description()?.order)
    }

    /// The value of entries that are missing, as the language writes it, if the file states it. Of a dense one nothing is missing.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn fill(&self) -> Result<Option<String>, ReadError> {
        Ok(self.description()?.fill)
    }

    /// How the file stores its tensor, in the words of its kind, as `Matrix Market, matrix coordinate integer symmetric`.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if what says it is damaged.
    pub fn stored(&self) -> Result<String, ReadError> {
        Ok(self.description()?.stored)
    }

    /// The keys of each mode, in the order of its indices: of a table with keys for indices. None of a mode whose indices are numbers, and of
    /// other kinds of file nothing.
    ///
    /// # Errors
    ///
    /// As [`contents`](Self::contents).
    pub fn keys(&self) -> Result<Vec<Option<Vec<String>>>, ReadError> {
        let keys = self.file_type.kind().keys(&|| self.source()?.text(), self.array.as_deref());
        keys.map_err(|error| error.in_file(&self.path))
    }

    fn description(&self) -> Result<Description, ReadError> {
        self.described(|source| self.file_type.kind().describe(&source.head()?, self.array.as_deref()))
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
        let loaded = self.loaded(T::TYPE, shape).and_then(|loaded| loaded.retyped(T::TYPE)).and_then(|loaded| {
            let contents = Contents::<T>::from(loaded);
            same_shape(contents.shape(), shape)?;
            Ok(contents)
        });
        loaded.map_err(|error| error.in_file(&self.path))
    }

    /// The contents, of an element type or that of the file.
    fn loaded(&self, element: ElementType, shape: Option<&[usize]>) -> Result<Loaded, ReadError> {
        let kind = self.file_type.kind();
        // Array by array, without the bytes of the file beside them.
        let is_unread = self.whole.get().is_none() && matches!(self.head, Some(Source::Plain(_)));
        if is_unread && kind.is_packed() {
            return StoredTensor::open(&self.path)?.read().map(Loaded::Tensor);
        }
        let asked = Asked { element, shape, from_zero: self.from_zero, member: self.array.as_deref() };
        let source = self.source()?;
        if let (Source::Gzip(bytes), Some(text)) = (source, kind.text())
            && rayon::current_num_threads() > 1
            && bytes.len() >= LEAST_COMPRESSED
            && let Some(loaded) = text_head::read_compressed(text, bytes, &asked)
        {
            return Ok(loaded);
        }
        kind.read(&source.text()?, &asked)
    }

    /// A packed tensor as it is, of the element type that the file has.
    pub(super) fn tensor(&self) -> Result<AnyTensor, ReadError> {
        if self.layout()? == Layout::Entries {
            let message = "the file holds entries and not a packed tensor: read the entries, and pack them";
            return Err(ReadError::new(ReadErrorKind::NotSupported, message).in_file(&self.path));
        }
        match self.loaded(self.element()?.unwrap_or(ElementType::F64), None) {
            Ok(Loaded::Tensor(tensor)) => Ok(tensor),
            Ok(Loaded::Entries(_)) => unreachable!("a file that is laid out so holds a tensor"),
            Err(error) => Err(error.in_file(&self.path)),
        }
    }
}

/// Less text than this is decompressed before it is parsed.
const LEAST_COMPRESSED: usize = 1 << 16;

/// The archive and the array that `FILE.npz:NAME` names, where there is no file of that name itself.
fn in_archive(path: &Path) -> Option<(PathBuf, String)> {
    if path.exists() {
        return None;
    }
    let (archive, array) = path.to_str()?.rsplit_once(':')?;
    let (file_type, _) = FileType::of(archive)?;
    file_type.kind().has_members().then(|| (PathBuf::from(archive), array.to_owned()))
}
