//! Words for what the lexemes and the tree show to be wrong; `expected.rs` has those for what the grammar refuses.

use super::{MAXIMUM_DEPTH, MAXIMUM_NESTING, neighbours};
use crate::diagnostics::codes::syntax as codes;
use crate::diagnostics::{Diagnostic, Span, suggest};

pub(super) const ONE_POINT: &str = "a number has one decimal point at most; a range is written `2..3`";

/// `2f16`, `1.2.3`
pub(super) fn bad_number(text: &str, span: Span) -> Diagnostic {
    let problem = Diagnostic::new(codes::INVALID_NUMBER, span, format!("`{text}` is not a number"));
    let problem = problem.label("not a number");
    let plain = !["0x", "0o", "0b"].iter().any(|prefix| text.starts_with(prefix));
    if text.matches('.').count() > 1 {
        problem.help(ONE_POINT)
    } else if plain && text.ends_with(['e', 'E']) {
        problem.help("digits follow the `e` of an exponent, as in `1e-3`")
    } else if plain && text.contains(char::is_alphabetic) {
        problem.help("an element type may follow the digits, as in `2f32`; a product needs `*`")
    } else {
        problem
    }
}

/// A literal in another base that does not fit.
pub(super) fn too_large(text: &str, span: Span) -> Diagnostic {
    Diagnostic::new(codes::INVALID_NUMBER, span, format!("`{text}` is too large")).label("not below 2^64")
}

/// An argument that is no size.
pub(super) fn not_whole(text: &str, span: Span) -> Diagnostic {
    Diagnostic::new(codes::INVALID_NUMBER, span, format!("`{text}` is not a whole number below 2^64"))
        .label("a whole number must stand here")
}

/// `/* …`
pub(super) fn unclosed_comment(span: Span) -> Diagnostic {
    let opening = Span::new(span.start, span.start + "/*".len());
    Diagnostic::new(codes::UNCLOSED_COMMENT, opening, "this comment does not end")
        .label("begins here")
        .help("end it with `*/`; comments nest, so each `/*` needs its own")
}

/// A character, or a string.
pub(super) fn unknown(text: &str, span: Span) -> Diagnostic {
    let what = if text.starts_with('"') && text.len() > 1 { "strings have".into() } else { format!("`{text}` has") };
    let problem = Diagnostic::new(codes::UNKNOWN_CHARACTER, span, format!("{what} no meaning here"));
    match text {
        "^" => problem.help("a power is written `pow(a, b)`"),
        "@" => problem.help("a product of matrices is written with indices: `A(i, k) * B(k, j)`"),
        "#" => problem.help("a comment begins with `//`"),
        "'" | "\"" => problem.help("the language has no characters and no strings"),
        "×" | "·" | "∗" => problem.help("a product is written `a * b`"),
        "−" | "–" => problem.help("this is not the minus sign of the keyboard: write `-`"),
        _ => problem,
    }
}

/// `repeat 0 { … }`
pub(super) fn no_round(span: Span) -> Diagnostic {
    Diagnostic::new(codes::UNEXPECTED_TOKEN, span, "a `repeat` has one round at least")
        .label("the most rounds that there are")
        .help("write a number from 1 on")
}

/// A bracket too many.
pub(super) fn nested_brackets(span: Span) -> Diagnostic {
    Diagnostic::new(codes::TOO_DEEP, span, format!("brackets are nested more than {MAXIMUM_NESTING} deep"))
        .label("this one is too deep")
        .help("give a part of the expression a name with `let`")
}

/// A comment too many.
pub(super) fn nested_comments(span: Span) -> Diagnostic {
    Diagnostic::new(codes::TOO_DEEP, span, format!("comments are nested more than {MAXIMUM_NESTING} deep"))
        .label("this one is too deep")
        .help("end each `/*` with its own `*/`, or comment lines out with `//`")
}

/// An operator too many.
pub(crate) fn deep_expression(span: Span) -> Diagnostic {
    Diagnostic::new(codes::TOO_DEEP, span, format!("this expression is more than {MAXIMUM_DEPTH} operators deep"))
        .label("this operator is too deep")
        .help("give a part of the expression a name with `let`")
}

/// An index variable too many.
pub(crate) fn many_indices(span: Span, most: usize) -> Diagnostic {
    Diagnostic::new(codes::TOO_DEEP, span, format!("a statement has at most {most} index variables here"))
        .label("this one is too many")
        .help("each may be a loop within the others; store several modes as one, as `i * 10 + j` does")
}

/// `a < b < c`
pub(super) fn chained_comparison(first: Span, second: Span) -> Diagnostic {
    Diagnostic::new(codes::CHAINED_COMPARISON, second, "comparisons do not chain")
        .label("compares a truth value")
        .related(first, "the first comparison")
        .help("write `a < b && b < c`, or parentheses")
}

/// `X(i)(j)`
pub(super) fn unknown_reduction(name: &str, span: Span, reductions: &[&str]) -> Diagnostic {
    let list: Vec<String> = reductions.iter().map(|name| format!("`{name}`")).collect();
    let problem = Diagnostic::new(codes::UNKNOWN_REDUCTION, span, format!("`{name}` is not a reduction"))
        .label("two lists in parentheses follow this name");
    let close =
        || suggest::similar(name, reductions.iter().copied()).map(|close| format!("there is a reduction `{close}`"));
    let help = neighbours::instead(name, None).or_else(close);
    problem.help(help.unwrap_or_else(|| format!("the reductions are {}", join(&list, "and"))))
}

/// `mean(j)(x(j) where j < i)`
pub(super) fn misplaced_condition(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(codes::UNEXPECTED_TOKEN, span, format!("`where` chooses no terms of `{name}`"))
        .label("a condition of its own")
        .help("a condition stands in `sum`, `prod`, `min`, `max`, `any` and `all`, or behind the whole statement")
}

/// `y(i) join= x(i)` where nothing declares `join`.
pub(super) fn unknown_update(name: &str, span: Span, monoids: &[String]) -> Diagnostic {
    let problem = Diagnostic::new(codes::UNKNOWN_REDUCTION, span, format!("`{name}` is not a monoid"))
        .label(format!("no monoid `{name}` is declared"));
    let known = ["min", "max"].into_iter().chain(monoids.iter().map(String::as_str));
    match suggest::similar(name, known) {
        Some(close) => problem.help(format!("did you mean `{close}=`?")),
        None => problem.help(format!("declare it: `monoid {name}(a, b) = … with …;`")),
    }
}

/// `min(0..1, x)`
pub(crate) fn misplaced_range(span: Span, takes: &str) -> Diagnostic {
    Diagnostic::new(codes::MISPLACED_RANGE, span, format!("a range can't stand here: {takes}"))
        .label("a range stands only as an index of a tensor")
}

/// `sum(2 * k)(…)`
pub(super) fn not_a_variable(span: Span) -> Diagnostic {
    Diagnostic::new(codes::UNEXPECTED_TOKEN, span, "expected an index variable")
        .label("a reduction runs over index variables")
        .help("list their names: `sum(i, j)(…)`")
}

/// `a`, `a or b`, `a, b or c`
pub(crate) fn join(words: &[String], last: &str) -> String {
    match words {
        [] => "something else".to_owned(),
        [only] => only.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}
