//! Tucker tensors: the models of the Tucker decomposition.

use super::against::{Against, dense, finite_matrix, room};
use super::entries::{largest, scale_of};
use super::{DecomposeError, Factor, algebra, show};
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;
use std::fmt;

/// A core, a matrix for each mode: G ×₁ U₁ ×₂ U₂ … (Kolda and Bader, Tensor Decompositions and Applications, 2009, section 4). All are
/// finite numbers.
///
/// ```
/// use spc::decompose::{Factor, TuckerTensor};
/// use spc::tensor::{Csf, Dense, Tensor};
///
/// let core = Tensor::<f64, Dense<3>>::from_vec([1, 1, 1], vec![10.0])?.into_any();
/// let a = Factor::from_vec([2, 1], vec![0.6, 0.8])?;
/// let b = Factor::from_vec([3, 1], vec![0.0, 1.0, 0.0])?;
/// let c = Factor::from_vec([2, 1], vec![0.0, 1.0])?;
/// let model = TuckerTensor::new(core, vec![a, b, c])?;
/// assert_eq!((model.shape(), model.ranks()), (vec![2, 3, 2], vec![1, 1, 1]));
/// assert!(model.is_orthonormal(1e-15));
/// assert_eq!(model.get(&[1, 1, 1]), Some(8.0));
///
/// let x = Tensor::<f64, Csf<3>>::from_entries([2, 3, 2], [([0, 1, 1], 6.0), ([1, 1, 1], 8.0)])?;
/// assert_eq!(model.inner(x.as_any())?, 100.0);
/// assert_eq!(model.fit(x.as_any())?, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TuckerTensor {
    core: AnyTensor,
    factors: Vec<Factor>,
}

impl TuckerTensor {
    /// A Tucker tensor of its parts: the core is dense, of elements `f64`, the last mode fastest.
    ///
    /// # Errors
    /// When the core is another tensor, its shape is not the number of columns of each factor, there is no factor, or a number is not finite.
    pub fn new(core: AnyTensor, factors: Vec<Factor>) -> Result<Self, DecomposeError> {
        let refuse = |message: String| Err(DecomposeError::Model(message));
        if factors.is_empty() {
            return refuse("a Tucker tensor has at least one factor".to_owned());
        }
        let columns: Vec<usize> = factors.iter().map(|factor| factor.shape()[1]).collect();
        if core.shape() != columns {
            let (core, columns) = (show::shape(core.shape()), show::shape(&columns));
            return refuse(format!("a core of shape {core} does not fit factors of {columns} columns"));
        }
        if *core.format() != Format::dense(core.order()) || core.values_of::<f64>().is_none() {
            let (format, element) = (core.format(), core.element().name());
            let message =
                format!("the core is {element} {format}: convert it to dense elements f64 in the order of the modes");
            return refuse(message);
        }
        if let Some(place) = core.values_of::<f64>().unwrap_or_default().iter().position(|value| !value.is_finite()) {
            let value = core.values().get_f64(place);
            return refuse(format!("element {} of the core is {value}: models have finite numbers", place + 1));
        }
        factors.iter().enumerate().try_for_each(|(mode, factor)| finite_matrix(factor, mode))?;
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

    /// The core, and a matrix for each mode.
    pub fn into_parts(self) -> (AnyTensor, Vec<Factor>) {
        (self.core, self.factors)
    }

    /// The extent of each mode.
    pub fn shape(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.shape()[0]).collect()
    }

    /// The extents of the core.
    pub fn ranks(&self) -> Vec<usize> {
        self.core.shape().to_vec()
    }

    fn elements(&self) -> &[f64] {
        self.core.values_of().unwrap_or_default()
    }

    /// UᵀU of a factor.
    fn gram(factor: &Factor) -> Vec<f64> {
        let [rows, columns] = [factor.shape()[0], factor.shape()[1]];
        algebra::transposed_times(factor.values(), factor.values(), rows, columns, columns)
    }

    /// Whether the columns of each factor are orthonormal: no element of UᵀU differs by more than `tolerance` from the identity's.
    pub fn is_orthonormal(&self, tolerance: f64) -> bool {
        self.factors.iter().all(|factor| {
            let columns = factor.shape()[1];
            let near = |(place, value): (usize, f64)| {
                let identity = if place % (columns + 1) == 0 { 1.0 } else { 0.0 };
                (value - identity).abs() <= tolerance
            };
            Self::gram(factor).into_iter().enumerate().all(near)
        })
    }

    /// The Frobenius norm, of the core and the Grams of the factors; where factors are orthonormal, it is the core's.
    pub fn norm(&self) -> f64 {
        let scale = scale_of(largest(self.elements().iter().copied()));
        let mut shape = self.ranks();
        let mut product: Vec<f64> = self.elements().iter().map(|element| element * scale).collect();
        for (mode, factor) in self.factors.iter().enumerate() {
            product = mode_product(&product, &mut shape, mode, &Self::gram(factor), factor.shape()[1]);
        }
        product.iter().zip(self.elements()).map(|(a, b)| a * (b * scale)).sum::<f64>().abs().sqrt() / scale
    }

    /// The inner product with a tensor of any format and any real element type: a visit of each stored entry, on one thread, that contracts the
    /// core only with what has changed since the entry before.
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
        let mut elements = Contracted::new(self);
        Against::of(x, &self.shape(), &mut |index| elements.at(index))
    }

    /// The element at an index; `None` for one of another number of modes, or beyond the shape.
    pub fn get(&self, index: &[usize]) -> Option<f64> {
        let mut extents = self.factors.iter().map(|factor| factor.shape()[0]);
        let is_inside =
            index.len() == self.factors.len() && index.iter().all(|&place| extents.next().is_some_and(|e| place < e));
        is_inside.then(|| Contracted::new(self).at(index))
    }

    /// All elements, as a dense tensor.
    ///
    /// # Errors
    /// When they do not fit into memory.
    pub fn to_dense(&self) -> Result<AnyTensor, DecomposeError> {
        drop(room(&self.shape())?);
        let mut shape = self.ranks();
        let mut product = self.elements().to_vec();
        for (mode, factor) in self.factors.iter().enumerate() {
            product = mode_product(&product, &mut shape, mode, factor.values(), factor.shape()[0]);
        }
        dense(shape, product)
    }
}

/// A dense tensor times a matrix of `rows` × the extent of a mode, in this mode, whose extent is `rows` then.
fn mode_product(tensor: &[f64], shape: &mut [usize], mode: usize, matrix: &[f64], rows: usize) -> Vec<f64> {
    let [before, extent, behind] =
        [shape[..mode].iter().product::<usize>(), shape[mode], shape[mode + 1..].iter().product()];
    let mut product = Vec::with_capacity(before * rows * behind);
    for part in 0..before {
        let part = &tensor[part * extent * behind..(part + 1) * extent * behind];
        product.extend(algebra::times(matrix, part, rows, extent, behind));
    }
    shape[mode] = rows;
    product
}

/// The core times rows of the first factors, of one more from part to part; the last part is one element.
struct Contracted<'a> {
    model: &'a TuckerTensor,
    index: Vec<usize>,
    parts: Vec<Vec<f64>>,
}

impl<'a> Contracted<'a> {
    fn new(model: &'a TuckerTensor) -> Self {
        let ranks = model.core.shape();
        let parts = (0..ranks.len()).map(|mode| vec![0.0; ranks[mode + 1..].iter().product()]).collect();
        Self { model, index: vec![usize::MAX; ranks.len()], parts }
    }

    /// The element at an index within the shape.
    fn at(&mut self, index: &[usize]) -> f64 {
        let same = self.index.iter().zip(index).take_while(|(a, b)| a == b).count();
        for (mode, &place) in index.iter().enumerate().skip(same) {
            let factor = &self.model.factors[mode];
            let columns = factor.shape()[1];
            let row = &factor.values()[place * columns..(place + 1) * columns];
            let (done, rest) = self.parts.split_at_mut(mode);
            let whole = done.last().map_or(self.model.elements(), Vec::as_slice);
            let part = &mut rest[0];
            part.fill(0.0);
            for (slice, value) in whole.chunks_exact(part.len().max(1)).zip(row) {
                part.iter_mut().zip(slice).for_each(|(sum, element)| *sum += value * element);
            }
        }
        self.index.copy_from_slice(index);
        self.parts.last().map_or(0.0, |last| last[0])
    }
}

impl fmt::Display for TuckerTensor {
    /// The shape, the core's shape, the core as a table (its first entries, of one that is larger or of more than two modes), and each factor as
    /// a table; of a large one the first rows and columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranks = self.core.shape();
        write!(f, "Tucker tensor {}, core {}", show::shape(&self.shape()), show::shape(ranks))?;
        match *ranks {
            [rows, columns] => show::matrix(f, self.elements(), rows, columns)?,
            _ => show::entries(f, self.elements(), ranks)?,
        }
        show::factors(f, &self.factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{Dense, Tensor};

    fn factor(rows: usize, columns: usize, seed: usize) -> Factor {
        Factor::from_fn([rows, columns], |index| ((seed + 7 * index[0] + 3 * index[1]) % 11) as f64 / 4.0 - 1.0)
            .unwrap()
    }

    fn core(shape: [usize; 3]) -> AnyTensor {
        let element = |index: &[usize]| ((5 * index[0] + 3 * index[1] + index[2]) % 7) as f64 - 2.5;
        Tensor::<f64, Dense<3>>::from_fn(shape, element).unwrap().into_any()
    }

    fn example() -> TuckerTensor {
        TuckerTensor::new(core([2, 3, 2]), vec![factor(4, 2, 0), factor(3, 3, 1), factor(5, 2, 2)]).unwrap()
    }

    /// `np.einsum('abc,ia,jb,kc', core, *factors)` and its `np.linalg.norm`, with `core[a,b,c] = (5*a+3*b+c) % 7 - 2.5` and factors of seeds
    /// `s` = 0, 1, 2, `U[i,a] = (s+7*i+3*a) % 11 / 4 - 1`.
    #[test]
    fn elements_and_norm_are_those_of_numpy() {
        const NORM: f64 = 35.10299264697296;
        const ELEMENTS: [([usize; 3], f64); 3] = [([0, 0, 0], 2.390625), ([1, 2, 3], -4.4296875), ([3, 1, 4], -2.375)];
        let model = example();
        assert!((model.norm() - NORM).abs() < 1e-12, "{}", model.norm());
        let dense = model.to_dense().unwrap();
        assert_eq!(dense.shape(), [4, 3, 5]);
        for (index, value) in ELEMENTS {
            assert!((dense.get::<f64>(&index).unwrap().unwrap() - value).abs() < 1e-12);
            assert!((model.get(&index).unwrap() - value).abs() < 1e-12);
        }
        dense.for_each_entry::<f64>(|index, value| assert!((model.get(index).unwrap() - value).abs() < 1e-12)).unwrap();
        assert_eq!((model.get(&[4, 0, 0]), model.get(&[0, 0])), (None, None));
        // The model is the tensor itself.
        assert!((model.inner(&dense).unwrap() - NORM * NORM).abs() < 1e-10);
        assert!(model.fit(&dense).unwrap() > 1.0 - 1e-7);
        assert!(model.residual(&dense).unwrap() < 1e-6);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let message = |result: Result<TuckerTensor, DecomposeError>| result.unwrap_err().to_string();
        let factors = || vec![factor(4, 2, 0), factor(3, 3, 1), factor(5, 2, 2)];
        assert_eq!(
            message(TuckerTensor::new(core([2, 2, 2]), factors())),
            "a core of shape 2 × 2 × 2 does not fit factors of 2 × 3 × 2 columns"
        );
        let sparse = core([2, 3, 2]).convert(&Format::csf(3)).unwrap();
        assert!(message(TuckerTensor::new(sparse, factors())).starts_with("the core is f64 [compressed"));
        let mut infinite = core([2, 3, 2]);
        infinite.values_mut::<f64>().unwrap()[4] = f64::INFINITY;
        let error = message(TuckerTensor::new(infinite, factors()));
        assert_eq!(error, "element 5 of the core is inf: models have finite numbers");
        assert!(!example().is_orthonormal(0.1));
        let error = example().inner(&core([4, 3, 2])).unwrap_err().to_string();
        assert_eq!(error, "the model has shape 4 × 3 × 5, but what it is compared with has 4 × 3 × 2");
    }

    #[test]
    fn small_models_are_shown_in_full() {
        let core = Tensor::<f64, Dense<2>>::from_vec([1, 2], vec![0.5, -2.0]).unwrap().into_any();
        let model = TuckerTensor::new(core, vec![factor(2, 1, 0), factor(1, 2, 0)]).unwrap();
        assert_eq!(
            model.to_string(),
            "Tucker tensor 2 × 1, core 1 × 2\n0.5  -2\nfactor 1, 2 × 1\n-1\n0.75\nfactor 2, 1 × 2\n-1  -0.25"
        );
        let text = example().to_string();
        assert!(text.starts_with("Tucker tensor 4 × 3 × 5, core 2 × 3 × 2\n(0, 0, 0) -2.5\n"), "{text}");
        assert!(text.contains("\n(1, 0, 1) 3.5\n… 4 more\nfactor 1, 4 × 2\n"), "{text}");
    }
}
