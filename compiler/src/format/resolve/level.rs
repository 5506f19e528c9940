//! One level as written: its kind and its properties.

use super::Report;
use super::arguments::{Arguments, Value};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest, words};
use crate::format::level::{self, Arrays};
use crate::format::{IndexWidth, LevelFormat, LevelKind, prelude};
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
    if prelude::PLANNED_LEVELS.contains(&word.as_str()) {
        return Diagnostic::new(codes::FORMAT_NOT_YET, name.span, format!("`{word}` levels are not lowered yet"))
            .label("does not exist yet")
            .help(format!("the level formats are {}", words::list(names())));
    }
    let unknown = Diagnostic::new(codes::UNKNOWN_LEVEL, name.span, format!("there is no level format `{word}`"));
    if prelude::definitions().iter().any(|definition| definition.name.name == *word) {
        return unknown.label("a format of a whole tensor").help("a named format stands by itself, without brackets");
    }
    match suggest::similar(word, names()) {
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
        ("nonunique", _) if stores_coordinates(format.kind) => format.unique = false,
        ("unordered", _) if stores_coordinates(format.kind) => format.ordered = false,
        ("morton", _) if stores_coordinates(format.kind) => (format.ordered, format.morton) = (false, true),
        ("nonunique" | "unordered" | "morton", _) => report.push(stores_none(format.kind, word.span)),
        _ => report.push(unknown_property(word)),
    }
}

fn apply_setting(key: &Ident, value: &Ident, arguments: &Arguments, format: &mut LevelFormat, report: &mut Report) {
    let value = match arguments.get(&value.name) {
        Some(Value::Anything) => return,
        Some(Value::Word(word)) => word,
        _ => value,
    };
    let Some(width) = width(&value.name) else { return report.push(not_a_width(value)) };
    match key.name.as_str() {
        "crd" => set_coordinates(width, key.span, format, report),
        "pos" if level::of(format.kind).arrays() == Arrays::PositionsAndCoordinates => format.positions = width,
        "pos" => {
            let name = level::of(format.kind).name();
            let message = format!("a `{name}` level stores no positions");
            report.push(Diagnostic::new(codes::LEVEL_PROPERTY, key.span, message).label("has no effect here"));
        }
        _ => report.push(
            Diagnostic::new(codes::LEVEL_PROPERTY, key.span, format!("a level has no setting `{}`", key.name))
                .label("unknown setting")
                .help("the settings are `crd` and `pos`, the widths of coordinates and positions"),
        ),
    }
}

fn set_coordinates(width: IndexWidth, span: Span, format: &mut LevelFormat, report: &mut Report) {
    if stores_coordinates(format.kind) {
        format.coordinates = width;
    } else {
        report.push(stores_none(format.kind, span));
    }
}

fn stores_coordinates(kind: LevelKind) -> bool {
    level::of(kind).arrays() != Arrays::None
}

fn width(name: &str) -> Option<IndexWidth> {
    IndexWidth::ALL.into_iter().find(|width| width.name() == name)
}

fn stores_none(kind: LevelKind, span: Span) -> Diagnostic {
    let name = level::of(kind).name();
    Diagnostic::new(codes::LEVEL_PROPERTY, span, format!("a `{name}` level stores no coordinates"))
        .label("has no effect here")
        .help(format!("write `{name}` alone"))
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

fn not_a_width(value: &Ident) -> Diagnostic {
    Diagnostic::new(codes::LEVEL_PROPERTY, value.span, format!("`{}` is not a width of indices", value.name))
        .label("not a width")
        .help("the widths are `u8`, `u16`, `u32` and `u64`")
}
