//! Tensors out of nothing but a seed: the same on every machine and for any number of threads.
//!
//! ```
//! use spc::generate;
//!
//! let entries = generate::uniform(&[100, 200, 300], 1000, 42)?;
//! assert_eq!(entries.values.len(), 1000);
//! assert_eq!(entries, generate::uniform(&[100, 200, 300], 1000, 42)?);
//! # Ok::<(), generate::TooManyEntries>(())
//! ```
//!
//! Random numbers belong to places ([`uniform`] says how): any thread computes any of them. What decides where an entry goes
//! is computed with integers, or with the operations of IEEE 754 alone, which give the same bits on every machine;
//! logarithms and powers of a system's library do not, so there are some of our own.
//!
//! | function | entries are |
//! |---|---|
//! | [`uniform`] | everywhere alike |
//! | [`kronecker`] | self-similar: a stochastic Kronecker power of a small [`Initiator`] |
//! | [`power_law`] | more on some indices of a mode than on others, as often as a power says |
//! | [`stacked`] | slices of such tensors, with as many entries each |
//! | [`suite`] | those of a benchmark suite's synthetic tensors |

mod distinct;
mod error;
mod kronecker;
mod power;
mod power_law;
mod random;
pub mod suite;

pub use error::{GenerateError, InvalidInitiator};
pub use kronecker::{Initiator, kronecker};
pub use power_law::{power_law, stacked};

use crate::complex::c64;
use crate::tensor::{AnyTensor, Coordinates, Element, Indices, InvalidTensor, tasks};
use crate::with_element;
#[cfg(feature = "decompose")]
pub(crate) use random::Sequence;
pub(crate) use random::below;
use random::{Permutation, mix, unit};
use spc_compiler::format::Format;
use spc_compiler::ir::ElementType;

/// How many places a task fills.
const GRAIN: usize = 1 << 14;

/// More entries are asked for than the shape has places.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a tensor of shape {shape:?} has places for {capacity} entries, fewer than the {nnz} asked for; ask for fewer, or for a larger shape"
)]
pub struct TooManyEntries {
    /// The extent of each mode.
    pub shape: Vec<usize>,
    /// How many places there are to draw from.
    pub capacity: u64,
    /// How many entries are asked for.
    pub nnz: usize,
}

/// `nnz` entries of distinct indices in random order, uniform over the shape, with values in (0, 1].
///
/// # Errors
/// When the shape has fewer places.
pub fn uniform(shape: &[usize], nnz: usize, seed: u64) -> Result<Coordinates<f64>, TooManyEntries> {
    let (drawn, capacity) = drawn_modes(shape);
    if nnz as u64 > capacity {
        return Err(TooManyEntries { shape: shape.to_vec(), capacity, nnz });
    }
    let stream = |number: u64| mix(seed ^ mix(number));
    let permutation = Permutation::new(capacity, stream(0));
    // Distinct places in the drawn modes; taking one index off the end at a time leaves the rest.
    let mut places = tasks::collected(nnz, GRAIN, |entry| permutation.apply(entry as u64));
    let mut indices = Vec::with_capacity(shape.len());
    for mode in (0..shape.len()).rev() {
        let extent = shape[mode] as u64;
        let other = stream(2 + mode as u64);
        indices.push(column(extent, &mut places, |entry, place| {
            if !drawn[mode] {
                return below(mix(other.wrapping_add(entry as u64)), extent);
            }
            let index = *place % extent;
            *place /= extent;
            index
        }));
    }
    indices.reverse();
    let values = tasks::collected(nnz, GRAIN, |entry| unit(mix(stream(1).wrapping_add(entry as u64))));
    Ok(Coordinates { shape: shape.to_vec(), shape_is_stated: true, indices, values })
}

/// The indices of a mode, one taken off each place, whose number comes with it.
fn column<P: Send>(extent: u64, places: &mut [P], take: impl Fn(usize, &mut P) -> u64 + Sync) -> Indices {
    fn of<P: Send, I: Copy + Default + Send>(
        places: &mut [P],
        take: &(impl Fn(usize, &mut P) -> u64 + Sync),
        index: fn(u64) -> I,
    ) -> Vec<I> {
        let mut indices = vec![I::default(); places.len()];
        let parts = places.chunks_mut(GRAIN).zip(indices.chunks_mut(GRAIN)).collect();
        tasks::each(parts, &|task, (places, indices): (&mut [P], &mut [I])| {
            for ((number, place), to) in (task * GRAIN..).zip(places).zip(indices) {
                *to = index(take(number, place));
            }
        });
        indices
    }
    match u32::try_from(extent.saturating_sub(1)) {
        Ok(_) => Indices::U32(of(places, &take, |index| index as u32)),
        Err(_) => Indices::U64(of(places, &take, |index| index)),
    }
}

/// The modes whose indices make entries distinct, and how many places they have: all modes, or of a shape that has more than
/// 2^64 places, the longest that do not; then the others are drawn independently.
fn drawn_modes(shape: &[usize]) -> (Vec<bool>, u64) {
    let mut modes: Vec<usize> = (0..shape.len()).collect();
    modes.sort_by_key(|&mode| std::cmp::Reverse(shape[mode]));
    let mut drawn = vec![false; shape.len()];
    let mut capacity = 1u64;
    for mode in modes {
        if let Some(product) = capacity.checked_mul(shape[mode] as u64) {
            capacity = product;
            drawn[mode] = true;
        }
    }
    (drawn, capacity)
}

/// A dense tensor, row-major, of random elements: in (0, 1], for integer types in 1..=9, of complex numbers both parts; of
/// truth values every other is true, on average.
///
/// # Errors
/// When there is not enough memory.
pub fn random_dense(shape: &[usize], element: ElementType, seed: u64) -> Result<AnyTensor, InvalidTensor> {
    fill(shape, element, &|place| match element {
        ElementType::Bool => random_number(seed, place).round().into(),
        _ => element_of(element, random_number(seed, place)),
    })
}

/// The number in (0, 1] that [`random_dense`] makes an element of, by its place in memory.
pub(crate) fn random_number(seed: u64, place: u64) -> f64 {
    unit(mix(mix(seed).wrapping_add(place)))
}

/// The same entries as elements of a type, by the rules of [`random_dense`]; truth values are all true.
pub fn typed<T: Element>(entries: Coordinates<f64>) -> Coordinates<T> {
    let Coordinates { shape, shape_is_stated, indices, values } = entries;
    let values = tasks::collected(values.len(), GRAIN, |entry| T::from_c64(element_of(T::TYPE, values[entry])));
    Coordinates { shape, shape_is_stated, indices, values }
}

/// An element made of a number in (0, 1].
fn element_of(element: ElementType, number: f64) -> c64 {
    match element {
        _ if element.is_complex() => c64::new(number, unit(mix(number.to_bits()))),
        ElementType::Bool => 1.0.into(),
        _ if element.is_integer() => (9.0 * number).ceil().into(),
        _ => number.into(),
    }
}

/// A dense tensor, row-major, of ones.
///
/// # Errors
/// When there is not enough memory.
pub fn ones(shape: &[usize], element: ElementType) -> Result<AnyTensor, InvalidTensor> {
    fill(shape, element, &|_| 1.0.into())
}

fn fill(
    shape: &[usize],
    element: ElementType,
    number: &(dyn Fn(u64) -> c64 + Sync),
) -> Result<AnyTensor, InvalidTensor> {
    let mut tensor = AnyTensor::zeros(shape.to_vec(), Format::dense(shape.len()), element)?;
    with_element!(element, |T| if let Some(values) = tensor.values_mut::<T>() {
        tasks::each(values.chunks_mut(GRAIN).collect(), &|task, part: &mut [T]| {
            part.iter_mut().zip(task * GRAIN..).for_each(|(value, place)| *value = T::from_c64(number(place as u64)));
        });
    });
    Ok(tensor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{Duplicates, pack};

    #[test]
    fn indices_are_distinct_and_inside() {
        let huge = usize::MAX;
        let shapes: [(&[usize], usize); 8] = [
            (&[7], 7),
            (&[3, 4, 5], 60),
            (&[1, 1, 1], 1),
            (&[0, 5], 0),
            (&[], 1),
            (&[1000, 1000, 1000], 20_000),
            (&[huge, huge], 500),
            (&[2, 1 << 63, 1 << 63, 3], 500),
        ];
        for (shape, nnz) in shapes {
            let entries = uniform(shape, nnz, 7).unwrap();
            assert!(entries.values.len() == nnz && entries.values.iter().all(|&value| value > 0.0 && value <= 1.0));
            let wide =
                spc_compiler::format::LevelFormat::COMPRESSED.with_coordinates(spc_compiler::format::IndexWidth::U64);
            let tensor = pack(entries, &Format::of_levels(vec![wide; shape.len()]), Duplicates::Refuse).unwrap();
            assert_eq!(tensor.nnz(), nnz.max(usize::from(shape.is_empty())));
        }
    }

    #[test]
    fn the_seed_decides() {
        let with = |seed| uniform(&[50, 60], 100, seed).unwrap();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(pool.install(|| uniform(&[500, 600], 70_000, 1)), uniform(&[500, 600], 70_000, 1));
    }

    #[test]
    fn indices_are_spread_evenly() {
        let entries = uniform(&[10, 1000], 5000, 3).unwrap();
        let Indices::U32(rows) = &entries.indices[0] else { panic!("ten fits 32 bits") };
        for row in 0..10 {
            let count = rows.iter().filter(|&&index| index == row).count();
            assert!((400..600).contains(&count), "row {row} has {count}");
        }
    }

    #[test]
    fn more_entries_than_places_are_refused() {
        let error = uniform(&[3, 4], 13, 0).unwrap_err();
        assert!(error.to_string().contains("places for 12 entries, fewer than the 13 asked for"));
    }

    #[test]
    fn dense_tensors_of_each_element_type() {
        for element in [ElementType::F64, ElementType::F32, ElementType::I32, ElementType::I64, ElementType::U8] {
            let tensor = random_dense(&[20, 30], element, 5).unwrap();
            let limit = if element.is_float() { 1.0 } else { 9.0 };
            assert!((0..600).all(|place| (1e-9..=limit).contains(&tensor.values().get_f64(place))));
            assert!((0..6).all(|place| ones(&[2, 3], element).unwrap().values().get_f64(place) == 1.0));
        }
        let bits = random_dense(&[1000], ElementType::Bool, 5).unwrap();
        let share = bits.values_of::<bool>().unwrap().iter().filter(|&&bit| bit).count();
        assert!((400..600).contains(&share), "{share} are true");
        let complex = random_dense(&[1000], ElementType::C64, 5).unwrap();
        assert!((0..1000).all(|place| complex.values().get_c64(place).im > 0.0));
        let listed = typed::<i32>(uniform(&[30, 40], 100, 5).unwrap());
        assert!(listed.values.iter().all(|value| (1..=9).contains(value)) && listed.values.contains(&9));
        assert!((0..999).any(|place| complex.values().get_c64(place).im != complex.values().get_c64(place).re));
    }
}
