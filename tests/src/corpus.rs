//! The cases in `cases/`.

use crate::case::Case;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the corpus; where this runs on another machine, that below the current folder.
pub fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    if here.is_dir() { here } else { Path::new("tests").join("cases") }
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

/// Kernels over rows that are longer than a warp, for that extent of `r` alone.
pub const LONG_ROWS: [(&str, u64); 8] = [
    (
        "// dims: i=5 j=4 k=6 r=160\nfn m(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        160,
    ),
    (
        "// dims: i=5 j=4 k=6 r=256\nfn m(X: csf, B: dense, C: dense) -> A: dense { A(k, r) = X(i, j, k) * B(j, r) * C(i, r); }",
        256,
    ),
    (
        "// dims: i=5 j=4 k=6 r=130\nfn m(X: coo, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        130,
    ),
    ("// dims: i=7 j=9 r=70\nfn m(A: coo, X: dense) -> Y: dense { Y(j, r) = A(i, j) * X(i, r); }", 70),
    ("// dims: i=7 j=9 r=300\nfn m(A: csr, X: f32 dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }", 300),
    (
        "// dims: i=7 j=9 k=5 r=1000\nfn m(X: csf, U: dense) -> Y: [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }",
        1000,
    ),
    (
        "// dims: i=4 j=4 k=6 r=192\nfn m(X: coo, B: dense, C: dense) -> A: dense { A(j, r) = X(i, j, k) * B(i, r) * C(k, r); }",
        192,
    ),
    (
        "// dims: i=5 j=4 k=6 r=40\nfn m(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f32 dense { A(k, r) = X(i, j, k) * B(j, r) * C(i, r); }",
        40,
    ),
];
