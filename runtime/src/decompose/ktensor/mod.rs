//! K-tensors: the models of the CP decomposition.
//!
//! | file | what is in it |
//! |---|---|
//! | `arrange` | components: normalised, in order, with signs, joined |
//! | `score` | how well two models match |

mod arrange;
mod score;

pub use arrange::Norm;
pub use score::Score;

use super::against::{Against, dense, finite_matrix, room, same_shape};
use super::entries::{largest, scale_of};
use super::{DecomposeError, Factor, algebra, show};
use crate::memory;
use crate::tensor::{AnyTensor, InvalidTensor};
use std::fmt;

/// A sum of rank-1 tensors: Σᵣ λ(r) · A₁(:, r) ∘ A₂(:, r) ∘ … (Kolda and Bader, Tensor Decompositions and Applications, 2009,
/// section 3). Weights λ have a place for each component; factor n is a matrix of extent n × components. All are finite numbers.
///
/// ```
/// use spc::decompose::{Factor, KTensor, Norm};
/// use spc::tensor::{Csf, Tensor};
///
/// let a = Factor::from_vec([2, 1], vec![3.0, 4.0])?;
/// let b = Factor::from_vec([3, 1], vec![0.0, 1.0, 0.0])?;
/// let c = Factor::from_vec([2, 1], vec![0.0, 2.0])?;
/// let mut model = KTensor::new(vec![1.0], vec![a, b, c])?;
/// assert_eq!((model.shape(), model.rank()), (vec![2, 3, 2], 1));
/// assert_eq!(model.get(&[1, 1, 1]), Some(8.0));
///
/// let x = Tensor::<f64, Csf<3>>::from_entries([2, 3, 2], [([0, 1, 1], 6.0), ([1, 1, 1], 8.0)])?;
/// assert_eq!(model.inner(x.as_any())?, 100.0);
/// assert_eq!(model.fit(x.as_any())?, 1.0);
///
/// model.normalise(Norm::Two);
/// assert_eq!(model.weights(), [10.0]);
/// assert_eq!(model.norm(), 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct KTensor {
    weights: Vec<f64>,
    factors: Vec<Factor>,
}

impl KTensor {
    /// A K-tensor of its parts.
    ///
    /// # Errors
    /// When a factor has not one column for each weight, there is no factor, or a number is not finite.
    pub fn new(weights: Vec<f64>, factors: Vec<Factor>) -> Result<Self, DecomposeError> {
        if factors.is_empty() {
            return Err(DecomposeError::Model("a K-tensor has at least one factor".to_owned()));
        }
        if let Some(component) = weights.iter().position(|weight| !weight.is_finite()) {
            let (number, value) = (component + 1, weights[component]);
            let message = format!("the weight of component {number} is {value}: models have finite numbers");
            return Err(DecomposeError::Model(message));
        }
        for (mode, factor) in factors.iter().enumerate() {
            if factor.shape()[1] != weights.len() {
                let (mode, found, rank) = (mode + 1, factor.shape()[1], weights.len());
                let message = format!("the factor of mode {mode} has {found} columns, but there are {rank} weights");
                return Err(DecomposeError::Model(message));
            }
            finite_matrix(factor, mode)?;
        }
        Ok(Self { weights, factors })
    }

    /// The same of parts that belong together, whose numbers may not be finite.
    pub(super) fn unchecked(weights: Vec<f64>, factors: Vec<Factor>) -> Self {
        Self { weights, factors }
    }

    /// Whether all numbers are finite.
    pub(super) fn is_finite(&self) -> bool {
        let factors = self.factors.iter().flat_map(|factor| factor.values());
        self.weights.iter().chain(factors).all(|number| number.is_finite())
    }

    /// λ.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// A matrix for each mode.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The weights, and a matrix for each mode.
    pub fn into_parts(self) -> (Vec<f64>, Vec<Factor>) {
        (self.weights, self.factors)
    }

    /// The number of components.
    pub fn rank(&self) -> usize {
        self.weights.len()
    }

    /// The extent of each mode.
    pub fn shape(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.shape()[0]).collect()
    }

    /// The Frobenius norm, of Grams of factors: a number of operations in the order of the factors' elements times the rank.
    pub fn norm(&self) -> f64 {
        let scale = self.scale();
        self.products(self, [scale, scale]).abs().sqrt() / scale
    }

    /// The power of two that brings the largest weight to between 1 and 2, so that no square leaves the range of `f64`.
    fn scale(&self) -> f64 {
        scale_of(largest(self.weights.iter().copied()))
    }

    /// The inner product with another K-tensor of the same shape, of products of factors.
    ///
    /// # Errors
    /// When the shapes differ.
    pub fn inner_k(&self, other: &KTensor) -> Result<f64, DecomposeError> {
        same_shape(&self.shape(), &other.shape())?;
        let scales = [self.scale(), other.scale()];
        Ok(scales.iter().fold(self.products(other, scales), |product, scale| product / scale))
    }

    /// λᵀ (A₁ᵀB₁ * A₂ᵀB₂ * …) μ, with a model of the same shape, times two numbers: of the weights of both.
    fn products(&self, other: &KTensor, [own, others]: [f64; 2]) -> f64 {
        let (rank, ranks) = (self.rank(), other.rank());
        let weight = |place: usize| (self.weights[place / ranks] * own) * (other.weights[place % ranks] * others);
        let mut products: Vec<f64> = (0..rank * ranks).map(weight).collect();
        for (a, b) in self.factors.iter().zip(&other.factors) {
            let gram = algebra::transposed_times(a.values(), b.values(), a.shape()[0], rank, ranks);
            products.iter_mut().zip(gram).for_each(|(product, gram)| *product *= gram);
        }
        products.iter().sum()
    }

    /// The inner product with a tensor of any format and any real element type: a visit of each stored entry, on one thread.
    ///
    /// # Errors
    /// When the shapes differ, or the tensor has entries that are complex or not finite, or absent entries that are not zero.
    pub fn inner(&self, x: &AnyTensor) -> Result<f64, DecomposeError> {
        Ok(self.against(x)?.inner())
    }

    /// ‖X - M‖, of norms and the inner product. Rounding leaves no less than about 1e-8 of ‖X‖ of a difference that is smaller.
    ///
    /// # Errors
    /// As [`inner`](Self::inner).
    pub fn residual(&self, x: &AnyTensor) -> Result<f64, DecomposeError> {
        Ok(self.against(x)?.residual(self.norm()))
    }

    /// The part of the tensor's norm that the model explains: 1 - ‖X - M‖ / ‖X‖. Of a tensor of zeros that is 1 where the model is zero too, else
    /// negative infinity.
    ///
    /// # Errors
    /// As [`inner`](Self::inner).
    pub fn fit(&self, x: &AnyTensor) -> Result<f64, DecomposeError> {
        Ok(self.against(x)?.fit(self.norm()))
    }

    fn against(&self, x: &AnyTensor) -> Result<Against, DecomposeError> {
        let mut products = vec![0.0; self.rank()];
        Against::of(x, &self.shape(), &mut |index| self.at(index, &mut products))
    }

    /// The element at an index within the shape, with room for a number for each component.
    fn at(&self, index: &[usize], products: &mut [f64]) -> f64 {
        let rank = self.rank();
        products.copy_from_slice(&self.weights);
        for (factor, &row) in self.factors.iter().zip(index) {
            let row = &factor.values()[row * rank..(row + 1) * rank];
            products.iter_mut().zip(row).for_each(|(product, value)| *product *= value);
        }
        products.iter().sum()
    }

    /// The element at an index; `None` for one of another number of modes, or beyond the shape.
    pub fn get(&self, index: &[usize]) -> Option<f64> {
        let mut extents = self.factors.iter().map(|factor| factor.shape()[0]);
        let is_inside =
            index.len() == self.factors.len() && index.iter().all(|&place| extents.next().is_some_and(|e| place < e));
        is_inside.then(|| self.at(index, &mut vec![0.0; self.rank()]))
    }

    /// All elements, as a dense tensor.
    ///
    /// # Errors
    /// When they do not fit into memory.
    pub fn to_dense(&self) -> Result<AnyTensor, DecomposeError> {
        let shape = self.shape();
        let mut values = room(&shape)?;
        let half = self.middle(&shape);
        let rank = self.rank();
        let left = self.khatri_rao(0..half, Some(&self.weights))?;
        let right = self.khatri_rao(half..shape.len(), None)?;
        algebra::times_transposed_into(&left, &right, rank, &mut values);
        dense(shape, values)
    }

    /// Before which mode to part the modes, such that the products of the extents of both parts are least together.
    fn middle(&self, shape: &[usize]) -> usize {
        let size = |shape: &[usize]| shape.iter().map(|&extent| extent as f64).product::<f64>();
        let together = |&at: &usize| size(&shape[..at]) + size(&shape[at..]);
        (0..=shape.len()).min_by(|a, b| together(a).total_cmp(&together(b))).unwrap_or(0)
    }

    /// The Khatri-Rao product of the factors of some modes, the last mode fastest: a row for each index, a column for each component.
    fn khatri_rao(&self, modes: std::ops::Range<usize>, weights: Option<&[f64]>) -> Result<Vec<f64>, DecomposeError> {
        let rank = self.rank();
        let mut product: Vec<f64> = weights.map_or_else(|| vec![1.0; rank], <[f64]>::to_vec);
        for factor in &self.factors[modes] {
            let rows = product.len().checked_div(rank).unwrap_or(0);
            let count = rows.saturating_mul(factor.values().len());
            let mut larger = memory::try_room(count).map_err(InvalidTensor::Memory)?;
            for before in product.chunks_exact(rank.max(1)) {
                for row in factor.values().chunks_exact(rank.max(1)) {
                    larger.extend(before.iter().zip(row).map(|(a, b)| a * b));
                }
            }
            product = larger;
        }
        Ok(product)
    }
}

impl fmt::Display for KTensor {
    /// The shape, the rank, the weights, and each factor as a table; of a large one the first rows and columns.
    ///
    /// ```
    /// use spc::decompose::{Factor, KTensor};
    ///
    /// let a = Factor::from_vec([2, 2], vec![1.0, 0.5, -2.0, 0.0])?;
    /// let b = Factor::from_vec([1, 2], vec![1.0, 1.0 / 3.0])?;
    /// let model = KTensor::new(vec![2.0, 1.0], vec![a, b])?;
    /// assert_eq!(model.to_string(), "\
    /// K-tensor 2 × 1, 2 components
    /// weights
    /// 2  1
    /// factor 1, 2 × 2
    /// 1   0.5
    /// -2  0
    /// factor 2, 1 × 2
    /// 1  0.333333");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, plural) = (self.rank(), if self.rank() == 1 { "component" } else { "components" });
        write!(f, "K-tensor {}, {rank} {plural}\nweights", show::shape(&self.shape()))?;
        show::matrix(f, &self.weights, 1, rank)?;
        show::factors(f, &self.factors)
    }
}

#[cfg(test)]
pub(super) mod tests;
