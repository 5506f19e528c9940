//! One level as written: its kind and its properties.

use super::Report;
use super::arguments::{Arguments, Value};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest, words};
use crate::format::level::{self, Level, Property};
use crate::format::{IndexWidth, LevelFormat, prelude, spelling};
use crate::syntax::{FormatArgument, Ident, LevelExpr};

/// Words that a level takes, for suggestions.
const PROPERTIES: &[&str] = &["nonunique", "unordered", "morton", "u8", "u16", "u32", "u64"];

/// The level format that is written `expr`.
pub(super) fn resolve(expr: &LevelExpr, arguments: &Arguments, report: &mut Report) -> Option<LevelFormat> {
    let Some(kind) = level::from_name(&expr.name.name) else {
        report.push(unknown_level(&expr.name));
        return None;
    };
    let mut format = LevelFormat::new(kind);
    for argument in &expr.arguments {
        apply(argument, arguments, &mut format, report);
    }
    Some(format)
}

fn unknown_level(name: &Ident) -> Diagnostic {
    let word = &name.name;
    let unknown = Diagnostic::new(codes::UNKNOWN_LEVEL, name.span, format!("there is no level format `{word}`"));
    if prelude::definitions().iter().any(|definition| definition.name.name == *word) {
        return unknown.label("a format of a whole tensor").help("a named format stands by itself, without brackets");
    }
    match spelling::level(word).or_else(|| suggest::similar(word, names())) {
        Some(close) => unknown.label("not a level format").help(format!("did you mean `{close}`?")),
        None => unknown.label("not a level format").help(format!("the level formats are {}", words::list(names()))),
    }
}

fn names() -> impl Iterator<Item = &'static str> {
    level::ALL.iter().map(|(_, level)| level.name())
}

fn apply(argument: &FormatArgument, arguments: &Arguments, format: &mut LevelFormat, report: &mut Report) {
    match argument {
        FormatArgument::Word(word) => match arguments.get(&word.name) {
            Some(Value::Anything) => {}
            Some(Value::Word(value)) => apply_word(value, format, report),
            Some(Value::Number(number)) => report.push(not_a_property(&number.to_string(), word.span)),
            None => apply_word(word, format, report),
        },
        FormatArgument::Number(number, span) => report.push(not_a_property(&number.to_string(), *span)),
        FormatArgument::Setting(key, value) => apply_setting(key, value, arguments, format, report),
    }
}

fn apply_word(word: &Ident, format: &mut LevelFormat, report: &mut Report) {
    match (word.name.as_str(), width(&word.name)) {
        (_, Some(width)) => set_coordinates(width, word.span, format, report),
        ("nonunique", _) if takes(format, Property::Nonunique, word.span, report) => format.unique = false,
        ("unordered", _) if takes(format, Property::Unordered, word.span, report) => format.ordered = false,
        ("morton", _) if takes(format, Property::Morton, word.span, report) => {
            (format.ordered, format.morton) = (false, true);
        }
        ("nonunique" | "unordered" | "morton", _) => {}
        _ => report.push(unknown_property(word)),
    }
}

fn apply_setting(
    key: &Ident,
    value: &FormatArgument,
    arguments: &Arguments,
    format: &mut LevelFormat,
    report: &mut Report,
) {
    let bound = match value {
        FormatArgument::Word(word) => arguments.get(&word.name).cloned().unwrap_or(Value::Word(word.clone())),
        FormatArgument::Number(number, _) => Value::Number(*number),
        FormatArgument::Setting(..) => return,
    };
    match (key.name.as_str(), bound) {
        ("crd" | "pos" | "width" | "rows", Value::Anything) => {}
        ("crd", value_of_width) => {
            if let Some(width) = index_width(&value_of_width, value.span(), report) {
                set_coordinates(width, key.span, format, report);
            }
        }
        ("pos", value_of_width) => {
            let width = index_width(&value_of_width, value.span(), report);
            if width.is_some() && takes(format, Property::Positions, key.span, report) {
                format.positions = width.unwrap_or(format.positions);
            }
        }
        ("width", _) if !takes(format, Property::Width, key.span, report) => {}
        ("width", Value::Number(number)) if number > 0 => format.width = Some(number),
        ("width", _) => report.push(
            Diagnostic::new(codes::LEVEL_PROPERTY, value.span(), "a row's width that is not a whole number above 0")
                .label("not a number of entries")
                .help("`padded(width = 2)` has two places in each row; `padded` alone has as many as the data need"),
        ),
        ("rows", _) if !takes(format, Property::Rows, key.span, report) => {}
        ("rows", Value::Number(number)) if (1..=LevelFormat::MOST_ROWS).contains(&number) => format.rows = number,
        ("rows", _) => report.push(
            Diagnostic::new(codes::LEVEL_PROPERTY, value.span(), format!("rows that are not a number from 1 to {}", LevelFormat::MOST_ROWS))
                .label("not a number of rows")
                .help("`sliced(rows = 8)` has eight rows side by side, which `sliced` alone has too"),
        ),
        _ => report.push(
            Diagnostic::new(codes::LEVEL_PROPERTY, key.span, format!("a level has no setting `{}`", key.name))
                .label("unknown setting")
                .help("the settings are `crd` and `pos`, the widths of coordinates and positions, `width`, the length of rows, and `rows`, how many lie side by side"),
        ),
    }
}

fn index_width(value: &Value, span: Span, report: &mut Report) -> Option<IndexWidth> {
    let text = match value {
        Value::Word(word) => word.name.clone(),
        Value::Number(number) => number.to_string(),
        Value::Anything => return None,
    };
    let found = width(&text);
    if found.is_none() {
        report.push(not_a_width(&text, span));
    }
    found
}

fn set_coordinates(width: IndexWidth, span: Span, format: &mut LevelFormat, report: &mut Report) {
    if takes(format, Property::Coordinates, span, report) {
        format.coordinates = width;
    }
}

/// Whether a level takes a property; reports where it does not.
fn takes(format: &LevelFormat, property: Property, span: Span, report: &mut Report) -> bool {
    let level = level::of(format.kind);
    let takes = level.takes(property);
    if !takes {
        report.push(not_taken(level, property, span));
    }
    takes
}

fn not_taken(level: &dyn Level, property: Property, span: Span) -> Diagnostic {
    let name = level.name();
    let message = match property {
        Property::Nonunique if level.takes(Property::Coordinates) => format!("a `{name}` level can't be `nonunique`"),
        Property::Unordered if level.takes(Property::Coordinates) => format!("a `{name}` level can't be `unordered`"),
        Property::Morton => "Morton order begins with the `compressed` level above the `singleton` levels".to_owned(),
        Property::Nonunique | Property::Unordered | Property::Coordinates => {
            format!("a `{name}` level stores no coordinates")
        }
        Property::Positions => format!("a `{name}` level stores no positions"),
        Property::Width => format!("the rows of a `{name}` level have no width"),
        Property::Rows => format!("the rows of a `{name}` level don't lie side by side"),
    };
    let refused = Diagnostic::new(codes::LEVEL_PROPERTY, span, message).label("has no effect here");
    if level.properties().is_empty() { refused.help(format!("write `{name}` alone")) } else { refused }
}

fn width(name: &str) -> Option<IndexWidth> {
    IndexWidth::ALL.into_iter().find(|width| width.name() == name)
}

fn unknown_property(word: &Ident) -> Diagnostic {
    let message = format!("a level has no property `{}`", word.name);
    let unknown = Diagnostic::new(codes::LEVEL_PROPERTY, word.span, message).label("unknown property");
    match suggest::similar(&word.name, PROPERTIES.iter().copied()) {
        Some(close) => unknown.help(format!("did you mean `{close}`?")),
        None => unknown.help(format!("the properties are {}", words::list(PROPERTIES.iter().copied()))),
    }
}

fn not_a_property(text: &str, span: Span) -> Diagnostic {
    Diagnostic::new(codes::LEVEL_PROPERTY, span, format!("a level has no property `{text}`"))
        .label("a number")
        .help(format!("the properties are {}", words::list(PROPERTIES.iter().copied())))
}

fn not_a_width(value: &str, span: Span) -> Diagnostic {
    Diagnostic::new(codes::LEVEL_PROPERTY, span, format!("`{value}` is not a width of indices"))
        .label("not a width")
        .help("the widths are `u8`, `u16`, `u32` and `u64`")
}
