//! Alternating Poisson regression.

use super::CpOptions;
use crate::decompose::{DecomposeError, Fitted, KTensor, Observer};
use crate::tensor::AnyTensor;

/// What the method takes besides.
#[derive(Debug, Clone)]
pub struct AprOptions {
    /// The most multiplicative updates of a factor in one iteration.
    pub inner_iterations: usize,
}

pub(super) fn run(
    _x: &AnyTensor,
    _own: &AprOptions,
    _options: &CpOptions,
    _observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    Err(DecomposeError::Option("this method is not there yet".to_owned()))
}
