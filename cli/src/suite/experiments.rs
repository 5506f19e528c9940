//! What suites measure beside each kernel in each format on each tensor: kernels along one setting, kernels on a tensor that comes in parts,
//! and decompositions.

use super::figures::{COUNTED, Row};
use super::observe::Measure;
use super::store::Store;
use super::tensors::{Source, TensorSource, in_order, sixteen};
use crate::arguments;
use crate::bench::cases::{Choices, Setting};
use crate::bench::data::Data;
use crate::bench::suite::{KERNELS, Parameter};
use crate::failure::Failure;
use crate::formats::parse_format;
use crate::names;
use crate::progress::Progress;
use crate::threads;
use serde::Deserialize;
use spc::decompose::{AlsOptions, AprOptions, CpMethod, CpOptions, Engine, Iteration, Start, cp};
use spc::execute::Backend;
use spc::tensor::AnyTensor;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::ElementType;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

/// Refuses kernels that nothing measures.
pub(super) fn check_kernels(kernels: &[(String, String)]) -> Result<(), String> {
    let known = || KERNELS.iter().map(|kernel| kernel.name);
    match kernels.iter().find(|(_, kernel)| !known().any(|name| name == kernel)) {
        Some((_, kernel)) => Err(names::refusal(format!("there is no kernel `{kernel}`"), kernel, known(), "they are")),
        None => Ok(()),
    }
}

/// The experiments of a suite, with that of a model's counts where there are any.
pub(super) fn shown(own: &[Experiment], rows: &[Row]) -> Vec<Experiment> {
    let is_counted = rows.iter().any(|row| row.experiment.as_deref() == Some(COUNTED));
    let counted = || Experiment {
        name: COUNTED.to_owned(),
        section: String::new(),
        paper: String::new(),
        along: Along::Tensor,
        measures: vec![Measure::GpuMemory, Measure::GpuAtomics],
        tensors: Vec::new(),
        formats: Vec::new(),
        ranks: Vec::new(),
        modes: Vec::new(),
        kernels: Vec::new(),
        parts: Vec::new(),
        decomposition: None,
    };
    own.iter().cloned().chain(is_counted.then(counted)).collect()
}

/// An experiment of a paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Experiment {
    /// What reports and observations call it.
    pub(super) name: String,
    /// Where the paper has it.
    #[serde(default)]
    pub(super) section: String,
    /// The paper's own figures.
    #[serde(default)]
    pub(super) paper: String,
    /// What its chart is drawn over.
    pub(super) along: Along,
    /// What its charts show, one each.
    #[serde(default = "rates")]
    pub(super) measures: Vec<Measure>,
    /// The suite's if there are none.
    #[serde(default)]
    tensors: Vec<TensorSource>,
    formats: Vec<String>,
    #[serde(default = "sixteen")]
    ranks: Vec<usize>,
    /// The modes of products with a mode, from 1; all if none are said.
    #[serde(default)]
    modes: Vec<usize>,
    /// Kernels by the names that the paper has for them.
    #[serde(default, deserialize_with = "in_order")]
    pub(super) kernels: Vec<(String, String)>,
    /// Into how many parts the tensor `X` of each kernel is cut.
    #[serde(default)]
    parts: Vec<usize>,
    decomposition: Option<Decomposition>,
}

/// The horizontal axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Along {
    Rank,
    Threads,
    Entries,
    Parts,
    Mode,
    Tensor,
}

fn rates() -> Vec<Measure> {
    vec![Measure::Gflops]
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decomposition {
    method: Method,
    iterations: usize,
    copies: Vec<Copies>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Method {
    /// Alternating least squares.
    Als,
    /// Alternating Poisson regression.
    Apr,
}

/// What MTTKRPs read beside the tensor as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Copies {
    /// Nothing.
    None,
    /// The places of the entries in the order of each mode.
    Permutations,
    /// Copies in the order of each mode, and products that modes share.
    Sorted,
}

/// The setting of all experiments of a run.
pub(super) struct Bench<'a> {
    pub(super) setting: Setting<'a>,
    pub(super) backend: Backend,
    pub(super) element: ElementType,
    pub(super) is_quick: bool,
    pub(super) is_last: bool,
}

impl Along {
    /// Where a row is.
    pub(super) fn of(self, row: &Row, entries: usize) -> Option<f64> {
        match self {
            Along::Rank => row.rank.map(|rank| rank as f64),
            Along::Threads => Some(row.threads as f64),
            Along::Entries => Some(entries as f64),
            Along::Parts => row.setting.as_ref()?.split(' ').next()?.parse().ok(),
            Along::Mode => row.mode.map(|mode| mode as f64),
            Along::Tensor => None,
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Along::Rank => "rank",
            Along::Threads => "threads",
            Along::Entries => "entries",
            Along::Parts => "parts",
            Along::Mode => "mode",
            Along::Tensor => "tensor",
        }
    }
}

impl Copies {
    fn words(self) -> &'static str {
        match self {
            Copies::None => "as stored",
            Copies::Permutations => "permutations",
            Copies::Sorted => "sorted copies",
        }
    }

    /// The most bytes for copies that lead to these.
    fn memory(self, tensor: &AnyTensor) -> Option<u64> {
        match self {
            Copies::None => Some(0),
            Copies::Permutations => Some((tensor.order() as u64 - 1) * tensor.nnz() as u64 * size_of::<u32>() as u64),
            Copies::Sorted => None,
        }
    }
}

impl Decomposition {
    fn label(&self) -> &'static str {
        match self.method {
            Method::Als => "CP-ALS",
            Method::Apr => "CP-APR",
        }
    }

    fn method(&self) -> CpMethod {
        match self.method {
            Method::Als => CpMethod::Als(AlsOptions::default()),
            Method::Apr => CpMethod::Apr(AprOptions::default()),
        }
    }
}

impl Experiment {
    /// The names of what is measured, as observations have them.
    pub(super) fn labels(&self) -> Vec<&str> {
        let kernels = self.kernels.iter().map(|(label, _)| &label[..]);
        kernels.chain(self.decomposition.as_ref().map(Decomposition::label)).collect()
    }

    /// Refuses what names nothing.
    pub(super) fn check(&self) -> Result<(), String> {
        check_kernels(&self.kernels)?;
        if self.kernels.is_empty() == self.decomposition.is_none() {
            return Err(format!("the experiment `{}` has either `kernels` or a `decomposition`", self.name));
        }
        let is_void = self.decomposition.as_ref().is_some_and(|of| of.iterations == 0 || of.copies.is_empty());
        if self.measures.is_empty()
            || self.formats.is_empty()
            || self.ranks.is_empty()
            || self.ranks.contains(&0)
            || is_void
        {
            return Err(format!(
                "the experiment `{}` has measures, formats, ranks and iterations, at least one of each",
                self.name
            ));
        }
        if self.parts.contains(&0) {
            return Err(format!("the experiment `{}` cuts a tensor into at least one part", self.name));
        }
        self.tensors.iter().try_for_each(|tensor| tensor.at(1.0).map(drop))
    }

    /// Its tensors, where they are not those of the suite.
    pub(super) fn sources(&self, scale: f64) -> Result<Vec<Source>, Failure> {
        self.tensors.iter().map(|tensor| tensor.at(scale).map_err(Failure::refused)).collect()
    }

    /// Measures it on one tensor.
    pub(super) fn measure(&self, data: &Data, bench: &Bench<'_>, store: &mut Store) -> Result<(), Failure> {
        store.begin_experiment(&self.name, &self.kernels);
        if let Some(decomposition) = &self.decomposition {
            store.set(None);
            return self.decompose(decomposition, data, bench, store);
        }
        let kernels: Vec<String> = self.kernels.iter().map(|(_, kernel)| kernel.clone()).collect();
        let choices = || {
            let ranks = self.ranks(bench);
            let new =
                Choices::new(&kernels, self.modes.clone(), &self.formats, &ranks, &[bench.element], bench.is_quick);
            new.map(|choices| choices.run_by(Some(bench.backend)).with_product_last(bench.is_last))
        };
        choices()?.check_formats()?;
        store.set(None);
        if self.parts.is_empty() {
            return choices()?.measure(data, bench.setting, store);
        }
        for &parts in self.parts.iter().take(if bench.is_quick { 2 } else { usize::MAX }) {
            store.set(Some(format!("{parts} {}", if parts == 1 { "part" } else { "parts" })));
            choices()?.in_parts(parts).measure(data, bench.setting, store)?;
        }
        Ok(())
    }

    /// The ranks, the first and the last where it is to be quick.
    fn ranks(&self, bench: &Bench<'_>) -> Vec<usize> {
        match &self.ranks[..] {
            [first, .., last] if bench.is_quick => vec![*first, *last],
            all => all.to_vec(),
        }
    }

    fn decompose(&self, of: &Decomposition, data: &Data, bench: &Bench<'_>, store: &mut Store) -> Result<(), Failure> {
        let iterations = if bench.is_quick { of.iterations.min(3) } else { of.iterations };
        for text in &self.formats {
            let format = parse_format(text, data.order(), &Definitions::prelude())?;
            for &copies in &of.copies {
                store.set(Some(copies.words().to_owned()));
                for rank in self.ranks(bench) {
                    for machine in bench.setting.machines {
                        let row = Row {
                            label: of.label().to_owned(),
                            kernel: of.label().to_lowercase(),
                            tensor: data.name.clone(),
                            format: text.clone(),
                            rank: Some(rank),
                            element: bench.element.name().to_owned(),
                            threads: machine.threads(),
                            ..Row::default()
                        };
                        if !store.wants_row(&row) {
                            continue;
                        }
                        // A tensor of its own: what is found once, as permutations are, is kept with it.
                        let packed = data.pack(Parameter::Tensor, &format, bench.element)?;
                        let row = Row { pack_ms: milliseconds(packed.time), ..row };
                        let progress = Progress::new(format!("{}: {}, rank {rank}", data.name, of.label()));
                        let options = CpOptions {
                            iterations,
                            tolerance: 0.0,
                            start: Start::Random { seed: 1 },
                            engine: Engine { backend: Some(bench.backend), ..Engine::default() },
                            memory: copies.memory(&packed.tensor),
                            ..CpOptions::new(rank)
                        };
                        let mut seen: Vec<Iteration> = Vec::new();
                        let run = || {
                            cp(&packed.tensor, &of.method(), &options, &mut |step| {
                                seen.push(step.iteration.clone());
                                ControlFlow::Continue(())
                            })
                        };
                        let fitted = threads::on(machine.threads(), run)?;
                        drop(progress);
                        match fitted {
                            Ok(fitted) => store.add_row(Row {
                                compile_ms: milliseconds(fitted.compile_time),
                                runs: seen.len(),
                                ..filled(row, &seen, copies, fitted.prepare_time)
                            })?,
                            Err(error) => store.refuse_row(row, error.to_string())?,
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The row with what its iterations show. The first one is left out where there are others: permutations are found in it. Copies are made
/// before, where the extents of what they share are counted as well.
fn filled(row: Row, seen: &[Iteration], copies: Copies, prepare: Duration) -> Row {
    let later = if seen.len() > 1 { &seen[1..] } else { seen };
    let mut times: Vec<f64> = later.iter().map(|iteration| milliseconds(iteration.time)).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    let sum =
        |of: fn(&Iteration) -> Option<Duration>| later.iter().filter_map(of).map(milliseconds).reduce(|a, b| a + b);
    let all = sum(|iteration| Some(iteration.time));
    let first = seen.first().map_or(0.0, |iteration| milliseconds(iteration.time));
    let sorting = match copies {
        Copies::None => None,
        Copies::Permutations => Some((first - median).max(0.0)),
        Copies::Sorted => Some(milliseconds(prepare)),
    };
    let mut also = BTreeMap::new();
    let mut put = |name: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            also.insert(name.to_owned(), value);
        }
    };
    let share = |part: Option<f64>| Some(part? / all?);
    put("mttkrp_share", share(sum(|iteration| iteration.mttkrp_time)));
    put("mttkrp_ms", sum(|iteration| iteration.mttkrp_time).map(|sum| sum / later.len() as f64));
    put("kernel_share", share(sum(|iteration| Some(iteration.kernel_time))));
    put("sorting_ms", sorting);
    put("sorting_iterations", sorting.map(|sorting| sorting / median));
    put("fit", seen.iter().rev().find_map(|iteration| iteration.fit));
    Row { kernel_ms: median, also, ..row }
}

/// The element type of experiments: the suite's first.
pub(super) fn element(names: &[String]) -> ElementType {
    names.first().and_then(|name| arguments::element(name).ok()).unwrap_or(ElementType::F64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_what_iterations_show() {
        let iteration = |number: usize, time: u64, mttkrp: u64| Iteration {
            number,
            fit: Some(0.1 * number as f64),
            measures: Vec::new(),
            time: Duration::from_millis(time),
            kernel_time: Duration::from_millis(mttkrp + 1),
            mttkrp_time: Some(Duration::from_millis(mttkrp)),
        };
        let seen = [iteration(1, 50, 40), iteration(2, 10, 8), iteration(3, 10, 8)];
        let row = |copies| filled(Row::default(), &seen, copies, Duration::from_millis(20));
        let stored = row(Copies::None);
        assert_eq!((stored.kernel_ms, stored.also.get("sorting_ms")), (10.0, None));
        assert!((stored.also["mttkrp_share"] - 0.8).abs() < 1e-12 && (stored.also["kernel_share"] - 0.9).abs() < 1e-12);
        // What the first iteration takes longer, or what is done before.
        let sorting = |copies| row(copies).also["sorting_iterations"];
        assert!((sorting(Copies::Permutations) - 4.0).abs() < 1e-9 && (sorting(Copies::Sorted) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn experiments_have_kernels_or_a_decomposition() {
        let check = |text: &str| serde_json::from_str::<Experiment>(text).map_err(|error| error.to_string())?.check();
        let with = |rest: &str| check(&format!(r#"{{"name": "a", "along": "rank", "formats": ["coo"]{rest}}}"#));
        let als = r#", "decomposition": {"method": "als", "iterations": 3, "copies": ["none"]}"#;
        assert_eq!(with(als), Ok(()));
        assert_eq!(with(r#", "kernels": {"MTTKRP": "mttkrp"}, "ranks": [8, 16]"#), Ok(()));
        assert!(with("").unwrap_err().contains("either"));
        assert!(with(&format!(r#"{als}, "kernels": {{"T": "ttv"}}"#)).unwrap_err().contains("either"));
        assert!(with(r#", "kernels": {"T": "tv"}"#).unwrap_err().contains("no kernel `tv`"));
        assert!(with(&als.replace('3', "0")).unwrap_err().contains("at least one"));
        assert!(with(r#", "kernels": {"T": "ttv"}, "parts": [0]"#).unwrap_err().contains("part"));
    }
}
