//! The words of the language and of its field, with what `spc explain WORD` prints.
//!
//! One file a kind. Formats and levels are told by where they are defined: `prelude.ti`, and the page of each level. The pages of
//! docs/reference are made of this (`compiler/tests/reference.rs`).

pub mod directives;
mod formats;
mod functions;
mod terms;
mod words;

pub use formats::call;

use crate::diagnostics::suggest;
use std::fmt;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `csr`
    Format,
    /// `compressed`
    Level,
    /// `split`
    Directive,
    /// `where`
    Word,
    /// `sum`
    Reduction,
    /// `sqrt`
    Function,
    /// `f64`
    ElementType,
    /// A term of the field, as fiber.
    Term,
}

impl Kind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Kind; 8] = [
        Kind::Format,
        Kind::Level,
        Kind::Directive,
        Kind::Word,
        Kind::Reduction,
        Kind::Function,
        Kind::ElementType,
        Kind::Term,
    ];

    /// What several are called.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Format => "formats",
            Kind::Level => "level formats",
            Kind::Directive => "directives of a schedule",
            Kind::Word => "words of the language",
            Kind::Reduction => "reductions",
            Kind::Function => "functions",
            Kind::ElementType => "element types",
            Kind::Term => "terms",
        }
    }

    /// What one is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Format => "a format",
            Kind::Level => "a level format",
            Kind::Directive => "a directive of a schedule",
            Kind::Word => "a word of the language",
            Kind::Reduction => "a reduction",
            Kind::Function => "a function",
            Kind::ElementType => "an element type",
            Kind::Term => "a term",
        }
    }
}

/// A word and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// What it is.
    pub kind: Kind,
    /// The word.
    pub name: String,
    /// Other words for the same.
    pub others: &'static [&'static str],
    /// What it means, in a line.
    pub summary: String,
    /// All that is to be said, in lines.
    pub text: String,
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.name, self.kind.name())?;
        writeln!(f, "\n{}", self.text.trim_end())
    }
}

/// All topics, kind after kind.
pub fn all() -> Vec<Topic> {
    let mut all = formats::topics();
    all.extend(directives::topics());
    all.extend(words::topics());
    all.extend(terms::topics());
    all.extend(functions::topics());
    all.sort_by_key(|topic| topic.kind);
    all
}

/// The topics of a word: a level and a format may have one name.
pub fn find(word: &str) -> Vec<Topic> {
    let mut found = all();
    let is_called = |topic: &Topic, word: &str| topic.name == word || topic.others.contains(&word);
    let exact = found.iter().any(|topic| is_called(topic, word));
    let plain = plain(word);
    found.retain(|topic| if exact { is_called(topic, word) } else { is_called(topic, &plain) });
    found
}

/// A word in small letters, and in the singular.
fn plain(word: &str) -> String {
    let small = word.trim().to_lowercase();
    match small.strip_suffix('s') {
        Some(singular) if singular.len() > 3 && !singular.ends_with('s') => singular.to_owned(),
        _ => small,
    }
}

/// The word that is probably meant by one that is none.
pub fn similar(word: &str) -> Option<String> {
    let all = all();
    let names = all.iter().flat_map(|topic| std::iter::once(topic.name.as_str()).chain(topic.others.iter().copied()));
    let names: Vec<&str> = names.collect();
    suggest::similar(word, names.iter().copied())
        .or_else(|| suggest::similar(&plain(word), names.iter().copied()))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_by_each_of_its_names() {
        for topic in all() {
            for name in std::iter::once(topic.name.as_str()).chain(topic.others.iter().copied()) {
                assert!(find(name).contains(&topic), "{name}");
            }
            assert!(
                !topic.summary.contains('\n') && !topic.summary.ends_with('.'),
                "{}: {}",
                topic.name,
                topic.summary
            );
            assert!(!topic.text.trim().is_empty(), "{}", topic.name);
        }
        assert!(Kind::ALL.iter().all(|kind| all().iter().any(|topic| topic.kind == *kind)));
    }

    #[test]
    fn one_word_of_a_kind_has_one_topic() {
        let all = all();
        for (place, topic) in all.iter().enumerate() {
            let same = |other: &&Topic| other.kind == topic.kind && other.name == topic.name;
            assert_eq!(all[..place].iter().find(same), None);
        }
    }

    #[test]
    fn words_are_found_in_the_plural_and_misspelt_ones_suggested() {
        assert_eq!(find("Fibers")[0].name, "fiber");
        assert_eq!(find("dense").len(), 2);
        assert_eq!(find("nothing at all"), []);
        assert_eq!(similar("spilt").as_deref(), Some("split"));
        assert_eq!(find("fibre")[0].name, "fiber");
        assert_eq!(find("CSF")[0].name, "csf");
    }
}
