//! What is probably not meant is a warning at the index, which those see as an error who deny warnings.

#![deny(warnings)]

spc::tensor_kernel! {
    fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, jj) * x(j); }

    fn outer(A: csr, x: dense) -> Y: dense { Y(i, z) = A(i, j) * x(j); }
}

fn main() {}
