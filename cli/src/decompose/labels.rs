//! What the coordinates of a mode are called.

use crate::arguments::NamedFile;
use crate::failure::{Failure, note};
use std::path::Path;

/// A list of names for each mode, empty where there are none.
pub(super) type Labels = Vec<Vec<String>>;

/// Reads the files of `--labels`: line k names coordinate k.
pub(super) fn read(options: &[NamedFile], shape: &[usize]) -> Result<Labels, Failure> {
    let mut labels = vec![Vec::new(); shape.len()];
    for NamedFile { name, text } in options {
        let mode: Option<usize> = name.parse().ok().filter(|mode| (1..=shape.len()).contains(mode));
        let Some(mode) = mode else {
            let message = format!("`--labels {name}={}` names no mode of the tensor", text.display());
            return Err(Failure::refused(message).help(format!("modes are numbered from 1 to {}", shape.len())));
        };
        if !labels[mode - 1].is_empty() {
            return Err(Failure::usage(format!("two `--labels` are for mode {mode}")).help("leave out one of them"));
        }
        let path = Path::new(text).display();
        let file = std::fs::read_to_string(text).map_err(|error| Failure::file(&path, error))?;
        let lines: Vec<String> = file.lines().map(|line| line.trim().to_owned()).collect();
        let (count, extent) = (lines.len(), shape[mode - 1]);
        if count < extent {
            let reason = format!("it has {count} lines, but mode {mode} has extent {extent}");
            return Err(Failure::file(&path, reason).help("line k names coordinate k: add the lines that are missing"));
        }
        if count > extent {
            note(format!("{path} has {count} lines, and mode {mode} has extent {extent}: the last ones name nothing"));
        }
        labels[mode - 1] = lines;
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_coordinate() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("words.txt");
        std::fs::write(&path, "one\r\ntwo\nthree").unwrap();
        let option = |mode: &str| NamedFile { name: mode.to_owned(), text: path.clone().into_os_string() };
        let labels = read(&[option("2")], &[5, 3]).unwrap();
        assert_eq!(labels, [vec![], vec!["one".to_owned(), "two".to_owned(), "three".to_owned()]]);
        assert!(matches!(read(&[option("1")], &[5, 3]), Err(Failure::Refused(problem))
            if problem.message.ends_with("words.txt: it has 3 lines, but mode 1 has extent 5")));
        for wrong in ["0", "3", "words"] {
            assert!(read(&[option(wrong)], &[5, 3]).is_err());
        }
        assert!(read(&[option("2"), option("2")], &[5, 3]).is_err());
    }
}
