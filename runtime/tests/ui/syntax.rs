//! What is no kernel at all, and several such in one expansion.

spc::tensor_kernel! {
    fn comma(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i j, k) * v(k); }

    fn operand(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * ; }
}

spc::tensor_kernel!(path = "kernels/scale.ti");

fn main() {}
