//! Kernels that are measured, on tensors that are made up: their time beside a C compiler's (`times`), and their instructions.

use spc::execute::{Backend, Kernel, ProgramError};
use spc::generate;
use spc::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, pack};
use spc_compiler::ir::Source;

/// A line, the formats of its tensors, and the shape of the sparse operands.
#[derive(Debug)]
pub struct Row {
    /// The name in reports.
    pub name: &'static str,
    text: &'static str,
    formats: &'static [(&'static str, &'static str)],
    shape: &'static [usize],
    /// Entries of a sparse operand.
    entries: usize,
}

const CUBE: &[usize] = &[2000, 4000, 6000];
const SQUARE: &[usize] = &[50_000, 50_000];

macro_rules! rows {
    ($($name:literal $text:literal $formats:expr, $shape:expr, $entries:literal;)*) => {
        &[$(Row { name: $name, text: $text, formats: &$formats, shape: $shape, entries: $entries }),*]
    };
}

/// All rows.
pub const ROWS: &[Row] = rows! {
    "SpMV csr" "y(i) = A(i, j) * x(j)" [("A", "csr")], SQUARE, 2_000_000;
    "SpMV csc" "y(i) = A(i, j) * x(j)" [("A", "csc")], SQUARE, 2_000_000;
    "SpMV coo" "y(i) = A(i, j) * x(j)" [("A", "coo")], SQUARE, 2_000_000;
    "SpMM csr, 16 columns" "Y(i, r) = A(i, j) * X(j, r)" [("A", "csr")], SQUARE, 2_000_000;
    "SpMM csr, f32, 32 columns" "Y(i, s) = A(i, j) * X(j, s)" [("A", "f32 csr"), ("X", "f32 dense"), ("Y", "f32 dense")], SQUARE, 2_000_000;
    "SDDMM csr, 16 columns" "Y(i, j) = A(i, j) * B(i, r) * C(j, r)" [("A", "csr"), ("Y", "csr")], SQUARE, 2_000_000;
    "SpGEMM csr" "C(i, j) = A(i, k) * B(k, j)" [("A", "csr"), ("B", "csr"), ("C", "csr")], SQUARE, 300_000;
    "C = A + B, csr" "C(i, j) = A(i, j) + B(i, j)" [("A", "csr"), ("B", "csr"), ("C", "csr")], SQUARE, 2_000_000;
    "TTV csf, last mode" "Y(i, j) = X(i, j, k) * v(k)" [("X", "csf"), ("Y", "csf")], CUBE, 2_000_000;
    "TTM csf, last mode, 16" "Y(i, j, r) = X(i, j, k) * U(k, r)" [("X", "csf"), ("Y", "[compressed, compressed, dense]")], CUBE, 2_000_000;
    "MTTKRP csf, 8" "A(i, q) = X(i, j, k) * B(j, q) * C(k, q)" [("X", "csf")], CUBE, 2_000_000;
    "MTTKRP csf, 16" "A(i, r) = X(i, j, k) * B(j, r) * C(k, r)" [("X", "csf")], CUBE, 2_000_000;
    "MTTKRP csf, 32" "A(i, s) = X(i, j, k) * B(j, s) * C(k, s)" [("X", "csf")], CUBE, 2_000_000;
    "MTTKRP csf, f32, 16" "A(i, r) = X(i, j, k) * B(j, r) * C(k, r)" [("X", "f32 csf"), ("B", "f32 dense"), ("C", "f32 dense"), ("A", "f32 dense")], CUBE, 2_000_000;
    "MTTKRP csf, middle mode, 16" "A(j, r) = X(i, j, k) * B(i, r) * C(k, r)" [("X", "csf")], CUBE, 2_000_000;
    "MTTKRP coo, 16" "A(i, r) = X(i, j, k) * B(j, r) * C(k, r)" [("X", "coo")], CUBE, 2_000_000;
    "MTTKRP hicoo, 16" "A(i, r) = X(i, j, k) * B(j, r) * C(k, r)" [("X", "hicoo(128)")], CUBE, 2_000_000;
    "SpMV csr, f32" "y(i) = A(i, j) * x(j)" [("A", "f32 csr"), ("x", "f32 dense"), ("y", "f32 dense")], SQUARE, 2_000_000;
    "SpMV csr, min-plus" "y(i) min= A(i, j) + x(j) where A(i, j)" [("A", "csr")], SQUARE, 2_000_000;
    "SpMM csr, f32, 16 columns" "Y(i, r) = A(i, j) * X(j, r)" [("A", "f32 csr"), ("X", "f32 dense"), ("Y", "f32 dense")], SQUARE, 2_000_000;
    "SpMM csr, 32 columns" "Y(i, s) = A(i, j) * X(j, s)" [("A", "csr")], SQUARE, 2_000_000;
    "C = A * B, csr" "C(i, j) = A(i, j) * B(i, j)" [("A", "csr"), ("B", "csr"), ("C", "csr")], SQUARE, 2_000_000;
    "TTV csf, f32, last mode" "Y(i, j) = X(i, j, k) * v(k)" [("X", "f32 csf"), ("v", "f32 dense"), ("Y", "f32 csf")], CUBE, 2_000_000;
    "MTTKRP alto, 16" "A(i, r) = X(i, j, k) * B(j, r) * C(k, r)" [("X", "alto")], CUBE, 2_000_000;
    "MTTKRP coo, f32, 16" "A(i, r) = X(i, j, k) * B(j, r) * C(k, r)" [("X", "f32 coo"), ("B", "f32 dense"), ("C", "f32 dense"), ("A", "f32 dense")], CUBE, 2_000_000;
};

/// The extents of the indices that no sparse operand has.
const COLUMNS: [(&str, usize); 3] = [("q", 8), ("r", 16), ("s", 32)];

impl Row {
    /// The kernel for the extents of its short rows; what runs it is for the caller to say.
    ///
    /// # Errors
    /// When it can't be compiled.
    pub fn kernel(&self) -> Result<Kernel, ProgramError> {
        let mut builder = Kernel::builder(self.text).backend(Backend::Interpreter);
        for (tensor, format) in self.formats {
            builder = builder.format(*tensor, *format);
        }
        for (index, extent) in self.stated() {
            builder = builder.dimension(index, extent);
        }
        builder.compile()
    }

    /// The extents that no sparse operand has.
    pub fn stated(&self) -> Vec<(&'static str, usize)> {
        COLUMNS.into_iter().filter(|(index, _)| self.text.contains(&format!(", {index})"))).collect()
    }

    /// The inputs in the order of the parameters: sparse ones of the row's shape, dense ones of the extents that their indices have; each
    /// extent and the number of entries divided by so much.
    ///
    /// # Errors
    /// When there is no memory for them.
    pub fn operands(&self, kernel: &Kernel, smaller: usize) -> Result<Vec<AnyTensor>, Box<dyn std::error::Error>> {
        let declarations = &kernel.compiled().declarations;
        let sparse: Vec<usize> = self.shape.iter().map(|extent| extent / smaller).collect();
        let extent = |index: &str| {
            let of_columns = COLUMNS.iter().find(|(name, _)| *name == index).map(|(_, extent)| *extent);
            of_columns.or_else(|| {
                // Matrices are square; those of the tensors are in the order of its modes.
                let mode = ["i", "j", "k"].iter().position(|mode| *mode == index)?;
                sparse.get(mode).or(sparse.last()).copied()
            })
        };
        let inputs = declarations.tensors.iter().filter(|tensor| tensor.source == Source::Input);
        inputs
            .enumerate()
            .map(|(seed, tensor)| {
                if !tensor.format.is_dense() {
                    let entries = generate::uniform(&sparse, self.entries / smaller, seed as u64)?;
                    let found = match tensor.element {
                        ElementType::F32 => pack(generate::typed::<f32>(entries), &tensor.format, Duplicates::Sum),
                        _ => pack::<f64>(Coordinates { ..entries }, &tensor.format, Duplicates::Sum),
                    };
                    return Ok(found?);
                }
                let access =
                    self.text.split(&format!("{}(", tensor.name)).nth(1).and_then(|rest| rest.split(')').next());
                let shape: Option<Vec<usize>> = access.unwrap_or_default().split(", ").map(extent).collect();
                Ok(generate::random_dense(&shape.unwrap_or_default(), tensor.element, seed as u64)?)
            })
            .collect()
    }
}
