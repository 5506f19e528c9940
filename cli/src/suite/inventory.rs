//! `spc suite --inventory`: what each paper contains, and what there is of it here. It is data that was read from the papers' texts.

use super::description::KNOWN;
use crate::failure::Failure;
use crate::{names, output, settings};
use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// The inventories of the papers by the names of their suites, as the build script has packed them: a fifth of their size.
const INVENTORIES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/inventories.gz"));

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

/// A kind or a state, as the data has it.
fn word(of: impl Serialize) -> String {
    json!(of).as_str().unwrap_or_default().to_owned()
}

/// Prints the inventory of a suite's paper, or of all.
pub(super) fn print(suite: Option<&str>) -> Result<(), Failure> {
    let known = || KNOWN.iter().map(|(name, _)| *name);
    if let Some(name) = suite.filter(|name| !known().any(|known| known == *name)) {
        return Err(names::unknown(format!("there is no paper `{name}`"), name, known(), "they are"));
    }
    let mut unpacked = unpacked();
    let asked = known().filter(|name| suite.is_none_or(|suite| suite == *name));
    let all: Vec<(&str, Inventory)> = asked.filter_map(|name| Some((name, unpacked.remove(name)?))).collect();
    if settings::json() {
        let all = all
            .iter()
            .map(|(name, inventory)| json!({ "suite": name, "paper": inventory.paper, "rows": inventory.rows }));
        return output::print_json(json!({ "inventories": all.collect::<Vec<_>>() }));
    }
    output::print(&all.iter().map(|(name, inventory)| inventory.text(name)).collect::<Vec<_>>().join("\n"))
}

fn unpacked() -> BTreeMap<String, Inventory> {
    serde_json::from_reader(GzDecoder::new(INVENTORIES)).expect("a test reads each inventory")
}

impl Inventory {
    fn text(&self, name: &str) -> String {
        let Paper { authors, title, venue, year, .. } = &self.paper;
        let mut text = format!("{name}: {authors}: {title}. {venue}, {year}\n");
        let states = [State::AsDescribed, State::AnotherAlgorithm, State::NotPossible];
        let count = |state: State| self.rows.iter().filter(|row| row.state == state).count();
        let counts = states.map(|state| format!("{} {}", count(state), word(state)));
        text.push_str(&format!("{} rows: {}\n", self.rows.len(), counts.join(", ")));
        let heads = ["kind", "name", "section", "state", "command"].map(str::to_owned).to_vec();
        let row = |row: &Row| {
            let Row { kind, name, section, state, command, .. } = row;
            vec![word(kind), name.clone(), section.clone(), word(state), command.clone()]
        };
        text + &output::table(&[vec![heads], self.rows.iter().map(row).collect()].concat(), 5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_whole() {
        let mut all = unpacked();
        for (name, _) in KNOWN {
            let Inventory { rows, .. } = all.remove(name).unwrap_or_else(|| panic!("{name} is not there"));
            assert!(rows.len() >= 20, "{name} has {} rows", rows.len());
            for row in rows {
                let is_told = !row.name.is_empty() && !row.section.is_empty() && !row.here.is_empty();
                let says_why = row.why.is_empty() == (row.state == State::AsDescribed);
                let is_command = row.command.is_empty() || row.command.starts_with("spc ");
                assert!(is_told && says_why && is_command, "{name}: {row:?}");
            }
        }
        assert!(all.is_empty(), "{all:?}");
    }
}
