//! Beside what others take: figures of other libraries, measured elsewhere on the same tensors.

use super::record::{Case, Clock, Findings, Record};
use crate::failure::Failure;
use crate::output::{self, digits};
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The figures of other libraries.
pub(crate) struct Peers {
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
    /// What that includes.
    clock: Clock,
    /// Whether the library stores the tensor once for all modes.
    has_one_copy: bool,
    /// Sorting and packing, once.
    setup: Option<f64>,
}

/// What a figure looks like.
const FIGURE: &str = "a figure is {\"peer\": \"a library\", \"tensor\": \"x.tns\", \"kernel\": \"ttm\", \"mode\": 1, \"rank\": 16, \
                      \"element\": \"f64\", \"median_ms\": 1.5}, with `variant`, `threads` and `setup_ms` where they are known, `clock` where the time includes what the result begins as \
                      (\"into\") or memory for a new one (\"call\"), and `one_copy`: true where one copy of the tensor serves all modes";

/// The best of all formats beside the best of all libraries.
struct Pair<'a> {
    ours: &'a Record,
    theirs: &'a Figure,
    /// In milliseconds, by the library's clock.
    time: f64,
}

/// All modes of a tensor by one copy: ours and a library's.
struct OneCopy<'a> {
    ours: &'a Record,
    theirs: &'a Figure,
    /// The sums over the modes, in milliseconds.
    times: [f64; 2],
}

impl Peers {
    /// Reads a list of figures as JSON.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
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

    /// What libraries take for the loops of a case, in milliseconds, with what sorting and packing took them.
    pub(crate) fn loops_of(&self, case: &Case) -> impl Iterator<Item = (&str, f64, Option<f64>)> {
        let fitting = self.figures.iter().filter(move |figure| figure.clock == Clock::Kernel && figure.is_of(case));
        fitting.map(|figure| (&figure.name[..], figure.milliseconds, figure.setup))
    }

    /// How many of the figures include more than loops.
    pub(crate) fn of_calls(&self) -> usize {
        self.figures.iter().filter(|figure| figure.clock != Clock::Kernel).count()
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
        let all_modes = self.one_copies(&findings.records);
        if !all_modes.is_empty() {
            text.push_str("\none copy of the tensor for all modes: the sum of their times\n");
            let mut rows = vec![ONE_COPY_HEADS.map(str::to_owned).to_vec()];
            rows.extend(all_modes.iter().map(OneCopy::row));
            text.push_str(&output::table(&rows, LEFT));
        }
        text
    }

    /// The fastest of each kernel, mode, rank and so on, over formats and over libraries.
    fn pairs<'a>(&'a self, records: &'a [Record]) -> Vec<Pair<'a>> {
        let mut pairs: Vec<Pair> = Vec::new();
        for (record, clock) in records.iter().flat_map(|record| Clock::ALL.map(|clock| (record, clock))) {
            let Some(time) = record.median(clock).map(|seconds| seconds * 1e3) else { continue };
            let is_beside =
                |pair: &&mut Pair| pair.theirs.clock == clock && pair.ours.case.is_same_but_format(&record.case);
            if let Some(pair) = pairs.iter_mut().find(is_beside) {
                if time < pair.time {
                    (pair.ours, pair.time) = (record, time);
                }
                continue;
            }
            let fitting = self.figures.iter().filter(|figure| figure.clock == clock && figure.is_of(&record.case));
            if let Some(theirs) = fitting.min_by(|a, b| a.milliseconds.total_cmp(&b.milliseconds)) {
                pairs.push(Pair { ours: record, theirs, time });
            }
        }
        pairs
    }

    /// The fastest of our formats and the fastest of the libraries' one copies over all modes together, where all were measured.
    fn one_copies<'a>(&'a self, records: &'a [Record]) -> Vec<OneCopy<'a>> {
        let mut found: Vec<OneCopy> = Vec::new();
        for first in records.iter().filter(|record| record.case.mode == 1) {
            for clock in Clock::ALL {
                let modes = 1..=first.shape.len();
                let of_mode = |mode: usize| Case { mode, ..first.case.clone() };
                let ours = |mode: usize| {
                    records.iter().find(|record| record.case == of_mode(mode)).and_then(|record| record.median(clock))
                };
                let Some(ours) = modes.clone().map(ours).sum::<Option<f64>>() else { continue };
                let theirs = |begin: &Figure| {
                    let same = |figure: &&Figure, mode: usize| {
                        figure.has_one_copy
                            && figure.name == begin.name
                            && figure.clock == clock
                            && figure.is_of(&of_mode(mode))
                    };
                    let time = |mode: usize| Some(self.figures.iter().find(|figure| same(figure, mode))?.milliseconds);
                    modes.clone().map(time).sum::<Option<f64>>()
                };
                let candidates = self.figures.iter().filter(|figure| figure.is_of(&first.case));
                let totals = candidates.filter_map(|figure| Some((figure, theirs(figure)?)));
                let Some((figure, theirs)) = totals.min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
                let one = OneCopy { ours: first, theirs: figure, times: [ours * 1e3, theirs] };
                let is_beside = |other: &&mut OneCopy| {
                    other.theirs.clock == clock && other.ours.case.is_same_but_format(&first.case)
                };
                match found.iter_mut().find(is_beside) {
                    Some(other) if other.times[0] <= one.times[0] => {}
                    Some(other) => *other = one,
                    None => found.push(one),
                }
            }
        }
        found
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
            clock: match text("clock") {
                None => Clock::Kernel,
                Some(name) => Clock::ALL
                    .into_iter()
                    .find(|clock| clock.name() == name)
                    .ok_or_else(|| format!("there is no clock `{name}`: they are `kernel`, `into` and `call`"))?,
            },
            has_one_copy: value.get("one_copy").and_then(Value::as_bool).unwrap_or(false),
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
const HEADS: [&str; 14] = [
    "kernel",
    "tensor",
    "format",
    "library",
    "mode",
    "rank",
    "type",
    "threads",
    "clock",
    "ms",
    "its ms",
    "faster",
    "set-up",
    "its set-up",
];

/// Those of the table of one copies.
const ONE_COPY_HEADS: [&str; 11] =
    ["kernel", "tensor", "format", "library", "rank", "type", "threads", "clock", "ms", "its ms", "faster"];

/// How many columns are flush left.
const LEFT: usize = 4;

const NOTES: &str = "
clock: what both times include, as the library's figure says: `kernel` the loops alone, `into` a call with what the result begins as, `call` one with
memory for a new result; faster: how many times as long the library takes, a star where `spc` takes longer; set-up: sorting and packing, and with a plus
the copies that each call makes, which are no part of `kernel`
";

impl Pair<'_> {
    /// How many times as long the library takes.
    fn ratio(&self) -> f64 {
        self.theirs.milliseconds / self.time
    }

    /// What means are taken of.
    fn group(&self) -> (&str, usize) {
        (&self.ours.case.kernel, self.ours.case.threads)
    }

    /// The cells, in the order of [`HEADS`].
    fn row(&self) -> Vec<String> {
        let Self { ours, theirs, time } = self;
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
            theirs.clock.name().to_owned(),
            digits(*time),
            digits(theirs.milliseconds),
            starred(ratio),
            format!("{}{copies}", digits(ours.pack * 1e3)),
            theirs.setup.map_or_else(|| "-".to_owned(), digits),
        ]
    }
}

impl OneCopy<'_> {
    /// The cells, in the order of [`ONE_COPY_HEADS`].
    fn row(&self) -> Vec<String> {
        let Self { ours, theirs, times: [time, its_time] } = self;
        let [kernel, _, format, rank, element, threads] = ours.case.cells();
        let (tensor, library, clock) = (ours.case.tensor.clone(), theirs.name.clone(), theirs.clock.name().to_owned());
        let (faster, time, its_time) = (starred(its_time / time), digits(*time), digits(*its_time));
        vec![kernel, tensor, format, library, rank, element, threads, clock, time, its_time, faster]
    }
}

/// A ratio, with a star where it is below 1.
fn starred(ratio: f64) -> String {
    format!("{}{ratio:.2}", if ratio < 1.0 { "*" } else { "" })
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
