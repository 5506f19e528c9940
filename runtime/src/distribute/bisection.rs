//! Entries cut in two, again and again.
//!
//! For `n` ranks, entries are cut into those of `n / 2` ranks and those of the others, along one mode: that in which fewest coordinates, of all
//! modes, are in both parts. Each part is cut in the same way. A cut is where the entries are as many as the ranks ask for, or where a
//! coordinate ends beside it. (Recursive bisection: Berger and Bokhari, A Partitioning Strategy for Nonuniform Problems on Multiprocessors,
//! 1987; the mode is chosen by what is sent instead of by its length.)

use super::listed::{Listed, Occupied};
use std::ops::Range;

/// How far from equal numbers a cut may be, as a part of the entries that are cut, so that a coordinate is in one part.
const SLACK: f64 = 0.02;

/// The rank of each entry. Only modes that are cut count: of others each rank has all coordinates.
pub(super) fn bisection(entries: &Listed, is_cut: &[bool], ranks: usize) -> Vec<u32> {
    let modes = entries.indices.iter().zip(is_cut).filter(|(_, is_cut)| **is_cut);
    let modes: Vec<Mode> = modes.map(|(column, _)| Mode::of(column)).collect();
    let mut of_entries = vec![0u32; entries.len()];
    let mut chosen: Vec<u32> = (0..entries.len() as u32).collect();
    Bisection { modes, turn: 0, of_entries: &mut of_entries }.cut(&mut chosen, 0, ranks);
    of_entries
}

/// How many of so many entries come before a cut where some are wanted, of which the last are among those of one coordinate: up to where that
/// begins or ends, if that is near.
pub(super) fn place_of_cut(wanted: u64, entries: u64, of_coordinate: Range<u64>) -> u64 {
    let Range { start: below, end: up_to } = of_coordinate;
    let nearest = if wanted - below <= up_to - wanted { below } else { up_to };
    let is_near = nearest.abs_diff(wanted) as f64 <= SLACK * entries as f64;
    if is_near && nearest != 0 && nearest != entries { nearest } else { wanted }
}

/// The places of a mode's coordinates, and in which turn each was last seen on either side.
struct Mode {
    places: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
}

impl Mode {
    fn of(column: &[u64]) -> Self {
        let Occupied { coordinates, places } = Occupied::of(column);
        Self { places, left: vec![0; coordinates.len()], right: vec![0; coordinates.len()] }
    }
}

struct Bisection<'a> {
    modes: Vec<Mode>,
    turn: u32,
    of_entries: &'a mut [u32],
}

impl Bisection<'_> {
    /// Shares some entries out to so many ranks from a first one on.
    fn cut(&mut self, entries: &mut [u32], first: usize, ranks: usize) {
        if ranks <= 1 || entries.is_empty() {
            entries.iter().for_each(|&entry| self.of_entries[entry as usize] = first as u32);
            return;
        }
        let left = ranks / 2;
        let wanted = (entries.len() as u128 * left as u128 / ranks as u128) as usize;
        let mut best: Option<(usize, usize, usize)> = None;
        for mode in 0..self.modes.len() {
            let at = self.arranged(entries, mode, wanted);
            let shared = self.shared(entries, at);
            if best.is_none_or(|(least, ..)| shared < least) {
                best = Some((shared, mode, at));
            }
        }
        let at = match best {
            Some((_, mode, at)) if mode + 1 < self.modes.len() => {
                self.arranged(entries, mode, wanted);
                at
            }
            Some((_, _, at)) => at,
            None => wanted,
        };
        let (one, other) = entries.split_at_mut(at);
        self.cut(one, first, left);
        self.cut(other, first + left, ranks - left);
    }

    /// Puts the entries of the first coordinates of a mode before the others, about as many as are wanted; gives how many they are.
    fn arranged(&self, entries: &mut [u32], mode: usize, wanted: usize) -> usize {
        if wanted == 0 || wanted == entries.len() {
            return wanted;
        }
        let places = &self.modes[mode].places;
        let place = |entry: &u32| places[*entry as usize];
        let (_, middle, _) = entries.select_nth_unstable_by_key(wanted, |entry| (place(entry), *entry));
        let middle = place(middle);
        let below = entries.iter().filter(|entry| place(entry) < middle).count();
        let up_to = below + entries.iter().filter(|entry| place(entry) == middle).count();
        let at = place_of_cut(wanted as u64, entries.len() as u64, below as u64..up_to as u64) as usize;
        if at != wanted {
            entries.select_nth_unstable_by_key(at, |entry| (place(entry), *entry));
        }
        at
    }

    /// How many coordinates, of all modes, entries before and behind a place have.
    fn shared(&mut self, entries: &[u32], at: usize) -> usize {
        self.turn += 1;
        let (one, other) = entries.split_at(at);
        let mut shared = 0;
        for Mode { places, left, right } in &mut self.modes {
            one.iter().for_each(|&entry| left[places[entry as usize] as usize] = self.turn);
            for &entry in other {
                let place = places[entry as usize] as usize;
                shared += usize::from(left[place] == self.turn && right[place] != self.turn);
                right[place] = self.turn;
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    fn numbers(of_entries: &[u32], ranks: usize) -> Vec<usize> {
        let mut numbers = vec![0; ranks];
        of_entries.iter().for_each(|&rank| numbers[rank as usize] += 1);
        numbers
    }

    #[test]
    fn ranks_have_about_equal_numbers() {
        let entries = generate::uniform(&[30, 40, 50], 5000, 1).unwrap();
        let listed = Listed::of_coordinates(&entries);
        for ranks in [1, 2, 3, 7, 16, 100] {
            let numbers = numbers(&bisection(&listed, &[true; 3], ranks), ranks);
            assert_eq!(numbers.iter().sum::<usize>(), 5000);
            let most = *numbers.iter().max().unwrap() as f64;
            assert!(most <= (5000.0 / ranks as f64).ceil() * 1.25, "{ranks}: {numbers:?}");
        }
        // More ranks than entries, no entries, and modes of which ranks have everything.
        let few = Listed::of_coordinates(&generate::uniform(&[9, 9], 5, 1).unwrap());
        assert!(numbers(&bisection(&few, &[true; 2], 64), 64).iter().all(|&number| number <= 1));
        assert_eq!(numbers(&bisection(&few, &[false; 2], 5), 5), [1; 5]);
        let none = Listed::empty(vec![3, 3], spc_compiler::ir::ElementType::F64);
        assert_eq!(bisection(&none, &[true; 2], 4), [0u32; 0]);
    }

    /// Two blocks that have no coordinate in common: the cut between them shares nothing, in whichever order they lie.
    #[test]
    fn a_cut_is_where_least_is_shared() {
        let mut listed = Listed::empty(vec![8, 8], spc_compiler::ir::ElementType::F64);
        for entry in 0..32u64 {
            let (block, row, column) = (entry % 2, entry / 2 % 4, entry / 8);
            // Rows are interleaved, columns are not.
            listed.push([2 * row + block, 4 * block + column], &1f64.to_le_bytes());
        }
        let of_entries = bisection(&listed, &[true; 2], 2);
        let expected: Vec<u32> = (0..32).map(|entry| entry % 2).collect();
        assert_eq!(of_entries, expected);
    }
}
