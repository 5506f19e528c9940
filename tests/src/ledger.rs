//! Results that were verified, so that they need not be computed again: a line for each engine and case in `tests/verified.txt`.
//!
//! ```text
//! native products/spmv_csr 5d1c0b7d92a3e0f4
//! ```
//!
//! The digest is of all that the result depends on: the case with its data, what the compiler prints for it, the engine's sources, the
//! oracle's, and the version of the compiler that makes machine code. A run verifies what the ledger does not have, and a sixteenth of what
//! it has, drawn anew each time: an entry that is wrong is found. `--record` writes what was verified, and `--verify-all` reads nothing.
//!
//! This file stands by itself: the build script includes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, io};

/// An engine, and what its results depend on besides a case and its text.
#[derive(Debug)]
pub struct Engine {
    /// As in names of tests.
    pub name: &'static str,
    /// Files and folders, below the project's folder.
    pub sources: &'static [&'static str],
    /// The program that makes machine code, whose version counts.
    pub compiler: &'static [&'static str],
}

const PARALLEL: &str = "runtime/src/parallel";
const INTERLEAVE: &str = "compiler/src/format/interleave.rs";
const HALF: &str = "compiler/src/ir/half.rs";
const NUMBERS: &str = "compiler/src/ir/numbers.rs";
const RUSTC: &[&str] = &["rustc", "-vV"];
const CPP: &[&str] = &["g++", "--version"];
/// The oracle, and what compares with it.
pub const ORACLE: &str = "tests/check/src";

/// The engines that have entries. The interpreter runs every case each time.
pub const ENGINES: [Engine; 6] = [
    Engine {
        name: "native",
        sources: &["runtime/src/execute/native", PARALLEL, INTERLEAVE, HALF, NUMBERS],
        compiler: RUSTC,
    },
    Engine {
        name: "c",
        sources: &["compiler/src/backend/c", "runtime/src/execute/native/c.rs", "runtime/src/execute/native/c.h"],
        compiler: &["cc", "--version"],
    },
    Engine {
        name: "jit",
        sources: &["runtime/src/execute/jit", "Cargo.lock", PARALLEL, INTERLEAVE, HALF, NUMBERS],
        compiler: RUSTC,
    },
    Engine {
        name: "emulated",
        sources: &["tests/src/emulation", "runtime/src/cuda", "runtime/src/execute/device"],
        compiler: CPP,
    },
    Engine { name: "macro", sources: &["macros/src", PARALLEL, INTERLEAVE, HALF, NUMBERS], compiler: RUSTC },
    Engine {
        name: "cu",
        sources: &["tests/src/emulation", "runtime/src/cuda", "compiler/src/backend/c"],
        compiler: CPP,
    },
];

/// Of results that were verified, one in this number is verified again.
const SAMPLE: u64 = 16;
/// Without `--verify-all`, a run verifies at most this number of other results in each engine: a change of an engine's sources takes longer
/// than a run may, and is for `--verify-all --record`.
const MOST: usize = 160;

/// The places of the results that a run verifies, of which `known` says whether the ledger has them.
pub fn drawn(engine: &str, results: &[(&str, bool)], draw: u64) -> Vec<usize> {
    let number = |case: &str| digest([engine.as_bytes(), case.as_bytes(), &draw.to_le_bytes()]) >> 32;
    let mut others: Vec<usize> = (0..results.len()).filter(|&place| !results[place].1).collect();
    others.sort_by_key(|&place| number(results[place].0));
    others.truncate(MOST);
    let known = (0..results.len()).filter(|&place| results[place].1 && number(results[place].0).is_multiple_of(SAMPLE));
    let mut all: Vec<usize> = known.chain(others).collect();
    all.sort_unstable();
    all
}

/// FNV-1a, which is the same everywhere.
pub fn hash(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let add = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, add)
}

/// The digest of some texts, of which each has its end.
pub fn digest<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    hash(texts.into_iter().flat_map(|text| text.iter().copied().chain([0xff])))
}

/// Of `Cargo.lock`, the packages that make machine code.
const MAKE_CODE: [&str; 2] = ["name = \"cranelift", "name = \"regalloc2"];

/// The digest of a file, or of all files below a folder with their names.
///
/// # Errors
/// When one can't be read.
pub fn digest_of_files(path: &Path) -> io::Result<u64> {
    if path.ends_with("Cargo.lock") {
        let text = fs::read_to_string(path)?;
        let makes_code = |package: &&str| MAKE_CODE.iter().any(|name| package.contains(name));
        return Ok(digest(text.split("[[package]]").filter(makes_code).map(str::as_bytes)));
    }
    if !path.is_dir() {
        return Ok(digest([&fs::read(path)?[..]]));
    }
    let mut files: Vec<_> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let each = files.iter().map(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok([name.into_bytes(), digest_of_files(file)?.to_le_bytes().to_vec()].concat())
    });
    let each: Vec<Vec<u8>> = each.collect::<io::Result<_>>()?;
    Ok(digest(each.iter().map(Vec::as_slice)))
}

/// The lines, by engine and case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    lines: BTreeMap<(String, String), u64>,
}

impl Ledger {
    /// Reads lines.
    ///
    /// # Errors
    /// The line that is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut ledger = Self::default();
        for (place, line) in text.lines().enumerate() {
            let mut words = line.split(' ');
            let (Some(engine), Some(case), Some(digest), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                return Err(format!("line {}: `{line}` is not an engine, a case and a digest", place + 1));
            };
            let digest =
                u64::from_str_radix(digest, 16).map_err(|_| format!("line {}: `{digest}` is no digest", place + 1))?;
            ledger.put(engine, case, digest);
        }
        Ok(ledger)
    }

    /// Notes a result that was verified, instead of an older one.
    pub fn put(&mut self, engine: &str, case: &str, digest: u64) {
        self.lines.insert((engine.to_owned(), case.replace(' ', "_")), digest);
    }

    /// Whether a result was verified.
    pub fn has(&self, engine: &str, case: &str, digest: u64) -> bool {
        self.lines.get(&(engine.to_owned(), case.replace(' ', "_"))) == Some(&digest)
    }

    /// The lines in order.
    pub fn text(&self) -> String {
        self.lines.iter().map(|((engine, case), digest)| format!("{engine} {case} {digest:016x}\n")).collect()
    }
}

/// The file with the lines.
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("verified.txt")
}

static NOTES: Mutex<Vec<(&str, String, u64)>> = Mutex::new(Vec::new());

/// Notes a result that was verified in this run.
pub fn note(engine: &'static str, case: &str, digest: u64) {
    NOTES.lock().expect("nothing panics with it").push((engine, case.to_owned(), digest));
}

/// Writes what this run has noted into the file, for the cases that there are.
///
/// # Errors
/// When the file can't be read or written.
pub fn record(is_case: impl Fn(&str) -> bool) -> io::Result<()> {
    let notes = std::mem::take(&mut *NOTES.lock().expect("nothing panics with it"));
    let mut ledger = Ledger::parse(&fs::read_to_string(file()).unwrap_or_default()).map_err(io::Error::other)?;
    ledger.lines.retain(|(_, case), _| is_case(case));
    notes.iter().for_each(|(engine, case, digest)| ledger.put(engine, case, *digest));
    fs::write(file(), ledger.text())
}
