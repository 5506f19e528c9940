//! The words that `spc explain` knows: examples are programs, and the glossary has all terms. `reference.rs` has the other pages.

use spc_compiler::schedule::{Options, schedule};
use spc_compiler::topics::{self, Kind};
use spc_compiler::{notation, syntax};

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
