//! The same where each rank has some entries: all that is cut on one level is cut at once, and no rank knows of coordinates that it has not.
//!
//! The homes of coordinates (see `homes`) know how many entries each has of all ranks. They find where cuts are, and count the coordinates that
//! are on both sides of one. Entries are in the order of ranks, and on each in the order in which it has them.

use super::bisection::place_of_cut;
use super::communicator::{CommunicationError, Communicator};
use super::homes::{self, Said};
use super::listed::Occupied;
use super::message::{message, numbers};

/// So many cuts are looked at together: which side an entry is on is a bit of each.
const TOGETHER: usize = 32;

/// The rank of each of this rank's entries, whose coordinates are given of the modes that count, with their extents. An entry that repeats the
/// one before it, in all of its coordinates, stays with it. All ranks call it.
pub(super) fn bisection_of_parts(
    repeats: &[bool],
    modes: &[(&Occupied, usize)],
    ranks: &dyn Communicator,
) -> Result<Vec<u32>, CommunicationError> {
    let entries = repeats.len();
    // Where no mode counts, cuts are by number alone.
    let alike = Occupied { coordinates: vec![0], places: vec![0; entries] };
    let alike = [(&alike, 1)];
    let modes = if modes.is_empty() { &alike } else { modes };
    let all = Piece { first: 0, ranks: ranks.size() };
    let mut level = Level { modes, ranks, repeats, pieces: vec![all], piece_of: vec![0; entries] };
    let mut rank_of = vec![0; entries];
    level.settle(&mut rank_of);
    while !level.pieces.is_empty() {
        level = level.cut()?;
        level.settle(&mut rank_of);
    }
    Ok(rank_of)
}

/// Entries of all ranks that are for so many ranks from a first one on.
#[derive(Debug, Clone, Copy)]
struct Piece {
    first: u32,
    ranks: usize,
}

impl Piece {
    fn left(self) -> Self {
        Self { first: self.first, ranks: self.ranks / 2 }
    }

    fn right(self) -> Self {
        let left = self.ranks / 2;
        Self { first: self.first + left as u32, ranks: self.ranks - left }
    }
}

/// What is to be cut next.
struct Level<'a> {
    modes: &'a [(&'a Occupied, usize)],
    ranks: &'a dyn Communicator,
    repeats: &'a [bool],
    pieces: Vec<Piece>,
    /// The piece of each entry here, or [`SETTLED`].
    piece_of: Vec<u32>,
}

/// An entry whose rank is known.
const SETTLED: u32 = u32::MAX;

/// Where a piece is cut along a mode: before a coordinate, but for so many of its entries.
#[derive(Debug, Clone, Copy, Default)]
struct Cut {
    middle: u64,
    left_of_middle: u64,
}

impl<'a> Level<'a> {
    /// Takes out pieces for one rank.
    fn settle(&mut self, rank_of: &mut [u32]) {
        let mut number_of = vec![SETTLED; self.pieces.len()];
        let mut left = Vec::new();
        for (number, piece) in number_of.iter_mut().zip(&self.pieces).filter(|(_, piece)| piece.ranks > 1) {
            *number = left.len() as u32;
            left.push(*piece);
        }
        for (rank, piece) in rank_of.iter_mut().zip(&mut self.piece_of).filter(|(_, piece)| **piece != SETTLED) {
            let number = number_of[*piece as usize];
            if number == SETTLED {
                *rank = self.pieces[*piece as usize].first;
            }
            *piece = number;
        }
        self.pieces = left;
    }

    /// The two halves of each piece.
    fn cut(self) -> Result<Self, CommunicationError> {
        let cuts = self.cuts()?;
        let own = self.own_of_middle(&cuts)?;
        let mut best: Vec<Option<(u64, usize)>> = vec![None; self.pieces.len()];
        for first in (0..self.modes.len()).step_by(TOGETHER) {
            let end = self.modes.len().min(first + TOGETHER);
            let shared = self.shared(&self.sides(&cuts[first..end], &own[first..end], first))?;
            for (piece, best) in best.iter_mut().enumerate() {
                for mode in first..end {
                    let shared = shared[piece * TOGETHER + mode - first];
                    if best.is_none_or(|(least, _)| shared < least) {
                        *best = Some((shared, mode));
                    }
                }
            }
        }
        let mut sides = Vec::new();
        let mut piece_of = vec![SETTLED; self.piece_of.len()];
        for mode in 0..self.modes.len() {
            if !best.iter().any(|best| matches!(best, Some((_, chosen)) if *chosen == mode)) {
                continue;
            }
            sides = self.sides(&cuts[mode..=mode], &own[mode..=mode], mode);
            for ((new, &piece), side) in piece_of.iter_mut().zip(&self.piece_of).zip(&sides) {
                if piece != SETTLED && matches!(best[piece as usize], Some((_, chosen)) if chosen == mode) {
                    *new = 2 * piece + u32::from(*side == 0);
                }
            }
        }
        drop(sides);
        let pieces = self.pieces.iter().flat_map(|piece| [piece.left(), piece.right()]).collect();
        Ok(Self { pieces, piece_of, ..self })
    }

    /// Where each piece is cut along each mode.
    fn cuts(&self) -> Result<Vec<Vec<Cut>>, CommunicationError> {
        let count = self.pieces.len();
        let of_home = self.modes.iter().map(|&(mode, extent)| {
            let counts = self.by_coordinate(mode, |_| 1, |one, other| one + other);
            homes::folded(extent, &counts, |one, other| one + other, self.ranks)
        });
        let of_home: Vec<Vec<Said>> = of_home.collect::<Result<_, _>>()?;
        let mut sums = vec![0u64; self.modes.len() * count];
        for (mode, said) in of_home.iter().enumerate() {
            said.iter().for_each(|[_, piece, entries]| sums[mode * count + *piece as usize] += entries);
        }
        let mut totals = vec![0u64; sums.len()];
        let mut before = totals.clone();
        for (rank, message) in self.ranks.gather_all(&message(sums))?.iter().enumerate() {
            if rank == self.ranks.rank() {
                before.copy_from_slice(&totals);
            }
            totals.iter_mut().zip(numbers::<u64>(message)).for_each(|(total, sum)| *total += sum);
        }
        let mut found = Vec::new();
        for (mode, said) in of_home.into_iter().enumerate() {
            let so_far = &mut before[mode * count..][..count];
            for [coordinate, piece, entries] in said {
                let Piece { ranks, .. } = self.pieces[piece as usize];
                let total = totals[mode * count + piece as usize];
                let wanted = (u128::from(total) * (ranks / 2) as u128 / ranks as u128) as u64;
                let below = so_far[piece as usize];
                so_far[piece as usize] += entries;
                if (below..below + entries).contains(&wanted) {
                    let at = place_of_cut(wanted, total, below..below + entries);
                    found.extend([mode as u64, piece, coordinate, at - below]);
                }
            }
        }
        let mut cuts = vec![vec![Cut::default(); count]; self.modes.len()];
        for message in self.ranks.gather_all(&message(found))? {
            for [mode, piece, middle, left_of_middle] in numbers::<[u64; 4]>(&message) {
                cuts[mode as usize][piece as usize] = Cut { middle, left_of_middle };
            }
        }
        Ok(cuts)
    }

    /// How many of this rank's entries at the coordinate of a cut are on its left, by mode and piece.
    fn own_of_middle(&self, cuts: &[Vec<Cut>]) -> Result<Vec<Vec<u64>>, CommunicationError> {
        let count = self.pieces.len();
        let mut counts = vec![0u64; self.modes.len() * count];
        for (mode, ((occupied, _), cuts)) in self.modes.iter().zip(cuts).enumerate() {
            for (&piece, &place) in self.piece_of.iter().zip(&occupied.places).filter(|(piece, _)| **piece != SETTLED) {
                let is_middle = occupied.coordinates[place as usize] == cuts[piece as usize].middle;
                counts[mode * count + piece as usize] += u64::from(is_middle);
            }
        }
        let all = self.ranks.gather_all(&message(counts.iter().copied()))?;
        let mut before = vec![0u64; counts.len()];
        for message in &all[..self.ranks.rank()] {
            before.iter_mut().zip(numbers::<u64>(message)).for_each(|(before, count)| *before += count);
        }
        let own = |mode: usize| {
            let of = |piece: usize| cuts[mode][piece].left_of_middle.saturating_sub(before[mode * count + piece]);
            (0..count).map(of).collect()
        };
        Ok((0..self.modes.len()).map(own).collect())
    }

    /// For each entry a bit of each of some cuts, which is set where it is on the left.
    fn sides(&self, cuts: &[Vec<Cut>], own: &[Vec<u64>], first: usize) -> Vec<u32> {
        let mut sides = vec![0u32; self.piece_of.len()];
        for (bit, (cuts, own)) in cuts.iter().zip(own).enumerate() {
            let (Occupied { coordinates, places }, _) = self.modes[first + bit];
            let mut left = own.clone();
            let mut was_left = false;
            let entries = self.piece_of.iter().zip(places).zip(self.repeats);
            for (side, ((&piece, &place), repeats)) in sides.iter_mut().zip(entries) {
                if piece == SETTLED {
                    continue;
                }
                let (coordinate, left) = (coordinates[place as usize], &mut left[piece as usize]);
                let is_middle = coordinate == cuts[piece as usize].middle;
                let is_left = match repeats {
                    true => was_left,
                    false => coordinate < cuts[piece as usize].middle || is_middle && *left > 0,
                };
                if is_left && is_middle {
                    *left = left.saturating_sub(1);
                }
                *side |= u32::from(is_left) << bit;
                was_left = is_left;
            }
        }
        sides
    }

    /// How many coordinates, of all modes, are on both sides of each of some cuts of each piece.
    fn shared(&self, sides: &[u32]) -> Result<Vec<u64>, CommunicationError> {
        let mut shared = vec![0u64; self.pieces.len() * TOGETHER];
        for &(mode, extent) in self.modes {
            let both = |entry: usize| u64::from(sides[entry]) | u64::from(!sides[entry]) << TOGETHER;
            let said = self.by_coordinate(mode, both, |one, other| one | other);
            for [_, piece, sides] in homes::folded(extent, &said, |one, other| one | other, self.ranks)? {
                let both = sides & sides >> TOGETHER;
                for (bit, shared) in shared[piece as usize * TOGETHER..][..TOGETHER].iter_mut().enumerate() {
                    *shared += both >> bit & 1;
                }
            }
        }
        let mut all = vec![0u64; shared.len()];
        for message in self.ranks.gather_all(&message(shared))? {
            all.iter_mut().zip(numbers::<u64>(&message)).for_each(|(all, shared)| *all += shared);
        }
        Ok(all)
    }

    /// What entries here say of each coordinate and piece, ascending; no entry says 0.
    fn by_coordinate(&self, mode: &Occupied, say: impl Fn(usize) -> u64, fold: impl Fn(u64, u64) -> u64) -> Vec<Said> {
        let count = self.pieces.len();
        let of_entries = self.piece_of.iter().zip(&mode.places).enumerate();
        let of_entries = of_entries.filter(|(_, (piece, _))| **piece != SETTLED);
        let keyed = of_entries.map(|(entry, (&piece, &place))| (place as usize * count + piece as usize, say(entry)));
        let said = |(key, value): (usize, u64)| [mode.coordinates[key / count], (key % count) as u64, value];
        let end = mode.coordinates.len().saturating_mul(count);
        if end <= 4 * self.piece_of.len() {
            let mut table = vec![0u64; end];
            keyed.for_each(|(key, value)| table[key] = fold(table[key], value));
            return table.into_iter().enumerate().filter(|(_, value)| *value != 0).map(said).collect();
        }
        let mut keyed: Vec<(usize, u64)> = keyed.collect();
        keyed.sort_unstable_by_key(|(key, _)| *key);
        let groups = keyed.chunk_by(|one, other| one.0 == other.0);
        groups.map(|group| said((group[0].0, group.iter().map(|(_, value)| *value).fold(0, &fold)))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::bisection::bisection;
    use crate::distribute::listed::Listed;
    use crate::distribute::placement::cut;
    use crate::distribute::{ThreadRank, on_threads};
    use crate::generate;

    /// Ranks find what one does that has all entries.
    #[test]
    fn parts_are_cut_as_the_whole_is() {
        let cube = generate::uniform(&[30, 40, 50], 3000, 1).unwrap();
        let skewed = generate::power_law(&[200, 9, 1000], 2000, &[1.2; 3], 2).unwrap();
        let few = generate::uniform(&[9, 9], 5, 1).unwrap();
        let long = generate::uniform(&[1, 70_000, 2], 900, 4).unwrap();
        for (entries, is_cut) in [
            (&cube, &[true; 3][..]),
            (&cube, &[false, true, false]),
            (&cube, &[false; 3]),
            (&skewed, &[true; 3]),
            (&few, &[true; 2]),
            (&few, &[false; 2]),
            (&long, &[true; 3]),
        ] {
            let all = Listed::of_coordinates(entries);
            for ranks in [1, 2, 3, 4, 7, 16, 33] {
                let part = |own: &ThreadRank| {
                    let here = cut(all.len(), ranks, own.rank())..cut(all.len(), ranks, own.rank() + 1);
                    let modes = all.indices.iter().map(|column| Occupied::of(&column[here.clone()]));
                    let modes: Vec<Occupied> = modes.collect();
                    let counted = modes.iter().zip(all.shape.iter().copied()).zip(is_cut);
                    let counted: Vec<_> = counted.filter(|(_, is_cut)| **is_cut).map(|(mode, _)| mode).collect();
                    bisection_of_parts(&vec![false; here.len()], &counted, own)
                };
                let found = on_threads(ranks, None, part).unwrap().concat();
                assert_eq!(found, bisection(&all, is_cut, ranks), "{:?} on {ranks}", all.shape);
            }
        }
    }
}
