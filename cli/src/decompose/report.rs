//! What a decomposition tells about itself.

use super::engine::Kernels;
use super::row::{Row, measure};
use super::tensor::Given;
use super::watch;
use crate::failure::Failure;
use crate::output::{self, digits};
use crate::run::number;
use crate::settings;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::time::Duration;

/// How many weights are shown.
const SHOWN: usize = 12;

/// A finished run, but for its model.
pub(super) struct Outcome {
    pub(super) rows: Vec<Row>,
    /// `tolerance`, `iterations` or `interrupted`.
    pub(super) stopped: &'static str,
    pub(super) compile_time: Duration,
    pub(super) prepare_time: Duration,
    /// What was said on standard error.
    pub(super) notes: Vec<String>,
}

impl Outcome {
    /// The fit after the last iteration that knows one.
    pub(super) fn fit(&self) -> Option<f64> {
        self.rows.iter().rev().find_map(|row| row.fit)
    }

    /// What makes it better than another run: what the method makes better, with the sign that makes more better.
    pub(super) fn merit(&self) -> f64 {
        let merit = match self.rows.last().and_then(Row::aim) {
            Some(("fit" | "log_likelihood", value)) => value,
            Some((_, value)) => -value,
            None => f64::NEG_INFINITY,
        };
        if merit.is_nan() { f64::NEG_INFINITY } else { merit }
    }

    pub(super) fn iterations_ms(&self) -> f64 {
        self.rows.iter().map(|row| row.time_ms).sum()
    }

    fn kernel_ms(&self) -> f64 {
        self.rows.iter().map(|row| row.kernel_ms).sum()
    }

    /// The part of the iterations that is in kernels.
    fn kernel_share(&self) -> Option<f64> {
        let share = self.kernel_ms() / self.iterations_ms();
        share.is_finite().then_some(share)
    }

    /// `fit 0.83, change 1e-5, after 10 iterations; stopped: tolerance`
    pub(super) fn end(&self) -> String {
        let Some(last) = self.rows.last() else { return format!("no iterations; stopped: {}", self.stopped) };
        let before = self.rows.len().checked_sub(2).map(|place| &self.rows[place]);
        let mut parts = Vec::new();
        parts.extend(self.fit().map(|fit| format!("fit {fit:.8}")));
        parts.extend(
            last.measures.iter().map(|(name, value)| format!("{} {}", name.replace('_', " "), measure(*value))),
        );
        parts.extend(last.change(before).map(|change| format!("change {change:.1e}")));
        let (count, plural) = (self.rows.len(), if self.rows.len() == 1 { "" } else { "s" });
        format!("{} after {count} iteration{plural}; stopped: {}", parts.join(", "), self.stopped)
    }

    fn times(&self, given: &Given) -> String {
        let milliseconds = |time: Duration| digits(time.as_secs_f64() * 1e3);
        let share = self.kernel_share().map(|share| format!(", {:.0}% of that in kernels", share * 100.0));
        format!(
            "read {} ms, compile {} ms, prepare {} ms, iterations {} ms{}",
            milliseconds(given.read_time),
            milliseconds(self.compile_time),
            milliseconds(self.prepare_time),
            digits(self.iterations_ms()),
            share.unwrap_or_default()
        )
    }
}

/// `weights 5.3, 2.1, …`
pub(super) fn weights(weights: &[f64]) -> String {
    let mut shown: Vec<String> = weights.iter().take(SHOWN).map(|&weight| digits(weight)).collect();
    if weights.len() > SHOWN {
        shown.push(format!("… {} in all", weights.len()));
    }
    format!("weights {}", shown.join(", "))
}

/// What people are told at the end: lines about the model, why it ended, times, files.
pub(super) fn print(
    given: &Given,
    kernels: &Kernels,
    outcome: &Outcome,
    about: &[String],
    files: &[String],
) -> Result<(), Failure> {
    if settings::is_quiet() {
        return Ok(());
    }
    let mut text = String::new();
    // Before the table these are its head.
    if !watch::has_table() || kernels.backend().is_none() {
        _ = writeln!(text, "{}", given.line());
        kernels.line().iter().for_each(|line| _ = writeln!(text, "{line}"));
    }
    about.iter().for_each(|line| _ = writeln!(text, "{line}"));
    _ = writeln!(text, "{}\n{}", outcome.end(), outcome.times(given));
    if !files.is_empty() {
        _ = writeln!(text, "written: {}", files.join(", "));
    }
    output::print(&text)
}

/// What is known of the tensor and of the kernels.
pub(super) fn head(method: &str, given: &Given, kernels: &Kernels) -> Map<String, Value> {
    object(json!({
        "method": method,
        "file": given.name,
        "shape": given.shape,
        "nnz": given.stored,
        "element": given.element.name(),
        "format": given.format,
        "backend": kernels.backend().map(spc::execute::Backend::name),
        "threads": spc::parallel::threads(),
        "place": kernels.place(),
    }))
}

/// What is known of a run.
pub(super) fn body(outcome: &Outcome) -> Map<String, Value> {
    object(json!({
        "iterations": outcome.rows.iter().map(Row::json).collect::<Vec<_>>(),
        "fit": outcome.rows.iter().map(|row| row.fit.map_or(Value::Null, number)).collect::<Vec<_>>(),
        "stopped": outcome.stopped,
    }))
}

/// The times of a run.
pub(super) fn times(given: &Given, outcome: &Outcome) -> Value {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    json!({
        "read_ms": milliseconds(given.read_time),
        "compile_ms": milliseconds(outcome.compile_time),
        "prepare_ms": milliseconds(outcome.prepare_time),
        "iterations_ms": outcome.iterations_ms(),
        "kernel_ms": outcome.kernel_ms(),
        "kernel_share": outcome.kernel_share(),
    })
}

/// What was said of the tensor and of the run.
pub(super) fn notes(given: &Given, outcome: &Outcome) -> Value {
    given.notes.iter().chain(&outcome.notes).cloned().collect()
}

/// Numbers of a model.
pub(super) fn numbers(values: &[f64]) -> Value {
    values.iter().map(|&value| number(value)).collect()
}

/// The fields of an object.
pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}
