//! Who needs which coordinate, where no rank knows it of all coordinates.
//!
//! Each coordinate has a home: a rank that is told by all that need it, and that can tell them who owns it. That is a distributed directory
//! (Pinar and Hendrickson, Communication Support for Adaptive Computation, 2001; Zoltan has one).

use super::communicator::{CommunicationError, Communicator};
use super::message::{numbers, put};
use super::rows::Rows;
use std::ops::Range;

/// The coordinates whose home a rank is.
pub(super) fn of_rank(extent: usize, ranks: usize, rank: usize) -> Range<u64> {
    let first = |rank: usize| (extent as u128 * rank as u128).div_ceil(ranks as u128) as u64;
    first(rank)..first(rank + 1)
}

/// What is said to the home of each rank's coordinates, of what is in the order of coordinates.
fn by_home<T>(extent: usize, said: &[T], coordinate: impl Fn(&T) -> u64, ranks: usize) -> Vec<&[T]> {
    let mut rest = said;
    let of_home = |rank: usize| {
        let end = of_rank(extent, ranks, rank).end;
        let (own, behind) = rest.split_at(rest.partition_point(|said| coordinate(said) < end));
        rest = behind;
        own
    };
    (0..ranks).map(of_home).collect()
}

/// What the home of coordinates knows of them. All ranks call it, each with pairs of a coordinate, ascending, and a rank that needs it.
pub(super) fn told(extent: usize, pairs: &[(u64, u32)], ranks: &dyn Communicator) -> Result<Rows, CommunicationError> {
    let size = ranks.size();
    let message = |own: &[(u64, u32)]| {
        let mut message = Vec::with_capacity(12 * own.len());
        put(own.iter().map(|(coordinate, _)| *coordinate), &mut message);
        put(own.iter().map(|(_, rank)| *rank), &mut message);
        message
    };
    let of_homes = by_home(extent, pairs, |(coordinate, _)| *coordinate, size);
    let taken = ranks.exchange(of_homes.into_iter().map(message).collect())?;
    let pairs = taken.iter().flat_map(|message| {
        let (coordinates, ranks) = message.split_at(message.len() / 12 * 8);
        numbers(coordinates).zip(numbers(ranks))
    });
    Ok(Rows::of(extent, pairs.collect(), size))
}

/// A coordinate, what it is in, and a number that is said of both.
pub(super) type Said = [u64; 3];

/// What all ranks say of coordinates whose home this is, ascending, as one number each. All ranks call it, each with what it says, ascending.
pub(super) fn folded(
    extent: usize,
    said: &[Said],
    fold: impl Fn(u64, u64) -> u64,
    ranks: &dyn Communicator,
) -> Result<Vec<Said>, CommunicationError> {
    let of_homes = by_home(extent, said, |[coordinate, ..]| *coordinate, ranks.size());
    let taken = ranks.exchange(of_homes.into_iter().map(|said| bytemuck::cast_slice(said).to_vec()).collect())?;
    let mut all: Vec<Said> = taken.iter().flat_map(|message| numbers(message)).collect();
    drop(taken);
    // What each rank says is in order, which this sort makes use of.
    all.sort();
    all.dedup_by(|next, so_far| {
        let is_alike = next[..2] == so_far[..2];
        if is_alike {
            so_far[2] = fold(so_far[2], next[2]);
        }
        is_alike
    });
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::{ThreadRank, on_threads};

    #[test]
    fn homes_know_all_that_ranks_say() {
        for (extent, ranks) in [(10, 3), (7, 7), (3, 5), (1, 2), (1000, 6)] {
            let body = |own: &ThreadRank| {
                // All but each third coordinate is needed by its rank, and by the one behind it.
                let needed = (0..extent as u64).filter(|coordinate| coordinate % 3 != 0);
                let by = needed.flat_map(|coordinate| [coordinate, coordinate + 1].map(|by| (coordinate, by)));
                let of_own = by.filter(|(_, by)| *by as usize % ranks == own.rank());
                let pairs: Vec<(u64, u32)> = of_own.map(|(coordinate, _)| (coordinate, own.rank() as u32)).collect();
                let known = told(extent, &pairs, own)?;
                let home = of_rank(extent, ranks, own.rank());
                for (coordinate, users, owner) in known.groups() {
                    let expected = [coordinate, coordinate + 1].map(|by| (by as usize % ranks) as u32);
                    assert!(home.contains(&coordinate) && users.contains(&owner));
                    assert!(expected.iter().all(|user| users.contains(user)) && users.len() <= 2);
                }
                Ok::<_, CommunicationError>((home, known.groups().count()))
            };
            let all = on_threads(ranks, None, body).unwrap();
            let homes: Vec<u64> = all.iter().flat_map(|(home, _)| home.clone()).collect();
            assert_eq!(homes, (0..extent as u64).collect::<Vec<_>>());
            let known: usize = all.iter().map(|(_, known)| known).sum();
            assert_eq!(known, (0..extent).filter(|coordinate| coordinate % 3 != 0).count());
        }
    }
}
