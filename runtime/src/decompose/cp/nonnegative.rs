//! Hierarchical alternating least squares: factors that are not negative.

use super::CpOptions;
use crate::decompose::{DecomposeError, Fitted, KTensor, Observer};
use crate::tensor::AnyTensor;

/// What the method takes besides.
#[derive(Debug, Clone, Default)]
pub struct NonnegativeOptions {}

pub(super) fn run(
    _x: &AnyTensor,
    _own: &NonnegativeOptions,
    _options: &CpOptions,
    _observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    Err(DecomposeError::Option("this method is not there yet".to_owned()))
}
