//! Formats and level formats: what `prelude.ti` and the pages of the levels say of them.

use super::{Kind, Topic};
use crate::format::{LevelKind, Parameter, Role, prelude};
use crate::level;
use crate::syntax::FormatDefinition;

pub(super) fn topics() -> Vec<Topic> {
    let formats = prelude::definitions().iter().map(format);
    formats.chain(level::ALL.iter().map(|level| of_level(level.kind()))).collect()
}

/// The name of a format with its arguments: `bcsr(B)`.
pub fn call(definition: &FormatDefinition) -> String {
    let name = &definition.name.name;
    let parameters: Vec<&str> = definition.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    if parameters.is_empty() { name.clone() } else { format!("{name}({})", parameters.join(", ")) }
}

fn format(definition: &FormatDefinition) -> Topic {
    let lines: Vec<&str> = definition.documentation.iter().map(|line| line.trim()).collect();
    let sentence = lines.join(" ");
    let call = call(definition);
    // An example of its arguments: 4 for each.
    let example = match definition.parameters.len() {
        0 => definition.name.name.clone(),
        count => format!(
            "{}({})",
            definition.name.name,
            vec!["2"; count - 1].into_iter().chain(["4"]).collect::<Vec<_>>().join(", ")
        ),
    };
    let quoted = if example == definition.name.name { example.clone() } else { format!("'{example}'") };
    let text = format!(
        "{}\n\n    format {call} = {};\n\nA parameter is declared so by `X: {example}`, on the command line by `-f X={example}`. `spc formats {quoted}` draws an example.\n",
        lines.join("\n"),
        definition.map
    );
    let summary = sentence.trim_end_matches('.').to_owned();
    Topic { kind: Kind::Format, name: definition.name.name.clone(), others: &[], summary, text }
}

fn of_level(kind: LevelKind) -> Topic {
    let name = kind.name;
    let mut text = level::page(kind);
    let arrays = match Role::ALL.map(|role| kind.array(role).is_some()) {
        [false, false] => "It stores no arrays.",
        [false, true] => "It stores an array `crd`.",
        [true, false] => "It stores an array `pos`.",
        [true, true] => "It stores arrays `pos` and `crd`.",
    };
    text.push_str(&format!("\n{arrays}"));
    let (counts, others): (Vec<&Parameter>, _) =
        kind.parameters.iter().partition(|parameter| matches!(parameter, Parameter::Count(_)));
    let properties: Vec<String> = others.into_iter().chain(counts).map(written).collect();
    if !properties.is_empty() {
        text.push_str(&format!(" In its parentheses may stand {}.", properties.join(", ")));
    }
    let uses =
        |definition: &&FormatDefinition| definition.map.levels.iter().any(|stored| stored.level.name.name == name);
    let formats: Vec<String> = prelude::definitions().iter().filter(uses).map(call).collect();
    if !formats.is_empty() {
        text.push_str(&format!("\n\nFormats that have such levels: {}.", formats.join(", ")));
    }
    text.push('\n');
    Topic { kind: Kind::Level, name: name.to_owned(), others: &[], summary: kind.summary.to_owned(), text }
}

fn written(parameter: &Parameter) -> String {
    match parameter {
        Parameter::Nonunique => "`nonunique`".to_owned(),
        Parameter::Order { morton: true } => "`unordered`, `morton`".to_owned(),
        Parameter::Order { morton: false } => "`unordered`".to_owned(),
        Parameter::Width(Role::Coordinates) => "`u8` … `u64` (the width of coordinates)".to_owned(),
        Parameter::Width(role) => format!("`{} = u64` (the width of {})", role.key(), role.name()),
        // As an example, what is usual; 2 where the data tell it.
        Parameter::Count(count) => {
            format!("`{} = {}`", count.name, if count.usual == 0 { 2 } else { count.usual })
        }
    }
}
