//! Lines of figures in a file, one for each case, written as soon as it is measured: who is stopped goes on where he was.

use super::figures::{COUNTED, Figures, Key, Line, RefusedLine, Row};
use crate::bench::cases::Sink;
use crate::bench::record::{Case, Record, Refused, Tuning};
use crate::failure::Failure;
use serde_json::{Value, json};
use spc::io;
use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file of figures, and which are to be added to it.
pub(super) struct Store {
    path: PathBuf,
    file: File,
    /// What must agree for a row not to be measured again.
    run: String,
    machine: String,
    backend: &'static str,
    /// What the paper calls a kernel.
    labels: Vec<(String, String)>,
    done: BTreeSet<Key>,
    pub(super) figures: Figures,
    is_file: bool,
    /// The experiment that rows belong to, and its setting.
    experiment: Option<String>,
    setting: Option<String>,
    /// How many were there, and how many were added.
    pub(super) counts: (usize, usize),
}

/// What rows are written with.
pub(super) struct Session {
    pub(super) run: String,
    pub(super) machine: String,
    pub(super) backend: &'static str,
    pub(super) labels: Vec<(String, String)>,
}

/// Adds lines to the end of the file beside the figures, which nothing is ever removed from.
fn add_aside(path: &Path, lines: &str) -> Result<(), Failure> {
    let aside = path.with_extension("before.jsonl");
    let fail = |error: std::io::Error| Failure::file(aside.display(), error);
    let mut file = OpenOptions::new().create(true).append(true).open(&aside).map_err(fail)?;
    file.write_all(lines.as_bytes()).and_then(|()| file.sync_all()).map_err(fail)
}

/// Puts all figures aside.
pub(super) fn put_aside(path: &Path) -> Result<(), Failure> {
    let mut text = std::fs::read_to_string(path).map_err(|error| Failure::file(path.display(), error))?;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    add_aside(path, &text)?;
    Ok(io::write_text(path, "")?)
}

impl Store {
    /// Opens a file. Lines of another run are put aside, into a file beside it.
    pub(super) fn open(path: &Path, session: Session) -> Result<Self, Failure> {
        let Session { run, machine, backend, labels } = session;
        let fail = |error: std::io::Error| Failure::file(path.display(), error);
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.map_err(fail)?,
        };
        let mut figures = Figures::default();
        let (mut kept, mut aside) = (String::new(), String::new());
        for line in lines(path, &text)? {
            let (line, text) = line;
            let text = format!("{text}\n");
            if run_of(&line) == run {
                kept.push_str(&text);
                figures.add(line);
            } else {
                aside.push_str(&text);
            }
        }
        if !aside.is_empty() {
            add_aside(path, &aside)?;
        }
        if kept != text {
            io::write_text(path, &kept)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(fail)?;
        let refused = figures.refused.iter().map(RefusedLine::key);
        let rows = figures.rows.iter().chain(&figures.experiments);
        let done: BTreeSet<Key> = rows.map(Row::key).chain(refused).collect();
        let counts = (figures.rows.len() + figures.experiments.len(), 0);
        let (path, is_file, experiment, setting) = (path.to_owned(), false, None, None);
        Ok(Self { path, file, run, machine, backend, labels, done, figures, is_file, experiment, setting, counts })
    }

    /// Whether something of a tensor has been written.
    pub(super) fn has_tensor(&self, name: &str) -> bool {
        self.figures.tensors.iter().any(|tensor| tensor.tensor == name)
    }

    /// Whether the tensor at hand is a file.
    pub(super) fn begin(&mut self, is_file: bool) {
        self.is_file = is_file;
    }

    /// From here on, rows belong to an experiment, which has these names for kernels.
    pub(super) fn begin_experiment(&mut self, name: &str, labels: &[(String, String)]) {
        (self.experiment, self.labels) = (Some(name.to_owned()), labels.to_vec());
    }

    /// From here on, rows have the counts of a model of a GPU.
    pub(super) fn begin_counting(&mut self, gpu: &str) {
        (self.experiment, self.setting) = (Some(COUNTED.to_owned()), Some(gpu.to_owned()));
        self.backend = "counted";
    }

    /// From here on, this backend measures rows.
    pub(super) fn end_counting(&mut self, backend: &'static str) {
        (self.experiment, self.setting, self.backend) = (None, None, backend);
    }

    /// Sets the setting of the rows that follow.
    pub(super) fn set(&mut self, setting: Option<String>) {
        self.setting = setting;
    }

    /// Whether a row of an experiment is to be measured; `row` has what tells it from others.
    pub(super) fn wants_row(&self, row: &Row) -> bool {
        !self.done.contains(&self.completed(row.clone()).key())
    }

    /// Takes a row of an experiment.
    pub(super) fn add_row(&mut self, row: Row) -> Result<(), Failure> {
        let row = self.completed(row);
        self.done.insert(row.key());
        self.counts.1 += 1;
        self.add(Line::Row(row))
    }

    /// Takes a row of an experiment that does not run.
    pub(super) fn refuse_row(&mut self, row: Row, reason: String) -> Result<(), Failure> {
        let row = self.completed(row);
        self.done.insert(row.key());
        let Row { run, machine, tensor, kernel, mode, format, rank, element, threads, backend, .. } = row;
        let (experiment, setting) = (row.experiment, row.setting);
        self.add(Line::Refused(RefusedLine {
            run,
            machine,
            tensor,
            kernel,
            mode,
            format,
            rank,
            element,
            threads,
            backend,
            experiment,
            setting,
            reason,
        }))
    }

    /// The row with what all rows have in common.
    fn completed(&self, row: Row) -> Row {
        Row {
            run: self.run.clone(),
            machine: self.machine.clone(),
            backend: self.backend.to_owned(),
            is_file: self.is_file,
            experiment: self.experiment.clone(),
            setting: self.setting.clone(),
            ..row
        }
    }

    /// Writes a line, whole or not at all where the process is killed: what ends in the middle is left out when it is read.
    pub(super) fn add(&mut self, line: Line) -> Result<(), Failure> {
        let fail = |error: &dyn std::fmt::Display| Failure::file(self.path.display(), error);
        let mut text = serde_json::to_string(&line).map_err(|error| fail(&error))?;
        text.push('\n');
        self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush()).map_err(|error| fail(&error))?;
        self.figures.add(line);
        Ok(())
    }

    fn label(&self, kernel: &str) -> String {
        let label = self.labels.iter().find(|(_, known)| known == kernel);
        label.map_or_else(|| kernel.to_owned(), |(label, _)| label.clone())
    }

    fn key(&self, case: &Case) -> Key {
        let Case { tensor, kernel, mode, format, rank, element, threads } = case.clone();
        let some = |number: usize| Some(number).filter(|&number| number > 0);
        let (element, backend) = (element.to_owned(), self.backend.to_owned());
        let (experiment, setting) = (self.experiment.clone(), self.setting.clone());
        (tensor, kernel, some(mode), format, some(rank), element, threads, backend, experiment, setting)
    }

    /// A record's fields, with those that every line has.
    fn line(&self, kind: &str, mut fields: Value) -> Result<Line, Failure> {
        let label = self.label(fields["kernel"].as_str().unwrap_or_default());
        for (name, value) in [
            ("line", json!(kind)),
            ("run", json!(self.run)),
            ("machine", json!(self.machine)),
            ("backend", json!(self.backend)),
            ("label", json!(label)),
            ("is_file", json!(self.is_file)),
            ("experiment", json!(self.experiment)),
            ("setting", json!(self.setting)),
        ] {
            fields[name] = value;
        }
        serde_json::from_value(fields).map_err(|error| Failure::file(self.path.display(), error))
    }
}

impl RefusedLine {
    fn key(&self) -> Key {
        let RefusedLine { tensor, kernel, mode, format, rank, element, threads, backend, experiment, setting, .. } =
            self.clone();
        (tensor, kernel, mode, format, rank, element, threads, backend, experiment, setting)
    }
}

impl Sink for Store {
    fn wants(&self, case: &Case) -> bool {
        !self.done.contains(&self.key(case))
    }

    fn record(&mut self, record: Record) -> Result<(), Failure> {
        let key = self.key(&record.case);
        let mut fields = record.as_json();
        if record.foreseen.is_some() {
            fields = counts(fields);
        } else if record.backend != self.backend {
            fields["reason"] =
                json!(format!("it ran in the backend `{}`, where `{}` was asked for", record.backend, self.backend));
            let line = self.line("refused", fields)?;
            self.done.insert(key);
            return self.add(line);
        }
        let line = self.line("row", fields)?;
        self.done.insert(key);
        self.counts.1 += 1;
        self.add(line)
    }

    fn refused(&mut self, refused: Refused) -> Result<(), Failure> {
        let key = self.key(&refused.case);
        let mut fields = refused.case.as_json();
        fields.insert("reason".to_owned(), json!(refused.reason));
        let line = self.line("refused", Value::Object(fields))?;
        self.done.insert(key);
        self.add(line)
    }

    fn tuning(&mut self, _: Tuning) {}
}

/// A record of a model without its times, and with what it counts in all launches.
fn counts(mut fields: Value) -> Value {
    let launches = fields["predicted"]["launches"].as_array().cloned().unwrap_or_default();
    let sum = |name: &str| launches.iter().filter_map(|launch| launch[name].as_f64()).sum::<f64>();
    let counted = ["memory_bytes", "l2_bytes", "atomics"].map(|name| (name.to_owned(), json!(sum(name))));
    fields["also"] = Value::Object(counted.into_iter().collect());
    for name in ["kernel_ms", "pack_ms", "compile_ms"] {
        fields[name] = json!(0.0);
    }
    for name in ["copies_ms", "roofline_ms"] {
        fields[name] = Value::Null;
    }
    fields["runs"] = json!(0);
    fields
}

/// The figures of files, of any machines.
pub(super) fn merged(paths: &[PathBuf]) -> Result<Figures, Failure> {
    let mut figures = Figures::default();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|error| Failure::file(path.display(), error))?;
        let lines = lines(path, &text)?;
        if lines.is_empty() {
            return Err(Failure::file(path.display(), "it has no figures of `spc suite`"));
        }
        lines.into_iter().for_each(|(line, _)| figures.add(line));
    }
    Ok(figures)
}

/// The lines of a file; one that was not written to its end is left out.
fn lines<'a>(path: &Path, text: &'a str) -> Result<Vec<(Line, &'a str)>, Failure> {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let line = |(place, line): (usize, &'a str)| match serde_json::from_str(line) {
        Ok(parsed) => Ok((parsed, line)),
        Err(error) => {
            let failure =
                Failure::file(path.display(), format!("line {}: this is no figure of `spc suite`: {error}", place + 1));
            Err(failure.help("another `--out` begins anew"))
        }
    };
    whole.lines().enumerate().map(line).collect()
}

fn run_of(line: &Line) -> &str {
    match line {
        Line::Machine(line) => &line.run,
        Line::Tensor(line) => &line.run,
        Line::Row(line) => &line.run,
        Line::Refused(line) => &line.run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(run: &str) -> Session {
        let labels = vec![("TTV".to_owned(), "ttv".to_owned())];
        Session { run: run.to_owned(), machine: "m".to_owned(), backend: "native", labels }
    }

    fn case(mode: usize) -> Case {
        Case {
            tensor: "t".to_owned(),
            kernel: "ttv".to_owned(),
            mode,
            format: "csf".to_owned(),
            rank: 0,
            element: "f64",
            threads: 2,
        }
    }

    #[test]
    fn what_is_done_is_not_wanted_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let mut store = Store::open(&path, session("a")).unwrap();
        assert!(store.wants(&case(1)));
        store.refused(Refused { case: case(1), reason: "no".to_owned() }).unwrap();
        drop(store);
        // A process that is killed in the middle of a line.
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}{{\"line\":\"ro")).unwrap();
        let store = Store::open(&path, session("a")).unwrap();
        assert!(!store.wants(&case(1)) && store.wants(&case(2)));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        drop(store);
        // Another program, description or machine begins anew, and loses nothing.
        let store = Store::open(&path, session("b")).unwrap();
        assert!(store.wants(&case(1)));
        let aside = || std::fs::read_to_string(path.with_extension("before.jsonl")).unwrap();
        assert_eq!(aside(), text);
        drop(store);
        put_aside(&path).unwrap();
        std::fs::write(&path, &text).unwrap();
        put_aside(&path).unwrap();
        assert_eq!((aside(), std::fs::read_to_string(&path).unwrap()), (text.repeat(2), String::new()));
        std::fs::write(&path, "{}\n").unwrap();
        assert!(Store::open(&path, session("b")).err().unwrap().to_string().contains("line 1"));
    }
}
