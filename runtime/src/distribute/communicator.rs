//! How ranks exchange what they need: a trait, and ranks that are threads of one process.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

/// What one rank has been sent, by sender.
struct Mailbox {
    from: Mutex<Vec<VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

/// What ranks of one process share.
struct Ranks {
    mailboxes: Vec<Mailbox>,
    /// The first rank that has stopped, and why.
    stopped: Mutex<Option<(usize, String)>>,
    limit: Option<Duration>,
}

/// One rank among those of a process, each a thread.
pub struct ThreadRank {
    rank: usize,
    all: Arc<Ranks>,
    traffic: Mutex<Traffic>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Communicator for ThreadRank {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.all.mailboxes.len()
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        assert_eq!(messages.len(), self.size(), "there is a message for each rank");
        for (to, message) in messages.into_iter().enumerate() {
            if to != self.rank && !message.is_empty() {
                *locked(&self.traffic) += Traffic { bytes: message.len() as u64, messages: 1 };
            }
            let mailbox = &self.all.mailboxes[to];
            locked(&mailbox.from)[self.rank].push_back(message);
            mailbox.arrived.notify_all();
        }
        (0..self.size()).map(|from| self.take(from)).collect()
    }

    fn traffic(&self) -> Traffic {
        *locked(&self.traffic)
    }
}

impl ThreadRank {
    /// The next message of a rank.
    fn take(&self, from: usize) -> Result<Vec<u8>, CommunicationError> {
        let mailbox = &self.all.mailboxes[self.rank];
        let begin = Instant::now();
        let mut arrived = locked(&mailbox.from);
        loop {
            if let Some(message) = arrived[from].pop_front() {
                return Ok(message);
            }
            if let Some((rank, reason)) = locked(&self.all.stopped).clone() {
                return Err(CommunicationError::Stopped { rank, reason });
            }
            if let Some(limit) = self.all.limit.filter(|limit| begin.elapsed() >= *limit) {
                return Err(CommunicationError::Late { rank: from, limit });
            }
            // Woken by messages; the time is for those who have stopped, and for the limit.
            let wait = mailbox.arrived.wait_timeout(arrived, WAKES);
            arrived = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How often a waiting rank looks whether another has stopped.
const WAKES: Duration = Duration::from_millis(20);

/// Runs `body` as so many ranks, each on a thread of its own, and gives their results by rank. `limit` is the longest that a rank waits
/// for another.
///
/// ```
/// use spc::distribute::{Communicator, on_threads};
///
/// let sums = on_threads(3, None, |ranks| {
///     let all = ranks.gather_all(&[ranks.rank() as u8]).map_err(|error| error.to_string())?;
///     Ok::<u8, String>(all.iter().map(|bytes| bytes[0]).sum())
/// });
/// assert_eq!(sums, Ok(vec![3, 3, 3]));
/// ```
///
/// # Errors
/// That of the first rank that failed; the others stop when they wait for it.
///
/// # Panics
/// When a rank panics.
pub fn on_threads<R: Send, E: Send + std::fmt::Display>(
    ranks: usize,
    limit: Option<Duration>,
    body: impl Fn(&ThreadRank) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let mailbox =
        |_| Mailbox { from: Mutex::new((0..ranks).map(|_| VecDeque::new()).collect()), arrived: Condvar::new() };
    let all = Arc::new(Ranks { mailboxes: (0..ranks).map(mailbox).collect(), stopped: Mutex::new(None), limit });
    let of_rank = |rank: usize| {
        let own = ThreadRank { rank, all: Arc::clone(&all), traffic: Mutex::default() };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(&own)));
        let reason = match &result {
            Ok(Ok(_)) => return result,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it panicked".to_owned(),
        };
        locked(&all.stopped).get_or_insert((rank, reason));
        all.mailboxes.iter().for_each(|mailbox| mailbox.arrived.notify_all());
        result
    };
    let of_rank = &of_rank;
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks).map(|rank| scope.spawn(move || of_rank(rank))).collect::<Vec<_>>();
        threads.into_iter().map(|thread| thread.join().expect("a rank's panic is caught")).collect()
    });
    let first = locked(&all.stopped).as_ref().map(|(rank, _)| *rank);
    let mut made = Vec::with_capacity(ranks);
    let mut failed = None;
    for (rank, result) in results.into_iter().enumerate() {
        match result {
            Ok(Ok(result)) => made.push(result),
            Ok(Err(error)) if Some(rank) == first => failed = Some(error),
            Ok(Err(error)) => failed = failed.or(Some(error)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    failed.map_or(Ok(made), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_the_order_of_ranks_and_rounds() {
        let rounds = |own: &ThreadRank| {
            for round in 0..50u8 {
                let messages = (0..own.size()).map(|to| vec![own.rank() as u8, to as u8, round]).collect();
                let taken = own.exchange(messages)?;
                let expected: Vec<Vec<u8>> =
                    (0..own.size()).map(|from| vec![from as u8, own.rank() as u8, round]).collect();
                assert_eq!(taken, expected);
            }
            Ok::<_, CommunicationError>(own.traffic())
        };
        let traffic = on_threads(5, None, rounds).unwrap();
        assert_eq!(traffic, [Traffic { bytes: 50 * 4 * 3, messages: 50 * 4 }; 5]);
    }

    #[test]
    fn the_first_to_stop_says_why_and_no_rank_hangs() {
        let body = |own: &ThreadRank| {
            if own.rank() == 2 {
                return Err("there is no file".to_owned());
            }
            own.gather_all(&[1]).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(on_threads(4, None, body), Err("there is no file".to_owned()));
    }

    #[test]
    fn waits_have_a_limit() {
        let body = |own: &ThreadRank| match own.rank() {
            0 => {
                std::thread::sleep(Duration::from_millis(300));
                Ok(())
            }
            _ => own.gather_all(&[1]).map(|_| ()),
        };
        let error = on_threads(2, Some(Duration::from_millis(50)), body).unwrap_err();
        assert_eq!(error, CommunicationError::Late { rank: 0, limit: Duration::from_millis(50) });
    }
}
