//! Where `--init` has an iteration start.

use crate::failure::Failure;
use crate::names;
use spc_compiler::diagnostics::suggest;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What `--init` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Init {
    Random,
    Hosvd,
    /// A factor for each mode.
    Factors(Vec<PathBuf>),
    /// A model that was written before.
    Model(PathBuf),
}

impl Init {
    /// Reads it. `known` are the words that the verb has.
    pub(super) fn of(text: &OsStr, known: &[&'static str]) -> Result<Self, Failure> {
        match text.to_str() {
            Some("random") if known.contains(&"random") => return Ok(Init::Random),
            Some("hosvd") => return Ok(Init::Hosvd),
            _ => {}
        }
        let path = Path::new(text);
        let is_archive = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npz"));
        if path.is_dir() || is_archive && path.is_file() {
            return Ok(Init::Model(path.to_owned()));
        }
        let list = text.to_str().filter(|text| text.contains(',') && !path.exists());
        if let Some(list) = list {
            return Ok(Init::Factors(list.split(',').map(|file| PathBuf::from(file.trim())).collect()));
        }
        let shown = path.display();
        if path.exists() {
            let failure = Failure::refused(format!("{shown} is one file, and there is a factor for each mode"));
            return Err(
                failure.help("list a file for each mode: `--init A.npy,B.npy,C.npy`, or name the folder of a model")
            );
        }
        let similar = text.to_str().and_then(|text| suggest::similar(text, known.iter().copied()));
        Err(match (similar, text.to_str()) {
            (Some(_), Some(name)) => {
                let message = format!("there is no start `{name}`");
                names::unknown(message, name, known.iter().copied(), "a start is")
            }
            _ => Failure::file(shown, "there is no such model").help(format!(
                "a start is {}, factors as A.npy,B.npy,C.npy, or a model that `-o` has written",
                known.join(", ")
            )),
        })
    }

    /// What a checkpoint says of it.
    pub(super) fn name(text: &OsString) -> String {
        text.to_string_lossy().into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_a_word_factors_or_a_model() {
        let all = ["random", "hosvd"];
        let of = |text: &str| Init::of(OsStr::new(text), &all);
        assert_eq!(of("random").unwrap(), Init::Random);
        assert_eq!(of("hosvd").unwrap(), Init::Hosvd);
        assert_eq!(of("A.npy, B.npy").unwrap(), Init::Factors(vec!["A.npy".into(), "B.npy".into()]));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Init::of(folder.path().as_os_str(), &all).unwrap(), Init::Model(folder.path().to_owned()));
        assert!(matches!(of("randon"), Err(Failure::Refused(problem)) if problem.help == ["did you mean `random`?"]));
        assert!(matches!(of("no/such"), Err(Failure::Refused(problem)) if problem.code == "file"));
        assert!(Init::of(OsStr::new("random"), &["hosvd"]).is_err());
    }
}
