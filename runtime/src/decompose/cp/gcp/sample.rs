//! Random places of a tensor: stored ones and others, each weighted by how many it stands for (Kolda and Hong 2020, section 4).
//!
//! Stored entries are drawn uniformly among themselves, other places uniformly among all, those that are stored drawn again. A place that
//! is drawn several times is one with as many times the weight. What a sample is follows from its number and the seed alone.

use crate::decompose::DecomposeError;
use crate::decompose::elements::{of_element, values};
use crate::generate::{Sequence, below};
use crate::tensor::{AnyTensor, Coordinates, Duplicates, IndexArray, Indices, pack};
use spc_compiler::format::Format;
use std::cmp::Ordering;

/// What samples are drawn from.
#[derive(Debug)]
pub(super) struct Places {
    /// The tensor as coordinates, sorted.
    tensor: AnyTensor,
    seed: u64,
}

/// How many stored entries a sample has, and how many other places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) stored: usize,
    pub(super) others: usize,
}

/// A sample.
#[derive(Debug)]
pub(super) struct Sample {
    /// The tensor at its places, zeros too, as coordinates.
    pub(super) entries: AnyTensor,
    /// How many places each stands for, at the same places.
    pub(super) weights: AnyTensor,
}

/// At most so many modes.
const MODES: usize = 8;

/// How often a place that is stored is drawn again, on average over a sample: where nearly all places are stored, a sample has
/// fewer others than it should.
const PATIENCE: usize = 100;

#[derive(Debug, Clone, Copy)]
struct Place {
    index: [u64; MODES],
    value: f64,
    weight: f64,
}

impl Places {
    /// The places of a tensor that is stored as coordinates.
    pub(super) fn new(tensor: AnyTensor, seed: u64) -> Self {
        Self { tensor, seed }
    }

    /// So many of both at most, as far as there are some.
    pub(super) fn limited(&self, counts: Counts) -> Counts {
        let others = if self.others() > 0.0 { counts.others } else { 0 };
        Counts { stored: counts.stored.min(self.stored()), others }
    }

    /// How many entries are stored.
    pub(super) fn stored(&self) -> usize {
        self.tensor.values().len()
    }

    /// How many places are not.
    pub(super) fn others(&self) -> f64 {
        self.tensor.shape().iter().map(|&extent| extent as f64).product::<f64>() - self.stored() as f64
    }

    /// A sample by its number.
    pub(super) fn sample(&self, number: u64, counts: Counts) -> Result<Sample, DecomposeError> {
        let counts = self.limited(counts);
        let mut random = Sequence::of(Sequence::of(self.seed, 0).next(), number);
        let mut places = self.draw_stored(&mut random, counts.stored);
        places.extend(self.draw_others(&mut random, counts.others));
        places.sort_unstable_by_key(|place| place.index);
        places.dedup_by(|place, kept| {
            let is_same = place.index == kept.index;
            kept.weight += if is_same { place.weight } else { 0.0 };
            is_same
        });
        self.tensors(&places)
    }

    /// All stored entries if so many are asked for.
    fn draw_stored(&self, random: &mut Sequence, count: usize) -> Vec<Place> {
        let weight = self.stored() as f64 / count.max(1) as f64;
        let mut at = |drawn: usize| {
            if count == self.stored() { drawn } else { below(random.next(), self.stored() as u64) as usize }
        };
        let entry = |position: usize| {
            let mut index = [0; MODES];
            self.columns().zip(&mut index).for_each(|(column, at)| *at = column.get(position) as u64);
            Place { index, value: self.tensor.values().get_f64(position), weight }
        };
        (0..count).map(|drawn| entry(at(drawn))).collect()
    }

    fn draw_others(&self, random: &mut Sequence, count: usize) -> Vec<Place> {
        let mut places = Vec::with_capacity(count);
        let mut tries = 0;
        while places.len() < count && tries < count * PATIENCE {
            tries += 1;
            let mut index = [0; MODES];
            for (at, &extent) in index.iter_mut().zip(self.tensor.shape()) {
                *at = below(random.next(), extent as u64);
            }
            if !self.is_stored(&index) {
                places.push(Place { index, value: 0.0, weight: 0.0 });
            }
        }
        let weight = self.others() / places.len().max(1) as f64;
        places.iter_mut().for_each(|place| place.weight = weight);
        places
    }

    fn columns(&self) -> impl Iterator<Item = &IndexArray> {
        (0..self.tensor.order()).filter_map(|mode| self.tensor.coordinates(mode))
    }

    /// Whether a place is stored, by halving.
    fn is_stored(&self, index: &[u64; MODES]) -> bool {
        let (mut begin, mut end) = (0, self.stored());
        while begin < end {
            let middle = begin + (end - begin) / 2;
            let compared = self.columns().zip(index).map(|(column, at)| (column.get(middle) as u64).cmp(at));
            match compared.fold(Ordering::Equal, Ordering::then) {
                Ordering::Equal => return true,
                Ordering::Less => begin = middle + 1,
                Ordering::Greater => end = middle,
            }
        }
        false
    }

    fn tensors(&self, places: &[Place]) -> Result<Sample, DecomposeError> {
        let (order, element) = (self.tensor.order(), self.tensor.element());
        let column = |mode: usize| Indices::U64(places.iter().map(|place| place.index[mode]).collect());
        let entries = Coordinates {
            shape: self.tensor.shape().to_vec(),
            shape_is_stated: true,
            indices: (0..order).map(column).collect(),
            values: places.iter().map(|place| place.value).collect::<Vec<f64>>(),
        };
        let entries = pack(entries, &Format::coo(order), Duplicates::Refuse)?;
        let entries = of_element(&entries, element)?;
        let weights: Vec<f64> = places.iter().map(|place| place.weight).collect();
        let weights = values(&weights, element);
        Ok(Sample { weights: entries.with_values(weights)?, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompose::cp::testing::counts;

    fn places() -> Places {
        Places::new(counts(&[5, 4, 3]).convert(&Format::coo(3)).unwrap(), 3)
    }

    #[test]
    fn a_sample_stands_for_all_places() {
        let places = places();
        for (number, counts) in [(0, (29, 31)), (1, (10, 5)), (2, (3, 200)), (3, (100, 1))] {
            let sample = places.sample(number, Counts { stored: counts.0, others: counts.1 }).unwrap();
            let (values, weights) =
                (sample.entries.values_of::<f64>().unwrap(), sample.weights.values_of::<f64>().unwrap());
            let of = |stored: bool| values.iter().zip(weights).filter(move |(value, _)| (**value != 0.0) == stored);
            assert!((of(true).map(|(_, weight)| weight).sum::<f64>() - 29.0).abs() < 1e-9);
            assert!((of(false).map(|(_, weight)| weight).sum::<f64>() - 31.0).abs() < 1e-9);
            assert!(of(true).count() <= counts.0.min(29) && of(false).count() <= counts.1);
            sample.entries.validate().unwrap();
            sample.entries.for_each_position(|index, position| {
                let at = places.tensor.get::<f64>(index).unwrap();
                assert_eq!(at.unwrap_or(0.0), values[position], "{index:?}");
            });
        }
    }

    #[test]
    fn the_mean_of_many_samples_is_the_sum_over_all_places() {
        let places = places();
        // Each place counts with a number of its own.
        let number_of = |index: &[usize]| (index[0] * 12 + index[1] * 3 + index[2]) as f64;
        let mut sum = 0.0;
        for number in 0..2000 {
            let sample = places.sample(number, Counts { stored: 6, others: 6 }).unwrap();
            let weights = sample.weights.values_of::<f64>().unwrap();
            sample.entries.for_each_position(|index, position| sum += number_of(index) * weights[position] / 2000.0);
        }
        let all = (0..60).sum::<usize>() as f64;
        assert!((sum - all).abs() < 0.02 * all, "{sum} is not {all}");
    }

    #[test]
    fn a_sample_follows_from_seed_and_number() {
        let places = places();
        let counts = Counts { stored: 8, others: 8 };
        let entries = |places: &Places, number| places.sample(number, counts).unwrap().entries;
        assert_eq!(entries(&places, 4), entries(&places, 4));
        assert_ne!(entries(&places, 4), entries(&places, 5));
        let other = Places::new(places.tensor.clone(), 4);
        assert_ne!(entries(&places, 4), entries(&other, 4));
    }
}
