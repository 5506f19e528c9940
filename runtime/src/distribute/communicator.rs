//! How ranks exchange what they need.

use std::time::Duration;

/// What a rank has sent to others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The bytes of all messages; what a rank keeps for itself is none.
    pub bytes: u64,
    /// Messages that are not empty.
    pub messages: u64,
}

impl Traffic {
    /// What came after something that was counted before.
    pub fn since(self, before: Self) -> Self {
        Self { bytes: self.bytes - before.bytes, messages: self.messages - before.messages }
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.messages += other.messages;
    }
}

/// Why ranks can't go on together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommunicationError {
    /// Another rank has stopped.
    #[error("rank {rank} has stopped: {reason}")]
    Stopped {
        /// Which.
        rank: usize,
        /// What it says.
        reason: String,
    },
    /// A rank has waited for longer than it may.
    #[error("rank {rank} has sent nothing for {limit:?}; it may have stopped, or the limit on waits is too short")]
    Late {
        /// The rank that was waited for.
        rank: usize,
        /// The longest that may be waited.
        limit: Duration,
    },
    /// What MPI says.
    #[error("MPI: {0}")]
    Mpi(String),
}

/// Ranks that run the same program, each on its part of the data. All of them call the same methods in the same order.
pub trait Communicator {
    /// Which of the ranks this is, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn size(&self) -> usize;

    /// Sends bytes to each rank, and takes what each has sent to this one, by rank. A message to oneself is handed over.
    ///
    /// # Errors
    /// When another rank has stopped, or is late.
    ///
    /// # Panics
    /// When there is not one message for each rank.
    fn exchange(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError>;

    /// As [`exchange`](Self::exchange), and does some work while messages are under way. All ranks need not have the same to do, and one that
    /// has nothing calls `exchange`. `work` is called once, and may be on another thread; where there is an error, it may not be.
    ///
    /// Without an implementation of its own, a rank works when all messages have come.
    ///
    /// ```
    /// use spc::distribute::{Communicator, on_threads};
    ///
    /// let sums = on_threads(3, None, |ranks| {
    ///     let mut own = 0;
    ///     let taken = ranks.exchange_during(vec![vec![1]; 3], &mut || own = (1..=10).sum())?;
    ///     Ok::<u8, spc::distribute::CommunicationError>(taken.iter().map(|bytes| bytes[0]).sum::<u8>() + own)
    /// })?;
    /// assert_eq!(sums, [58; 3]);
    /// # Ok::<(), spc::distribute::CommunicationError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Communicator::exchange`].
    ///
    /// # Panics
    /// As there, and when `work` does.
    fn exchange_during(
        &self,
        messages: Vec<Vec<u8>>,
        work: &mut (dyn FnMut() + Send),
    ) -> Result<Vec<Vec<u8>>, CommunicationError> {
        let taken = self.exchange(messages)?;
        work();
        Ok(taken)
    }

    /// What this rank has sent so far.
    fn traffic(&self) -> Traffic;

    /// The bytes of every rank, by rank.
    ///
    /// # Errors
    /// As [`Communicator::exchange`].
    fn gather_all(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, CommunicationError> {
        self.exchange(vec![own.to_vec(); self.size()])
    }

    /// The bytes of every rank, by rank, on the first one; nothing on the others.
    ///
    /// # Errors
    /// As [`Communicator::exchange`].
    fn gather(&self, own: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, CommunicationError> {
        let mut messages = vec![Vec::new(); self.size()];
        messages[0] = own;
        let all = self.exchange(messages)?;
        Ok((self.rank() == 0).then_some(all))
    }
}
