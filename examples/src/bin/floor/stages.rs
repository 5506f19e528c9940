//! What comes before a kernel runs: packing, reading, compiling.

use crate::Failure;
use crate::generated::text;
use crate::measure::{Times, repeated};
use crate::report::Stage;
use spc::execute::NativeKernel;
use spc::tensor::{Coordinates, Duplicates, pack};
use spc::{generate, io, parallel};
use spc_compiler::format::Format;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const MTTKRP: &str = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";

/// How many entries are packed.
const PACKED: usize = 10_000_000;

/// How many entries are read.
const READ: usize = 4_000_000;

/// All stages.
pub(crate) fn all(repeat: usize) -> Result<Vec<Stage>, Failure> {
    let mut stages = packing(repeat)?;
    stages.extend(reading(repeat)?);
    stages.extend(compiling(repeat)?);
    Ok(stages)
}

fn packing(repeat: usize) -> Result<Vec<Stage>, Failure> {
    let entries = generate::uniform(&[10_000; 3], PACKED, 1)?;
    let mut stages = Vec::new();
    for threads in [1, 2] {
        let times = parallel::with_threads(threads, || pack_times(&entries, repeat))??;
        let name = format!("pack {} million entries as csf, {threads} threads", PACKED / 1_000_000);
        stages.push(Stage { name, rate: rate(&times, PACKED, "M entries/s"), times });
    }
    Ok(stages)
}

/// Packing takes the entries; the copy of them is made before.
fn pack_times(entries: &Coordinates<f64>, repeat: usize) -> Result<Times, Failure> {
    let mut times = Vec::new();
    for _ in 0..repeat {
        let entries = entries.clone();
        let start = Instant::now();
        let tensor = pack(entries, &Format::csf(3), Duplicates::Sum)?;
        times.push(start.elapsed());
        drop(tensor);
    }
    Ok(Times::of(times))
}

fn reading(repeat: usize) -> Result<Vec<Stage>, Failure> {
    let entries = generate::uniform(&[100_000; 3], READ, 2)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("x.tns");
    io::write(&path, &entries)?;
    let bytes = std::fs::read(&path)?;
    let mut stages = Vec::new();
    for threads in [1, 2] {
        let parse = || io::tns::parse::<f64>(&bytes, None).map(drop).map_err(Failure::from);
        let times = parallel::with_threads(threads, || repeated(repeat, parse))??;
        let name = format!("read .tns of {} MB in memory, {threads} threads", bytes.len() / 1_000_000);
        stages.push(Stage { name, rate: rate(&times, bytes.len(), "MB/s"), times });
        let read = || io::read_as::<f64>(&path, &io::ReadOptions::default()).map(drop).map_err(Failure::from);
        let times = parallel::with_threads(threads, || repeated(repeat, read))??;
        let name = format!("read .tns of {} MB from a file, {threads} threads", bytes.len() / 1_000_000);
        stages.push(Stage { name, rate: rate(&times, bytes.len(), "MB/s"), times });
    }
    Ok(stages)
}

/// Millions of something a second.
fn rate(times: &Times, count: usize, unit: &'static str) -> Option<(f64, &'static str)> {
    Some((count as f64 / times.median() / 1e3, unit))
}

fn compiling(repeat: usize) -> Result<Vec<Stage>, Failure> {
    let repeat = repeat.max(25);
    let times = repeated(repeat, || text(MTTKRP, &|_| ()).map(drop))?;
    let mut stages =
        vec![Stage { name: "MTTKRP from text to Rust text, in one process".to_owned(), times, rate: None }];
    let this = std::env::current_exe()?;
    let spc = this.with_file_name(format!("spc{}", std::env::consts::EXE_SUFFIX));
    if spc.is_file() {
        let times = repeated(repeat, || compile_command(&spc))?;
        stages.push(Stage { name: "`spc compile` of MTTKRP, a process".to_owned(), times, rate: None });
    }
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let cache = tempfile::tempdir()?;
        cold.push(compile_process(&this, cache.path())?);
        warm.push(compile_process(&this, cache.path())?);
    }
    for (name, times) in [("no cache", cold), ("cached on disk", warm)] {
        let name = format!("MTTKRP to native code, {name}");
        stages.push(Stage { name, times: Times::of(times), rate: None });
    }
    Ok(stages)
}

fn compile_command(spc: &PathBuf) -> Result<(), Failure> {
    let formats = ["-f", "X=csf", "-f", "B=dense", "-f", "C=dense", "-f", "A=dense"];
    let output =
        Command::new(spc).arg("compile").arg("A(i, r) = X(i, j, k) * B(j, r) * C(k, r)").args(formats).output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}

/// Lets a process of its own compile a kernel: this one has loaded what it has compiled.
fn compile_process(program: &Path, cache: &Path) -> Result<Duration, Failure> {
    let output = Command::new(program).arg("--compile-one").env("SPC_CACHE", cache).output()?;
    let seconds: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Compiles a kernel to native code and says how many seconds that took.
pub(crate) fn compile_one() -> Result<f64, Failure> {
    let (kernel, text) = text(MTTKRP, &|_| ())?;
    Ok(NativeKernel::compile(&text, &kernel)?.compile_time().as_secs_f64())
}
