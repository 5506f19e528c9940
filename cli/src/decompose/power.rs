//! `spc power`: best rank-1 approximations, one after the other.

use super::arguments::{EngineArguments, OutputArguments, TensorArguments, tolerance};
use super::ended;
use super::engine::refuse;
use super::interrupt::Interrupt;
use super::report;
use super::watch::Watch;
use crate::failure::Failure;
use crate::{output, settings, threads};
use clap::Args;
use serde_json::json;
use spc::decompose::PowerOptions;
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
        let options = PowerOptions {
            components: self.components.get(),
            iterations: self.iterations.get(),
            tolerance: self.tolerance,
            starts: self.starts.get(),
            seed: self.seed,
            symmetric: self.symmetric,
            element: self.tensor.element,
            engine,
        };
        let method = if self.symmetric { "symmetric power" } else { "power" };
        let plural = if self.components.get() == 1 { "" } else { "s" };
        let title = format!("{method}, {} component{plural}", self.components);
        let mut watch = Watch::new(&given, &title, self.iterations.get(), &kernels, &interrupt, None, Vec::new());
        let fitted =
            spc::decompose::power(&given.tensor, &options, &mut |step| watch.step(step.iteration, &mut |_| Ok(())));
        let (model, outcome) = ended(fitted.map_err(refuse)?, watch, self.tolerance);
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
}
