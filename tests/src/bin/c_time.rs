//! Kernels as the C backend prints them, compiled by the machine's C compiler, beside those that rustc compiles: both in turns, on the
//! same arrays, on one thread.
//!
//! ```sh
//! cargo run --release -p spc-tests --bin c_time
//! ```

use spc::execute::{Backend, Chain, Kernel};
use spc::generate;
use spc::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, pack};
use spc_compiler::ir::Source;
use std::time::Duration;

/// A line, the formats of its tensors, and the shape of the sparse operands.
struct Row {
    name: &'static str,
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

const ROWS: &[Row] = rows! {
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
};

/// The extents of the indices that no sparse operand has.
const COLUMNS: [(&str, usize); 3] = [("q", 8), ("r", 16), ("s", 32)];
/// How often both run, in turns.
const TURNS: usize = 11;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!("| kernel | rustc, ms | cc, ms | cc / rustc |\n|---|---|---|---|");
    let mut product = 1.0;
    let mut count = 0;
    for row in ROWS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|word| row.name.contains(word))) {
        let ratio = spc::parallel::with_threads(1, || measure(row).map_err(|error| error.to_string()))??;
        product *= ratio;
        count += 1;
    }
    println!("\ngeometric mean of {count}: {:.2}", f64::powf(product, 1.0 / f64::from(count.max(1))));
    Ok(())
}

/// Prints a row of the table; the ratio.
fn measure(row: &Row) -> Result<f64, Box<dyn std::error::Error>> {
    let mut builder = Kernel::builder(row.text).backend(Backend::Native);
    for (tensor, format) in row.formats {
        builder = builder.format(*tensor, *format);
    }
    for (index, extent) in COLUMNS.iter().filter(|(index, _)| row.text.contains(&format!(", {index})"))) {
        builder = builder.dimension(*index, *extent);
    }
    let kernel = builder.compile()?;
    let program = kernel.compiled();
    let by_rustc = Chain::new(program, Backend::Native)?;
    let kernels = program.kernels.iter().map(|compiled| compiled.kernel.clone()).collect();
    let by_cc = Chain::of_links(program, spc::execute::Executable::by_c_compiler(kernels)?);
    let inputs = operands(row, &kernel)?;
    let inputs: Vec<&AnyTensor> = inputs.iter().collect();
    let stated: Vec<(&str, usize)> = COLUMNS.to_vec();
    let stated: Vec<(&str, usize)> =
        stated.into_iter().filter(|(index, _)| row.text.contains(&format!(", {index})"))).collect();
    let once = |chain: &Chain| -> Result<Duration, spc::Error> { Ok(chain.run(&inputs, &stated, 3)?.kernel_time()) };
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..TURNS {
        times[0].push(once(&by_rustc)?);
        times[1].push(once(&by_cc)?);
    }
    let mut ratios: Vec<f64> =
        times[0].iter().zip(&times[1]).map(|(one, other)| other.as_secs_f64() / one.as_secs_f64()).collect();
    ratios.sort_by(f64::total_cmp);
    let [rustc, cc] = times.map(|times| times.into_iter().min().unwrap_or_default().as_secs_f64() * 1e3);
    let ratio = ratios[TURNS / 2];
    println!("| {} | {rustc:.2} | {cc:.2} | {ratio:.2} |", row.name);
    Ok(ratio)
}

/// The inputs in the order of the parameters: sparse ones of the row's shape, dense ones of the extents that their indices have.
fn operands(row: &Row, kernel: &Kernel) -> Result<Vec<AnyTensor>, Box<dyn std::error::Error>> {
    let declarations = &kernel.compiled().declarations;
    let modes = ["i", "j", "k"];
    let extent = |index: &str| {
        let of_columns = COLUMNS.iter().find(|(name, _)| *name == index).map(|(_, extent)| *extent);
        of_columns.or_else(|| {
            // Matrices are square; those of the tensors are in the order of its modes.
            let mode = modes.iter().position(|mode| *mode == index)?;
            row.shape.get(mode).or(row.shape.last()).copied()
        })
    };
    let inputs = declarations.tensors.iter().filter(|tensor| tensor.source == Source::Input);
    inputs
        .enumerate()
        .map(|(seed, tensor)| {
            if !tensor.format.is_dense() {
                let entries = generate::uniform(row.shape, row.entries, seed as u64)?;
                let found = match tensor.element {
                    ElementType::F32 => pack(generate::typed::<f32>(entries), &tensor.format, Duplicates::Sum),
                    _ => pack::<f64>(Coordinates { ..entries }, &tensor.format, Duplicates::Sum),
                };
                return Ok(found?);
            }
            let access = row.text.split(&format!("{}(", tensor.name)).nth(1).and_then(|rest| rest.split(')').next());
            let shape: Option<Vec<usize>> = access.unwrap_or_default().split(", ").map(extent).collect();
            Ok(generate::random_dense(&shape.unwrap_or_default(), tensor.element, seed as u64)?)
        })
        .collect()
}
