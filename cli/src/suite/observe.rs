//! What a paper observed, tried on the figures of a machine.

use super::figures::{Figures, Row, mean};
use crate::output::digits;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A sentence, and the figures that decide whether it is true.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Observation {
    pub(super) says: String,
    /// Where the paper says it.
    #[serde(default)]
    pub(super) section: String,
    /// The paper's own figure.
    #[serde(default)]
    pub(super) paper: String,
    /// The experiment whose rows decide; those of kernels, formats and tensors if it is none.
    #[serde(default)]
    pub(super) experiment: Option<String>,
    test: Test,
    /// The rows that it is about.
    #[serde(default)]
    a: Selection,
    /// The rows that those are compared with.
    #[serde(default)]
    b: Selection,
    #[serde(default)]
    measure: Measure,
    /// Of `above`: what is above or not.
    #[serde(default)]
    limit: f64,
    /// It is true where the figure of the test is at least this.
    least: f64,
}

/// How figures decide.
#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Test {
    /// How many times more the largest is than the smallest.
    Spread,
    /// The part of the rows that are above the limit.
    Above,
    /// The part that are not.
    Below,
    /// The mean of `a` over the mean of `b`, of cases that differ in nothing but what was selected.
    Ratio,
    /// The mean of all of `a` over the mean of all of `b`.
    Means,
    /// The same, or its inverse if that is more.
    Differ,
    /// Most threads over one thread.
    Speedup,
    /// The bytes of the formats of `b` over those of `a`.
    Storage,
    /// The same of units: all numbers that are stored, each counted once.
    Units,
}

/// What of a row is looked at.
#[derive(Debug, Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(super) enum Measure {
    #[default]
    Gflops,
    /// How often it runs in a second.
    Runs,
    /// The part of the roofline.
    Efficiency,
    /// The rate over that of the roofline of main memory, where each touched byte comes from there.
    MainMemory,
    /// The part of a first call that goes into storing operands.
    Transformation,
    /// How long a run takes, in milliseconds.
    Time,
    /// The part of a decomposition's iterations that is in MTTKRPs.
    MttkrpShare,
    /// Sorting before a decomposition, in iterations of it.
    SortingIterations,
    /// The time of all copies and kernels one after the other, over that of the pipeline.
    Pipeline,
    /// How much faster it is than the same on one thread.
    Speedup,
    /// The bytes of a GPU's memory that a model counts, by entry.
    GpuMemory,
    /// The atomic operations that it counts, by entry.
    GpuAtomics,
    /// The bandwidth of an MTTKRP, by equation 3 of Phipps and Kolda 2019, over that of main memory.
    StreamShare,
}

/// Which rows; what is not said is not asked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Selection {
    kernels: Option<Vec<String>>,
    formats: Option<Vec<String>>,
    elements: Option<Vec<String>>,
    backend: Option<String>,
    rank: Option<usize>,
    threads: Option<Threads>,
    source: Option<Origin>,
    /// What an experiment varies, as `permutations` or `4 parts`.
    settings: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Threads {
    One,
    Most,
}

#[derive(Debug, Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Origin {
    File,
    Generated,
}

/// What came of an observation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// Nothing where there are no figures for it.
    pub(super) holds: Option<bool>,
    pub(super) figures: String,
}

impl Observation {
    /// Where the paper says it, and its figure, as far as these are known.
    pub(super) fn source(&self) -> String {
        let section = (!self.section.is_empty()).then(|| format!("section {}", self.section));
        let paper = (!self.paper.is_empty()).then(|| format!("the paper has {}", self.paper));
        let parts: Vec<String> = section.into_iter().chain(paper).collect();
        parts.join(", ")
    }

    /// Refuses kernels that the suite does not have.
    pub(super) fn check(&self, labels: &[&str]) -> Result<(), String> {
        let named = [&self.a, &self.b].into_iter().flat_map(|selection| selection.kernels.iter().flatten());
        match named.into_iter().find(|name| !labels.contains(&name.as_str())) {
            Some(name) => {
                Err(format!("the observation `{}` names `{name}`, which is no kernel of the suite", self.says))
            }
            None => Ok(()),
        }
    }

    /// Whether it is true of these figures, of one machine.
    pub(super) fn verdict(&self, figures: &Figures) -> Verdict {
        if let Some((figure, said)) = self.figure(figures) {
            return Verdict { holds: Some(figure >= self.least), figures: said };
        }
        let is_left_out = |row: &&Row| row.ran_as.is_some() && (self.a.names(row) || self.b.names(row));
        let figures = match figures.rows.iter().find(is_left_out) {
            Some(Row { format, ran_as: Some(walked), .. }) => format!("{format} ran as {walked} here"),
            _ => "no figures here".to_owned(),
        };
        Verdict { holds: None, figures }
    }

    fn figure(&self, figures: &Figures) -> Option<(f64, String)> {
        let own: Vec<&Row> = match &self.experiment {
            None => figures.rows.iter().filter(|row| !figures.is_degenerate(row)).collect(),
            Some(name) => figures.experiments.iter().filter(|row| row.experiment.as_ref() == Some(name)).collect(),
        };
        let own = &own[..];
        let all = || self.a.of(own).filter_map(|row| Some((row, self.measure.of(row, figures)?)));
        let times = |figure: f64| format!("{} times", digits(figure));
        match self.test {
            Test::Spread => {
                let values: Vec<f64> = all().map(|(_, value)| value).collect();
                let (least, most) = (fold(&values, f64::min)?, fold(&values, f64::max)?);
                let said =
                    format!("{} to {} {}: {}", digits(least), digits(most), self.measure.unit(), times(most / least));
                Some((most / least, said))
            }
            Test::Above | Test::Below => {
                let values: Vec<f64> = all().map(|(_, value)| value).collect();
                let counts = |value: &&f64| (**value > self.limit) == (self.test == Test::Above);
                let count = values.iter().filter(counts).count();
                let share = count as f64 / values.len() as f64;
                (!values.is_empty())
                    .then(|| (share, format!("{count} of {} rows, {:.0}%", values.len(), 100.0 * share)))
            }
            Test::Ratio => {
                let ratios: Vec<f64> = all()
                    .filter_map(|(row, value)| {
                        let other = self.b.of(own).find(|other| self.is_pair(row, other))?;
                        Some(value / self.measure.of(other, figures)?)
                    })
                    .collect();
                let ratio = mean(ratios.iter().copied())?;
                let more = ratios.iter().filter(|&&ratio| ratio >= 1.0).count();
                Some((ratio, format!("{} in the mean of {}, at least 1 in {more}", times(ratio), cases(ratios.len()))))
            }
            Test::Means | Test::Differ => {
                let a = mean(all().map(|(_, value)| value))?;
                let b = mean(self.b.of(own).filter_map(|row| self.measure.of(row, figures)))?;
                let unit = self.measure.unit();
                let figure = if self.test == Test::Differ { (a / b).max(b / a) } else { a / b };
                Some((figure, format!("{} beside {} {unit}: {}", digits(a), digits(b), times(a / b))))
            }
            Test::Speedup => {
                let ratios: Vec<f64> = speedups(self.a.of(own)).into_iter().map(|(_, ratio)| ratio).collect();
                let ratio = mean(ratios.iter().copied())?;
                Some((ratio, format!("{} in the mean of {}", times(ratio), cases(ratios.len()))))
            }
            Test::Storage | Test::Units => {
                let bytes = |selection: &Selection, storage: &BTreeMap<String, (usize, usize)>| {
                    let (bytes, units) = storage.get(selection.formats.as_ref()?.first()?)?;
                    Some(if self.test == Test::Units { *units } else { *bytes } as f64)
                };
                let ratio = |storage| Some(bytes(&self.b, storage)? / bytes(&self.a, storage)?);
                let ratios: Vec<f64> = figures.tensors.iter().filter_map(|tensor| ratio(&tensor.storage)).collect();
                let (figure, less) =
                    (mean(ratios.iter().copied())?, ratios.iter().filter(|&&ratio| ratio > 1.0).count());
                Some((
                    figure,
                    format!("{} less in the mean, less for {less} of {} tensors", times(figure), ratios.len()),
                ))
            }
        }
    }

    /// Whether two rows differ only in what the selections say.
    fn is_pair(&self, one: &Row, other: &Row) -> bool {
        let (a, b) = (&self.a, &self.b);
        let free = |of: fn(&Selection) -> bool| of(a) || of(b);
        (one.tensor == other.tensor)
            && (one.mode == other.mode)
            && (one.kernel == other.kernel || free(|selection| selection.kernels.is_some()))
            && (one.format == other.format
                || free(|selection| selection.formats.as_ref().is_some_and(|all| all.len() == 1)))
            && (one.element == other.element || free(|selection| selection.elements.is_some()))
            && (one.setting == other.setting || free(|selection| selection.settings.is_some()))
            && (one.rank == other.rank || free(|selection| selection.rank.is_some()))
            && (one.backend == other.backend || free(|selection| selection.backend.is_some()))
            && (one.threads == other.threads
                || free(|selection| selection.threads.is_some() || selection.backend.is_some()))
    }
}

/// What most threads gain over one, where both were measured.
pub(super) fn speedups<'a>(rows: impl Iterator<Item = &'a Row>) -> Vec<(&'a Row, f64)> {
    let rows: Vec<&Row> = rows.collect();
    let alike = |row: &Row| Row { threads: 1, ..row.clone() }.key();
    let mut single: BTreeMap<_, f64> = BTreeMap::new();
    rows.iter().filter(|row| row.threads == 1).for_each(|row| _ = single.insert(row.key(), row.kernel_ms));
    let most = rows.iter().map(|row| row.threads).max().unwrap_or(0);
    let many = rows.iter().filter(|row| row.threads > 1 && row.threads == most);
    many.filter_map(|&row| Some((row, single.get(&alike(row))? / row.kernel_ms))).collect()
}

fn cases(count: usize) -> String {
    format!("{count} {}", if count == 1 { "case" } else { "cases" })
}

fn fold(values: &[f64], by: fn(f64, f64) -> f64) -> Option<f64> {
    values.iter().copied().reduce(by)
}

impl Selection {
    fn of<'a>(&'a self, rows: &'a [&'a Row]) -> impl Iterator<Item = &'a Row> {
        let most = rows.iter().map(|row| row.threads).max().unwrap_or(0);
        rows.iter().copied().filter(move |row| self.has(row, most))
    }

    /// Whether a row is of the kernels and formats.
    fn names(&self, row: &Row) -> bool {
        let is_of =
            |names: &Option<Vec<String>>, name: &String| names.as_ref().is_none_or(|names| names.contains(name));
        is_of(&self.kernels, &row.label) && is_of(&self.formats, &row.format)
    }

    fn has(&self, row: &Row, most: usize) -> bool {
        let is_of =
            |names: &Option<Vec<String>>, name: &String| names.as_ref().is_none_or(|names| names.contains(name));
        let threads = match self.threads {
            None => true,
            Some(Threads::One) => row.threads == 1,
            Some(Threads::Most) => row.threads == most,
        };
        let source = self.source.is_none_or(|source| row.is_file == (source == Origin::File));
        // What was not walked says nothing of its format.
        row.ran_as.is_none()
            && threads
            && source
            && self.names(row)
            && is_of(&self.elements, &row.element)
            && self.backend.as_ref().is_none_or(|backend| *backend == row.backend)
            && self.rank.is_none_or(|rank| row.rank == Some(rank))
            && self
                .settings
                .as_ref()
                .is_none_or(|settings| row.setting.as_ref().is_some_and(|own| settings.contains(own)))
    }
}

impl Measure {
    pub(super) fn of(self, row: &Row, figures: &Figures) -> Option<f64> {
        let also = |name: &str| row.also.get(name).copied();
        match self {
            Measure::Gflops => row.gflops(),
            Measure::Runs => Some(1e3 / row.kernel_ms),
            Measure::Efficiency => row.efficiency(),
            Measure::MainMemory => Some(row.bytes? / (row.kernel_ms * 1e-3) / figures.main_memory(row)?),
            Measure::Transformation => Some(row.transformation()),
            Measure::Time => Some(row.kernel_ms),
            Measure::MttkrpShare => also("mttkrp_share"),
            Measure::SortingIterations => also("sorting_iterations"),
            Measure::Pipeline => also("serial_over_pipelined"),
            Measure::GpuMemory => Some(also("memory_bytes")? / figures.tensor(row)?.nnz as f64),
            Measure::GpuAtomics => Some(also("atomics")? / figures.tensor(row)?.nnz as f64),
            Measure::Speedup => {
                let single = Row { threads: 1, ..row.clone() }.key();
                let all = figures.rows.iter().chain(&figures.experiments);
                let alike = all.filter(|other| other.threads == 1 && other.machine == row.machine);
                Some(alike.into_iter().find(|other| other.key() == single)?.kernel_ms / row.kernel_ms)
            }
            Measure::StreamShare => {
                let (tensor, bytes) = (figures.tensor(row)?, if row.element == "f32" { 4.0 } else { 8.0 });
                let (order, rank) = (tensor.shape.len() as f64, row.rank? as f64);
                // Coordinates have 32 bits here, and 64 in the paper.
                let moved = ((order * rank + 3.0) * bytes + order * 4.0) * tensor.nnz as f64;
                Some(moved / (row.kernel_ms * 1e-3) / figures.main_memory(row)?)
            }
        }
    }

    /// What a chart of it is called.
    pub(super) fn title(self) -> &'static str {
        match self {
            Measure::Gflops => "rate",
            Measure::Runs => "runs",
            Measure::Efficiency => "part of the roofline",
            Measure::MainMemory => "part of the roofline of main memory",
            Measure::Transformation => "packing and conversions",
            Measure::Time => "time",
            Measure::MttkrpShare => "MTTKRPs",
            Measure::SortingIterations => "sorting",
            Measure::Pipeline => "all parts one by one, beside the pipeline",
            Measure::Speedup => "speed-up",
            Measure::GpuMemory => "memory of a GPU",
            Measure::GpuAtomics => "atomic operations",
            Measure::StreamShare => "bandwidth",
        }
    }

    pub(super) fn unit(self) -> &'static str {
        match self {
            Measure::Gflops => "GFLOP/s",
            Measure::Runs => "runs a second",
            Measure::Efficiency => "of the roofline",
            Measure::MainMemory => "of the roofline of main memory",
            Measure::Transformation => "of the time",
            Measure::Time => "ms",
            Measure::MttkrpShare => "of the iterations' time",
            Measure::SortingIterations => "iterations",
            Measure::Pipeline => "times the pipeline's time",
            Measure::Speedup => "times as fast as one thread",
            Measure::GpuMemory => "bytes an entry",
            Measure::GpuAtomics => "an entry",
            Measure::StreamShare => "of STREAM's bandwidth",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::figures::TensorLine;

    /// A row of made-up figures: 1e6 operations in so many milliseconds, of which the roofline needs one.
    fn row(label: &str, format: &str, threads: usize, milliseconds: f64) -> Row {
        Row {
            label: label.to_owned(),
            kernel: label.to_lowercase(),
            format: format.to_owned(),
            tensor: "t".to_owned(),
            backend: "native".to_owned(),
            threads,
            kernel_ms: milliseconds,
            pack_ms: 3.0,
            operations: Some(1e6),
            roofline_ms: Some(1.0),
            ..Row::default()
        }
    }

    fn verdict(text: &str, figures: &Figures) -> Verdict {
        serde_json::from_str::<Observation>(text).unwrap().verdict(figures)
    }

    #[test]
    fn sentences_are_true_or_false_by_the_figures() {
        let rows = vec![
            row("TTV", "coo", 1, 8.0),
            row("TTV", "coo", 2, 4.0),
            row("TTV", "csf", 2, 2.0),
            row("TS", "coo", 2, 1.0),
        ];
        let figures = Figures { rows, ..Figures::default() };
        let holds = |text: &str| verdict(text, &figures).holds;
        let ratio =
            r#"{"says": "", "test": "ratio", "a": {"formats": ["csf"]}, "b": {"formats": ["coo"]}, "least": LEAST}"#;
        assert_eq!(holds(&ratio.replace("LEAST", "2")), Some(true));
        assert_eq!(holds(&ratio.replace("LEAST", "2.1")), Some(false));
        let speedup = r#"{"says": "", "test": "speedup", "a": {"formats": ["FORMAT"]}, "least": 2}"#;
        assert_eq!(
            (holds(&speedup.replace("FORMAT", "coo")), holds(&speedup.replace("FORMAT", "csf"))),
            (Some(true), None)
        );
        let spread = verdict(r#"{"says": "", "test": "spread", "a": {"threads": "most"}, "least": 5}"#, &figures);
        assert_eq!(spread, Verdict { holds: Some(false), figures: "0.250 to 1.00 GFLOP/s: 4.00 times".to_owned() });
        let means = r#"{"says": "", "test": "means", "a": {"kernels": ["TS"]}, "b": {"kernels": ["TTV"], "threads": "most"},
            "measure": "efficiency", "least": 2.8}"#;
        assert_eq!(holds(means), Some(true));
        let above_text = r#"{"says": "", "test": "above", "measure": "transformation", "limit": 0.5, "least": 0.5}"#;
        let above = verdict(above_text, &figures);
        assert_eq!(above, Verdict { holds: Some(true), figures: "2 of 4 rows, 50%".to_owned() });
        let below = above_text.replace("above", "below").replace("0.5}", "0.6}");
        assert_eq!(verdict(&below, &figures).holds, Some(false));
        let files =
            r#"{"says": "", "test": "differ", "a": {"source": "file"}, "b": {"source": "generated"}, "least": 1.2}"#;
        assert_eq!(holds(files), None);
    }

    #[test]
    fn storage_and_sources_are_compared() {
        let storage = [("coo", (100, 10)), ("csf", (50, 9))].map(|(format, sizes)| (format.to_owned(), sizes));
        let tensors = vec![TensorLine { storage: BTreeMap::from(storage), ..TensorLine::default() }];
        let rows = vec![Row { is_file: true, ..row("TTV", "coo", 2, 4.0) }, row("TTV", "csf", 2, 2.0)];
        let figures = Figures { tensors, rows, ..Figures::default() };
        let test =
            r#"{"says": "", "test": "storage", "a": {"formats": ["csf"]}, "b": {"formats": ["coo"]}, "least": 2}"#;
        assert_eq!(verdict(test, &figures).holds, Some(true));
        let test =
            r#"{"says": "", "test": "storage", "a": {"formats": ["coo"]}, "b": {"formats": ["csf"]}, "least": 1}"#;
        assert_eq!(verdict(test, &figures).holds, Some(false));
        let differ =
            r#"{"says": "", "test": "differ", "a": {"source": "file"}, "b": {"source": "generated"}, "least": 2}"#;
        assert_eq!(verdict(differ, &figures).holds, Some(true));
    }

    #[test]
    fn what_walks_another_format_is_left_out() {
        let coo = row("TTV", "coo", 2, 4.0);
        let cfb = Row { ran_as: Some("csf".to_owned()), ..row("TTV", "cfb", 2, 1.0) };
        let figures = Figures { rows: vec![coo, cfb], ..Figures::default() };
        let test = r#"{"says": "", "test": "ratio", "a": {"formats": ["cfb"]}, "b": {"formats": ["coo"]}, "least": 1}"#;
        assert_eq!(verdict(test, &figures).holds, None);
    }

    #[test]
    fn kernels_of_other_suites_are_refused() {
        let test = r#"{"says": "x", "test": "spread", "a": {"kernels": ["TTV"]}, "least": 2}"#;
        let observation: Observation = serde_json::from_str(test).unwrap();
        assert!(observation.check(&["TTV"]).is_ok());
        assert!(observation.check(&[]).unwrap_err().contains("`TTV`"));
    }
}
