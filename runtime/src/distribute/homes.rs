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

/// What the home of coordinates knows of them. All ranks call it, each with pairs of a coordinate, ascending, and a rank that needs it.
pub(super) fn told(
    extent: usize,
    mut rest: &[(u64, u32)],
    ranks: &dyn Communicator,
) -> Result<Rows, CommunicationError> {
    let size = ranks.size();
    let message = |rank: usize| {
        let end = of_rank(extent, size, rank).end;
        let (own, behind) = rest.split_at(rest.partition_point(|(coordinate, _)| *coordinate < end));
        rest = behind;
        let mut message = Vec::with_capacity(12 * own.len());
        put(own.iter().map(|(coordinate, _)| *coordinate), &mut message);
        put(own.iter().map(|(_, rank)| *rank), &mut message);
        message
    };
    let taken = ranks.exchange((0..size).map(message).collect())?;
    let pairs = taken.iter().flat_map(|message| {
        let (coordinates, ranks) = message.split_at(message.len() / 12 * 8);
        numbers(coordinates).zip(numbers(ranks))
    });
    Ok(Rows::of(extent, pairs.collect(), size))
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
