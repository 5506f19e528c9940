//! `spc cp`, `spc tucker` and `spc power`: decompositions of a tensor.
//!
//! | file | what is in it |
//! |---|---|
//! | `cp`, `tucker`, `power` | the verbs |
//! | `method` | the methods of `spc cp` and their options |
//! | `ranks` | what `spc cp` runs: one rank, or several side by side |
//! | `arguments` | arguments that the verbs share |
//! | `tensor`, `start`, `labels`, `model` | what is read and written |
//! | `engine` | where kernels run |
//! | `watch`, `row` | what happens after each iteration |
//! | `interrupt` | Ctrl-C |
//! | `checkpoint` | states that a run goes on from |
//! | `report`, `page`, `plot` | what is told in the end |

mod arguments;
mod checkpoint;
mod cp;
mod engine;
mod interrupt;
mod labels;
mod method;
mod model;
mod page;
mod plot;
mod power;
mod ranks;
mod report;
mod row;
mod start;
mod tensor;
mod tucker;
mod watch;

pub(crate) use cp::Cp;
pub(crate) use power::Power;
pub(crate) use tucker::Tucker;

use crate::failure::{Failure, note};
use crate::settings;
use arguments::OutputArguments;
use labels::Labels;
use model::Kept;
use page::Page;
use report::Outcome;
use row::Row;
use spc::decompose::{Fitted, Stopped};
use tensor::Given;
use watch::{Watch, Watched};

impl OutputArguments {
    /// Refuses what can't be written, before anything is computed.
    fn check(&self) -> Result<(), Failure> {
        self.output.iter().try_for_each(|path| model::check_output(path))?;
        self.html.iter().try_for_each(|path| model::check_parent(path))
    }

    /// What the coordinates are called.
    fn labels(&self, given: &Given) -> Result<Labels, Failure> {
        labels::read(&self.labels, &given.shape)
    }

    /// Writes the model and the page; gives the files.
    fn write<M: Kept>(
        &self,
        model: &M,
        given: &Given,
        outcome: &Outcome,
        labels: &Labels,
        title: &str,
        page: impl FnOnce(&Page<'_>) -> Result<String, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let mut files = Vec::new();
        if let Some(path) = &self.output {
            model.keep(path)?;
            files.push(path.display().to_string());
        }
        if let Some(path) = &self.html {
            let (title, facts) = (format!("{title} of {}", given.name), vec![given.line(), outcome.end()]);
            let about = Page { title, facts, rows: &outcome.rows, labels, top: self.top.get() };
            spc::io::write_text(path, &page(&about)?)?;
            files.push(path.display().to_string());
        }
        Ok(files)
    }
}

/// Ends what a watch began: the model with how it came about.
fn ended<M: Kept>(fitted: Fitted<M>, watch: Watch<'_>, tolerance: f64) -> (M, Outcome) {
    let Fitted { model, stopped, compile_time, prepare_time, notes: said, warnings, state, .. } = fitted;
    let by_tolerance = (stopped == Stopped::Tolerance).then_some(tolerance);
    let Watched { rows, mut notes, ended } =
        watch.finish(by_tolerance, &mut |path| model::keep(&model, state.as_ref(), path));
    let stopped = ended.unwrap_or(stopped.name());
    if settings::is_verbose() {
        said.iter().for_each(note);
    }
    warnings.iter().for_each(note);
    notes.extend(warnings);
    notes.extend(said);
    (model, Outcome { rows, stopped, compile_time, prepare_time, notes })
}

/// A run that a checkpoint has the end of: nothing is left to do.
fn done_before(rows: Vec<Row>, stopped: Stopped) -> Outcome {
    let (compile_time, prepare_time) = Default::default();
    Outcome { rows, stopped: stopped.name(), compile_time, prepare_time, notes: Vec::new() }
}

/// Why a run that goes on from these iterations has nothing left to do, if so.
fn is_over(resumed: &checkpoint::Resumed, iterations: usize, tolerance: f64) -> Option<Stopped> {
    match resumed.tolerance {
        Some(before) if tolerance >= before && tolerance > 0.0 => Some(Stopped::Tolerance),
        _ if resumed.done() >= iterations => Some(Stopped::Iterations),
        _ => None,
    }
}
