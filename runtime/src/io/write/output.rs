//! Output files, and folders of them, that are there in full or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
#[cfg(feature = "compile")]
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::gzip::GzipWriter;
use crate::fault;
use crate::io::WriteError;

/// What the names of temporary files end with.
const SUFFIX: &str = ".spc.tmp";

/// How much is written at a time.
const BLOCK: usize = 1 << 18;

/// Creates or replaces `path` with what `write` writes, compressed if asked.
///
/// The bytes go to a temporary file in the same folder, which takes the name in the end; if anything fails it is removed
/// and the old file, if any, is still there. What is no regular file, such as a pipe or `/dev/null`, is written directly.
/// Temporary files whose process has been killed are removed by the next that writes into their folder.
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
    sweep(path);
    let (_lock, temporary) = Temporary::folder_beside(path).map_err(failed)?;
    if let Some(folder) = &temporary.path {
        write(folder).map_err(|error| error.in_file(path))?;
    }
    temporary.rename(path).map_err(failed)
}

/// A folder beside `path`, for files that are needed until it is written. It is removed with all that is in it.
pub(crate) struct Scratch {
    folder: Temporary,
    /// Held as long as the folder is there.
    _lock: File,
}

impl Scratch {
    pub(crate) fn beside(path: &Path) -> Result<Self, WriteError> {
        sweep(path);
        let (lock, folder) = Temporary::folder_beside(path).map_err(|error| WriteError::io(path, error))?;
        Ok(Self { folder, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path.as_deref().expect("the folder is there until it is dropped")
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
    sweep(target);
    let (file, temporary) = Temporary::beside(target)?;
    let file = fill(file, compressed, write)?;
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
        sweep(&target);
        let (file, temporary) = Temporary::beside(&target)?;
        Ok(Some(Self { file, temporary, target, permissions }))
    }

    /// The temporary file, for others to open.
    pub(crate) fn path(&self) -> io::Result<PathBuf> {
        fs::canonicalize(self.temporary.path.as_deref().expect("it is there until it is finished"))
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

/// A file or folder that is removed unless it is renamed. It is locked as long as it is written to.
struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    /// Creates a file in the folder of `path`.
    fn beside(path: &Path) -> io::Result<(File, Self)> {
        Self::created(path, |path| OpenOptions::new().write(true).create_new(true).open(path))
    }

    /// Creates a folder in that of `path`.
    fn folder_beside(path: &Path) -> io::Result<(File, Self)> {
        Self::created(path, |path| {
            fs::create_dir(path)?;
            File::open(path)
        })
    }

    fn created(path: &Path, create: impl Fn(&Path) -> io::Result<File>) -> io::Result<(File, Self)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "is not a file name"))?;
        loop {
            fault::operation()?;
            let mut hidden = OsString::from(".");
            // A system's names have up to 255 bytes.
            if name.len() <= 200 {
                hidden.push(name);
                hidden.push(".");
            }
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            hidden.push(format!("{}-{number}{SUFFIX}", std::process::id()));
            let path = path.with_file_name(hidden);
            match create(&path) {
                Ok(file) => {
                    // Where the system has no locks, the number of the process tells enough.
                    _ = file.try_lock();
                    return Ok((file, Self { path: Some(path) }));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
            fault::operation()?;
            fs::rename(path, to)?;
        }
        self.path = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing more can be done if this fails too; the error that led here is on its way.
            _ = remove(path);
        }
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Removes what killed processes have left in the folder of `path`: temporary files and folders of a process that is gone, and without a
/// lock, which a process on another machine would hold. What can't be removed stays.
fn sweep(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        if writer(&file.file_name().to_string_lossy()).is_some_and(is_gone) && is_unlocked(&file.path()) {
            _ = remove(&file.path());
        }
    }
}

/// The process that a temporary file has its name from.
fn writer(name: &str) -> Option<u32> {
    let name = name.strip_prefix('.')?.strip_suffix(SUFFIX)?;
    let (process, number) = name.rsplit('.').next()?.split_once('-')?;
    number.parse::<u32>().ok()?;
    process.parse().ok()
}

/// Whether there is no such process on this machine. Where that can't be known, the lock alone tells.
fn is_gone(process: u32) -> bool {
    process != std::process::id() && !Path::new("/proc").join(process.to_string()).exists()
}

fn is_unlocked(path: &Path) -> bool {
    match File::open(path).map(|file| file.try_lock()) {
        Ok(Ok(())) => true,
        Ok(Err(TryLockError::Error(_))) => cfg!(target_os = "linux"), // a file system without locks: the process is gone
        Ok(Err(TryLockError::WouldBlock)) | Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_name_their_process() {
        assert_eq!(writer(".y.tns.4711-3.spc.tmp"), Some(4711));
        assert_eq!(writer(".4711-3.spc.tmp"), Some(4711));
        for other in ["y.tns.4711-3.spc.tmp", ".y.tns.4711-3.tmp", ".y.tns.4711.spc.tmp", ".y.tns.x-3.spc.tmp"] {
            assert_eq!(writer(other), None, "{other}");
        }
    }

    #[test]
    fn a_folder_is_there_when_all_of_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let gone = folder.path().join(".model.4294967295-7.spc.tmp");
        fs::create_dir(&gone).unwrap();
        fs::write(gone.join("weights.npy"), "").unwrap();
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
    fn what_killed_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let own = format!(".y.tns.{}-999.spc.tmp", std::process::id());
        let gone = ".y.tns.4294967295-0.spc.tmp";
        let locked = ".y.tns.4294967295-1.spc.tmp";
        for name in [&own, gone, locked, ".z.4294967295-0.tmp", "x.tns"] {
            fs::write(folder.path().join(name), "1 1\n").unwrap();
        }
        let held = File::open(folder.path().join(locked)).unwrap();
        held.try_lock().unwrap();
        to_file(&folder.path().join("x.tns"), false, |out| out.write_all(b"2 2\n")).unwrap();
        let left = |name: &str| folder.path().join(name).exists();
        assert!(!left(gone) && left(locked) && left(&own) && left(".z.4294967295-0.tmp"));
        assert_eq!(fs::read_to_string(folder.path().join("x.tns")).unwrap(), "2 2\n");
        let long = folder.path().join(format!("{}.tns", "x".repeat(251)));
        to_file(&long, false, |out| out.write_all(b"3 3\n")).unwrap();
        assert_eq!(fs::read_to_string(long).unwrap(), "3 3\n");
    }
}
