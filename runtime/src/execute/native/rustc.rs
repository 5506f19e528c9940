//! The user's Rust compiler: where it is, which it is, and how it is called.

use super::NativeError;
use super::cache::Cache;
use super::hash::Fnv128;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::UNIX_EPOCH;

/// What a kernel is compiled with, for this machine and no other.
///
/// Panics unwind, so that a fault in generated code is an error and not the end of the process. Without its symbols a
/// library is 0.3 MB instead of 4.
pub(super) const FLAGS: &[&str] = &[
    "--edition=2024",
    "--crate-type=cdylib",
    "--crate-name=spc_kernel",
    "--cap-lints=allow",
    "-Copt-level=3",
    "-Ctarget-cpu=native",
    "-Ccodegen-units=1",
    "-Cpanic=unwind",
    "-Cstrip=symbols",
];

/// Environment variables that name the compiler, in the order in which they are asked.
const VARIABLES: [&str; 2] = ["SPC_RUSTC", "RUSTC"];

/// A Rust compiler.
#[derive(Debug, Clone)]
pub(super) struct Rustc {
    path: PathBuf,
    /// What it says of itself: the output of `rustc -vV`.
    pub(super) version: String,
}

impl Rustc {
    /// The compiler that the environment names, else the one in the search path.
    pub(super) fn find(cache: &Cache) -> Result<Rustc, NativeError> {
        for variable in VARIABLES {
            if let Some(name) = env::var_os(variable).filter(|name| !name.is_empty()) {
                let path = in_search_path(&name).ok_or_else(|| NativeError::NoCompiler {
                    looked: format!("`{}` (from {variable})", name.display()),
                })?;
                return Rustc::at(path, cache);
            }
        }
        let name = format!("rustc{}", env::consts::EXE_SUFFIX);
        let path = in_search_path(name.as_ref())
            .ok_or_else(|| NativeError::NoCompiler { looked: "`rustc` in the search path".to_owned() })?;
        Rustc::at(path, cache)
    }

    /// The compiler in this file. To ask it for its version takes longer than all else that a cached kernel needs, so the
    /// answer is kept as long as the file stays the same. (Behind the file may be `rustup`, whose choice of a compiler may
    /// change. That does no harm: a kernel from another compiler is as good.)
    fn at(path: PathBuf, cache: &Cache) -> Result<Rustc, NativeError> {
        let note = identity(&path).map(|identity| format!("rustc-{identity}"));
        if let Some(version) = note.as_ref().and_then(|note| cache.note(note)) {
            return Ok(Rustc { path, version });
        }
        let answer = Command::new(&path).arg("-vV").stdin(Stdio::null()).output();
        let version = match answer {
            Ok(Output { status, stdout, .. }) if status.success() => String::from_utf8_lossy(&stdout).into_owned(),
            Ok(_) | Err(_) => return Err(NativeError::NoCompiler { looked: format!("`{} -vV`", path.display()) }),
        };
        if let Some(note) = note {
            cache.keep_note(&note, &version);
        }
        Ok(Rustc { path, version })
    }

    /// Compiles one file to a library.
    pub(super) fn compile(&self, source: &Path, library: &Path) -> Result<(), NativeError> {
        let mut command = Command::new(&self.path);
        command.args(FLAGS).arg("-o").arg(library).arg(source).stdin(Stdio::null());
        let output = command
            .output()
            .map_err(|error| NativeError::Compile { compiler: self.path.clone(), output: error.to_string() })?;
        if output.status.success() {
            return Ok(());
        }
        let output = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(NativeError::Compile { compiler: self.path.clone(), output })
    }
}

/// A program by its path, or by its name in the search path.
fn in_search_path(name: &OsStr) -> Option<PathBuf> {
    let name = Path::new(name);
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// What changes when a file does.
fn identity(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let metadata = fs::metadata(&path).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let mut hash = Fnv128::default();
    hash.write(path.as_os_str().as_encoded_bytes());
    hash.write(&changed.as_nanos().to_le_bytes());
    hash.write(&metadata.len().to_le_bytes());
    Some(hash.to_string())
}
