//! Ranks that are threads of one process.

use super::communicator::{CommunicationError, Communicator, Traffic};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What one rank has been sent, by sender.
struct Mailbox {
    from: Mutex<Vec<VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

/// Ranks, some of which are threads of this process.
pub(super) struct Ranks {
    /// Those that are here.
    pub(super) here: Range<usize>,
    /// One for each rank. What is for ranks that are elsewhere waits in theirs.
    mailboxes: Vec<Mailbox>,
    /// How many of those that are here have come to their end.
    ended: AtomicUsize,
    /// The first rank that has stopped, and why.
    stopped: Mutex<Option<(usize, String)>>,
    limit: Option<Duration>,
}

/// One rank among those of a process, each a thread.
pub struct ThreadRank {
    rank: usize,
    all: Arc<Ranks>,
    /// The ranks that have one memory with it: what they are handed is not sent.
    near: Range<usize>,
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
        self.exchange_during(messages, &mut || {})
    }

    fn exchange_during(
        &self,
        messages: Vec<Vec<u8>>,
        work: &mut (dyn FnMut() + Send),
    ) -> Result<Vec<Vec<u8>>, CommunicationError> {
        assert_eq!(messages.len(), self.size(), "there is a message for each rank");
        for (to, message) in messages.into_iter().enumerate() {
            if !self.near.contains(&to) && !message.is_empty() {
                *locked(&self.traffic) += Traffic { bytes: message.len() as u64, messages: 1 };
            }
            self.all.put(self.rank, to, message);
        }
        work();
        (0..self.size()).map(|from| self.all.take(from, self.rank)).collect()
    }

    fn traffic(&self) -> Traffic {
        *locked(&self.traffic)
    }
}

/// How often a waiting rank looks whether another has stopped.
const WAKES: Duration = Duration::from_millis(20);

impl Ranks {
    pub(super) fn new(count: usize, here: Range<usize>, limit: Option<Duration>) -> Arc<Self> {
        let mailbox =
            |_| Mailbox { from: Mutex::new((0..count).map(|_| VecDeque::new()).collect()), arrived: Condvar::new() };
        let mailboxes = (0..count).map(mailbox).collect();
        Arc::new(Self { here, mailboxes, ended: AtomicUsize::new(0), stopped: Mutex::new(None), limit })
    }

    pub(super) fn put(&self, from: usize, to: usize, message: Vec<u8>) {
        let mailbox = &self.mailboxes[to];
        locked(&mailbox.from)[from].push_back(message);
        mailbox.arrived.notify_all();
    }

    /// The next message of one rank to another.
    pub(super) fn take(&self, from: usize, to: usize) -> Result<Vec<u8>, CommunicationError> {
        let taken = self.wait(from, to, |arrived| arrived[from].pop_front())?;
        Ok(taken.expect("a rank that is waited for has not come to its end"))
    }

    /// What `found` finds among the messages to a rank; nothing when all ranks that are here have ended without it.
    pub(super) fn wait<T>(
        &self,
        from: usize,
        to: usize,
        mut found: impl FnMut(&mut [VecDeque<Vec<u8>>]) -> Option<T>,
    ) -> Result<Option<T>, CommunicationError> {
        let mailbox = &self.mailboxes[to];
        let begin = Instant::now();
        let mut arrived = locked(&mailbox.from);
        loop {
            if let Some(found) = found(&mut arrived) {
                return Ok(Some(found));
            }
            if let Some((rank, reason)) = locked(&self.stopped).clone() {
                return Err(CommunicationError::Stopped { rank, reason });
            }
            if self.ended.load(Ordering::Acquire) == self.here.len() {
                return Ok(None);
            }
            if let Some(limit) = self.limit.filter(|limit| begin.elapsed() >= *limit) {
                return Err(CommunicationError::Late { rank: from, limit });
            }
            // Woken by messages; the time is for those who have stopped, and for the limit.
            let wait = mailbox.arrived.wait_timeout(arrived, WAKES);
            arrived = wait.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many there are, here and elsewhere.
    pub(super) fn count(&self) -> usize {
        self.mailboxes.len()
    }

    fn wake_all(&self) {
        self.mailboxes.iter().for_each(|mailbox| mailbox.arrived.notify_all());
    }

    pub(super) fn stop(&self, rank: usize, reason: String) {
        locked(&self.stopped).get_or_insert((rank, reason));
        self.wake_all();
    }

    /// Runs `body` as each rank that is here, on a thread of its own, and `beside` on this one.
    pub(super) fn run<R: Send, E: Send + std::fmt::Display>(
        self: &Arc<Self>,
        near: impl Fn(usize) -> Range<usize> + Sync,
        body: impl Fn(&ThreadRank) -> Result<R, E> + Sync,
        beside: impl FnOnce() -> Result<(), E>,
    ) -> Result<Vec<R>, E> {
        let of_rank = |rank: usize| {
            let own = ThreadRank { rank, all: Arc::clone(self), near: near(rank), traffic: Mutex::default() };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(&own)));
            match &result {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => self.stop(rank, error.to_string()),
                Err(_) => self.stop(rank, "it panicked".to_owned()),
            }
            self.ended.fetch_add(1, Ordering::Release);
            self.wake_all();
            result
        };
        let of_rank = &of_rank;
        let (results, beside) = std::thread::scope(|scope| {
            let threads: Vec<_> = self.here.clone().map(|rank| scope.spawn(move || of_rank(rank))).collect();
            let beside = beside();
            let results = threads.into_iter().map(|thread| thread.join().expect("a rank's panic is caught"));
            (results.collect::<Vec<_>>(), beside)
        });
        let first = locked(&self.stopped).as_ref().map(|(rank, _)| *rank);
        let mut made = Vec::with_capacity(results.len());
        let mut failed = None;
        for (rank, result) in self.here.clone().zip(results) {
            match result {
                Ok(Ok(result)) => made.push(result),
                Ok(Err(error)) if Some(rank) == first => failed = Some(error),
                Ok(Err(error)) => failed = failed.or(Some(error)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        match first.is_some_and(|first| self.here.contains(&first)) {
            true => failed.map_or(Ok(made), Err),
            // What is elsewhere says it best.
            false => beside.and_then(|()| failed.map_or(Ok(made), Err)),
        }
    }
}

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
    Ranks::new(ranks, 0..ranks, limit).run(|rank| rank..rank + 1, body, || Ok(()))
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
