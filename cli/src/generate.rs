//! `spc generate`: tensors out of a seed.

use crate::arguments::{Shape, shape};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use clap::{Args, Subcommand};
use spc::{generate, io};

/// Generate a tensor
#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    Uniform(Uniform),
}

/// Entries at distinct places, all places equally likely, with values in (0, 1]
#[derive(Debug, Args)]
struct Uniform {
    /// The extent of each mode
    #[arg(long, value_name = "100x200x50", value_parser = shape)]
    shape: Shape,
    /// How many entries
    #[arg(long, value_name = "N")]
    nnz: usize,
    /// The same seed gives the same tensor, on every machine
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The file to write; `-` for standard output, as .tns
    #[arg(short, long, value_name = "FILE")]
    output: String,
}

impl Generate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let Kind::Uniform(uniform) = self.kind;
        let progress = Progress::new("generating");
        let entries = generate::uniform(&uniform.shape.0, uniform.nnz, uniform.seed).map_err(Failure::refused)?;
        if uniform.output == "-" {
            drop(progress);
            return output::with_stdout(|out| io::write_tns(out, &entries));
        }
        progress.step(format!("writing {}", uniform.output));
        Ok(io::write(&uniform.output, &entries)?)
    }
}
