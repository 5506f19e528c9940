//! Documentation has the words of the field, and none of those that it had for them.

use super::page::Page;
use super::{paths, text};

/// What is not said, and what is said in its place.
const WORDS: &[(&str, &str)] = &[
    ("nobody", "no …, or the passive"),
    ("whoever", "you"),
    ("who wants to", "to …"),
    ("needs to say", "is optional"),
    ("one's", "your"),
    ("so-many-th", "strided"),
    ("at hand", "loaded, in registers, available"),
    ("come together", "reduce, combine, reconverge"),
    ("comes together", "reduces, is combined"),
    ("neighbours meet", "boundary segments"),
    ("stands where", "is inlined, is computed where"),
    ("stands against", "is against"),
    ("stand-in", "transposed copy"),
    ("sorted copy of an operand", "transposed copy"),
    ("sorted copies of operands", "transposed copies"),
    ("uneven shares", "load-balanced partition"),
    ("side by side in strips", "register tiling"),
    ("league", "grid"),
    ("lingers", "spin-waits"),
    ("home-made", "own"),
];

/// Where words are looked for: README, the book, and what else people read.
const OTHERS: &[&str] = &["CONTRIBUTING.md", "CHANGELOG.md", "BENCHMARKS.md", "python/README.md"];

/// Files whose strings are messages.
const MESSAGES: &[&str] = &[
    "compiler/src/diagnostics/words.rs",
    "compiler/src/diagnostics/codes/notation.rs",
    "compiler/src/diagnostics/codes/syntax.rs",
    "compiler/src/diagnostics/codes/warnings.rs",
    "compiler/src/remark/words.rs",
    "compiler/src/topics/directives.rs",
    "compiler/src/topics/functions.rs",
    "compiler/src/topics/terms.rs",
    "compiler/src/topics/words.rs",
];

/// The words of a line that are not to be said.
fn found(place: &str, line: &str) -> Vec<String> {
    let line = line.to_lowercase();
    let is_word = |at: usize, word: &str| {
        let letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        !letter(line[..at].chars().next_back()) && !letter(line[at + word.len()..].chars().next())
    };
    let said = |(word, _): &&(&str, &str)| line.match_indices(word).any(|(at, word)| is_word(at, word));
    WORDS.iter().filter(said).map(|(word, better)| format!("{place}: {word:?}: say {better:?}")).collect()
}

#[test]
fn words_are_those_of_the_field() {
    let mut all = Vec::new();
    for path in paths().into_iter().chain(OTHERS.iter().map(|&path| path.to_owned())) {
        for (number, line) in &Page::read(&path).prose {
            all.extend(found(&format!("{path}:{number}"), line));
        }
    }
    for path in MESSAGES {
        for (number, line) in text(path).lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
            all.extend(found(&format!("{path}:{}", number + 1), line));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn words_are_found_whole() {
    assert_eq!(found("a", "Nobody is here."), ["a: \"nobody\": say \"no …, or the passive\""]);
    assert!(found("a", "busynobodies").is_empty());
}
