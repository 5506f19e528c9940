//! README and the book: every block is run, checked or taken from a file that is tested, and every link leads to what is there.
//!
//! | block | what is done |
//! |---|---|
//! | `console` | lines that begin with `$` are run, what is between them is what they print |
//! | `sh` | is run; a `text` block behind it is what it prints |
//! | `spc` | is a program that compiles, or statements that do |
//! | any other | is in the file that a comment names: `<!-- from examples/src/bin/first_steps.rs -->` |
//!
//! In what is printed, `…` is any text of a line, and a line of its own any lines. What can't be run has a comment that says why:
//! `<!-- not run: it installs programs -->`; these are listed in a snapshot.

pub(crate) mod benchmarks;
mod chart;
mod inventory;
mod links;
mod page;
mod reference;
mod run;
mod words;

use page::{Block, Mark, Page};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The text of a file of the repository.
fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// README and all pages of the book, by their paths in the repository.
fn paths() -> Vec<String> {
    fn add(folder: &str, paths: &mut Vec<String>) {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            match entry.file_type().unwrap().is_dir() {
                true => add(&path, paths),
                false if path.ends_with(".md") => paths.push(path),
                false => {}
            }
        }
    }
    let mut paths = vec!["README.md".to_owned()];
    add("docs", &mut paths);
    paths.sort();
    paths
}

/// Asserts that a file of the repository is what is made for it, or makes it.
#[track_caller]
fn assert_made(path: &str, expected: &str) {
    if std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always") {
        std::fs::write(root().join(path), expected).unwrap();
    }
    let found = std::fs::read_to_string(root().join(path)).unwrap_or_default();
    assert!(
        found == expected,
        "{path} is not up to date: write it anew with `INSTA_UPDATE=always cargo test -p spc-tensor-cli --test command book`"
    );
}

/// The problems of one page.
fn problems(page: &Page) -> Vec<String> {
    let runner = run::Runner::new();
    let mut problems = Vec::new();
    for (number, block) in page.blocks.iter().enumerate() {
        let output = page.blocks.get(number + 1).filter(|next| next.is_output());
        let found = match (&block.mark, block.language.as_str()) {
            (Mark::NotRun(_) | Mark::Output, _) => Ok(()),
            (Mark::From(path), _) => is_in(block, path),
            (Mark::None, "console") => runner.console(&block.text),
            (Mark::None, "sh") => runner.script(&block.text, output.map(|output| output.text.as_str())),
            (Mark::None, "spc") => runner.compile(&block.text),
            (Mark::None, language) => Err(format!("nothing is known of a block of {language:?}")),
        };
        problems.extend(found.err().map(|problem| format!("{}:{}: {problem}", page.path, block.line)));
    }
    problems
}

/// Whether a block is a part of a file, however it is indented there.
fn is_in(block: &Block, path: &str) -> Result<(), String> {
    let lines = |text: &str| -> String {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).fold("\n".to_owned(), |all, line| all + line + "\n")
    };
    match lines(&text(path)).contains(&lines(&block.text)) {
        true => Ok(()),
        false => Err(format!("these lines are not in {path}")),
    }
}

#[test]
fn every_block_does_what_the_page_says() {
    let pages: Vec<Page> = paths().iter().map(|path| Page::read(path)).collect();
    let (waiting, found) = (Mutex::new(pages.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(page) = { waiting.lock().unwrap().next() } {
                    let problems = problems(page);
                    found.lock().unwrap().extend(problems);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

#[test]
fn what_is_not_run_says_why() {
    let mut listed = String::new();
    for page in paths().iter().map(|path| Page::read(path)) {
        for block in &page.blocks {
            if let Mark::NotRun(reason) = &block.mark {
                assert!(reason.len() > 8, "{}:{}: that is no reason", page.path, block.line);
                writeln!(listed, "{}: {}: {reason}", page.path, block.language).unwrap();
            }
        }
    }
    insta::assert_snapshot!(listed);
}
