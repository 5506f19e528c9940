//! Output files that are there in full or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::gzip::GzipWriter;
use crate::io::WriteError;

/// Creates or replaces `path` with what `write` writes, compressed if asked.
///
/// The bytes go to a temporary file in the same folder, which takes the name in the end; if anything fails it is removed
/// and the old file, if any, is still there. What is no regular file, such as a pipe or `/dev/null`, is written directly.
pub(crate) fn to_file(
    path: &Path,
    compressed: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    // Through links, so that what they point at is replaced and not they.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let result = match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "is a directory")),
        Ok(metadata) if !metadata.is_file() => write_directly(&target, compressed, write),
        Ok(metadata) => replace(&target, compressed, Some(metadata.permissions()), write),
        Err(_) => replace(&target, compressed, None, write),
    };
    result.map_err(|error| WriteError::io(path, error))
}

fn write_directly(
    path: &Path,
    compressed: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    fill(OpenOptions::new().write(true).open(path)?, compressed, write).map(drop)
}

fn replace(
    path: &Path,
    compressed: bool,
    permissions: Option<fs::Permissions>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let (file, temporary) = Temporary::beside(path)?;
    let file = fill(file, compressed, write)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    // Some systems tell of a full disk only now.
    file.sync_all()?;
    temporary.rename(path)
}

fn fill(file: File, compressed: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let mut file = BufWriter::with_capacity(1 << 18, file);
    if compressed {
        let mut gzip = GzipWriter::new(file);
        write(&mut gzip)?;
        file = gzip.finish()?;
    } else {
        write(&mut file)?;
    }
    file.into_inner().map_err(io::IntoInnerError::into_error)
}

/// A file that is removed unless it is renamed.
struct Temporary {
    path: Option<PathBuf>,
}

impl Temporary {
    /// Creates a file in the folder of `path`.
    fn beside(path: &Path) -> io::Result<(File, Self)> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "is not a file name"))?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{number}.tmp", std::process::id()));
            let path = path.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok((file, Self { path: Some(path) })),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(mut self, to: &Path) -> io::Result<()> {
        if let Some(path) = &self.path {
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
            let _ = fs::remove_file(path);
        }
    }
}
