//! Ranks that are processes, which `mpirun` or the like has started: messages go through MPI.

use super::communicator::{CommunicationError, Communicator, Traffic};
use mpi::datatype::{Buffer, BufferMut};
use mpi::environment::Universe;
use mpi::request::{LocalScope, Request, scope};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, Destination, Source};
use mpi::{Tag, Threading};
use std::cell::Cell;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// This process among those that run the same program.
///
/// MPI begins when it is made and ends when it is dropped. Calls come from one thread at a time.
pub struct MpiRank {
    world: SimpleCommunicator,
    limit: Option<Duration>,
    traffic: Cell<Traffic>,
    // Dropped last: it ends MPI.
    _universe: Universe,
}

/// The most bytes of a message of MPI, whose counts have 31 bits.
const MOST: usize = 1 << 30;

const TAG: Tag = 1;

/// How long a rank asks again and again whether a message has come before it sleeps in between.
const EAGER: Duration = Duration::from_millis(2);

/// How long it sleeps then.
const SLEEP: Duration = Duration::from_micros(200);

impl MpiRank {
    /// Begins with MPI. `limit` is the longest that a rank waits for another: then it ends the processes of all ranks, as messages that
    /// are under way can't be taken back.
    ///
    /// # Errors
    /// When MPI has begun before, or serves only programs of one thread.
    pub fn new(limit: Option<Duration>) -> Result<Self, CommunicationError> {
        let of_mpi = |reason: &str| CommunicationError::Mpi(reason.to_owned());
        let begun = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) = begun.ok_or_else(|| of_mpi("it has begun before"))?;
        if threading < Threading::Serialized {
            return Err(of_mpi("this library serves only programs of one thread"));
        }
        Ok(Self { world: universe.world(), limit, traffic: Cell::default(), _universe: universe })
    }

    /// Ends the processes of all ranks, with this exit status.
    pub fn abort(&self, status: u8) -> ! {
        self.world.abort(status.into())
    }

    /// Waits for the first of some messages that are under way, and for all others.
    fn wait<'a, T: ?Sized>(&self, requests: Vec<(usize, Request<'a, T, &LocalScope<'a>>)>) {
        let begin = Instant::now();
        let mut open = requests;
        while !open.is_empty() {
            let mut left = Vec::with_capacity(open.len());
            for (rank, request) in open {
                if let Err(request) = request.test() {
                    left.push((rank, request));
                }
            }
            open = left;
            let Some((rank, _)) = open.first() else { return };
            if let Some(limit) = self.limit.filter(|limit| begin.elapsed() >= *limit) {
                let late = CommunicationError::Late { rank: *rank, limit };
                // In one piece: other processes write there too, and who closed it does not want to read.
                _ = io::stderr().write_all(format!("error: rank {}: {late}\n", self.rank()).as_bytes());
                self.abort(1);
            }
            match begin.elapsed() < EAGER {
                true => std::thread::yield_now(),
                false => std::thread::sleep(SLEEP),
            }
        }
    }

    /// Sends to each rank what is for it, and fills what is from it.
    fn exchange_all<T>(&self, send: &[Vec<T>], take: &mut [Vec<T>], most: usize)
    where
        [T]: Buffer + BufferMut,
    {
        scope(|scope| {
            let mut requests = Vec::new();
            let process =
                |rank: usize| self.world.process_at_rank(i32::try_from(rank).expect("MPI has counted the ranks"));
            for (from, buffer) in take.iter_mut().enumerate() {
                let receive = |part| process(from).immediate_receive_into_with_tag(scope, part, TAG);
                requests.extend(buffer.chunks_mut(most).map(|part| (from, receive(part))));
            }
            let mut sent = Vec::new();
            for (to, buffer) in send.iter().enumerate() {
                let send = |part| process(to).immediate_send_with_tag(scope, part, TAG);
                sent.extend(buffer.chunks(most).map(|part| (to, send(part))));
            }
            self.wait(requests);
            self.wait(sent);
        });
    }
}

impl Communicator for MpiRank {
    fn rank(&self) -> usize {
        usize::try_from(self.world.rank()).expect("ranks count from 0")
    }

    fn size(&self) -> usize {
        usize::try_from(self.world.size()).expect("there is a rank")
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        let (own, size) = (self.rank(), self.size());
        assert_eq!(messages.len(), size, "there is a message for each rank");
        let lengths: Vec<Vec<u64>> = messages.iter().map(|message| vec![message.len() as u64]).collect();
        let mut coming = vec![vec![0u64]; size];
        self.exchange_all(&lengths, &mut coming, 1);
        let mut messages = messages;
        let kept = std::mem::take(&mut messages[own]);
        let mut taken = Vec::with_capacity(size);
        for (from, length) in coming.iter().enumerate() {
            let length = if from == own { 0 } else { length[0] };
            let mut bytes = Vec::new();
            let has_room = usize::try_from(length).is_ok_and(|length| bytes.try_reserve_exact(length).is_ok());
            if !has_room {
                return Err(CommunicationError::Mpi(format!("no memory for {length} bytes of rank {from}")));
            }
            bytes.resize(length as usize, 0u8);
            taken.push(bytes);
        }
        self.exchange_all(&messages, &mut taken, MOST);
        let mut traffic = self.traffic.get();
        for message in messages.iter().filter(|message| !message.is_empty()) {
            traffic += Traffic { bytes: message.len() as u64, messages: 1 };
        }
        self.traffic.set(traffic);
        taken[own] = kept;
        Ok(taken)
    }

    /// The work is done by rayon's threads. This one stays with the messages: MPI moves long ones on only where it is called.
    fn exchange_during(
        &self,
        messages: Vec<Vec<u8>>,
        work: &mut (dyn FnMut() + Send),
    ) -> Result<Vec<Vec<u8>>, CommunicationError> {
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| work());
            self.exchange(messages)
        })
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}
