//! One kernel, measured.

use super::record::{Case, Estimate, Foreseen, Record, Tuning};
use crate::failure::Failure;
use crate::names;
use spc::cuda::model::Predictions;
use spc::execute::{Around, Backend, Operand, Outcome, Program, ProgramError, ProgramOptions, ResultMemory, tune};
use spc::measure::{Cache, Machine, Summary, sizes};
use spc::tensor::AnyTensor;
use spc_compiler::concrete::TensorKind;
use spc_compiler::model::{Model, model};
use spc_compiler::notation;
use spc_compiler::syntax::Schedule;
use std::time::Duration;

/// How often kernels run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// How long the runs of one kernel take together, about.
    pub(crate) time: Duration,
    /// But so often at least, where that does not take ten times as long.
    pub(crate) fewest: usize,
    /// And so often at most.
    pub(crate) most: usize,
    /// What is measured.
    pub(crate) clocks: Clocks,
}

/// Which times are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clocks {
    /// That of the loops alone.
    Kernel,
    /// Those of whole calls too.
    All,
}

impl Budget {
    /// How often something runs that takes so long.
    pub(super) fn runs(&self, once: Duration) -> usize {
        let fit = |time: Duration| (time.as_secs_f64() / once.as_secs_f64().max(1e-9)) as usize;
        fit(self.time).clamp(self.fewest.min(fit(self.time * 10)).max(1), self.most)
    }
}

/// What a kernel is measured with.
pub(crate) struct Measuring<'a> {
    pub(crate) budget: Budget,
    pub(crate) machine: &'a Machine,
    pub(crate) caches: &'a [Cache],
    /// What runs kernels whose schedules are tuned.
    pub(crate) backend: Option<Backend>,
    /// What predicts the time, where nothing is measured.
    pub(crate) model: Option<&'a Predictions>,
}

/// What is known of a case before it is measured.
pub(crate) struct Subject {
    pub(crate) case: Case,
    pub(crate) shape: Vec<usize>,
    pub(crate) nnz: usize,
    pub(crate) read: Duration,
    pub(crate) pack: Duration,
}

impl Measuring<'_> {
    /// Runs a program on the machine's threads, after once to warm up.
    pub(crate) fn record(&self, program: &Program, subject: Subject) -> Result<Record, Failure> {
        let run = |count: usize| {
            spc::parallel::with_threads(self.machine.threads(), || program.run(count))
                .map_err(|error| ProgramTrouble::Threads(error.to_string()))?
                .map_err(ProgramTrouble::Program)
        };
        if let Some(model) = self.model {
            model.take();
            let outcome = run(1)?;
            let foreseen = Foreseen { gpu: model.description().clone(), predicted: model.take() };
            return Ok(self.filled(program, subject, &outcome, outcome.run_times.clone(), [None; 2], Some(foreseen)));
        }
        let once = run(2)?;
        let runs = self.budget.runs(once.run_times.last().copied().unwrap_or_default());
        // The first run of each call writes into memory that was not touched before.
        let outcome = run(runs + 1)?;
        let times = outcome.run_times.iter().skip(1).copied().collect();
        let calls = |memory: ResultMemory| -> Result<Option<Summary>, Failure> {
            let time = |count: usize| {
                spc::parallel::with_threads(self.machine.threads(), || program.time_calls(memory, count))
                    .map_err(|error| ProgramTrouble::Threads(error.to_string()))?
                    .map_err(ProgramTrouble::Program)
            };
            let Some(first) = time(1)?.and_then(|times| times.first().copied()) else { return Ok(None) };
            let times = time(self.budget.runs(first))?;
            Ok(times.map(|times| Summary::of(times.iter().map(Duration::as_secs_f64).collect())))
        };
        let whole = match self.budget.clocks {
            Clocks::Kernel => [None, None],
            Clocks::All => [calls(ResultMemory::Reused)?, calls(ResultMemory::New)?],
        };
        Ok(self.filled(program, subject, &outcome, times, whole, None))
    }

    /// The record of an outcome.
    fn filled(
        &self,
        program: &Program,
        subject: Subject,
        outcome: &Outcome,
        times: Vec<Duration>,
        [into, call]: [Option<Summary>; 2],
        foreseen: Option<Foreseen>,
    ) -> Record {
        Record {
            case: subject.case,
            shape: subject.shape,
            nnz: subject.nnz,
            backend: program.backend().name(),
            times: Summary::of(times.iter().map(Duration::as_secs_f64).collect()),
            into,
            call,
            read: subject.read.as_secs_f64(),
            compile: program.compile_time().as_secs_f64(),
            pack: subject.pack.as_secs_f64(),
            copies: copies(&outcome.around),
            ran_as: ran_as(program),
            around: outcome.around.clone(),
            estimate: self.estimate(program, outcome),
            checksum: outcome.outputs.iter().map(|(_, tensor)| checksum(tensor)).sum(),
            foreseen,
            spent: program.spent(),
        }
    }

    /// Measures other schedules of a kernel, and adds what all took to `tunings`; gives the kernel with the fastest, where that is
    /// worth having.
    pub(crate) fn tune(
        &self,
        kernel: &notation::Kernel,
        inputs: &[(String, Operand)],
        dimensions: &[(String, usize)],
        case: Case,
        tunings: &mut Vec<Tuning>,
    ) -> Result<Option<Program>, Failure> {
        let options = ProgramOptions { backend: self.backend, model: self.model.cloned(), ..ProgramOptions::default() };
        let on_threads = || {
            let tuned = tune(kernel, inputs, dimensions, &options, self.budget.time)?;
            let program = |(schedule, _): &(Schedule, Duration)| {
                Program::new(&kernel.with_schedule(schedule.clone()), inputs.to_vec(), dimensions, &options)
            };
            Ok((tuned.best.as_ref().map(program).transpose()?, tuned))
        };
        let (program, tuned) = spc::parallel::with_threads(self.machine.threads(), on_threads)
            .map_err(|error| ProgramTrouble::Threads(error.to_string()))?
            .map_err(ProgramTrouble::Program)?;
        tunings.push(Tuning { case, tuned, is_predicted: self.model.is_some() });
        Ok(program)
    }

    /// The models of all of a program's kernels; none where one has none.
    fn estimate(&self, program: &Program, outcome: &Outcome) -> Option<Estimate> {
        let outputs = || outcome.outputs.iter().map(|(name, tensor)| (name.as_str(), tensor));
        let models = program.compiled().kernels.iter().map(|compiled| {
            let sizes = sizes(&compiled.concrete, program.inputs().chain(outputs()));
            model(compiled, &sizes)
        });
        let model = models.reduce(|all, next| Some(Model::and(all?, next?)))??;
        let element = outcome.outputs.first().map_or(8, |(_, tensor)| tensor.element().bytes());
        Some(Estimate::of(&model, self.machine, self.caches, element))
    }
}

/// Why a program does not run.
enum ProgramTrouble {
    Threads(String),
    Program(ProgramError),
}

impl From<ProgramTrouble> for Failure {
    fn from(trouble: ProgramTrouble) -> Self {
        match trouble {
            ProgramTrouble::Threads(error) => Failure::refused(format!("the threads can't be started: {error}")),
            ProgramTrouble::Program(error) => Failure::refused(error),
        }
    }
}

/// The format of a copy that loops walk in place of an operand whose own format they do not.
fn ran_as(program: &Program) -> Option<String> {
    program.compiled().kernels.iter().find_map(|compiled| {
        let tensors = &compiled.concrete.tensors;
        tensors.iter().find_map(|tensor| match tensor.kind {
            TensorKind::SortedCopy(of) if !tensors[of.0].format.is_walked() => Some(names::of_format(&tensor.format)),
            _ => None,
        })
    })
}

/// What copies of operands and results take in each call, where there are any.
fn copies(around: &Around) -> Option<f64> {
    let is_copied = !around.copies.is_empty() || !around.deliveries.is_empty();
    is_copied.then(|| (around.copy_time() + around.deliver_time()).as_secs_f64())
}

/// The sum of the stored values.
fn checksum(tensor: &AnyTensor) -> f64 {
    (0..tensor.values().len()).map(|place| tensor.values().get_f64(place)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_fill_the_time() {
        let budget = Budget { time: Duration::from_millis(500), fewest: 5, most: 100, clocks: Clocks::All };
        let runs = |milliseconds: f64| budget.runs(Duration::from_secs_f64(milliseconds / 1e3));
        assert_eq!(
            [runs(10.0), runs(0.001), runs(0.0), runs(200.0), runs(2000.0), runs(9000.0)],
            [50, 100, 100, 5, 2, 1]
        );
    }
}
