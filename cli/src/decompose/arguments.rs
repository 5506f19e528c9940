//! Arguments that the verbs of decompositions share.

use crate::arguments::FormatsArguments;
use crate::arguments::{NamedFile, Shape, named_file, nameless_format, shape};
use crate::failure::Failure;
use crate::files::InputKind;
use crate::names;
use crate::run::BackendName;
use clap::Args;
use spc_compiler::ir::ElementType;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Which tensor, and how it is stored.
#[derive(Debug, Clone, Args)]
pub(super) struct TensorArguments {
    /// The tensor: a file, an array `x.npz:A` of an archive, `-` for the standard input. Several entries of the same index become
    /// their sum
    #[arg(value_name = "FILE")]
    pub(super) input: OsString,
    #[command(flatten)]
    pub(super) from: InputKind,
    /// How the tensor is stored, as alto or 'hicoo(64)'; if not given as its file says, which is csf for a list of entries, and else
    /// dense
    #[arg(short = 'f', long, value_name = "FORMAT", value_parser = nameless_format)]
    pub(super) format: Option<String>,
    #[command(flatten)]
    pub(super) named: FormatsArguments,
    /// The shape, where the file does not state it
    #[arg(long, value_name = "100x200x50", value_parser = shape)]
    pub(super) shape: Option<Shape>,
    /// The elements of the tensor and of factors in kernels, f32 or f64; f32 for a file of f32, else f64 if not given
    #[arg(long, value_name = "TYPE", value_parser = real)]
    pub(super) element: Option<ElementType>,
}

/// Where kernels run.
#[derive(Debug, Clone, Args)]
pub(super) struct EngineArguments {
    /// What runs the kernels; native code where there is a Rust compiler, else the interpreter
    #[arg(long, value_enum)]
    pub(super) backend: Option<BackendName>,
    /// Which GPU runs the kernels, counted from 0, with `--backend cuda`
    #[arg(long, value_name = "N", default_value = "0")]
    pub(super) device: usize,
    /// Combine floating point numbers in an order that only the inputs determine: the same bits in every run, on any number of
    /// threads
    #[arg(long)]
    pub(super) deterministic: bool,
    /// How many threads work, at most eight for each processor or 256; as many as there are processors if not given
    #[arg(long, value_name = "N")]
    pub(super) threads: Option<NonZeroUsize>,
}

/// What is written.
#[derive(Debug, Clone, Args)]
pub(super) struct OutputArguments {
    /// Where the model goes: a folder, or an archive FILE.npz
    #[arg(short, long, value_name = "DIR|FILE.npz")]
    pub(super) output: Option<PathBuf>,
    /// Write a page for a browser, complete in one file: the fit, plots of the factors, and their largest entries
    #[arg(long, value_name = "PAGE.html")]
    pub(super) html: Option<PathBuf>,
    /// What the coordinates of a mode are called on that page: line k of the file names coordinate k; `2=words.txt`
    #[arg(long, value_name = "MODE=FILE", value_parser = named_file(), requires = "html")]
    pub(super) labels: Vec<NamedFile>,
    /// How many of the largest entries of each column that page lists
    #[arg(long, value_name = "N", default_value = "10", requires = "html")]
    pub(super) top: NonZeroUsize,
}

/// What is kept while a method runs.
#[derive(Debug, Clone, Args)]
pub(super) struct CheckpointArguments {
    /// Keep the model and how far it is in this folder, so that `--resume` can go on from there
    #[arg(long, value_name = "DIR")]
    pub(super) checkpoint: Option<PathBuf>,
    /// How often: after so many iterations as `10`, or when so much time has passed as `30s`, `10min` or `2h`
    #[arg(long, value_name = "N|TIME", default_value = "10", value_parser = every, requires = "checkpoint")]
    pub(super) every: Every,
    /// Go on from the checkpoint
    #[arg(long, requires = "checkpoint")]
    pub(super) resume: bool,
}

/// How often something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Every {
    Iterations(usize),
    Time(Duration),
}

fn every(text: &str) -> Result<Every, String> {
    let wrong = || "it is a number of iterations from 1 on, or a time as `30s`, `10min` or `2h`".to_owned();
    for (unit, seconds) in [("min", 60.0), ("s", 1.0), ("h", 3600.0)] {
        if let Some(number) = text.strip_suffix(unit) {
            let number: f64 = number.trim().parse().map_err(|_| wrong())?;
            return Duration::try_from_secs_f64(number * seconds).map(Every::Time).map_err(|_| wrong());
        }
    }
    text.parse().ok().filter(|&number| number > 0).map(Every::Iterations).ok_or_else(wrong)
}

/// Reads an element type of factors.
fn real(name: &str) -> Result<ElementType, String> {
    let known = [ElementType::F32, ElementType::F64];
    let found = known.into_iter().find(|element| element.name() == name);
    let unknown =
        || names::refusal(format!("there are no factors of `{name}`"), name, known.map(ElementType::name), "they are");
    found.ok_or_else(unknown)
}

/// Reads a number that is zero or more.
pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "it is a number from 0 on, as `1e-6`; with 0 all iterations are done".to_owned())
}

/// Reads a number that is more than zero.
pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "it is a number greater than 0, as `0.001`".to_owned())
}

/// Refuses an option that only another choice takes: `--rate` is for `--optimizer adam`.
pub(super) fn only_for(options: &[(&str, bool)], choice: &str) -> Result<(), Failure> {
    match options.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => {
            let help = format!("add `{choice}`, or leave out `{option}`");
            Err(Failure::usage(format!("`{option}` is for `{choice}`")).help(help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_every_so_many_iterations_or_seconds() {
        assert_eq!(every("10"), Ok(Every::Iterations(10)));
        assert_eq!(every("30s"), Ok(Every::Time(Duration::from_secs(30))));
        assert_eq!(every("1.5h"), Ok(Every::Time(Duration::from_secs(5400))));
        assert_eq!(every("2min"), Ok(Every::Time(Duration::from_secs(120))));
        assert!(every("0").is_err() && every("-1s").is_err() && every("often").is_err() && every("s").is_err());
    }

    #[test]
    fn tolerances_are_not_negative() {
        assert_eq!(tolerance("0"), Ok(0.0));
        assert!(tolerance("-1").is_err() && tolerance("nan").is_err() && positive("0").is_err());
    }
}
