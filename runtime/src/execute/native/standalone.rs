//! Kernels that need nothing of this crate: libraries of what the C backend prints, crates of what the Rust backend prints.

use super::{NativeError, c, external, process, text};
use crate::execute::cache::Workshop;
use crate::parallel::text as helpers;
use spc_compiler::format::INTERLEAVE_TEXT;
use spc_compiler::ir::{HALF_TEXT, NUMBERS_TEXT};
use std::fs;
use std::path::Path;

/// A kind of library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryKind {
    /// Linked into a program: `libk.a`.
    Static,
    /// Loaded by a program when it starts, or later: `libk.so`.
    Shared,
}

/// The library that the machine's C compiler makes of a text, for this processor, with OpenMP.
///
/// # Errors
/// When there is no C compiler, or it refuses the text.
pub fn c_library(source: &str, kind: LibraryKind) -> Result<Vec<u8>, NativeError> {
    let failure = |path: &Path| {
        let path = path.to_owned();
        move |source| NativeError::File { path, source }
    };
    let workshop = Workshop::elsewhere().map_err(failure(&std::env::temp_dir()))?;
    let [file, object, library] = ["kernels.c", "kernels.o", "library"].map(|name| workshop.beside(name));
    fs::write(&file, source).map_err(failure(&file))?;
    match kind {
        LibraryKind::Shared => c::compile(&file, &library, &c::LIBRARY)?,
        LibraryKind::Static => {
            c::compile(&file, &object, &["-c", "-fPIC"])?;
            archive(&object, &library)?;
        }
    }
    fs::read(&library).map_err(failure(&library))
}

/// A library of one object file.
fn archive(object: &Path, library: &Path) -> Result<(), NativeError> {
    let archiver = external::find_here("ar").ok_or_else(|| NativeError::NoCCompiler { looked: "ar".to_owned() })?;
    let command = || {
        let mut command = external::command(&archiver);
        command.arg("rcs").arg(library).arg(object);
        command
    };
    let refused = |output: String| NativeError::Compile { compiler: "ar".into(), output };
    match process::run(&command, c::LIMIT) {
        Ok(finished) if finished.status.success() => Ok(()),
        Ok(finished) => Err(refused(String::from_utf8_lossy(&finished.stderr).into_owned())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// The files of a crate that has kernels, each as the Rust backend prints it, and all that they call: it builds with rayon alone.
/// Each comes with its path in the crate's folder.
pub fn rust_crate(name: &str, kernels: &[String]) -> Vec<(&'static str, String)> {
    let manifest = format!(
        r#"[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[lib]
doctest = false

[dependencies]
rayon = "1.10"

[profile.release]
opt-level = 3
codegen-units = 1

# It belongs to no workspace around it.
[workspace]
"#
    );
    let root = "//! Kernels that `spc` compiled. For the speed that they are made for, build them for your processor:
//! `RUSTFLAGS=-Ctarget-cpu=native cargo build --release`.

#![allow(dead_code, unused, non_snake_case, mixed_script_confusables, uncommon_codepoints)]

pub mod complex;
mod kernels;
pub mod parallel;

pub use kernels::*;
";
    let head = "use crate::complex::{c32, c64};\nuse crate::parallel;\nuse crate::parallel::{bf16, f16};\n\n";
    let kernels = format!("//! The kernels: safe code.\n\n#![forbid(unsafe_code)]\n\n{head}{}", kernels.join("\n"));
    let parallel = format!(
        r#"//! What kernels call: parallel loops, sums over runs, workspaces.

/// How many threads parallel loops run on.
pub fn threads() -> usize {{
    rayon::current_num_threads()
}}

/// Calls `body` with each of `0..count`, in any order or at the same time, on rayon's threads.
pub fn run_all(count: usize, body: &(dyn Fn(usize) + Sync)) {{
    use rayon::prelude::*;
    match count {{
        0 => {{}}
        1 => body(0),
        _ => (0..count).into_par_iter().with_max_len(1).for_each(body),
    }}
}}

{}"#,
        helpers::modules(INTERLEAVE_TEXT, HALF_TEXT, NUMBERS_TEXT)
    );
    vec![
        ("Cargo.toml", manifest),
        ("src/lib.rs", root.to_owned()),
        ("src/kernels.rs", kernels),
        ("src/parallel.rs", parallel),
        ("src/complex.rs", text::COMPLEX.to_owned()),
    ]
}
