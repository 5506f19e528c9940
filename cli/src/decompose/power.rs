//! `spc power`: best rank-1 approximations, one after the other.

use super::arguments::{CheckpointArguments, EngineArguments, OutputArguments, TensorArguments, tolerance};
use super::checkpoint::{Identity, Resumed};
use super::engine::refuse;
use super::interrupt::Interrupt;
use super::model::Kept;
use super::report;
use super::row::Row;
use super::tensor::Given;
use super::watch::Watch;
use super::{done_before, ended};
use crate::failure::Failure;
use crate::{output, settings, threads};
use clap::Args;
use serde_json::json;
use spc::decompose::{KTensor, PowerOptions, Stopped};
use std::num::NonZeroUsize;

/// Find the best rank-1 approximation of a tensor by the power method
///
/// Of several components, each approximates what the ones before have left (deflation). With `--symmetric` one vector serves all
/// modes. Ctrl-C ends after the current iteration and keeps the model as it is; a second one ends at once.
#[derive(Debug, Args)]
pub(crate) struct Power {
    #[command(flatten)]
    tensor: TensorArguments,
    /// How many components
    #[arg(long, value_name = "N", default_value = "1")]
    components: NonZeroUsize,
    /// One vector for all modes, of a symmetric tensor
    #[arg(long)]
    symmetric: bool,
    /// Random starts for each component, of which the best is taken
    #[arg(long, value_name = "N", default_value = "5")]
    starts: NonZeroUsize,
    /// The most iterations for each
    #[arg(long, value_name = "N", default_value = "100")]
    iterations: NonZeroUsize,
    /// A component ends when its weight changes by less, relative to itself; with 0 all iterations are done
    #[arg(long, value_name = "NUMBER", default_value = "1e-10", value_parser = tolerance)]
    tolerance: f64,
    /// What random numbers come from
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    output: OutputArguments,
    #[command(flatten)]
    checkpoint: CheckpointArguments,
}

impl Power {
    pub(crate) fn run(self) -> Result<(), Failure> {
        threads::on(self.engine.threads(), || self.run_here()).flatten()
    }

    /// On the threads that were asked for.
    fn run_here(&self) -> Result<(), Failure> {
        self.output.check()?;
        let given = self.tensor.read()?;
        let labels = self.output.labels(&given)?;
        let (engine, kernels) = self.engine.engine();
        let interrupt = Interrupt::catch()?;
        let method = self.method();
        let plural = if self.components.get() == 1 { "" } else { "s" };
        let title = format!("{method}, {} component{plural}", self.components);
        let (checkpoint, resumed) = self.checkpoint.open(|| self.identity(&given))?;
        let before = resumed.map(|resumed| Before::of(resumed, self.tolerance)).transpose()?;
        let (model, outcome) = match before {
            Some(Before { model: Some(model), rows, .. }) if model.rank() == self.components.get() => {
                (model, done_before(rows, Stopped::Tolerance))
            }
            before => {
                let Before { model: found, rows } = before.unwrap_or_default();
                let options = PowerOptions {
                    components: self.components.get(),
                    iterations: self.iterations.get(),
                    tolerance: self.tolerance,
                    starts: self.starts.get(),
                    seed: self.seed,
                    symmetric: self.symmetric,
                    done: rows.len(),
                    found,
                    element: self.tensor.element,
                    engine,
                };
                let most = self.iterations.get().saturating_mul(self.components.get());
                let mut watch = Watch::new(&given, &title, most, &kernels, &interrupt, checkpoint, rows);
                let fitted = spc::decompose::power(given.whole()?, &options, &mut |step| {
                    watch.step(step.iteration, &mut |path| step.model.model().keep(path))
                });
                ended(fitted.map_err(refuse)?, watch, self.tolerance)
            }
        };
        interrupt.done();
        let title = format!("Rank-1 approximations ({title})");
        let files = self.output.write(&model, &given, &outcome, &labels, &title, |page| page.of_cp(&model))?;
        if settings::json() {
            let mut document = report::head(method, &given, &kernels);
            document.insert("rank".to_owned(), json!(model.rank()));
            document.extend(report::body(&outcome));
            document.insert("lambda".to_owned(), report::numbers(model.weights()));
            document.insert("times".to_owned(), report::times(&given, &outcome));
            document.insert("files".to_owned(), json!(files));
            document.insert("notes".to_owned(), report::notes(&given, &outcome));
            return output::print_json(document.into());
        }
        report::print(&given, &kernels, &outcome, &[report::weights(model.weights())], &files)
    }

    fn method(&self) -> &'static str {
        if self.symmetric { "symmetric power" } else { "power" }
    }

    /// What a run that goes on must have in common.
    fn identity(&self, given: &Given) -> Result<Identity, Failure> {
        let mut identity = given.identity("power")?;
        identity.extend([
            ("method", self.method().to_owned()),
            ("starts", self.starts.to_string()),
            ("seed", self.seed.to_string()),
        ]);
        Ok(identity)
    }
}

/// The components that a run before has found.
#[derive(Default)]
struct Before {
    model: Option<KTensor>,
    rows: Vec<Row>,
}

impl Before {
    /// All but the last one, which is begun anew, unless the tolerance ended the run.
    fn of(resumed: Resumed, tolerance: f64) -> Result<Before, Failure> {
        let model = KTensor::of_file(&resumed.model)?;
        let is_complete = resumed.tolerance.is_some_and(|before| tolerance >= before && tolerance > 0.0);
        if is_complete {
            return Ok(Before { model: Some(model), rows: resumed.rows });
        }
        let complete = model.rank().saturating_sub(1);
        let is_of_complete =
            |row: &Row| row.measures.iter().any(|(name, number)| name == "component" && *number <= complete as f64);
        let rows = resumed.rows.into_iter().filter(is_of_complete).collect();
        let model = if complete == 0 {
            None
        } else {
            Some(model.components(&(0..complete).collect::<Vec<_>>()).map_err(refuse)?)
        };
        Ok(Before { model, rows })
    }
}
