//! Rows of factors, for methods that update one factor after the other: each rank has some entries of a tensor, and for each mode the rows
//! at their coordinates.
//!
//! One rank owns each row. What ranks add to the rows of a mode goes to the owners, and the totals go back to all that have the row; so each
//! rank updates its rows by itself, and a row is the same wherever it is. That is the exchange of SPLATT (Smith and Karypis, A medium-grained
//! algorithm for distributed sparse tensor factorization, 2016), with the entries in equal numbers or in a grid, whichever takes less time.

use super::communicator::{CommunicationError, Communicator};
use super::listed::Listed;
use super::placement::Placement;
use super::plan::{Cost, Machine};
use super::rows::Rows;
use crate::tensor::{Coordinates, Indices};

/// The entries of a tensor on ranks.
pub(crate) struct Factors<'r> {
    ranks: &'r dyn Communicator,
    modes: Vec<Mode>,
    /// How the entries are shared out.
    placement: Placement,
}

/// The rows of one mode that a rank has.
struct Mode {
    /// Of all ranks.
    extent: usize,
    /// The coordinates of the rows that this rank has, ascending.
    here: Vec<u64>,
    /// For each rank, which rows of this one it owns; of this rank none.
    elsewhere: Vec<Vec<usize>>,
    /// For each rank, which of its rows this one owns, in the same order as the other has them.
    of_others: Vec<Vec<usize>>,
    /// The rows that this rank owns.
    own: Vec<usize>,
    /// For each rank, the coordinates of the rows that it owns.
    owned: Vec<Vec<u64>>,
}

impl std::fmt::Debug for Factors<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Factors").field("rank", &self.ranks.rank()).field("placement", &self.placement).finish()
    }
}

impl<'r> Factors<'r> {
    /// Shares entries out, for factors of so many bytes a row. All ranks call it with the same entries; gives those of this rank too, with
    /// coordinates as its rows are numbered.
    pub(crate) fn new(
        entries: &Coordinates<f64>,
        row_bytes: usize,
        ranks: &'r dyn Communicator,
    ) -> (Self, Coordinates<f64>) {
        let listed = Listed::of_coordinates(entries);
        let count = ranks.size();
        let made = Placement::of_entries("X", &listed.shape, count).into_iter().map(|placement| {
            let rank_of = placement.ranks_of(&listed, &vec![true; listed.shape.len()], count);
            let rows: Vec<Rows> = (0..listed.shape.len()).map(|mode| rows(&listed, mode, &rank_of, count)).collect();
            (cost(&rows, &rank_of, row_bytes, count), placement, rank_of, rows)
        });
        let mut made: Vec<_> = made.collect();
        let best = Cost::best(made.iter().map(|(cost, ..)| *cost)).expect("equal numbers are always possible");
        let (_, placement, rank_of, rows) = made.swap_remove(best);
        let own = ranks.rank();
        let modes: Vec<Mode> =
            rows.iter().zip(&listed.shape).map(|(rows, &extent)| Mode::of(rows, extent, own, count)).collect();
        let chosen: Vec<usize> = (0..listed.len()).filter(|&entry| rank_of[entry] as usize == own).collect();
        let renumbered = |(column, mode): (&Vec<u64>, &Mode)| {
            let number = |&entry: &usize| {
                let place = mode.here.binary_search(&column[entry]).expect("a rank has the rows of its entries");
                u32::try_from(place).expect("a rank has fewer rows than entries and shares of empty rows")
            };
            Indices::U32(chosen.iter().map(number).collect())
        };
        let here = Coordinates {
            // Kernels are of tensors that have some rows; a row without an owner is of zeros.
            shape: modes.iter().map(|mode| mode.here.len().max(1)).collect(),
            shape_is_stated: true,
            indices: listed.indices.iter().zip(&modes).map(renumbered).collect(),
            values: chosen.iter().map(|&entry| entries.values[entry]).collect(),
        };
        (Self { ranks, modes, placement }, here)
    }

    /// How many ranks there are, and how the entries are shared out, in words.
    pub(crate) fn note(&self) -> String {
        let own = self.modes.iter().map(|mode| mode.here.len().to_string()).collect::<Vec<_>>().join(", ");
        format!("entries over {} ranks, {}; rows of this rank: {own}", self.ranks.size(), self.placement)
    }

    /// The rows of this rank, of those of all.
    pub(crate) fn of_all(&self, mode: usize, values: &[f64], columns: usize) -> Vec<f64> {
        let here = &self.modes[mode].here;
        let rows = here.iter().flat_map(|&row| &values[row as usize * columns..(row as usize + 1) * columns]);
        let mut rows: Vec<f64> = rows.copied().collect();
        rows.resize(here.len().max(1) * columns, 0.0);
        rows
    }

    /// The rows that this rank owns, of those that it has.
    pub(crate) fn owned(&self, mode: usize, values: &[f64], columns: usize) -> Vec<f64> {
        let rows = self.modes[mode].own.iter().flat_map(|&row| &values[row * columns..(row + 1) * columns]);
        rows.copied().collect()
    }

    /// Adds what all ranks have of the rows of a mode: then each has the totals of its rows.
    pub(crate) fn total(&self, mode: usize, values: &mut [f64], columns: usize) -> Result<(), CommunicationError> {
        let Mode { elsewhere, of_others, own, .. } = &self.modes[mode];
        let message = |rows: &Vec<usize>, values: &[f64]| -> Vec<u8> {
            rows.iter()
                .flat_map(|&row| &values[row * columns..(row + 1) * columns])
                .copied()
                .flat_map(f64::to_le_bytes)
                .collect()
        };
        let taken = self.ranks.exchange(elsewhere.iter().map(|rows| message(rows, values)).collect())?;
        // In the order of ranks, so that the sum does not depend on who owns a row.
        let mut totals = vec![0.0; values.len()];
        for (rank, message) in taken.iter().enumerate() {
            if rank == self.ranks.rank() {
                for &row in own {
                    add(&mut totals, row, columns, values[row * columns..(row + 1) * columns].iter().copied());
                }
            }
            for (&row, bytes) in of_others[rank].iter().zip(message.chunks_exact(8 * columns)) {
                add(&mut totals, row, columns, numbers(bytes));
            }
        }
        let back = self.ranks.exchange(of_others.iter().map(|rows| message(rows, &totals)).collect())?;
        own.iter().for_each(|&row| {
            let place = row * columns..(row + 1) * columns;
            values[place.clone()].copy_from_slice(&totals[place]);
        });
        for (rows, message) in elsewhere.iter().zip(&back) {
            for (&row, bytes) in rows.iter().zip(message.chunks_exact(8 * columns)) {
                values[row * columns..].iter_mut().zip(numbers(bytes)).for_each(|(value, total)| *value = total);
            }
        }
        Ok(())
    }

    /// The sums of numbers of all ranks, the same on each.
    pub(crate) fn sums(&self, own: &[f64]) -> Result<Vec<f64>, CommunicationError> {
        reduced(self.ranks, own, |total, number| total + number)
    }

    /// The largest numbers of all ranks.
    pub(crate) fn largest(&self, own: &[f64]) -> Result<Vec<f64>, CommunicationError> {
        reduced(self.ranks, own, f64::max)
    }

    /// All rows of a mode, with their shape.
    pub(crate) fn whole(
        &self,
        mode: usize,
        values: &[f64],
        columns: usize,
    ) -> Result<([usize; 2], Vec<f64>), CommunicationError> {
        let Mode { extent, owned, .. } = &self.modes[mode];
        let own = self.owned(mode, values, columns);
        let message: Vec<u8> = own.into_iter().flat_map(f64::to_le_bytes).collect();
        let mut whole = vec![0.0; extent * columns];
        for (rows, message) in owned.iter().zip(self.ranks.gather_all(&message)?) {
            for (&row, bytes) in rows.iter().zip(message.chunks_exact(8 * columns)) {
                whole[row as usize * columns..].iter_mut().zip(numbers(bytes)).for_each(|(value, own)| *value = own);
            }
        }
        Ok(([*extent, columns], whole))
    }
}

/// What ranks have, combined number by number in their order: the same on each.
pub(crate) fn reduced(
    ranks: &dyn Communicator,
    own: &[f64],
    combine: fn(f64, f64) -> f64,
) -> Result<Vec<f64>, CommunicationError> {
    let message: Vec<u8> = own.iter().copied().flat_map(f64::to_le_bytes).collect();
    let all = ranks.gather_all(&message)?;
    let all = all.iter().map(|message| numbers(message).collect::<Vec<f64>>());
    let combined = all.reduce(|mut so_far, next| {
        so_far.iter_mut().zip(next).for_each(|(so_far, next)| *so_far = combine(*so_far, next));
        so_far
    });
    Ok(combined.unwrap_or_default())
}

/// The numbers of a message.
pub(crate) fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")))
}

fn add(totals: &mut [f64], row: usize, columns: usize, values: impl Iterator<Item = f64>) {
    totals[row * columns..(row + 1) * columns].iter_mut().zip(values).for_each(|(total, value)| *total += value);
}

fn rows(listed: &Listed, mode: usize, rank_of: &[u32], ranks: usize) -> Rows {
    let pairs = listed.indices[mode].iter().copied().zip(rank_of.iter().copied());
    Rows::of(listed.shape[mode], pairs.collect(), ranks)
}

/// What one sweep over all modes costs, by the model of [`Machine`]: the entries of the rank that has most for each mode, and what the rank
/// that sends most does.
fn cost(rows: &[Rows], rank_of: &[u32], row_bytes: usize, ranks: usize) -> Cost {
    let machine = Machine::default();
    let mut entries = vec![0u64; ranks];
    rank_of.iter().for_each(|&rank| entries[rank as usize] += 1);
    let mut sent = vec![0u64; ranks];
    for rows in rows {
        for coordinate in rows.shared() {
            let owner = rows.owner(coordinate) as usize;
            for user in rows.others(coordinate) {
                // There, and back.
                sent[user as usize] += row_bytes as u64;
                sent[owner] += row_bytes as u64;
            }
        }
    }
    let most = |counts: &[u64]| counts.iter().copied().max().unwrap_or(0) as f64;
    let time = most(&entries) * rows.len() as f64 * machine.entry + most(&sent) / machine.bandwidth;
    let mean = rank_of.len() as f64 / ranks as f64;
    let imbalance = if rank_of.is_empty() { 1.0 } else { most(&entries) / mean };
    Cost { time, bytes: sent.iter().sum(), imbalance }
}

impl Mode {
    fn of(rows: &Rows, extent: usize, own: usize, ranks: usize) -> Self {
        let mut here = [rows.needed(own), rows.owned(own)].concat();
        here.sort_unstable();
        here.dedup();
        let (mut elsewhere, mut of_others) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        let mut of_own = Vec::new();
        for (number, &coordinate) in here.iter().enumerate() {
            match rows.owner(coordinate) as usize {
                owner if owner == own => {
                    of_own.push(number);
                    rows.others(coordinate).for_each(|user| of_others[user as usize].push(number));
                }
                owner => elsewhere[owner].push(number),
            }
        }
        let owned = (0..ranks).map(|rank| rows.owned(rank)).collect();
        Self { extent, here, elsewhere, of_others, own: of_own, owned }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::{ThreadRank, on_threads};

    /// Ten entries of 4 x 3 x 5; row 3 of the first mode and row 4 of the last are empty.
    fn entries() -> Coordinates<f64> {
        let all = [
            (0, 0, 0),
            (0, 1, 1),
            (0, 2, 3),
            (1, 0, 2),
            (1, 1, 0),
            (1, 2, 1),
            (2, 0, 3),
            (2, 1, 2),
            (2, 2, 0),
            (2, 2, 3),
        ];
        let column = |of: fn(&(u32, u32, u32)) -> u32| Indices::U32(all.iter().map(of).collect());
        let indices = vec![column(|entry| entry.0), column(|entry| entry.1), column(|entry| entry.2)];
        let values = (1..=10).map(f64::from).collect();
        Coordinates { shape: vec![4, 3, 5], shape_is_stated: true, indices, values }
    }

    fn index(entries: &Coordinates<f64>, entry: usize, mode: usize) -> usize {
        entries.indices[mode].at(entry) as usize
    }

    /// Sums of slices, and rows of one number each.
    #[test]
    fn totals_are_those_of_all_entries() {
        let all = entries();
        for ranks in [1, 2, 3, 4, 7, 64] {
            let body = |own: &ThreadRank| {
                let (factors, here) = Factors::new(&all, 8, own);
                for mode in 0..3 {
                    let mut sums = vec![0.0; here.shape[mode]];
                    for (entry, value) in here.values.iter().enumerate() {
                        sums[index(&here, entry, mode)] += value;
                    }
                    factors.total(mode, &mut sums, 1)?;
                    let (shape, whole) = factors.whole(mode, &sums, 1)?;
                    let mut expected = vec![0.0; all.shape[mode]];
                    for (entry, value) in all.values.iter().enumerate() {
                        expected[index(&all, entry, mode)] += value;
                    }
                    assert_eq!((shape, &whole), ([all.shape[mode], 1], &expected), "{ranks} ranks, mode {mode}");
                    // A row is the same wherever it is, and owned once.
                    let rows = factors.modes[mode].here.len();
                    assert_eq!(factors.of_all(mode, &whole, 1)[..rows], sums[..rows]);
                    let owned = factors.sums(&[factors.owned(mode, &sums, 1).len() as f64])?;
                    assert_eq!(owned, [all.shape[mode] as f64]);
                }
                assert_eq!(factors.sums(&[here.values.len() as f64])?, [10.0]);
                assert_eq!(factors.largest(&[own.rank() as f64, -1.0])?, [(ranks - 1) as f64, -1.0]);
                Ok::<(), CommunicationError>(())
            };
            on_threads(ranks, None, body).unwrap();
        }
    }
}
