//! `spc generate`: tensors out of a seed.

use crate::arguments::{Numbers, Shape, element, numbers, shape};
use crate::convert::coordinates;
use crate::failure::Failure;
use crate::files::{Destination, OutputKind};
use crate::progress::Progress;
use crate::{names, output, settings};
use clap::{Args, Subcommand};
use serde_json::json;
use spc::execute::Entries;
use spc::generate::{self, Initiator, suite};
use spc::io::{self, FileType};
use spc::tensor::{Coordinates, Duplicates};
use spc::with_element;
use spc_compiler::ir::ElementType;
use std::ffi::OsString;

/// Generate a tensor
///
/// Entries are at distinct places, with values in (0, 1], or whole numbers from 1 to 9 of an integer type. The same seed gives
/// the same tensor, on every machine.
#[derive(Debug, Args)]
pub(crate) struct Generate {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    Uniform(Uniform),
    Kronecker(Kronecker),
    PowerLaw(PowerLaw),
    Suite(Suite),
}

/// How large a tensor is.
#[derive(Debug, Args)]
struct Size {
    /// The extent of each mode
    #[arg(long, value_name = "100x200x50", value_parser = shape)]
    shape: Shape,
    /// How many entries
    #[arg(long, value_name = "N")]
    nnz: usize,
}

/// Which of those that a kind gives, and where it goes.
#[derive(Debug, Args)]
struct Common {
    /// Another seed gives another tensor
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The type of the elements
    #[arg(long, value_name = "TYPE", default_value = "f64", value_parser = element)]
    element: ElementType,
    /// The file to write; `-` for the standard output
    #[arg(short, long, value_name = "FILE")]
    output: OsString,
    #[command(flatten)]
    to: OutputKind,
}

/// All places equally likely
#[derive(Debug, Args)]
struct Uniform {
    #[command(flatten)]
    size: Size,
    #[command(flatten)]
    common: Common,
}

/// Self-similar: drawn from a Kronecker power of a small tensor of weights
#[derive(Debug, Args)]
struct Kronecker {
    #[command(flatten)]
    size: Size,
    /// The weights, row-major: 0.57,0.19,0.19,0.05; weights that fall to a third with each second index if not given
    #[arg(long, value_name = "WEIGHTS", value_parser = numbers)]
    initiator: Option<Numbers>,
    /// The shape of the weights; two indices a mode if not given
    #[arg(long, value_name = "2x2x2", value_parser = shape, requires = "initiator")]
    initiator_shape: Option<Shape>,
    #[command(flatten)]
    common: Common,
}

/// Slices of very different sizes: a power law in each mode
#[derive(Debug, Args)]
struct PowerLaw {
    #[command(flatten)]
    size: Size,
    /// The exponent of each mode, or one for all: 0 for slices that are alike, 1 for a slice twice as full as the second
    #[arg(long, value_name = "1,1,0", value_parser = numbers, default_value = "1")]
    exponents: Numbers,
    /// As many entries in each slice of the last mode, which has no exponent: a stream of entries, cut into pieces of equal length
    #[arg(long)]
    stacked: bool,
    #[command(flatten)]
    common: Common,
}

/// One of the benchmark suite's synthetic tensors: regS regM regL irrS irrM irrL, the same and irr2S irr2M irr2L with 4d behind
#[derive(Debug, Args)]
struct Suite {
    /// Its name
    name: String,
    /// How many times larger than in the suite; 0.1 for a tenth of the entries
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    scale: f64,
    #[command(flatten)]
    common: Common,
}

impl Kind {
    fn common(&self) -> &Common {
        match self {
            Kind::Uniform(Uniform { common, .. })
            | Kind::Kronecker(Kronecker { common, .. })
            | Kind::PowerLaw(PowerLaw { common, .. })
            | Kind::Suite(Suite { common, .. }) => common,
        }
    }
}

impl Generate {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let progress = Progress::new("generating");
        let destination = self.kind.common().to.destination(&self.kind.common().output)?;
        let (common, entries) = match self.kind {
            Kind::Uniform(Uniform { size, common }) => {
                let entries = generate::uniform(&size.shape.0, size.nnz, common.seed).map_err(Failure::refused);
                (common, entries)
            }
            Kind::Kronecker(kronecker) => {
                let entries = kronecker.entries();
                (kronecker.common, entries)
            }
            Kind::PowerLaw(PowerLaw { size, exponents, stacked, common }) => {
                let order = size.shape.0.len();
                let entries = match stacked {
                    true => {
                        let exponents = exponents.for_modes(order.saturating_sub(1));
                        generate::stacked(&size.shape.0, size.nnz, &exponents, common.seed)
                    }
                    false => generate::power_law(&size.shape.0, size.nnz, &exponents.for_modes(order), common.seed),
                };
                (common, entries.map_err(Failure::refused))
            }
            Kind::Suite(Suite { name, scale, common }) => {
                let entries = suite_tensor(&name, scale, common.seed);
                (common, entries)
            }
        };
        let entries = entries?;
        with_element!(common.element, |T| write(&destination, &generate::typed::<T>(entries), progress))
    }
}

impl Kronecker {
    fn entries(&self) -> Result<Coordinates<f64>, Failure> {
        let shape = &self.size.shape.0;
        let initiator = match &self.initiator {
            None => Initiator::usual(shape.len()),
            Some(weights) => {
                let extents =
                    self.initiator_shape.as_ref().map_or_else(|| vec![2; shape.len()], |shape| shape.0.clone());
                Initiator::new(extents, weights.0.clone()).map_err(Failure::refused)?
            }
        };
        generate::kronecker(shape, self.size.nnz, &initiator, self.common.seed).map_err(Failure::refused)
    }
}

/// A tensor of the suite, by name.
pub(crate) fn suite_tensor(name: &str, scale: f64, seed: u64) -> Result<Coordinates<f64>, Failure> {
    let Some(tensor) = suite::find(name) else {
        let names = suite::TENSORS.iter().map(|tensor| tensor.name);
        return Err(names::unknown(format!("the suite has no tensor `{name}`"), name, names, "its tensors are"));
    };
    if !(scale > 0.0 && scale <= 1000.0) {
        return Err(Failure::refused(format!("{scale} is no scale: a number above 0, at most 1000")));
    }
    tensor.generate(scale, seed).map_err(Failure::refused)
}

fn write<T: io::Value>(destination: &Destination, entries: &Coordinates<T>, progress: Progress) -> Result<(), Failure>
where
    Entries: From<Coordinates<T>>,
{
    progress.step(format!("writing {}", destination.name()));
    if let FileType::Spct = destination.kind() {
        let literal = T::TYPE.zero();
        let packed = Entries::from(entries.clone()).pack(&coordinates(&entries.shape), Duplicates::Sum, literal);
        destination.write(&packed.map_err(Failure::refused)?, false)?;
    } else {
        destination.write_entries(entries)?;
    }
    drop(progress);
    if settings::json() && !destination.is_stdout() {
        return output::print_json(json!({
            "file": destination.name(), "kind": destination.kind().name(), "shape": entries.shape,
            "element": T::TYPE.name(), "nnz": entries.values.len(),
        }));
    }
    Ok(())
}
