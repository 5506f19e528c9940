//! `spc suite`: a whole benchmark suite in one resumable command, and what came of it on one page.
//!
//! | file | what it does |
//! |---|---|
//! | `description` | what a suite is, as data: `descriptions/*.json` or a user's file |
//! | `tensors` | where tensors come from |
//! | `experiments` | what is measured beside each kernel in each format on each tensor |
//! | `inventory` | what the papers contain, and what there is of it here: `inventories/*.json` |
//! | `machine` | what is known of the machine |
//! | `figures` | what was measured, as lines of JSON |
//! | `store` | those in a file, a line as soon as it is measured |
//! | `observe` | the papers' observations, true or false by the figures |
//! | `averages` | means, speed-ups, scaling |
//! | `charts`, `page` | the same for people |
//!
//! Kernels, tensors and clocks are those of `spc bench`.

mod averages;
mod charts;
mod description;
mod experiments;
mod figures;
mod inventory;
mod machine;
mod observe;
mod page;
#[cfg(test)]
mod published;
mod store;
mod tensors;

use crate::bench::Look;
use crate::bench::against::Peers;
use crate::bench::cases::{Choices, Setting};
use crate::bench::data::{self, Data};
use crate::bench::device;
use crate::bench::timing::{Budget, Clocks};
use crate::failure::{Failure, note};
use crate::formats::parse_format;
use crate::info::{in_order, mode_orders};
use crate::output::{self, digits};
use crate::predicted::predictions;
use crate::progress::Progress;
use crate::run::BackendName;
use crate::{names, settings, threads};
use clap::Args;
use description::{Description, ProductMode};
use experiments::{Bench, Experiment};
use figures::{Figures, Line, MachineLine, Row, TensorLine};
use observe::{Measure, Observation};
use serde_json::{Value, json};
use spc::execute::Backend;
use spc::io;
use spc::measure::{Machine, caches};
use spc_compiler::format::resolve::Definitions;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Session, Store};
use tensors::Source;

/// Run a benchmark suite, and report it on one page
///
/// A suite is a description: li2020, li2016, chen2024, phipps2019, yang2019, or a file of one's own. Figures are written as they come, a
/// line of JSON for each case, to rows.jsonl in the folder `--out`; the same command goes on where it was stopped, if program,
/// description and machine are the same. page.html there needs no network: tensors, machine, roofline, rates beside their
/// rooflines, averages, speed-ups, scaling, storage, and the paper's observations, each true or false on this machine.
#[derive(Debug, Args)]
pub(crate) struct Suite {
    /// The suite's name, or a file that describes one; not needed with `--merge` and `--inventory`
    #[arg(value_name = "NAME|FILE", required_unless_present_any = ["merge", "inventory"])]
    suite: Option<String>,
    /// Measure nothing: print what the suite's paper contains, or each paper, and what there is of it here
    #[arg(long)]
    inventory: bool,
    /// How many times larger generated tensors are than in the suite
    #[arg(long, value_name = "FACTOR")]
    scale: Option<f64>,
    /// Shorter runs, small tensors, one rank and element type
    #[arg(long)]
    quick: bool,
    /// Tensors of files beside those of the suite, or all files of a folder; one of the extents and entries of a paper's tensor gets its
    /// name, and stands for it
    #[arg(long, value_name = "FILE|FOLDER", num_args = 1..)]
    tensors: Vec<PathBuf>,
    /// Measure nothing but the experiments whose names have this, as 'Figure 7'
    #[arg(long, value_name = "NAME", conflicts_with = "merge")]
    experiment: Option<String>,
    /// Count besides what this GPU would do in each kernel, on the processor: h100, h200, a100, v100, or a file that describes one. There are
    /// no times of it
    #[arg(long, value_name = "GPU|FILE", conflicts_with_all = ["merge", "experiment"])]
    model: Option<String>,
    /// Show figures of other libraries beside: a file as `spc bench --against` takes it
    #[arg(long, value_name = "FILE.json")]
    against: Option<PathBuf>,
    /// Where figures and page go; the suite's name if not given
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Measure everything anew, also what is there
    #[arg(long)]
    fresh: bool,
    /// The numbers of threads; 1 and as many as there are processors if not given
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<NonZeroUsize>,
    /// What runs the kernels
    #[arg(long, value_enum)]
    backend: Option<BackendName>,
    /// How many seconds the runs of one kernel take together, about
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1)]
    budget: f64,
    /// Measure nothing: make one report of files of figures, of several machines
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// Write the page there; page.html in the folder if not given
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// The scale of `--quick`.
const QUICK: f64 = 0.01;

impl Suite {
    pub(crate) fn run(self) -> Result<(), Failure> {
        if !(self.budget > 0.0 && self.budget <= 3600.0) {
            return Err(Failure::usage("`--budget` is a number of seconds above 0, at most 3600"));
        }
        if let Some(scale) = self.scale.filter(|&scale| !(scale > 0.0 && scale <= 1000.0)) {
            return Err(Failure::refused(format!("{scale} is no scale: a number above 0, at most 1000")));
        }
        if self.inventory {
            return inventory::print(self.suite.as_deref());
        }
        // What can't be read is refused before anything is measured.
        let peers = self.against.as_deref().map(|path| Peers::read(path).map(|peers| (path, peers))).transpose()?;
        let described = self.suite.as_deref().map(Description::load).transpose()?;
        if !self.merge.is_empty() {
            let description = described.map(|(description, _)| description);
            return self.report(&store::merged(&self.merge)?, peers, description.as_ref(), (0, 0));
        }
        let Some((description, text)) = described else { return Ok(()) };
        threads::on(0, || self.measure(&description, &text, peers)).flatten()
    }

    fn measure(&self, description: &Description, text: &str, peers: Option<(&Path, Peers)>) -> Result<(), Failure> {
        let scale = self.scale.unwrap_or(if self.quick { description.scale.min(QUICK) } else { description.scale });
        // Files first: one that is a tensor of a paper takes the place of what is generated for it.
        let mut sources = self.files()?;
        sources.extend(description.sources(scale)?);
        if sources.is_empty() {
            return Err(Failure::refused("the suite has no tensors").help("`--tensors FILE` adds some"));
        }
        sources.iter().try_for_each(|source| data::check(&source.text))?;
        let choices = self.choices(description)?;
        let experiments = self.experiments(description)?;
        let model = self.model.as_deref().map(predictions).transpose()?;
        let backend = self.backend.map_or(Backend::Native, Backend::from);
        let (machines, device) = self.machines(backend)?;

        let mut facts = machine::facts(device);
        facts.measured = machines.iter().map(machine::measured).collect();
        let machine = machine::name(&facts);
        let run =
            machine::hashed(&(machine::program(), text, &machine, scale.to_bits(), self.quick, self.budget.to_bits()));
        let run = format!("{run:016x}");
        let folder = self.folder();
        std::fs::create_dir_all(&folder).map_err(|error| Failure::file(folder.display(), error))?;
        let path = folder.join("rows.jsonl");
        if self.fresh && path.exists() {
            store::put_aside(&path)?;
        }
        let session = Session {
            run: run.clone(),
            machine: machine.clone(),
            backend: backend.name(),
            labels: description.kernels.clone(),
        };
        let mut store = Store::open(&path, session)?;
        let line =
            MachineLine { run: run.clone(), machine: machine.clone(), backend: backend.name().to_owned(), facts };
        store.add(Line::Machine(line))?;
        let caches = caches();
        let setting = Setting { budget: self.budget(), machines: &machines, caches: &caches };
        let begin = |source: &Source, store: &mut Store| -> Result<Data, Failure> {
            let progress = Progress::new(format!("making {}", source.name));
            let mut data = Data::load(&source.text)?.called(&source.name);
            if source.is_file
                && let Some(name) = description::recognised(data.shape(), data.nnz())
            {
                data = data.called(&name);
            }
            drop(progress);
            store.begin(source.is_file);
            if !store.has_tensor(&data.name) {
                let line = tensor(&data, source, description)?;
                store.add(Line::Tensor(TensorLine { run: run.clone(), machine: machine.clone(), ..line }))?;
            }
            Ok(data)
        };
        let mut found: Vec<String> = Vec::new();
        let is_found = |found: &[String], name: &str| found.iter().any(|known| known.eq_ignore_ascii_case(name));
        for source in &sources {
            if is_found(&found, &source.name) {
                continue;
            }
            if self.experiment.is_some() && !source.is_file {
                continue;
            }
            let data = begin(source, &mut store)?;
            if self.experiment.is_none() {
                choices.measure(&data, setting, &mut store)?;
            }
            found.extend(source.is_file.then(|| data.name.clone()));
        }
        sources.retain(|source| source.is_file || !is_found(&found, &source.name));
        if let Some(model) = &model {
            let (gpu, choices) = (model.description(), self.choices(description)?);
            let choices = choices.run_by(Some(Backend::Cuda)).predicted(Some(model.clone()));
            let device = [device::described(gpu)];
            for source in &sources {
                let data = begin(source, &mut store)?;
                store.begin_counting(&gpu.name);
                choices.measure(&data, Setting { machines: &device, ..setting }, &mut store)?;
            }
            store.end_counting(backend.name());
        }
        let bench = Bench {
            setting,
            backend,
            element: experiments::element(&description.elements),
            is_quick: self.quick,
            is_last: description.product_mode == ProductMode::Last,
        };
        for experiment in experiments {
            let own = experiment.sources(scale)?;
            let of = if own.is_empty() { &sources } else { &own };
            for source in of.iter().take(if self.quick { 1 } else { usize::MAX }) {
                let data = begin(source, &mut store)?;
                experiment.measure(&data, &bench, &mut store)?;
            }
        }
        self.report(&store.figures, peers, Some(description), store.counts)
    }

    /// The files, and those of folders by their names.
    fn files(&self) -> Result<Vec<Source>, Failure> {
        let mut paths = Vec::new();
        for path in &self.tensors {
            if !path.is_dir() {
                paths.push(path.clone());
                continue;
            }
            let fail = |error: std::io::Error| Failure::file(path.display(), error);
            let entries = std::fs::read_dir(path).map_err(fail)?.collect::<Result<Vec<_>, _>>().map_err(fail)?;
            let mut own: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
            own.retain(|path| io::FileType::of(path).is_some() && path.is_file());
            if own.is_empty() {
                return Err(Failure::file(path.display(), "the folder has no tensor files"));
            }
            own.sort();
            paths.extend(own);
        }
        let source = |path: PathBuf| Source {
            name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            text: path.into(),
            is_file: true,
        };
        Ok(paths.into_iter().map(source).collect())
    }

    /// The experiments that are asked for.
    fn experiments<'a>(&self, description: &'a Description) -> Result<Vec<&'a Experiment>, Failure> {
        let all = &description.experiments;
        let Some(name) = &self.experiment else { return Ok(all.iter().collect()) };
        let found: Vec<&Experiment> = all.iter().filter(|experiment| experiment.name.contains(&name[..])).collect();
        if found.is_empty() {
            let known = all.iter().map(|experiment| &experiment.name[..]);
            let message = format!("the suite has no experiment `{name}`");
            return Err(names::unknown(message, name, known, "they are"));
        }
        Ok(found)
    }

    fn choices(&self, description: &Description) -> Result<Choices, Failure> {
        let kernels: Vec<String> = description.kernels.iter().map(|(_, kernel)| kernel.clone()).collect();
        let (mut ranks, mut elements) = (description.ranks.clone(), description.element_types());
        if self.quick {
            ranks.truncate(1);
            elements.truncate(1);
        }
        let choices =
            Choices::new(&kernels, description.modes.clone(), &description.formats, &ranks, &elements, self.quick)?;
        let choices = choices.run_by(Some(self.backend.map_or(Backend::Native, Backend::from)));
        let choices = choices.with_product_last(description.product_mode == ProductMode::Last);
        choices.check_formats()?;
        Ok(choices)
    }

    fn budget(&self) -> Budget {
        let clocks = Clocks::Kernel;
        match self.quick {
            true => Budget { time: Duration::from_secs_f64(self.budget.min(0.02)), fewest: 3, most: 50, clocks },
            false => Budget { time: Duration::from_secs_f64(self.budget), fewest: 5, most: 1000, clocks },
        }
    }

    /// What is measured on, and the GPU in words where it is one.
    fn machines(&self, backend: Backend) -> Result<(Vec<Machine>, Option<String>), Failure> {
        if backend == Backend::Cuda {
            let (machine, name) = device::machine()?;
            return Ok((vec![machine], Some(name)));
        }
        let mut numbers: Vec<usize> = self.threads.iter().map(|threads| threads.get()).collect();
        if numbers.is_empty() {
            let all = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
            numbers = if all > 1 { vec![1, all] } else { vec![1] };
        }
        let look = if self.quick { Look::Quick } else { Look::Thorough };
        Ok((crate::bench::machines(&numbers, look)?, None))
    }

    fn folder(&self) -> PathBuf {
        let name = self
            .suite
            .as_deref()
            .map_or("suite", |name| Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name));
        self.out.clone().unwrap_or_else(|| PathBuf::from(name))
    }

    /// Writes the page, and says what came of it.
    fn report(
        &self,
        measured: &Figures,
        peers: Option<(&Path, Peers)>,
        description: Option<&Description>,
        counts: (usize, usize),
    ) -> Result<(), Failure> {
        let mut figures = measured.clone();
        if let Some((path, peers)) = peers {
            figures.rows.extend(measured.beside(&peers));
            if peers.of_calls() > 0 {
                let count = peers.of_calls();
                note(format!(
                    "{count} figures of {} are left out: suites have times of loops, not of calls",
                    path.display()
                ));
            }
        }
        let figures = &figures;
        if figures.rows.is_empty() && figures.experiments.is_empty() {
            let failure = Failure::refused("there are no figures to report");
            return Err(figures.refused.iter().take(3).fold(failure, |failure, refused| {
                failure
                    .help(format!("{} of {} as {}: {}", refused.kernel, refused.tensor, refused.format, refused.reason))
            }));
        }
        let default = || match self.out.is_some() || self.merge.is_empty() {
            true => self.folder().join("page.html"),
            false => PathBuf::from("page.html"),
        };
        let path = self.page.clone().unwrap_or_else(default);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder.display(), error))?;
        }
        io::write_text(&path, &page::page(figures, description)?)?;
        if settings::json() {
            return output::print_json(as_json(figures, description, &path));
        }
        let above = averages::above(figures);
        if !above.is_empty() {
            note(format!("{} of {} rows are above their roofline; the page says why", above.len(), figures.rows.len()));
        }
        output::print(&as_text(figures, description, counts, &path))
    }
}

/// What a tensor looks like.
fn tensor(data: &Data, source: &Source, description: &Description) -> Result<TensorLine, Failure> {
    let statistics = data.statistics()?;
    let slices = statistics.modes.iter().map(|mode| mode.slices.count as f64).product::<f64>();
    let definitions = Definitions::prelude();
    let mut storage = std::collections::BTreeMap::new();
    for format in &description.formats {
        // What this order can't have is told with the kernels.
        let Ok(parsed) = parse_format(format, data.order(), &definitions) else { continue };
        let named = |order: &String| mode_orders(order, data.order()).unwrap_or_default();
        let others = description.orders.iter().flat_map(named);
        let all = others.map(|(name, modes)| (format!("{format} {name}"), in_order(&parsed, &modes)));
        for (name, format) in [(format.clone(), parsed.clone())].into_iter().chain(all) {
            if let Ok(size) = data.storage(&format) {
                storage.insert(name, (size.bytes(), size.units()));
            }
        }
    }
    Ok(TensorLine {
        tensor: data.name.clone(),
        source: source.text.to_string_lossy().into_owned(),
        is_file: source.is_file,
        shape: statistics.shape.clone(),
        nnz: statistics.nnz,
        density: statistics.density,
        compressed_density: if slices > 0.0 { statistics.distinct as f64 / slices } else { 0.0 },
        fibers: statistics.modes.iter().map(|mode| mode.fibers.count).collect(),
        storage,
        ..TensorLine::default()
    })
}

fn as_json(figures: &Figures, description: Option<&Description>, page: &Path) -> Value {
    let observed = observed(figures, description);
    let observations = observed.iter().map(|(machine, of, verdict)| {
        json!({
            "machine": machine, "says": of.says, "section": of.section, "paper": of.paper,
            "holds": verdict.holds, "figures": verdict.figures,
        })
    });
    json!({
        "suite": description.map(|description| &description.name),
        "page": page.display().to_string(),
        "machines": figures.machines,
        "tensors": figures.tensors,
        "rows": figures.rows,
        "experiments": figures.experiments,
        "refused": figures.refused,
        "averages": averages::averages(&figures.telling().rows).iter().map(averages::Average::as_json).collect::<Vec<_>>(),
        "observations": observations.collect::<Vec<_>>(),
    })
}

/// What each machine says of each observation.
fn observed<'a>(
    figures: &Figures,
    description: Option<&'a Description>,
) -> Vec<(String, &'a Observation, observe::Verdict)> {
    let observations = description.map(|description| &description.observations[..]).unwrap_or_default();
    let mut all = Vec::new();
    for machine in figures.machine_names() {
        let own = figures.of_machine(machine);
        all.extend(observations.iter().map(|one| (machine.to_owned(), one, one.verdict(&own))));
    }
    all
}

/// The heads of a table of an experiment.
fn experiment_heads(experiment: &Experiment) -> Vec<&'static str> {
    let measures = experiment.measures.iter().map(|measure| measure.unit());
    ["tensor", "kernel", "format", "setting", "type", "mode", "rank", "threads"].into_iter().chain(measures).collect()
}

/// A row of an experiment.
fn experiment_cells(row: &Row, experiment: &Experiment, figures: &Figures) -> Vec<String> {
    let optional = |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let mut cells = vec![
        row.tensor.clone(),
        row.label.clone(),
        row.format.clone(),
        row.setting.clone().unwrap_or_else(|| "-".to_owned()),
        row.element.clone(),
        optional(row.mode),
        optional(row.rank),
        row.threads.to_string(),
    ];
    let value = |measure: &Measure| measure.of(row, figures).map_or_else(|| "-".to_owned(), digits);
    cells.extend(experiment.measures.iter().map(value));
    cells
}

fn as_text(figures: &Figures, description: Option<&Description>, counts: (usize, usize), page: &Path) -> String {
    let heads = ["kernel", "format", "backend", "type", "threads", "GFLOP/s", "roofline", "cases"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    let optional = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), digits);
    for average in averages::averages(&figures.telling().rows) {
        let share = average.efficiency.map_or_else(|| "-".to_owned(), |share| format!("{:.0}%", 100.0 * share));
        let averages::Average { label, format, backend, element, threads, count, gflops, .. } = average;
        rows.push(vec![
            label,
            format,
            backend,
            element,
            threads.to_string(),
            optional(gflops),
            share,
            count.to_string(),
        ]);
    }
    let mut text = if rows.len() > 1 { output::table(&rows, 4) } else { String::new() };
    let degenerate = figures.rows.iter().filter(|row| figures.is_degenerate(row)).count();
    if degenerate > 0 {
        let (rows, all) = (degenerate, figures.rows.len());
        text.push_str(&format!("left out: {rows} of {all} rows compute fewer results than a tenth of their entries\n"));
    }
    let own = description.map(|description| &description.experiments[..]).unwrap_or_default();
    for experiment in &experiments::shown(own, &figures.experiments) {
        let own = figures.experiments.iter().filter(|row| row.experiment.as_ref() == Some(&experiment.name));
        let own: Vec<Vec<String>> = own.map(|row| experiment_cells(row, experiment, figures)).collect();
        if !own.is_empty() {
            let heads = experiment_heads(experiment).into_iter().map(str::to_owned).collect();
            let rows: Vec<Vec<String>> = [heads].into_iter().chain(own).collect();
            text.push_str(&format!("\n{}\n{}", experiment.name, output::table(&rows, 5)));
        }
    }
    for (_, observation, verdict) in observed(figures, description) {
        let holds = verdict.holds.map_or("not measured", |holds| if holds { "true" } else { "false" });
        let (says, source) = (&observation.says, observation.source());
        let source = if source.is_empty() { source } else { format!("; {source}") };
        text.push_str(&format!("{holds}: {says} ({}{source})\n", verdict.figures));
    }
    let (there, added) = counts;
    text + &format!("{there} rows were there, {added} were measured; {} says all\n", page.display())
}
