//! Where an iteration starts.

use super::{DecomposeError, Factor, KTensor};
use crate::generate;
use crate::tensor::ElementType;

/// Where an iteration starts.
#[derive(Debug, Clone, PartialEq)]
pub enum Start {
    /// Factors of uniform random numbers in (0, 1], from a seed: the same on every machine.
    Random {
        /// The seed.
        seed: u64,
    },
    /// The leading left singular vectors of each unfolding; random columns where a rank is above an extent.
    Hosvd {
        /// For the random columns.
        seed: u64,
    },
    /// From a model.
    Model(KTensor),
}

impl Default for Start {
    fn default() -> Self {
        Start::Random { seed: 0 }
    }
}

/// Uniform numbers in (0, 1] for the factor of a mode.
pub(super) fn uniform(rows: usize, columns: usize, seed: u64, mode: usize) -> Result<Factor, DecomposeError> {
    // The golden ratio keeps the streams of neighbouring seeds and modes apart.
    let stream = seed.wrapping_add((mode as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let numbers = generate::random_dense(&[rows, columns], ElementType::F64, stream)?;
    Ok(Factor::from_vec([rows, columns], numbers.values_of::<f64>().unwrap_or_default().to_vec())?)
}
