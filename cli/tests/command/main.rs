//! The command as its users meet it: arguments in; standard output, standard error, files and exit status out.

mod bad_input;
mod bench;
#[cfg(unix)]
mod book;
mod cache;
mod compile;
mod decompose;
mod durable;
mod elements;
mod explain;
mod files;
mod fills;
mod habits;
mod language;
mod large;
mod memory;
mod overwrites;
mod plans;
mod play;
mod run;
mod suite;
mod test;
mod tiers;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder to run `spc` in.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn with(self, name: &str, text: &str) -> Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spc"));
        command.current_dir(self.folder.path()).args(arguments);
        // Kernels are compiled once, in a moment, and not among the user's.
        command.env("SPC_CACHE", concat!(env!("CARGO_TARGET_TMPDIR"), "/kernels")).env("SPC_CHECKED_KERNELS", "1");
        command
    }

    fn spc(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What it prints, where it succeeds.
    fn prints(&self, arguments: &[&str]) -> String {
        let output = self.spc(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The JSON object that it prints.
    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.prints(arguments)).unwrap()
    }

    /// The message with which it refuses its input.
    fn refuses(&self, arguments: &[&str]) -> String {
        self.fails(arguments, 1)
    }

    /// The message with which it ends, and nothing on standard output.
    fn fails(&self, arguments: &[&str], status: i32) -> String {
        let output = self.spc(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {message}");
        assert!(output.stdout.is_empty(), "{arguments:?} prints before it fails");
        assert!(!message.contains("fault of spc") && !message.contains('\x1b'), "{arguments:?}: {message}");
        message
    }
}

/// The kernels of the examples.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// Asserts that a text has each of some parts.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in:\n{text}");
    }
}
