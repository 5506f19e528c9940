//! What README.md shows: a kernel that is compiled with the program.

use spc::tensor::{Csr, Tensor};

spc::tensor_kernel! {
    /// Sparse matrix times vector.
    fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let a: Tensor<f64, Csr> = Tensor::from_entries([2, 3], [([0, 1], 2.0), ([1, 0], 3.0), ([1, 2], 4.0)])?;
    let x = Tensor::from_vec([3], vec![1.0, 10.0, 100.0])?;
    println!("{}", spmv(&a, &x)?); // 20 and 403
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main().unwrap();
    }
}
