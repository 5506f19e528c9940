//! Beside an earlier run.

use super::record::{Case, Findings, Record};
use crate::failure::Failure;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The figures of an earlier run.
pub(super) struct Baseline {
    path: PathBuf,
    records: Vec<Value>,
}

impl Baseline {
    /// Reads a file that `--json` wrote.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let refuse = |reason: String| Failure::refused(format!("{}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| refuse(format!("this is no JSON: {error}")))?;
        let records = value.get("records").and_then(Value::as_array).cloned();
        let records = records
            .ok_or_else(|| refuse("this is not what `spc bench --json` writes: it has no list `records`".to_owned()))?;
        Ok(Self { path: path.to_owned(), records })
    }

    /// How many times slower a figure is than the earlier one of its case, where there is one.
    pub(super) fn ratio(&self, record: &Record) -> Option<f64> {
        let earlier = self.records.iter().find(|earlier| record.case.is_that_of(earlier))?;
        // Earlier files have it as `median_ms`.
        let time = earlier.get("kernel_ms").or_else(|| earlier.get("median_ms"));
        let earlier = time?.as_f64().filter(|&earlier| earlier > 0.0)?;
        Some(record.times.median * 1e3 / earlier)
    }

    /// Refuses findings of which one is more than `limit` times slower than before.
    pub(super) fn check(&self, findings: &Findings, limit: f64) -> Result<(), Failure> {
        let ratios = findings.records.iter().filter_map(|record| Some((record, self.ratio(record)?)));
        let slower: Vec<_> = ratios.filter(|(_, ratio)| *ratio > limit).collect();
        let Some((record, ratio)) = slower.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else { return Ok(()) };
        let Case { kernel, tensor, format, threads, .. } = &record.case;
        let mode = if record.case.mode > 0 { format!(" of mode {}", record.case.mode) } else { String::new() };
        let message = format!(
            "{} of {} kernels are more than {limit} times slower than in {}; {ratio:.2} times {kernel}{mode} of {tensor} as {format} on {threads} threads",
            slower.len(),
            findings.records.len(),
            self.path.display(),
        );
        Err(Failure::refused(message))
    }
}
