//! Kernels by another engine beside those that rustc compiles: both in turns, on the same arrays, on one thread. The engine is `c`, the
//! C backend with the machine's C compiler, or `jit`. Words after it select kernels by their names.
//!
//! ```sh
//! cargo run --release -p spc-tests --bin times -- jit SpMM MTTKRP
//! ```

use spc::execute::{Backend, Chain, Executable};
use spc::tensor::AnyTensor;
use spc_compiler::Program;
use spc_tests::rows::{ROWS, Row};
use std::time::Duration;

/// How often both run, in turns.
const TURNS: usize = 11;

type Error = Box<dyn std::error::Error>;

/// How kernels are made beside native code.
type Make = fn(&Program) -> Result<Chain, Error>;

fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1);
    let (name, other): (&str, Make) = match words.next().as_deref() {
        Some("c") => ("cc", by_cc),
        Some("jit") => ("JIT", |program| Ok(Chain::jit(program)?)),
        _ => return Err("the first argument is `c` or `jit`".into()),
    };
    let wanted: Vec<String> = words.collect();
    println!("| kernel | rustc, ms | {name}, ms | {name} / rustc |\n|---|---|---|---|");
    let mut product = 1.0;
    let mut count = 0;
    for row in ROWS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|word| row.name.contains(word))) {
        let ratio = spc::parallel::with_threads(1, || measure(row, other).map_err(|error| error.to_string()))??;
        product *= ratio;
        count += 1;
    }
    println!("\ngeometric mean of {count}: {:.2}", f64::powf(product, 1.0 / f64::from(count.max(1))));
    Ok(())
}

fn by_cc(program: &Program) -> Result<Chain, Error> {
    let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone()).collect();
    Ok(Chain::of_links(program, Executable::by_c_compiler(kernels)?))
}

/// Prints a row of the table; the ratio.
fn measure(row: &Row, other: fn(&Program) -> Result<Chain, Error>) -> Result<f64, Error> {
    let kernel = row.kernel()?;
    let program = kernel.compiled();
    let by_rustc = Chain::new(program, Backend::Native)?;
    let by_other = other(program)?;
    let inputs = row.operands(&kernel, 1)?;
    let inputs: Vec<&AnyTensor> = inputs.iter().collect();
    let stated = row.stated();
    let once = |chain: &Chain| -> Result<Duration, spc::Error> { Ok(chain.run(&inputs, &stated, 3)?.kernel_time()) };
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..TURNS {
        times[0].push(once(&by_rustc)?);
        times[1].push(once(&by_other)?);
    }
    let mut ratios: Vec<f64> =
        times[0].iter().zip(&times[1]).map(|(one, other)| other.as_secs_f64() / one.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let [rustc, other] = times.map(|times| times.into_iter().min().unwrap_or_default().as_secs_f64() * 1e3);
    let ratio = ratios[TURNS / 2];
    println!("| {} | {rustc:.2} | {other:.2} | {ratio:.2} |", row.name);
    Ok(ratio)
}
