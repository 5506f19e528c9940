//! Times packing, in nanoseconds a nonzero: `cargo run --release --example pack -- [NNZ]`.

use spc::generate;
use spc::tensor::{Duplicates, pack};
use spc_compiler::format::{Format, LevelFormat};
use std::time::Instant;

fn timed<T>(nnz: usize, what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let seconds = start.elapsed().as_secs_f64();
    println!("{what:<36} {seconds:>8.3} s {:>8.1} ns", 1e9 * seconds / nnz as f64);
    result
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let nnz = std::env::args().nth(1).map_or(Ok(10_000_000), |argument| argument.parse())?;
    let semi_sparse = [LevelFormat::COMPRESSED.nonunique(), LevelFormat::SINGLETON, LevelFormat::DENSE];
    for shape in [[1000, 1000, 1000], [100_000, 20_000, 300_000], [3_000_000_000, 20_000, 300_000]] {
        println!("{shape:?}, {nnz} nonzeros, {} threads", rayon::current_num_threads());
        let entries = timed(nnz, "generate", || generate::uniform(&shape, nnz, 1))?;
        let input = timed(nnz, "copy of the entries", || entries.clone());
        let csf = timed(nnz, "csf", || pack(input, &Format::csf(3), Duplicates::Sum))?;
        timed(nnz, "validate", || csf.validate())?;
        let sorted = timed(nnz, "to coordinates", || csf.to_coordinates::<f64>())?;
        timed(nnz, "csf, sorted already", || pack(sorted, &Format::csf(3), Duplicates::Sum))?;
        let input = entries.clone();
        let coo = timed(nnz, "coo", || pack(input, &Format::coo(3), Duplicates::Sum))?;
        timed(nnz, "coo to csf", || coo.convert(&Format::csf(3)))?;
        let reversed = Format::permuted(&[2, 1, 0], &[LevelFormat::COMPRESSED; 3]);
        timed(nnz, "csf to csf of modes 2, 1, 0", || csf.convert(&reversed))?;
    }
    let shape = [100_000, 2_000, 16];
    let entries = generate::uniform(&shape, nnz, 1)?;
    timed(nnz, "scoo of 16", || pack(entries, &Format::of_levels(semi_sparse), Duplicates::Sum))?;
    Ok(())
}
