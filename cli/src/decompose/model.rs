//! Models as files.

use super::checkpoint::beside;
use super::engine::refuse;
use crate::failure::Failure;
use spc::decompose::{KTensor, MethodState, TuckerTensor};
use spc::io::FileType;
use std::path::{Path, PathBuf};

/// A model that is written, and read where a run starts from it.
pub(super) trait Kept: Sized {
    /// Writes a folder, or an archive where the name ends in `.npz`.
    fn keep(&self, path: &Path) -> Result<(), Failure>;
    /// Reads what was written.
    fn of_file(path: &Path) -> Result<Self, Failure>;
}

impl Kept for KTensor {
    fn keep(&self, path: &Path) -> Result<(), Failure> {
        self.write(path).map_err(refuse)
    }

    fn of_file(path: &Path) -> Result<Self, Failure> {
        Self::read(path).map_err(refuse)
    }
}

impl Kept for TuckerTensor {
    fn keep(&self, path: &Path) -> Result<(), Failure> {
        self.write(path).map_err(refuse)
    }

    fn of_file(path: &Path) -> Result<Self, Failure> {
        Self::read(path).map_err(refuse)
    }
}

/// Writes the model of a checkpoint, and beside it what the method remembers.
pub(super) fn keep<M: Kept>(model: &M, state: Option<&MethodState>, path: &Path) -> Result<(), Failure> {
    model.keep(path)?;
    state.map_or(Ok(()), |state| state.write(beside(path)).map_err(refuse))
}

/// Refuses a place where no model can be written, before anything is computed.
pub(super) fn check_output(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.as_os_str() == "-" {
        let failure = Failure::refused("a model is several arrays, which the standard output does not take");
        return Err(failure.help("name a folder, or an archive FILE.npz; `--json` prints weights and fit"));
    }
    let is_archive = is_archive(path);
    if is_archive && path.is_dir() {
        return Err(Failure::file(shown, "there is a folder of that name").help("remove it, or give another name"));
    }
    if !is_archive && path.is_file() {
        let failure = Failure::file(shown, "a model is a folder, and there is a file of that name");
        return Err(failure.help("give the name of a folder, or of an archive FILE.npz"));
    }
    if !is_archive && FileType::of(path).is_some() {
        let failure = Failure::refused(format!("{shown}: a model is a folder or an archive .npz"));
        return Err(failure.help(format!("`-o {}`", path.with_extension("npz").display())));
    }
    check_parent(path)
}

/// Refuses a file in a folder that is not there.
pub(super) fn check_parent(path: &Path) -> Result<(), Failure> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::file(path.display(), format!("there is no folder {}", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Whether a model is written as one file.
pub(super) fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"))
}

/// The folder of one of several models.
pub(super) fn of_rank(path: &Path, rank: usize) -> PathBuf {
    path.join(format!("rank-{rank}"))
}
