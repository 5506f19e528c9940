//! The bytes of a file, uncompressed.
//!
//! Files are copied into memory instead of being mapped: a mapped file that another process shortens kills the reader
//! with a signal, and mapping is `unsafe` for that reason. The copy is made by all threads, so that it costs little
//! beside the parsing (`examples/read.rs` measures it).
//!
//! What has no end is not read to it: text whose first line is too long for one, and a binary file that begins otherwise than its
//! kind does, are refused before the rest is read; so is a later line of text that comes compressed or out of a pipe.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::entries::is_line_end;
use super::kind::Kind;
use super::{FileType, ReadError, ReadErrorKind};
use crate::progress::{Unit, Work};
use crate::{fault, memory};

/// The first two bytes of any gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// No line of a text is longer: an entry of 255 modes has less than 6000 bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Every binary file has as many bytes.
const START: usize = 16;

/// How much is read at a time from what does not say its size.
const STEP: usize = 1 << 20;

/// The bytes of a file, as they are on disk; binary files are uncompressed.
pub(crate) enum Source {
    Plain(Vec<u8>),
    Gzip(Vec<u8>),
}

impl Source {
    /// The bytes, uncompressed.
    pub(crate) fn text(&self) -> Result<Cow<'_, [u8]>, ReadError> {
        match self {
            Source::Plain(bytes) => Ok(Cow::Borrowed(bytes)),
            Source::Gzip(bytes) => decompress(bytes, Check::Lines).map(Cow::Owned),
        }
    }

    /// The first lines of a text.
    pub(crate) fn head(&self) -> Result<Cow<'_, [u8]>, ReadError> {
        match self {
            Source::Plain(bytes) => Ok(Cow::Borrowed(bytes)),
            Source::Gzip(bytes) => {
                let mut text = Vec::new();
                // What is wrong with it is told when all of it is read.
                _ = decompressed_lines(bytes).take(2 * LONGEST_LINE as u64).read_to_end(&mut text);
                if text.len() == 2 * LONGEST_LINE {
                    text.truncate(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
                }
                Ok(Cow::Owned(text))
            }
        }
    }
}

/// Reads all of `path`; gzip is recognised by its first bytes, and demanded where the name ends in `.gz`.
pub(crate) fn load(path: &Path, file_type: FileType) -> Result<Source, ReadError> {
    let failed = |doing: &'static str| move |error: io::Error| ReadError::io(path, doing, error);
    let (mut file, metadata) = opened(path)?;
    if !metadata.is_file() {
        return stream(path, &mut file, file_type);
    }
    let mut head = Vec::new();
    file.by_ref().take(LONGEST_LINE as u64 + 1).read_to_end(&mut head).map_err(failed("read"))?;
    let is_gzip = checked_gzip(path, &head)?;
    if !is_gzip {
        check_start(&head, file_type)?;
    }
    file.rewind().map_err(failed("read"))?;
    let size = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
    let mut bytes = read_known(path, &file, size)?;
    read_rest(&mut file, &mut bytes, Check::Nothing).map_err(|failure| failure.of_file(path))?;
    of_bytes(bytes, is_gzip, file_type)
}

/// The beginning of a regular file, where that says how a tensor is stored.
pub(crate) fn head(path: &Path, file_type: FileType) -> Result<Option<Source>, ReadError> {
    let (mut file, metadata) = opened(path)?;
    if !metadata.is_file() || !file_type.kind().has_head() {
        return Ok(None);
    }
    let mut head = Vec::new();
    let read = file.by_ref().take(2 * LONGEST_LINE as u64).read_to_end(&mut head);
    read.map_err(|error| ReadError::io(path, "read", error))?;
    if checked_gzip(path, &head)? {
        return Ok(file_type.is_text().then_some(Source::Gzip(head)));
    }
    check_start(&head[..head.len().min(LONGEST_LINE + 1)], file_type)?;
    Ok(Some(Source::Plain(head)))
}

/// The text of a regular file, decompressed, to be read in blocks of lines.
pub(super) fn text(path: &Path) -> Result<(Box<dyn Read + Send>, bool), ReadError> {
    let (mut file, metadata) = opened(path)?;
    if !metadata.is_file() {
        let message = "it is no regular file, and is read into memory as a whole: leave out the limit of memory";
        return Err(ReadError::new(ReadErrorKind::NotSupported, message));
    }
    let failed = |error: io::Error| ReadError::io(path, "read", error);
    let mut head = Vec::new();
    file.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut head).map_err(failed)?;
    let is_gzip = checked_gzip(path, &head)?;
    file.rewind().map_err(failed)?;
    let text: Box<dyn Read + Send> = match is_gzip {
        true => Box::new(Lines::new(MultiGzDecoder::new(BufReader::with_capacity(STEP, file)))),
        false => Box::new(Lines::new(file)),
    };
    Ok((text, is_gzip))
}

/// Why the next lines of a [`text`] can't be read.
pub(super) fn failed(path: &Path, is_gzip: bool, error: io::Error) -> ReadError {
    if let Some(long) = LongLine::of(&error) {
        return long;
    }
    match error.kind() {
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput if is_gzip => {
            let message = format!("the gzip data are damaged or end early ({error}): get the file again");
            ReadError::new(ReadErrorKind::Compression, message)
        }
        ErrorKind::OutOfMemory => ReadError::new(ReadErrorKind::Memory, error.to_string()),
        _ => ReadError::io(path, "read", error),
    }
}

/// Reads what does not say how long it is.
pub(crate) fn stream(path: &Path, stream: &mut dyn Read, file_type: FileType) -> Result<Source, ReadError> {
    let mut head = Vec::new();
    let read = (&mut *stream).take(GZIP_MAGIC.len() as u64).read_to_end(&mut head);
    read.map_err(|error| ReadError::io(path, "read", error))?;
    let is_gzip = checked_gzip(path, &head)?;
    let check = if is_gzip { Check::Nothing } else { Check::of(file_type) };
    let mut bytes = Vec::new();
    read_rest(&mut io::Cursor::new(head).chain(stream), &mut bytes, check).map_err(|failure| failure.of_file(path))?;
    of_bytes(bytes, is_gzip, file_type)
}

pub(super) fn opened(path: &Path) -> Result<(File, Metadata), ReadError> {
    let failed = |error: io::Error| ReadError::io(path, "open", error);
    fault::operation().map_err(failed)?;
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(ReadError::new(ReadErrorKind::Io, "is a directory, not a file"));
    }
    Ok((file, metadata))
}

/// Whether the name of a file says that it is compressed.
pub(super) fn is_named_gzip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Whether a file that begins so is compressed, as its name has to say.
fn checked_gzip(path: &Path, head: &[u8]) -> Result<bool, ReadError> {
    let is_gzip = head.starts_with(&GZIP_MAGIC);
    if is_named_gzip(path) && !is_gzip {
        let message = "the name ends in .gz, but this is not gzip data: remove .gz from the name if it is plain";
        return Err(ReadError::new(ReadErrorKind::Compression, message));
    }
    Ok(is_gzip)
}

/// Text stays compressed, to be decompressed while it is parsed.
fn of_bytes(bytes: Vec<u8>, is_gzip: bool, file_type: FileType) -> Result<Source, ReadError> {
    let plain = match is_gzip {
        false => bytes,
        true if file_type.is_text() => return Ok(Source::Gzip(bytes)),
        true => decompress(&bytes, Check::of(file_type))?,
    };
    file_type.kind().unpacked(plain).map(Source::Plain)
}

/// Refuses what can't be a file of that kind, by its first bytes: up to one more than a line has.
fn check_start(head: &[u8], file_type: FileType) -> Result<(), ReadError> {
    match Check::of(file_type) {
        Check::Lines if head.len() > LONGEST_LINE && !head.iter().any(|&byte| is_line_end(byte)) => Err(too_long(1)),
        Check::Lines | Check::Nothing => Ok(()),
        Check::Start(kind) => kind.check_start(head),
    }
}

/// What is checked of bytes that come one after another.
#[derive(Clone, Copy)]
enum Check {
    Nothing,
    /// Lines are no longer than those of entries.
    Lines,
    /// The first bytes are those of a kind of file.
    Start(&'static dyn Kind),
}

impl Check {
    fn of(file_type: FileType) -> Self {
        if file_type.is_text() { Check::Lines } else { Check::Start(file_type.kind()) }
    }
}

fn too_long(line: usize) -> ReadError {
    let message = format!("line {line} has more than {LONGEST_LINE} bytes, which is no entry: is this text?");
    ReadError::new(ReadErrorKind::FieldCount, message)
}

/// The first `size` bytes, each part read by another thread; `file` is then after them.
#[cfg(unix)]
fn read_known(path: &Path, file: &File, size: usize) -> Result<Vec<u8>, ReadError> {
    use crate::tensor::tasks;
    use std::io::SeekFrom;
    use std::os::unix::fs::FileExt;
    use std::sync::{Mutex, PoisonError};

    const PART: usize = 4 << 20;
    if size < PART {
        return Ok(memory::try_room(size)?);
    }
    let mut bytes: Vec<u8> = memory::try_zeroed(size)?;
    let failure = Mutex::new(None);
    let work = Work::begin(Unit::Bytes, size);
    tasks::each(bytes.chunks_mut(PART).collect(), &|part, into: &mut [u8]| {
        work.add(into.len());
        let read = fault::operation().and_then(|()| file.read_exact_at(into, (part * PART) as u64));
        if let Err(error) = read {
            *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => {}
        // The file became shorter since its size was asked.
        Some(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Vec::new()),
        Some(error) => return Err(ReadError::io(path, "read", error)),
    }
    let mut position = file;
    position.seek(SeekFrom::Start(size as u64)).map_err(|error| ReadError::io(path, "read", error))?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn read_known(_path: &Path, _file: &File, size: usize) -> Result<Vec<u8>, ReadError> {
    Ok(memory::try_room(size)?)
}

/// Why a stream was not read to its end.
enum Failure {
    Io(io::Error),
    Refused(ReadError),
}

impl Failure {
    fn of_file(self, path: &Path) -> ReadError {
        match self {
            Failure::Io(error) => match LongLine::of(&error) {
                Some(long) => long,
                None => ReadError::io(path, "read", error),
            },
            Failure::Refused(error) => error,
        }
    }
}

/// Appends what a stream has; where a kind is said, only as much as a file of that kind can have.
fn read_rest(stream: &mut dyn Read, bytes: &mut Vec<u8>, check: Check) -> Result<(), Failure> {
    match check {
        Check::Lines => read_all(&mut Lines::new(stream), bytes, check),
        Check::Nothing | Check::Start(_) => read_all(stream, bytes, check),
    }
}

fn read_all(stream: &mut dyn Read, bytes: &mut Vec<u8>, check: Check) -> Result<(), Failure> {
    let mut most = u64::MAX;
    loop {
        fault::operation().map_err(Failure::Io)?;
        let before = bytes.len();
        if bytes.capacity() == before {
            // What fills its memory often has come to its end, and need not be copied to where more fits.
            let mut next = [0; 64];
            let count = stream.read(&mut next).map_err(Failure::Io)?;
            if count == 0 {
                return Ok(());
            }
            memory::try_reserve(bytes, (before / 2).max(STEP)).map_err(|error| Failure::Refused(error.into()))?;
            bytes.extend_from_slice(&next[..count]);
        } else {
            let step = (bytes.capacity() - before).min(STEP) as u64;
            (&mut *stream).take(step.min(most - before as u64)).read_to_end(bytes).map_err(Failure::Io)?;
        }
        if bytes.len() == before || bytes.len() as u64 >= most {
            return Ok(());
        }
        let is_start = before < START && bytes.len() >= START;
        if is_start && let Check::Start(kind) = check {
            kind.check_start(bytes).map_err(Failure::Refused)?;
            // One byte more, so that too many are noticed.
            if let Some(length) = kind.length(bytes) {
                most = (length as u64).saturating_add(1).max(bytes.len() as u64);
            }
        }
    }
}

/// Text whose lines are no longer than lines are.
struct Lines<R> {
    text: R,
    /// The line that comes next, from 1, and how much of it has been read.
    line: usize,
    length: usize,
}

impl<R> Lines<R> {
    fn new(text: R) -> Self {
        Self { text, line: 1, length: 0 }
    }
}

/// The error of a line that is too long.
#[derive(Debug)]
struct LongLine(usize);

impl LongLine {
    fn of(error: &io::Error) -> Option<ReadError> {
        error.get_ref()?.downcast_ref::<LongLine>().map(|long| too_long(long.0))
    }
}

impl std::fmt::Display for LongLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} is too long", self.0)
    }
}

impl std::error::Error for LongLine {}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(into)?;
        let read = &into[..count];
        match read.iter().rposition(|&byte| is_line_end(byte)) {
            // Within what is read at once, a line is no longer than that.
            Some(end) if self.length + end <= LONGEST_LINE => {
                self.line += read.iter().filter(|&&byte| byte == b'\n').count();
                self.length = count - end - 1;
            }
            None if self.length + count <= LONGEST_LINE => self.length += count,
            _ => {
                for &byte in read {
                    self.length = if is_line_end(byte) { 0 } else { self.length + 1 };
                    self.line += usize::from(byte == b'\n');
                    if self.length > LONGEST_LINE {
                        return Err(io::Error::new(ErrorKind::InvalidData, LongLine(self.line)));
                    }
                }
            }
        }
        Ok(count)
    }
}

/// The text that the members of a gzip file hold, one after another.
pub(crate) fn decompressed_lines(bytes: &[u8]) -> impl Read + Send {
    Lines::new(MultiGzDecoder::new(Compressed { bytes, work: Work::begin(Unit::Bytes, bytes.len()) }))
}

/// Compressed bytes, counted as they are decompressed.
struct Compressed<'file> {
    bytes: &'file [u8],
    work: Work,
}

impl Read for Compressed<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.work.add(count);
        Ok(count)
    }
}

impl BufRead for Compressed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // By and by, so that what is counted is what has been decompressed.
        Ok(&self.bytes[..self.bytes.len().min(1 << 16)])
    }

    fn consume(&mut self, count: usize) {
        self.bytes.consume(count);
        self.work.add(count);
    }
}

/// What the members of a gzip file hold.
fn decompress(bytes: &[u8], check: Check) -> Result<Vec<u8>, ReadError> {
    let mut text = Vec::new();
    let error = match read_rest(&mut MultiGzDecoder::new(bytes), &mut text, check) {
        Ok(()) => return Ok(text),
        Err(Failure::Refused(error)) => return Err(error),
        Err(Failure::Io(error)) => error,
    };
    if let Some(long) = LongLine::of(&error) {
        return Err(long);
    }
    if error.kind() == ErrorKind::Other {
        return Err(ReadError::new(ReadErrorKind::Io, format!("cannot read: {error}")));
    }
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    let message = match error.kind() {
        ErrorKind::UnexpectedEof => format!("the gzip data end early, after {lines} lines: get the file again"),
        _ => format!("the gzip data are damaged after {lines} lines ({error}): get the file again"),
    };
    Err(ReadError::new(ReadErrorKind::Compression, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_limit_wherever_they_are_cut() {
        let long = [vec![b'1'; LONGEST_LINE], b"\n".to_vec()].concat();
        let longer = [vec![b'1'; LONGEST_LINE + 1], b"\n".to_vec()].concat();
        for size in [1 << 12, 100_003, 1 << 20, 1 << 24] {
            let read = |text: &[u8]| {
                let (mut lines, mut buffer) = (Lines::new(text), vec![0; size]);
                loop {
                    match lines.read(&mut buffer) {
                        Ok(0) => return Ok(()),
                        Ok(_) => {}
                        Err(error) => return Err(LongLine::of(&error).unwrap().to_string()),
                    }
                }
            };
            let message = read(&longer).unwrap_err();
            assert_eq!(message, "line 1 has more than 1048576 bytes, which is no entry: is this text?");
            assert_eq!(read(&[b"1 2\n".to_vec(), long.clone(), long.clone()].concat()), Ok(()));
            let message = read(&[long.clone(), b"1\r\n".to_vec(), longer.clone()].concat()).unwrap_err();
            assert_eq!(message, "line 3 has more than 1048576 bytes, which is no entry: is this text?");
        }
    }
}
