//! The text as a flat list of words and marks: what messages call "found", and where recovery looks for statement ends.

use super::parser::{Grammar, Rule};
use super::{MAXIMUM_NESTING, error};
use crate::diagnostics::codes::syntax as codes;
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
    let pairs = match Grammar::parse(Rule::lexemes, text) {
        Ok(pairs) => pairs,
        // Comments inside comments to a depth that would overflow the stack.
        Err(_) => {
            let span = Span::new(text.find("/*").unwrap_or(0), text.len());
            return (lexemes, vec![Diagnostic::new(codes::TOO_DEEP, span, "comments are nested too deeply")]);
        }
    };
    for pair in pairs.flatten() {
        let span = Span::new(pair.as_span().start(), pair.as_span().end());
        let text = pair.as_str();
        let kind = match pair.as_rule() {
            Rule::documentation => Kind::Documentation,
            Rule::number => Kind::Number,
            Rule::word => Kind::Word,
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
