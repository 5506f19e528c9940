//! The words that `spc explain` knows: README.md says the same of directives and levels, and examples are programs.

use spc_compiler::level;
use spc_compiler::schedule::{Options, schedule};
use spc_compiler::topics::{self, Kind, directives};
use spc_compiler::{notation, syntax};

const README: &str = include_str!("../../README.md");

/// The cells of the rows of a table of README.md that begins with this head.
fn table(head: &str) -> Vec<Vec<String>> {
    let mut lines = README.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let row = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    std::iter::from_fn(|| lines.next().filter(|line| line.starts_with('|'))).map(row).collect()
}

#[test]
fn the_readme_says_what_directives_ask_for() {
    let rows = table("| directive |");
    let known: Vec<Vec<String>> = directives::ALL
        .iter()
        .map(|directive| vec![format!("`{}`", directive.example), directive.asks.to_owned()])
        .collect();
    assert_eq!(rows, known);
}

#[test]
fn the_readme_has_every_level() {
    let rows: Vec<String> = table("| level |").into_iter().map(|row| row[0].trim_matches('`').to_owned()).collect();
    let mut known: Vec<&str> = level::ALL.iter().map(|level| level.kind().name).collect();
    let mut said: Vec<&str> = rows.iter().map(String::as_str).collect();
    known.sort_unstable();
    said.sort_unstable();
    assert_eq!(said, known);
}

/// The indented lines of a text, a text for each block of them.
fn examples(text: &str) -> Vec<String> {
    let mut examples: Vec<String> = vec![String::new()];
    for line in text.lines() {
        match (line.strip_prefix("    "), examples.last_mut()) {
            (Some(code), Some(last)) => *last += &format!("{code}\n"),
            (None, Some(last)) if !last.is_empty() => examples.push(String::new()),
            _ => {}
        }
    }
    examples.retain(|example| !example.is_empty());
    examples
}

#[test]
fn examples_are_programs_that_can_be_compiled() {
    let mut count = 0;
    // The pages of levels have pictures; the named formats are those of every program.
    for topic in topics::all().iter().filter(|topic| !matches!(topic.kind, Kind::Level | Kind::Format)) {
        for example in examples(&topic.text) {
            let program =
                syntax::parse_program(&example).unwrap_or_else(|problems| panic!("{}: {problems:?}", topic.name));
            let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{}: {problems:?}", topic.name));
            for kernel in &kernels {
                assert_eq!(kernel.warnings, [], "{}", topic.name);
                schedule(kernel, Options::default()).unwrap_or_else(|problems| panic!("{}: {problems:?}", topic.name));
                count += 1;
            }
        }
    }
    assert!(count > 25, "{count}");
}

const GLOSSARY_HEAD: &str = "\
# Glossary

One word means one thing in the messages, the documentation and the code of spc. `spc explain TERM` prints the same.

| term | also | meaning |
|---|---|---|
";

/// After a change of the terms, `INSTA_UPDATE=always cargo test -p spc-tensor-compiler --test main glossary` writes it anew.
#[test]
fn the_glossary_has_every_term() {
    let mut terms: Vec<_> = topics::all().into_iter().filter(|topic| topic.kind == Kind::Term).collect();
    terms.sort_by_key(|topic| topic.name.to_lowercase());
    let mut expected = GLOSSARY_HEAD.to_owned();
    for term in terms {
        let text = term.text.split("\n\n").next().unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        expected += &format!("| {} | {} | {} |\n", term.name, term.others.join(", "), text.trim());
    }
    crate::assert_made("../docs/glossary.md", &expected, "glossary");
}
