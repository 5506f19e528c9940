//! Measured rows: generated kernels beside loops that an expert would write by hand, and how long all else takes.
//!
//! ```text
//! floor                                    generated tensors of 5 million entries
//! floor --nnz 100000 --threads 2 --json    smaller ones; one JSON object
//! floor --tensor x.tns.gz --tensor a.mtx.gz
//! floor --stages                           packing, reading, compiling
//! ```
//!
//! The two sides of a row run in turn in one process, so that both see the same machine; a figure is the median of their
//! runs. The ratio is generated time through time of the hand-written loop: below 1.5 is the floor that spc promises, on
//! two threads.
//!
//! | module | what is in it |
//! |---|---|
//! | `hand` | the loops by hand |
//! | `cases` | each kernel as a line of the language, its operands, and its loop by hand |
//! | `generated` | from the line to native code |
//! | `measure` | the two sides in turn, medians |
//! | `stages` | packing, reading, compiling |
//! | `report` | tables and JSON |

mod cases;
mod generated;
mod hand;
mod measure;
mod report;
mod stages;

use cases::{Case, Data};
use clap::{Parser, ValueEnum};
use hand::Scalar;
use report::{Row, Stage};
use serde_json::{Value, json};
use spc::memory::HugePages;
use spc::{generate, io, parallel};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures generated kernels beside loops written by hand.
#[derive(Debug, Parser)]
#[command(name = "floor", max_term_width = 110)]
struct Arguments {
    /// A tensor or matrix to measure on, instead of generated ones
    #[arg(long = "tensor", value_name = "FILE")]
    tensors: Vec<PathBuf>,
    /// How many entries generated tensors have
    #[arg(long, value_name = "N", default_value = "5000000")]
    nnz: usize,
    /// On how many threads to run, one after the other
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Only kernels whose name begins so
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// The element types
    #[arg(long, value_enum, value_delimiter = ',', default_value = "f64,f32")]
    elements: Vec<Element>,
    /// How often each side runs, at least
    #[arg(long, value_name = "N", default_value = "9")]
    repeat: usize,
    /// Measure packing, reading and compiling instead of kernels
    #[arg(long)]
    stages: bool,
    /// Print one JSON object, times in milliseconds
    #[arg(long)]
    json: bool,
    /// Compile one kernel, print how long it took, and end: a process of its own, which `--stages` starts
    #[arg(long, hide = true)]
    compile_one: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Element {
    F64,
    F32,
}

type Failure = Box<dyn Error + Send + Sync>;

#[global_allocator]
static ALLOCATOR: HugePages = HugePages;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all results agree.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    if arguments.compile_one {
        println!("{}", stages::compile_one()?);
        return Ok(true);
    }
    if arguments.stages {
        let stages = stages::all(arguments.repeat)?;
        print(arguments.json, "stages", &stages, Stage::json, Stage::table);
        return Ok(true);
    }
    let mut rows = Vec::new();
    if arguments.elements.contains(&Element::F64) {
        rows.extend(measure_all::<f64>(arguments)?);
    }
    if arguments.elements.contains(&Element::F32) {
        rows.extend(measure_all::<f32>(arguments)?);
    }
    print(arguments.json, "rows", &rows, Row::json, Row::table);
    Ok(rows.iter().all(|row| row.agrees))
}

fn print<T>(as_json: bool, name: &str, items: &[T], json: impl Fn(&T) -> Value, table: impl Fn(&[T]) -> String) {
    if as_json {
        let items: Vec<Value> = items.iter().map(json).collect();
        println!("{}", json!({ name: items }));
    } else {
        print!("{}", table(items));
    }
}

fn measure_all<T: Scalar>(arguments: &Arguments) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for data in data::<T>(arguments)? {
        for case in cases::cases::<T>(&data)? {
            if !arguments.kernels.is_empty() && !arguments.kernels.iter().any(|name| case.name.starts_with(name)) {
                continue;
            }
            for &threads in &arguments.threads {
                let row = || row(&data, &case, threads, arguments.repeat);
                let row = parallel::with_threads(threads, row)??;
                eprint!("{}", row.line());
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

fn row<T: Scalar>(data: &Data, case: &Case<T>, threads: usize, repeat: usize) -> Result<Row, Failure> {
    let kernel = generated::Generated::compile(&case.source, &case.inputs, case.constant_extents)?;
    let (times, agrees) = measure::both(&kernel, case, repeat)?;
    let nnz = data.tensor.nnz();
    let element = <T as spc::tensor::Element>::TYPE.name();
    Ok(Row { data: data.name.clone(), kernel: case.name.clone(), element, threads, nnz, times, agrees })
}

/// The given tensors, or a matrix and a tensor of order 3 with uniformly distributed entries.
fn data<T: Scalar>(arguments: &Arguments) -> Result<Vec<Data>, Failure> {
    if arguments.tensors.is_empty() {
        let side = (arguments.nnz / 20).max(10);
        // As sparse as large tensors are: 5 million entries in 10,000 indices a mode, most fibers with one entry.
        let cube = ((arguments.nnz as f64 * 2e5).cbrt().round() as usize).max(10);
        return Ok(vec![
            Data::new("uniform matrix".to_owned(), retyped::<T>(generate::uniform(&[side; 2], arguments.nnz, 1)?))?,
            Data::new("uniform tensor".to_owned(), retyped::<T>(generate::uniform(&[cube; 3], arguments.nnz, 2)?))?,
        ]);
    }
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let name = name.split('.').next().unwrap_or_default().to_owned();
        Data::new(name, io::read_as::<T>(path, &io::ReadOptions::default())?)
    };
    arguments.tensors.iter().map(read).collect()
}

fn retyped<T: Scalar>(entries: spc::tensor::Coordinates<f64>) -> spc::tensor::Coordinates<T> {
    let spc::tensor::Coordinates { shape, shape_is_stated, indices, values } = entries;
    let values = values.into_iter().map(T::from_f64).collect();
    spc::tensor::Coordinates { shape, shape_is_stated, indices, values }
}
