//! Means over modes and tensors, gains of threads and GPUs.

use super::figures::{Figures, Row, mean};
use super::observe::speedups;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A kernel in a format, over all tensors and modes.
#[derive(Debug, Clone)]
pub(super) struct Average {
    pub(super) machine: String,
    pub(super) label: String,
    pub(super) format: String,
    pub(super) backend: String,
    pub(super) element: String,
    pub(super) threads: usize,
    pub(super) count: usize,
    /// Geometric means.
    pub(super) gflops: Option<f64>,
    pub(super) efficiency: Option<f64>,
    pub(super) transformation: Option<f64>,
    /// Operations for each byte.
    pub(super) intensity: Option<f64>,
}

impl Average {
    pub(super) fn as_json(&self) -> Value {
        json!({
            "machine": self.machine, "kernel": self.label, "format": self.format, "backend": self.backend, "element": self.element,
            "threads": self.threads, "cases": self.count, "gflops": self.gflops, "roofline_share": self.efficiency,
            "transformation_share": self.transformation, "operations_per_byte": self.intensity,
        })
    }
}

/// The rows in groups that have the same of something, in the order in which these come.
pub(super) fn grouped<K: PartialEq>(rows: &[Row], key: impl Fn(&Row) -> K) -> Vec<(K, Vec<&Row>)> {
    let mut groups: Vec<(K, Vec<&Row>)> = Vec::new();
    for row in rows {
        let own = key(row);
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, group)) => group.push(row),
            None => groups.push((own, vec![row])),
        }
    }
    groups
}

/// Machine, kernel, format, backend, element type and number of threads.
type Key = (String, String, String, String, String, usize);

/// The means of each kernel, format, backend, element type and number of threads.
pub(super) fn averages(rows: &[Row]) -> Vec<Average> {
    let key = |row: &Row| {
        let Row { machine, label, format, backend, element, threads, .. } = row.clone();
        (machine, label, format, backend, element, threads)
    };
    let average = |(key, group): (Key, Vec<&Row>)| {
        let (machine, label, format, backend, element, threads) = key;
        let of = |figure: fn(&Row) -> Option<f64>| mean(group.iter().filter_map(|row| figure(row)));
        Average {
            count: group.len(),
            gflops: of(Row::gflops),
            efficiency: of(Row::efficiency),
            transformation: of(|row| Some(row.transformation()).filter(|&share| share > 0.0)),
            intensity: of(Row::intensity),
            machine,
            label,
            format,
            backend,
            element,
            threads,
        }
    };
    grouped(rows, key).into_iter().map(average).collect()
}

/// How many times faster something is, in the mean of so many cases.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Gain {
    pub(super) what: &'static str,
    pub(super) machine: String,
    pub(super) label: String,
    pub(super) format: String,
    pub(super) times: f64,
    pub(super) count: usize,
}

/// All threads beside one, and a GPU beside all threads.
pub(super) fn gains(figures: &Figures) -> Vec<Gain> {
    let mut gains = Vec::new();
    for machine in figures.machine_names() {
        let own = figures.of_machine(machine).rows;
        let native = own.iter().filter(|row| row.backend == "native");
        let most = native.clone().map(|row| row.threads).max().unwrap_or(0);
        let mut collected: BTreeMap<(&'static str, String, String), Vec<f64>> = BTreeMap::new();
        let mut put = |what, row: &Row, ratio| {
            collected.entry((what, row.label.clone(), row.format.clone())).or_default().push(ratio);
        };
        speedups(native.clone()).into_iter().for_each(|(row, ratio)| put("all threads over one", row, ratio));
        let processor: BTreeMap<_, f64> =
            native.filter(|row| row.threads == most).map(|row| (row.key(), row.kernel_ms)).collect();
        for row in own.iter().filter(|row| row.backend == "cuda") {
            let alike = Row { backend: "native".to_owned(), threads: most, ..row.clone() };
            if let Some(time) = processor.get(&alike.key()) {
                put("GPU over all threads", row, time / row.kernel_ms);
            }
        }
        gains.extend(collected.into_iter().filter_map(|((what, label, format), ratios)| {
            let (times, count) = (mean(ratios.iter().copied())?, ratios.len());
            Some(Gain { what, machine: machine.to_owned(), label, format, times, count })
        }));
    }
    gains
}

/// For each kernel how many times faster each number of threads is than one, in the mean.
pub(super) fn scaling(rows: &[Row]) -> Vec<(String, Vec<(usize, f64)>)> {
    let native: Vec<Row> = rows.iter().filter(|row| row.backend == "native").cloned().collect();
    let single: BTreeMap<_, f64> =
        native.iter().filter(|row| row.threads == 1).map(|row| (row.key(), row.kernel_ms)).collect();
    let of_kernel = |(label, group): (String, Vec<&Row>)| {
        let mut ratios: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for row in group {
            if let Some(time) = single.get(&Row { threads: 1, ..row.clone() }.key()) {
                ratios.entry(row.threads).or_default().push(time / row.kernel_ms);
            }
        }
        let points = ratios.into_iter().filter_map(|(threads, ratios)| Some((threads, mean(ratios)?)));
        (label, points.collect::<Vec<_>>())
    };
    let scaling = grouped(&native, |row| row.label.clone()).into_iter().map(of_kernel);
    scaling.filter(|(_, points)| points.len() > 1).collect()
}

/// The rows that are above their roofline, with what may be the reason.
pub(super) fn above(figures: &Figures) -> Vec<(&Row, String)> {
    let explain = |row: &Row| {
        match row.fits_cache_level {
        _ if row.backend == "cuda" => "the device's caches are faster than its memory, which is what was measured".to_owned(),
        Some(level) => format!(
            "it fits into cache L{level}: what stays in registers and nearer caches from run to run is not counted, nor other work on the \
             machine while bandwidths were measured"
        ),
        None => "the bandwidth of memory was lower while it was measured than while the kernel ran: other work on the machine".to_owned(),
    }
    };
    let rows = figures.rows.iter().filter(|row| row.efficiency().is_some_and(|share| share > 1.0));
    rows.map(|row| (row, explain(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(backend: &str, threads: usize, milliseconds: f64) -> Row {
        Row {
            machine: "m".to_owned(),
            label: "TTV".to_owned(),
            backend: backend.to_owned(),
            threads,
            kernel_ms: milliseconds,
            operations: Some(2e6),
            roofline_ms: Some(1.5),
            bytes: Some(4e6),
            pack_ms: milliseconds,
            ..Row::default()
        }
    }

    #[test]
    fn gains_and_means_are_those_of_the_figures() {
        let rows = vec![row("native", 1, 8.0), row("native", 2, 4.0), row("cuda", 1, 1.0)];
        let figures = Figures { rows, ..Figures::default() };
        let gains = gains(&figures);
        assert_eq!(
            gains.iter().map(|gain| (gain.what, gain.times)).collect::<Vec<_>>(),
            [("GPU over all threads", 4.0), ("all threads over one", 2.0)]
        );
        let averages = averages(&figures.rows);
        let one = &averages[1];
        let close = |value: Option<f64>, expected: f64| assert!((value.unwrap() - expected).abs() < 1e-12);
        assert_eq!((averages.len(), one.threads), (3, 2));
        close(one.gflops, 0.5);
        close(one.efficiency, 0.375);
        close(one.transformation, 0.5);
        close(one.intensity, 0.5);
        assert_eq!(scaling(&figures.rows), [("TTV".to_owned(), vec![(1, 1.0), (2, 2.0)])]);
        // The last one is faster than its roofline.
        let above = above(&figures);
        assert_eq!((above.len(), above[0].0.kernel_ms), (1, 1.0));
        assert!(above[0].1.contains("device"));
    }
}
