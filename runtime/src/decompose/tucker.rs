//! The Tucker decomposition.

use super::{DecomposeError, Engine, Factor, Fitted, Observer, TuckerTensor};
use crate::tensor::{AnyTensor, ElementType};

/// A method for a Tucker decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TuckerMethod {
    /// The leading left singular vectors of each unfolding of the tensor.
    Hosvd,
    /// The same, mode after mode, each of what the modes before have made smaller.
    StHosvd,
    /// Higher-order orthogonal iteration: the leading left singular vectors of the tensor times the factors of all other modes, over and over.
    Hooi,
}

/// What the methods take.
#[derive(Debug, Clone)]
pub struct TuckerOptions {
    /// The extents of the core, one for each mode.
    pub ranks: Vec<usize>,
    /// The most iterations of [`TuckerMethod::Hooi`].
    pub iterations: usize,
    /// It ends when the fit changes by less; with 0, after all iterations.
    pub tolerance: f64,
    /// Factors to start from; those of [`TuckerMethod::Hosvd`] if there are none.
    pub start: Option<Vec<Factor>>,
    /// For random columns, where a rank is above what an unfolding has.
    pub seed: u64,
    /// The elements of factors in kernels, as in [`CpOptions`](super::CpOptions).
    pub element: Option<ElementType>,
    /// Where kernels run.
    pub engine: Engine,
    /// The most bytes for copies of the tensor; half of what is free if not said.
    pub memory: Option<u64>,
    /// Iterations that were done before.
    pub done: usize,
}

/// Decomposes a tensor of 3 to 8 modes into a small core and an orthonormal factor for each mode.
///
/// # Errors
/// When the tensor or an option does not suit the method, or a kernel can't be compiled or run.
pub fn tucker(
    _x: &AnyTensor,
    _method: TuckerMethod,
    _options: &TuckerOptions,
    _observe: Observer<'_, TuckerTensor>,
) -> Result<Fitted<TuckerTensor>, DecomposeError> {
    Err(DecomposeError::Option("this method is not there yet".to_owned()))
}
