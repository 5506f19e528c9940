//! Generalized CP: any loss, by its gradient.

use super::CpOptions;
use crate::decompose::{DecomposeError, Fitted, KTensor, Observer};
use crate::tensor::AnyTensor;

/// A loss: a function of an entry and of what the model has there.
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// (x - m)².
    Gaussian,
    /// m - x log m, for counts; m > 0.
    Poisson,
    /// log(1 + m) - x log m, for truth values; m are odds.
    Bernoulli,
    /// Lines of the language over `x` and `m`: the loss, its derivative by `m`, and the least that factors may be, if any.
    Given {
        /// `m - x * log(m + 1e-10)`.
        value: String,
        /// `1 - x / (m + 1e-10)`.
        derivative: String,
        /// The least that elements of factors may be.
        least: Option<f64>,
    },
}

/// How the loss is made smaller.
#[derive(Debug, Clone, PartialEq)]
pub enum Optimizer {
    /// By L-BFGS with all entries.
    Lbfgs,
    /// By Adam with stratified samples of the stored entries and of the others.
    Adam {
        /// The step.
        rate: f64,
        /// Samples of stored entries and of others in each step; by the size of the tensor if not said.
        samples: Option<(usize, usize)>,
        /// Steps in an iteration.
        steps: usize,
    },
}

/// What the method takes besides.
#[derive(Debug, Clone)]
pub struct GcpOptions {
    /// The loss.
    pub loss: Loss,
    /// How it is made smaller.
    pub optimizer: Optimizer,
    /// What random samples come from.
    pub seed: u64,
}

pub(super) fn run(
    _x: &AnyTensor,
    _own: &GcpOptions,
    _options: &CpOptions,
    _observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    Err(DecomposeError::Option("this method is not there yet".to_owned()))
}
