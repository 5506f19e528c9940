//! What is aimed at, and whether the figures reach it.

use crate::Table;
use crate::data::Kind;
use crate::measure::Row;
use serde_json::{Value, json};

/// How the figures of rows become one.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// The geometric mean.
    Mean,
    /// The least.
    Least,
    /// The least of the best of each tensor and group.
    LeastOfBest,
}

/// An aim: some figure of some rows.
struct Aim {
    name: &'static str,
    goal: f64,
    of: Of,
    /// The figure of a row that counts.
    figure: fn(&Row) -> Option<f64>,
}

const AIMS: [Aim; 10] = [
    Aim { name: "SpMV f64, banded and finite elements: part of B", goal: 0.84, of: Of::Least, figure: regular_spmv },
    Aim { name: "SpMV f64, all matrices: part of B", goal: 0.65, of: Of::Mean, figure: spmv },
    Aim { name: "SpMV f64, all matrices: times cuSPARSE", goal: 1.0, of: Of::Mean, figure: spmv_ratio },
    Aim { name: "SpMM f32, 32 columns: times cuSPARSE", goal: 2.0, of: Of::Mean, figure: spmm_32_ratio },
    Aim { name: "SpMM f32, 128 columns: times cuSPARSE", goal: 1.2, of: Of::Mean, figure: spmm_128_ratio },
    Aim {
        name: "MTTKRP f32, R = 32, factors in L2: G entries/s",
        goal: 10.0,
        of: Of::LeastOfBest,
        figure: |row| mttkrp(row, true),
    },
    Aim {
        name: "MTTKRP f32, R = 32, factors beyond L2: G entries/s",
        goal: 6.0,
        of: Of::LeastOfBest,
        figure: |row| mttkrp(row, false),
    },
    Aim { name: "TTV f64: part of B", goal: 0.75, of: Of::Mean, figure: |row| whole(row, "ttv").map(of_copy) },
    Aim { name: "TTM f32, R = 32: part of B", goal: 0.7, of: Of::Mean, figure: |row| whole(row, "ttm").map(of_copy) },
    Aim { name: "In parts: part of the link's bandwidth", goal: 0.9, of: Of::Least, figure: |row| row.of_link },
];

/// The row, where it is of a whole input and of a kernel whose group begins so.
fn whole<'a>(row: &'a Row, group: &str) -> Option<&'a Row> {
    (row.of_link.is_none() && row.group.starts_with(group)).then_some(row)
}

fn of_copy(row: &Row) -> f64 {
    row.of_copy
}

fn spmv(row: &Row) -> Option<f64> {
    whole(row, "spmv f64").map(of_copy)
}

fn regular_spmv(row: &Row) -> Option<f64> {
    spmv(row).filter(|_| row.kind == Kind::Regular)
}

fn ratio(row: &Row, group: &str) -> Option<f64> {
    let row = whole(row, group)?;
    Some(row.peer.as_ref()?.median.as_secs_f64() / row.median.as_secs_f64())
}

fn spmv_ratio(row: &Row) -> Option<f64> {
    ratio(row, "spmv f64")
}

fn spmm_32_ratio(row: &Row) -> Option<f64> {
    ratio(row, "spmm f32 32")
}

fn spmm_128_ratio(row: &Row) -> Option<f64> {
    ratio(row, "spmm f32 128")
}

fn mttkrp(row: &Row, in_cache: bool) -> Option<f64> {
    whole(row, "mttkrp").filter(|row| row.in_cache == in_cache).map(|row| row.entries_per_second / 1e9)
}

impl Aim {
    /// The figure, if any row counts, and of how many.
    fn figure(&self, rows: &[Row]) -> (Option<f64>, usize) {
        let counting = || rows.iter().filter_map(|row| (self.figure)(row).map(|figure| (row, figure)));
        let figures: Vec<f64> = match self.of {
            Of::Mean | Of::Least => counting().map(|(_, figure)| figure).collect(),
            Of::LeastOfBest => {
                let same = |one: &Row, other: &Row| one.tensor == other.tensor && one.group == other.group;
                let best =
                    |(row, _)| counting().filter(|(other, _)| same(row, other)).map(|(_, f)| f).fold(0.0, f64::max);
                counting().map(best).collect()
            }
        };
        let count = figures.len();
        let figure = match self.of {
            _ if count == 0 => None,
            Of::Mean => Some((figures.iter().map(|figure| figure.ln()).sum::<f64>() / count as f64).exp()),
            Of::Least | Of::LeastOfBest => figures.into_iter().reduce(f64::min),
        };
        (figure, count)
    }
}

/// The verdicts.
pub(crate) fn all(rows: &[Row], table: Table) -> Value {
    table.line("");
    let verdict = |aim: &Aim| {
        let (figure, count) = aim.figure(rows);
        let verdict = match figure {
            None => "not measured",
            Some(figure) if figure >= aim.goal => "met",
            Some(_) => "missed",
        };
        let shown = figure.map_or_else(String::new, |figure| format!("{figure:.2} of {count}"));
        table.line(&format!("{:<52} {:>6.2} {:>14} {verdict}", aim.name, aim.goal, shown));
        json!({ "aim": aim.name, "goal": aim.goal, "figure": figure, "rows": count, "verdict": verdict })
    };
    AIMS.iter().map(verdict).collect()
}
