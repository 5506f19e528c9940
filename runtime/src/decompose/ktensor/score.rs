//! How well two models match.

use super::{DecomposeError, KTensor, Norm};
use crate::decompose::against::same_shape;
use crate::decompose::algebra;

/// How well a model matches another.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The mean over the other's components of how well the best match fits: 1 where all are the same.
    pub value: f64,
    /// The model, normalised, with its components in the order of the other's; those that match none come last.
    pub model: KTensor,
    /// Which component of the model has come to each place.
    pub order: Vec<usize>,
}

impl KTensor {
    /// Matches the components of a model with those of another that has no more of them: first the two that fit best, then of those that are
    /// left (Tomasi and Bro, A Comparison of Algorithms for Fitting the PARAFAC Model, 2006). Two components fit by the product over modes of
    /// the cosines between their columns, without signs; with `weight_penalty` times 1 - |λ - μ| / max(λ, μ).
    ///
    /// # Errors
    /// When the shapes differ, or the other has more components, or none.
    pub fn score(&self, other: &KTensor, weight_penalty: bool) -> Result<Score, DecomposeError> {
        same_shape(&self.shape(), &other.shape())?;
        let (rank, others) = (self.rank(), other.rank());
        if rank < others || others == 0 {
            let message = format!(
                "a model of {rank} components can't be matched with {others}: match the larger with the smaller"
            );
            return Err(DecomposeError::Model(message));
        }
        let (mut a, mut b) = (self.clone(), other.clone());
        a.normalise(Norm::Two);
        b.normalise(Norm::Two);
        let mut fits = congruences(&a, &b, weight_penalty);
        let mut order = vec![usize::MAX; others];
        let mut sum = 0.0;
        for _ in 0..others {
            // Of equal ones the first, by the other's components.
            let places = (0..others).flat_map(|column| (0..rank).map(move |row| (row, column)));
            let best = places
                .reduce(|best, place| if fits[at(place, others)] > fits[at(best, others)] { place } else { best });
            let Some((row, column)) = best else { break };
            sum += fits[at((row, column), others)];
            order[column] = row;
            (0..others).for_each(|column| fits[at((row, column), others)] = f64::NEG_INFINITY);
            (0..rank).for_each(|row| fits[at((row, column), others)] = f64::NEG_INFINITY);
        }
        let rest: Vec<usize> = (0..rank).filter(|component| !order.contains(component)).collect();
        order.extend(rest);
        a.take(&order);
        Ok(Score { value: sum / others as f64, model: a, order })
    }
}

fn at((row, column): (usize, usize), columns: usize) -> usize {
    row * columns + column
}

/// How well each component of a model fits each of another.
fn congruences(a: &KTensor, b: &KTensor, weight_penalty: bool) -> Vec<f64> {
    let (rank, others) = (a.rank(), b.rank());
    let mut fits = vec![1.0; rank * others];
    for (a, b) in a.factors().iter().zip(b.factors()) {
        let cosines = algebra::transposed_times(a.values(), b.values(), a.shape()[0], rank, others);
        fits.iter_mut().zip(cosines).for_each(|(fit, cosine)| *fit *= cosine.abs());
    }
    if weight_penalty {
        for (place, fit) in fits.iter_mut().enumerate() {
            let (one, other) = (a.weights()[place / others], b.weights()[place % others]);
            let larger = one.max(other);
            *fit *= if larger > 0.0 { 1.0 - (one - other).abs() / larger } else { 1.0 };
        }
    }
    fits
}
