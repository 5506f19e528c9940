//! The page of benchmarks: the chart, and what `spc suite --json` said of each suite that was recorded in `docs/benchmarks`.

use super::{assert_made, root};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "\
# Benchmarks

![The time of the fastest other library over that of spc, for each kernel](speed.svg)

The chart is drawn from the figures of [BENCHMARKS.md](../BENCHMARKS.md), the summary of these pages. Kernels that lose to another library are among them.

* [Beside other libraries](benchmarks/libraries.md)
* [Kernels beside the limits of the machine](benchmarks/kernels.md)
* [Plans beside splits by hand](benchmarks/plans.md)
* [Decompositions](benchmarks/decompositions.md)
* [From Rust, C and Python, and before a kernel runs](benchmarks/engines.md)
* [Larger tensors](benchmarks/growth.md)
* [Volumes of many ranks](benchmarks/ranks.md)
* [On a GPU](benchmarks/gpu.md)

`spc bench` measures on your machine: [make it faster](how-to/make-it-faster.md). `spc suite` runs a whole [benchmark suite](suite.md).

## Suites

Figures of suites are recorded as JSON in `docs/benchmarks`, and this page is made of them. To record one, without its single rows:

<!-- not run: a suite takes minutes -->
```sh
cargo build --release --bin spc
target/release/spc suite li2020 --out target/li2020 --json | jq 'del(.page, .rows, .refused)' > docs/benchmarks/li2020.json
INSTA_UPDATE=always cargo test -p spc-tensor-cli --test command book::benchmarks
```
";

/// The largest record: single rows are not kept.
const LARGEST: usize = 200_000;

/// What the page has of a record.
#[derive(Deserialize)]
struct Record {
    machines: Vec<Machine>,
    tensors: Vec<Tensor>,
    averages: Vec<Average>,
    #[serde(default)]
    experiments: Vec<Row>,
    observations: Vec<Observation>,
}

#[derive(Deserialize)]
struct Machine {
    machine: String,
    backend: String,
    facts: Facts,
}

#[derive(Deserialize)]
struct Facts {
    cpu: String,
    processors: usize,
    system: String,
    rustc: String,
    spc: String,
    commit: String,
    date: String,
    command: String,
    device: Option<String>,
    measured: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    threads: usize,
    gflops: [Option<f64>; 2],
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    footprint: usize,
    triad: f64,
}

#[derive(Deserialize)]
struct Tensor {
    machine: String,
    tensor: String,
    shape: Vec<usize>,
    nnz: usize,
}

#[derive(Deserialize)]
struct Average {
    machine: String,
    kernel: String,
    format: String,
    backend: String,
    element: String,
    threads: usize,
    cases: usize,
    gflops: Option<f64>,
    roofline_share: Option<f64>,
    transformation_share: Option<f64>,
}

/// A row of an experiment.
#[derive(Deserialize)]
struct Row {
    machine: String,
    experiment: String,
    label: String,
    tensor: String,
    format: String,
    setting: Option<String>,
    mode: Option<usize>,
    rank: Option<usize>,
    threads: usize,
    backend: String,
    kernel_ms: f64,
    #[serde(default)]
    also: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Observation {
    machine: String,
    says: String,
    #[serde(default)]
    section: String,
    #[serde(default)]
    paper: String,
    holds: Option<bool>,
    figures: String,
}

/// How many rows of an experiment the page has of each number of threads.
const LONG: usize = 48;

/// The columns of a table of an experiment.
const EXPERIMENT: [&str; 12] = [
    "tensor",
    "kernel",
    "format",
    "setting",
    "mode",
    "rank",
    "threads",
    "ms",
    "MTTKRPs",
    "sorting, in iterations",
    "bytes of GPU memory",
    "atomic operations",
];

impl Row {
    /// What a model counts stands beside what was measured on the processor.
    fn is_beside(&self, backend: &str) -> bool {
        self.backend == backend || self.backend == "counted" && backend == "native"
    }

    fn cells(&self) -> Vec<String> {
        let optional = |number: Option<usize>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
        vec![
            self.tensor.clone(),
            self.label.clone(),
            format!("`{}`", self.format),
            self.setting.clone().unwrap_or_else(|| "–".to_owned()),
            optional(self.mode),
            optional(self.rank),
            self.threads.to_string(),
            if self.kernel_ms > 0.0 { format!("{:.3}", self.kernel_ms) } else { "–".to_owned() },
            percent(self.also.get("mttkrp_share").copied()),
            rate(self.also.get("sorting_iterations").copied()),
            count(self.also.get("memory_bytes").copied()),
            count(self.also.get("atomics").copied()),
        ]
    }
}

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// A table, without the columns that have nothing.
fn table(page: &mut String, heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let has = |column: &usize| rows.is_empty() || rows.iter().any(|row| row[*column] != "–");
    let kept: Vec<usize> = (0..heads.len()).filter(has).collect();
    let only = |cells: &[String]| kept.iter().map(|&column| cells[column].clone()).collect::<Vec<_>>();
    let line = |cells: &[String]| format!("| {} |\n", only(cells).join(" | "));
    let heads: Vec<String> = heads.iter().map(|&head| head.to_owned()).collect();
    *page += &format!("\n{}|{}\n", line(&heads), "---|".repeat(kept.len()));
    for row in rows {
        *page += &line(&row.iter().map(|text| cell(text)).collect::<Vec<_>>());
    }
}

fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))
}

fn count(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.0}"))
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{:.0}%", 100.0 * value))
}

/// The part of the page that is of one record.
pub(crate) fn section(name: &str, record: Value) -> String {
    let record: Record = serde_json::from_value(record).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut page = format!("\n## {name}\n");
    for Machine { machine, backend, facts } in &record.machines {
        write!(page, "\n### {name}: {machine}, {backend}\n").unwrap();
        assert!(
            !facts.device.iter().any(|device| device.contains("Emulation")),
            "{name}: times of an emulated GPU mean nothing"
        );
        let device = facts.device.iter().map(|device| ("GPU", device.clone()));
        let known = [
            ("processor", format!("{}, {} threads", facts.cpu, facts.processors)),
            ("system", facts.system.clone()),
            ("Rust", facts.rustc.clone()),
            ("spc", format!("{}, commit `{}`", facts.spc, facts.commit)),
            ("date", facts.date.clone()),
            ("command", format!("`{}`", facts.command)),
        ];
        table(&mut page, &["", ""], device.chain(known).map(|(what, text)| vec![what.to_owned(), text]));
        let limits = facts.measured.iter().map(|of| {
            let memory = of.points.iter().max_by_key(|point| point.footprint).map(|point| point.triad);
            vec![of.threads.to_string(), rate(of.gflops[0]), rate(of.gflops[1]), rate(memory)]
        });
        table(&mut page, &["threads", "GFLOP/s, f64", "GFLOP/s, f32", "main memory, GB/s"], limits);
        let own = |of: &str| of == machine;
        let averages = record.averages.iter().filter(|average| own(&average.machine) && average.backend == *backend);
        table(
            &mut page,
            &["kernel", "format", "type", "threads", "GFLOP/s", "of the roofline", "packing in a first call", "cases"],
            averages.map(|average| {
                vec![
                    average.kernel.clone(),
                    format!("`{}`", average.format),
                    average.element.clone(),
                    average.threads.to_string(),
                    rate(average.gflops),
                    percent(average.roofline_share),
                    percent(average.transformation_share),
                    average.cases.to_string(),
                ]
            }),
        );
        page += "\nFigures are geometric means over tensors and modes:\n";
        let tensors = record.tensors.iter().filter(|tensor| own(&tensor.machine)).map(|tensor| {
            let shape: Vec<String> = tensor.shape.iter().map(ToString::to_string).collect();
            vec![tensor.tensor.clone(), shape.join(" × "), tensor.nnz.to_string()]
        });
        table(&mut page, &["tensor", "shape", "entries"], tensors);
        let rows: Vec<&Row> =
            record.experiments.iter().filter(|row| own(&row.machine) && row.is_beside(backend)).collect();
        let mut experiments: Vec<&str> = rows.iter().map(|row| &row.experiment[..]).collect();
        experiments.dedup();
        for experiment in experiments {
            write!(page, "\n#### {experiment}\n").unwrap();
            let own = || rows.iter().filter(|row| row.experiment == experiment);
            let most = own().map(|row| row.threads).max();
            // Of many rows those of all threads.
            let is_long = own().count() > LONG;
            let own = own().filter(|row| !is_long || Some(row.threads) == most);
            table(&mut page, &EXPERIMENT, own.map(|row| row.cells()));
        }
        let observations =
            record.observations.iter().filter(|observation| own(&observation.machine)).map(|observation| {
                let holds = observation.holds.map_or("not measured", |holds| if holds { "true" } else { "false" });
                let Observation { says, section, paper, figures, .. } = observation;
                [says, section, paper, holds, figures].map(|text| text.to_owned()).to_vec()
            });
        let observations: Vec<Vec<String>> = observations.collect();
        if !observations.is_empty() {
            table(&mut page, &["observation", "section", "the paper has", "here", "figures"], observations);
        }
    }
    page
}

#[test]
fn the_page_is_of_the_recorded_figures() {
    let mut records: Vec<_> = std::fs::read_dir(root().join("docs/benchmarks"))
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    records.sort();
    let mut page = HEAD.to_owned();
    if records.is_empty() {
        page += "\nNone is recorded yet.\n";
    }
    for path in records {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.len() <= LARGEST, "{name} has {} bytes, and a record {LARGEST} at most", text.len());
        page += &section(name, serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    assert_made("docs/benchmarks.md", &page);
}

/// A record as `spc suite` writes it, with figures that nothing measured.
const MADE_UP: &str = r#"{
  "suite": "mine",
  "machines": [{
    "run": "1", "machine": "Made-up x2 (0001)", "backend": "native",
    "facts": {
      "cpu": "Made-up", "processors": 2, "caches": [[1, 32768]], "system": "linux 6", "rustc": "rustc 1.90.0", "spc": "0.1.0",
      "commit": "0123456789ab", "date": "2000-01-02 03:04 UTC", "command": "spc suite mine.json", "device": null,
      "measured": [{ "threads": 2, "gflops": [40.0, null], "points": [
        { "footprint": 1024, "triad": 90.0, "read": 1.0, "gather": [1.0, 1.0, 1.0] },
        { "footprint": 1048576, "triad": 12.5, "read": 1.0, "gather": [1.0, 1.0, 1.0] }
      ] }]
    }
  }],
  "tensors": [{ "run": "1", "machine": "Made-up x2 (0001)", "tensor": "u", "source": "uniform", "is_file": false, "shape": [20, 30], "nnz": 400 }],
  "averages": [
    { "machine": "Made-up x2 (0001)", "kernel": "TTV", "format": "csf", "backend": "native", "element": "f64", "threads": 2, "cases": 3,
      "gflops": 1.234, "roofline_share": 0.5, "transformation_share": null, "operations_per_byte": 0.25 },
    { "machine": "Other", "kernel": "TTM", "format": "coo", "backend": "native", "element": "f64", "threads": 2, "cases": 3,
      "gflops": 1.0, "roofline_share": null, "transformation_share": null, "operations_per_byte": null }
  ],
  "experiments": [{ "machine": "Made-up x2 (0001)", "experiment": "By rank", "label": "CP-ALS", "tensor": "u", "format": "coo",
    "setting": "permutations", "mode": null, "rank": 8, "threads": 2, "backend": "native", "kernel_ms": 1.5,
    "also": { "mttkrp_share": 0.25 } }],
  "observations": [{ "machine": "Made-up x2 (0001)", "says": "a | b", "section": "5", "paper": "0.7", "holds": false, "figures": "0.9" }]
}"#;

#[test]
fn a_record_has_its_machine_commit_and_date() {
    let record = || serde_json::from_str::<Value>(MADE_UP).unwrap();
    let made = section("mine", record());
    for part in [
        "\n## mine\n\n### mine: Made-up x2 (0001), native\n",
        "| processor | Made-up, 2 threads |\n",
        "| spc | 0.1.0, commit `0123456789ab` |\n| date | 2000-01-02 03:04 UTC |\n| command | `spc suite mine.json` |\n",
        "| 2 | 40.00 | 12.50 |\n",
        "| TTV | `csf` | f64 | 2 | 1.23 | 50% | 3 |\n",
        "| u | 20 × 30 | 400 |\n",
        "\n#### By rank\n",
        "| u | CP-ALS | `coo` | permutations | 8 | 2 | 1.500 | 25% |\n",
        "| a \\| b | 5 | 0.7 | false | 0.9 |\n",
    ] {
        assert!(made.contains(part), "no {part:?} in {made}");
    }
    assert!(!made.contains("TTM"), "another machine's: {made}");
    let mut emulated = record();
    emulated["machines"][0]["facts"]["device"] = "Emulation".into();
    assert!(std::panic::catch_unwind(|| section("mine", emulated)).is_err());
}
