//! Calls with tensors of another format, element type or order.

use spc::tensor::{Coo, Csf, Dense, Tensor};

spc::tensor_kernel! {
    fn ttv(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i, j, k) * v(k); }
}

fn calls(
    coo: &Tensor<f64, Coo<3>>,
    floats: &Tensor<f32, Csf<3>>,
    matrix: &Tensor<f64, Csf<2>>,
    v: &Tensor<f64, Dense<1>>,
) -> Result<(), spc::Error> {
    ttv(coo, v)?;
    ttv(floats, v)?;
    ttv(matrix, v)?;
    Ok(())
}

fn main() {}
