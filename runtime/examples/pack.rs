//! Times packing: `cargo run --release --example pack -- [--threads 1,2] [--repeat 5] [uniform:NNZ | FILE]… FORMAT…`
//!
//! For each tensor, format and number of threads: the median time, and the most memory that the process held while packing, as a
//! multiple of what the entries and the tensor take. Formats are written as in kernels; `uniform:NNZ` has 20,000 indices a mode.

use spc::io::{self, ReadOptions};
use spc::tensor::{Coordinates, Duplicates, Indices, pack};
use spc::{generate, memory, parallel};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax::parse_format;
use std::error::Error;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: memory::HugePages = memory::HugePages;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut threads, mut repeat, mut tensors, mut formats) = (vec![1, 2], 5, Vec::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--threads" => threads = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--repeat" => repeat = value()?.parse()?,
            name if name.starts_with("uniform:") || name.contains(".tns") || name.contains(".mtx") => {
                tensors.push(argument);
            }
            _ => formats.push(argument),
        }
    }
    for name in &tensors {
        let entries = match name.strip_prefix("uniform:") {
            Some(nnz) => generate::uniform(&[20_000; 3], nnz.parse()?, 1)?,
            None => io::read_as::<f64>(name, &ReadOptions::default())?,
        };
        for text in &formats {
            let parsed = parse_format(text).map_err(|_| format!("{text} is no format"))?;
            let Ok(format) = resolve(&parsed, entries.shape.len(), &Definitions::prelude()) else { continue };
            for &threads in &threads {
                let (ms, memory) = parallel::with_threads(threads, || measure(&entries, &format, repeat))??;
                println!("{name:<40} {text:<32} {threads} threads {ms:>9.2} ms, memory {memory:.2}");
            }
        }
    }
    Ok(())
}

/// The median time in milliseconds, and the most memory over that of entries and tensor.
fn measure(entries: &Coordinates<f64>, format: &Format, repeat: usize) -> Result<(f64, f64), String> {
    let before = status("VmRSS");
    let mut times = Vec::new();
    let mut memory = 0.0;
    for _ in 0..repeat {
        let input = entries.clone();
        // Forgets the peak so far.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let start = Instant::now();
        let tensor = pack(input, format, Duplicates::Sum).map_err(|error| error.to_string())?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        memory = status("VmHWM").saturating_sub(before) as f64 / (input_bytes(entries) + tensor.storage_bytes()) as f64;
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], memory))
}

fn input_bytes(entries: &Coordinates<f64>) -> usize {
    let column = |indices: &Indices| match indices {
        Indices::U32(indices) => size_of_val(&indices[..]),
        Indices::U64(indices) => size_of_val(&indices[..]),
    };
    size_of_val(&entries.values[..]) + entries.indices.iter().map(column).sum::<usize>()
}

/// A size that the system tells of this process, in bytes; 0 where it does not.
fn status(field: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    line.and_then(|line| line.split_whitespace().nth(1)).and_then(|size| size.parse::<usize>().ok()).unwrap_or(0) << 10
}
