//! Several problems of several kernels, each at its tokens.

spc::tensor_kernel! {
    fn undeclared(X: csf, B: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }

    fn ranks(X: csf, v: dense) -> y: dense { y(i) = X(i, j) * v(j) + X(i, j, k); }

    fn formats(A: csx, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
}

fn main() {}
