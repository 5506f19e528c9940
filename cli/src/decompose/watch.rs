//! What happens after each iteration: it is shown, a checkpoint is written, and Ctrl-C is looked at.

use super::checkpoint::Checkpoint;
use super::engine::Kernels;
use super::interrupt::Interrupt;
use super::row::Row;
use super::tensor::Given;
use crate::failure::{Failure, note};
use crate::output::{self, digits};
use crate::progress::Progress;
use crate::settings;
use spc::decompose::Iteration;
use spc::distribute::Communicator;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Watches one run of a method.
pub(super) struct Watch<'a> {
    kernels: &'a Kernels,
    interrupt: &'a Interrupt,
    checkpoint: Option<Checkpoint>,
    /// The most iterations.
    most: usize,
    /// A run that goes on ends here where the first iteration changes less than that.
    tolerance: f64,
    /// How many iterations were done by the run before.
    before: usize,
    rows: Vec<Row>,
    progress: Option<Progress>,
    table: Option<Table>,
    /// What was said on standard error.
    notes: Vec<String>,
    ended: Option<&'static str>,
}

/// A watch as ranks share it: the first one tells it of iterations. A process that has not the first one has no watch.
pub(super) struct Shared<'w, 'a>(Mutex<Option<&'w mut Watch<'a>>>);

impl<'w, 'a> Shared<'w, 'a> {
    pub(super) fn new(watch: Option<&'w mut Watch<'a>>) -> Self {
        Self(Mutex::new(watch))
    }

    /// See [`Watch::step`].
    pub(super) fn step(
        &self,
        iteration: &Iteration,
        write: &mut dyn FnMut(&Path) -> Result<(), Failure>,
    ) -> ControlFlow<()> {
        let mut watch = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watch.as_mut().map_or(ControlFlow::Continue(()), |watch| watch.step(iteration, write))
    }

    /// The same on one of many ranks, which have no checkpoints.
    pub(super) fn step_on(&self, ranks: &dyn Communicator, iteration: &Iteration) -> ControlFlow<()> {
        match ranks.rank() {
            0 => self.step(iteration, &mut |_| Ok(())),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// What a watch leaves.
pub(super) struct Watched {
    /// All iterations, those of a run before too.
    pub(super) rows: Vec<Row>,
    pub(super) notes: Vec<String>,
    /// Why the run ended, where the method does not know.
    pub(super) ended: Option<&'static str>,
}

/// Whether a table grows on standard output, a line for each iteration.
pub(super) fn has_table() -> bool {
    !settings::json() && !settings::is_quiet() && (settings::is_verbose() || !std::io::stdout().is_terminal())
}

impl<'a> Watch<'a> {
    /// Begins. `title` is what is shown of the run, `rows` what a run before has done. Nothing is printed before the first iteration,
    /// until which a method may refuse the tensor.
    pub(super) fn new(
        given: &Given,
        title: &str,
        most: usize,
        kernels: &'a Kernels,
        interrupt: &'a Interrupt,
        checkpoint: Option<Checkpoint>,
        rows: Vec<Row>,
    ) -> Self {
        let progress = Some(Progress::new(format!("{title}: compiling")));
        let table = has_table().then(|| Table { title: format!("{}\n{title}", given.line()), widths: Vec::new() });
        let before = rows.len();
        kernels.begin();
        Self {
            kernels,
            interrupt,
            checkpoint,
            most,
            tolerance: 0.0,
            before,
            rows,
            progress,
            table,
            notes: Vec::new(),
            ended: None,
        }
    }

    /// Says what ends a run that goes on, where its method can't know how much the first iteration changes.
    pub(super) fn with_tolerance(self, tolerance: f64) -> Self {
        Self { tolerance, ..self }
    }

    /// After an iteration, where `write` writes the model as a file.
    pub(super) fn step(
        &mut self,
        iteration: &Iteration,
        write: &mut dyn FnMut(&Path) -> Result<(), Failure>,
    ) -> ControlFlow<()> {
        let row = Row::from(iteration);
        self.show(&row);
        let change = row.change(self.rows.last());
        self.rows.push(row);
        let is_first = self.before > 0 && self.rows.len() == self.before + 1;
        if is_first && change.is_some_and(|change| change.abs() < self.tolerance) {
            self.ended = Some("tolerance");
        } else if self.interrupt.is_pressed() {
            self.ended = Some("interrupted");
        }
        if let Some(checkpoint) = &mut self.checkpoint
            && (self.ended.is_some() || iteration.number == self.most || checkpoint.is_due(iteration.number))
        {
            let tolerance = (self.ended == Some("tolerance")).then_some(self.tolerance);
            let written = checkpoint.write(&self.rows, tolerance, write);
            self.checked(written);
        }
        if self.ended.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// A checkpoint that can't be written is no reason to lose what is computed.
    fn checked(&mut self, written: Result<(), Failure>) {
        if let Err(failure) = written {
            let message = format!("the checkpoint is not written: {failure}");
            if !self.notes.contains(&message) {
                note(&message);
                self.notes.push(message);
            }
        }
    }

    fn show(&mut self, row: &Row) {
        let before = self.rows.last();
        if let Some(table) = &mut self.table {
            let mut text = String::new();
            if table.widths.is_empty() {
                text = format!("{}: {}\n", table.title, self.kernels.line().unwrap_or_default());
                let (heads, cells) = (row.heads(), row.cells(before));
                let wide = |(head, cell): (&String, &String)| head.len().max(cell.len() + 1);
                table.widths = heads.iter().zip(&cells).map(wide).collect();
                text.push_str(&table.line(&heads));
            }
            text.push_str(&table.line(&row.cells(before)));
            // A closed output does not end the run, which may write files.
            _ = output::print(&text);
        }
        if let Some(progress) = &self.progress {
            let aim = row.aim().map(|(name, value)| format!(", {} {value:.6}", name.replace('_', " ")));
            let change = row.change(before).map(|change| format!(", change {change:.1e}"));
            let (number, most, ms) = (row.number, self.most, digits(row.time_ms));
            progress.step(format!(
                "iteration {number} of {most}{}{}, {ms} ms",
                aim.unwrap_or_default(),
                change.unwrap_or_default()
            ));
        }
    }

    /// The method has ended, by its tolerance if `tolerance` is one; `write` writes its model.
    pub(super) fn finish(
        mut self,
        tolerance: Option<f64>,
        write: &mut dyn FnMut(&Path) -> Result<(), Failure>,
    ) -> Watched {
        self.progress = None;
        if let Some(reason) = self.kernels.fallback() {
            note(&reason);
            self.notes.push(reason);
        }
        let last = self.rows.last().map(|row| row.number);
        if let Some(mut checkpoint) = self.checkpoint.take()
            && last.is_some()
            && (checkpoint.last() != last || tolerance.is_some())
        {
            let written = checkpoint.write(&self.rows, tolerance, write);
            self.checked(written);
        }
        Watched { rows: self.rows, notes: self.notes, ended: self.ended }
    }
}

/// A table that grows line by line, so that its widths are those of its first lines.
struct Table {
    title: String,
    widths: Vec<usize>,
}

impl Table {
    fn line(&self, cells: &[String]) -> String {
        let cell = |(cell, width): (&String, &usize)| format!("{cell:>width$}");
        cells.iter().zip(&self.widths).map(cell).collect::<Vec<_>>().join("  ") + "\n"
    }
}
