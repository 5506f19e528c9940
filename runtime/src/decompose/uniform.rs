//! Random factors.

use super::{DecomposeError, Factor};
use crate::generate;
use crate::tensor::ElementType;

/// Uniform numbers in (0, 1] for the factor of a mode.
pub(super) fn uniform(rows: usize, columns: usize, seed: u64, mode: usize) -> Result<Factor, DecomposeError> {
    let numbers = generate::random_dense(&[rows, columns], ElementType::F64, stream(seed, mode))?;
    Ok(Factor::from_vec([rows, columns], numbers.values_of::<f64>().unwrap_or_default().to_vec())?)
}

/// Some of its rows.
pub(super) fn uniform_rows(rows: &[u64], columns: usize, seed: u64, mode: usize) -> Vec<f64> {
    let stream = stream(seed, mode);
    let places = rows.iter().flat_map(|row| (0..columns as u64).map(move |column| row * columns as u64 + column));
    places.map(|place| generate::random_number(stream, place)).collect()
}

/// The golden ratio keeps the streams of neighbouring seeds and modes apart.
fn stream(seed: u64, mode: usize) -> u64 {
    seed.wrapping_add((mode as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
