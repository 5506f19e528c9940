//! The methods of `spc cp`, and the options that only some of them have.

use super::arguments::{only_for, positive};
use super::tensor::{Given, of_shape};
use crate::failure::Failure;
use crate::names;
use clap::{Args, ValueEnum};
use spc::decompose::{AlsOptions, AprOptions, CpMethod, GcpOptions, Loss, NonnegativeOptions, Optimizer};
use spc_compiler::diagnostics::suggest;
use std::num::NonZeroUsize;
use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodName {
    /// Alternating least squares
    Als,
    /// Least squares with factors that are not negative
    Nonnegative,
    /// Alternating Poisson regression, for counts
    Apr,
    /// Generalized: any loss, by its gradient
    Gcp,
}

impl MethodName {
    pub(super) fn name(self) -> &'static str {
        match self {
            MethodName::Als => "als",
            MethodName::Nonnegative => "nonnegative",
            MethodName::Apr => "apr",
            MethodName::Gcp => "gcp",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Normalise {
    /// By their 2-norm
    Norm,
    /// By their largest element, if that is more than 1
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OptimizerName {
    /// L-BFGS, with all entries
    Lbfgs,
    /// Adam, with stratified samples
    Adam,
}

/// The method, and what it takes.
#[derive(Debug, Clone, Args)]
pub(super) struct MethodArguments {
    /// How the factors are found
    #[arg(long, value_enum, default_value = "als")]
    pub(super) method: MethodName,
    /// How columns of factors are scaled, with als; by their norm if not given
    #[arg(long, alias = "normalize", value_enum, help_heading = "Options of methods")]
    normalise: Option<Normalise>,
    /// With als: a tensor of the same shape that says how much each entry counts; entries that it lacks are missing ones
    #[arg(long, value_name = "FILE", help_heading = "Options of methods")]
    weights: Option<PathBuf>,
    /// With apr: the most updates of a factor in one iteration; 10 if not given
    #[arg(long, value_name = "N", help_heading = "Options of methods")]
    inner: Option<NonZeroUsize>,
    /// With gcp: gaussian, poisson, bernoulli, bernoulli-logit, or the loss at an entry `x` where the model has `m`, as
    /// 'm - x * ln(m + 1e-10)'
    #[arg(long, value_name = "LOSS", help_heading = "Options of methods")]
    loss: Option<String>,
    /// The derivative of such a loss by `m`, as '1 - x / (m + 1e-10)'
    #[arg(long, value_name = "EXPR", requires = "loss", help_heading = "Options of methods")]
    derivative: Option<String>,
    /// The least that elements of factors may be, with such a loss
    #[arg(
        long,
        value_name = "NUMBER",
        requires = "derivative",
        allow_negative_numbers = true,
        help_heading = "Options of methods"
    )]
    least: Option<f64>,
    /// With gcp: how the loss is made smaller; lbfgs if not given
    #[arg(long, value_enum, help_heading = "Options of methods")]
    optimizer: Option<OptimizerName>,
    /// With adam: how many stored entries and how many others are sampled in a step; by the size of the tensor if not given
    #[arg(long, value_name = "STORED,OTHERS", value_parser = samples, help_heading = "Options of methods")]
    samples: Option<(usize, usize)>,
    /// With adam: the size of a step; 0.001 if not given
    #[arg(long, value_name = "NUMBER", value_parser = positive, help_heading = "Options of methods")]
    rate: Option<f64>,
    /// With adam: how many steps are one iteration; 1000 if not given
    #[arg(long, value_name = "N", help_heading = "Options of methods")]
    steps: Option<NonZeroUsize>,
}

/// Losses that have names.
const LOSSES: [&str; 4] = ["gaussian", "poisson", "bernoulli", "bernoulli-logit"];

fn samples(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once(',').map(|(stored, others)| (stored.trim().parse(), others.trim().parse()));
    match numbers {
        Some((Ok(stored), Ok(others))) if stored > 0 => Ok((stored, others)),
        _ => Err("these are two numbers, as `1000,1000`: of stored entries, at least one, and of others".to_owned()),
    }
}

/// Whether this is meant as the name of a loss, and not as an expression.
fn is_name(text: &str) -> bool {
    let is_word = text.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_word || suggest::similar(text, LOSSES).is_some()
}

impl MethodArguments {
    /// An option that does not go with ranks.
    pub(super) fn for_one_rank(&self) -> Option<&'static str> {
        match self.method {
            MethodName::Als => self.weights.as_ref().map(|_| "--weights"),
            _ => Some("--method"),
        }
    }

    /// Refuses options of other methods.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.method != MethodName::Als {
            let als = [("--normalise", self.normalise.is_some()), ("--weights", self.weights.is_some())];
            only_for(&als, "--method als")?;
        }
        if self.method != MethodName::Apr {
            only_for(&[("--inner", self.inner.is_some())], "--method apr")?;
        }
        let adam =
            [("--samples", self.samples.is_some()), ("--rate", self.rate.is_some()), ("--steps", self.steps.is_some())];
        if self.method != MethodName::Gcp {
            let gcp = [("--loss", self.loss.is_some()), ("--optimizer", self.optimizer.is_some())];
            only_for(&gcp, "--method gcp")?;
            only_for(&adam, "--method gcp --optimizer adam")?;
        } else if self.optimizer != Some(OptimizerName::Adam) {
            only_for(&adam, "--optimizer adam")?;
        }
        self.loss().map(drop)
    }

    fn loss(&self) -> Result<Loss, Failure> {
        let named = match self.loss.as_deref() {
            None | Some("gaussian") => Some(Loss::Gaussian),
            Some("poisson") => Some(Loss::Poisson),
            Some("bernoulli") => Some(Loss::Bernoulli),
            Some("bernoulli-logit") => Some(Loss::BernoulliLogit),
            Some(_) => None,
        };
        match (named, &self.loss, &self.derivative) {
            (Some(loss), _, None) => Ok(loss),
            (Some(_), Some(name), Some(_)) => {
                let failure = Failure::usage(format!("`{name}` has a derivative of its own"));
                Err(failure.help("leave out `--derivative`, or give the loss as an expression"))
            }
            (None, Some(value), Some(derivative)) => {
                Ok(Loss::Given { value: value.clone(), derivative: derivative.clone(), least: self.least })
            }
            (None, Some(name), None) if is_name(name) => {
                Err(names::unknown(format!("there is no loss `{name}`"), name, LOSSES, "losses are"))
            }
            (_, Some(_), None) | (_, None, _) => {
                let failure = Failure::usage("a loss of your own needs its derivative by `m`");
                Err(failure.help("add it, as `--derivative '2 * (m - x)'` for `--loss '(x - m) * (x - m)'`"))
            }
        }
    }

    /// The method with what it takes, for a tensor.
    pub(super) fn method(&self, given: &Given, seed: u64) -> Result<CpMethod, Failure> {
        Ok(match self.method {
            MethodName::Als => {
                let (shape, element) = (&given.shape[..], given.element);
                let weights = self.weights.as_ref().map(|path| of_shape(path.as_os_str(), shape, element));
                CpMethod::Als(AlsOptions {
                    normalise_by_max: self.normalise == Some(Normalise::Max),
                    weights: weights.transpose()?,
                })
            }
            MethodName::Nonnegative => CpMethod::Nonnegative(NonnegativeOptions::default()),
            MethodName::Apr => {
                let usual = AprOptions::default();
                let inner_iterations = self.inner.map_or(usual.inner_iterations, NonZeroUsize::get);
                CpMethod::Apr(AprOptions { inner_iterations, ..usual })
            }
            MethodName::Gcp => {
                let optimizer = match self.optimizer {
                    Some(OptimizerName::Adam) => Optimizer::Adam {
                        rate: self.rate.unwrap_or(1e-3),
                        samples: self.samples,
                        steps: self.steps.map_or(1000, NonZeroUsize::get),
                    },
                    _ => Optimizer::Lbfgs,
                };
                CpMethod::Gcp(GcpOptions { loss: self.loss()?, optimizer, seed, ..GcpOptions::default() })
            }
        })
    }

    /// What runs with the same result have in common.
    pub(super) fn identity(&self) -> String {
        let Self { method: _, normalise, weights, inner, loss, derivative, least, optimizer, samples, rate, steps } =
            self;
        let mut options = Vec::new();
        let mut add =
            |name: &str, value: Option<String>| options.extend(value.map(|value| format!("--{name} {value}")));
        add("normalise", normalise.map(|normalise| format!("{normalise:?}").to_lowercase()));
        add("weights", weights.as_ref().map(|path| path.display().to_string()));
        add("inner", inner.map(|inner| inner.to_string()));
        add("loss", loss.clone());
        add("derivative", derivative.clone());
        add("least", least.map(|least| least.to_string()));
        add("optimizer", optimizer.map(|optimizer| format!("{optimizer:?}").to_lowercase()));
        add("samples", samples.map(|(stored, others)| format!("{stored},{others}")));
        add("rate", rate.map(|rate| rate.to_string()));
        add("steps", steps.map(|steps| steps.to_string()));
        if options.is_empty() { "none".to_owned() } else { options.join(" ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_two_numbers() {
        assert_eq!(samples("10, 0"), Ok((10, 0)));
        assert!(samples("10").is_err() && samples("0,1").is_err() && samples("1,x").is_err());
    }
}
