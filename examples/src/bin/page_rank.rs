//! PageRank of the words of `examples/data`: one points to the words that follow it. The steps are [`page_rank.ti`](../../page_rank.ti),
//! once compiled with this program and once at run time; both write into memory that is there.
//!
//! ```sh
//! cargo run --release -p spc-examples --bin page_rank
//! ```

use spc::execute::Kernel;
use spc::io;
use spc::tensor::{Csr, Dense, Tensor};
use std::error::Error;
use std::path::Path;

spc::tensor_kernel!(file = "page_rank.ti");

type Vector = Tensor<f64, Dense<1>>;

const DAMPING: f64 = 0.85;

/// Steps until ranks hardly change.
fn ranks(
    pages: usize,
    mut step: impl FnMut(&Vector, &mut Vector) -> Result<f64, Box<dyn Error>>,
) -> Result<Vector, Box<dyn Error>> {
    let mut now = Tensor::from_vec([pages], vec![1.0 / pages as f64; pages])?;
    let mut next = now.clone();
    for _ in 0..1000 {
        let change = step(&now, &mut next)?;
        std::mem::swap(&mut now, &mut next);
        if change < 1e-12 {
            return Ok(now);
        }
    }
    Err("it does not converge".into())
}

fn by_macro(links: &Tensor<f64, Csr>) -> Result<Vector, Box<dyn Error>> {
    let pages = links.shape()[0];
    ranks(pages, |now, next| {
        let mut change = 0.0;
        page_rank_into(links, now, DAMPING, pages as f64, next, &mut change)?;
        Ok(change)
    })
}

fn by_kernel(links: &Tensor<f64, Csr>) -> Result<Vector, Box<dyn Error>> {
    let kernel = Kernel::compile(include_str!("../../page_rank.ti"), &[])?;
    let pages = links.shape()[0];
    ranks(pages, |now, next| {
        let mut change = 0.0;
        kernel.call_into(&[links, now, &DAMPING, &(pages as f64)], (next, &mut change))?;
        Ok(change)
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let followed = io::read(data.join("words.tns.gz"))?;
    let words = std::fs::read_to_string(data.join("words.txt"))?;
    let words: Vec<&str> = words.lines().collect();
    // An entry is how often a word (mode 1) is followed by another (mode 2) in a file (mode 3).
    let mut links = Vec::new();
    followed.for_each_entry::<f64>(|index, count| links.push(([index[1], index[0]], count)))?;
    let links = Tensor::from_entries([words.len(), words.len()], links)?;
    let ranks = by_kernel(&links)?;
    let again = by_macro(&links)?;
    let mut order: Vec<usize> = (0..words.len()).collect();
    order.sort_by(|&a, &b| ranks[[b]].total_cmp(&ranks[[a]]));
    for &word in order.iter().take(10) {
        println!("{:.4}  {:.4}  {}", ranks[[word]], again[[word]], words[word]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_rank_pages_as_the_random_surfer_does() {
        // 0 → 1, 1 → 2, 2 → 0 and 1, 3 → 0: nothing points to 3.
        let links = [([1, 0], 1.0), ([2, 1], 1.0), ([0, 2], 1.0), ([1, 2], 1.0), ([0, 3], 1.0)];
        let links = Tensor::from_entries([4, 4], links).unwrap();
        for ranks in [by_macro(&links).unwrap(), by_kernel(&links).unwrap()] {
            let base = (1.0 - DAMPING) / 4.0;
            let [a, b, c, d] = *ranks.values() else { panic!() };
            let expected = [base + DAMPING * (c / 2.0 + d), base + DAMPING * (a + c / 2.0), base + DAMPING * b, base];
            assert!([a, b, c, d].iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-9), "{ranks}");
            assert!((ranks.values().iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
