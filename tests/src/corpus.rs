//! The cases in `cases/`.

use crate::case::Case;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("cases")
}

/// Every case in the corpus, by name.
///
/// # Panics
/// When a file can't be read or is no case.
pub fn cases() -> Vec<Case> {
    let mut files = Vec::new();
    collect(&folder(), &mut files);
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("a folder can be read to its end").path();
        match path.is_dir() {
            true => collect(&path, files),
            false if path.extension().is_some_and(|ending| ending == "ti") => files.push(path),
            false => {}
        }
    }
}

fn read(file: &Path) -> Case {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let name = file.strip_prefix(folder()).unwrap_or(file).with_extension("");
    Case::parse(&name.to_string_lossy(), &text).unwrap_or_else(|error| panic!("{error}"))
}
