//! Processes that were started together, by `mpirun` or the like.

#[cfg(feature = "mpi")]
pub(crate) use with_mpi::Processes;

/// What a verb says that many processes can't do.
#[cfg(not(feature = "mpi"))]
pub(crate) fn without_mpi() -> crate::failure::Failure {
    let processes = crate::ranks::launched();
    let message = format!("{processes} processes were started together, and this `spc` was built without MPI");
    let help = "`cargo build --release --features spc-tensor-cli/mpi` builds it with MPI";
    crate::failure::Failure::usage(message).help(help)
}

#[cfg(feature = "mpi")]
mod with_mpi {
    use crate::failure::Failure;
    use crate::ranks::{RanksArguments, launched};
    use crate::{output, settings};
    use spc::distribute::{CommunicationError, Communicator, MpiRank};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    /// This process, and those that were started with it.
    pub(crate) struct Processes(MpiRank);

    /// How long the others let the first rank speak where all fail.
    const GRACE: Duration = Duration::from_millis(500);

    impl Processes {
        /// Begins with MPI. Refuses another number of ranks than that of processes.
        pub(crate) fn new(ranks: &RanksArguments) -> Result<Self, Failure> {
            let started = launched();
            let limit = ranks.longest_wait();
            if let Some(ranks) = ranks.number.filter(|ranks| ranks.get() != started) {
                return Err(Failure::usage(format!("`--ranks {ranks}` for {started} processes"))
                    .help("without `--ranks`, all processes that were started are ranks"));
            }
            let own = MpiRank::new(limit).map_err(|error| Failure::refused(&error))?;
            if own.rank() > 0 {
                settings::hush();
            }
            Ok(Self(own))
        }

        pub(crate) fn rank(&self) -> &MpiRank {
            &self.0
        }

        pub(crate) fn is_first(&self) -> bool {
            self.0.rank() == 0
        }

        /// Does something in all of them.
        pub(crate) fn together(&self, body: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
            // The end of MPI waits for all ranks, which one that has panicked must not.
            match catch_unwind(AssertUnwindSafe(body)) {
                Ok(result) => result,
                Err(_) => self.0.abort(101),
            }
        }

        /// A result where no rank has failed. The first that has failed says why before any ends, which would end the others.
        pub(crate) fn agree<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
            let heard =
                |said: Result<_, CommunicationError>| said.unwrap_or_else(|error| self.end(Failure::refused(&error)));
            let said: Vec<Vec<u8>> = heard(self.0.gather_all(&[u8::from(result.is_err())]));
            let Some(first) = said.iter().position(|said| *said == [1]) else { return result };
            if let Err(failure) = result
                && first == self.0.rank()
            {
                output::report(failure);
            }
            heard(self.0.gather_all(&[1]));
            Err(Failure::Reported)
        }

        /// Says what is wrong, and ends all ranks: some may wait for this one.
        pub(crate) fn end(&self, failure: Failure) -> ! {
            if !self.is_first() {
                std::thread::sleep(GRACE);
            }
            let status = failure.status();
            output::report(failure);
            self.0.abort(status)
        }
    }
}
