//! Components: normalised, in order, with signs, joined.

use super::{DecomposeError, Factor, KTensor};
use crate::decompose::against::same_shape;

/// By what columns of factors are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Norm {
    /// The 2-norm.
    #[default]
    Two,
    /// The largest absolute value.
    Max,
    /// The sum of absolute values.
    One,
}

impl Norm {
    /// The norm of a vector; its squares are within range.
    fn of(self, values: impl Iterator<Item = f64> + Clone) -> f64 {
        let largest = values.clone().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        match self {
            Norm::Max => largest,
            Norm::One => values.map(f64::abs).sum(),
            Norm::Two if (1e-140..1e140).contains(&largest) => values.map(|value| value * value).sum::<f64>().sqrt(),
            Norm::Two if largest == 0.0 => 0.0,
            Norm::Two => largest * values.map(|value| (value / largest).powi(2)).sum::<f64>().sqrt(),
        }
    }
}

impl KTensor {
    /// Divides each column of each factor by its norm, which the weights take. Weights are not negative then: the sign goes into the first
    /// factor. A component with a column of zeros has the weight 0.
    pub fn normalise(&mut self, by: Norm) {
        let rank = self.rank();
        for factor in &mut self.factors {
            let column = |component: usize| factor.values()[component..].iter().step_by(rank).copied();
            // What is empty has no columns to look at.
            let norms: Vec<f64> = match factor.shape()[0] {
                0 => vec![0.0; rank],
                _ => (0..rank).map(|component| by.of(column(component))).collect(),
            };
            let inverse: Vec<f64> = norms.iter().map(|&norm| if norm > 0.0 { norm } else { 1.0 }).collect();
            for row in factor.values_mut().chunks_exact_mut(rank.max(1)) {
                row.iter_mut().zip(&inverse).for_each(|(value, norm)| *value /= norm);
            }
            self.weights.iter_mut().zip(&norms).for_each(|(weight, norm)| *weight *= norm);
        }
        for component in 0..rank {
            if self.weights[component] < 0.0 {
                self.weights[component] *= -1.0;
                flip(&mut self.factors[0], component);
            }
        }
    }

    /// Puts components in order, from the largest weight by absolute value; those that are equal stay as they are. Normalise the model first, or
    /// weights do not tell how large components are.
    pub fn arrange(&mut self) {
        let mut order: Vec<usize> = (0..self.rank()).collect();
        order.sort_by(|&a, &b| self.weights[b].abs().total_cmp(&self.weights[a].abs()));
        self.take(&order);
    }

    /// Puts components in another order: component `r` of the result is `order[r]`.
    ///
    /// # Errors
    /// When the order does not have each component once.
    pub fn arrange_by(&mut self, order: &[usize]) -> Result<(), DecomposeError> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.rank()) {
            let rank = self.rank();
            let message = format!("{order:?} is no order of {rank} components: name each of 0..{rank} once");
            return Err(DecomposeError::Model(message));
        }
        self.take(order);
        Ok(())
    }

    /// The components of these numbers, from 0.
    ///
    /// # Errors
    /// When there is no such component.
    pub fn components(&self, numbers: &[usize]) -> Result<Self, DecomposeError> {
        if let Some(beyond) = numbers.iter().find(|&&number| number >= self.rank()) {
            let message = format!("there is no component {beyond}: there are {}, counted from 0", self.rank());
            return Err(DecomposeError::Model(message));
        }
        let mut part = self.clone();
        part.take(numbers);
        Ok(part)
    }

    /// Keeps these components, in this order.
    pub(super) fn take(&mut self, numbers: &[usize]) {
        let rank = self.rank();
        self.weights = numbers.iter().map(|&number| self.weights[number]).collect();
        for factor in &mut self.factors {
            let rows = factor.shape()[0];
            let values = factor.values();
            let taken = (0..rows).flat_map(|row| numbers.iter().map(move |&number| values[row * rank + number]));
            *factor = matrix(rows, numbers.len(), taken.collect());
        }
    }

    /// Makes the largest element of each column positive, by flips of the signs of two columns of a component at a time, from the first mode on.
    /// Of an odd number of columns with a negative one, the last stays so, as in the Tensor Toolbox.
    pub fn fix_signs(&mut self) {
        let rank = self.rank();
        for component in 0..rank {
            let is_negative = |factor: &Factor| {
                let column = factor.values().iter().skip(component).step_by(rank);
                let largest = column.fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a });
                largest < 0.0
            };
            let negative: Vec<usize> =
                (0..self.factors.len()).filter(|&mode| is_negative(&self.factors[mode])).collect();
            let pairs = negative.len() / 2 * 2;
            negative[..pairs].iter().for_each(|&mode| flip(&mut self.factors[mode], component));
        }
    }

    /// Multiplies the weights by a number.
    pub(in crate::decompose) fn multiply(&mut self, by: f64) {
        self.weights.iter_mut().for_each(|weight| *weight *= by);
    }

    /// The model times a number.
    ///
    /// # Errors
    /// When a weight is not finite then.
    pub fn scaled(mut self, by: f64) -> Result<Self, DecomposeError> {
        self.multiply(by);
        Self::new(self.weights, self.factors)
    }

    /// The sum with another model of the same shape: its components behind these.
    ///
    /// # Errors
    /// When the shapes differ.
    pub fn join(&self, other: &KTensor) -> Result<Self, DecomposeError> {
        same_shape(&self.shape(), &other.shape())?;
        let (rank, more) = (self.rank(), other.rank());
        let factors = self.factors.iter().zip(&other.factors).map(|(a, b)| {
            let rows = a.shape()[0];
            let mut values = Vec::with_capacity(rows * (rank + more));
            for row in 0..rows {
                values.extend(&a.values()[row * rank..(row + 1) * rank]);
                values.extend(&b.values()[row * more..(row + 1) * more]);
            }
            matrix(rows, rank + more, values)
        });
        let factors = factors.collect();
        Ok(Self { weights: [&self.weights[..], &other.weights].concat(), factors })
    }

    /// The sum with λ · a ∘ b ∘ …, of a vector for each mode.
    ///
    /// # Errors
    /// When the vectors are not as long as the modes, or a number is not finite.
    pub fn with_component(&self, weight: f64, vectors: &[Vec<f64>]) -> Result<Self, DecomposeError> {
        let factors = vectors.iter().map(|vector| matrix(vector.len(), 1, vector.clone())).collect();
        self.join(&KTensor::new(vec![weight], factors)?)
    }
}

fn flip(factor: &mut Factor, component: usize) {
    let rank = factor.shape()[1];
    factor.values_mut().iter_mut().skip(component).step_by(rank).for_each(|value| *value = -*value);
}

/// A factor of as many values as the shape has.
fn matrix(rows: usize, columns: usize, values: Vec<f64>) -> Factor {
    Factor::from_vec([rows, columns], values).expect("there is a value for each place")
}
