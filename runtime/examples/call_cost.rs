//! What a call of a compiled kernel costs besides the kernel: the product of a tiny sparse matrix and a vector, many times.
//!
//! ```sh
//! cargo run --release -p spc-tensor --example call_cost
//! ```

use spc::execute::{Chain, Kernel};
use spc::tensor::{Csr, Dense, Tensor};
use std::hint::black_box;
use std::time::{Duration, Instant};

spc::tensor_kernel! {
    fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
}

const CALLS: u32 = 20_000;

/// The least time of a call in ten rounds.
fn each(mut call: impl FnMut()) -> Duration {
    let round = || {
        let start = Instant::now();
        (0..CALLS).for_each(|_| call());
        start.elapsed() / CALLS
    };
    std::iter::repeat_with(round).take(10).min().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let entries = [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0), ([2, 2], 1.0)];
    let a = Tensor::<f64, Csr>::from_entries([4, 4], entries)?;
    let x = Tensor::<f64, Dense<1>>::from_vec([4], vec![1.0; 4])?;
    let mut y = Tensor::<f64, Dense<1>>::zeros([4])?;

    let kernel = Kernel::compile("y(i) = A(i, j) * x(j)", &[("A", "csr")])?;
    let chain: Chain = Chain::new(kernel.compiled(), kernel.backend())?;
    let mut times = chain.run(&[a.as_any(), x.as_any()], &[], 100_000)?.run_times;
    times.sort_unstable();
    println!("backend               {}", kernel.backend());
    println!("kernel alone          {:?} (with two readings of the clock)", times[times.len() / 2]);
    println!("Kernel::call_into     {:?}", each(|| kernel.call_into(&[black_box(&a), &x], &mut y).expect("it fits")));
    println!("Kernel::call          {:?}", each(|| drop(kernel.call(&[black_box(&a), &x]).expect("it fits"))));
    let slice = x.values();
    println!(
        "  with a slice        {:?}",
        each(|| kernel.call_into(&[black_box(&a), &slice], &mut y).expect("it fits"))
    );
    let named = || kernel.call_named(&[("x", &x), ("A", black_box(&a))]);
    println!("Kernel::call_named    {:?}", each(|| drop(named().expect("it fits"))));
    println!("macro, spmv_into      {:?}", each(|| spmv_into(black_box(&a), &x, &mut y).expect("it fits")));
    Ok(())
}
