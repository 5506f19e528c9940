//! How the range of a parallel loop is cut into chunks: decided here from the loop, for every target that has threads.
//!
//! | | |
//! |---|---|
//! | weights | places alike, by work alone, or by work and places |
//! | chunks | many for each thread where they write; fewer where they append, or have copies, one for each thread |

use super::{Parallel, Sharing};

/// What chunks have alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// The number of places.
    Even,
    /// The work of their places.
    Work,
    /// The work of their places, each of which is a unit beside.
    WorkAndPlaces,
}

/// What limits the number of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Chunks have copies of results: there is one for each thread.
    Copies,
    /// Chunks append arrays of their own, which are joined.
    Appending,
    /// The same, where a chunk appends no more than it has work.
    AppendingBounded,
    /// Chunks write in place.
    Writing,
}

/// How a range is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkPolicy {
    /// What chunks have alike.
    pub weights: Weights,
    /// What limits their number.
    pub count: Count,
}

impl Parallel {
    /// How its range is cut.
    pub fn policy(&self) -> ChunkPolicy {
        let weights = match &self.work {
            None => Weights::Even,
            Some(work) if work.is_all => Weights::Work,
            Some(_) => Weights::WorkAndPlaces,
        };
        let has = |is: fn(&Sharing) -> bool| self.sharing.iter().any(|(_, sharing)| is(sharing));
        let count =
            match (has(|how| matches!(how, Sharing::Private(_))), has(|how| matches!(how, Sharing::Joined { .. }))) {
                (true, _) => Count::Copies,
                (false, true) if self.is_bounded => Count::AppendingBounded,
                (false, true) => Count::Appending,
                (false, false) => Count::Writing,
            };
        ChunkPolicy { weights, count }
    }
}
