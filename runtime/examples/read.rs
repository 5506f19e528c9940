//! How fast files are read: `cargo run --release -p spc --example read -- FILE…`
//!
//! Rates are of uncompressed text, best of five, all threads together; set `RAYON_NUM_THREADS=1` for one core.

use std::error::Error;
use std::io::Read;
use std::time::Instant;

use spc::io::{self, ReadOptions};

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:>10} {:>12} {:>7} {:>7}  {} threads", "MB", "entries", "s", "MB/s", rayon::current_num_threads());
    for path in std::env::args().skip(1) {
        let mut best = f64::INFINITY;
        let mut entries = 0;
        for _ in 0..5 {
            let start = Instant::now();
            entries = io::read::<f64>(&path, &ReadOptions::default())?.values.len();
            best = best.min(start.elapsed().as_secs_f64());
        }
        let megabytes = text_bytes(&path)? as f64 / 1e6;
        println!("{megabytes:10.1} {entries:12} {best:7.3} {:7.0}  {path}", megabytes / best);
    }
    Ok(())
}

fn text_bytes(path: &str) -> Result<u64, Box<dyn Error>> {
    let file = std::fs::File::open(path)?;
    let text: Box<dyn Read> =
        if path.ends_with(".gz") { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) };
    Ok(std::io::copy(&mut { text }, &mut std::io::sink())?)
}
