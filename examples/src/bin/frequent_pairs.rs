//! The macro in a program: which word most often follows which, over all files of `examples/data/words.tns.gz`.
//!
//! ```sh
//! cargo run --release -p spc-examples --bin frequent_pairs
//! ```

use spc::io::{self, ReadOptions};
use spc::tensor::{Csf, Dense, Tensor};
use std::error::Error;
use std::path::Path;

spc::tensor_kernel! {
    /// Sums over the last mode with weights: tensor times vector.
    fn over_files(X: csf, weight: dense) -> Y: csf { Y(i, j) = X(i, j, k) * weight(k); }
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let x = Tensor::<f64, Csf<3>>::from_coordinates(io::read_as(data.join("words.tns.gz"), &ReadOptions::default())?)?;
    let words = std::fs::read_to_string(data.join("words.txt"))?;
    let words: Vec<&str> = words.lines().collect();

    let files = x.shape()[2];
    let weight = Tensor::<f64, Dense<1>>::from_vec([files], vec![1.0; files])?;
    let mut pairs = over_files(&x, &weight)?.entries();

    pairs.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    for (index, count) in pairs.iter().take(10) {
        println!("{count:5}  {} {}", words[index[0]], words[index[1]]);
    }
    Ok(())
}
