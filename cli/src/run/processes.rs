//! Ranks that are the processes of an `mpirun`.

use super::ranks::{failure, launched, of_rank};
use super::{Prepared, Run};
use crate::failure::Failure;
use crate::output;
use spc::distribute::{CommunicationError, Communicator, MpiRank};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// This process, and those that were started with it.
pub(super) struct Processes(MpiRank);

/// How long the others let the first rank speak where all fail.
const GRACE: Duration = Duration::from_millis(500);

impl Processes {
    pub(super) fn of(run: &Run) -> Result<Self, Failure> {
        let started = launched();
        if let Some(ranks) = run.ranks.filter(|ranks| ranks.get() != started) {
            return Err(Failure::usage(format!("`--ranks {ranks}` for {started} processes"))
                .help("without `--ranks`, all processes that were started are ranks"));
        }
        for (is_given, option) in
            [(run.stream.is_some(), "--stream"), (run.show_code, "--show-code"), (run.repeat.get() > 1, "--repeat")]
        {
            if is_given {
                return Err(Failure::usage(format!("`{option}` is for one process, and {started} were started")));
            }
        }
        if let Some(input) = run.inputs.iter().find(|input| input.text == "-") {
            let message = format!("`{}` comes from the standard input, which only one process has", input.name);
            return Err(Failure::usage(message).help("each rank reads the file: give its path"));
        }
        let own = MpiRank::new(run.longest_wait()).map_err(|error| Failure::refused(&error))?;
        Ok(Self(own))
    }

    pub(super) fn run(self, run: &Run) -> Result<(), Failure> {
        // The end of MPI waits for all ranks, which one that has panicked must not.
        match catch_unwind(AssertUnwindSafe(|| self.run_together(run))) {
            Ok(result) => result,
            Err(_) => self.0.abort(101),
        }
    }

    fn run_together(&self, run: &Run) -> Result<(), Failure> {
        let Self(own) = self;
        let Prepared { source, operands, destinations, progress, .. } = self.agree(run.prepared())?;
        let kernel = source.single()?;
        progress.step("placing");
        let (problem, plan) = self.agree(run.placed(own.size(), (kernel, &source), operands))?;
        progress.step("running");
        let ran = of_rank(&problem, &plan, own).unwrap_or_else(|error| self.end(failure(error, kernel, &source)));
        drop(progress);
        self.agree(ran.map_or(Ok(()), |ran| ran.report(&plan, kernel, &destinations)))
    }

    /// A result where no rank has failed; the first that has failed says why.
    fn agree<T>(&self, result: Result<T, Failure>) -> Result<T, Failure> {
        let Self(own) = self;
        let said = own.gather_all(&[u8::from(result.is_err())]);
        let said = said.unwrap_or_else(|error: CommunicationError| self.end(Failure::refused(&error)));
        match said.iter().position(|said| *said == [1]) {
            Some(first) if first != own.rank() => Err(Failure::Reported),
            _ => result,
        }
    }

    /// Says what is wrong, and ends all ranks: some may wait for this one.
    fn end(&self, failure: Failure) -> ! {
        let Self(own) = self;
        if own.rank() > 0 {
            std::thread::sleep(GRACE);
        }
        let status = failure.status();
        output::report(failure);
        own.abort(status)
    }
}
