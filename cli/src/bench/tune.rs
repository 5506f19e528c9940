//! Other schedules, measured.

use super::record::Tuning;
use crate::output::{self, digits};
use crate::run::on_one_line;
use serde_json::{Value, json};
use spc::execute::Tuned;

/// How many of the tried schedules are shown.
const SHOWN: usize = 3;

/// For each case the default schedule and the fastest others.
pub(super) fn text(tunings: &[Tuning]) -> String {
    if tunings.is_empty() {
        return String::new();
    }
    let heads = ["kernel", "mode", "format", "rank", "type", "threads", "schedule", "ms", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for Tuning { case, tuned, is_predicted } in tunings {
        let mut row = |schedule: String, milliseconds: f64, is_best: bool| {
            let remark = match (is_best, is_predicted) {
                (true, false) => "remembered",
                (true, true) => "predicted, the best",
                (false, false) => "",
                (false, true) => "predicted",
            };
            let mut cells = case.cells().to_vec();
            cells.extend([schedule, digits(milliseconds), remark.to_owned()]);
            rows.push(cells);
        };
        row("default".to_owned(), tuned.plain.as_secs_f64() * 1e3, false);
        for (schedule, time) in tuned.tried.iter().take(SHOWN) {
            let is_best = tuned.best.as_ref().is_some_and(|(best, _)| best == schedule);
            row(on_one_line(schedule), time.as_secs_f64() * 1e3, is_best);
        }
    }
    format!("\nother schedules\n{}{NOTES}", output::table(&rows, 7))
}

const NOTES: &str = "
Where one is remembered, `spc run` takes it for the same kernel with operands of about the same size. In a kernel's text it stands
behind the body: schedule { … }
";

impl Tuning {
    /// All that was tried.
    pub(super) fn as_json(&self) -> Value {
        let Tuned { plain, tried, best } = &self.tuned;
        let is_predicted = self.is_predicted;
        let milliseconds = |time: &std::time::Duration| time.as_secs_f64() * 1e3;
        let tried: Vec<Value> = tried
            .iter()
            .map(|(schedule, time)| json!({ "schedule": on_one_line(schedule), "median_ms": milliseconds(time) }))
            .collect();
        let mut map = self.case.as_json();
        map.insert("default_ms".to_owned(), json!(milliseconds(plain)));
        map.insert("predicted".to_owned(), json!(is_predicted));
        map.insert("tried".to_owned(), json!(tried));
        map.insert("best".to_owned(), json!(best.as_ref().map(|(schedule, _)| on_one_line(schedule))));
        Value::Object(map)
    }
}
