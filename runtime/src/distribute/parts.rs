//! Many parts on few ranks: what is computed does not depend on how many there are.

use super::communicator::{CommunicationError, Communicator};
use super::placement::cut;
use super::threads::{Ranks, ThreadRank};
use std::collections::VecDeque;
use std::ops::Range;

/// As many parts as there are where results are to have the same bits on any number of ranks up to it.
pub const PARTS: usize = 64;

/// More ranks than parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{parts} parts, of which each of {ranks} ranks has at least one")]
pub struct TooFewParts {
    /// So many parts,
    pub parts: usize,
    /// and so many ranks.
    pub ranks: usize,
}

/// How many parts so many ranks compute, to give the same bits as any other number: as many as a grid has cells, or [`PARTS`].
///
/// # Errors
/// When some ranks would have none.
pub fn parts_for(ranks: usize, cells: Option<usize>) -> Result<usize, TooFewParts> {
    let parts = cells.unwrap_or(PARTS);
    if parts < ranks { Err(TooFewParts { parts, ranks }) } else { Ok(parts) }
}

/// Runs `body` as so many parts on the ranks of a communicator, and gives the results of the parts that this rank has: as many as any
/// other, one after the other. To `body` parts are ranks. What they compute does not depend on how many ranks have them, so the results
/// of a run have the same bits on any number. All ranks call it.
///
/// ```
/// use spc::distribute::{Communicator, in_parts, on_threads};
///
/// let sum = |part: &dyn Communicator| Ok(part.gather_all(&[part.rank() as u8])?.iter().map(|bytes| bytes[0]).sum::<u8>());
/// let sums = on_threads(2, None, |ranks| in_parts(5, ranks, |part| sum(part)))?;
/// assert_eq!(sums, [vec![10, 10], vec![10, 10, 10]]);
/// # Ok::<(), spc::distribute::CommunicationError>(())
/// ```
///
/// # Errors
/// That of a part that failed, or when another rank has stopped.
///
/// # Panics
/// When there are fewer parts than ranks, or a part panics.
pub fn in_parts<R: Send, E: Send + std::fmt::Display + From<CommunicationError>>(
    parts: usize,
    ranks: &dyn Communicator,
    body: impl Fn(&ThreadRank) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    assert!(parts >= ranks.size(), "each rank has a part");
    let here = parts_of(parts, ranks.size(), ranks.rank());
    let all = Ranks::new(parts, here.clone(), None);
    let relay = || {
        let relayed = all.relay(ranks);
        if let Err(error) = &relayed {
            // Parts that wait for others end; who stopped them is on another rank.
            all.stop(parts, error.to_string());
        }
        relayed.map_err(E::from)
    };
    all.run(|_| here.clone(), body, relay)
}

/// The parts that one of so many ranks has: as many as any other, one after the other.
pub fn parts_of(parts: usize, ranks: usize, rank: usize) -> Range<usize> {
    cut(parts, ranks, rank)..cut(parts, ranks, rank + 1)
}

impl Ranks {
    /// Hands over what the ranks here and those elsewhere say to each other, as often as they do.
    fn relay(&self, ranks: &dyn Communicator) -> Result<(), CommunicationError> {
        let of = |rank: usize| parts_of(self.count(), ranks.size(), rank);
        let others = || (0..ranks.size()).filter(|&rank| rank != ranks.rank());
        let Some(first) = others().map(|rank| of(rank).start).next() else { return Ok(()) };
        // Each part sends something to all others, an empty message at least, in the order of parts.
        let have_all =
            |arrived: &mut [VecDeque<Vec<u8>>]| self.here.clone().all(|from| !arrived[from].is_empty()).then_some(());
        while self.wait(self.here.start, first, have_all)?.is_some() {
            let mut messages = vec![Vec::new(); ranks.size()];
            for rank in others() {
                for (from, to) in self.here.clone().flat_map(|from| of(rank).map(move |to| (from, to))) {
                    let message = self.take(from, to)?;
                    messages[rank].extend((message.len() as u64).to_le_bytes());
                    messages[rank].extend(message);
                }
            }
            let taken = ranks.exchange(messages)?;
            for rank in others() {
                let mut rest = &taken[rank][..];
                for (from, to) in of(rank).flat_map(|from| self.here.clone().map(move |to| (from, to))) {
                    let (length, behind) = rest.split_first_chunk().expect("a message says how long it is");
                    let (message, behind) = behind.split_at(u64::from_le_bytes(*length) as usize);
                    self.put(from, to, message.to_vec());
                    rest = behind;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::on_threads;

    /// What parts say to each other, on any number of ranks.
    #[test]
    fn parts_are_ranks_to_each_other() {
        let rounds = |own: &ThreadRank| {
            for round in 0..20u8 {
                // Some messages are empty.
                let message = |from: usize, to: usize| [from as u8, to as u8, round].repeat((from + to) % 3);
                let taken = own.exchange((0..own.size()).map(|to| message(own.rank(), to)).collect())?;
                let expected: Vec<Vec<u8>> = (0..own.size()).map(|from| message(from, own.rank())).collect();
                assert_eq!(taken, expected);
            }
            Ok::<_, CommunicationError>(own.rank())
        };
        for ranks in [1, 2, 3, 4, 7] {
            let parts = on_threads(ranks, None, |own| in_parts(7, own, rounds)).unwrap();
            assert_eq!(parts.len(), ranks);
            assert_eq!(parts.concat(), (0..7).collect::<Vec<usize>>());
        }
    }

    #[test]
    fn what_parts_of_one_rank_say_is_not_sent() {
        let body = |own: &ThreadRank| own.gather_all(&[1, 2]).map(|_| own.traffic().bytes);
        let sent = |ranks| on_threads(ranks, None, |own| in_parts(4, own, body)).unwrap().concat();
        assert_eq!(sent(1), [0; 4]);
        assert_eq!(sent(2), [4; 4]);
        assert_eq!(sent(4), [6; 4]);
    }

    #[test]
    fn a_part_that_fails_ends_all_ranks() {
        let body = |own: &ThreadRank| match own.rank() {
            5 => Err(CommunicationError::Mpi("the cable is out".to_owned())),
            _ => (0..3).try_for_each(|_| own.gather_all(&[1]).map(|_| ())),
        };
        for ranks in [1, 2, 3] {
            let error = on_threads(ranks, None, |own| in_parts(6, own, body)).unwrap_err();
            assert_eq!(error.to_string(), "MPI: the cable is out", "{ranks} ranks");
        }
    }
}
