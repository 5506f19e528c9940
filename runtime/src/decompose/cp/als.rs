//! Alternating least squares.

use super::CpOptions;
use crate::decompose::{DecomposeError, Fitted, KTensor, Observer};
use crate::tensor::AnyTensor;

/// What alternating least squares take besides.
#[derive(Debug, Clone, Default)]
pub struct AlsOptions {
    /// Columns are divided by their largest element instead of their 2-norm.
    pub normalise_by_max: bool,
    /// For each entry, how much it counts: a tensor of the same shape in which absent entries are missing ones, which do not count at all.
    pub weights: Option<AnyTensor>,
}

pub(super) fn run(
    _x: &AnyTensor,
    _own: &AlsOptions,
    _options: &CpOptions,
    _observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    Err(DecomposeError::Option("this method is not there yet".to_owned()))
}
