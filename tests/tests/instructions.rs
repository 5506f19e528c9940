//! A gate on speed that does not depend on what else a machine does: how many instructions a call of a kernel takes, by callgrind, beside
//! `tests/instructions.txt`. Vectors are those of AVX2. More than 1.15 times as many is an error; `INSTA_UPDATE=always` writes the file
//! anew.

use spc_tests::harness::{Failure, Skip};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const MOST: f64 = 1.15;

spc_tests::tests! { no_kernel_takes_more_instructions, more_instructions_are_found }

fn no_kernel_takes_more_instructions() -> Result<(), Failure> {
    let counts = counted()?;
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    let known = known(&fs::read_to_string(&place).unwrap_or_default());
    let changes = compared(&known, &counts);
    if env::var_os("INSTA_UPDATE").is_some_and(|value| value == "always") {
        changes.iter().for_each(|change| println!("{change}"));
        let text: String = counts.iter().map(|(name, count)| format!("{count:>12} {name}\n")).collect();
        fs::write(&place, text).map_err(|error| error.to_string())?;
        return Ok(());
    }
    let names = |counts: &BTreeMap<String, u64>| counts.keys().cloned().collect::<Vec<_>>();
    if names(&known) != names(&counts) {
        return Err(Failure::Wrong(
            "tests/instructions.txt has other kernels: INSTA_UPDATE=always writes it".to_owned(),
        ));
    }
    let slower: Vec<String> =
        changes.into_iter().filter(|change| change.ratio > MOST).map(|change| change.to_string()).collect();
    if slower.is_empty() { Ok(()) } else { Err(Failure::Wrong(slower.join("\n"))) }
}

fn more_instructions_are_found() {
    let known = known("  1000 native: a\n 1000 jit: b\n");
    let counts = [("native: a".to_owned(), 1149), ("jit: b".to_owned(), 1151)].into();
    let changes = compared(&known, &counts);
    let slower: Vec<&str> = changes.iter().filter(|change| change.ratio > MOST).map(|change| &*change.name).collect();
    assert_eq!(slower, ["jit: b"]);
    assert_eq!(changes[0].to_string(), "jit: b: 1,000 instructions before, 1,151 now (1.15 times)");
}

/// Instructions of a call, before and now.
struct Change {
    name: String,
    before: u64,
    now: u64,
    ratio: f64,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Change { name, before, now, ratio } = self;
        write!(f, "{name}: {} instructions before, {} now ({ratio:.2} times)", grouped(*before), grouped(*now))
    }
}

/// A number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn known(text: &str) -> BTreeMap<String, u64> {
    let entry = |line: &str| {
        let (count, name) = line.trim().split_once(' ')?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

fn compared(known: &BTreeMap<String, u64>, counts: &BTreeMap<String, u64>) -> Vec<Change> {
    let change = |(name, &now): (&String, &u64)| {
        let before = *known.get(name)?;
        Some(Change { name: name.clone(), before, now, ratio: now as f64 / before.max(1) as f64 })
    };
    counts.iter().filter_map(change).collect()
}

/// What callgrind counts.
fn counted() -> Result<BTreeMap<String, u64>, Failure> {
    let lacks = |what: &str| Err(Failure::Skip(Skip(what.to_owned())));
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        return lacks("callgrind counts here only on Linux on x86-64");
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut out = std::ffi::OsString::from("--callgrind-out-file=");
    out.push(folder.path().join("counts"));
    let run = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--instr-atstart=no"])
        .arg(out)
        .arg(env!("CARGO_BIN_EXE_instructions"))
        .env("RAYON_NUM_THREADS", "1")
        .output();
    let Ok(output) = run else { return lacks("there is no valgrind") };
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("there is no Rust compiler") {
        return Err(Skip::without_rustc().into());
    }
    if !output.status.success() {
        return Err(Failure::Wrong(format!("{}\n{said}", output.status)));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let mut counts = BTreeMap::new();
    for (place, name) in names.lines().enumerate() {
        counts.insert(name.to_owned(), total(&folder.path().join(format!("counts.{}", place + 1)))?);
    }
    Ok(counts)
}

/// The instructions of a dump.
fn total(path: &PathBuf) -> Result<u64, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let line = text.lines().find_map(|line| line.strip_prefix("summary:").or(line.strip_prefix("totals:")));
    let count = line.and_then(|count| count.trim().parse().ok());
    count.ok_or_else(|| Failure::Wrong(format!("{}: no total", path.display())))
}
