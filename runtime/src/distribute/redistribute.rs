//! Entries that ranks have read go to those that work on them. No rank has all of them.

use super::bisection_of_parts::bisection_of_parts;
use super::communicator::{CommunicationError, Communicator};
use super::listed::{Listed, Occupied};
use super::message::{message, number, numbers};
use super::placement::{Placement, cells, cut, occupied, part_of_each};
#[cfg(feature = "decompose")]
use crate::tensor::Coordinates;
use crate::tensor::{PackError, StoredOrder};
use spc_compiler::format::Format;
use std::borrow::Borrow;

/// For each rank, so many keys are looked at to cut the entries into parts of equal numbers: none is larger than the mean by more than a
/// small part of it.
const SAMPLES: usize = 256;

/// Shares entries out in about equal numbers in the order in which a format stores them (a sample sort: Frazer and McKellar, Samplesort,
/// 1970). Those of equal coordinates come to one rank, in the order of the file.
pub(super) fn in_stored_order(
    own: Listed,
    format: &Format,
    ranks: &dyn Communicator,
) -> Result<Result<Listed, PackError>, CommunicationError> {
    let sorted = own.stored_order(format);
    // Who can't have keys says so to others by having none.
    let (order, failure) = match sorted {
        Ok(order) => (order, None),
        Err(error) => (StoredOrder::default(), Some(error)),
    };
    let counts = ranks.gather_all(&message([own.len() as u64]))?;
    let total: u64 = counts.iter().map(|count| number::<u64>(count)).sum();
    let size = ranks.size();
    // Each has as many samples as it has entries, in proportion.
    let wanted = (SAMPLES * size) as u128 * own.len() as u128;
    let wanted = wanted.div_ceil(u128::from(total.max(1))).min(order.len() as u128) as usize;
    let sample: Vec<u8> = (0..wanted).flat_map(|part| order.key(cut(order.len(), wanted, part)).to_vec()).collect();
    let samples = ranks.gather_all(&sample)?.concat();
    if let Some(error) = failure {
        return Ok(Err(error));
    }
    let mut samples: Vec<&[u8]> = samples.chunks_exact(order.width().max(1)).collect();
    samples.sort_unstable();
    let bounds: Vec<&[u8]> = match samples.is_empty() {
        true => Vec::new(),
        false => (1..size).map(|rank| samples[cut(samples.len(), size, rank)]).collect(),
    };
    let mut of_ranks = vec![Vec::new(); size];
    let mut rank = 0;
    for place in 0..order.len() {
        while bounds.get(rank).is_some_and(|bound| *bound <= order.key(place)) {
            rank += 1;
        }
        of_ranks[rank].push(order.entry(place));
    }
    exchanged(own, &of_ranks, ranks).map(Ok)
}

/// The entries of this rank, of which each has about as many as any other, in the order of ranks.
pub(super) struct OwnEntries<'a> {
    pub(super) count: usize,
    pub(super) shape: &'a [usize],
    /// Their coordinates in each mode.
    pub(super) occupied: &'a [Occupied],
    /// Of which modes a rank needs only the coordinates of its entries.
    pub(super) is_cut: &'a [bool],
}

impl OwnEntries<'_> {
    /// The rank of each entry in a placement of entries. All ranks call it.
    pub(super) fn ranks(
        &self,
        placement: &Placement,
        ranks: &dyn Communicator,
    ) -> Result<Vec<u32>, CommunicationError> {
        let modes = self.occupied.iter();
        match placement {
            Placement::Grid { parts, .. } => {
                cells_of_own(self.count, modes.zip(parts.iter().copied()).filter(|(_, parts)| *parts > 1), ranks)
            }
            Placement::Bisection { .. } => {
                let modes = modes.zip(self.shape.iter().copied()).zip(self.is_cut);
                let counted: Vec<_> = modes.filter(|(_, is_cut)| **is_cut).map(|(mode, _)| mode).collect();
                bisection_of_parts(&self.repeats(), &counted, ranks)
            }
            Placement::Shares { .. } | Placement::Range { .. } => Ok(vec![ranks.rank() as u32; self.count]),
        }
    }

    /// Whether an entry has the coordinates of the one before it: their sum is one entry, on one rank.
    fn repeats(&self) -> Vec<bool> {
        let is_alike = |entry: usize| self.occupied.iter().all(|mode| mode.places[entry] == mode.places[entry - 1]);
        (0..self.count).map(|entry| entry > 0 && is_alike(entry)).collect()
    }
}

/// Shares entries out by the cells of a grid, whose parts of a mode have about equal numbers of entries.
pub(super) fn in_grid(own: Listed, parts: &[usize], ranks: &dyn Communicator) -> Result<Listed, CommunicationError> {
    let cells = cells_of_own(own.len(), occupied(&own, parts), ranks)?;
    moved(own, &cells, ranks)
}

/// The cell of each of this rank's entries, in a grid whose parts of a mode have about equal numbers of the entries of all ranks; `modes` are
/// those that it cuts, each with its parts.
fn cells_of_own(
    entries: usize,
    modes: impl Iterator<Item = (impl Borrow<Occupied>, usize)>,
    ranks: &dyn Communicator,
) -> Result<Vec<u32>, CommunicationError> {
    cells(entries, modes, |coordinates, weights, parts| {
        let pairs = coordinates.iter().zip(weights).flat_map(|(coordinate, weight)| [*coordinate, u64::from(*weight)]);
        let all = ranks.gather_all(&message(pairs))?;
        let mut all: Vec<[u64; 2]> = all.iter().flat_map(|message| numbers(message)).collect();
        all.sort_unstable();
        let all = all.chunk_by(|one, other| one[0] == other[0]);
        let (all, weights): (Vec<u64>, Vec<u32>) = all
            .map(|group| {
                let weight: u64 = group.iter().map(|[_, weight]| weight).sum();
                (group[0][0], u32::try_from(weight).unwrap_or(u32::MAX))
            })
            .unzip();
        let part = part_of_each(&weights, parts);
        let of_own = |coordinate| part[all.binary_search(coordinate).expect("each rank has said which it has")];
        Ok(coordinates.iter().map(of_own).collect())
    })
}

/// Sends each entry to a rank; gives those that all have sent to this one, in the order of ranks.
pub(super) fn moved(own: Listed, rank_of: &[u32], ranks: &dyn Communicator) -> Result<Listed, CommunicationError> {
    let mut of_ranks = vec![Vec::new(); ranks.size()];
    rank_of.iter().enumerate().for_each(|(entry, &rank)| of_ranks[rank as usize].push(entry));
    exchanged(own, &of_ranks, ranks)
}

/// Shares entries out by slices of a mode: ranges of them, of about equal numbers of entries.
#[cfg(feature = "decompose")]
pub(crate) fn in_slices(
    own: &Coordinates<f64>,
    mode: usize,
    ranks: &dyn Communicator,
) -> Result<Coordinates<f64>, CommunicationError> {
    let mut parts = vec![1; own.shape.len()];
    parts[mode] = ranks.size();
    Ok(in_grid(Listed::of_coordinates(own), &parts, ranks)?.coordinates())
}

/// Sends entries to ranks; gives those that all have for this one, in the order of ranks.
fn exchanged(own: Listed, of_ranks: &[Vec<usize>], ranks: &dyn Communicator) -> Result<Listed, CommunicationError> {
    let mut messages = vec![Vec::new(); ranks.size()];
    for (message, entries) in messages.iter_mut().zip(of_ranks) {
        own.put(entries.iter().copied(), message);
    }
    let mut listed = Listed::empty(own.shape.clone(), own.element);
    drop(own);
    ranks.exchange(messages)?.iter().for_each(|message| listed.read(message));
    Ok(listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::{ThreadRank, on_threads};
    use crate::tensor::StorageFormat;
    use spc_compiler::ir::ElementType;

    /// The entries of a rank: of 40 x 30, with values that tell which they are.
    fn part(rank: usize, ranks: usize) -> Listed {
        let mut listed = Listed::empty(vec![40, 30], ElementType::F64);
        for entry in (0..600u64).filter(|entry| (entry % 7) as usize % ranks == rank) {
            // Some coordinates come twice.
            let place = (entry * 7919) % 500;
            listed.push([place % 40, place / 40], &(entry as f64).to_le_bytes());
        }
        listed
    }

    fn entries(listed: &Listed) -> Vec<(u64, u64, u64)> {
        let value = |entry| f64::from_le_bytes(listed.value(entry).try_into().unwrap()) as u64;
        (0..listed.len()).map(|entry| (listed.indices[0][entry], listed.indices[1][entry], value(entry))).collect()
    }

    /// All that ranks have together, and that each entry is there once.
    fn checked(all: &[Listed]) -> Vec<Vec<(u64, u64, u64)>> {
        let all: Vec<Vec<_>> = all.iter().map(entries).collect();
        let mut values: Vec<u64> = all.iter().flatten().map(|entry| entry.2).collect();
        values.sort_unstable();
        assert_eq!(values, (0..600).collect::<Vec<_>>());
        all
    }

    #[test]
    fn ranks_have_ranges_of_the_stored_order() {
        for ranks in [1, 2, 3, 7, 16] {
            let csc = crate::tensor::Csc::format();
            let body = |own: &ThreadRank| {
                in_stored_order(part(own.rank(), ranks), &csc, own).map(|placed| placed.expect("keys are narrow"))
            };
            let all = checked(&on_threads(ranks, None, body).unwrap());
            let key = |entry: &(u64, u64, u64)| (entry.1, entry.0);
            for pair in all.windows(2) {
                let (last, first) = (pair[0].iter().map(key).max(), pair[1].iter().map(key).min());
                assert!(last.zip(first).is_none_or(|(last, first)| last < first), "{ranks}: {pair:?}");
            }
            let most = all.iter().map(Vec::len).max().unwrap();
            assert!(most <= 600 / ranks + 600 / ranks / 4 + 4, "{ranks}: {most}");
        }
    }

    #[test]
    fn ranks_have_cells_of_a_grid() {
        let body = |own: &ThreadRank| in_grid(part(own.rank(), 6), &[3, 2], own);
        let all = checked(&on_threads(6, None, body).unwrap());
        let of = |cells: &[usize], mode: fn(&(u64, u64, u64)) -> u64| -> (u64, u64) {
            let all = cells.iter().flat_map(|&cell| &all[cell]).map(mode);
            (all.clone().min().unwrap(), all.max().unwrap())
        };
        let rows = [of(&[0, 1], |entry| entry.0), of(&[2, 3], |entry| entry.0), of(&[4, 5], |entry| entry.0)];
        assert!(rows.windows(2).all(|pair| pair[0].1 < pair[1].0), "{rows:?}");
        let columns = [of(&[0, 2, 4], |entry| entry.1), of(&[1, 3, 5], |entry| entry.1)];
        assert!(columns[0].1 < columns[1].0, "{columns:?}");
    }
}
