//! The bytes of a file, uncompressed.
//!
//! Files are copied into memory instead of being mapped: a mapped file that another process shortens kills the reader
//! with a signal, and mapping is `unsafe` for that reason. The copy is made by all threads, so that it costs little
//! beside the parsing (`examples/read.rs` measures it).

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::{ReadError, ReadErrorKind};

/// The first two bytes of any gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The bytes of a file, as they are on disk.
pub(crate) enum Source {
    Plain(Vec<u8>),
    Gzip(Vec<u8>),
}

impl Source {
    /// The bytes, uncompressed.
    pub(crate) fn text(self, path: &Path) -> Result<Vec<u8>, ReadError> {
        match self {
            Source::Plain(bytes) => Ok(bytes),
            Source::Gzip(bytes) => decompress(&bytes).map_err(|error| error.in_file(path)),
        }
    }
}

/// Reads all of `path`; gzip is recognised by its first bytes, and demanded where the name ends in `.gz`.
pub(crate) fn load(path: &Path) -> Result<Source, ReadError> {
    let file = File::open(path).map_err(|error| ReadError::io(path, "open", error))?;
    let metadata = file.metadata().map_err(|error| ReadError::io(path, "open", error))?;
    if metadata.is_dir() {
        return Err(ReadError::new(ReadErrorKind::Io, "is a directory, not a file").in_file(path));
    }
    let size = if metadata.is_file() { usize::try_from(metadata.len()).unwrap_or(0) } else { 0 };
    let bytes = read_all(file, size).map_err(|error| ReadError::io(path, "read", error))?;
    let named_gz = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    if bytes.starts_with(&GZIP_MAGIC) {
        Ok(Source::Gzip(bytes))
    } else if named_gz {
        let message = "the name ends in .gz, but this is not gzip data: remove .gz from the name if it is plain";
        Err(ReadError::new(ReadErrorKind::Compression, message).in_file(path))
    } else {
        Ok(Source::Plain(bytes))
    }
}

/// The whole file. `size` is what the system says, and only a hint: pipes have none, and files grow.
fn read_all(mut file: File, size: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = read_known(&file, size)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first `size` bytes, each part read by another thread; `file` then stands behind them.
#[cfg(unix)]
fn read_known(file: &File, size: usize) -> std::io::Result<Vec<u8>> {
    use rayon::prelude::*;
    use std::io::{Seek, SeekFrom};
    use std::os::unix::fs::FileExt;

    const PART: usize = 4 << 20;
    if size < PART {
        return Ok(Vec::with_capacity(size));
    }
    let mut bytes = vec![0; size];
    let parts = bytes.par_chunks_mut(PART).enumerate();
    let read = parts.map(|(part, into)| file.read_exact_at(into, (part * PART) as u64)).collect::<Result<(), _>>();
    match read {
        Ok(()) => {}
        // The file became shorter since its size was asked.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(Vec::new()),
        Err(error) => return Err(error),
    }
    let mut position = file;
    position.seek(SeekFrom::Start(size as u64))?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn read_known(_file: &File, size: usize) -> std::io::Result<Vec<u8>> {
    Ok(Vec::with_capacity(size))
}

/// What the members of a gzip file hold, one after another.
pub(crate) fn decompressed(bytes: &[u8]) -> impl Read + Send {
    MultiGzDecoder::new(bytes)
}

/// The same as one text.
fn decompress(bytes: &[u8]) -> Result<Vec<u8>, ReadError> {
    // The last four bytes hint at the size, but nobody vouches for them: reserve at most what text usually takes.
    let mut text = Vec::with_capacity(bytes.len().saturating_mul(4));
    match decompressed(bytes).read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let lines = text.iter().filter(|&&byte| byte == b'\n').count();
            let message = match error.kind() {
                ErrorKind::UnexpectedEof => format!("the gzip data end early, after {lines} lines: get the file again"),
                _ => format!("the gzip data are damaged after {lines} lines ({error}): get the file again"),
            };
            Err(ReadError::new(ReadErrorKind::Compression, message))
        }
    }
}
