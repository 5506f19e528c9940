//! The page of the papers, made of `spc suite --inventory`.

use super::assert_made;
use crate::Place;
use serde_json::Value;
use std::fmt::Write;

const HEAD: &str = "\
# The papers, point by point

Kernels, formats and experiments of five papers are instances of one language here. These tables say what each paper contains, and what there is
of it. They were read from the papers' texts. `spc suite --inventory --json` prints them.

A row is *as described* where the format is stored and walked, or the algorithm is computed, as in the paper. It is *another algorithm* where the
result is the same and the loops are others. The rest is *not possible here*, for the reason that is given.
";

#[test]
fn the_page_of_the_papers_is_made_of_the_inventory() {
    let listed: Value = serde_json::from_str(&Place::new().prints(&["suite", "--inventory", "--json"])).unwrap();
    let mut page = HEAD.to_owned();
    for inventory in listed["inventories"].as_array().unwrap() {
        let of = |value: &Value, field: &str| value[field].as_str().unwrap_or_default().replace('|', "\\|");
        let paper = &inventory["paper"];
        let suite = of(inventory, "suite");
        let doi = of(paper, "doi");
        let link = if doi.is_empty() { String::new() } else { format!(" [doi:{doi}](https://doi.org/{doi})") };
        let (authors, title, venue) = (of(paper, "authors"), of(paper, "title"), of(paper, "venue"));
        let year = &paper["year"];
        _ = write!(
            page,
            "\n## {suite}\n\n{authors}: *{title}*. {venue}, {year}.{link} The suite is `spc suite {suite}`.\n\n"
        );
        page += "| what | section | in the paper | here | state |\n|---|---|---|---|---|\n";
        for row in inventory["rows"].as_array().unwrap() {
            let (kind, name, section) = (of(row, "kind"), of(row, "name"), of(row, "section"));
            let (says, here, command) = (of(row, "paper"), of(row, "here"), of(row, "command"));
            let command = if command.is_empty() { command } else { format!(" `{command}`") };
            let (state, why) = (of(row, "state"), of(row, "why"));
            let state = if why.is_empty() { state } else { format!("{state}: {why}") };
            _ = writeln!(page, "| {kind}: {name} | {section} | {says} | {here}{command} | {state} |");
        }
    }
    assert_made("docs/papers.md", &page);
}
