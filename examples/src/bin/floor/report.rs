//! Tables and JSON.

use crate::measure::{Pair, Times};
use serde_json::{Value, json};

/// One kernel on one tensor.
pub(crate) struct Row {
    /// The tensor.
    pub(crate) data: String,
    /// The kernel.
    pub(crate) kernel: String,
    /// The element type.
    pub(crate) element: &'static str,
    /// On how many threads.
    pub(crate) threads: usize,
    /// Entries of the tensor.
    pub(crate) nnz: usize,
    /// The two sides.
    pub(crate) times: Pair,
    /// Whether their results are the same.
    pub(crate) agrees: bool,
}

impl Row {
    pub(crate) fn json(&self) -> Value {
        json!({
            "data": self.data,
            "kernel": self.kernel,
            "element": self.element,
            "threads": self.threads,
            "nnz": self.nnz,
            "generated": times(&self.times.generated),
            "hand": self.times.hand.as_ref().map(times),
            "ratio": self.times.ratio,
            "agrees": self.agrees,
        })
    }

    pub(crate) fn table(rows: &[Row]) -> String {
        let mut text = format!(
            "{:<34} {:<24} {:>4} {:>2} {:>10} {:>7} {:>10} {:>7} {:>6}\n",
            "tensor", "kernel", "type", "p", "spc ms", "spread", "hand ms", "spread", "ratio"
        );
        text.extend(rows.iter().map(Row::line));
        text
    }

    /// One line of the table.
    pub(crate) fn line(&self) -> String {
        let Pair { generated, hand, ratio } = &self.times;
        let by_hand = match (hand, ratio) {
            (Some(hand), Some(ratio)) => {
                format!("{:>10.3} {:>6.0}% {ratio:>6.2}", hand.median(), 100.0 * hand.spread())
            }
            _ => format!("{:>10} {:>7} {:>6}", "-", "-", "-"),
        };
        let wrong = if self.agrees { "" } else { "  RESULTS DIFFER" };
        format!(
            "{:<34} {:<24} {:>4} {:>2} {:>10.3} {:>6.0}% {by_hand}{wrong}\n",
            self.data,
            self.kernel,
            self.element,
            self.threads,
            generated.median(),
            100.0 * generated.spread()
        )
    }
}

/// Anything else that takes time.
pub(crate) struct Stage {
    /// What it is.
    pub(crate) name: String,
    /// How long it took.
    pub(crate) times: Times,
    /// A rate, with its unit.
    pub(crate) rate: Option<(f64, &'static str)>,
}

impl Stage {
    pub(crate) fn json(&self) -> Value {
        let rate = self.rate.map(|(rate, unit)| json!({ "value": rate, "unit": unit }));
        json!({ "stage": self.name, "time": times(&self.times), "rate": rate })
    }

    pub(crate) fn table(stages: &[Stage]) -> String {
        let mut text = format!("{:<60} {:>10} {:>7} {:>10} {}\n", "stage", "ms", "spread", "least", "rate");
        for Stage { name, times, rate } in stages {
            let rate = rate.map(|(rate, unit)| format!(" {rate:.0} {unit}")).unwrap_or_default();
            let (median, spread, least) = (times.median(), 100.0 * times.spread(), times.least());
            text += &format!("{name:<60} {median:>10.3} {spread:>6.0}% {least:>10.3}{rate}\n");
        }
        text
    }
}

fn times(times: &Times) -> Value {
    json!({
        "median_ms": times.median(),
        "least_ms": times.least(),
        "spread": times.spread(),
        "runs": times.count(),
    })
}
