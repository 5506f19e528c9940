//! Several arrays with names: a folder of `.npy` files, or a `.npz` archive.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::source::{self, Source};
use super::{FileType, ReadError, ReadErrorKind, WriteError, WriteErrorKind, npz, write};
use crate::fault;
use crate::tensor::AnyTensor;

/// Arrays with names, in a folder or in memory.
pub struct Arrays {
    path: PathBuf,
    names: Vec<String>,
    /// The archive; none where it is a folder.
    archive: Option<Source>,
}

impl Arrays {
    /// Looks into a folder of `.npy` files, or reads a `.npz` archive into memory.
    ///
    /// # Errors
    ///
    /// When there is neither, or it can't be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let path = path.as_ref();
        let failed = |error: io::Error| ReadError::io(path, "open", error);
        fault::operation().map_err(failed)?;
        if fs::metadata(path).map_err(failed)?.is_dir() {
            let mut names = Vec::new();
            for file in fs::read_dir(path).map_err(failed)? {
                let name = file.map_err(failed)?.file_name();
                names.extend(name.to_str().and_then(|name| name.strip_suffix(".npy")).map(str::to_owned));
            }
            names.sort_unstable();
            return Ok(Self { path: path.to_owned(), names, archive: None });
        }
        if FileType::of(path) != Some((FileType::Npz, false)) {
            let message = "is neither a folder of .npy files nor a .npz archive";
            return Err(ReadError::new(ReadErrorKind::UnknownFormat, message).in_file(path));
        }
        let source = source::load(path, FileType::Npz).map_err(|error| error.in_file(path))?;
        let names = source.text().and_then(|bytes| npz::names(&bytes)).map_err(|error| error.in_file(path))?;
        Ok(Self { path: path.to_owned(), names, archive: Some(source) })
    }

    /// The names, without `.npy`.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where they are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads an array, of the element type that it is stored with.
    ///
    /// # Errors
    ///
    /// When there is none of that name, or it can't be read.
    pub fn read(&self, name: &str) -> Result<AnyTensor, ReadError> {
        let Some(source) = &self.archive else { return super::read(self.path.join(format!("{name}.npy"))) };
        let array = source.text().and_then(|bytes| npz::array(&bytes, name));
        array.map_err(|error| error.in_file(&self.path))
    }
}

/// Writes dense arrays with names: into a `.npz` archive where the name ends so, else into a folder, as `NAME.npy` each.
///
/// An archive appears when it is complete, as does a folder that was not there. In one that was, each file is replaced when its
/// successor is complete, and those that `is_old` says to have been written before and that are not among the arrays are removed; other
/// files stay.
///
/// # Errors
///
/// When something can't be written, the name is that of another kind of file, or an array is not dense.
pub fn write_arrays(
    path: impl AsRef<Path>,
    arrays: &[(String, &AnyTensor)],
    is_old: &dyn Fn(&str) -> bool,
) -> Result<(), WriteError> {
    let path = path.as_ref();
    let refused = |message: &str| Err(WriteError::new(WriteErrorKind::NotSupported, path, message));
    if arrays.iter().any(|(_, array)| !array.format().is_dense()) {
        return refused("arrays with names are dense: convert them first");
    }
    match FileType::of(path) {
        Some((FileType::Npz, false)) => return write::to_file(path, false, |out| npz::write_arrays(out, arrays)),
        Some(_) if !path.is_dir() => {
            return refused("several arrays are written as a folder or as a .npz archive: give it such a name");
        }
        _ => {}
    }
    let all = |folder: &Path| {
        let mut arrays = arrays.iter();
        arrays.try_for_each(|(name, array)| super::write_tensor(folder.join(format!("{name}.npy")), array))
    };
    if !path.is_dir() {
        return write::to_folder(path, all);
    }
    all(path)?;
    let failed = |error: io::Error| WriteError::io(path, error);
    for file in fs::read_dir(path).map_err(failed)? {
        let file = file.map_err(failed)?;
        let name = file.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".npy")) else { continue };
        if is_old(name) && !arrays.iter().any(|(other, _)| other == name) {
            fault::operation().and_then(|()| fs::remove_file(file.path())).map_err(failed)?;
        }
    }
    Ok(())
}

impl std::fmt::Debug for Arrays {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrays").field("path", &self.path).field("names", &self.names).finish_non_exhaustive()
    }
}
