//! Figures as a page for a browser, complete in one file.

use super::baseline::Baseline;
use super::plot;
use super::record::{Findings, Record, Refused};
use super::table::{heads, ratio, row};
use crate::failure::Failure;
use crate::output::{bytes, digits, shape};
use crate::page::{Escaped, cells, fill};

/// The page around the figures: what stands between double braces is filled in.
const TEMPLATE: &str = include_str!("page.html");

/// The page.
pub(super) fn page(findings: &Findings, baseline: Option<&Baseline>) -> Result<String, Failure> {
    let tensors = findings.records.chunk_by(|a, b| a.case.tensor == b.case.tensor);
    let parts = [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("picture", plot::roofline(findings)?),
        ("tensors", tensors.map(|records| tensor(records, baseline)).collect()),
        ("peaks", peaks(findings)),
        ("machine", machine(findings)),
        ("refused", refused(&findings.refused)),
    ];
    Ok(fill(TEMPLATE, &parts))
}

/// The rows of one tensor.
fn tensor(records: &[Record], baseline: Option<&Baseline>) -> String {
    let heads = &heads()[..heads().len() - usize::from(baseline.is_none())];
    let first = &records[0];
    let mut text = format!(
        "<h2>{}</h2>\n<p>{}, {} entries</p>\n<table>\n{}",
        Escaped(&first.case.tensor),
        Escaped(shape(&first.shape)),
        first.nnz,
        cells("tr", "th", heads)
    );
    for record in records {
        let mut row = row(record);
        row.extend(baseline.map(|baseline| ratio(baseline.ratio(record))));
        let width = 100.0 * record.share().unwrap_or(0.0).clamp(0.0, 1.0);
        let open = format!("tr class=\"share\" style=\"background-size: {width}% 100%\"");
        text.push_str(&cells(&open, "td", &row));
    }
    text + "</table>\n"
}

/// What the processor can do at most.
fn peaks(findings: &Findings) -> String {
    let peak = |of: &spc::measure::Machine| {
        let [double, single] = [8, 4].map(|size| digits(of.flops(size) / 1e9));
        format!("{} threads: {double} GFLOP/s on f64, {single} on f32. ", of.threads())
    };
    findings.machines.iter().map(peak).collect()
}

/// What the memory can do, a row for each footprint.
fn machine(findings: &Findings) -> String {
    let mut text = String::new();
    for of in &findings.machines {
        for point in of.points() {
            let rates = [point.triad, point.read, point.gather[0], point.gather[1], point.gather[2]];
            let mut row = vec![of.threads().to_string(), bytes(point.footprint)];
            row.extend(rates.map(|rate| digits(rate / 1e9)));
            text.push_str(&cells("tr", "td", &row));
        }
    }
    text
}

/// The cases that were left out, if any were.
fn refused(refused: &[Refused]) -> String {
    if refused.is_empty() {
        return String::new();
    }
    let line = |refused: &Refused| {
        let case = [&refused.case.kernel, &refused.case.tensor, &refused.case.format].map(Escaped);
        format!("<li>{} of {} as {}: {}</li>\n", case[0], case[1], case[2], Escaped(&refused.reason))
    };
    format!("<h2>Left out</h2>\n<ul>\n{}</ul>\n", refused.iter().map(line).collect::<String>())
}
