//! Formats and level formats: what `prelude.ti` and the pages of the levels say of them.

use super::{Kind, Topic};
use crate::format::level::{self, Arrays, Level, Property};
use crate::format::{LevelFormat, LevelKind, prelude};
use crate::syntax::FormatDefinition;

pub(super) fn topics() -> Vec<Topic> {
    let formats = prelude::definitions().iter().map(format);
    formats.chain(level::ALL.iter().map(|(kind, level)| of_level(*kind, *level))).collect()
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

fn of_level(kind: LevelKind, level: &dyn Level) -> Topic {
    let name = level.name();
    let mut text = level::page(kind);
    let arrays = match level.arrays(LevelFormat::new(kind)) {
        Arrays::None => "It stores no arrays.",
        Arrays::Coordinates => "It stores an array `crd`.",
        Arrays::PositionsAndCoordinates => "It stores arrays `pos` and `crd`.",
    };
    text.push_str(&format!("\n{arrays}"));
    let properties: Vec<&str> = level.properties().iter().map(|property| written(*property)).collect();
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
    Topic { kind: Kind::Level, name: name.to_owned(), others: &[], summary: level.summary().to_owned(), text }
}

fn written(property: Property) -> &'static str {
    match property {
        Property::Nonunique => "`nonunique`",
        Property::Unordered => "`unordered`",
        Property::Morton => "`morton`",
        Property::Coordinates => "`u8` … `u64` (the width of coordinates)",
        Property::Positions => "`pos = u64` (the width of positions)",
        Property::Width => "`width = 2`",
        Property::Rows => "`rows = 8`",
    }
}
