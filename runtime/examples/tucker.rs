//! How long an iteration of HOOI takes: `cargo run --release -p spc-tensor --features decompose --example tucker -- FILE RANK [ITERATIONS]`
//!
//! The part in kernels is that of products with the tensor, its partial products and factors; the rest is dense algebra.

use spc::decompose::{TuckerMethod, TuckerOptions, tucker};
use std::error::Error;
use std::ops::ControlFlow;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, rank, rest @ ..] = &arguments[..] else { return Err("a file and a rank are needed".into()) };
    let x = spc::io::read(path)?;
    let rank: usize = rank.parse()?;
    let iterations = rest.first().map_or(Ok(5), |iterations| iterations.parse())?;
    let ranks: Vec<usize> = x.shape().iter().map(|&extent| extent.min(rank)).collect();
    let options = TuckerOptions { iterations, tolerance: 0.0, ..TuckerOptions::new(ranks) };
    println!("{x:?}, {} threads", rayon::current_num_threads());
    for method in [TuckerMethod::Hosvd, TuckerMethod::StHosvd, TuckerMethod::Hooi] {
        let found = tucker(&x, method, &options, &mut |step| {
            let (iteration, milliseconds) = (step.iteration, |time: std::time::Duration| 1e3 * time.as_secs_f64());
            println!(
                "{method:?} {}: fit {:.10}, {:.2} ms, of which {:.2} ms in kernels",
                iteration.number,
                iteration.fit.unwrap_or_default(),
                milliseconds(iteration.time),
                milliseconds(iteration.kernel_time)
            );
            ControlFlow::Continue(())
        })?;
        println!("{method:?}: compiled in {:.2?}, prepared in {:.2?}", found.compile_time, found.prepare_time);
    }
    Ok(())
}
