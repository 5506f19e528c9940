//! Options of verbs that work on many ranks.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use spc::distribute::message::{message, numbers};
use spc::distribute::{
    CommunicationError, Communicator, Machine, Overlap, ThreadRank, Traffic, in_parts, on_threads, parts_for,
};
use std::fmt::Display;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// The most ranks that run as threads.
const MOST: usize = 1024;

/// How many processes a launcher of MPI has started, this among them; Open MPI says so, and MPICH and its kin.
pub(crate) fn launched() -> usize {
    let said = |name| std::env::var(name).ok()?.parse().ok();
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].into_iter().find_map(said).unwrap_or(1)
}

/// An option that does not go with ranks, and why.
pub(crate) fn not_with_ranks(option: &str, why: &str) -> Failure {
    Failure::usage(format!("`{option}` {why}")).help(format!("leave out `{option}`, or the ranks"))
}

/// How many ranks there are, and how long they wait for each other.
#[derive(Debug, Args)]
pub(crate) struct RanksArguments {
    /// Work on so many ranks, which are threads here and exchange what they need. Under `mpirun`, in builds with MPI, the ranks are its
    /// processes
    #[arg(long = "ranks", value_name = "N")]
    pub(crate) number: Option<NonZeroUsize>,
    /// On ranks, the longest that one waits for another; then all end
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<NonZeroU32>,
    /// What the first option is called.
    #[arg(skip = "--ranks")]
    option: &'static str,
}

/// Whether ranks work while rows of operands are under way.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OverlapArgument {
    /// On ranks, work on entries that need no rows of other ranks while these are under way, and then on the others: `auto`, if not given,
    /// where that pays by a model in a kernel that runs again and again
    #[arg(long, value_enum, value_name = "WHEN")]
    overlap: Option<OverlapName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OverlapName {
    /// Where it pays, from the second run on
    Auto,
    Always,
    Never,
}

impl OverlapArgument {
    /// What refuses it where there are no ranks.
    pub(crate) fn given(self) -> (bool, &'static str) {
        (self.overlap.is_some(), "--overlap")
    }
}

impl From<OverlapArgument> for Overlap {
    fn from(OverlapArgument { overlap }: OverlapArgument) -> Self {
        match overlap {
            None | Some(OverlapName::Auto) => Overlap::WherePays(Machine::default()),
            Some(OverlapName::Always) => Overlap::Always,
            Some(OverlapName::Never) => Overlap::Never,
        }
    }
}

impl RanksArguments {
    /// The same under another name, where `--ranks` is something else.
    pub(crate) fn new(option: &'static str, number: Option<NonZeroUsize>, timeout: Option<NonZeroU32>) -> Self {
        Self { number, timeout, option }
    }

    /// Whether there are ranks, threads or processes.
    pub(crate) fn are_asked_for(&self) -> bool {
        self.number.is_some() || launched() > 1
    }

    /// Refuses options that need ranks, those beside `--timeout` where they are given, and more threads than run well.
    pub(crate) fn check(&self, for_ranks: &[(bool, &str)]) -> Result<(), Failure> {
        if launched() > 1 {
            return Ok(());
        }
        if let Some(ranks) = self.number {
            let help = "`spc explain --ranks` counts what any number of ranks would send";
            return match ranks.get() > MOST {
                true => Err(Failure::usage(format!("at most {MOST} ranks run as threads")).help(help)),
                false => Ok(()),
            };
        }
        let mut given = [(self.timeout.is_some(), "--timeout")].into_iter().chain(for_ranks.iter().copied());
        match given.find(|(is_given, _)| *is_given) {
            Some((_, option)) => Err(Failure::usage(format!("`{option}` is for ranks"))
                .help(format!("`{} N` runs on so many; so does `mpirun -n N`, in builds with MPI", self.option))),
            None => Ok(()),
        }
    }

    /// What `body` gives on the first rank, of the processes where this is one of many, else of threads; nothing where there are no ranks.
    pub(crate) fn run<R: Send, E: Send + Display + From<CommunicationError>>(
        &self,
        process: Option<&dyn Communicator>,
        is_deterministic: bool,
        refuse: impl Fn(E) -> Failure,
        body: impl Fn(&dyn Communicator) -> Result<R, E> + Sync,
    ) -> Result<Option<R>, Failure> {
        let all = self.run_each(process, is_deterministic, refuse, body)?;
        Ok(all.map(|mut all| all.swap_remove(0)))
    }

    /// The same of all ranks, or parts, that are here.
    pub(crate) fn run_each<R: Send, E: Send + Display + From<CommunicationError>>(
        &self,
        process: Option<&dyn Communicator>,
        is_deterministic: bool,
        refuse: impl Fn(E) -> Failure,
        body: impl Fn(&dyn Communicator) -> Result<R, E> + Sync,
    ) -> Result<Option<Vec<R>>, Failure> {
        let work = |ranks: usize| Work::of(is_deterministic, ranks, None);
        let all = match (process, self.number) {
            (Some(process), _) => work(process.size())?.on_each(process, body),
            (None, Some(ranks)) => {
                let work = work(ranks.get())?;
                let of_rank = |own: &ThreadRank| work.on_each(own, &body);
                on_threads(ranks.get(), self.longest_wait(), of_rank).map(|all| all.into_iter().flatten().collect())
            }
            (None, None) => return Ok(None),
        };
        all.map(Some).map_err(refuse)
    }

    /// The longest that a rank waits for another.
    pub(crate) fn longest_wait(&self) -> Option<Duration> {
        self.timeout.map(|seconds| Duration::from_secs(seconds.get().into()))
    }
}

/// What ranks take in some runs: in each the one that takes longest, and the medians of that; and what all have sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slowest<const CLOCKS: usize> {
    pub(crate) sent: Traffic,
    pub(crate) times: [Duration; CLOCKS],
    pub(crate) runs: usize,
}

impl<const CLOCKS: usize> Slowest<CLOCKS> {
    /// Of what this rank has sent and its times, as all others have; on the first rank.
    pub(crate) fn of(
        own: &dyn Communicator,
        sent: Traffic,
        times: &[[Duration; CLOCKS]],
    ) -> Result<Option<Self>, CommunicationError> {
        let nanoseconds = |time: &Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let numbers = [sent.bytes, sent.messages].into_iter().chain(times.as_flattened().iter().map(nanoseconds));
        let Some(all) = own.gather(message(numbers))? else { return Ok(None) };
        let all: Vec<Vec<u64>> = all.iter().map(|message| self::numbers(message).collect()).collect();
        let total = |place: usize| all.iter().map(|of_rank| of_rank[place]).sum();
        let median = |clock: usize| {
            let most = |run: usize| all.iter().map(|of_rank| of_rank[2 + run * CLOCKS + clock]).max();
            let mut of_runs: Vec<u64> = (0..times.len()).filter_map(most).collect();
            of_runs.sort_unstable();
            Duration::from_nanos(of_runs.get(of_runs.len() / 2).copied().unwrap_or(0))
        };
        let sent = Traffic { bytes: total(0), messages: total(1) };
        Ok(Some(Self { sent, times: std::array::from_fn(median), runs: times.len() }))
    }
}

/// How the work of ranks is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// One piece for each rank.
    OfRanks,
    /// So many pieces on any number of ranks, so that the results have the same bits.
    InParts(usize),
}

impl Work {
    /// Of so many ranks; in the parts that a grid has, if there is one, or in as many as usual, where results are to have the same bits.
    pub(crate) fn of(is_deterministic: bool, ranks: usize, cells: Option<usize>) -> Result<Self, Failure> {
        if !is_deterministic {
            return Ok(Work::OfRanks);
        }
        parts_for(ranks, cells).map(Work::InParts).map_err(|error| {
            let help = format!("take at most {} ranks, or leave it out", error.parts);
            Failure::usage(format!("`--deterministic` computes {error}")).help(help)
        })
    }

    /// How many pieces there are on so many ranks.
    pub(crate) fn pieces(self, ranks: usize) -> usize {
        match self {
            Work::OfRanks => ranks,
            Work::InParts(parts) => parts,
        }
    }

    /// What a rank does: `body` once, or for each of its parts. Gives the result of its first one.
    pub(crate) fn on<R: Send, E: Send + Display + From<CommunicationError>>(
        self,
        own: &dyn Communicator,
        body: impl Fn(&dyn Communicator) -> Result<R, E> + Sync,
    ) -> Result<R, E> {
        self.on_each(own, body).map(|mut all| all.swap_remove(0))
    }

    /// The same; gives the results of all its parts.
    pub(crate) fn on_each<R: Send, E: Send + Display + From<CommunicationError>>(
        self,
        own: &dyn Communicator,
        body: impl Fn(&dyn Communicator) -> Result<R, E> + Sync,
    ) -> Result<Vec<R>, E> {
        match self {
            Work::OfRanks => body(own).map(|result| vec![result]),
            Work::InParts(parts) => in_parts(parts, own, |part| body(part)),
        }
    }
}
