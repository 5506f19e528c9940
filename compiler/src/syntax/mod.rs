//! Text to syntax tree.
//!
//! One pest grammar serves files, command-line arguments and the macro; [`Program`] is what a text says, before any name
//! is resolved. Every node knows where it stands in the text.
//!
//! ```
//! use spc_compiler::syntax;
//!
//! let program = syntax::parse_program("fn scale(x:csf)->y:csf{y(i)=2*x(i);}").unwrap();
//! assert_eq!(program.to_string(), "fn scale(x: csf) -> y: csf {\n    y(i) = 2 * x(i);\n}\n");
//! ```
//!
//! After an error, the statement or the header that it stands in is left out and the rest is read, so that one run reports
//! what is wrong everywhere.

pub mod ast;
pub mod einsum;
pub mod packs;
pub mod precedence;
pub mod tokens;

mod build;
pub(crate) mod error;
mod expected;
#[rustfmt::skip]
mod parser;
mod lexeme;
pub mod neighbours;
mod print;
mod recover;

pub use ast::*;

use crate::diagnostics::codes::syntax as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, Span};
use crate::ir::{ElementType, Function};
use build::Builder;
use expected::Place;
use parser::{Grammar, Rule};
use pest::Parser as _;
use unicode_normalization::UnicodeNormalization as _;

/// Functions of values, conversions among them: a call of one of these names is no access.
pub fn functions() -> impl Iterator<Item = &'static str> {
    let conversions = ElementType::ALL.into_iter().filter(|element| !element.is_stored_only()).map(ElementType::name);
    Function::ALL.into_iter().map(Function::name).chain(["select", "sign", "stored"]).chain(conversions)
}

/// How many brackets may stand inside one another.
pub const MAXIMUM_NESTING: usize = 64;

/// How many operators, calls and reductions may stand inside one another; a sum of `n` terms counts `n`. Later stages walk
/// expressions recursively.
pub const MAXIMUM_DEPTH: usize = 256;

/// How many index variables a statement may have. Each may be a loop within the others, which later stages walk recursively: who
/// compiles such a kernel must have the stack for it, which the crate `spc` sees to.
pub const MAXIMUM_INDICES: usize = 512;

/// After so many errors the rest of a text is not read.
const MAXIMUM_ERRORS: usize = 50;

/// What a parameter is declared as: its element type and where that stands, its format, or both; never neither.
pub type Declaration = (Option<(ElementType, Span)>, Option<FormatExpr>);

/// Reads kernels and format definitions: a `.ti` file, or what stands inside the macro.
///
/// # Errors
/// Everything that does not follow the grammar, in all statements.
pub fn parse_program(text: &str) -> Result<Program, Diagnostics> {
    let (lexemes, mut problems) = lexeme::scan(text);
    // What nests too deeply is not read at all.
    if problems.iter().any(|problem| problem.code == codes::TOO_DEEP) {
        return Err(collect(problems));
    }
    let explained = |problems| collect(neighbours::explained(text, &lexemes, problems));
    if problems.is_empty()
        && let Ok(mut pairs) = Grammar::parse(Rule::program, text)
    {
        let mut builder = Builder::new(&lexemes);
        let program = pairs.next().map(|pair| builder.program(pair));
        return program.filter(|_| builder.problems.is_empty()).ok_or_else(|| explained(builder.problems));
    }
    let mut current = text.to_owned();
    for problem in &problems {
        match recover::part(&lexemes, Place::new(&lexemes, problem.span.start).found) {
            Some(part) => current = recover::blank(&current, part),
            None => return Err(explained(problems)),
        }
    }
    read_the_rest(current, &mut problems);
    // A body alone is no mistake where the header before it was one.
    if problems.is_empty()
        && let Err(stopped) = Grammar::parse(Rule::program, text)
    {
        let place = Place::new(&lexemes, expected::position(&stopped));
        problems.push(expected::syntax(text, &place, &stopped));
    }
    Err(explained(problems))
}

/// Finds what else is wrong with a text whose wrong lexemes are blank: leaves out the part around each error until the
/// rest can be read.
fn read_the_rest(mut text: String, problems: &mut Vec<Diagnostic>) {
    let unclosed_comment = problems.iter().any(|problem| problem.code == codes::UNCLOSED_COMMENT);
    while problems.len() < MAXIMUM_ERRORS {
        let (lexemes, _) = lexeme::scan(&text);
        let stopped = match Grammar::parse(Rule::recovered_program, &text) {
            Err(stopped) => stopped,
            Ok(pairs) => {
                let mut builder = Builder::new(&lexemes);
                pairs.for_each(|pair| drop(builder.program(pair)));
                problems.append(&mut builder.problems);
                return;
            }
        };
        let place = Place::new(&lexemes, expected::position(&stopped));
        let problem = expected::syntax(&text, &place, &stopped);
        let part = match problem.code {
            // The word can go alone: what follows it is a format.
            codes::UNKNOWN_ELEMENT_TYPE => Some(problem.span),
            _ => recover::part(&lexemes, place.found),
        };
        // Of a text that ends in a comment, it can't be known what is missing.
        if place.found < lexemes.len() || !unclosed_comment {
            problems.push(problem);
        }
        let Some(part) = part else { return };
        text = recover::blank(&text, part);
    }
}

/// Whether a text is that of a program, with kernels and definitions of formats. Else it may be a statement alone.
pub fn holds_items(text: &str) -> bool {
    if einsum::is_einsum(text) {
        return false;
    }
    let (lexemes, _) = lexeme::scan(text);
    let has = |words: &[&str]| lexemes.iter().any(|lexeme| words.contains(&lexeme.text));
    let begins_with = |words: &[&str]| lexemes.first().is_none_or(|first| words.contains(&first.text));
    recover::begins_item(&lexemes, 0)
        || has(&["fn", "format", "monoid"])
        || begins_with(&["pub", "schedule", "{"])
        // A kernel whose `fn` is misspelt.
        || has(&["->"]) && has(&["{"])
}

/// Reads one statement without its semicolon: an expression on the command line, or an [einsum string](einsum).
///
/// # Errors
/// What does not follow the grammar, and text after the statement; with the line that means the same, where the text is in a
/// [notation that is near](neighbours).
pub fn parse_statement(text: &str) -> Result<Statement, Diagnostics> {
    if einsum::is_einsum(text) {
        return einsum::Einsum::parse(text)?.statement(&[]);
    }
    parse_without_hints(text)
        .map_err(|problems| collect(neighbours::explained_whole(text, problems.into_iter().collect())))
}

/// The same without a look at other notations.
fn parse_without_hints(text: &str) -> Result<Statement, Diagnostics> {
    parse_argument(Rule::statement_argument, text, |builder, pair| Some(builder.statement(pair)))
}

/// Reads a parameter's type and format, `f32 [compressed, dense]`: the right-hand side of an `-f` option.
///
/// # Errors
/// What does not follow the grammar, and text after the format.
pub fn parse_parameter_format(text: &str) -> Result<Declaration, Diagnostics> {
    parse_argument(Rule::parameter_format, text, |builder, pair| Some(builder.declaration(pair)))
}

/// Reads a format, without an element type.
///
/// # Errors
/// What does not follow the grammar, and text after the format.
pub fn parse_format(text: &str) -> Result<FormatExpr, Diagnostics> {
    parse_argument(Rule::format_argument, text, Builder::format)
}

/// Reads a schedule block: `schedule { parallel(i); }`.
///
/// # Errors
/// What does not follow the grammar, and text after the block.
pub fn parse_schedule(text: &str) -> Result<Schedule, Diagnostics> {
    parse_argument(Rule::schedule_argument, text, |builder, pair| Some(builder.schedule(pair)))
}

/// Reads a text that is one thing.
fn parse_argument<T>(
    rule: Rule,
    text: &str,
    build: impl FnOnce(&mut Builder, pest::iterators::Pair<Rule>) -> Option<T>,
) -> Result<T, Diagnostics> {
    let (lexemes, problems) = lexeme::scan(text);
    if !problems.is_empty() {
        return Err(collect(problems));
    }
    let pairs = Grammar::parse(rule, text).map_err(|stopped| {
        let place = Place::new(&lexemes, expected::position(&stopped));
        expected::syntax(text, &place, &stopped)
    })?;
    let mut builder = Builder::new(&lexemes);
    let inner = pairs.flat_map(|pair| pair.into_inner()).next();
    let value = inner.and_then(|pair| build(&mut builder, pair));
    match value {
        Some(value) if builder.problems.is_empty() => Ok(value),
        _ => Err(collect(builder.problems)),
    }
}

fn collect(problems: Vec<Diagnostic>) -> Diagnostics {
    let mut diagnostics = Diagnostics::new();
    diagnostics.extend(problems);
    diagnostics
}

/// A name as names are compared: what Unicode writes in several ways, as `é` in one letter or in two, is one, as in Rust
/// (normalization form C).
pub fn normalized(name: &str) -> String {
    name.nfc().collect()
}

#[cfg(test)]
mod tests;
