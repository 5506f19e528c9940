//! Beside what others take: figures of other libraries, measured elsewhere on the same tensors.

use super::record::{Case, Findings, Record};
use crate::failure::Failure;
use crate::output::{self, digits};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The figures of other libraries.
pub(super) struct Peers {
    path: PathBuf,
    figures: Vec<Figure>,
}

/// What a library takes for one kernel.
#[derive(Debug)]
struct Figure {
    /// The library, and which of its formats or algorithms.
    name: String,
    tensor: String,
    kernel: String,
    /// From 1; 0 where the kernel has none, as with the rank.
    mode: u64,
    rank: u64,
    element: String,
    /// Those of any number if there is none.
    threads: Option<u64>,
    milliseconds: f64,
    /// Sorting and packing, once.
    setup: Option<f64>,
}

/// What a figure looks like.
const FIGURE: &str = "a figure is {\"peer\": \"a library\", \"tensor\": \"x.tns\", \"kernel\": \"ttm\", \"mode\": 1, \"rank\": 16, \
                      \"element\": \"f64\", \"median_ms\": 1.5}, with `variant`, `threads` and `setup_ms` where they are known";

/// The best of all formats beside the best of all libraries.
struct Pair<'a> {
    ours: &'a Record,
    theirs: &'a Figure,
}

impl Peers {
    /// Reads a list of figures as JSON.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let refuse = |reason: String| Failure::refused(format!("{}: {reason}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| refuse(error.to_string()))?;
        let value: Value = serde_json::from_str(&text).map_err(|error| refuse(format!("this is no JSON: {error}")))?;
        let values = value.as_array().ok_or_else(|| refuse("this is no list of figures".to_owned()).help(FIGURE))?;
        let figure = |(place, value): (usize, &Value)| {
            Figure::read(value).map_err(|reason| refuse(format!("figure {place}: {reason}")).help(FIGURE))
        };
        let figures = (1..).zip(values).map(figure).collect::<Result<_, _>>()?;
        Ok(Self { path: path.to_owned(), figures })
    }

    /// A table of all cases that others were measured on, and geometric means.
    pub(super) fn text(&self, findings: &Findings) -> String {
        let pairs = self.pairs(&findings.records);
        if pairs.is_empty() {
            return format!("\n{} has no figure of these kernels on these tensors\n", self.path.display());
        }
        let mut text = format!("\nbeside {}: the best format, the best library\n", self.path.display());
        let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
        rows.extend(pairs.iter().map(Pair::row));
        text.push_str(&output::table(&rows, LEFT));
        text.push('\n');
        let mut kernels: Vec<(&str, usize)> = Vec::new();
        for pair in &pairs {
            if !kernels.contains(&pair.group()) {
                kernels.push(pair.group());
            }
        }
        for group in kernels {
            let ratios: Vec<f64> = pairs.iter().filter(|pair| pair.group() == group).map(Pair::ratio).collect();
            let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
            let slower = ratios.iter().filter(|&&ratio| ratio < 1.0).count();
            _ = writeln!(
                text,
                "{} on {} threads: {} times faster in the geometric mean, at least {}; slower in {slower} of {} cases",
                group.0,
                group.1,
                digits(geometric_mean(&ratios)),
                digits(least),
                ratios.len(),
            );
        }
        text.push_str(NOTES);
        text
    }

    /// The fastest of each kernel, mode, rank and so on, over formats and over libraries.
    fn pairs<'a>(&'a self, records: &'a [Record]) -> Vec<Pair<'a>> {
        let mut pairs: Vec<Pair> = Vec::new();
        for record in records {
            if let Some(pair) = pairs.iter_mut().find(|pair| pair.ours.case.is_same_but_format(&record.case)) {
                if record.times.median < pair.ours.times.median {
                    pair.ours = record;
                }
                continue;
            }
            let fitting = self.figures.iter().filter(|figure| figure.is_of(&record.case));
            if let Some(theirs) = fitting.min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds)) {
                pairs.push(Pair { ours: record, theirs });
            }
        }
        pairs
    }
}

impl Figure {
    fn read(value: &Value) -> Result<Self, String> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).map(str::to_owned);
        let required = |field: &str| text(field).ok_or_else(|| format!("it has no text `{field}`"));
        let number = |field: &str| value.get(field).and_then(Value::as_u64);
        let time = |field: &str| value.get(field).and_then(Value::as_f64).filter(|time| time.is_finite());
        let milliseconds = time("median_ms").filter(|&time| time > 0.0);
        let peer = required("peer")?;
        Ok(Self {
            name: text("variant").map_or_else(|| peer.clone(), |variant| format!("{peer} {variant}")),
            tensor: required("tensor")?,
            kernel: required("kernel")?,
            mode: number("mode").unwrap_or(0),
            rank: number("rank").unwrap_or(0),
            element: required("element")?,
            threads: number("threads"),
            milliseconds: milliseconds.ok_or("it has no time `median_ms` above 0")?,
            setup: time("setup_ms"),
        })
    }

    fn is_of(&self, case: &Case) -> bool {
        (&self.tensor, &self.kernel, self.element.as_str()) == (&case.tensor, &case.kernel, case.element)
            && (self.mode, self.rank) == (case.mode as u64, case.rank as u64)
            && self.threads.is_none_or(|threads| threads == case.threads as u64)
    }
}

/// The columns of the table.
const HEADS: [&str; 13] = [
    "kernel",
    "tensor",
    "format",
    "library",
    "mode",
    "rank",
    "type",
    "threads",
    "ms",
    "its ms",
    "faster",
    "set-up",
    "its set-up",
];

/// How many columns are flush left.
const LEFT: usize = 4;

const NOTES: &str = "
faster: how many times as long the library takes, a star where `spc` takes longer; set-up: sorting and packing, and with a plus the copies
that each call makes, which are no part of ms
";

impl Pair<'_> {
    /// How many times as long the library takes.
    fn ratio(&self) -> f64 {
        self.theirs.milliseconds / (self.ours.times.median * 1e3)
    }

    /// What means are taken of.
    fn group(&self) -> (&str, usize) {
        (&self.ours.case.kernel, self.ours.case.threads)
    }

    /// The cells, in the order of [`HEADS`].
    fn row(&self) -> Vec<String> {
        let Self { ours, theirs } = self;
        let case = &ours.case;
        let optional = |number: usize| if number == 0 { "-".to_owned() } else { number.to_string() };
        let ratio = self.ratio();
        let copies = ours.copies.map_or_else(String::new, |copies| format!(" + {}", digits(copies * 1e3)));
        vec![
            case.kernel.clone(),
            case.tensor.clone(),
            case.format.clone(),
            theirs.name.clone(),
            optional(case.mode),
            optional(case.rank),
            case.element.to_owned(),
            case.threads.to_string(),
            digits(ours.times.median * 1e3),
            digits(theirs.milliseconds),
            format!("{}{ratio:.2}", if ratio < 1.0 { "*" } else { "" }),
            format!("{}{copies}", digits(ours.pack * 1e3)),
            theirs.setup.map_or_else(|| "-".to_owned(), digits),
        ]
    }
}

fn geometric_mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_geometric() {
        assert!((geometric_mean(&[2.0, 8.0]) - 4.0).abs() < 1e-12);
    }
}
