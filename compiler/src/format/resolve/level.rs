//! One level as written: its kind and its properties.

use super::arguments::{Arguments, Value};
use super::{Report, spelling};
use crate::diagnostics::{Diagnostic, Span, codes::notation as codes, suggest, words};
use crate::format::{Count, IndexWidth, LevelFormat, LevelKind, Order, Role, prelude};
use crate::level;
use crate::syntax::{FormatArgument, Ident, LevelExpr};

/// Words that a level takes, for suggestions.
const PROPERTIES: &[&str] = &["nonunique", "unordered", "morton", "u8", "u16", "u32", "u64"];

/// The level format that is written `expr`.
pub(super) fn resolve(expr: &LevelExpr, arguments: &Arguments, report: &mut Report) -> Option<LevelFormat> {
    let Some(kind) = level::named(&expr.name.name) else {
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
    level::ALL.iter().map(|level| level.kind().name)
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
    if let Some(width) = width(&word.name) {
        return set_width(Role::Coordinates, width, word.span, format, report);
    }
    let (kind, name) = (format.kind, format.kind.name);
    let stores_coordinates = kind.takes_width(Role::Coordinates);
    let stored = |property: &str| match stores_coordinates {
        true => format!("a `{name}` level can't be `{property}`"),
        false => format!("a `{name}` level stores no coordinates"),
    };
    match word.name.as_str() {
        "nonunique" if kind.takes_nonunique() => *format = format.nonunique(),
        "unordered" if kind.takes_unordered() => *format = format.with_order(Order::Any),
        "morton" if kind.takes_morton() => *format = format.with_order(Order::Morton),
        property @ ("nonunique" | "unordered") => report.push(not_taken(kind, stored(property), word.span)),
        "morton" => {
            let message = "Morton order begins with the `compressed` level above the `singleton` levels".to_owned();
            report.push(not_taken(kind, message, word.span));
        }
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
    let role = Role::ALL.into_iter().find(|role| role.key() == key.name);
    let count = counts().find(|count| count.name == key.name);
    match (role, count, bound) {
        (Some(_), _, Value::Anything) | (_, Some(_), Value::Anything) => {}
        (Some(role), _, value_of_width) => {
            if let Some(width) = index_width(&value_of_width, value.span(), report) {
                set_width(role, width, key.span, format, report);
            }
        }
        (_, Some(count), _) if format.kind.count().is_none_or(|own| own.name != count.name) => {
            report.push(not_taken(format.kind, count.foreign.replace("{}", format.kind.name), key.span));
        }
        (_, Some(count), Value::Number(number)) if (count.least..=count.most).contains(&number) => {
            *format = format.with_count(number);
        }
        (_, Some(count), _) => report.push(
            Diagnostic::new(codes::LEVEL_PROPERTY, value.span(), count.beyond).label(count.label).help(count.help),
        ),
        (None, None, _) => report.push(unknown_setting(key)),
    }
}

/// The numbers that levels take.
fn counts() -> impl Iterator<Item = &'static Count> {
    level::ALL.iter().filter_map(|level| level.kind().count())
}

fn unknown_setting(key: &Ident) -> Diagnostic {
    let mut settings = vec!["`crd` and `pos`, the widths of coordinates and positions".to_owned()];
    settings.extend(counts().map(|count| format!("`{}`, {}", count.name, count.meaning)));
    let last = settings.pop().unwrap_or_default();
    Diagnostic::new(codes::LEVEL_PROPERTY, key.span, format!("a level has no setting `{}`", key.name))
        .label("unknown setting")
        .help(format!("the settings are {}, and {last}", settings.join(", ")))
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

fn set_width(role: Role, width: IndexWidth, span: Span, format: &mut LevelFormat, report: &mut Report) {
    if format.kind.takes_width(role) {
        *format = format.with_width(role, width);
        return;
    }
    let message = format!("a `{}` level stores no {}", format.kind.name, role.name());
    report.push(not_taken(format.kind, message, span));
}

fn not_taken(kind: LevelKind, message: String, span: Span) -> Diagnostic {
    let refused = Diagnostic::new(codes::LEVEL_PROPERTY, span, message).label("has no effect here");
    if kind.parameters.is_empty() { refused.help(format!("write `{}` alone", kind.name)) } else { refused }
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
