//! How the entries of a tensor spread over the coordinates of sets of modes.
//!
//! One pass over the entries serves all sets. Sets of one mode are counted in a histogram. Larger ones whose coordinates have few
//! values are counted in a bitmap, others by a sketch of [`REGISTERS`] registers: Flajolet, Fusy, Gandouet, Meunier,
//! *HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm* (2007), with the estimator of Ertl, *New cardinality
//! estimation algorithms for HyperLogLog sketches* (2017), which has no bias at any size; its standard error is 1.04 / √4096 = 1.6 %.

use super::index_array::{Index, with_indices};
use super::iterate::Expansion;
use super::{AnyTensor, IndexArray, tasks};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The number of registers of a sketch.
const REGISTERS: usize = 1 << REGISTER_BITS;
const REGISTER_BITS: u32 = 12;
/// How far a sketch's estimate may be below the truth, in bounds: five standard errors.
const DEVIATION: f64 = 5.0 * 1.04 / 64.0;
/// So many of few coordinates may meet others in one register.
const FEW: f64 = 4.0;
/// Sets of coordinates with at most so many values are counted in a bitmap.
const BITS: usize = 1 << 23;
/// Modes with at most so many coordinates, or so many times the entries, have a histogram.
const COUNTED: usize = 1 << 20;
const COUNTED_PER_ENTRY: usize = 4;
/// The entries of a block.
const BLOCK: usize = 1 << 12;
/// The least entries or fibers of a task.
const GRAIN: usize = 1 << 14;

/// A set of modes, a bit each: bit 0 is the first mode.
pub(crate) type Modes = u32;

/// How the entries of a tensor spread over the coordinates of sets of modes.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Spread {
    /// The number of entries.
    pub(crate) entries: usize,
    /// The distinct coordinates of sets of modes.
    pub(crate) distinct: BTreeMap<Modes, Distinct>,
    /// The entries under one coordinate of single modes.
    pub(crate) degrees: BTreeMap<Modes, Degree>,
}

/// A number of distinct coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Distinct {
    /// The estimate.
    pub(crate) estimate: f64,
    /// What it hardly is more than.
    pub(crate) bound: f64,
}

/// Entries under one coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Degree {
    /// The mean over coordinates that have entries.
    pub(crate) mean: f64,
    /// The most.
    pub(crate) largest: f64,
    /// The root of the sum of the squares over all coordinates.
    pub(crate) norm: f64,
}

impl AnyTensor {
    /// How the entries spread over these sets of modes and over each mode.
    pub(crate) fn spread(&self, sets: &BTreeSet<Modes>) -> Spread {
        let all: Modes = (0..self.order()).map(|mode| 1 << mode).sum();
        let sets: Vec<Modes> =
            sets.iter().copied().filter(|set| set.count_ones() > 1 && set & !all == 0 && *set != all).collect();
        let positions = self.values().len();
        let counts = || Counts::new(self.shape(), positions, &sets);
        let found = match (self.fibers(), self.is_plain()) {
            (Some(fibers), _) => in_tasks(fibers.count, &|range| {
                let mut counts = counts();
                blocks(range, &mut |block| counts.add_fibers(&fibers, block));
                counts
            }),
            (None, true) => in_tasks(positions, &|range| {
                let (mut counts, expansion) = (counts(), Expansion::of(self));
                blocks(range, &mut |block| {
                    let (columns, is_entry) = expansion.entries(block);
                    counts.add(columns, is_entry.as_deref());
                });
                counts
            }),
            (None, false) => {
                let mut counts = counts();
                let mut columns = vec![Vec::with_capacity(BLOCK); self.order()];
                self.walk().each(&mut |index, _| {
                    columns.iter_mut().zip(index).for_each(|(column, &index)| column.push(index as u64));
                    if columns.first().is_some_and(|column| column.len() == BLOCK) {
                        counts.add(std::mem::replace(&mut columns, vec![Vec::with_capacity(BLOCK); index.len()]), None);
                    }
                });
                counts.add(columns, None);
                Some(counts)
            }
        };
        found.unwrap_or_else(counts).spread(self.shape())
    }

    /// The fibers of the last level, where it is compressed and every level stores a mode.
    fn fibers(&self) -> Option<Fibers<'_>> {
        let (last, above) = self.format().levels.split_last()?;
        let modes = self.format().mode_order()?;
        let arrays = self.levels().last()?;
        let is_plain = !above.is_empty() && self.is_plain() && last.format.kind.is_compressed();
        let (bounds, coordinates) = arrays.positions().zip(arrays.coordinates()).filter(|_| is_plain)?;
        let count = bounds.len().saturating_sub(1);
        Some(Fibers { expansion: Expansion::of(self), modes, bounds, coordinates, count })
    }
}

/// Counts in tasks on all threads, together.
fn in_tasks(count: usize, work: &(dyn Fn(Range<usize>) -> Counts + Sync)) -> Option<Counts> {
    let grain = count.div_ceil(rayon::current_num_threads().max(1)).max(GRAIN);
    tasks::map(&tasks::ranges(count, grain), work).into_iter().reduce(Counts::merged)
}

fn blocks(range: Range<usize>, visit: &mut dyn FnMut(Range<usize>)) {
    range.clone().step_by(BLOCK).for_each(|begin| visit(begin..range.end.min(begin + BLOCK)));
}

/// The fibers of a last level that is compressed.
struct Fibers<'a> {
    expansion: Expansion<'a>,
    /// The mode of each level.
    modes: Vec<usize>,
    bounds: &'a IndexArray,
    coordinates: &'a IndexArray,
    count: usize,
}

/// What is counted of the entries of a task.
struct Counts {
    entries: usize,
    /// The entries at each coordinate of each mode; none of a mode with too many of them.
    modes: Vec<Option<Vec<u32>>>,
    sets: Vec<(Modes, Set)>,
}

/// The coordinates of a set of modes that were seen, each by a key: the sum of its indices times weights.
struct Set {
    /// The weight of each mode.
    weights: Vec<(usize, u64)>,
    seen: Seen,
}

enum Seen {
    /// A bit for each key.
    Bitmap(Vec<u64>),
    /// The largest rank of hashes in each register.
    Sketch(Vec<u8>),
}

impl Counts {
    fn new(shape: &[usize], positions: usize, sets: &[Modes]) -> Self {
        let most = COUNTED.max(positions.saturating_mul(COUNTED_PER_ENTRY));
        let modes: Vec<_> = shape.iter().map(|&extent| (extent <= most).then(|| vec![0; extent])).collect();
        let uncounted = modes.iter().enumerate().filter(|(_, counts)| counts.is_none()).map(|(mode, _)| 1 << mode);
        let sets = sets.iter().copied().chain(uncounted).map(|set| (set, Set::new(set, shape))).collect();
        Self { entries: 0, modes, sets }
    }

    /// Counts entries with these coordinates in each mode.
    fn add(&mut self, mut columns: Vec<Vec<u64>>, is_entry: Option<&[bool]>) {
        if let Some(is_entry) = is_entry.filter(|is_entry| is_entry.contains(&false)) {
            for column in &mut columns {
                let mut is_entry = is_entry.iter();
                column.retain(|_| is_entry.next().is_some_and(|&is_entry| is_entry));
            }
        }
        self.entries += columns.first().map_or(0, Vec::len);
        for (counts, column) in self.modes.iter_mut().zip(&columns) {
            if let Some(counts) = counts {
                column.iter().for_each(|&index| counts[index as usize] += 1);
            }
        }
        let mut keys = vec![0u64; columns.first().map_or(0, Vec::len)];
        for (_, seen) in &mut self.sets {
            seen.weigh(&columns, &mut keys);
            seen.add(keys.iter().copied());
        }
    }

    /// Counts the entries of some fibers: what is above the last level once for each fiber.
    fn add_fibers(&mut self, fibers: &Fibers<'_>, block: Range<usize>) {
        let Some((&last, above)) = fibers.modes.split_last() else { return };
        let bounds: Vec<usize> = (block.start..=block.end).map(|fiber| fibers.bounds.get(fiber)).collect();
        let lengths = || bounds.windows(2).map(|pair| pair[1] - pair[0]);
        let mut columns = vec![Vec::new(); fibers.modes.len()];
        fibers.expansion.expand_above(above.len(), block.clone(), |level, column| {
            columns[above[level]] =
                column.iter().zip(lengths()).filter(|(_, length)| *length > 0).map(|(&index, _)| index).collect();
        });
        let runs: Vec<(usize, usize)> =
            bounds.windows(2).map(|pair| (pair[0], pair[1])).filter(|(begin, end)| begin < end).collect();
        let (Some(&(first, _)), Some(&(_, end))) = (runs.first(), runs.last()) else { return };
        self.entries += end - first;
        for (&mode, column) in above.iter().map(|mode| (mode, &columns[*mode])) {
            if let Some(counts) = &mut self.modes[mode] {
                column
                    .iter()
                    .zip(&runs)
                    .for_each(|(&index, (begin, end))| counts[index as usize] += (end - begin) as u32);
            }
        }
        with_indices!(fibers.coordinates, |coordinates| {
            if let Some(counts) = &mut self.modes[last] {
                coordinates[first..end].iter().for_each(|index| counts[index.to_usize()] += 1);
            }
            let mut keys = vec![0; runs.len()];
            for (set, seen) in &mut self.sets {
                seen.weigh(&columns, &mut keys);
                match *set >> last & 1 == 1 {
                    false => seen.add(keys.iter().copied()),
                    true => {
                        let weight = seen.weight(last);
                        let of_run = |(&key, &(begin, end)): (&u64, &(usize, usize))| {
                            let own = move |index| key.wrapping_add((index as u64).wrapping_mul(weight));
                            seen.add(coordinates[begin..end].iter().map(|index| own(index.to_usize())));
                        };
                        keys.iter().zip(&runs).for_each(of_run);
                    }
                }
            }
        });
    }

    fn merged(mut self, other: Self) -> Self {
        self.entries += other.entries;
        for (counts, more) in self.modes.iter_mut().flatten().zip(other.modes.into_iter().flatten()) {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
        for ((_, set), (_, other)) in self.sets.iter_mut().zip(other.sets) {
            match (&mut set.seen, other.seen) {
                (Seen::Bitmap(bits), Seen::Bitmap(more)) => {
                    bits.iter_mut().zip(more).for_each(|(bits, more)| *bits |= more);
                }
                (Seen::Sketch(registers), Seen::Sketch(more)) => {
                    registers.iter_mut().zip(more).for_each(|(register, more)| *register = more.max(*register));
                }
                _ => unreachable!("all tasks count a set in one way"),
            }
        }
        self
    }

    fn spread(self, shape: &[usize]) -> Spread {
        let mut spread = Spread { entries: self.entries, ..Spread::default() };
        for (set, seen) in &self.sets {
            let places: f64 =
                (0..shape.len()).filter(|mode| set >> mode & 1 == 1).map(|mode| shape[mode] as f64).product();
            spread.distinct.insert(*set, seen.distinct(places.min(self.entries as f64)));
        }
        for (mode, counts) in self.modes.iter().enumerate() {
            let Some(counts) = counts else { continue };
            let present = counts.iter().filter(|&&count| count > 0).count();
            let squares: f64 = counts.iter().map(|&count| f64::from(count) * f64::from(count)).sum();
            let largest = counts.iter().copied().max().unwrap_or(0);
            let mean = if present == 0 { 0.0 } else { self.entries as f64 / present as f64 };
            spread.distinct.insert(1 << mode, Distinct { estimate: present as f64, bound: present as f64 });
            spread.degrees.insert(1 << mode, Degree { mean, largest: f64::from(largest), norm: squares.sqrt() });
        }
        spread
    }
}

impl Set {
    fn new(set: Modes, shape: &[usize]) -> Self {
        let modes: Vec<usize> = (0..shape.len()).filter(|mode| set >> mode & 1 == 1).collect();
        let places = modes.iter().try_fold(1usize, |places, &mode| places.checked_mul(shape[mode]));
        match places.filter(|&places| places <= BITS) {
            Some(places) => {
                let mut stride = 1;
                let strides = modes.into_iter().map(|mode| {
                    let own = stride;
                    stride *= shape[mode].max(1) as u64;
                    (mode, own)
                });
                Set { weights: strides.collect(), seen: Seen::Bitmap(vec![0; places.div_ceil(64)]) }
            }
            None => Set::sketch(&modes),
        }
    }

    fn sketch(modes: &[usize]) -> Self {
        let weights = modes.iter().map(|&mode| (mode, mixed(mode as u64 + 1) | 1)).collect();
        Set { weights, seen: Seen::Sketch(vec![0; REGISTERS]) }
    }

    fn weight(&self, mode: usize) -> u64 {
        self.weights.iter().find(|(known, _)| *known == mode).map_or(0, |(_, weight)| *weight)
    }

    /// The keys of coordinates, without modes of which there is no column.
    fn weigh(&self, columns: &[Vec<u64>], keys: &mut [u64]) {
        keys.fill(0);
        for (mode, weight) in &self.weights {
            let keys = keys.iter_mut().zip(&columns[*mode]);
            keys.for_each(|(key, index)| *key = key.wrapping_add(index.wrapping_mul(*weight)));
        }
    }

    /// Sees keys.
    fn add(&mut self, keys: impl Iterator<Item = u64>) {
        match &mut self.seen {
            Seen::Bitmap(bits) => keys.for_each(|key| bits[(key / 64) as usize] |= 1 << (key % 64)),
            Seen::Sketch(registers) => keys.for_each(|key| {
                let hash = mixed(key);
                let place = (hash >> (64 - REGISTER_BITS)) as usize;
                let rank = (hash << REGISTER_BITS | 1 << (REGISTER_BITS - 1)).leading_zeros() as u8 + 1;
                registers[place] = registers[place].max(rank);
            }),
        }
    }

    /// How many were seen, at most `most`.
    fn distinct(&self, most: f64) -> Distinct {
        match &self.seen {
            Seen::Bitmap(bits) => {
                let count = bits.iter().map(|bits| f64::from(bits.count_ones())).sum();
                Distinct { estimate: count, bound: count }
            }
            Seen::Sketch(registers) => {
                let estimate = estimate(registers);
                let bound = if estimate == 0.0 { 0.0 } else { estimate * (1.0 + DEVIATION) + FEW };
                Distinct { estimate: estimate.min(most), bound: bound.min(most) }
            }
        }
    }
}

/// The finalizer of MurmurHash3: every bit of the result depends on every bit of the key.
fn mixed(mut key: u64) -> u64 {
    key = (key ^ key >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    key = (key ^ key >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    key ^ key >> 33
}

/// The number of distinct keys that registers tell: algorithm 6 of Ertl.
fn estimate(registers: &[u8]) -> f64 {
    let largest = 64 - REGISTER_BITS as usize + 1;
    let mut counts = vec![0.0; largest + 1];
    registers.iter().for_each(|&register| counts[usize::from(register).min(largest)] += 1.0);
    let all = registers.len() as f64;
    let mut sum = all * tau(1.0 - counts[largest] / all);
    for &count in counts[1..largest].iter().rev() {
        sum = 0.5 * (sum + count);
    }
    sum += all * sigma(counts[0] / all);
    all * all / (2.0 * std::f64::consts::LN_2 * sum)
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut power, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * power;
        power += power;
        if sum == before {
            return sum;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut power, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        power *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * power;
        if sum == before {
            return sum / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::tensor::{Coordinates, Duplicates, Indices, pack};
    use spc_compiler::format;

    fn columns(entries: &Coordinates<f64>) -> Vec<Vec<u64>> {
        let column = |indices: &Indices| match indices {
            Indices::U32(indices) => indices.iter().map(|&index| u64::from(index)).collect(),
            Indices::U64(indices) => indices.clone(),
        };
        entries.indices.iter().map(column).collect()
    }

    fn exact(columns: &[Vec<u64>], set: Modes) -> BTreeMap<Vec<u64>, usize> {
        let mut counts = BTreeMap::new();
        for entry in 0..columns[0].len() {
            let modes = (0..columns.len()).filter(|mode| set >> mode & 1 == 1);
            *counts.entry(modes.map(|mode| columns[mode][entry]).collect()).or_default() += 1;
        }
        counts
    }

    #[test]
    fn counts_are_those_of_sets_of_tuples_in_every_format() {
        let shape = [3000, 500, 4000, 9];
        let entries = generate::uniform(&shape, 60_000, 5).unwrap();
        let columns = columns(&entries);
        let sets: BTreeSet<Modes> = (1..15).collect();
        let formats: [(&str, &[u64]); 4] = [("csf", &[]), ("coo", &[]), ("hicoo", &[64]), ("alto", &[])];
        for (name, arguments) in formats {
            let format = format::named(name, arguments, 4).unwrap();
            let tensor = pack(entries.clone(), &format, Duplicates::Sum).unwrap();
            let spread = tensor.spread(&sets);
            assert_eq!(spread.entries, 60_000, "{name}");
            for &set in &sets {
                let exact = exact(&columns, set);
                let (found, truth) = (spread.distinct[&set], exact.len() as f64);
                assert!((found.estimate / truth - 1.0).abs() < 0.06, "{name} {set:b}: {found:?}, {truth}");
                assert!(found.bound >= truth, "{name} {set:b}: {found:?}, {truth}");
                if set.count_ones() == 1 {
                    let (largest, squares) =
                        (exact.values().max().unwrap(), exact.values().map(|n| n * n).sum::<usize>());
                    let degree = spread.degrees[&set];
                    assert_eq!(degree.largest, *largest as f64);
                    assert_eq!(degree.norm, (squares as f64).sqrt());
                    assert_eq!((found.estimate, degree.mean), (truth, 60_000.0 / truth));
                }
            }
        }
    }

    #[test]
    fn sketches_have_no_bias_at_any_size() {
        for count in [1usize, 10, 1000, 5000, 12_000, 20_000, 300_000] {
            let errors = (0..8u64).map(|seed| {
                let mut set = Set::sketch(&[0]);
                let mut keys = vec![0; count];
                set.weigh(&[(0..count as u64).map(|key| key * 8 + seed).collect()], &mut keys);
                set.add(keys.into_iter());
                set.distinct(f64::INFINITY).estimate / count as f64 - 1.0
            });
            let errors: Vec<f64> = errors.collect();
            let mean = errors.iter().sum::<f64>() / 8.0;
            // Of few keys two may meet in one register.
            let few = 2.0 / count as f64;
            assert!(mean.abs() < 0.02 + few / 4.0, "{count}: {errors:?}");
            assert!(errors.iter().all(|error| error.abs() < 0.08 + few), "{count}: {errors:?}");
        }
    }

    #[test]
    fn a_tensor_without_entries_has_no_coordinates() {
        for shape in [[0, 5], [4, 5]] {
            let entries = Coordinates::<f64> {
                shape: shape.to_vec(),
                shape_is_stated: true,
                indices: vec![Indices::U32(vec![]), Indices::U32(vec![])],
                values: vec![],
            };
            let tensor = pack(entries, &format::named("csr", &[], 2).unwrap(), Duplicates::Sum).unwrap();
            let spread = tensor.spread(&(1..4).collect());
            assert_eq!(spread.entries, 0);
            assert!(spread.distinct.values().all(|distinct| distinct.bound == 0.0), "{spread:?}");
            assert!(spread.degrees.values().all(|degree| degree.norm == 0.0 && degree.mean == 0.0));
        }
    }
}
