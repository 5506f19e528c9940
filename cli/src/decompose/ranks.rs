//! What `spc cp` runs: one rank, or several side by side.

use super::cp::{Cp, Found, Job};
use super::model::{Kept, of_rank};
use super::report;
use crate::failure::{Failure, note};
use crate::output::{self, digits};
#[cfg(feature = "mpi")]
use crate::processes::Processes;
#[cfg(not(feature = "mpi"))]
use crate::processes::without_mpi;
use crate::ranks::launched;
use crate::run::number;
use crate::{settings, threads};
use serde_json::{Value, json};
use spc::decompose::core_consistency;

impl Cp {
    pub(crate) fn run(self) -> Result<(), Failure> {
        threads::on(self.engine.threads(), || self.run_here()).flatten()
    }

    /// On the threads that were asked for.
    fn run_here(&self) -> Result<(), Failure> {
        if launched() > 1 {
            return self.in_processes();
        }
        let init = self.check()?;
        // Several models are compared with the whole tensor.
        let given = match self.rank[..] {
            [_] => self.tensor.read_on(&self.on_ranks, self.engine.deterministic)?,
            _ => self.tensor.read()?,
        };
        let job = self.job(init, given, None)?;
        match self.rank[..] {
            [rank] => self.one(&job, rank.get()),
            _ => compare(self, job),
        }
    }

    #[cfg(not(feature = "mpi"))]
    fn in_processes(&self) -> Result<(), Failure> {
        Err(without_mpi())
    }

    #[cfg(feature = "mpi")]
    fn in_processes(&self) -> Result<(), Failure> {
        let [rank] = self.rank[..] else {
            return Err(Failure::usage("several ranks of models are compared by one process")
                .help("give one `--rank`, or start without `mpirun`"));
        };
        let init = self.check()?;
        let all = Processes::new(&self.on_ranks)?;
        all.together(|| {
            let given = self.tensor.read_in(&all, &self.on_ranks, self.engine.deterministic)?;
            let job = all.agree(self.job(init, given, Some(all.rank())))?;
            let found = self.found(&job, rank.get()).unwrap_or_else(|failure| all.end(failure));
            all.agree(if all.is_first() { self.told(&job, rank.get(), &found) } else { Ok(()) })
        })
    }
}

/// Cores with more entries take longer than the decomposition.
const LARGEST_CORE: f64 = 2e7;

/// A rank, and what came of it.
struct Compared {
    rank: usize,
    found: Found,
    /// How much the core that suits the factors best is that of a CP decomposition, in percent; or why it is not known.
    consistency: Result<f64, String>,
    files: Vec<String>,
}

/// Finds a model of each rank, and shows what they are worth.
fn compare(verb: &Cp, job: Job<'_>) -> Result<(), Failure> {
    let mut all: Vec<Compared> = Vec::new();
    for rank in verb.rank.iter().map(|rank| rank.get()) {
        if job.interrupt.is_pressed() {
            break;
        }
        let found =
            verb.find(&job, rank, |seed| format!("cp {}, rank {rank}, seed {seed}", verb.method.method.name()))?;
        let consistency = consistency(&job, &found);
        let mut files = Vec::new();
        if let Some(folder) = &verb.output.output {
            let path = of_rank(folder, rank);
            std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder.display(), error))?;
            found.model.keep(&path)?;
            files.push(path.display().to_string());
        }
        all.push(Compared { rank, found, consistency, files });
    }
    job.interrupt.done();
    if settings::json() {
        let mut document = report::head(verb.method.method.name(), &job.given, &job.kernels);
        document.insert("ranks".to_owned(), all.iter().map(|compared| compared.json(verb, &job)).collect());
        document.insert("notes".to_owned(), json!(job.given.notes));
        return output::print_json(document.into());
    }
    for Compared { rank, consistency, .. } in &all {
        if let Err(reason) = consistency {
            note(format!("rank {rank} has no core consistency: {reason}"));
        }
    }
    if settings::is_quiet() {
        return Ok(());
    }
    let heads = ["rank", "fit", "core consistency", "least weight", "largest", "iterations", "ms", "stopped"];
    let rows = std::iter::once(heads.map(str::to_owned).to_vec());
    let rows: Vec<Vec<String>> = rows.chain(all.iter().map(Compared::cells)).collect();
    let mut text = format!("\n{}", output::table(&rows, 0));
    let files: Vec<&str> = all.iter().flat_map(|compared| &compared.files).map(String::as_str).collect();
    if !files.is_empty() {
        text.push_str(&format!("written: {}\n", files.join(", ")));
    }
    output::print(&text)
}

/// Of a core that is not too large: it has rank × rank × … entries.
fn consistency(job: &Job<'_>, found: &Found) -> Result<f64, String> {
    let rank = found.model.rank() as f64;
    let entries = rank.powi(found.model.factors().len() as i32);
    if entries > LARGEST_CORE {
        return Err(format!("its core would have {entries:.1e} entries"));
    }
    let tensor = job.given.whole().map_err(|_| "ranks have the tensor in parts".to_owned())?;
    core_consistency(tensor, &found.model, &job.engine).map_err(|error| error.to_string())
}

impl Compared {
    fn cells(&self) -> Vec<String> {
        let Found { model, outcome, .. } = &self.found;
        let weights = || model.weights().iter().map(|weight| weight.abs());
        vec![
            self.rank.to_string(),
            outcome.fit().map_or_else(|| "-".to_owned(), |fit| format!("{fit:.6}")),
            self.consistency.as_ref().map_or_else(|_| "-".to_owned(), |percent| format!("{percent:.1}%")),
            digits(weights().fold(f64::INFINITY, f64::min)),
            digits(weights().fold(0.0, f64::max)),
            outcome.rows.len().to_string(),
            digits(outcome.iterations_ms()),
            outcome.stopped.to_owned(),
        ]
    }

    fn json(&self, verb: &Cp, job: &Job<'_>) -> Value {
        let mut document = verb.document(self.rank, &self.found, &job.given);
        let consistency = self.consistency.as_ref().map_or(Value::Null, |percent| number(*percent));
        document.insert("core_consistency".to_owned(), consistency);
        document.insert("files".to_owned(), json!(self.files));
        document.insert("notes".to_owned(), json!(self.found.outcome.notes));
        document.into()
    }
}
