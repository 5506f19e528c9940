//! Checkpoints: a model, and how far a run is.
//!
//! A folder has a file `state.json` that names the model it belongs to, `model-10.npz` after ten iterations. The model is written first,
//! then the state takes the place of the one before, and only then the model that this one named is removed: at any time the folder holds
//! one complete checkpoint. Other files of the folder are neither removed nor replaced.

use super::arguments::{CheckpointArguments, Every};
use super::row::Row;
use crate::failure::Failure;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The version of the state file.
const VERSION: u64 = 1;
const STATE: &str = "state.json";

/// What a run that goes on from a checkpoint must have in common with the one that wrote it: what it is called, and its value.
pub(super) type Identity = Vec<(&'static str, String)>;

/// Where checkpoints are written.
pub(super) struct Checkpoint {
    folder: PathBuf,
    every: Every,
    identity: Identity,
    written: Instant,
    /// The iteration of the last one.
    last: Option<usize>,
    /// The model that the state in the folder names.
    model: Option<String>,
}

/// Where a run goes on from.
pub(super) struct Resumed {
    /// The model's file.
    pub(super) model: PathBuf,
    /// The iterations that were done.
    pub(super) rows: Vec<Row>,
    /// The file of what the method remembered besides, if it did.
    pub(super) state: Option<PathBuf>,
    /// The tolerance that ended the run, if it did.
    pub(super) tolerance: Option<f64>,
}

/// Where what a method remembers is kept, beside its model.
pub(super) fn beside(model: &Path) -> PathBuf {
    model.with_extension("state.npz")
}

impl Resumed {
    /// How many iterations were done.
    pub(super) fn done(&self) -> usize {
        self.rows.last().map_or(0, |row| row.number)
    }
}

impl CheckpointArguments {
    /// The checkpoints of a run, and what it goes on from.
    pub(super) fn open(
        &self,
        identity: impl FnOnce() -> Result<Identity, Failure>,
    ) -> Result<(Option<Checkpoint>, Option<Resumed>), Failure> {
        let Some(folder) = &self.checkpoint else { return Ok((None, None)) };
        let mut checkpoint = Checkpoint {
            folder: folder.clone(),
            every: self.every,
            identity: identity()?,
            written: Instant::now(),
            last: None,
            model: None,
        };
        let resumed = if self.resume { Some(checkpoint.resume()?) } else { None };
        if !self.resume && folder.join(STATE).exists() {
            checkpoint.model = model_of(&checkpoint.state()?);
        }
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder.display(), error))?;
        Ok((Some(checkpoint), resumed))
    }
}

impl Checkpoint {
    /// Reads the state.
    fn resume(&mut self) -> Result<Resumed, Failure> {
        let state = self.state()?;
        let damaged = |what: &str| self.damaged(what);
        let agrees = state["run"].as_object().ok_or_else(|| damaged("it has no object `run`"))?;
        self.compare(agrees)?;
        let rows =
            state["iterations"].as_array().and_then(|rows| rows.iter().map(Row::of_kept).collect::<Option<Vec<_>>>());
        let rows = rows.ok_or_else(|| damaged("`iterations` are not as they are written"))?;
        let file = model_of(&state).ok_or_else(|| damaged("it names no model beside it"))?;
        let model = self.folder.join(&file);
        self.last = Some(rows.last().map_or(0, |row| row.number));
        self.model = Some(file);
        let remembered = Some(beside(&model)).filter(|_| state["state"] == json!(true));
        let tolerance = state["tolerance"].as_str().and_then(|text| text.parse().ok());
        Ok(Resumed { model, state: remembered, rows, tolerance })
    }

    /// What the state says.
    fn state(&self) -> Result<Value, Failure> {
        let path = self.folder.join(STATE);
        let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::refused(format!("{} has no checkpoint", self.folder.display()))
                .help("leave out `--resume` to begin, or name the folder of `--checkpoint` of the run before"),
            _ => Failure::file(path.display(), error),
        })?;
        let state: Value = serde_json::from_str(&text).map_err(|error| self.damaged(&error.to_string()))?;
        if state["version"] != json!(VERSION) {
            return Err(self.damaged(&format!("its version is {}, but this spc writes {VERSION}", state["version"])));
        }
        Ok(state)
    }

    fn damaged(&self, what: &str) -> Failure {
        Failure::file(self.folder.join(STATE).display(), format!("it is no state of a checkpoint: {what}"))
            .help("name another folder, or remove the file, to begin anew")
    }

    /// Refuses the checkpoint of another run, and says what differs.
    fn compare(&self, there: &Map<String, Value>) -> Result<(), Failure> {
        let mut differences = Vec::new();
        for (what, here) in &self.identity {
            let there = there.get(*what).and_then(Value::as_str).unwrap_or("not said");
            if there != here {
                differences.push(format!("{what}: {there} there, {here} here"));
            }
        }
        if differences.is_empty() {
            return Ok(());
        }
        let message = format!("the checkpoint in {} is of another run", self.folder.display());
        let failure = differences.iter().fold(Failure::refused(message), Failure::help);
        Err(failure.help("give the tensor and the options of that run, or leave out `--resume` to begin anew"))
    }

    /// Whether there is one to be written after this iteration.
    pub(super) fn is_due(&self, number: usize) -> bool {
        match self.every {
            Every::Iterations(every) => number.is_multiple_of(every),
            Every::Time(time) => self.written.elapsed() >= time,
        }
    }

    /// The iteration of the last one.
    pub(super) fn last(&self) -> Option<usize> {
        self.last
    }

    /// Writes one, where `write` writes the model, and [beside](beside) it what the method remembers; with the tolerance, if that has ended the run.
    pub(super) fn write(
        &mut self,
        rows: &[Row],
        tolerance: Option<f64>,
        write: &mut dyn FnMut(&Path) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let number = rows.last().map_or(0, |row| row.number);
        // The state that is there may name a model of the same iteration, which stays until the new state is written.
        let names = std::iter::once(format!("model-{number}.npz"));
        let mut names = names.chain((2..).map(|copy| format!("model-{number}-{copy}.npz")));
        let is_free = |name: &String| {
            let model = self.folder.join(name);
            !model.exists() && !beside(&model).exists()
        };
        let name = names.find(is_free).unwrap_or_default();
        let model = self.folder.join(&name);
        write(&model)?;
        let run: Map<String, Value> =
            self.identity.iter().map(|(what, value)| ((*what).to_owned(), json!(value))).collect();
        let state = json!({
            "version": VERSION, "run": run, "iteration": number, "model": name, "state": beside(&model).exists(),
            "tolerance": tolerance.map(|tolerance| tolerance.to_string()),
            "iterations": rows.iter().map(Row::kept).collect::<Vec<_>>(),
        });
        spc::io::write_text(self.folder.join(STATE), &format!("{state:#}\n"))?;
        if let Some(before) = self.model.replace(name) {
            // What can't be removed takes room, and does no harm.
            let model = self.folder.join(before);
            _ = fs::remove_file(beside(&model));
            _ = fs::remove_file(model);
        }
        self.last = Some(number);
        self.written = Instant::now();
        Ok(())
    }
}

/// The model that a state names, a file as it is written here.
fn model_of(state: &Value) -> Option<String> {
    let is_digit = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let name = state["model"].as_str()?;
    let number = name.strip_prefix("model-")?.strip_suffix(".npz")?;
    number.split('-').all(is_digit).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: usize) -> Row {
        Row { number, fit: Some(0.5), measures: Vec::new(), time_ms: 1.0, kernel_ms: 0.5, mttkrp_ms: None }
    }

    fn arguments(folder: &Path, resume: bool) -> CheckpointArguments {
        CheckpointArguments { checkpoint: Some(folder.to_owned()), every: Every::Iterations(2), resume }
    }

    fn identity(rank: &str) -> Identity {
        vec![("rank", rank.to_owned()), ("method", "als".to_owned())]
    }

    #[test]
    fn the_last_one_is_there_alone_and_is_refused_by_other_runs() {
        let folder = tempfile::tempdir().unwrap();
        let (checkpoint, _) = arguments(folder.path(), false).open(|| Ok(identity("5"))).unwrap();
        let mut checkpoint = checkpoint.unwrap();
        assert!(checkpoint.is_due(4) && !checkpoint.is_due(5));
        let mut write = |path: &Path| fs::write(path, "model").map_err(|error| Failure::file("model", error));
        checkpoint.write(&[row(1), row(2)], None, &mut write).unwrap();
        checkpoint.write(&[row(1), row(2), row(3)], Some(0.1), &mut write).unwrap();
        let mut names: Vec<String> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["model-3.npz", STATE]);
        let (_, resumed) = arguments(folder.path(), true).open(|| Ok(identity("5"))).unwrap();
        let resumed = resumed.unwrap();
        assert_eq!((resumed.done(), resumed.tolerance), (3, Some(0.1)));
        assert_eq!(resumed.model, folder.path().join("model-3.npz"));
        let Err(Failure::Refused(problem)) = arguments(folder.path(), true).open(|| Ok(identity("6"))) else {
            panic!("a checkpoint of rank 5 for rank 6");
        };
        assert_eq!(problem.help[0], "rank: 5 there, 6 here");
    }

    #[test]
    fn other_files_of_the_folder_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut write = |path: &Path| fs::write(path, "model").map_err(|error| Failure::file("model", error));
        for name in ["model-best.npz", "model-1.npz", "model-3.npz"] {
            fs::write(path(name), "mine").unwrap();
        }
        // A run that begins anew takes the place of the one before.
        for _ in 0..2 {
            let mut checkpoint = arguments(folder.path(), false).open(|| Ok(identity("5"))).unwrap().0.unwrap();
            checkpoint.write(&[row(2)], None, &mut write).unwrap();
            checkpoint.write(&[row(3)], None, &mut write).unwrap();
        }
        let mut names: Vec<String> =
            fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["model-1.npz", "model-3-2.npz", "model-3.npz", "model-best.npz", STATE]);
        for name in ["model-best.npz", "model-1.npz", "model-3.npz"] {
            assert_eq!(fs::read_to_string(path(name)).unwrap(), "mine");
        }
        fs::write(path(STATE), "{\"model\": \"model-3.npz\", \"mine\": 1}").unwrap();
        assert!(arguments(folder.path(), false).open(|| Ok(identity("5"))).is_err());
        assert!(path("model-3.npz").exists());
    }

    #[test]
    fn a_checkpoint_that_can_not_be_written_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut checkpoint = arguments(folder.path(), false).open(|| Ok(identity("5"))).unwrap().0.unwrap();
        let mut write = |path: &Path| fs::write(path, "model").map_err(|error| Failure::file("model", error));
        checkpoint.write(&[row(2)], None, &mut write).unwrap();
        assert!(checkpoint.write(&[row(4)], None, &mut |_| Err(Failure::refused("no room"))).is_err());
        let resumed = arguments(folder.path(), true).open(|| Ok(identity("5"))).unwrap().1.unwrap();
        assert_eq!((resumed.done(), fs::read_to_string(&resumed.model).unwrap().as_str()), (2, "model"));
    }
}
