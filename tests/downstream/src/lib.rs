//! Kernels over the matrices of other crates; the tests call them.

#![forbid(unsafe_code)]

spc::tensor_kernel! {
    /// Sparse matrix times vector, as most libraries count: indices are `usize`.
    pub fn spmv(A: [dense, compressed(u64, pos = u64)], x: dense) -> y: dense { y(i) = A(i, j) * x(j); }

    /// The same by columns.
    pub fn spmv_by_columns(A: (i, j) -> [j: dense, i: compressed(u64, pos = u64)], x: dense) -> y: dense {
        y(i) = A(i, j) * x(j);
    }

    /// A matrix that is stored column by column, times a vector.
    pub fn product(A: (i, j) -> [j: dense, i: dense], x: dense) -> y: dense { y(i) = A(i, j) * x(j); }

    /// As large as the matrix.
    pub fn scaled(A: [dense, compressed(u64, pos = u64)], alpha: f64) -> B: [dense, compressed(u64, pos = u64)] {
        B(i, j) = alpha * A(i, j);
    }
}
