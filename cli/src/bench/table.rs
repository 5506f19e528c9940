//! Figures as a table on standard output.

use super::baseline::Baseline;
use super::record::{Clock, Findings, Record};
use super::{plans, tune};
use crate::output::{self, bytes, digits};
use crate::predicted::two_digits;
use std::fmt::Write;

/// The columns of the table.
const HEADS: [&str; 17] = [
    "kernel",
    "mode",
    "format",
    "rank",
    "type",
    "threads",
    "kernel ms",
    "spread",
    "into",
    "call",
    "copies",
    "pack",
    "GFLOP/s",
    "GB/s",
    "roofline",
    "in",
    "vs before",
];

/// How many columns are flush left.
const LEFT: usize = 3;

/// What the machine can do, and a table for each tensor.
pub(super) fn text(findings: &Findings, baseline: Option<&Baseline>) -> String {
    let mut text = machine(findings);
    for records in findings.records.chunk_by(|a, b| a.case.tensor == b.case.tensor) {
        let first = &records[0];
        _ = writeln!(text, "\n{}: {}, {} entries", first.case.tensor, output::shape(&first.shape), first.nnz);
        let shown = HEADS.len() - usize::from(baseline.is_none());
        let mut rows = vec![HEADS[..shown].iter().map(|&head| head.to_owned()).collect::<Vec<_>>()];
        for record in records {
            let mut row = row(record);
            row.extend(baseline.map(|baseline| ratio(baseline.ratio(record))));
            rows.push(row);
        }
        text.push_str(&output::table(&rows, LEFT));
    }
    text.push_str(NOTES);
    if findings.records.iter().any(|record| record.foreseen.is_some()) {
        text.push_str(FORESEEN);
    }
    text.push_str(&tune::text(&findings.tunings));
    text.push_str(&plans::text(&findings.plans));
    text
}

const NOTES: &str = "
kernel ms: the loops alone, median; spread: distance of the quartiles, as a part of it; into: a whole call that writes into a result which is there,
with checks, copies and what the result begins as, in ms; call: one that makes a new result, with memory for it;
copies: what of a first call sorts or converts operands before and results after, in ms (copies of operands are kept from the second on); pack: storing the tensor in the format, once, in ms; GFLOP/s and GB/s by a model of what the loops compute and move;
roofline: the least time by that model on this machine, as a part of the median; in: the cache that holds all operands
";

const FORESEEN: &str = "\
predicted: by a model of a GPU that was not fitted to it, with what limits the longest launch; GB/s and roofline then follow from what is predicted,
and nothing in this table was measured on a GPU: see docs/gpu-model.md
";

fn machine(findings: &Findings) -> String {
    let heads = ["threads", "footprint", "triad", "read", "gather 8", "gather 64", "gather 256", "GFLOP/s f64", "f32"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for machine in &findings.machines {
        for (place, point) in machine.points().iter().enumerate() {
            let giga = |rate: f64| digits(rate / 1e9);
            let first = |text: String| if place == 0 { text } else { String::new() };
            let mut row = vec![first(machine.threads().to_string()), bytes(point.footprint)];
            row.extend([point.triad, point.read, point.gather[0], point.gather[1], point.gather[2]].map(giga));
            row.extend([first(giga(machine.flops(8))), first(giga(machine.flops(4)))]);
            rows.push(row);
        }
    }
    let described = findings.records.iter().find_map(|record| record.foreseen.as_ref());
    let of =
        described.map_or("this machine".to_owned(), |foreseen| format!("{} as it is described", foreseen.gpu.name));
    format!("{of}, GB/s\n{}", output::table(&rows, 0))
}

/// The cells of a record, in the order of [`HEADS`].
pub(super) fn row(record: &Record) -> Vec<String> {
    let case = &record.case;
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| digits(rate / 1e9));
    let fits = |record: &Record| match &record.estimate {
        None => "-".to_owned(),
        Some(estimate) => estimate.fits.map_or_else(|| "memory".to_owned(), |level| format!("L{level}")),
    };
    let mut row = case.cells().to_vec();
    let (time, spread) = match &record.foreseen {
        None => (digits(record.times.median * 1e3), percent(Some(record.times.spread()))),
        Some(foreseen) => {
            let limit = foreseen.limit().map_or_else(String::new, |limit| format!(" ({limit})"));
            (two_digits(record.times.median * 1e3), format!("predicted{limit}"))
        }
    };
    row.extend([
        time,
        spread,
        milliseconds(record.median(Clock::Into)),
        milliseconds(record.median(Clock::Call)),
        milliseconds(record.copies),
        digits(record.pack * 1e3),
        rate(record.flops()),
        rate(record.bandwidth()),
        percent(record.share()),
        fits(record),
    ]);
    row
}

/// A ratio to an earlier run.
pub(super) fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

fn milliseconds(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |seconds| digits(seconds * 1e3))
}

fn percent(part: Option<f64>) -> String {
    part.map_or_else(|| "-".to_owned(), |part| format!("{:.0}%", 100.0 * part))
}

/// What stands above the columns of [`row`].
pub(super) fn heads() -> &'static [&'static str] {
    &HEADS
}
