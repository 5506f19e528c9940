//! Figures as a page for a browser, complete in one file.

use super::baseline::Baseline;
use super::plot;
use super::record::{Findings, Record};
use super::table::{heads, ratio, row};
use crate::failure::Failure;
use crate::output::{bytes, digits, shape};
use minijinja::{Environment, context};

/// The page around the figures; the name tells the template engine to escape what goes in.
const NAME: &str = "page.html";
const TEMPLATE: &str = include_str!("page.html");

/// The page.
pub(super) fn page(findings: &Findings, baseline: Option<&Baseline>) -> Result<String, Failure> {
    let picture = plot::roofline(findings)?;
    render(findings, baseline, &picture).map_err(|error| Failure::refused(format!("the page can't be made: {error}")))
}

fn render(findings: &Findings, baseline: Option<&Baseline>, picture: &str) -> Result<String, minijinja::Error> {
    let tensor = |records: &[Record]| {
        let rows: Vec<_> = records
            .iter()
            .map(|record| {
                let mut cells = row(record);
                cells.extend(baseline.map(|baseline| ratio(baseline.ratio(record))));
                context! { cells, width => 100.0 * record.share().unwrap_or(0.0).clamp(0.0, 1.0) }
            })
            .collect();
        let first = &records[0];
        context! { name => first.case.tensor, shape => shape(&first.shape), entries => first.nnz, rows }
    };
    let tensors: Vec<_> = findings.records.chunk_by(|a, b| a.case.tensor == b.case.tensor).map(tensor).collect();
    let giga = |rate: f64| digits(rate / 1e9);
    let mut machine = Vec::new();
    for of_threads in &findings.machines {
        for point in of_threads.points() {
            let rates = [point.triad, point.read, point.gather[0], point.gather[1], point.gather[2]].map(giga);
            machine.push(context! { threads => of_threads.threads(), footprint => bytes(point.footprint), rates });
        }
    }
    let peaks: Vec<_> = findings
        .machines
        .iter()
        .map(|machine| context! { threads => machine.threads(), double => giga(machine.flops(8)), single => giga(machine.flops(4)) })
        .collect();
    let refused: Vec<_> = findings
        .refused
        .iter()
        .map(|refused| context! { kernel => refused.case.kernel, tensor => refused.case.tensor, format => refused.case.format, reason => refused.reason })
        .collect();
    let heads = &heads()[..heads().len() - usize::from(baseline.is_none())];
    let mut environment = Environment::new();
    environment.add_template(NAME, TEMPLATE)?;
    let version = env!("CARGO_PKG_VERSION");
    environment.get_template(NAME)?.render(context! { version, picture, tensors, machine, peaks, refused, heads })
}
