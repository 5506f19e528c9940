//! What is measured.

/// What cuSPARSE has for a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A matrix times a vector.
    SpMv,
    /// A matrix times a dense matrix.
    SpMm,
    /// Products of rows and columns where a matrix has entries.
    Sddmm,
    /// A matrix times another.
    SpGemm,
    /// A matrix and another.
    Add,
}

/// A kernel of the suites, of a sparse operand `X`.
#[derive(Debug)]
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    /// What it computes: kernels of one group give the same.
    pub(crate) group: &'static str,
    /// The modes of `X`.
    pub(crate) order: usize,
    pub(crate) text: &'static str,
    /// Columns of dense operands.
    pub(crate) rank: usize,
    /// Bytes of an element.
    pub(crate) width: usize,
    pub(crate) peer: Option<Operation>,
    pub(crate) comes: Comes,
}

/// How `X` comes to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comes {
    /// Whole: it is there before the kernel starts.
    Whole,
    /// In parts, in each run.
    InParts,
    /// The one, then the other.
    Both,
}

/// Matrices first, then third-order tensors.
pub(crate) const KERNELS: [Kernel; 18] = [
    Kernel {
        peer: Some(Operation::SpMv),
        ..matrix("spmv f64", 1, 8, "fn spmv(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }")
    },
    Kernel {
        peer: Some(Operation::SpMv),
        ..matrix("spmv f32", 1, 4, "fn spmv(X: f32 csr, x: f32 dense) -> y: f32 dense { y(i) = X(i, j) * x(j); }")
    },
    // Parts of a csr have the positions of all rows each.
    Kernel {
        group: "spmv f64",
        comes: Comes::InParts,
        ..matrix("spmv f64 dcsr", 1, 8, "fn spmv(X: dcsr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }")
    },
    Kernel { peer: Some(Operation::SpMm), ..matrix("spmm f32 32", 32, 4, SPMM) },
    Kernel {
        group: "spmm f32 32",
        comes: Comes::InParts,
        ..matrix(
            "spmm f32 32 dcsr",
            32,
            4,
            "fn spmm(X: f32 dcsr, B: f32 dense) -> C: f32 dense { C(i, r) = X(i, j) * B(j, r); }",
        )
    },
    Kernel { peer: Some(Operation::SpMm), ..matrix("spmm f32 128", 128, 4, SPMM) },
    Kernel {
        peer: Some(Operation::Sddmm),
        ..matrix(
            "sddmm f32 32",
            32,
            4,
            "fn sddmm(X: f32 csr, U: f32 dense, V: f32 dense) -> Y: f32 csr { Y(i, j) = X(i, j) * U(i, r) * V(j, r); }",
        )
    },
    Kernel {
        peer: Some(Operation::Add),
        ..matrix("add f64", 1, 8, "fn add(X: csr, Z: csr) -> Y: csr { Y(i, j) = X(i, j) + Z(i, j); }")
    },
    Kernel {
        peer: Some(Operation::SpGemm),
        ..matrix("spgemm f64", 1, 8, "fn spgemm(X: csr, Z: csr) -> Y: csr { Y(i, j) = X(i, k) * Z(k, j); }")
    },
    Kernel {
        comes: Comes::Both,
        ..tensor(
            "mttkrp f32 32 mode 1 csf",
            "mttkrp mode 1",
            "fn mttkrp(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        )
    },
    tensor(
        "mttkrp f32 32 mode 1 coo",
        "mttkrp mode 1",
        "fn mttkrp(X: f32 coo, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    ),
    tensor(
        "mttkrp f32 32 mode 2 csf",
        "mttkrp mode 2",
        "fn mttkrp(X: f32 csf, A: f32 dense, C: f32 dense) -> B: f32 dense { B(j, r) = X(i, j, k) * A(i, r) * C(k, r); }",
    ),
    tensor(
        "mttkrp f32 32 mode 2 own csf",
        "mttkrp mode 2",
        "format own = (i, j, k) -> [j: compressed, i: compressed, k: compressed];
         fn mttkrp(X: f32 own, A: f32 dense, C: f32 dense) -> B: f32 dense { B(j, r) = X(i, j, k) * A(i, r) * C(k, r); }",
    ),
    tensor(
        "mttkrp f32 32 mode 3 csf",
        "mttkrp mode 3",
        "fn mttkrp(X: f32 csf, A: f32 dense, B: f32 dense) -> C: f32 dense { C(k, r) = X(i, j, k) * A(i, r) * B(j, r); }",
    ),
    tensor(
        "mttkrp f32 32 mode 3 own csf",
        "mttkrp mode 3",
        "format own = (i, j, k) -> [k: compressed, i: compressed, j: compressed];
         fn mttkrp(X: f32 own, A: f32 dense, B: f32 dense) -> C: f32 dense { C(k, r) = X(i, j, k) * A(i, r) * B(j, r); }",
    ),
    tensor(
        "mttkrp f32 32 mode 3 alto",
        "mttkrp mode 3",
        "fn mttkrp(X: f32 alto, A: f32 dense, B: f32 dense) -> C: f32 dense { C(k, r) = X(i, j, k) * A(i, r) * B(j, r); }",
    ),
    Kernel {
        rank: 1,
        width: 8,
        ..tensor("ttv f64", "ttv", "fn ttv(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i, j, k) * v(k); }")
    },
    tensor(
        "ttm f32 32",
        "ttm",
        "fn ttm(X: f32 csf, U: f32 dense) -> Y: f32 [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }",
    ),
];

const SPMM: &str = "fn spmm(X: f32 csr, B: f32 dense) -> C: f32 dense { C(i, r) = X(i, j) * B(j, r); }";

const fn matrix(name: &'static str, rank: usize, width: usize, text: &'static str) -> Kernel {
    Kernel { name, group: name, order: 2, text, rank, width, peer: None, comes: Comes::Whole }
}

/// In single precision, with 32 columns.
const fn tensor(name: &'static str, group: &'static str, text: &'static str) -> Kernel {
    Kernel { name, group, order: 3, text, rank: 32, width: 4, peer: None, comes: Comes::Whole }
}
