//! Rows of factors, for methods that update one factor after the other: each rank has some entries of a tensor, and for each mode the rows
//! at their coordinates.
//!
//! One rank owns each row. What ranks add to the rows of a mode goes to the owners, and the totals go back to all that have the row; so each
//! rank updates its rows by itself, and a row is the same wherever it is. That is the exchange of SPLATT (Smith and Karypis, A medium-grained
//! algorithm for distributed sparse tensor factorization, 2016), with the entries where they cost least. No rank
//! knows of rows that it has not: see `homes`.

use super::communicator::{CommunicationError, Communicator};
use super::cost::{Carried, Cost, Machine, OfParts, Summary, chosen, counts_of_parts};
use super::homes;
use super::listed::{Listed, Occupied};
use super::message::{numbers, put};
use super::placement::Placement;
use super::redistribute::{OwnEntries, moved};
use crate::tensor::{Coordinates, ElementType, Indices};
use std::borrow::Borrow;

/// The entries of a tensor on ranks.
pub(crate) struct Factors<'r> {
    ranks: &'r dyn Communicator,
    modes: Vec<Mode>,
    /// How the entries are shared out.
    placement: Placement,
    sent: Sent,
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
}

impl std::fmt::Debug for Factors<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Factors").field("rank", &self.ranks.rank()).field("placement", &self.placement).finish()
    }
}

impl<'r> Factors<'r> {
    /// Shares entries out, for factors of so many columns of such elements. All ranks call it, each with as many entries as any other; gives those that
    /// this rank has from then on, with coordinates as its rows are numbered.
    pub(crate) fn new(
        entries: Coordinates<f64>,
        (columns, element): (usize, ElementType),
        ranks: &'r dyn Communicator,
    ) -> Result<(Self, Coordinates<f64>), CommunicationError> {
        let (sent, row_bytes) = (Sent::of(element), columns * Sent::of(element).bytes());
        let listed = Listed::of_coordinates(&entries);
        drop(entries);
        let occupied: Vec<Occupied> = listed.indices.iter().map(|column| Occupied::of(column)).collect();
        let (shape, is_cut) = (&listed.shape[..], vec![true; listed.shape.len()]);
        let own = OwnEntries { count: listed.len(), shape, occupied: &occupied, is_cut: &is_cut };
        let cost = |rank_of: &[u32]| cost(shape, &occupied, rank_of, row_bytes, ranks);
        let (placement, rank_of) = chosen(Placement::of_entries("X", shape, ranks.size()), &own, ranks, cost)?;
        drop(occupied);
        let listed = moved(listed, &rank_of, ranks)?;
        drop(rank_of);
        let mut modes = Vec::new();
        let mut indices = Vec::new();
        for (column, &extent) in listed.indices.iter().zip(&listed.shape) {
            let Occupied { coordinates, places } = Occupied::of(column);
            let mode = Mode::of(&coordinates, extent, ranks)?;
            // Rows without entries lie between those with some.
            let number = |coordinate| {
                let place = mode.here.binary_search(coordinate).expect("a rank has the rows of its entries");
                u32::try_from(place).expect("a rank has fewer rows than entries and shares of empty rows")
            };
            let numbers: Vec<u32> = coordinates.iter().map(number).collect();
            indices.push(Indices::U32(places.iter().map(|&place| numbers[place as usize]).collect()));
            modes.push(mode);
        }
        let here = Coordinates {
            // Kernels are of tensors that have some rows; a row without an owner is of zeros.
            shape: modes.iter().map(|mode| mode.here.len().max(1)).collect(),
            shape_is_stated: true,
            indices,
            values: listed.coordinates().values,
        };
        Ok((Self { ranks, modes, placement, sent }, here))
    }

    /// How many ranks there are, and how the entries are shared out, in words.
    pub(crate) fn note(&self) -> String {
        let own = self.modes.iter().map(|mode| mode.here.len().to_string()).collect::<Vec<_>>().join(", ");
        format!("entries over {} ranks, {}; rows of this rank: {own}", self.ranks.size(), self.placement)
    }

    /// The coordinates of the rows of a mode that this rank has, ascending.
    pub(crate) fn rows(&self, mode: usize) -> &[u64] {
        &self.modes[mode].here
    }

    /// The rows that this rank owns, of those that it has.
    pub(crate) fn owned(&self, mode: usize, values: &[f64], columns: usize) -> Vec<f64> {
        let rows = self.modes[mode].own.iter().flat_map(|&row| &values[row * columns..(row + 1) * columns]);
        rows.copied().collect()
    }

    /// Adds what all ranks have of the rows of a mode: then each has the totals of its rows.
    pub(crate) fn total(&self, mode: usize, values: &mut [f64], columns: usize) -> Result<(), CommunicationError> {
        let Mode { elsewhere, of_others, own, .. } = &self.modes[mode];
        let sent = self.sent;
        let message = |rows: &Vec<usize>, values: &[f64]| {
            let mut message = Vec::with_capacity(rows.len() * columns * sent.bytes());
            rows.iter().for_each(|row| sent.put(&values[row * columns..][..columns], &mut message));
            message
        };
        let taken = self.ranks.exchange(elsewhere.iter().map(|rows| message(rows, values)).collect())?;
        // In the order of ranks, so that the sum does not depend on who owns a row.
        let mut totals = vec![0.0; values.len()];
        for (rank, message) in taken.iter().enumerate() {
            if rank == self.ranks.rank() {
                for row in own {
                    let place = row * columns..(row + 1) * columns;
                    add(&mut totals[place.clone()], &values[place]);
                }
            }
            sent.each_row(message, columns, of_others[rank].iter(), |row, of_other| {
                add(&mut totals[row * columns..][..columns], of_other);
            });
        }
        let back = self.ranks.exchange(of_others.iter().map(|rows| message(rows, &totals)).collect())?;
        own.iter().for_each(|&row| {
            let place = row * columns..(row + 1) * columns;
            values[place.clone()].copy_from_slice(&totals[place]);
        });
        for (rows, message) in elsewhere.iter().zip(&back) {
            sent.each_row(message, columns, rows.iter(), |row, total| {
                values[row * columns..][..columns].copy_from_slice(total);
            });
        }
        Ok(())
    }

    /// The sums of numbers of all ranks, the same on each.
    pub(crate) fn sums(&self, own: &[f64]) -> Result<Vec<f64>, CommunicationError> {
        summed(self.ranks, own)
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
        let Mode { extent, here, own, .. } = &self.modes[mode];
        let mut message = Vec::with_capacity(own.len() * (8 + columns * self.sent.bytes()));
        put(own.iter().map(|&row| here[row]), &mut message);
        own.iter().for_each(|row| self.sent.put(&values[row * columns..][..columns], &mut message));
        let mut whole = vec![0.0; extent * columns];
        for message in self.ranks.gather_all(&message)? {
            let rows = message.len() / (8 + columns * self.sent.bytes());
            let (rows, values) = message.split_at(8 * rows);
            let rows = numbers(rows).map(|row: u64| row as usize);
            self.sent.each_row(values, columns, rows, |row, values| {
                whole[row * columns..][..columns].copy_from_slice(values);
            });
        }
        Ok(([*extent, columns], whole))
    }
}

/// The sums of what ranks have, number by number.
pub(crate) fn summed(ranks: &dyn Communicator, own: &[f64]) -> Result<Vec<f64>, CommunicationError> {
    reduced(ranks, own, |total, number| total + number)
}

/// What ranks have, combined number by number in their order: the same on each.
pub(crate) fn reduced(
    ranks: &dyn Communicator,
    own: &[f64],
    combine: fn(f64, f64) -> f64,
) -> Result<Vec<f64>, CommunicationError> {
    let all = ranks.gather_all(bytemuck::cast_slice(own))?;
    let all = all.iter().map(|message| numbers(message).collect::<Vec<f64>>());
    let combined = all.reduce(|mut so_far, next| {
        so_far.iter_mut().zip(next).for_each(|(so_far, next)| *so_far = combine(*so_far, next));
        so_far
    });
    Ok(combined.unwrap_or_default())
}

fn add(totals: &mut [f64], values: &[f64]) {
    totals.iter_mut().zip(values).for_each(|(total, value)| *total += value);
}

/// How numbers of rows are sent.
#[derive(Debug, Clone, Copy)]
enum Sent {
    /// What kernels compute as `f32`: nothing is lost by it.
    F32,
    F64,
}

impl Sent {
    fn of(element: ElementType) -> Self {
        if element == ElementType::F32 { Sent::F32 } else { Sent::F64 }
    }

    fn bytes(self) -> usize {
        match self {
            Sent::F32 => 4,
            Sent::F64 => 8,
        }
    }

    /// Puts the numbers of a row after others in a message.
    fn put(self, row: &[f64], message: &mut Vec<u8>) {
        match self {
            Sent::F32 => put(row.iter().map(|&number| number as f32), message),
            Sent::F64 => message.extend_from_slice(bytemuck::cast_slice(row)),
        }
    }

    /// Calls `each` with each row of a message, and which it is.
    fn each_row(
        self,
        message: &[u8],
        columns: usize,
        rows: impl Iterator<Item = impl Borrow<usize>>,
        mut each: impl FnMut(usize, &[f64]),
    ) {
        let mut of_row = vec![0.0; columns];
        for (row, bytes) in rows.zip(message.chunks_exact(columns * self.bytes())) {
            let pairs = of_row.iter_mut();
            match self {
                Sent::F32 => pairs.zip(numbers::<f32>(bytes)).for_each(|(number, sent)| *number = sent.into()),
                Sent::F64 => pairs.zip(numbers(bytes)).for_each(|(number, sent)| *number = sent),
            }
            each(*row.borrow(), &of_row);
        }
    }
}

/// What one sweep over all modes costs, by the model of [`Machine`]: it goes through the entries for each mode. All ranks call it.
fn cost(
    shape: &[usize],
    own: &[Occupied],
    rank_of: &[u32],
    row_bytes: usize,
    ranks: &dyn Communicator,
) -> Result<Cost, CommunicationError> {
    // Rows go to their owners, and come back.
    let carried = Carried { operands: row_bytes as u64, results: row_bytes as u64, ..Carried::default() };
    let modes = own.iter().zip(shape);
    let indices: Vec<OfParts<'_>> =
        modes.map(|(mode, &extent)| OfParts { extent, modes: vec![mode], carried: &carried }).collect();
    let counts = counts_of_parts(&indices, rank_of, ranks)?;
    let usual = Machine::default();
    // Messages are long.
    let machine = Machine { entry: usual.entry * shape.len() as f64, latency: 0.0, ..usual };
    Ok(Summary::of(&counts, 0, machine).cost(ranks.size()))
}

impl Mode {
    /// Of the rows at some coordinates, ascending, which this rank needs. All ranks call it.
    fn of(needed: &[u64], extent: usize, ranks: &dyn Communicator) -> Result<Self, CommunicationError> {
        let (own, size) = (ranks.rank(), ranks.size());
        let pairs: Vec<(u64, u32)> = needed.iter().map(|&coordinate| (coordinate, own as u32)).collect();
        let known = homes::told(extent, &pairs, ranks)?;
        let mut answers = vec![Vec::new(); size];
        let mut without_entries: Vec<u64> = Vec::new();
        let mut next = homes::of_rank(extent, size, own);
        for (coordinate, users, owner) in known.groups() {
            users.iter().for_each(|&user| put([owner], &mut answers[user as usize]));
            without_entries.extend(next.start..coordinate);
            next.start = coordinate + 1;
        }
        without_entries.extend(next);
        // Homes are in the order of coordinates, as their answers are.
        let answers = ranks.exchange(answers)?.concat();
        let owners = numbers::<u32>(&answers);
        // What has no entries belongs to its home.
        let mut here: Vec<(u64, usize)> = needed.iter().copied().zip(owners.map(|owner| owner as usize)).collect();
        here.extend(without_entries.into_iter().map(|coordinate| (coordinate, own)));
        here.sort_unstable();
        let mut elsewhere = vec![Vec::new(); size];
        let mut of_own = Vec::new();
        let mut messages = vec![Vec::new(); size];
        for (number, &(coordinate, owner)) in here.iter().enumerate() {
            if owner == own {
                of_own.push(number);
            } else {
                elsewhere[owner].push(number);
                put([coordinate], &mut messages[owner]);
            }
        }
        let here: Vec<u64> = here.into_iter().map(|(coordinate, _)| coordinate).collect();
        let number = |coordinate: u64| here.binary_search(&coordinate).expect("an owner has its rows");
        let said = ranks.exchange(messages)?;
        let of_others = said.iter().map(|message| numbers(message).map(number).collect()).collect();
        Ok(Self { extent, here, elsewhere, of_others, own: of_own })
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

    /// Those that a rank has before they are shared out.
    fn part(all: &Coordinates<f64>, own: &ThreadRank) -> Coordinates<f64> {
        let chosen: Vec<usize> = (0..all.values.len()).filter(|entry| entry % own.size() == own.rank()).collect();
        Coordinates {
            shape: all.shape.clone(),
            shape_is_stated: true,
            indices: all.indices.iter().map(|column| column.chosen(&chosen)).collect(),
            values: chosen.iter().map(|&entry| all.values[entry]).collect(),
        }
    }

    fn index(entries: &Coordinates<f64>, entry: usize, mode: usize) -> usize {
        entries.indices[mode].at(entry) as usize
    }

    /// Sums of slices, and rows of one number each.
    #[test]
    fn totals_are_those_of_all_entries() {
        let all = entries();
        // Whole numbers, which `f32` has too.
        for (ranks, element) in [1, 2, 3, 4, 7, 64].into_iter().zip([ElementType::F32, ElementType::F64].repeat(3)) {
            let body = |own: &ThreadRank| {
                let (factors, here) = Factors::new(part(&all, own), (1, element), own)?;
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
                    let of_whole: Vec<f64> = factors.rows(mode).iter().map(|&row| whole[row as usize]).collect();
                    assert_eq!(of_whole, sums[..rows]);
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
