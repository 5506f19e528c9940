//! K-tensors: the models of the CP decomposition.

use super::{DecomposeError, Factor};

/// A sum of rank-1 tensors: Σᵣ λ(r) · A₁(:, r) ∘ A₂(:, r) ∘ … (Kolda and Bader, Tensor Decompositions and Applications, 2009,
/// section 3). Weights λ have a place for each component; factor n is a matrix of extent n × components.
#[derive(Debug, Clone, PartialEq)]
pub struct KTensor {
    weights: Vec<f64>,
    factors: Vec<Factor>,
}

impl KTensor {
    /// A K-tensor of its parts.
    ///
    /// # Errors
    /// When a factor has not one column for each weight, or there is no factor.
    pub fn new(weights: Vec<f64>, factors: Vec<Factor>) -> Result<Self, DecomposeError> {
        if factors.is_empty() {
            return Err(DecomposeError::Start("a K-tensor has at least one factor".to_owned()));
        }
        for (mode, factor) in factors.iter().enumerate() {
            if factor.shape()[1] != weights.len() {
                let (mode, found, rank) = (mode + 1, factor.shape()[1], weights.len());
                let message = format!("the factor of mode {mode} has {found} columns, but there are {rank} weights");
                return Err(DecomposeError::Start(message));
            }
        }
        Ok(Self { weights, factors })
    }

    /// λ.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A matrix for each mode.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The number of components.
    pub fn rank(&self) -> usize {
        self.weights.len()
    }

    /// The extent of each mode.
    pub fn shape(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.shape()[0]).collect()
    }
}
