//! Blocks are run by `bash`, with the `spc` of this build, in a folder for each page.

use crate::Place;
use std::process::{Command, Stdio};

/// `cargo run --release --bin spc --` is the command that is tested.
const BEFORE: &str = "exec 2>&1
cargo() { while [ \"$1\" != -- ]; do shift; done; shift; spc \"$@\"; }
";

pub(super) struct Runner {
    place: Place,
}

impl Runner {
    pub(super) fn new() -> Self {
        let place = Place::new();
        std::os::unix::fs::symlink(super::root().join("examples"), place.path("examples")).unwrap();
        Self { place }
    }

    fn shell(&self, script: &str) -> (bool, String) {
        let mut command = Command::new("bash");
        let ours = self.place.command(&[]);
        for (name, value) in ours.get_envs() {
            command.env(name, value.unwrap());
        }
        let folder = std::path::Path::new(ours.get_program()).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        command.current_dir(ours.get_current_dir().unwrap()).env("PATH", path).env("RAYON_NUM_THREADS", "2");
        let script = format!("{BEFORE}{script}");
        let output = command.args(["-e", "-o", "pipefail", "-c", &script]).stdin(Stdio::null()).output().unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    /// Runs a script, and compares what it prints.
    pub(super) fn script(&self, script: &str, expected: Option<&str>) -> Result<(), String> {
        let (succeeds, printed) = self.shell(script);
        if !succeeds {
            return Err(format!("it fails:\n{printed}"));
        }
        expected.map_or(Ok(()), |expected| compare(expected, &printed))
    }

    /// Runs each command of a session. One that fails prints why.
    pub(super) fn console(&self, session: &str) -> Result<(), String> {
        for (command, expected) in commands(session) {
            let (succeeds, printed) = self.shell(&command);
            let is_refused = expected.lines().any(|line| line.starts_with("error"));
            if succeeds == is_refused {
                return Err(format!(
                    "$ {command}{} and prints\n{printed}",
                    if succeeds { "succeeds" } else { "fails" }
                ));
            }
            compare(&expected, &printed).map_err(|problem| format!("$ {command}{problem}"))?;
        }
        Ok(())
    }

    /// Compiles a program, or each statement that has a line.
    pub(super) fn compile(&self, text: &str) -> Result<(), String> {
        let is_program = |line: &str| ["fn ", "format ", "monoid ", "///"].iter().any(|word| line.starts_with(word));
        if text.lines().any(is_program) {
            return checked(text);
        }
        for line in text.lines().map(|line| line.split("//").next().unwrap().trim()).filter(|line| !line.is_empty()) {
            let output = self.place.spc(&["compile", line]);
            if !output.status.success() {
                return Err(String::from_utf8(output.stderr).unwrap());
            }
        }
        Ok(())
    }
}

/// A program, with or without kernels: each of these has loops.
fn checked(text: &str) -> Result<(), String> {
    use spc_compiler::schedule::{Options, schedule};
    let problem = |problems: spc_compiler::diagnostics::Diagnostics| -> String {
        problems.iter().map(|problem| format!("{}: {}\n", problem.code, problem.message)).collect()
    };
    let program = spc_compiler::syntax::parse_program(text).map_err(problem)?;
    for kernel in spc_compiler::notation::check(&program).map_err(problem)? {
        schedule(&kernel, Options::default()).map_err(problem)?;
    }
    Ok(())
}

/// The commands of a session, each with what it prints.
fn commands(session: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut goes_on = false;
    for line in session.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((format!("{command}\n"), String::new())),
            (None, Some((command, _))) if goes_on || line.starts_with("> ") => {
                *command += &format!("{}\n", line.strip_prefix("> ").unwrap_or(line));
            }
            (None, Some((_, output))) => *output += &format!("{line}\n"),
            (None, None) => panic!("a session begins with a command, not with {line:?}"),
        }
        goes_on = (goes_on || line.starts_with("$ ")) && line.ends_with('\\');
    }
    commands
}

/// Compares what is printed with what a page says of it.
fn compare(expected: &str, printed: &str) -> Result<(), String> {
    let expected: Vec<&str> = expected.trim().lines().map(str::trim_end).collect();
    let lines: Vec<&str> = printed.trim().lines().map(str::trim_end).collect();
    match matches(&expected, &lines) {
        true => Ok(()),
        false => Err(format!("the page has\n{}\nand printed is\n{printed}", expected.join("\n"))),
    }
}

fn matches(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, others)| line_matches(first, line) && matches(rest, others))
        }
    }
}

/// Whether a line begins, goes on and ends with the parts between the `…`.
fn line_matches(expected: &str, line: &str) -> bool {
    let Some((first, mut rest)) = expected.split_once('…') else { return expected == line };
    let Some(mut line) = line.strip_prefix(first) else { return false };
    while let Some((part, behind)) = rest.split_once('…') {
        let Some(at) = line.find(part) else { return false };
        (line, rest) = (&line[at + part.len()..], behind);
    }
    line.ends_with(rest)
}

#[test]
fn output_is_compared_but_for_what_is_left_out() {
    assert!(compare("a … c\n…\nz", "a b c\nd\ne\nz\n").is_ok());
    assert!(compare("a … c\n…\nz", "a b c\nz\n").is_ok());
    assert!(compare("a … c", "a b d").is_err());
    assert!(compare("a\n…\nz", "a\nb\n").is_err());
    assert!(compare("a", "a\nb").is_err());
    assert!(compare("", "a").is_err());
}

#[test]
fn sessions_are_commands_with_outputs() {
    let found = commands("$ a \\\n  b\nc\n$ d <<E\n> e\n> E\n");
    assert_eq!(found, [("a \\\n  b\n".into(), "c\n".into()), ("d <<E\ne\nE\n".into(), String::new())]);
}
