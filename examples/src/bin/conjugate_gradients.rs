//! A linear system by conjugate gradients: the heat of a square plate whose rim is kept cold. The steps are
//! [`conjugate_gradients.ti`](../../conjugate_gradients.ti), once compiled with this program and once at run time; both write into memory
//! that is there.
//!
//! ```sh
//! cargo run --release -p spc-examples --bin conjugate_gradients
//! ```

use spc::execute::Kernel;
use spc::tensor::{Csr, Dense, Tensor};
use std::error::Error;

spc::tensor_kernel!(file = "conjugate_gradients.ti");

type Vector = Tensor<f64, Dense<1>>;

/// What a step goes from and to.
struct State {
    x: Vector,
    r: Vector,
    p: Vector,
}

impl State {
    /// At zero, where the residual is the right-hand side.
    fn at_zero(b: &Vector) -> Result<Self, Box<dyn Error>> {
        Ok(Self { x: Tensor::zeros(b.shape())?, r: b.clone(), p: b.clone() })
    }
}

/// Steps until the residual is small; the solution, and how many there were.
fn solve(
    b: &Vector,
    mut step: impl FnMut(&State, &mut State) -> Result<f64, Box<dyn Error>>,
) -> Result<(Vector, usize), Box<dyn Error>> {
    let (mut now, mut next) = (State::at_zero(b)?, State::at_zero(b)?);
    for count in 1..=10 * b.nnz() {
        let residual = step(&now, &mut next)?;
        std::mem::swap(&mut now, &mut next);
        if residual < 1e-10 {
            return Ok((now.x, count));
        }
    }
    Err("it does not converge".into())
}

fn by_macro(a: &Tensor<f64, Csr>, b: &Vector) -> Result<(Vector, usize), Box<dyn Error>> {
    solve(b, |now, next| {
        let mut residual = 0.0;
        let State { x, r, p } = next;
        conjugate_gradients_into(a, &now.x, &now.r, &now.p, x, r, p, &mut residual)?;
        Ok(residual)
    })
}

fn by_kernel(a: &Tensor<f64, Csr>, b: &Vector) -> Result<(Vector, usize), Box<dyn Error>> {
    let kernel = Kernel::compile(include_str!("../../conjugate_gradients.ti"), &[])?;
    solve(b, |now, next| {
        let mut residual = 0.0;
        let State { x, r, p } = next;
        kernel.call_into(&[a, &now.x, &now.r, &now.p], (x, r, p, &mut residual))?;
        Ok(residual)
    })
}

/// The Laplace operator on a square of `n` by `n` points.
fn laplace(n: usize) -> Result<Tensor<f64, Csr>, Box<dyn Error>> {
    let mut entries = Vec::new();
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let here = row * n + column;
        entries.push(([here, here], 4.0));
        let neighbours = [(column > 0, here.wrapping_sub(1)), (column + 1 < n, here + 1)];
        let neighbours = neighbours.into_iter().chain([(row > 0, here.wrapping_sub(n)), (row + 1 < n, here + n)]);
        entries.extend(neighbours.filter(|(is_inside, _)| *is_inside).map(|(_, there)| ([here, there], -1.0)));
    }
    Ok(Tensor::from_entries([n * n, n * n], entries)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let a = laplace(100)?;
    let b = Tensor::from_vec([100 * 100], vec![1.0; 100 * 100])?;
    for (name, solved) in [("macro", by_macro(&a, &b)?), ("kernel", by_kernel(&a, &b)?)] {
        let (x, steps) = solved;
        println!("{name:6}  {steps} steps, {:.3} in the middle", x[[50 * 100 + 50]]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_solve_the_system() {
        let a = laplace(7).unwrap();
        let b = Tensor::from_vec([49], (0..49).map(|i| f64::from(i % 5)).collect()).unwrap();
        for (x, steps) in [by_macro(&a, &b).unwrap(), by_kernel(&a, &b).unwrap()] {
            let mut product = vec![0.0; 49];
            a.for_each_entry(|index, value| product[index[0]] += value * x.values()[index[1]]);
            assert!(product.iter().zip(b.values()).all(|(found, wanted)| (found - wanted).abs() < 1e-9), "{product:?}");
            assert!(steps <= 49, "{steps}");
        }
    }
}
