//! `spc cp`: a sum of rank-1 tensors.

use super::arguments::{CheckpointArguments, EngineArguments, OutputArguments, TensorArguments, tolerance};
use super::checkpoint::{Checkpoint, Identity, Resumed};
use super::engine::{Kernels, refuse};
use super::interrupt::Interrupt;
use super::labels::Labels;
use super::method::MethodArguments;
use super::model::{Kept, is_archive, keep};
use super::report::{self, Outcome};
use super::start::Init;
use super::tensor::{Given, Held};
use super::watch::{Shared, Watch};
use super::{done_before, ended, is_over};
use crate::arguments::bytes;
use crate::failure::{Failure, note};
use crate::ranks::{RanksArguments, not_with_ranks};
use crate::{output, settings};
use clap::Args;
use serde_json::json;
use spc::decompose::{CpMethod, CpOptions, Engine, Fitted, KTensor, MethodState, Start, cp, cp_of, cp_on};
use spc::distribute::Communicator;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

/// Decompose a tensor into a sum of rank-1 tensors (CP)
///
/// X(i, j, k) is approximated by the sum over r of lambda(r) * A(i, r) * B(j, r) * C(k, r), for 3 to 8 modes. Shows the fit after each
/// iteration, which is the part of the norm of X that the model explains, and the weights lambda. Ctrl-C ends after the current
/// iteration and keeps the model as it is; a second one ends at once. Several ranks are compared.
#[derive(Debug, Args)]
pub(crate) struct Cp {
    #[command(flatten)]
    pub(super) tensor: TensorArguments,
    /// The number of components; several, as `4,8,16`, are compared
    #[arg(long, value_name = "R,..", value_delimiter = ',', required = true)]
    pub(super) rank: Vec<NonZeroUsize>,
    #[command(flatten)]
    pub(super) method: MethodArguments,
    /// The most iterations
    #[arg(long, value_name = "N", default_value = "50")]
    iterations: NonZeroUsize,
    /// End when what the method measures changes by less from one iteration to the next; with 0 all iterations are done
    #[arg(long, value_name = "NUMBER", default_value = "1e-4", value_parser = tolerance)]
    tolerance: f64,
    /// Where the factors start: random, hosvd, a file for each mode as A.npy,B.npy,C.npy, or a model that `-o` has written
    #[arg(long, value_name = "START", default_value = "random")]
    init: OsString,
    /// What random numbers come from
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Take the best of so many random starts, of this seed and the next ones
    #[arg(long, value_name = "N", default_value = "1")]
    starts: NonZeroUsize,
    #[command(flatten)]
    pub(super) engine: EngineArguments,
    /// The most bytes for copies of the tensor in other formats, as 4GiB; half of what is free if not given
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    memory: Option<u64>,
    #[command(flatten)]
    pub(super) on_ranks: RanksArguments,
    #[command(flatten)]
    pub(super) output: OutputArguments,
    #[command(flatten)]
    checkpoint: CheckpointArguments,
}

/// What the runs of a command have in common.
pub(super) struct Job<'a> {
    pub(super) given: Given,
    pub(super) labels: Labels,
    pub(super) method: CpMethod,
    init: Init,
    pub(super) engine: Engine,
    pub(super) kernels: Kernels,
    pub(super) interrupt: Interrupt,
    /// This process, where it is one of many.
    pub(super) process: Option<&'a dyn Communicator>,
}

impl Job<'_> {
    /// Whether this process prints and writes.
    pub(super) fn is_first(&self) -> bool {
        self.process.is_none_or(|process| process.rank() == 0)
    }
}

/// The best of some starts.
pub(super) struct Found {
    pub(super) model: KTensor,
    pub(super) outcome: Outcome,
    /// The seed of each start, with what it was worth.
    pub(super) starts: Vec<(u64, f64)>,
}

impl Cp {
    /// What is asked for, of a tensor that was read.
    pub(super) fn job<'a>(
        &self,
        init: Init,
        given: Given,
        process: Option<&'a dyn Communicator>,
    ) -> Result<Job<'a>, Failure> {
        let labels = self.output.labels(&given)?;
        let method = self.method.method(&given, self.seed)?;
        let (engine, kernels) = self.engine.engine();
        Ok(Job { given, labels, method, init, engine, kernels, interrupt: Interrupt::catch()?, process })
    }

    /// Refuses what does not go together, before anything is read.
    pub(super) fn check(&self) -> Result<Init, Failure> {
        self.method.check()?;
        self.output.check()?;
        let init = Init::of(&self.init, &["random", "hosvd"])?;
        self.on_ranks.check(&[])?;
        if let Some(option) = self.for_one_rank().filter(|_| self.on_ranks.are_asked_for()) {
            return Err(not_with_ranks(option, "is for one rank, and ranks are for a run by least squares"));
        }
        let is_file = matches!(init, Init::Factors(_) | Init::Model(_));
        let refuse = |message: &str, help: &str| Err(Failure::usage(message).help(help));
        if self.starts.get() > 1 && init != Init::Random {
            return refuse("several starts are random ones", "leave out `--init`, or `--starts`");
        }
        if self.starts.get() > 1 && self.checkpoint.checkpoint.is_some() {
            let help = "leave out `--starts`, and give the seed of the best start by `--seed`";
            return refuse("a checkpoint is of one start", help);
        }
        if self.rank.len() == 1 {
            return Ok(init);
        }
        if is_file {
            return refuse("factors are of one rank", "start several ranks by `--init random` or `--init hosvd`");
        }
        if self.checkpoint.checkpoint.is_some() {
            return refuse("a checkpoint is of one rank", "leave out `--checkpoint`, or give one `--rank`");
        }
        if self.output.html.is_some() {
            return refuse("a page is of one rank", "leave out `--html`, or give one `--rank`");
        }
        if self.output.output.as_deref().is_some_and(is_archive) {
            return refuse("an archive has one model", "name a folder, in which each rank has its own");
        }
        Ok(init)
    }

    /// An option that does not go with ranks.
    fn for_one_rank(&self) -> Option<&'static str> {
        let is_given = |is_given: bool, option| is_given.then_some(option);
        self.method
            .for_one_rank()
            .or(is_given(self.checkpoint.checkpoint.is_some(), "--checkpoint"))
            .or(is_given(self.starts.get() > 1, "--starts"))
    }

    pub(super) fn one(&self, job: &Job<'_>, rank: usize) -> Result<(), Failure> {
        self.told(job, rank, &self.found(job, rank)?)
    }

    /// The best of all starts of one rank.
    pub(super) fn found(&self, job: &Job<'_>, rank: usize) -> Result<Found, Failure> {
        let found = self.find(job, rank, |seed| match self.starts.get() {
            1 => format!("cp {}, rank {rank}", self.method.method.name()),
            _ => format!("cp {}, rank {rank}, seed {seed}", self.method.method.name()),
        })?;
        job.interrupt.done();
        Ok(found)
    }

    /// Writes what was found, and says it.
    pub(super) fn told(&self, job: &Job<'_>, rank: usize, found: &Found) -> Result<(), Failure> {
        let Found { model, outcome, starts } = found;
        let title = format!("CP decomposition of rank {rank}");
        let files = self.output.write(model, &job.given, outcome, &job.labels, &title, |page| page.of_cp(model))?;
        if settings::json() {
            let mut document = report::head(self.method.method.name(), &job.given, &job.kernels);
            document.extend(self.document(rank, found, &job.given));
            document.insert("files".to_owned(), json!(files));
            document.insert("notes".to_owned(), report::notes(&job.given, outcome));
            return output::print_json(document.into());
        }
        let mut about = vec![report::weights(model.weights())];
        if starts.len() > 1 {
            let best = starts.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(self.seed, |best| best.0);
            about.push(format!("the best of {} starts has seed {best}", starts.len()));
        }
        report::print(&job.given, &job.kernels, outcome, &about, &files)
    }

    /// What a document says of a rank.
    pub(super) fn document(
        &self,
        rank: usize,
        found: &Found,
        given: &Given,
    ) -> serde_json::Map<String, serde_json::Value> {
        let Found { model, outcome, starts } = found;
        let mut document = report::object(json!({ "rank": rank }));
        document.extend(report::body(outcome));
        document.insert("lambda".to_owned(), report::numbers(model.weights()));
        document.insert("times".to_owned(), report::times(given, outcome));
        if starts.len() > 1 {
            let start = |(seed, merit): &(u64, f64)| json!({ "seed": seed, "merit": crate::run::number(*merit) });
            document.insert("starts".to_owned(), starts.iter().map(start).collect());
        }
        document
    }

    /// The best of all starts; `title` says what is shown of a seed.
    pub(super) fn find(&self, job: &Job<'_>, rank: usize, title: impl Fn(u64) -> String) -> Result<Found, Failure> {
        let mut best: Option<(KTensor, Outcome)> = None;
        let mut starts = Vec::new();
        for place in 0..self.starts.get() as u64 {
            let seed = self.seed.wrapping_add(place);
            let (model, outcome) = self.fit(job, rank, seed, &title(seed))?;
            let merit = outcome.merit();
            starts.push((seed, merit));
            let is_better = best.as_ref().is_none_or(|(_, best)| merit > best.merit());
            let is_last = outcome.stopped == "interrupted";
            if is_better {
                best = Some((model, outcome));
            }
            if is_last {
                break;
            }
        }
        let (model, mut outcome) = best.ok_or_else(|| Failure::refused("there is no start"))?;
        if job.interrupt.is_pressed() {
            outcome.stopped = "interrupted";
        }
        Ok(Found { model, outcome, starts })
    }

    /// One run.
    fn fit(&self, job: &Job<'_>, rank: usize, seed: u64, title: &str) -> Result<(KTensor, Outcome), Failure> {
        let (checkpoint, resumed) = self.checkpoint.open(|| self.identity(&job.given, rank))?;
        let start = match &resumed {
            Some(Resumed { model, .. }) => Start::Model(KTensor::of_file(model)?),
            None => self.start(job, rank, seed)?,
        };
        let (most, before) = (self.iterations.get(), resumed.as_ref().map_or(0, Resumed::done));
        if let (Some(resumed), Start::Model(model)) = (&resumed, &start)
            && let Some(stopped) = is_over(resumed, most, self.tolerance)
        {
            return Ok((model.clone(), done_before(resumed.rows.clone(), stopped)));
        }
        let options = CpOptions {
            iterations: most,
            tolerance: self.tolerance,
            start,
            element: self.tensor.element,
            engine: job.engine.clone(),
            memory: self.memory,
            done: before,
            state: resumed.as_ref().and_then(|resumed| resumed.state.as_deref()).map(read_state).transpose()?,
            ..CpOptions::new(rank)
        };
        if resumed.is_some() && options.state.is_none() && matches!(job.method, CpMethod::Gcp(_) | CpMethod::Apr(_)) {
            note(
                "the checkpoint has no state of the method, only its model: the run goes on from that, and differs from one without a break",
            );
        }
        let rows = resumed.map_or_else(Vec::new, |resumed| resumed.rows);
        self.watched(job, &options, title, checkpoint, rows)
    }

    fn watched(
        &self,
        job: &Job<'_>,
        options: &CpOptions,
        title: &str,
        checkpoint: Option<Checkpoint>,
        rows: Vec<super::Row>,
    ) -> Result<(KTensor, Outcome), Failure> {
        if !job.is_first() {
            let Fitted { model, stopped, compile_time, prepare_time, notes, .. } = self.fitted(job, options, None)?;
            return Ok((model, Outcome { rows, stopped: stopped.name(), compile_time, prepare_time, notes }));
        }
        let watch = Watch::new(&job.given, title, options.iterations, &job.kernels, &job.interrupt, checkpoint, rows);
        let mut watch = match job.method {
            CpMethod::Als(_) | CpMethod::Nonnegative(_) => watch.with_tolerance(self.tolerance),
            // What they compare with the tolerance is no difference to the iteration before, or relative.
            _ => watch,
        };
        let fitted = self.fitted(job, options, Some(&mut watch))?;
        Ok(ended(fitted, watch, self.tolerance))
    }

    /// One run, on ranks where these are asked for.
    fn fitted(
        &self,
        job: &Job<'_>,
        options: &CpOptions,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<Fitted<KTensor>, Failure> {
        let (given, method) = (&job.given, &job.method);
        let watch = Shared::new(watch);
        if let CpMethod::Als(own) = method {
            let on = |ranks: &dyn Communicator| {
                let observe = &mut |iteration: &_| watch.step_on(ranks, iteration);
                match &given.held {
                    Held::Whole(tensor) => cp_on(tensor, own, options, ranks, observe),
                    Held::OnRanks(all) => cp_of(&all[&ranks.rank()], own, options, ranks, observe),
                }
            };
            if let Some(fitted) = self.on_ranks.run(job.process, self.engine.deterministic, refuse, on)? {
                return Ok(fitted);
            }
        }
        let fitted = cp(given.whole()?, method, options, &mut |step| {
            watch.step(step.iteration, &mut |path| keep(&step.model.model(), step.model.state().as_ref(), path))
        });
        fitted.map_err(refuse)
    }

    fn start(&self, job: &Job<'_>, rank: usize, seed: u64) -> Result<Start, Failure> {
        let shape = &job.given.shape[..];
        Ok(match &job.init {
            Init::Random => Start::Random { seed },
            Init::Hosvd => Start::Hosvd { seed },
            Init::Factors(files) => Start::from_files(files, shape, rank).map_err(refuse)?,
            Init::Model(path) => {
                let model = KTensor::of_file(path)?;
                if model.shape() != shape || model.rank() != rank {
                    let (found, needed) = (output::shape(&model.shape()), output::shape(shape));
                    let message = format!(
                        "it is of rank {} and shape {found}, but here are rank {rank} and {needed}",
                        model.rank()
                    );
                    return Err(Failure::file(path.display(), message));
                }
                Start::Model(model)
            }
        })
    }

    /// What a run that goes on must have in common.
    fn identity(&self, given: &Given, rank: usize) -> Result<Identity, Failure> {
        let mut identity = given.identity("cp")?;
        identity.extend([
            ("method", self.method.method.name().to_owned()),
            ("options of the method", self.method.identity()),
            ("rank", rank.to_string()),
            ("init", Init::name(&self.init)),
            ("seed", self.seed.to_string()),
        ]);
        Ok(identity)
    }
}

fn read_state(path: &Path) -> Result<MethodState, Failure> {
    MethodState::read(path).map_err(refuse)
}
