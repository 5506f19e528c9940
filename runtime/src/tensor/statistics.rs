//! What a tensor looks like: how many entries, slices and fibers it has, how uneven they are, and what storing it takes.

use super::pack::prefix_runs;
use super::{Coordinates, Duplicates, Element, IndexArray, PackError, pack};
use spc_compiler::format::Format;

/// What a list of entries looks like.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The extent of each mode.
    pub shape: Vec<usize>,
    /// The number of entries, duplicates included.
    pub nnz: usize,
    /// The number of distinct indices among them.
    pub distinct: usize,
    /// The share of places that have an entry; 0 where there is no place.
    pub density: f64,
    /// What each mode looks like.
    pub modes: Vec<ModeStatistics>,
}

/// What one mode of a list of entries looks like. A **slice** of a mode is what shares its index in that mode; a **fiber** of
/// a mode is what shares the indices in all other modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModeStatistics {
    /// The extent.
    pub extent: usize,
    /// Its slices, as groups of entries.
    pub slices: Groups,
    /// Its fibers, as groups of entries.
    pub fibers: Groups,
}

/// Entries in groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Groups {
    /// The number of groups that have an entry.
    pub count: usize,
    /// The number of entries of the largest.
    pub largest: usize,
    /// The number of entries of all.
    pub entries: usize,
}

impl Groups {
    /// The mean number of entries of a group; 0 where there is none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.entries as f64 / self.count as f64 }
    }

    /// How many times larger than the mean the largest group is; 0 where there is none.
    pub fn skew(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.largest as f64 / self.mean() }
    }
}

/// What it takes to store a tensor in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageSize {
    /// The number of positions: where children begin and end, or what else tells that.
    pub positions: usize,
    /// The number of coordinates, or of what else tells them.
    pub coordinates: usize,
    /// The bytes of all positions and coordinates.
    pub index_bytes: usize,
    /// The bytes of all values.
    pub value_bytes: usize,
    /// The number of values: entries, places of dense levels without one, padding; what a run stores once counts once.
    pub stored: usize,
}

impl StorageSize {
    /// All bytes.
    pub fn bytes(&self) -> usize {
        self.index_bytes + self.value_bytes
    }

    /// The number of all that is stored: positions, coordinates and values, whatever their width. Papers on formats count so.
    pub fn units(&self) -> usize {
        self.positions + self.coordinates + self.stored
    }

    /// The positions and coordinates in words of 32 bits, which papers on formats count in.
    pub fn index_words(&self) -> usize {
        self.index_bytes.div_ceil(4)
    }
}

/// Counts slices and fibers by sorting, a mode at a time.
///
/// ```
/// use spc::tensor::{Coordinates, Indices, statistics};
///
/// let entries = Coordinates {
///     shape: vec![2, 4],
///     shape_is_stated: true,
///     indices: vec![Indices::U32(vec![1, 1, 1]), Indices::U32(vec![0, 2, 3])],
///     values: vec![1.0, 2.0, 3.0],
/// };
/// let statistics = statistics(&entries)?;
/// assert_eq!(statistics.density, 3.0 / 8.0);
/// assert_eq!((statistics.modes[0].slices.count, statistics.modes[0].slices.largest), (1, 3));
/// assert_eq!(statistics.modes[0].fibers.count, 3);
/// # Ok::<(), spc::tensor::PackError>(())
/// ```
///
/// # Errors
/// When indices are beyond the shape, or modes differ in their number of indices.
pub fn statistics<T: Element>(entries: &Coordinates<T>) -> Result<Statistics, PackError> {
    let nnz = entries.values.len();
    let groups = |modes: &[usize]| -> Result<Groups, PackError> {
        let (count, largest) = prefix_runs(&entries.shape, &entries.indices, nnz, modes)?;
        Ok(Groups { count, largest, entries: nnz })
    };
    let all: Vec<usize> = (0..entries.shape.len()).collect();
    let distinct = groups(&all)?.count;
    let mode = |mode: usize| -> Result<ModeStatistics, PackError> {
        let others: Vec<usize> = all.iter().copied().filter(|&other| other != mode).collect();
        Ok(ModeStatistics { extent: entries.shape[mode], slices: groups(&[mode])?, fibers: groups(&others)? })
    };
    let modes = all.iter().map(|&number| mode(number)).collect::<Result<_, _>>()?;
    let places: f64 = entries.shape.iter().map(|&extent| extent as f64).product();
    let density = if places == 0.0 { 0.0 } else { distinct as f64 / places };
    Ok(Statistics { shape: entries.shape.clone(), nnz, distinct, density, modes })
}

/// What it takes to store entries in a format, by storing them.
///
/// # Errors
/// As [`pack`].
pub fn storage_size<T: Element>(entries: &Coordinates<T>, format: &Format) -> Result<StorageSize, PackError> {
    let structure = Coordinates {
        shape: entries.shape.clone(),
        shape_is_stated: entries.shape_is_stated,
        indices: entries.indices.clone(),
        values: vec![0u8; entries.values.len()],
    };
    let tensor = pack(structure, format, Duplicates::Sum)?;
    let count = |array: Option<&IndexArray>| array.map_or(0, IndexArray::len);
    let stored = tensor.values().len();
    Ok(StorageSize {
        positions: tensor.levels().iter().map(|level| count(level.positions())).sum(),
        coordinates: tensor.levels().iter().map(|level| count(level.coordinates())).sum(),
        index_bytes: tensor.levels().iter().map(|level| level.bytes()).sum(),
        value_bytes: stored * size_of::<T>(),
        stored,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;
    use crate::tensor::Indices;
    use spc_compiler::format;
    use std::collections::BTreeMap;

    #[test]
    fn slices_and_fibers_are_those_counted_by_hand() {
        let entries = generate::uniform(&[7, 1, 20, 90], 2000, 11).unwrap();
        let statistics = statistics(&entries).unwrap();
        let column = |mode: usize| -> Vec<usize> {
            match &entries.indices[mode] {
                Indices::U32(indices) => indices.iter().map(|&index| index as usize).collect(),
                Indices::U64(indices) => indices.iter().map(|&index| index as usize).collect(),
            }
        };
        let columns: Vec<Vec<usize>> = (0..4).map(column).collect();
        let by_hand = |modes: &[usize]| {
            let mut counts = BTreeMap::new();
            let index = |entry: usize| modes.iter().map(|&mode| columns[mode][entry]).collect::<Vec<_>>();
            (0..2000).for_each(|entry| *counts.entry(index(entry)).or_insert(0) += 1);
            Groups { count: counts.len(), largest: counts.into_values().max().unwrap(), entries: 2000 }
        };
        for mode in 0..4 {
            let others: Vec<usize> = (0..4).filter(|&other| other != mode).collect();
            assert_eq!(statistics.modes[mode].slices, by_hand(&[mode]));
            assert_eq!(statistics.modes[mode].fibers, by_hand(&others));
        }
        assert_eq!((statistics.nnz, statistics.distinct), (2000, 2000));
        assert!((statistics.density - 2000.0 / 12600.0).abs() < 1e-12);
        assert_eq!(statistics.modes[1].slices.skew(), 1.0);
    }

    #[test]
    fn nothing_has_no_slices() {
        let entries = generate::uniform(&[0, 5], 0, 1).unwrap();
        let statistics = statistics(&entries).unwrap();
        assert_eq!((statistics.density, statistics.modes[1].slices), (0.0, Groups::default()));
        assert_eq!((statistics.modes[1].slices.mean(), statistics.modes[1].slices.skew()), (0.0, 0.0));
    }

    #[test]
    fn storage_is_what_the_arrays_take() {
        let entries = generate::uniform(&[10, 20, 30], 500, 1).unwrap();
        let coo = storage_size(&entries, &Format::coo(3)).unwrap();
        let (positions, coordinates, index_bytes) = (2, 3 * 500, 4 * (2 + 3 * 500));
        assert_eq!(coo, StorageSize { positions, coordinates, index_bytes, value_bytes: 8 * 500, stored: 500 });
        assert_eq!(coo.units(), 2 + 4 * 500);
        assert_eq!((coo.index_words(), coo.bytes()), (1502, 4 * 1502 + 4000));
        let dense = storage_size(&entries, &Format::dense(3)).unwrap();
        assert_eq!((dense.index_bytes, dense.stored), (0, 6000));
    }

    /// W. Yang, K. Li, K. Li: *A Pipeline Computing Method of SpTV for Three-Order Tensors on CPU and GPU* (2019), tables 4 to 6, for third-order
    /// tensors of `s` slices, `f` fibers and `n` entries. We store as well where the children of the last parent end, of each
    /// level that has positions, and where those before all levels begin and end.
    #[test]
    fn units_are_those_of_the_literature() {
        let entries = generate::uniform(&[40, 30, 50], 700, 3).unwrap();
        let statistics = statistics(&entries).unwrap();
        let (n, s, f) = (700, statistics.modes[0].slices.count, statistics.modes[2].fibers.count);
        let size = |name: &str| storage_size(&entries, &format::named(name, &[], 3).unwrap()).unwrap();
        let whole = 2;
        assert_eq!(size("hocoo").units(), 4 * n + whole);
        assert_eq!(size("hocsr").units(), 40 * 30 + 2 * n + 1);
        assert_eq!(size("hocfs_csr").units(), 2 * s + 2 * f + 2 * n + whole + 2);
        assert_eq!(size("cfb").units(), 2 * f + 2 * n + whole + 1);
        // Each slice has the width of its longest fiber.
        let (mut lengths, mut widths) = (BTreeMap::new(), BTreeMap::new());
        let index = |mode: usize, entry: usize| entries.indices[mode].at(entry);
        (0..n).for_each(|entry| *lengths.entry((index(0, entry), index(1, entry))).or_insert(0) += 1);
        for ((slice, _), length) in &lengths {
            let (fibers, width, entries) = widths.entry(*slice).or_insert((0, 0, 0));
            (*fibers, *width, *entries) = (*fibers + 1, (*width).max(*length), *entries + length);
        }
        let places: usize = widths.values().map(|(fibers, width, _)| fibers * width).sum();
        let ell = size("hocfs_ell");
        assert_eq!((ell.stored, ell.units()), (places, 2 * s + 2 * f + 2 * places + whole + 2));
        assert!(n < places && places < f * statistics.modes[2].fibers.largest);
        let chosen = |&(fibers, width, entries): &(usize, usize, usize)| match fibers * width {
            places if places <= 2 * entries => places,
            _ => entries,
        };
        assert_eq!(size("hocfs").stored, widths.values().map(chosen).sum());
        // A code for each entry; a bit more than a coordinate of each mode in COO takes here.
        assert_eq!((size("alto").units(), size("alto").index_bytes), (2 * n + whole, 8 * n + 4 * whole));
    }

    #[test]
    fn blocks_take_what_their_holes_take() {
        let entries = generate::uniform(&[9, 10], 20, 5).unwrap();
        let size = |block| storage_size(&entries, &format::named("bcsr", &[block], 2).unwrap()).unwrap();
        assert_eq!((size(1).units(), size(1).stored), (9 + 1 + 20 + 20, 20));
        let whole = size(16);
        assert_eq!((whole.stored, whole.positions, whole.coordinates), (16 * 16, 2, 1));
        assert_eq!(size(4).stored, size(4).coordinates * 16);
    }
}
