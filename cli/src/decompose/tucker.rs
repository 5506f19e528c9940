//! `spc tucker`: a small core, and an orthonormal factor for each mode.

use super::arguments::{CheckpointArguments, EngineArguments, OutputArguments, TensorArguments, only_for, tolerance};
use super::checkpoint::{Identity, Resumed};
use super::engine::{Kernels, refuse};
use super::interrupt::Interrupt;
use super::labels::Labels;
use super::model::Kept;
use super::report::{self, Outcome};
use super::start::Init;
use super::tensor::{Given, Held};
use super::watch::{Shared, Watch};
use super::{done_before, ended, is_over};
use crate::arguments::bytes;
use crate::failure::Failure;
use crate::output::{self, digits};
#[cfg(feature = "mpi")]
use crate::processes::Processes;
#[cfg(not(feature = "mpi"))]
use crate::processes::without_mpi;
use crate::ranks::{RanksArguments, launched, not_with_ranks};
use crate::run::number;
use crate::{settings, threads};
use clap::{Args, ValueEnum};
use serde_json::json;
use spc::decompose::{
    Engine, Factor, Fitted, TuckerMethod, TuckerOptions, TuckerTensor, read_factors, tucker, tucker_of, tucker_on,
};
use spc::distribute::Communicator;
use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};

/// Decompose a tensor into a small core and a factor for each mode (Tucker)
///
/// X(i, j, k) is approximated by the sum over p, q, r of G(p, q, r) * A(i, p) * B(j, q) * C(k, r), for 3 to 8 modes; the columns of each
/// factor are orthonormal. Ctrl-C ends after the current iteration and keeps the model as it is; a second one ends at once.
#[derive(Debug, Args)]
pub(crate) struct Tucker {
    #[command(flatten)]
    tensor: TensorArguments,
    /// The extents of the core, one for each mode as `8,8,4`, or one for all
    #[arg(long, value_name = "R,..", value_delimiter = ',', required = true)]
    ranks: Vec<NonZeroUsize>,
    /// How the factors are found
    #[arg(long, value_enum, default_value = "hooi")]
    method: MethodName,
    /// The most iterations, of hooi; 50 if not given
    #[arg(long, value_name = "N")]
    iterations: Option<NonZeroUsize>,
    /// End when the fit changes by less from one iteration to the next, with hooi; with 0 all iterations are done; 1e-4 if not given
    #[arg(long, value_name = "NUMBER", value_parser = tolerance)]
    tolerance: Option<f64>,
    /// Where hooi starts: hosvd, a file for each mode as A.npy,B.npy,C.npy, or a model that `-o` has written; hosvd if not given
    #[arg(long, value_name = "START")]
    init: Option<OsString>,
    /// What random columns come from, where a rank is above what an unfolding has
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    #[command(flatten)]
    engine: EngineArguments,
    /// The most bytes for copies of the tensor in other formats, as 4GiB; half of what is free if not given
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
    /// Work on so many ranks, which are threads here: each has some slices of the tensor for each mode. Under `mpirun`, in builds with MPI,
    /// the ranks are its processes
    #[arg(long, value_name = "N")]
    on_ranks: Option<NonZeroUsize>,
    /// On ranks, the longest that one waits for another; then all end
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<NonZeroU32>,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    checkpoint: CheckpointArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
    /// Higher-order orthogonal iteration
    Hooi,
    /// Sequentially truncated higher-order SVD
    Sthosvd,
    /// Truncated higher-order SVD
    Hosvd,
}

impl MethodName {
    fn name(self) -> &'static str {
        match self {
            MethodName::Hooi => "hooi",
            MethodName::Sthosvd => "sthosvd",
            MethodName::Hosvd => "hosvd",
        }
    }

    fn method(self) -> TuckerMethod {
        match self {
            MethodName::Hooi => TuckerMethod::Hooi,
            MethodName::Sthosvd => TuckerMethod::StHosvd,
            MethodName::Hosvd => TuckerMethod::Hosvd,
        }
    }
}

/// How a run is made, and where.
struct Job<'a> {
    given: Given,
    labels: Labels,
    /// The extents of the core.
    ranks: Vec<usize>,
    init: Init,
    engine: Engine,
    kernels: Kernels,
    interrupt: Interrupt,
    /// This process, where it is one of many.
    process: Option<&'a dyn Communicator>,
}

impl Tucker {
    pub(crate) fn run(self) -> Result<(), Failure> {
        threads::on(self.engine.threads(), || self.run_here()).flatten()
    }

    /// On the threads that were asked for.
    fn run_here(&self) -> Result<(), Failure> {
        let ranks = RanksArguments::new("--on-ranks", self.on_ranks, self.timeout);
        if launched() > 1 {
            return self.in_processes(&ranks);
        }
        let init = self.check(&ranks)?;
        let given = self.tensor.read_on(&ranks, self.engine.deterministic)?;
        let job = self.job(init, given, None)?;
        let (model, outcome) = self.fit(&job, &ranks)?;
        self.told(&job, &model, &outcome)
    }

    #[cfg(not(feature = "mpi"))]
    fn in_processes(&self, _: &RanksArguments) -> Result<(), Failure> {
        Err(without_mpi())
    }

    #[cfg(feature = "mpi")]
    fn in_processes(&self, ranks: &RanksArguments) -> Result<(), Failure> {
        let init = self.check(ranks)?;
        let all = Processes::new(ranks)?;
        all.together(|| {
            let given = self.tensor.read_in(&all, ranks, self.engine.deterministic)?;
            let job = all.agree(self.job(init, given, Some(all.rank())))?;
            let (model, outcome) = self.fit(&job, ranks).unwrap_or_else(|failure| all.end(failure));
            all.agree(if all.is_first() { self.told(&job, &model, &outcome) } else { Ok(()) })
        })
    }

    /// What is asked for, of a tensor that was read.
    fn job<'a>(&self, init: Init, given: Given, process: Option<&'a dyn Communicator>) -> Result<Job<'a>, Failure> {
        let labels = self.output.labels(&given)?;
        let ranks = self.ranks(given.shape.len())?;
        let (engine, kernels) = self.engine.engine();
        Ok(Job { given, labels, ranks, init, engine, kernels, interrupt: Interrupt::catch()?, process })
    }

    /// Writes what was found, and says it.
    fn told(&self, job: &Job<'_>, model: &TuckerTensor, outcome: &Outcome) -> Result<(), Failure> {
        let Job { given, labels, ranks, kernels, interrupt, .. } = job;
        interrupt.done();
        let title = format!("Tucker decomposition of ranks {}", output::shape(ranks));
        let files = self.output.write(model, given, outcome, labels, &title, |page| page.of_tucker(model))?;
        let squares = model.core().values_of::<f64>().unwrap_or_default().iter().map(|value| value * value);
        let norm = squares.sum::<f64>().sqrt();
        if settings::json() {
            let mut document = report::head(self.method.name(), given, kernels);
            document.insert("ranks".to_owned(), json!(ranks));
            document.extend(report::body(outcome));
            document.insert("core_norm".to_owned(), number(norm));
            document.insert("times".to_owned(), report::times(given, outcome));
            document.insert("files".to_owned(), json!(files));
            document.insert("notes".to_owned(), report::notes(given, outcome));
            return output::print_json(document.into());
        }
        let about = format!("core {}, norm {}", output::shape(ranks), digits(norm));
        report::print(given, kernels, outcome, &[about], &files)
    }

    /// Refuses what does not go together, before anything is read.
    fn check(&self, ranks: &RanksArguments) -> Result<Init, Failure> {
        ranks.check(&[])?;
        if ranks.are_asked_for() && self.checkpoint.checkpoint.is_some() {
            return Err(not_with_ranks("--checkpoint", "is for one rank"));
        }
        if self.method != MethodName::Hooi {
            let hooi = [
                ("--iterations", self.iterations.is_some()),
                ("--tolerance", self.tolerance.is_some()),
                ("--init", self.init.is_some()),
                ("--checkpoint", self.checkpoint.checkpoint.is_some()),
            ];
            only_for(&hooi, "--method hooi")?;
        }
        self.output.check()?;
        self.init.as_ref().map_or(Ok(Init::Hosvd), |init| Init::of(init, &["hosvd"]))
    }

    /// One rank for each mode.
    fn ranks(&self, order: usize) -> Result<Vec<usize>, Failure> {
        let ranks: Vec<usize> = self.ranks.iter().map(|rank| rank.get()).collect();
        match ranks[..] {
            [rank] => Ok(vec![rank; order]),
            _ if ranks.len() == order => Ok(ranks),
            _ => {
                let message = format!("`--ranks` has {} numbers, but the tensor has {order} modes", ranks.len());
                Err(Failure::refused(message).help("give one for each mode, or one for all"))
            }
        }
    }

    fn fit(&self, job: &Job<'_>, ranks: &RanksArguments) -> Result<(TuckerTensor, Outcome), Failure> {
        let (most, tolerance) = (self.iterations.map_or(50, NonZeroUsize::get), self.tolerance.unwrap_or(1e-4));
        let (checkpoint, resumed) = self.checkpoint.open(|| self.identity(job))?;
        let start = match &resumed {
            None => self.start(job)?,
            Some(resumed) => {
                let model = TuckerTensor::of_file(&resumed.model)?;
                if let Some(stopped) = is_over(resumed, most, tolerance) {
                    return Ok((model, done_before(resumed.rows.clone(), stopped)));
                }
                Some(model.factors().to_vec())
            }
        };
        let options = TuckerOptions {
            ranks: job.ranks.clone(),
            iterations: most,
            tolerance,
            start,
            seed: self.seed,
            element: self.tensor.element,
            engine: job.engine.clone(),
            memory: self.memory,
            done: resumed.as_ref().map_or(0, Resumed::done),
        };
        let rows = resumed.map_or_else(Vec::new, |resumed| resumed.rows);
        if job.process.is_some_and(|process| process.rank() > 0) {
            let Fitted { model, stopped, compile_time, prepare_time, notes, .. } =
                self.fitted(job, &options, ranks, None)?;
            return Ok((model, Outcome { rows, stopped: stopped.name(), compile_time, prepare_time, notes }));
        }
        let title = format!("tucker {}, ranks {}", self.method.name(), output::shape(&job.ranks));
        let watch = Watch::new(&job.given, &title, most, &job.kernels, &job.interrupt, checkpoint, rows);
        let mut watch = watch.with_tolerance(tolerance);
        let fitted = self.fitted(job, &options, ranks, Some(&mut watch))?;
        Ok(ended(fitted, watch, tolerance))
    }

    /// One run, on ranks where these are asked for.
    fn fitted(
        &self,
        job: &Job<'_>,
        options: &TuckerOptions,
        ranks: &RanksArguments,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<Fitted<TuckerTensor>, Failure> {
        let (given, method) = (&job.given, self.method.method());
        let watch = Shared::new(watch);
        let on = |own: &dyn Communicator| {
            let observe = &mut |iteration: &_| watch.step_on(own, iteration);
            match &given.held {
                Held::Whole(tensor) => tucker_on(tensor, method, options, own, observe),
                Held::OnRanks(all) => tucker_of(&all[&own.rank()], method, options, own, observe),
            }
        };
        if let Some(fitted) = ranks.run(job.process, self.engine.deterministic, refuse, on)? {
            return Ok(fitted);
        }
        let fitted = tucker(given.whole()?, method, options, &mut |step| {
            watch.step(step.iteration, &mut |path| step.model.model().keep(path))
        });
        fitted.map_err(refuse)
    }

    fn start(&self, job: &Job<'_>) -> Result<Option<Vec<Factor>>, Failure> {
        let shape = &job.given.shape[..];
        match &job.init {
            Init::Factors(files) => read_factors(files, shape, &job.ranks).map(Some).map_err(refuse),
            Init::Model(path) => {
                let model = TuckerTensor::of_file(path)?;
                if model.shape() != shape || model.core().shape() != job.ranks {
                    let found = (output::shape(model.core().shape()), output::shape(&model.shape()));
                    let needed = (output::shape(&job.ranks), output::shape(shape));
                    let message = format!(
                        "it is of ranks {} and shape {}, but here are ranks {} and shape {}",
                        found.0, found.1, needed.0, needed.1
                    );
                    return Err(Failure::file(path.display(), message));
                }
                Ok(Some(model.factors().to_vec()))
            }
            Init::Hosvd | Init::Random => Ok(None),
        }
    }

    /// What a run that goes on must have in common.
    fn identity(&self, job: &Job<'_>) -> Result<Identity, Failure> {
        let mut identity = job.given.identity("tucker")?;
        identity.extend([
            ("method", self.method.name().to_owned()),
            ("ranks", output::shape(&job.ranks)),
            ("init", self.init.as_ref().map_or_else(|| "hosvd".to_owned(), Init::name)),
            ("seed", self.seed.to_string()),
        ]);
        Ok(identity)
    }
}
