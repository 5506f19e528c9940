//! Kernels that are generic over the element type, called with types that they are not for.

use spc::complex::c64;
use spc::tensor::{Dense, Tensor};

spc::tensor_kernel! {
    fn largest<T>(x: dense) -> s: T { s = max(i)(x(i)); }

    fn halves<T: f64 | i32>(x: dense) -> y: dense { y(i) = 0.5 * x(i); }

    fn unknown<T: f128>(x: dense) -> y: dense { y(i) = x(i); }
}

fn main() {
    let x = Tensor::<c64, Dense<1>>::zeros([3]).unwrap();
    _ = largest(&x);
}
