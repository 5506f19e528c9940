//! What is wrong with a line: found out by reading it again, slowly.

use super::cursor::{Cursor, exponential};
use super::number::number;
use super::{Base, Fault, LARGEST_INDEX, Layout, Values};
use crate::io::ReadErrorKind;
use crate::io::value::{Carrier, Refusal, are_whole};
use spc_compiler::ir::ElementType;

/// Why the line at the cursor is no entry.
#[cold]
pub(super) fn fault<T: Carrier>(mut cursor: Cursor<'_>, layout: &Layout) -> Fault {
    let found = cursor.clone().rest_of_line(layout.comment);
    if found.len() != fields(layout) {
        return Fault { kind: ReadErrorKind::FieldCount, offset: cursor.at(), message: count_message(&found, layout) };
    }
    for (mode, &limit) in layout.limits.iter().enumerate() {
        let offset = cursor.at();
        if let Some(message) = index_message(cursor.field(), mode, limit, layout) {
            return Fault { kind: ReadErrorKind::Index, offset, message };
        }
        cursor.skip_blanks();
    }
    let mut offset = cursor.at();
    if layout.values == Values::Complex && number::<T::Part>(&mut cursor.clone(), layout).is_ok() {
        cursor.field();
        cursor.skip_blanks();
        offset = cursor.at();
    }
    let reason = number::<T::Part>(&mut cursor.clone(), layout).err().unwrap_or(Refusal::NotANumber);
    Fault { kind: ReadErrorKind::Value, offset, message: value_message(cursor.field(), reason, layout) }
}

/// How many fields a line has.
fn fields(layout: &Layout) -> usize {
    layout.limits.len() + layout.values.fields()
}

fn index_message(field: &[u8], mode: usize, limit: u64, layout: &Layout) -> Option<String> {
    let mode = mode + 1;
    let digits = !field.is_empty() && field.iter().all(u8::is_ascii_digit);
    let index = if digits { Cursor::new(field, 0).natural() } else { exponential(field) };
    if !digits && index.is_none() {
        let negative = field.len() > 1 && field[0] == b'-' && field[1..].iter().all(u8::is_ascii_digit);
        let first = 1 - layout.base.shift();
        let why = if negative { "indices start from" } else { "an index is a whole number from" };
        return Some(format!("index {} of mode {mode}: {why} {first}", quote(field)));
    }
    match (index, layout.larger) {
        (Some(0), _) if layout.base != Base::Zero => Some(match layout.base {
            Base::OneOr(remedy) => format!("index 0: indices start from 1; {remedy}"),
            Base::One | Base::Zero => "index 0: indices start from 1".to_owned(),
        }),
        (Some(index), _) if index.checked_add(layout.base.shift()).is_some_and(|index| index <= limit) => None,
        (Some(index), Some(larger)) => {
            Some(format!("index {index} of mode {mode} is beyond its extent {limit}: correct the index, or {larger}"))
        }
        _ => Some(format!("index {} of mode {mode} is too large: at most {LARGEST_INDEX}", shorten(field))),
    }
}

fn count_message(found: &[&[u8]], layout: &Layout) -> String {
    let count = match found {
        [only] => format!("1 field ({})", quote(only)),
        found => format!("{} fields", found.len()),
    };
    let value = match layout.values {
        Values::Pattern => "no value",
        Values::Real | Values::Integer => "a value",
        Values::Complex => "a real and an imaginary part",
    };
    let indices = match layout.limits.len() {
        0 => return format!("{count}, where a line has {value} only"),
        1 => "1 index".to_owned(),
        order => format!("{order} indices"),
    };
    format!("{count}, where a line has {indices} and {value}")
}

fn value_message(field: &[u8], reason: Refusal, layout: &Layout) -> String {
    let field = quote(field);
    match reason {
        Refusal::NotANumber => format!("value {field} is not a number: write it as 12, -0.5 or 1e-3"),
        Refusal::NotExact => {
            let wider = layout.stated.filter(|&stated| are_whole(stated)).unwrap_or(ElementType::I64);
            format!("value {field} is a whole number that {} does not hold: read it as {wider}", layout.element)
        }
        Refusal::OutOfRange => {
            format!("value {field} is beyond the range of {}: read it as a wider element type", layout.element)
        }
        Refusal::NotWhole if layout.values == Values::Integer && !are_whole(layout.element) => {
            format!("value {field} is not a whole number, but the header says `integer`: change it to `real`")
        }
        Refusal::NotWhole => {
            format!("value {field} is not a whole number: read it as f64 instead of {}", layout.element)
        }
    }
}

/// Text from a file in quotes, printable, and not too long.
pub(crate) fn quote(field: &[u8]) -> String {
    format!("'{}'", shorten(field))
}

/// A name from a file, printable, and not too long.
pub(crate) fn shown(name: &str) -> String {
    shorten(name.as_bytes())
}

fn shorten(field: &[u8]) -> String {
    const LENGTH: usize = 40;
    let shown = &field[..field.len().min(4 * LENGTH)];
    let pieces: Vec<String> = match std::str::from_utf8(field) {
        Ok(text) => text.chars().take(LENGTH + 1).map(printable).collect(),
        Err(_) => shown.iter().map(|byte| byte.escape_ascii().to_string()).collect(),
    };
    if pieces.len() <= LENGTH { pieces.concat() } else { pieces[..LENGTH].concat() + "..." }
}

fn printable(character: char) -> String {
    match character {
        '\'' | '"' => character.to_string(),
        _ => character.escape_debug().to_string(),
    }
}
