//! Tensors some of whose slices are much fuller than others.

use super::distinct::distinct;
use super::error::{GenerateError, MOST_SKEWED};
use super::power::power;
use super::random::{Permutation, Sequence, mix, unit};
use crate::tensor::Coordinates;

/// `nnz` entries of distinct indices whose index in each mode follows a power law with the exponent of that mode: the slice
/// that comes `n`-th by its number of entries has about `n^-exponent` times those of the fullest. An exponent of 0 draws all
/// indices alike. Which index is which in that order is random, as it is in data whose modes are people or words.
///
/// Modes are drawn independently, each from the continuous distribution between 1 and its extent plus one (a bounded Pareto
/// distribution) cut to whole numbers. Repeated entries are drawn again, so that slices which are nearly full have fewer than
/// the law says. Such *biased power law* tensors are one of the two kinds of Li, Lakshminarasimhan, Wu, Li, Barker, *A
/// Parallel Sparse Tensor Benchmark Suite on CPUs and GPUs* (2020).
///
/// ```
/// use spc::generate;
///
/// let entries = generate::power_law(&[1000, 1000, 50], 5000, &[1.2, 1.2, 0.0], 7)?;
/// assert_eq!(entries.values.len(), 5000);
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Errors
/// When there is not an exponent for each mode, one is no number from 0 to 16, the shape has fewer places, or too few of them
/// are likely to be drawn.
pub fn power_law(shape: &[usize], nnz: usize, exponents: &[f64], seed: u64) -> Result<Coordinates<f64>, GenerateError> {
    if exponents.len() != shape.len() {
        let (order, found) = (shape.len(), exponents.len());
        return Err(GenerateError::Order { order, what: "the number of exponents is", found });
    }
    check(exponents)?;
    drawn(shape, nnz, exponents, None, seed)
}

/// Slices of a power law on top of each other: `nnz` entries of distinct indices, as many in each slice of the last mode, whose indices
/// in the other modes follow power laws as in [`power_law`]. It is what a stream of entries gives that is cut into as many pieces of
/// equal length as the last mode has indices: edges of a graph by the time at which they come (Li, Lakshminarasimhan, Wu, Li, Barker 2020 stack
/// such graphs). An entry that comes twice in a slice is drawn again, in any slice.
///
/// ```
/// use spc::generate;
///
/// let entries = generate::stacked(&[1000, 1000, 50], 5000, &[1.2, 1.2], 7)?;
/// assert_eq!(entries.values.len(), 5000);
/// # Ok::<(), generate::GenerateError>(())
/// ```
///
/// # Errors
/// When there is not an exponent for each mode but the last, and as [`power_law`].
pub fn stacked(shape: &[usize], nnz: usize, exponents: &[f64], seed: u64) -> Result<Coordinates<f64>, GenerateError> {
    let Some(&slices) = shape.last().filter(|_| exponents.len() + 1 == shape.len()) else {
        let (order, found) = (shape.len().saturating_sub(1), exponents.len());
        return Err(GenerateError::Order { order, what: "the number of exponents but the last mode's is", found });
    };
    check(exponents)?;
    drawn(shape, nnz, exponents, Some(slices as u64), seed)
}

fn check(exponents: &[f64]) -> Result<(), GenerateError> {
    match exponents.iter().find(|exponent| !(0.0..=MOST_SKEWED).contains(*exponent)) {
        Some(&exponent) => Err(GenerateError::Exponent { exponent }),
        None => Ok(()),
    }
}

/// Entries whose first modes follow power laws; where there are `slices`, the last mode's are taken in turn.
fn drawn(
    shape: &[usize],
    nnz: usize,
    exponents: &[f64],
    slices: Option<u64>,
    seed: u64,
) -> Result<Coordinates<f64>, GenerateError> {
    let stream = |number: u64| mix(seed ^ mix(0x706C ^ number));
    let modes = shape.iter().zip(exponents).enumerate();
    let modes: Vec<Mode> =
        modes.map(|(mode, (&extent, &exponent))| Mode::new(extent as u64, exponent, stream(2 + mode as u64))).collect();
    let places = stream(0);
    distinct(shape, nnz, stream(1), &|number, indices| {
        let mut random = Sequence::of(places, number);
        indices.iter_mut().zip(&modes).for_each(|(index, mode)| *index = mode.index(random.next()));
        if let (Some(last), Some(slices)) = (indices.last_mut(), slices) {
            *last = number.checked_rem(slices).unwrap_or(0);
        }
        true
    })
}

/// Draws the indices of one mode.
struct Mode {
    extent: u64,
    law: Law,
    order: Permutation,
}

/// How a number in (0, 1] becomes one from 1 up to `end`, which the extent is cut off.
enum Law {
    /// `end ^ u`: an exponent of 1.
    Reciprocal { end: f64 },
    /// `(1 + u (end^(1 - a) - 1)) ^ (1 / (1 - a))`: an exponent of `a`.
    Power { reach: f64, root: f64 },
}

impl Mode {
    fn new(extent: u64, exponent: f64, seed: u64) -> Self {
        let end = (extent + 1) as f64;
        let rest = 1.0 - exponent;
        let law = if (-1e-6..1e-6).contains(&rest) {
            Law::Reciprocal { end }
        } else {
            Law::Power { reach: power(end, rest) - 1.0, root: 1.0 / rest }
        };
        Self { extent, law, order: Permutation::new(extent, seed) }
    }

    fn index(&self, random: u64) -> u64 {
        let number = match self.law {
            Law::Reciprocal { end } => power(end, unit(random)),
            Law::Power { reach, root } => power(1.0 + unit(random) * reach, root),
        };
        // What is rounded up to the end belongs to the last index.
        let rank = (number as u64).clamp(1, self.extent) - 1;
        self.order.apply(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Indices;

    /// The number of entries of each slice, the fullest first.
    fn slices(entries: &Coordinates<f64>, mode: usize) -> Vec<usize> {
        let mut counts = vec![0; entries.shape[mode]];
        let Indices::U32(indices) = &entries.indices[mode] else { panic!("the extent fits 32 bits") };
        indices.iter().for_each(|&index| counts[index as usize] += 1);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    }

    #[test]
    fn slices_thin_out_as_the_exponent_says() {
        let entries = power_law(&[5000, 5000, 300], 100_000, &[1.0, 0.5, 0.0], 3).unwrap();
        assert_eq!(entries.values.len(), 100_000);
        // Between n and 2n there are as many as between 2n and 4n where the exponent is 1, √2 times fewer where it is 0.5.
        let share = |slices: &[usize], n: usize| -> usize { slices[n - 1..2 * n - 1].iter().sum() };
        let first = slices(&entries, 0);
        let ratio = share(&first, 512) as f64 / share(&first, 64) as f64;
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
        let second = slices(&entries, 1);
        let ratio = share(&second, 1024) as f64 / share(&second, 256) as f64;
        assert!((1.75..2.25).contains(&ratio), "{ratio}");
        let third = slices(&entries, 2);
        assert!(third[0] < 450 && third[299] > 240, "{} {}", third[0], third[299]);
    }

    #[test]
    fn the_fullest_slice_is_as_full_as_the_law_says() {
        let entries = power_law(&[1000, 100_000], 50_000, &[1.5, 0.0], 9).unwrap();
        // The integral of t^-1.5 from 1 to 2 over that from 1 to 1001.
        let expected = 50_000.0 * (1.0 - 0.5f64.sqrt()) / (1.0 - (1.0 / 1001.0f64).sqrt());
        let found = slices(&entries, 0)[0] as f64;
        assert!((found / expected - 1.0).abs() < 0.05, "{found}, {expected}");
    }

    #[test]
    fn stacked_slices_are_alike_and_skewed_inside() {
        let entries = stacked(&[5000, 4000, 50], 100_000, &[1.0, 0.0], 3).unwrap();
        let of_last = slices(&entries, 2);
        assert_eq!(of_last.iter().sum::<usize>(), 100_000);
        assert!(of_last[0] <= 2010 && of_last[49] >= 1990, "{} {}", of_last[0], of_last[49]);
        let first = slices(&entries, 0);
        assert!(first[0] > 5_000 && slices(&entries, 1)[0] < 80, "{}", first[0]);
        assert_eq!(
            entries,
            crate::parallel::with_threads(3, || stacked(&[5000, 4000, 50], 100_000, &[1.0, 0.0], 3)).unwrap().unwrap()
        );
        assert!(matches!(stacked(&[5, 5], 3, &[1.0, 1.0], 0), Err(GenerateError::Order { order: 1, found: 2, .. })));
        assert!(matches!(stacked(&[], 1, &[], 0), Err(GenerateError::Order { .. })));
        assert!(matches!(stacked(&[5, 5], 3, &[-1.0], 0), Err(GenerateError::Exponent { .. })));
        assert!(matches!(stacked(&[5, 0], 3, &[1.0], 0), Err(GenerateError::TooMany(_))));
    }

    #[test]
    fn the_seed_decides() {
        let with = |seed| power_law(&[50, 60], 100, &[1.0, 2.0], seed).unwrap();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
        let many = || power_law(&[5000, 600], 70_000, &[0.8, 0.1], 1).unwrap();
        assert_eq!(crate::parallel::with_threads(3, many).unwrap(), many());
    }

    #[test]
    fn what_is_no_power_law_is_refused() {
        let refused = |shape: &[usize], nnz, exponents: &[f64]| power_law(shape, nnz, exponents, 0).unwrap_err();
        assert!(matches!(refused(&[5, 5], 3, &[1.0]), GenerateError::Order { order: 2, found: 1, .. }));
        assert!(matches!(refused(&[5, 5], 3, &[1.0, -1.0]), GenerateError::Exponent { .. }));
        assert!(matches!(refused(&[5, 5], 3, &[1.0, f64::NAN]), GenerateError::Exponent { .. }));
        assert!(matches!(refused(&[5, 5], 26, &[1.0, 1.0]), GenerateError::TooMany(_)));
        assert!(matches!(refused(&[1000, 1000], 3000, &[9.0, 9.0]), GenerateError::Concentrated { .. }));
    }

    #[test]
    fn shapes_of_all_orders() {
        assert_eq!(power_law(&[], 1, &[], 0).unwrap().values.len(), 1);
        assert_eq!(power_law(&[0, 3], 0, &[1.0, 1.0], 0).unwrap().values.len(), 0);
        assert_eq!(power_law(&[40], 40, &[0.3], 0).unwrap().values.len(), 40);
        assert_eq!(power_law(&[9, 8, 7, 6, 5], 300, &[0.5; 5], 0).unwrap().values.len(), 300);
    }
}
