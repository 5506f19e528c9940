//! `spc catalogue`: native code of kernels that many need, for machines without a Rust compiler.

use crate::failure::Failure;
use crate::progress::Progress;
use crate::{output, settings};
use clap::Args;
use serde_json::json;
use spc::execute::catalogue;
use std::path::PathBuf;
use std::time::Instant;

/// Compile the kernels of the catalogue
///
/// Beside the command, as spc.catalogue, or where SPC_CATALOGUE says, the file serves machines that have no Rust compiler: SpMV,
/// SpMM, SDDMM, SpGEMM, TTV, TTM, TTMc, MTTKRP and elementwise kernels run as what that compiler would make of them. It is for this
/// architecture and operating system, with a library for each level of processors. To compile them all takes some minutes.
#[derive(Debug, Args)]
pub(crate) struct Catalogue {
    /// Where the file goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// A level of processors, as x86-64-v3; all if none is given
    #[arg(long = "level", value_name = "LEVEL")]
    levels: Vec<String>,
    /// Only kernels of the list whose lines have this in them
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

impl Catalogue {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let start = Instant::now();
        let progress = Progress::new("compiling");
        let (bytes, count) = catalogue::build(&self.levels, self.only.as_deref()).map_err(Failure::refused)?;
        drop(progress);
        spc::io::write_bytes(&self.output, &bytes)?;
        let seconds = start.elapsed().as_secs_f64();
        if settings::json() {
            return output::print_json(json!({ "kernels": count, "bytes": bytes.len(), "seconds": seconds }));
        }
        let (path, bytes) = (self.output.display(), output::bytes(bytes.len()));
        output::print(&format!("{path}: {count} kernels, {bytes}, compiled in {seconds:.1} s\n"))
    }
}
