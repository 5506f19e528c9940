//! The best rank-1 approximation by the power method, and more components by deflation.

use super::{DecomposeError, Engine, Fitted, KTensor, Observer};
use crate::tensor::{AnyTensor, ElementType};

/// What the method takes.
#[derive(Debug, Clone)]
pub struct PowerOptions {
    /// How many rank-1 tensors: each approximates what the ones before have left.
    pub components: usize,
    /// The most iterations for each.
    pub iterations: usize,
    /// A component ends when its weight changes by less, relative to itself; with 0, after all iterations.
    pub tolerance: f64,
    /// Random starts for each component, of which the best is taken.
    pub starts: usize,
    /// What random starts come from.
    pub seed: u64,
    /// One vector for all modes, of a symmetric tensor (the shifted method of Kolda and Mayo, 2011).
    pub symmetric: bool,
    /// The elements of vectors in kernels, as in [`CpOptions`](super::CpOptions).
    pub element: Option<ElementType>,
    /// Where kernels run.
    pub engine: Engine,
}

/// The best rank-1 approximation of a tensor, or several by deflation.
///
/// # Errors
/// When the tensor or an option does not suit the method, or a kernel can't be compiled or run.
pub fn power(
    _x: &AnyTensor,
    _options: &PowerOptions,
    _observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    Err(DecomposeError::Option("this method is not there yet".to_owned()))
}
