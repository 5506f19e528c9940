//! After an error: which part of the text to leave out, so that the rest can still be read.

use super::lexeme::{Kind, Lexeme};
use crate::diagnostics::Span;

/// The text with a part of it blank; lines and positions stay.
pub(super) fn blank(text: &str, part: Span) -> String {
    let mut result = String::with_capacity(text.len());
    result.push_str(&text[..part.start]);
    result.extend(text[part.start..part.end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    result.push_str(&text[part.end..]);
    result
}

/// The part to leave out when the lexeme `found` is wrong: the statement around it, or the header of a kernel up to its
/// body, or a whole item. `None` where nothing is left to leave out.
pub(super) fn part(lexemes: &[Lexeme], found: usize) -> Option<Span> {
    let (item, block) = enclosing(lexemes, found);
    let (start, end) = match block {
        Some(_) if found == lexemes.len() || begins_item(lexemes, found) => (item, found),
        Some(brace) => statement(lexemes, brace, found),
        None => (item, header_end(lexemes, item, found)),
    };
    let part = lexemes.get(start..end).filter(|part| !part.is_empty())?;
    Some(part[0].span.to(part[part.len() - 1].span))
}

/// The first lexeme of the item around `found`, and the innermost open brace.
fn enclosing(lexemes: &[Lexeme], found: usize) -> (usize, Option<usize>) {
    let mut item = 0;
    let mut braces = Vec::new();
    for (index, lexeme) in lexemes[..found].iter().enumerate() {
        match lexeme.text {
            "{" => braces.push(index),
            "}" => drop(braces.pop()),
            _ => {}
        }
        if braces.is_empty() && matches!(lexeme.text, "}" | ";") {
            item = index + 1;
        }
    }
    (item, braces.pop())
}

/// The statement around `found` in the block that begins at `brace`.
fn statement(lexemes: &[Lexeme], brace: usize, found: usize) -> (usize, usize) {
    let ends_statement = |lexeme: &Lexeme| matches!(lexeme.text, ";" | "{" | "}");
    let start = (brace..found).rev().find(|&index| ends_statement(&lexemes[index])).map_or(brace, |index| index) + 1;
    let end = match (found..lexemes.len()).find(|&index| ends_statement(&lexemes[index])) {
        None => lexemes.len(),
        Some(index) => match lexemes[index].text {
            ";" => index + 1,
            "{" => block_end(lexemes, index),
            _ => index,
        },
    };
    (start, end)
}

/// Where the broken beginning of an item ends. A kernel's body stays: it can be read without its header.
fn header_end(lexemes: &[Lexeme], item: usize, found: usize) -> usize {
    for index in found..lexemes.len() {
        match lexemes[index].text {
            ";" | "}" => return index + 1,
            // A lone word before a brace is a misspelt `schedule`, whose body holds no statements.
            "{" if index <= item + 1 => return block_end(lexemes, index),
            "{" => return index,
            _ if index > item && begins_item(lexemes, index) => return index,
            _ => {}
        }
    }
    lexemes.len()
}

/// One past the `}` that closes the block.
fn block_end(lexemes: &[Lexeme], brace: usize) -> usize {
    let mut depth = 0usize;
    for (index, lexeme) in lexemes.iter().enumerate().skip(brace) {
        match lexeme.text {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return index + 1;
        }
    }
    lexemes.len()
}

/// Whether an item begins here: its documentation, `pub`, or `fn`, `format` or `monoid` and a name. (Either may also stand where a
/// name should, by mistake.)
pub(super) fn begins_item(lexemes: &[Lexeme], index: usize) -> bool {
    let mut rest = lexemes[index..].iter().skip_while(|lexeme| lexeme.kind == Kind::Documentation);
    let (Some(first), Some(second)) = (rest.next(), rest.next()) else { return false };
    match first.text {
        "fn" | "format" | "monoid" => second.kind == Kind::Word,
        "pub" => matches!(second.text, "fn" | "format" | "("),
        _ => false,
    }
}
