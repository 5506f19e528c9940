//! Output files, and folders of them, that are there in full or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
#[cfg(feature = "compile")]
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::gzip::GzipWriter;
use crate::fault;
use crate::io::WriteError;
use crate::unfinished::{self, Unfinished};

/// How much is written at a time.
const BLOCK: usize = 1 << 18;

/// Creates or replaces `path` with what `write` writes, compressed if asked.
///
/// The bytes go to a temporary file in a folder beside `path`, which takes the name in the end; if anything fails it is removed
/// and the old file, if any, is still there. What is no regular file, such as a pipe or `/dev/null`, is written directly.
/// What killed processes leave is removed by the next that writes into the folder.
pub(crate) fn to_file(
    path: &Path,
    compressed: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let written = match place(path) {
        Ok(Place::File(target, permissions)) => replace(&target, compressed, permissions, write),
        Ok(Place::Other(target)) => write_directly(&target, compressed, write),
        Err(error) => Err(error),
    };
    written.map_err(|error| WriteError::io(path, error))
}

/// What a path leads to.
enum Place {
    /// A file, which is there with these permissions, or not yet.
    File(PathBuf, Option<fs::Permissions>),
    /// A pipe or a device.
    Other(PathBuf),
}

fn place(path: &Path) -> io::Result<Place> {
    // Through links, so that what they point at is replaced and not they.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
        Ok(metadata) if !metadata.is_file() => Ok(Place::Other(target)),
        Ok(metadata) => Ok(Place::File(target, Some(metadata.permissions()))),
        Err(_) => Ok(Place::File(target, None)),
    }
}

/// Creates the folder `path`, which is not there yet, with what `write` writes into the folder that it is given: a temporary one beside it, which
/// takes the name in the end.
pub(crate) fn to_folder(path: &Path, write: impl FnOnce(&Path) -> Result<(), WriteError>) -> Result<(), WriteError> {
    let failed = |error: io::Error| WriteError::io(path, error);
    if path.exists() {
        return Err(failed(io::Error::new(io::ErrorKind::NotADirectory, "is a file, not a folder")));
    }
    let temporary = Temporary::beside(path).map_err(failed)?;
    fs::create_dir(temporary.path()).map_err(failed)?;
    write(&temporary.path()).map_err(|error| error.in_file(path))?;
    temporary.rename(path).map_err(failed)
}

/// A folder beside `path`, for files that are needed until it is written. It is removed with all that is in it.
pub(crate) struct Scratch(Temporary);

impl Scratch {
    pub(crate) fn beside(path: &Path) -> Result<Self, WriteError> {
        Temporary::beside(path).map(Self).map_err(|error| WriteError::io(path, error))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.folder.path()
    }
}

/// Writes to what is no file, compressed if asked.
pub(crate) fn to_stream(
    out: &mut dyn Write,
    compressed: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if !compressed {
        return write(out);
    }
    let mut gzip = GzipWriter::new(out);
    write(&mut gzip)?;
    gzip.finish().map(drop)
}

fn write_directly(
    path: &Path,
    compressed: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    fill(OpenOptions::new().write(true).open(path)?, compressed, write).map(drop)
}

fn replace(
    target: &Path,
    compressed: bool,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let temporary = Temporary::beside(target)?;
    let file = fill(temporary.create()?, compressed, write)?;
    finish(&file, temporary, target, permissions)
}

/// What is written takes its name.
fn finish(file: &File, temporary: Temporary, target: &Path, permissions: Option<fs::Permissions>) -> io::Result<()> {
    if let Some(permissions) = permissions {
        fault::operation()?;
        file.set_permissions(permissions)?;
    }
    // Some systems tell of a full disk only now.
    fault::operation()?;
    file.sync_all()?;
    temporary.rename(target)
}

/// A file that several write, each its range of bytes. It is removed unless it is finished.
#[cfg(feature = "compile")]
pub(crate) struct Begun {
    file: File,
    temporary: Temporary,
    target: PathBuf,
    permissions: Option<fs::Permissions>,
}

#[cfg(feature = "compile")]
impl Begun {
    /// A temporary file in the folder of `path`; nothing where `path` is no regular file, such as a pipe, or where the lock on it would
    /// keep the others out.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        if !cfg!(unix) {
            return Ok(None);
        }
        let Place::File(target, permissions) = place(path)? else { return Ok(None) };
        let temporary = Temporary::beside(&target)?;
        Ok(Some(Self { file: temporary.create()?, temporary, target, permissions }))
    }

    /// The temporary file, for others to open.
    pub(crate) fn path(&self) -> io::Result<PathBuf> {
        fs::canonicalize(self.temporary.path())
    }

    /// Gives the file its name, now that all have written.
    pub(crate) fn finish(self) -> io::Result<()> {
        finish(&self.file, self.temporary, &self.target, self.permissions)
    }

    /// Opens a temporary file that another has begun.
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).open(path)
    }

    /// Writes bytes from an offset on, to a file that was opened so.
    pub(crate) fn write_at(
        mut file: File,
        offset: u64,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        file.seek(SeekFrom::Start(offset))?;
        let mut file = fill(file, false, write)?;
        if file.stream_position()? == offset {
            return Ok(());
        }
        // A file system of several machines has it from this one only now.
        fault::operation()?;
        file.sync_all()
    }
}

fn fill(file: File, compressed: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut file = BufWriter::with_capacity(BLOCK, Counted(file));
    if compressed {
        let mut gzip = GzipWriter::new(file);
        write(&mut gzip)?;
        file = gzip.finish()?;
    } else {
        write(&mut file)?;
    }
    Ok(file.into_inner().map_err(io::IntoInnerError::into_error)?.0)
}

/// A file each write to which may fail on purpose.
struct Counted(File);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        fault::operation()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A file or folder that is removed unless it is renamed, in a folder of its own.
struct Temporary {
    folder: Unfinished,
}

impl Temporary {
    /// In the folder of `path`, where what killed processes have left is removed first.
    fn beside(path: &Path) -> io::Result<Self> {
        if path.file_name().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is not a file name"));
        }
        unfinished::sweep(unfinished::folder_of(path));
        fault::operation()?;
        Ok(Self { folder: Unfinished::beside(path)? })
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("output")
    }

    fn create(&self) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.path())
    }

    fn rename(self, to: &Path) -> io::Result<()> {
        fault::operation()?;
        fs::rename(self.path(), to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_there_when_all_of_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let error = to_folder(&path, |inside| {
            fs::write(inside.join("a"), "1").unwrap();
            to_file(&inside.join("b"), false, |_| Err(io::Error::other("no more room")))
        });
        assert_eq!(error.unwrap_err().to_string(), format!("{}: cannot write: no more room", path.display()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        to_folder(&path, |inside| {
            assert!(!path.exists());
            to_file(&inside.join("a"), false, |out| out.write_all(b"1"))
        })
        .unwrap();
        assert_eq!(fs::read_to_string(path.join("a")).unwrap(), "1");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn names_may_be_as_long_as_the_system_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join(format!("{}.tns", "x".repeat(251)));
        to_file(&long, false, |out| out.write_all(b"3 3\n")).unwrap();
        assert_eq!(fs::read_to_string(long).unwrap(), "3 3\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
