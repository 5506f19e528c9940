//! The pages of the reference that the command itself prints. `compiler/tests/reference.rs` makes the others.

use super::assert_made;
use crate::Place;
use spc_compiler::format::prelude;
use spc_compiler::topics;
use std::fmt::Write;

const FORMATS: &str = "\
# Formats

A format is a map from modes to [levels](levels.md). Named formats are definitions in the language itself, in
[one file](../../compiler/src/format/prelude.ti); a program defines its own in the same way ([choose a format](../how-to/choose-a-format.md)).
Each is shown by the arrays of the same small tensor. `spc formats NAME` prints the same.
";

/// A session of one command.
fn session(page: &mut String, place: &Place, arguments: &[&str]) {
    let quoted =
        |argument: &&str| if argument.contains('(') { format!("'{argument}'") } else { (*argument).to_owned() };
    let line: Vec<String> = arguments.iter().map(quoted).collect();
    write!(page, "\n```console\n$ spc {}\n{}```\n", line.join(" "), place.prints(arguments)).unwrap();
}

#[test]
fn every_format_is_drawn() {
    let place = Place::new();
    let mut page = FORMATS.to_owned();
    for definition in prelude::definitions() {
        let call = topics::call(definition);
        let lines: Vec<&str> = definition.documentation.iter().map(|line| line.trim()).collect();
        write!(page, "\n## {call}\n\n{}\n\n    format {call} = {};\n", lines.join("\n"), definition.map).unwrap();
        session(&mut page, &place, &["formats", &definition.name.name]);
    }
    assert_made("docs/reference/formats.md", &page);
}

const COMMAND_LINE: &str = "\
# The command line

What `spc help VERB` prints. [Commands](commands.md) has an example of each.
";

#[test]
fn every_verb_has_its_help() {
    let place = Place::new();
    let help = place.prints(&["help"]);
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut page = COMMAND_LINE.to_owned();
    session(&mut page, &place, &["help"]);
    for verb in verbs.filter_map(|line| line.split_whitespace().next()).filter(|verb| *verb != "help") {
        write!(page, "\n## spc {verb}\n").unwrap();
        session(&mut page, &place, &["help", verb]);
    }
    assert_made("docs/reference/command-line.md", &page);
}
