//! A `.spct` file whose arrays stay in it: read a part at a time, for a tensor that is larger than the memory.
//!
//! ```
//! use spc::io::{self, StoredTensor};
//! use spc::tensor::{Csr, Tensor};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("a.spct");
//! let a = Tensor::<f64, Csr>::from_entries([3, 9], [([0, 1], 1.0), ([0, 4], 2.0), ([2, 0], 3.0), ([2, 8], 4.0)])?;
//! io::write_tensor(&path, &a.into_any())?;
//! let stored = StoredTensor::open(&path)?;
//! let parts = stored.parts(2, None)?;
//! assert_eq!(parts.read(1)?.entries::<f64>()?, [(vec![2, 0], 3.0), (vec![2, 8], 4.0)]);
//! parts.read(0)?;
//! parts.check()?; // the checksum, of what was read and the rest
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every part is checked as a tensor of its own, so that no kernel reads beyond an array. The checksum is that of the whole file: it is made
//! of what parts read, so that no byte is read twice for it.

use super::header::{self, Header};
use super::{Bytes, MAGIC, check_magic, check_multiple, corrupt, cut_short, little_endian};
use crate::fault;
use crate::io::{ReadError, ReadErrorKind, source};
use crate::progress::{Unit, Work};

use crate::tensor::index_array::with_width;
use crate::tensor::parts::{Arrays, Cut, Piece};
use crate::tensor::tasks;
use crate::tensor::{
    AnyTensor, Buffer, Coordinates, Duplicates, Element, Index, IndexArray, Indices, LevelArrays, NotCut, PackError,
    Plain, Room, Values, pack_filled,
};
use crate::with_element;
use crc32fast::Hasher;
use spc_compiler::format::{Format, IndexWidth, Role};
use spc_compiler::ir::{ElementType, Literal};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How much is read at a time.
const BLOCK: usize = 1 << 18;

/// How many bytes of an array one of several readers takes at a time.
const AT_ONCE: usize = 1 << 22;

/// How many threads read one array.
const READERS: usize = 4;

/// A tensor in a `.spct` file, of which the header alone is in memory. Clones share the file.
#[derive(Debug, Clone)]
pub struct StoredTensor(Arc<Stored>);

#[derive(Debug)]
struct Stored {
    path: PathBuf,
    file: Positioned,
    header: Header,
    /// What stands before the length of the first array.
    start: Vec<u8>,
    /// Those of each level, positions before coordinates; the values are the last.
    arrays: Vec<StoredArray>,
    /// The place of the positions and the coordinates of each level among them.
    levels: Vec<(Option<usize>, Option<usize>)>,
    checksum: [u8; 4],
}

/// An array in a file.
#[derive(Debug, Clone, Copy)]
struct StoredArray {
    /// Where its first element is, in bytes from the start of the file.
    offset: u64,
    count: usize,
    /// How many bytes an element has.
    width: usize,
}

impl StoredTensor {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// [`ReadError`] if it can't be read, is no plain `.spct` file (one that is compressed can't be read in parts), or is cut short.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        Stored::open(path).map(|stored| Self(Arc::new(stored))).map_err(|error| error.in_file(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The extent of each mode.
    pub fn shape(&self) -> &[usize] {
        &self.0.header.shape
    }

    /// How it is stored.
    pub fn format(&self) -> &Format {
        &self.0.header.format
    }

    /// The type of the elements.
    pub fn element(&self) -> ElementType {
        self.0.header.element
    }

    /// What an entry is that is not stored.
    pub fn fill(&self) -> Literal {
        self.0.header.fill
    }

    /// How many values are stored, padding among them.
    pub fn value_count(&self) -> usize {
        self.0.values().count
    }

    /// How many bytes its arrays have.
    pub fn bytes(&self) -> u64 {
        self.0.arrays.iter().map(|array| array.count as u64 * array.width as u64).sum()
    }

    /// A tensor of this shape, format and element type, without entries.
    ///
    /// # Errors
    /// When its format has no room for its shape.
    pub fn without_entries(&self) -> Result<AnyTensor, PackError> {
        let (shape, format) = (self.shape().to_vec(), self.format());
        with_element!(self.element(), |T| {
            let indices = vec![Indices::U32(Vec::new()); shape.len()];
            let none = Coordinates::<T> { shape, shape_is_stated: true, indices, values: Vec::new() };
            pack_filled(none, format, Duplicates::Sum, T::from_literal(self.fill()).unwrap_or(T::ZERO))
        })
    }

    /// The whole tensor, in memory.
    ///
    /// # Errors
    /// As [`read_tensor`](crate::io::read_tensor).
    pub fn read(&self) -> Result<AnyTensor, ReadError> {
        let spans = self.0.arrays.iter().map(|array| Span { has: 0..array.count, fresh: 0..array.count }).collect();
        let sums = Mutex::new(vec![None]);
        let whole = StoredParts { stored: self.0.clone(), pieces: vec![(None, spans)], sums };
        // What is damaged is said to be so, and not what became of it.
        let read = whole.fetch(0)?;
        whole.check()?;
        whole.checked(read)
    }

    /// So many parts at most, as [`AnyTensor::parts`] makes them: nothing is read of them yet but where they are cut.
    ///
    /// # Errors
    /// When it does not come in parts, as there, and when the file can't be read.
    pub fn parts(&self, count: usize, whole: Option<usize>) -> Result<StoredParts, ReadError> {
        let pieces = Cut::new(&*self.0, self.format(), self.shape()).map_err(ReadError::from);
        let pieces = pieces.and_then(|cut| cut.pieces(count, whole));
        let pieces = pieces.and_then(|pieces| self.0.with_spans(pieces)).map_err(|error| error.in_file(self.path()))?;
        let sums = Mutex::new(pieces.iter().map(|_| None).collect());
        Ok(StoredParts { stored: self.0.clone(), pieces, sums })
    }
}

impl From<NotCut> for ReadError {
    fn from(error: NotCut) -> Self {
        ReadError::new(ReadErrorKind::NotSupported, error.to_string())
    }
}

/// Parts of a tensor in a file.
#[derive(Debug)]
pub struct StoredParts {
    stored: Arc<Stored>,
    pieces: Vec<ToRead>,
    /// The checksums of what the parts have read, array by array, once they have.
    sums: Mutex<Vec<Option<Vec<Sum>>>>,
}

/// The arrays of a part, as they are in the file.
pub(crate) struct Unchecked {
    levels: Vec<LevelArrays>,
    values: Values,
}

/// The checksum of what a part has read of an array and no part before it has, and how many bytes that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) checksum: u32,
    pub(crate) bytes: u64,
}

/// What a part has, where that is not all, and what it reads of each array.
type ToRead = (Option<Piece>, Vec<Span>);

/// What a part reads of an array.
#[derive(Debug, Clone)]
struct Span {
    /// The elements that it has.
    has: Range<usize>,
    /// Those that no part before it has read.
    fresh: Range<usize>,
}

impl Span {
    /// All that is read of it.
    fn all(&self) -> Range<usize> {
        let Self { has, fresh } = self;
        match (has.is_empty(), fresh.is_empty()) {
            (_, true) => has.clone(),
            (true, false) => fresh.clone(),
            (false, false) => has.start.min(fresh.start)..has.end.max(fresh.end),
        }
    }

    /// What of it is in a range.
    fn within(&self, range: &Range<usize>) -> Self {
        let within = |of: &Range<usize>| {
            let start = of.start.clamp(range.start, range.end);
            start..of.end.clamp(start, range.end)
        };
        Self { has: within(&self.has), fresh: within(&self.fresh) }
    }

    /// The same in pieces of so many elements, one after the other.
    fn cut(&self, elements: usize) -> impl Iterator<Item = Self> {
        let all = self.all();
        all.clone()
            .step_by(elements.max(1))
            .map(move |begin| self.within(&(begin..all.end.min(begin + elements.max(1)))))
    }
}

impl StoredParts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are none, which is never so.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many bytes a part has in the file.
    pub fn bytes(&self, number: usize) -> usize {
        let (_, spans) = &self.pieces[number];
        spans.iter().zip(&self.stored.arrays).map(|(span, array)| span.has.len() * array.width).sum()
    }

    /// A part.
    ///
    /// # Errors
    /// [`ReadError`] if the file can't be read, there is too little memory, or what is read is no valid tensor.
    pub fn read(&self, number: usize) -> Result<AnyTensor, ReadError> {
        self.checked(self.fetch(number)?)
    }

    /// What a part has in the file, on this thread alone: another one may check it.
    pub(crate) fn fetch(&self, number: usize) -> Result<Unchecked, ReadError> {
        let stored = &self.stored;
        let (piece, spans) = &self.pieces[number];
        let mut sums = Vec::with_capacity(spans.len());
        let read = stored.read(piece.as_ref(), spans, &mut sums).map_err(|error| error.in_file(&stored.path))?;
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(sums);
        Ok(read)
    }

    /// The part, if it is a valid tensor.
    pub(crate) fn checked(&self, Unchecked { levels, values }: Unchecked) -> Result<AnyTensor, ReadError> {
        let Header { shape, format, fill, .. } = &self.stored.header;
        let tensor = AnyTensor::from_filled_parts(shape.clone(), format.clone(), levels, values, *fill);
        tensor.map_err(|error| ReadError::of_arrays(error).in_file(&self.stored.path))
    }

    /// The checksums of a part that was read here.
    #[cfg(feature = "compile")]
    pub(crate) fn sums(&self, number: usize) -> Vec<Sum> {
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums[number].clone().unwrap_or_default()
    }

    /// Takes those of a part that was read elsewhere.
    #[cfg(feature = "compile")]
    pub(crate) fn take_sums(&self, number: usize, sums: Vec<Sum>) {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(sums);
    }

    /// Checks the checksum of the file, once all parts were read.
    ///
    /// # Errors
    /// [`ReadErrorKind::Corrupt`] where it is another.
    ///
    /// # Panics
    /// When a part was not read.
    pub fn check(&self) -> Result<(), ReadError> {
        let stored = &self.stored;
        let sums = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Hasher::new();
        all.update(&stored.start);
        for (place, array) in stored.arrays.iter().enumerate() {
            all.update(&((array.count * array.width) as u64).to_le_bytes());
            for part in sums.iter() {
                let Sum { checksum, bytes } = part.as_ref().expect("all parts were read")[place];
                all.combine(&Hasher::new_with_initial_len(checksum, bytes));
            }
            let read = self.pieces.last().map_or(0, |(_, spans)| spans[place].fresh.end);
            let rest = Span { has: array.count..array.count, fresh: read..array.count };
            let read = stored.blocks(*array, &rest, &mut all, &mut |_| ());
            read.map_err(|error| error.in_file(&stored.path))?;
        }
        if all.finalize().to_le_bytes() == stored.checksum {
            return Ok(());
        }
        Err(super::wrong_checksum().in_file(&stored.path))
    }
}

impl Stored {
    fn open(path: &Path) -> Result<Self, ReadError> {
        little_endian().map_err(|message| ReadError::new(ReadErrorKind::NotSupported, message))?;
        let (file, metadata) = source::opened(path)?;
        let refuse = |message: &str| Err(ReadError::new(ReadErrorKind::NotSupported, message));
        if !metadata.is_file() {
            return refuse("a tensor is read in parts from a regular file alone");
        }
        if source::is_named_gzip(path) {
            return refuse("a compressed file can't be read in parts: decompress it by `gunzip`");
        }
        let (file, size) = (Positioned::new(file), metadata.len());
        let read = |range: Range<u64>, what: &str| {
            if range.end > size {
                return Err(cut_short(what, range.end - range.start, size.saturating_sub(range.start)));
            }
            let mut bytes = vec![0; (range.end - range.start) as usize];
            file.read(path, &mut bytes, range.start)?;
            Ok(bytes)
        };
        let fixed = MAGIC.len() as u64 + 8;
        let mut start = read(0..fixed.min(size), "start")?;
        check_magic(&start)?;
        let mut rest = Bytes(&start[MAGIC.len()..]);
        super::check_version(rest.u32("version")?)?;
        let length = rest.u32("header")?;
        let text = read(fixed..fixed + u64::from(length), "header")?;
        let header = header::parse(&text)?;
        start.extend(text);
        let (mut arrays, mut levels) = (Vec::new(), Vec::new());
        let mut offset = start.len() as u64;
        let mut array = |width: usize, what: &str| {
            let mut length = [0; 8];
            length.copy_from_slice(&read(offset..offset + 8, what)?);
            let length = u64::from_le_bytes(length);
            let left = (size - offset - 8).saturating_sub(4);
            if length > left {
                return Err(cut_short(what, length, left));
            }
            check_multiple(what, length, width)?;
            let count = usize::try_from(length / width as u64).map_err(|_| corrupt("an array is too long"))?;
            arrays.push(StoredArray { offset: offset + 8, count, width });
            offset += 8 + length;
            Ok(arrays.len() - 1)
        };
        for level in &header.format.levels {
            let format = level.format;
            let mut of =
                |role: Role| format.array(role).map(|_| array(format.width(role).bytes(), role.name())).transpose();
            levels.push((of(Role::Positions)?, of(Role::Coordinates)?));
        }
        array(header.element.bytes(), "values")?;
        if size - offset != 4 {
            return Err(corrupt(format!("{} bytes too many behind the values", (size - offset).abs_diff(4))));
        }
        let mut checksum = [0; 4];
        checksum.copy_from_slice(&read(offset..size, "checksum")?);
        let path = path.to_owned();
        Ok(Self { path, file, header, start, arrays, levels, checksum })
    }

    fn values(&self) -> StoredArray {
        *self.arrays.last().expect("every tensor has values")
    }

    /// Pieces with what each reads of the arrays.
    fn with_spans(&self, pieces: Vec<Piece>) -> Result<Vec<ToRead>, ReadError> {
        let mut read = vec![0; self.arrays.len()];
        let spans = |piece: Piece| {
            let mut spans = Vec::with_capacity(self.arrays.len());
            for (&(positions, coordinates), level) in self.levels.iter().zip(&piece.levels) {
                if level.positions.as_ref().is_some_and(|positions| !positions.is_consistent()) {
                    return Err(corrupt("a level has positions for other parents than there are above it"));
                }
                let has = level.positions.as_ref().map(|positions| positions.read());
                spans.extend(positions.and(has));
                spans.extend(coordinates.and(level.coordinates.clone()));
            }
            spans.push(piece.values.clone());
            let spans = spans.into_iter().zip(&mut read).zip(&self.arrays).map(|((has, read), array)| {
                if has.start > has.end || has.end > array.count {
                    return Err(corrupt(format!("an array has {} elements, and levels need {}", array.count, has.end)));
                }
                let fresh = *read..has.end.max(*read);
                *read = fresh.end;
                Ok(Span { has, fresh })
            });
            let spans = spans.collect::<Result<Vec<Span>, ReadError>>()?;
            Ok((Some(piece), spans))
        };
        pieces.into_iter().map(spans).collect()
    }

    fn read(&self, piece: Option<&Piece>, spans: &[Span], sums: &mut Vec<Sum>) -> Result<Unchecked, ReadError> {
        let bytes = |(array, span): (&StoredArray, &Span)| span.has.len() * array.width;
        let work = Work::begin_alone(Unit::Bytes, self.arrays.iter().zip(spans).map(bytes).sum());
        let mut next = self.arrays.iter().zip(spans);
        let mut elements = || {
            let next = next.next().expect("there is a span for each array");
            work.add(bytes(next));
            next
        };
        let mut levels = Vec::with_capacity(self.levels.len());
        for (number, &(positions, coordinates)) in self.levels.iter().enumerate() {
            let format = self.header.format.levels[number].format;
            let mut array = |role: Role| {
                let (array, span) = elements();
                self.indices(*array, span, format.width(role), sums)
            };
            let part = piece.and_then(|piece| piece.levels[number].positions.as_ref());
            let positions = match (positions.map(|_| array(Role::Positions)).transpose()?, part) {
                (Some(read), Some(part)) => Some(read.rebased(part)),
                (read, _) => read,
            };
            let coordinates = coordinates.map(|_| array(Role::Coordinates)).transpose()?;
            levels.push(LevelArrays::new(positions, coordinates));
        }
        let (array, span) = elements();
        let element = self.header.element;
        let values: Values = with_element!(element, |T| {
            let values = self.elements::<T>(*array, span, sums)?;
            values.ok_or_else(|| corrupt(format!("a value is none of {}", element.name())))?.into()
        });
        Ok(Unchecked { levels, values })
    }

    fn indices(
        &self,
        array: StoredArray,
        span: &Span,
        width: IndexWidth,
        sums: &mut Vec<Sum>,
    ) -> Result<IndexArray, ReadError> {
        // Any bytes are an index.
        with_width!(width, |I| Ok(<I as Index>::wrap(self.elements::<I>(array, span, sums)?.unwrap_or_default())))
    }

    /// Some elements of an array; `None` where bytes are no element.
    fn elements<T: Plain>(
        &self,
        array: StoredArray,
        span: &Span,
        sums: &mut Vec<Sum>,
    ) -> Result<Option<Buffer<T>>, ReadError> {
        let mut room = Room::<T>::try_new(span.has.len())?;
        let mut rest = room.places();
        let cut = |part: Span| {
            let (own, behind) = std::mem::take(&mut rest).split_at_mut(part.has.len());
            rest = behind;
            (part, own)
        };
        let tasks: Vec<_> = span.cut(AT_ONCE / array.width).map(cut).collect();
        let read = |(part, places): (Span, &mut [MaybeUninit<T>])| {
            let mut places = places.iter_mut();
            let mut sum = Hasher::new();
            self.blocks(array, &part, &mut sum, &mut |bytes| {
                // Blocks begin at elements, so what is read lies as elements do.
                if let Ok(elements) = bytemuck::checked::try_cast_slice::<u8, T>(bytes) {
                    elements.iter().zip(&mut places).for_each(|(&element, place)| _ = place.write(element));
                }
            })?;
            Ok::<_, ReadError>((sum, places.next().is_none()))
        };
        let (mut sum, mut are_whole) = (Hasher::new(), true);
        for result in by_readers(tasks, &read) {
            let (of_part, is_whole) = result?;
            sum.combine(&of_part);
            are_whole &= is_whole;
        }
        sums.push(Sum { checksum: sum.finalize(), bytes: (span.fresh.len() * array.width) as u64 });
        // SAFETY: each of the places has been written to.
        Ok(are_whole.then(|| unsafe { room.written() }))
    }

    /// Reads elements in blocks: those that the part has go to `take`.
    fn blocks(
        &self,
        StoredArray { offset, width, .. }: StoredArray,
        span: &Span,
        sum: &mut Hasher,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ReadError> {
        let all = span.all();
        let step = (BLOCK / width).max(1);
        let mut block = vec![0u64; (step.min(all.len()) * width).div_ceil(size_of::<u64>())];
        for begin in all.clone().step_by(step) {
            let here = begin..all.end.min(begin + step);
            let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut block)[..here.len() * width];
            self.file.read(&self.path, bytes, offset + (here.start * width) as u64)?;
            let Span { has, fresh } = span.within(&here);
            let within = |range: Range<usize>| (range.start - here.start) * width..(range.end - here.start) * width;
            sum.update(&bytes[within(fresh)]);
            take(&bytes[within(has)]);
        }
        Ok(())
    }
}

impl Arrays for Stored {
    type Error = ReadError;

    fn has(&self, level: usize) -> (bool, bool) {
        let (positions, coordinates) = self.levels[level];
        (positions.is_some(), coordinates.is_some())
    }

    fn coordinates(&self, level: usize) -> usize {
        self.levels[level].1.map_or(0, |place| self.arrays[place].count)
    }

    fn position(&self, level: usize, parent: usize) -> Result<usize, ReadError> {
        let Some(place) = self.levels[level].0 else { return Ok(0) };
        let StoredArray { offset, count, width } = self.arrays[place];
        let mut bytes = [0; 8];
        let name = Role::Positions.name();
        if parent >= count {
            return Err(corrupt(format!("level {level} has {count} {name}, and needs more")));
        }
        self.file.read(&self.path, &mut bytes[..width], offset + (parent * width) as u64)?;
        let position = u64::from_le_bytes(bytes);
        let children = self.coordinates(level);
        match usize::try_from(position) {
            Ok(position) if position <= children => Ok(position),
            _ => Err(corrupt(format!("the {name} of level {level} reach {position}, and there are {children} below"))),
        }
    }

    fn positions(&self, level: usize) -> usize {
        self.levels[level].0.map_or(0, |place| self.arrays[place].count)
    }
}

/// Results of tasks that read, in their order, by several threads: a disk serves several requests at a time, and what comes from it is copied
/// and summed. One task is run here.
fn by_readers<T: Send, R: Send>(tasks: Vec<T>, read: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    let readers = tasks.len().min(READERS);
    let results: Vec<Mutex<Option<R>>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let next = Mutex::new(tasks.into_iter().zip(&results));
    let work = || {
        loop {
            let Some((task, result)) = tasks::locked(&next).next() else { return };
            let made = read(task);
            *tasks::locked(result) = Some(made);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..readers {
            // Where there are no threads, this one reads all.
            _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    results.into_iter().filter_map(|result| result.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// A file that is read at any place.
#[derive(Debug)]
struct Positioned(#[cfg(unix)] File, #[cfg(not(unix))] Mutex<File>);

impl Positioned {
    fn new(file: File) -> Self {
        #[cfg(unix)]
        return Self(file);
        #[cfg(not(unix))]
        return Self(Mutex::new(file));
    }

    fn read(&self, path: &Path, into: &mut [u8], offset: u64) -> Result<(), ReadError> {
        let read = fault::operation().and_then(|()| self.read_at(into, offset));
        read.map_err(|error| ReadError::io(path, "read", error))
    }

    #[cfg(unix)]
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.0, into, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(into)
    }
}
