//! Tucker tensors: the models of the Tucker decomposition.

use super::{DecomposeError, Factor};
use crate::tensor::AnyTensor;

/// A core, a matrix for each mode: G ×₁ U₁ ×₂ U₂ … (Kolda and Bader, Tensor Decompositions and Applications, 2009, section 4).
#[derive(Debug, Clone, PartialEq)]
pub struct TuckerTensor {
    core: AnyTensor,
    factors: Vec<Factor>,
}

impl TuckerTensor {
    /// A Tucker tensor of its parts: the core is dense, of elements `f64`.
    ///
    /// # Errors
    /// When the core's shape is not the number of columns of each factor.
    pub fn new(core: AnyTensor, factors: Vec<Factor>) -> Result<Self, DecomposeError> {
        let columns: Vec<usize> = factors.iter().map(|factor| factor.shape()[1]).collect();
        if core.shape() != columns || core.values_of::<f64>().is_none() || !core.format().is_dense() {
            let message = format!("a core of shape {:?} does not fit factors of {columns:?} columns", core.shape());
            return Err(DecomposeError::Start(message));
        }
        Ok(Self { core, factors })
    }

    /// The core: dense, of elements `f64`, in the order of the modes.
    pub fn core(&self) -> &AnyTensor {
        &self.core
    }

    /// A matrix for each mode: extent × the core's extent.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The extent of each mode.
    pub fn shape(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.shape()[0]).collect()
    }
}
