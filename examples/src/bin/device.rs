//! Generated kernels on a GPU, beside the bandwidth of its memory.
//!
//! ```text
//! device                          inputs well past the caches: 40 million entries
//! device --nnz 100000 --json      smaller ones; one JSON object
//! device --files a.mtx.gz,x.tns   tensors of one's own
//! ```
//!
//! One process measures it all in one call, on the first GPU: the bandwidth B of a kernel that copies 2 GiB, then each kernel of
//! the suites, a median of `--repeat` runs by the device's events. A row says how many bytes the kernel must move at least
//! (each array once; a gathered operand once for each entry where it is larger than the second-level cache), the part of B that
//! it moves them at, and stored entries a second. Rows in parts are timed with all copies, from the host's memory.
//!
//! | kernel | aim |
//! |---|---|
//! | SpMV f64 | 0.84 B banded, 0.65 B in the mean |
//! | MTTKRP f32, R = 32 | 10 G entries/s where factors fit the cache, 6 G beyond |
//! | TTV, TTM (R = 32) | 0.75 B, 0.7 B |

use clap::Parser;
use serde_json::{Value, json};
use spc::cuda::Gpu;
use spc::execute::{Backend, Entries, Operand, Program, ProgramOptions, StreamOptions};
use spc::tensor::{Coordinates, Indices};
use spc::{generate, io};
use spc_compiler::{notation, syntax};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures generated kernels on a GPU.
#[derive(Debug, Parser)]
#[command(name = "device", max_term_width = 110)]
struct Arguments {
    /// Matrices and tensors to measure on, instead of generated ones
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    files: Vec<PathBuf>,
    /// How many entries generated tensors have
    #[arg(long, value_name = "N", default_value = "40000000")]
    nnz: usize,
    /// How often each kernel runs
    #[arg(long, value_name = "N", default_value = "11")]
    repeat: usize,
    /// Only kernels whose name begins so
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Into how many parts the streamed input is cut
    #[arg(long, value_name = "N", default_value = "16")]
    parts: usize,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// A kernel of the suites: its text by the number of modes of its sparse operand `X`.
struct Kernel {
    name: &'static str,
    order: usize,
    text: &'static str,
    /// Columns of dense operands.
    rank: usize,
    /// Bytes of an element.
    width: usize,
}

const KERNELS: [Kernel; 9] = [
    Kernel {
        name: "spmv f64",
        order: 2,
        text: "fn spmv(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }",
        rank: 1,
        width: 8,
    },
    Kernel {
        name: "spmv f32",
        order: 2,
        text: "fn spmv(X: f32 csr, x: f32 dense) -> y: f32 dense { y(i) = X(i, j) * x(j); }",
        rank: 1,
        width: 4,
    },
    Kernel {
        name: "spmm f32 32",
        order: 2,
        text: "fn spmm(X: f32 csr, B: f32 dense) -> C: f32 dense { C(i, r) = X(i, j) * B(j, r); }",
        rank: 32,
        width: 4,
    },
    Kernel {
        name: "spmm f32 128",
        order: 2,
        text: "fn spmm(X: f32 csr, B: f32 dense) -> C: f32 dense { C(i, r) = X(i, j) * B(j, r); }",
        rank: 128,
        width: 4,
    },
    Kernel {
        name: "mttkrp f32 32 mode 1",
        order: 3,
        text: "fn mttkrp(X: f32 csf, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        rank: 32,
        width: 4,
    },
    Kernel {
        name: "mttkrp f32 32 mode 3",
        order: 3,
        text: "fn mttkrp(X: f32 csf, A: f32 dense, B: f32 dense) -> C: f32 dense { C(k, r) = X(i, j, k) * A(i, r) * B(j, r); }",
        rank: 32,
        width: 4,
    },
    Kernel {
        name: "mttkrp f32 32 coo",
        order: 3,
        text: "fn mttkrp(X: f32 coo, B: f32 dense, C: f32 dense) -> A: f32 dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        rank: 32,
        width: 4,
    },
    Kernel {
        name: "ttv f64",
        order: 3,
        text: "fn ttv(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i, j, k) * v(k); }",
        rank: 1,
        width: 8,
    },
    Kernel {
        name: "ttm f32 32",
        order: 3,
        text: "fn ttm(X: f32 csf, U: f32 dense) -> Y: f32 [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }",
        rank: 32,
        width: 4,
    },
];

const COPY: &str = "fn copy(x: dense) -> y: dense { y(i) = x(i); }";

/// Elements of a copy: one GiB.
const COPIED: usize = 1 << 27;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A sparse operand with its name.
struct Data {
    name: String,
    entries: Coordinates<f64>,
}

fn measure(arguments: &Arguments) -> Result<()> {
    let gpu = Gpu::open(0)?;
    let copied = COPIED.min(arguments.nnz.saturating_mul(4));
    let copy = program(COPY, Vec::new(), &[("i", copied)], None)?;
    let bandwidth = 16.0 * copied as f64 / median(&copy.run(arguments.repeat)?.run_times).as_secs_f64();
    drop(copy);
    if !arguments.json {
        println!("{} (sm_{}): a copy moves {:.0} GB/s", gpu.name(), gpu.architecture(), bandwidth / 1e9);
        println!("{:<28} {:<22} {:>10} {:>8} {:>10} {:>12}", "tensor", "kernel", "ms", "of B", "GB/s", "G entries/s");
    }
    let mut rows = Vec::new();
    for data in data(arguments)? {
        let wanted = |kernel: &&Kernel| {
            let is_asked = arguments.kernels.iter().any(|name| kernel.name.starts_with(name.as_str()));
            kernel.order == data.entries.shape.len() && (is_asked || arguments.kernels.is_empty())
        };
        for kernel in KERNELS.iter().filter(wanted) {
            for parts in [None, Some(arguments.parts)] {
                match row(kernel, &data, parts, arguments.repeat, bandwidth) {
                    Ok(row) => rows.push(shown(row, arguments.json)),
                    // One kernel that does not fit is no reason not to measure the others.
                    Err(error) => eprintln!("{} {}: {error}", data.name, kernel.name),
                }
            }
        }
    }
    if arguments.json {
        let device =
            json!({ "name": gpu.name(), "architecture": gpu.architecture(), "copy_gb_per_s": bandwidth / 1e9 });
        println!("{}", json!({ "device": device, "rows": rows }));
    }
    Ok(())
}

fn shown(row: Value, json: bool) -> Value {
    if !json {
        let number = |name: &str| row[name].as_f64().unwrap_or(f64::NAN);
        println!(
            "{:<28} {:<22} {:>10.3} {:>8.2} {:>10.0} {:>12.2}",
            row["tensor"].as_str().unwrap_or_default(),
            row["kernel"].as_str().unwrap_or_default(),
            number("median_ms"),
            number("of_bandwidth"),
            number("gb_per_s"),
            number("g_entries_per_s"),
        );
    }
    row
}

/// One kernel on one tensor; in parts if so many are asked for.
fn row(kernel: &Kernel, data: &Data, parts: Option<usize>, repeat: usize, bandwidth: f64) -> Result<Value> {
    let stream = parts.map(|parts| StreamOptions::new("X", parts));
    let entries = match kernel.width {
        4 => Entries::from(generate::typed::<f32>(data.entries.clone())),
        _ => Entries::from(data.entries.clone()),
    };
    let program =
        program(kernel.text, vec![("X".to_owned(), Operand::Entries(entries))], &[("r", kernel.rank)], stream)?;
    let outcome = program.run(repeat)?;
    let time = median(&outcome.run_times);
    let nnz = data.entries.values.len() as f64;
    let inputs: usize = program.inputs().map(|(_, tensor)| tensor.storage_bytes()).sum();
    let results: usize = outcome.outputs.iter().map(|(_, tensor)| tensor.storage_bytes()).sum();
    let bytes = (inputs + results) as f64;
    let per_second = bytes / time.as_secs_f64();
    let name = match parts {
        None => kernel.name.to_owned(),
        Some(parts) => format!("{} in {parts}", kernel.name),
    };
    Ok(json!({
        "tensor": data.name, "kernel": name, "nnz": data.entries.values.len(), "bytes": bytes,
        "median_ms": time.as_secs_f64() * 1e3, "gb_per_s": per_second / 1e9, "of_bandwidth": per_second / bandwidth,
        "g_entries_per_s": nnz / time.as_secs_f64() / 1e9, "gflops": 2.0 * nnz * kernel.rank as f64 / time.as_secs_f64() / 1e9,
        "element_bytes": kernel.width,
        "parts": program.spent().map(|spent| json!({
            "copy_in_ms": spent.copy_in.as_secs_f64() * 1e3, "compute_ms": spent.compute.as_secs_f64() * 1e3,
            "copy_out_ms": spent.copy_out.as_secs_f64() * 1e3, "combine_ms": spent.combine.as_secs_f64() * 1e3,
        })),
    }))
}

/// A kernel on the GPU, whose other operands are random.
fn program(
    text: &str,
    mut inputs: Vec<(String, Operand)>,
    dimensions: &[(&str, usize)],
    stream: Option<StreamOptions>,
) -> Result<Program> {
    let parsed = syntax::parse_program(text).and_then(|program| notation::check(&program));
    let kernel = parsed.map_err(|problems| format!("{text}: {problems:?}"))?.remove(0);
    let is_given = |name: &str, inputs: &[(String, Operand)]| inputs.iter().any(|(given, _)| given == name);
    for (tensor, seed) in kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input).zip(1..) {
        if !is_given(&tensor.name, &inputs) {
            inputs.push((tensor.name.clone(), Operand::Random { seed }));
        }
    }
    let has = |name: &str| kernel.variables.iter().any(|variable| variable.name == name);
    let dimensions: Vec<(String, usize)> =
        dimensions.iter().filter(|(name, _)| has(name)).map(|(name, extent)| ((*name).to_owned(), *extent)).collect();
    let options = ProgramOptions { backend: Some(Backend::Cuda), stream, ..ProgramOptions::default() };
    Ok(Program::new(&kernel, inputs, &dimensions, &options)?)
}

/// Files, or generated tensors: banded rows, rows anywhere, skewed ones; factors that fit the cache and such as do not.
fn data(arguments: &Arguments) -> Result<Vec<Data>> {
    if !arguments.files.is_empty() {
        let read = |path: &PathBuf| -> Result<Data> {
            let entries = io::read(path, &io::ReadOptions::default())?;
            Ok(Data { name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(), entries })
        };
        return arguments.files.iter().map(read).collect();
    }
    let nnz = arguments.nnz;
    let rows = nnz / 20;
    let data = |name: &str, entries| Data { name: name.to_owned(), entries };
    Ok(vec![
        data("banded, 27 a row", banded(nnz / 27, 27)),
        data("uniform, 20 a row", generate::uniform(&[rows, rows], nnz, 1)?),
        data("power law", generate::power_law(&[rows, rows], nnz, &[1.1, 1.1], 2)?),
        data("20,000 cubed", generate::uniform(&[20_000; 3], nnz, 3)?),
        data("2 million cubed", generate::uniform(&[2_000_000; 3], nnz, 4)?),
        data("power law cubed", generate::power_law(&[200_000; 3], nnz, &[1.1, 1.1, 1.1], 5)?),
    ])
}

/// A square matrix with so many diagonals about the main one.
fn banded(rows: usize, diagonals: usize) -> Coordinates<f64> {
    let (mut row_indices, mut column_indices) = (Vec::new(), Vec::new());
    for row in 0..rows {
        for column in row.saturating_sub(diagonals / 2)..(row + diagonals / 2 + 1).min(rows) {
            row_indices.push(row as u32);
            column_indices.push(column as u32);
        }
    }
    let values = vec![0.5; row_indices.len()];
    let indices = vec![Indices::U32(row_indices), Indices::U32(column_indices)];
    Coordinates { shape: vec![rows, rows], shape_is_stated: true, indices, values }
}

fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or(Duration::MAX)
}
