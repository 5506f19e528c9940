//! Random factors.

use super::{DecomposeError, Factor};
use crate::generate;
use crate::tensor::ElementType;

/// Uniform numbers in (0, 1] for the factor of a mode.
pub(super) fn uniform(rows: usize, columns: usize, seed: u64, mode: usize) -> Result<Factor, DecomposeError> {
    // The golden ratio keeps the streams of neighbouring seeds and modes apart.
    let stream = seed.wrapping_add((mode as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let numbers = generate::random_dense(&[rows, columns], ElementType::F64, stream)?;
    Ok(Factor::from_vec([rows, columns], numbers.values_of::<f64>().unwrap_or_default().to_vec())?)
}
