//! Every kind of problem, with the words that `spc explain CODE` prints.
//!
//! One file an area, each with a named constant for each code and a table [`Entry`] by `Entry`, in the order of the
//! codes. Numbers are never used twice.
//!
//! | codes | area | file |
//! |---|---|---|
//! | `E00xx` | syntax | [`syntax`] |
//! | `E01xx` | names and shapes | [`notation`] |
//! | `E02xx` | formats | [`notation`] |
//! | `E03xx` | meaning | [`notation`] |
//! | `E04xx` | not supported yet | [`notation`] |
//! | `E05xx` | schedules | [`notation`] |
//! | `E06xx` | data and run time | |
//! | `W01xx` | what is probably a mistake | [`warnings`] |
//!
//! An explanation says what the code means in a few sentences; then, indented by four blanks, a small example under a line
//! `Wrong:` and the same example under a line `Correct:`.

pub mod notation;
pub mod syntax;
pub mod warnings;

use super::Code;
use std::fmt;

/// A kind of problem and its explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub code: Code,
    /// A headline of a few words, without a full stop.
    pub title: &'static str,
    /// What it means, with a wrong example and the corrected one.
    pub explanation: &'static str,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}\n\n{}", self.code, self.title, self.explanation.trim())
    }
}

/// Codes that are reported no more, each with the one that says it now.
pub const RETIRED: &[(Code, Code)] =
    &[(Code::error(307), warnings::FULL_RESULT), (Code::error(308), warnings::FULL_RESULT)];

/// The areas' tables, in the order of their codes.
const TABLES: &[&[Entry]] = &[syntax::ENTRIES, notation::ENTRIES, warnings::ENTRIES];

/// The explanation of a code; `None` where there is no such code.
pub fn explain(code: Code) -> Option<&'static Entry> {
    all().find(|entry| entry.code == code)
}

/// All kinds of problem, by code.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_ascend_across_all_tables() {
        let codes: Vec<Code> = all().map(|entry| entry.code).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
    }

    #[test]
    fn retired_codes_are_used_no_more_and_have_followers() {
        for (old, new) in RETIRED {
            assert!(explain(*old).is_none() && explain(*new).is_some(), "{old}");
        }
    }

    #[test]
    fn every_explanation_has_a_wrong_and_a_correct_example() {
        for entry in all() {
            assert!(!entry.title.is_empty() && !entry.title.ends_with('.'), "{}", entry.code);
            let wrong = entry.explanation.find("\nWrong:\n\n    ");
            let correct = entry.explanation.find("\nCorrect:\n\n    ");
            assert!(wrong.is_some() && wrong < correct, "{} lacks its examples", entry.code);
        }
    }

    #[test]
    fn a_code_is_read_as_it_prints() {
        assert_eq!("E0102".parse(), Ok(Code::error(102)));
        assert_eq!("e0102".parse(), Ok(Code::error(102)));
        assert!("E01".parse::<Code>().is_err());
        assert!("X0102".parse::<Code>().is_err());
        assert!(explain(Code::error(9999)).is_none());
    }
}
