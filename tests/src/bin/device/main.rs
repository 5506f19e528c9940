//! All that is to be known of generated kernels on a GPU, in one call: how fast they are, and whether they are right.
//!
//! ```text
//! device                          everything, on inputs well past the caches: 40 million entries
//! device --json                   the same as one JSON object; the table goes to standard error
//! device measure --kernel spmv    figures only, of some kernels
//! device check sanitize           is the corpus right, also under NVIDIA's tools?
//! device --nnz 100000             smaller inputs
//! device --files a.mtx.gz,x.tns   tensors of one's own
//! device prepare --architecture 90   machine code of all cases into the cache, without a GPU
//! ```
//!
//! | what | file | it tells |
//! |---|---|---|
//! | `measure` | `link` | the bandwidth B of copies on the device, and of those from and to pinned memory of the host |
//! | | `measure` | each kernel of `kernels` on each tensor of `data`: a median of `--repeat` runs by the device's events |
//! | | `cusparse` | NVIDIA's library beside them, where it is found: same matrices, same process, same events |
//! | | `aims` | which aims are met |
//! | `check` | `check` | every case of the corpus and of the suites against the oracle, and in the deterministic mode twice |
//! | `sanitize` | `sanitize` | the same under `compute-sanitizer`: memcheck and racecheck |
//!
//! A row's bytes are those that its kernel must move at least: each array that it reads or writes, once. The program fails where
//! a result is wrong, not where an aim is missed. Without a GPU it says what is missing.

mod aims;
mod check;
mod cusparse;
mod data;
mod kernels;
mod link;
mod measure;
mod sanitize;

use clap::{Parser, ValueEnum};
use serde_json::{Value, json};
use spc::cuda::Gpu;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures and checks generated kernels on a GPU.
#[derive(Debug, Parser)]
#[command(name = "device", max_term_width = 110)]
struct Arguments {
    /// What to do; all of it unless something is said
    #[arg(value_name = "WHAT")]
    what: Vec<What>,
    /// Matrices and third-order tensors to measure on, instead of generated ones
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
    /// Only cases of the corpus whose name contains this
    #[arg(long = "case", value_name = "TEXT")]
    case: Option<String>,
    /// What `prepare` compiles for: 90 of sm_90
    #[arg(long, value_name = "N", default_value = "90")]
    architecture: u32,
    /// Which GPU, counted from 0
    #[arg(long, value_name = "N", default_value = "0")]
    device: usize,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// What there is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// How fast kernels are
    Measure,
    /// Whether the corpus is right
    Check,
    /// The same under compute-sanitizer
    Sanitize,
    /// Nothing but to compile what `check` runs, where no GPU is: into the folder that `SPC_CACHE` names
    Prepare,
}

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Where the table goes: beside JSON, to standard error.
#[derive(Debug, Clone, Copy)]
struct Table {
    is_beside: bool,
}

impl Table {
    fn line(self, text: &str) {
        if self.is_beside { eprintln!("{text}") } else { println!("{text}") }
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            let cuda = error.downcast_ref::<spc::cuda::CudaError>();
            cuda.and_then(spc::cuda::CudaError::remedy).into_iter().for_each(|help| eprintln!("help: {help}"));
            ExitCode::FAILURE
        }
    }
}

/// Whether everything that was computed is right.
fn run(arguments: &Arguments) -> Result<bool> {
    let table = Table { is_beside: arguments.json };
    let does = |what: What| arguments.what.is_empty() || arguments.what.contains(&what);
    if arguments.what.contains(&What::Prepare) {
        return Ok(check::prepare(arguments, table));
    }
    let gpu = Gpu::open(arguments.device)?;
    table.line(&format!("{} (sm_{})", gpu.name(), gpu.architecture()));
    let (mut all, mut is_right) = (json!({ "device": described(&gpu) }), true);
    let mut add = |name: &str, (value, right): (Value, bool)| {
        all[name] = value;
        is_right &= right;
    };
    if does(What::Measure) {
        add("measured", measure::all(arguments, &gpu, table)?);
    }
    if does(What::Check) {
        add("check", check::all(arguments, &gpu, table));
    }
    if does(What::Sanitize) {
        add("sanitizer", sanitize::all(arguments, table));
    }
    if arguments.json {
        println!("{all}");
    }
    Ok(is_right)
}

fn described(gpu: &Gpu) -> Value {
    let total = gpu.memory().map(|(_, total)| total).ok();
    json!({
        "name": gpu.name(), "architecture": gpu.architecture(), "memory_bytes": total,
        "cache_bytes": gpu.cache_bytes().unwrap_or(0),
    })
}

/// The middle one of some times.
fn median(times: &[std::time::Duration]) -> std::time::Duration {
    let mut sorted = times.to_vec();
    sorted.sort();
    sorted.get(sorted.len() / 2).copied().unwrap_or(std::time::Duration::MAX)
}
