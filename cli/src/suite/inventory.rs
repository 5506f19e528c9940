//! `spc suite --inventory`: what each paper contains, and what there is of it here. It is data that was read from the papers' texts.

use super::description::KNOWN;
use crate::failure::Failure;
use crate::{names, output, settings};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The inventories of the papers, by the names of their suites.
const INVENTORIES: [&str; KNOWN.len()] = [
    include_str!("inventories/li2020.json"),
    include_str!("inventories/li2016.json"),
    include_str!("inventories/chen2024.json"),
    include_str!("inventories/phipps2019.json"),
    include_str!("inventories/yang2019.json"),
];

/// A paper.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Inventory {
    paper: Paper,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Paper {
    authors: String,
    title: String,
    venue: String,
    year: u32,
    doi: String,
}

/// What a paper has.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: Kind,
    name: String,
    section: String,
    /// The paper's statement or figure.
    paper: String,
    /// The counterpart here.
    here: String,
    /// A command that shows it, or nothing.
    command: String,
    state: State,
    /// Why it is not as described.
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    System,
    Algorithm,
    Format,
    Kernel,
    Tensor,
    Generator,
    Table,
    Figure,
    Observation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    #[serde(rename = "as described")]
    AsDescribed,
    #[serde(rename = "another algorithm")]
    AnotherAlgorithm,
    #[serde(rename = "not possible here")]
    NotPossible,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::System => "system",
            Kind::Algorithm => "algorithm",
            Kind::Format => "format",
            Kind::Kernel => "kernel",
            Kind::Tensor => "tensor",
            Kind::Generator => "generator",
            Kind::Table => "table",
            Kind::Figure => "figure",
            Kind::Observation => "observation",
        }
    }
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::AsDescribed => "as described",
            State::AnotherAlgorithm => "another algorithm",
            State::NotPossible => "not possible here",
        }
    }
}

/// Prints the inventory of a suite's paper, or of all.
pub(super) fn print(suite: Option<&str>) -> Result<(), Failure> {
    let known = || KNOWN.iter().map(|(name, _)| *name);
    if let Some(name) = suite.filter(|name| !known().any(|known| known == *name)) {
        return Err(names::unknown(format!("there is no paper `{name}`"), name, known(), "they are"));
    }
    let asked = known().zip(INVENTORIES).filter(|(name, _)| suite.is_none_or(|suite| suite == *name));
    let all: Vec<(&str, Inventory)> = asked.map(|(name, text)| (name, parsed(text))).collect();
    if settings::json() {
        let all = all
            .iter()
            .map(|(name, inventory)| json!({ "suite": name, "paper": inventory.paper, "rows": inventory.rows }));
        return output::print_json(json!({ "inventories": all.collect::<Vec<_>>() }));
    }
    output::print(&all.iter().map(|(name, inventory)| inventory.text(name)).collect::<Vec<_>>().join("\n"))
}

fn parsed(text: &str) -> Inventory {
    serde_json::from_str(text).expect("a test reads each inventory")
}

impl Inventory {
    fn text(&self, name: &str) -> String {
        let Paper { authors, title, venue, year, .. } = &self.paper;
        let mut text = format!("{name}: {authors}: {title}. {venue}, {year}\n");
        let states = [State::AsDescribed, State::AnotherAlgorithm, State::NotPossible];
        let count = |state: State| self.rows.iter().filter(|row| row.state == state).count();
        let counts = states.map(|state| format!("{} {}", count(state), state.name()));
        text.push_str(&format!("{} rows: {}\n", self.rows.len(), counts.join(", ")));
        let heads = ["kind", "name", "section", "state", "command"].map(str::to_owned).to_vec();
        let row = |row: &Row| {
            let Row { kind, name, section, state, command, .. } = row;
            vec![kind.name().to_owned(), name.clone(), section.clone(), state.name().to_owned(), command.clone()]
        };
        text + &output::table(&[vec![heads], self.rows.iter().map(row).collect()].concat(), 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_whole() {
        for ((name, _), text) in KNOWN.iter().zip(INVENTORIES) {
            let Inventory { rows, .. } = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(rows.len() >= 20, "{name} has {} rows", rows.len());
            for row in rows {
                let is_told = !row.name.is_empty() && !row.section.is_empty() && !row.here.is_empty();
                let says_why = row.why.is_empty() == (row.state == State::AsDescribed);
                let is_command = row.command.is_empty() || row.command.starts_with("spc ");
                assert!(is_told && says_why && is_command, "{name}: {row:?}");
            }
        }
    }
}
