//! Stochastic Kronecker tensors.

use super::distinct::distinct;
use super::error::{GenerateError, InvalidInitiator, MOST_WEIGHTS};
use super::random::{Sequence, mix};
use crate::tensor::Coordinates;

/// The weights of a small tensor: how the entries of a [`kronecker`] tensor are spread over its blocks, over the blocks of
/// these, and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Initiator {
    shape: Vec<usize>,
    weights: Vec<f64>,
}

/// How often an entry beyond the shape is drawn again.
const ATTEMPTS: usize = 1 << 12;

impl Initiator {
    /// Weights, row-major; only their ratios matter.
    ///
    /// # Errors
    /// When they are not as many as the shape says, are no weights, or a mode has fewer than two indices.
    pub fn new(shape: Vec<usize>, weights: Vec<f64>) -> Result<Self, InvalidInitiator> {
        let expected = shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
        let expected = expected.filter(|&count| count <= MOST_WEIGHTS).ok_or(InvalidInitiator::Large)?;
        if shape.iter().any(|&extent| extent < 2) {
            return Err(InvalidInitiator::Extent { shape });
        }
        if expected != weights.len() {
            return Err(InvalidInitiator::Count { found: weights.len(), expected, shape });
        }
        let total: f64 = weights.iter().sum();
        let are_weights = weights.iter().all(|&weight| weight >= 0.0) && total > 0.0 && total.is_finite();
        if are_weights { Ok(Self { shape, weights }) } else { Err(InvalidInitiator::Weights) }
    }

    /// Two indices a mode; a weight falls to a third with each second index that it is at. For matrices that is within half a
    /// percent of the Graph 500 benchmark's (0.57, 0.19; 0.19, 0.05).
    pub fn usual(order: usize) -> Self {
        let weight = |cell: usize| (0..cell.count_ones()).fold(1.0, |weight: f64, _| weight / 3.0);
        Self { shape: vec![2; order], weights: (0..1usize << order.min(10)).map(weight).collect() }
    }

    /// The extent of each mode.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// For each cell but the last, the part of 2^32 that falls on it and those before it.
    fn thresholds(&self) -> Vec<u32> {
        let total: f64 = self.weights.iter().sum();
        let mut before = 0.0;
        let up_to = |weight: &f64| {
            before += weight;
            // The largest is beyond what 32 bits can hold, and then it is cut off.
            (before / total * 4_294_967_296.0) as u32
        };
        let mut thresholds: Vec<u32> = self.weights.iter().map(up_to).collect();
        thresholds.pop();
        thresholds
    }

    /// The index of a cell in each mode.
    fn digits(&self, mut cell: usize) -> Vec<u64> {
        let mut digits: Vec<u64> = self
            .shape
            .iter()
            .rev()
            .map(|&extent| {
                let digit = cell % extent;
                cell /= extent;
                digit as u64
            })
            .collect();
        digits.reverse();
        digits
    }
}

/// `nnz` entries of distinct indices, drawn from a Kronecker power of an initiator: a cell of the initiator chooses the block
/// of the tensor in which an entry lies, another the block of that block, until blocks are single places (Leskovec,
/// Chakrabarti, Kleinberg, Faloutsos, Ghahramani, *Kronecker graphs: an approach to modeling networks*, 2010, section 3; as
/// the *regular* tensors of Li, Lakshminarasimhan, Wu, Li, Barker, *A Parallel Sparse Tensor Benchmark Suite on CPUs and
/// GPUs*, 2020). Repeated entries are drawn again.
///
/// The power is the least that covers the longest mode, and what lies beyond the shape is drawn again. A mode that a smaller
/// power covers takes part in the last choices only, so that its indices too are spread as the initiator says.
///
/// ```
/// use spc::generate::{self, Initiator};
///
/// let initiator = Initiator::new(vec![2, 2], vec![0.57, 0.19, 0.19, 0.05])?;
/// let entries = generate::kronecker(&[1000, 1000], 5000, &initiator, 1)?;
/// assert_eq!(entries.values.len(), 5000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the initiator has another order, the shape has fewer places, or too few of them are likely to be drawn.
pub fn kronecker(
    shape: &[usize],
    nnz: usize,
    initiator: &Initiator,
    seed: u64,
) -> Result<Coordinates<f64>, GenerateError> {
    if initiator.shape.len() != shape.len() {
        let (order, found) = (shape.len(), initiator.shape.len());
        return Err(GenerateError::Order { order, what: "the number of the initiator's modes is", found });
    }
    let stream = |number: u64| mix(seed ^ mix(0x6B72 ^ number));
    let choices = Choices::new(shape, initiator);
    let places = stream(0);
    distinct(shape, nnz, stream(1), &|number, indices| choices.draw(Sequence::of(places, number), indices))
}

/// What entries are drawn from.
struct Choices {
    shape: Vec<u64>,
    thresholds: Vec<u32>,
    /// The index of each cell in each mode, a cell after the other.
    digits: Vec<u64>,
    bases: Vec<u64>,
    /// How many choices each mode takes part in.
    powers: Vec<u32>,
}

impl Choices {
    fn new(shape: &[usize], initiator: &Initiator) -> Self {
        let power = |(&extent, &base): (&usize, &usize)| {
            (0..).find(|&power| (base as u128).pow(power) >= extent as u128).unwrap_or(0)
        };
        Self {
            shape: shape.iter().map(|&extent| extent as u64).collect(),
            thresholds: initiator.thresholds(),
            digits: (0..initiator.weights.len()).flat_map(|cell| initiator.digits(cell)).collect(),
            bases: initiator.shape.iter().map(|&extent| extent as u64).collect(),
            powers: shape.iter().zip(&initiator.shape).map(power).collect(),
        }
    }

    /// Draws an entry until one is inside of the shape; gives whether one was.
    fn draw(&self, mut random: Sequence, indices: &mut [u64]) -> bool {
        (0..ATTEMPTS).any(|_| {
            self.draw_once(&mut random, indices);
            indices.iter().zip(&self.shape).all(|(index, extent)| index < extent)
        })
    }

    fn draw_once(&self, random: &mut Sequence, indices: &mut [u64]) {
        indices.fill(0);
        let most = self.powers.iter().copied().max().unwrap_or(0);
        let mut bits = 0;
        for choice in 0..most {
            // Each number is good for two choices.
            bits = if choice % 2 == 0 { random.next() } else { bits >> 32 };
            let cell = self.thresholds.iter().filter(|&&threshold| bits as u32 >= threshold).count();
            let digits = &self.digits[cell * indices.len()..][..indices.len()];
            for (mode, index) in indices.iter_mut().enumerate() {
                if most - choice <= self.powers[mode] {
                    *index = *index * self.bases[mode] + digits[mode];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Indices;

    fn column(entries: &Coordinates<f64>, mode: usize) -> &[u32] {
        match &entries.indices[mode] {
            Indices::U32(indices) => indices,
            Indices::U64(_) => panic!("the extent fits 32 bits"),
        }
    }

    #[test]
    fn blocks_get_the_parts_that_the_initiator_says() {
        let initiator = Initiator::new(vec![2, 2], vec![4.0, 2.0, 1.0, 1.0]).unwrap();
        let entries = kronecker(&[1 << 14, 1 << 14], 40_000, &initiator, 5).unwrap();
        // The highest bits choose a block, the next ones a block of that.
        for shift in [13, 12] {
            let mut counts = [0; 4];
            for (i, j) in column(&entries, 0).iter().zip(column(&entries, 1)) {
                counts[(2 * (i >> shift & 1) + (j >> shift & 1)) as usize] += 1;
            }
            for (found, part) in counts.into_iter().zip([0.5, 0.25, 0.125, 0.125]) {
                assert!((f64::from(found) / 40_000.0 - part).abs() < 0.015, "{counts:?}");
            }
        }
    }

    #[test]
    fn short_modes_and_odd_extents_are_covered() {
        let entries = kronecker(&[3000, 1000, 76], 30_000, &Initiator::usual(3), 1).unwrap();
        assert_eq!(entries.values.len(), 30_000);
        for (mode, extent) in [3000, 1000, 76].into_iter().enumerate() {
            let indices = column(&entries, mode);
            assert!(indices.iter().all(|&index| index < extent));
            assert!(indices.iter().any(|&index| index > extent * 9 / 10), "mode {mode}");
            let low = indices.iter().filter(|&&index| index < extent / 2).count();
            assert!(low > 20_000, "mode {mode} has {low} in its lower half");
        }
        let thirds = Initiator::new(vec![3, 2], vec![3.0, 1.0, 1.0, 1.0, 1.0, 0.0]).unwrap();
        assert_eq!(kronecker(&[100, 40], 500, &thirds, 1).unwrap().values.len(), 500);
    }

    #[test]
    fn a_uniform_initiator_fills_a_small_tensor() {
        for order in 1..=5 {
            let initiator = Initiator::new(vec![2; order], vec![1.0; 1 << order]).unwrap();
            let shape = vec![3; order];
            assert_eq!(
                kronecker(&shape, 3usize.pow(order as u32), &initiator, 2).unwrap().values.len(),
                3usize.pow(order as u32)
            );
        }
        assert_eq!(kronecker(&[], 1, &Initiator::usual(0), 2).unwrap().values.len(), 1);
        assert_eq!(kronecker(&[1, 1], 1, &Initiator::usual(2), 2).unwrap().values.len(), 1);
    }

    #[test]
    fn the_seed_decides() {
        let with = |seed| kronecker(&[50, 60], 100, &Initiator::usual(2), seed).unwrap();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
        let many = || kronecker(&[5000, 600], 70_000, &Initiator::usual(2), 1).unwrap();
        assert_eq!(crate::parallel::with_threads(3, many).unwrap(), many());
    }

    #[test]
    fn what_is_no_initiator_is_refused() {
        let refused = |shape: &[usize], weights: &[f64]| Initiator::new(shape.to_vec(), weights.to_vec()).unwrap_err();
        assert!(matches!(refused(&[2, 2], &[1.0; 3]), InvalidInitiator::Count { expected: 4, found: 3, .. }));
        assert!(matches!(refused(&[1, 2], &[1.0; 2]), InvalidInitiator::Extent { .. }));
        assert_eq!(refused(&[2], &[0.0, 0.0]), InvalidInitiator::Weights);
        assert_eq!(refused(&[2], &[1.0, -1.0]), InvalidInitiator::Weights);
        assert_eq!(refused(&[1 << 40, 1 << 40], &[]), InvalidInitiator::Large);
        let error = kronecker(&[5, 5, 5], 1, &Initiator::usual(2), 0).unwrap_err();
        assert!(matches!(error, GenerateError::Order { order: 3, found: 2, .. }));
    }

    #[test]
    fn what_lies_outside_alone_is_refused() {
        let upper = Initiator::new(vec![2], vec![0.0, 1.0]).unwrap();
        assert!(matches!(kronecker(&[3], 1, &upper, 0), Err(GenerateError::Concentrated { .. })));
    }
}
