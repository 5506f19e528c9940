//! How fast files are read and written: `cargo run --release -p spc-tensor --example read -- FILE…`
//!
//! Rates are of uncompressed text, best of five, all threads together; set `RAYON_NUM_THREADS=1` for one core. `parse`
//! leaves out what it takes to get the text into memory; `write` prints `.tns` text into memory; `spct` reads the tensor
//! from memory in our binary form, by its own size.

use std::error::Error;
use std::io::Read;
use std::time::Instant;

use spc::io::{self, FileType, ReadOptions};
use spc::tensor::{Duplicates, pack};
use spc_compiler::format::Format;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{} threads; MB/s", rayon::current_num_threads());
    println!("{:>8} {:>10} {:>7} {:>7} {:>7} {:>7}", "MB", "entries", "read", "parse", "write", "spct");
    for path in std::env::args().skip(1) {
        let text = text(&path)?;
        let x = io::read_as::<f64>(&path, &ReadOptions::default())?;
        let read = best(|| io::read_as::<f64>(&path, &ReadOptions::default()).map(drop))?;
        let parse = best(|| match FileType::of(&path) {
            Some((FileType::Mtx, _)) => io::mtx::parse::<f64>(&text).map(drop),
            _ => io::tns::parse::<f64>(&text, None).map(drop),
        })?;
        let mut out = Vec::new();
        let write = best(|| {
            out.clear();
            io::write_tns(&mut out, &x)
        })?;
        let entries = x.values.len();
        let format = Format::coo(x.shape.len());
        let mut binary = Vec::new();
        io::spct::write(&mut binary, &pack(x, &format, Duplicates::Sum)?)?;
        let spct = best(|| io::spct::parse(&binary).map(drop))?;
        let rate = |bytes: usize, seconds: f64| bytes as f64 / 1e6 / seconds;
        let (read, parse) = (rate(text.len(), read), rate(text.len(), parse));
        let (write, spct) = (rate(out.len(), write), rate(binary.len(), spct));
        let megabytes = text.len() as f64 / 1e6;
        println!("{megabytes:8.1} {entries:10} {read:7.0} {parse:7.0} {write:7.0} {spct:7.0}  {path}");
    }
    Ok(())
}

/// The least time of five, in seconds.
fn best<E>(mut run: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let start = Instant::now();
        run()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn text(path: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let file = std::fs::File::open(path)?;
    let mut text = Vec::new();
    if path.ends_with(".gz") {
        flate2::read::MultiGzDecoder::new(file).read_to_end(&mut text)?;
    } else {
        { file }.read_to_end(&mut text)?;
    }
    Ok(text)
}
