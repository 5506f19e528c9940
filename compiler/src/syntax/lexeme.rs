//! The text as a flat list of words and marks: what messages call "found", and where recovery looks for statement ends.

use super::parser::{Grammar, Rule};
use super::{MAXIMUM_NESTING, NEXT, error};
use crate::diagnostics::{Diagnostic, Span};
use pest::Parser as _;

/// What a lexeme is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `/// …`
    Documentation,
    /// A literal.
    Number,
    /// A name or a word of the language.
    Word,
    /// `(`, `[`, `{`
    Opening,
    /// `)`, `]`, `}`
    Closing,
    /// `;`
    Semicolon,
    /// Operators and the like.
    Punctuation,
    /// What has no place in the language.
    Invalid,
}

/// One lexeme and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexeme<'a> {
    /// What it is.
    pub(super) kind: Kind,
    /// Its text.
    pub(super) text: &'a str,
    /// Where.
    pub(super) span: Span,
}

/// The lexemes of a text, and what is wrong with single ones.
pub(super) fn scan(text: &str) -> (Vec<Lexeme<'_>>, Vec<Diagnostic>) {
    let mut lexemes = Vec::new();
    let mut problems = Vec::new();
    // The grammar reads comments in comments recursively.
    if let Some(place) = deep_comment(text) {
        return (lexemes, vec![error::nested_comments(Span::new(place, place + OPENING.len()))]);
    }
    let Ok(pairs) = Grammar::parse(Rule::lexemes, text) else { return (lexemes, problems) };
    let has_rounds = pairs.clone().flatten().any(|pair| pair.as_rule() == Rule::word && pair.as_str() == "repeat");
    for pair in pairs.flatten() {
        let span = Span::new(pair.as_span().start(), pair.as_span().end());
        let text = pair.as_str();
        let kind = match pair.as_rule() {
            Rule::documentation => Kind::Documentation,
            Rule::number => Kind::Number,
            Rule::word => {
                // Elsewhere, `A'` is what other notations call a transpose.
                if let Some(name) = text.strip_suffix(NEXT).filter(|_| !has_rounds) {
                    let (name_span, mark) = (Span::new(span.start, span.end - 1), Span::new(span.end - 1, span.end));
                    problems.push(error::unknown(&text[name.len()..], mark));
                    lexemes.push(Lexeme { kind: Kind::Word, text: name, span: name_span });
                    lexemes.push(Lexeme { kind: Kind::Invalid, text: &text[name.len()..], span: mark });
                    continue;
                }
                Kind::Word
            }
            Rule::opening => Kind::Opening,
            Rule::closing => Kind::Closing,
            Rule::semicolon => Kind::Semicolon,
            Rule::punctuation => Kind::Punctuation,
            Rule::bad_number => {
                problems.push(error::bad_number(text, span));
                Kind::Invalid
            }
            Rule::unclosed_comment => {
                problems.push(error::unclosed_comment(span));
                Kind::Invalid
            }
            Rule::unknown => {
                problems.push(error::unknown(text, span));
                Kind::Invalid
            }
            _ => continue,
        };
        lexemes.push(Lexeme { kind, text, span });
    }
    problems.extend(too_deep(&lexemes));
    (lexemes, problems)
}

const OPENING: &str = "/*";

/// The first `/*` that stands inside of too many others, where comments are: not in strings, and not behind `//`.
fn deep_comment(text: &str) -> Option<usize> {
    let (mut place, mut depth) = (0, 0usize);
    while place < text.len() {
        let rest = &text.as_bytes()[place..];
        let line_end = || rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
        place += match rest {
            [b'/', b'*', ..] => {
                if depth == MAXIMUM_NESTING {
                    return Some(place);
                }
                depth += 1;
                2
            }
            [b'*', b'/', ..] if depth > 0 => {
                depth -= 1;
                2
            }
            [b'/', b'/', ..] if depth == 0 => line_end(),
            [b'"', ..] if depth == 0 => string_length(&rest[..line_end()]).unwrap_or(1),
            _ => 1,
        };
    }
    None
}

/// The length of a string that a line begins with, if it ends there.
fn string_length(line: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    let end = line.iter().skip(1).position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map(|end| end + 2)
}

/// Brackets inside one another beyond the limit; the first of each statement only.
fn too_deep(lexemes: &[Lexeme]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut depth = 0usize;
    let mut reported = false;
    for lexeme in lexemes {
        match lexeme.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth = depth.saturating_sub(1),
            ";" | "{" | "}" => (depth, reported) = (0, false),
            _ => {}
        }
        if depth > MAXIMUM_NESTING && !reported {
            reported = true;
            problems.push(error::nested_brackets(lexeme.span));
        }
    }
    problems
}
