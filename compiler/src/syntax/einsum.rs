//! Einsum strings: the subscripts of NumPy's `einsum` as a statement.
//!
//! ```text
//! ij,j->i        →      R(i) = A(i, j) * B(j)
//! ij,jk          →      R(i, k) = A(i, j) * B(j, k)        the letters that occur once, in the order of the alphabet
//! ii->i          →      R(i) = A(i, i)
//! ...j,j->...    →      R(rest...) = A(rest..., j) * B(j)
//! ```
//!
//! Operands are called `A`, `B`, `C` in order and the result `R`, without the letters that are indices, or as it is said. Where the
//! orders of operands are known, `...` are indices of their own, which a shorter operand has the last of, as in NumPy; an extent of
//! 1 is not repeated. Spans are places in the string.

use super::ast::*;
use super::{MAXIMUM_DEPTH, error};
use crate::diagnostics::codes::syntax as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, Span, words};

/// What the indices of `...` are called.
const REST: &str = "rest";

/// What is known of an operand beside its indices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Operand {
    /// What it is called.
    pub name: Option<String>,
    /// How many modes it has.
    pub order: Option<usize>,
}

/// Whether a text that stands for a statement is an einsum string: operands with commas between them, or an arrow, and no mark that
/// statements have.
pub fn is_einsum(text: &str) -> bool {
    (text.contains("->") || text.contains(',')) && !text.contains(|c: char| "=(){}[];:'\"*+/".contains(c))
}

/// The subscripts of a string.
#[derive(Debug, Clone)]
pub struct Einsum {
    operands: Vec<Subscript>,
    /// `None`: what the operands say.
    result: Option<Subscript>,
    arrow: Span,
    span: Span,
}

/// The indices of an operand or of the result.
#[derive(Debug, Clone)]
struct Subscript {
    parts: Vec<Part>,
    span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Letter(char, Span),
    Rest(Span),
}

impl Part {
    fn letter(self) -> Option<char> {
        if let Part::Letter(letter, _) = self { Some(letter) } else { None }
    }

    fn name(self) -> String {
        self.letter().map_or_else(|| format!("{REST}{PACK}"), String::from)
    }
}

impl Subscript {
    fn letters(&self) -> impl Iterator<Item = char> {
        self.parts.iter().filter_map(|part| part.letter())
    }

    fn has_rest(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Rest(_)))
    }
}

fn wrong(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(codes::EINSUM, span, message)
}

impl Einsum {
    /// Reads a string.
    ///
    /// # Errors
    /// What is no letter, and letters of a result that operands lack or that it has twice.
    pub fn parse(text: &str) -> Result<Self, Diagnostics> {
        let (left, right, arrow) = match text.find("->") {
            Some(at) => (&text[..at], Some(at + 2), Span::new(at, at + 2)),
            None => (text, None, Span::new(text.len(), text.len())),
        };
        let mut found = Diagnostics::new();
        let mut start = 0;
        let mut operands = Vec::new();
        for part in left.split(',') {
            operands.push(subscript(part, start, &mut found));
            start += part.len() + 1;
        }
        let result = right.map(|start| subscript(&text[start..], start, &mut found));
        if let Some(result) = &result {
            check_result(result, &operands, &mut found);
        }
        if operands.len() >= MAXIMUM_DEPTH {
            found.push(error::deep_expression(Span::new(0, left.len())));
        }
        let span = Span::new(text.len() - text.trim_start().len(), text.trim_end().len());
        if found.is_empty() { Ok(Self { operands, result, arrow, span }) } else { Err(found) }
    }

    /// How many operands there are.
    pub fn operands(&self) -> usize {
        self.operands.len()
    }

    /// The statement. What is not known of operands is made up: names, and a pack of indices for `...`.
    ///
    /// # Errors
    /// Operands of another order than their indices say.
    pub fn statement(&self, known: &[Operand]) -> Result<Statement, Diagnostics> {
        let known = |place: usize| known.get(place).cloned().unwrap_or_default();
        let mut found = Diagnostics::new();
        let rests: Vec<Option<usize>> = (0..self.operands.len())
            .map(|place| self.rest(&self.operands[place], known(place).order, &mut found))
            .collect();
        // As many as the longest that is known; where none is, a pack.
        let longest = rests.iter().copied().flatten().max();
        let names = self.names((0..self.operands.len()).map(|place| known(place).name).collect());
        let operands = self.operands.iter().zip(&names).zip(&rests).map(|((operand, name), rest)| {
            let access = access(name, &operand.parts, operand.span, rest.or(longest), longest);
            let kind = match access.indices.is_empty() {
                true => ExprKind::Name(access.name),
                false => ExprKind::Access(access),
            };
            Expr { kind, span: operand.span }
        });
        let product = |left: Expr, right: Expr| {
            let span = left.span.to(right.span);
            Expr { kind: ExprKind::Binary(BinaryOperator::Multiply, Box::new(left), Box::new(right)), span }
        };
        let nothing = Expr { kind: ExprKind::Bool(false), span: self.span };
        let value = operands.reduce(product).unwrap_or(nothing);
        let result = self.result.clone().unwrap_or_else(|| self.implied());
        let name = self.result_name(&names);
        let target = access(&name, &result.parts, result.span, longest, longest);
        if !found.is_empty() {
            return Err(found);
        }
        Ok(Statement {
            is_let: false,
            target,
            element: None,
            format: None,
            operator: AssignOperator::Assign,
            operator_span: self.arrow,
            value,
            mask: None,
            condition: None,
            stage: Stage::Before,
            span: self.span,
        })
    }

    /// For how many modes the `...` of an operand stands, where that is known.
    fn rest(&self, operand: &Subscript, order: Option<usize>, found: &mut Diagnostics) -> Option<usize> {
        let order = order?;
        let letters = operand.letters().count();
        let fits = if operand.has_rest() { letters <= order } else { letters == order };
        if !fits {
            let least = if operand.has_rest() { "at least " } else { "" };
            let message = format!("the tensor has {}", words::count(order, "mode"));
            let label = format!("{least}{}", words::count(letters, "index"));
            found.push(wrong(operand.span, message).label(label).help("an operand has an index for each mode"));
            return None;
        }
        operand.has_rest().then(|| order - letters)
    }

    /// Names of operands: those that are said, and the alphabet without what is taken.
    fn names(&self, said: Vec<Option<String>>) -> Vec<String> {
        let is_index = |name: &str| self.letters().any(|letter| name.chars().eq([letter]));
        let alphabet = ('A'..='Z').filter(|&letter| letter != 'R').map(String::from);
        let mut free = alphabet.chain((1..).map(|number| format!("A{number}")));
        let mut next = || free.find(|name| !is_index(name) && !said.contains(&Some(name.clone()))).unwrap_or_default();
        said.iter().map(|name| name.clone().unwrap_or_else(&mut next)).collect()
    }

    fn result_name(&self, operands: &[String]) -> String {
        let is_taken =
            |name: &String| operands.contains(name) || self.letters().any(|letter| name.chars().eq([letter]));
        let mut names = (0..).map(|length| format!("R{}", "_".repeat(length)));
        names.find(|name| !is_taken(name)).unwrap_or_default()
    }

    /// The indices of each operand, and of the result.
    pub(super) fn indices(&self) -> (Vec<Vec<String>>, Vec<String>) {
        let names = |subscript: &Subscript| subscript.parts.iter().map(|part| part.name()).collect();
        let result = self.result.clone().unwrap_or_else(|| self.implied());
        (self.operands.iter().map(names).collect(), names(&result))
    }

    fn letters(&self) -> impl Iterator<Item = char> {
        self.operands.iter().flat_map(Subscript::letters)
    }

    /// The result of a string that names none.
    fn implied(&self) -> Subscript {
        let mut once: Vec<char> =
            self.letters().filter(|&letter| self.letters().filter(|&other| other == letter).count() == 1).collect();
        once.sort_unstable();
        let rest = self.operands.iter().any(Subscript::has_rest).then_some(Part::Rest(self.span));
        let parts = rest.into_iter().chain(once.into_iter().map(|letter| Part::Letter(letter, self.span))).collect();
        Subscript { parts, span: self.span }
    }
}

/// The indices of one operand, of the text that begins at `start` of the whole.
fn subscript(text: &str, start: usize, found: &mut Diagnostics) -> Subscript {
    let mut parts = Vec::new();
    let mut rest = text.char_indices().filter(|(_, c)| !c.is_whitespace());
    while let Some((at, letter)) = rest.next() {
        let span = Span::new(start + at, start + at + letter.len_utf8());
        if letter.is_ascii_alphabetic() {
            parts.push(Part::Letter(letter, span));
        } else if text[at..].starts_with(PACK) {
            rest.nth(1);
            let span = Span::new(start + at, start + at + PACK.len());
            if parts.iter().any(|part| matches!(part, Part::Rest(_))) {
                found.push(wrong(span, "a second `...` of one operand").label("stands for the same modes"));
            }
            parts.push(Part::Rest(span));
        } else {
            let problem = wrong(span, format!("an index is a letter, and `{letter}` is none")).label("no letter");
            found.push(
                problem
                    .help("in an einsum string, as `ij,j->i`, each letter is an index, and `...` those that are left"),
            );
            break;
        }
    }
    let blank = text.len() - text.trim_start().len();
    let begin = start + if text.trim().is_empty() { 0 } else { blank };
    Subscript { parts, span: Span::new(begin, begin + text.trim().len()) }
}

fn check_result(result: &Subscript, operands: &[Subscript], found: &mut Diagnostics) {
    for (place, part) in result.parts.iter().enumerate() {
        let Part::Letter(letter, span) = *part else { continue };
        if !operands.iter().any(|operand| operand.letters().any(|other| other == letter)) {
            found.push(
                wrong(span, format!("no operand has the index `{letter}`")).label("nothing tells how large it is"),
            );
        } else if result.parts[..place].iter().any(|other| other.letter() == Some(letter)) {
            let problem = wrong(span, format!("the result has the index `{letter}` twice")).label("again");
            found.push(problem.help("a diagonal is read, as in `ii->i`, and not written"));
        }
    }
    let with_rest = operands.iter().find(|operand| operand.has_rest());
    if let Some(operand) = with_rest.filter(|_| !result.has_rest()) {
        let problem = wrong(result.span, "the result has no `...`").label("lacks modes that an operand has");
        found.push(problem.related(operand.span, "`...` here").help("write `...` in the result, as in `...j,j->...`"));
    }
}

/// A tensor at indices; `rest` is the number of modes for which `...` stands, out of `longest`.
fn access(name: &str, parts: &[Part], span: Span, rest: Option<usize>, longest: Option<usize>) -> Access {
    let index = |name: String, span: Span| Index::Expr(Expr { kind: ExprKind::Name(Ident { name, span }), span });
    let mut indices = Vec::with_capacity(parts.len());
    for part in parts {
        match (*part, rest, longest) {
            (Part::Rest(span), Some(rest), Some(longest)) => {
                indices.extend((longest - rest..longest).map(|number| index(format!("{REST}{}", number + 1), span)));
            }
            (Part::Rest(span) | Part::Letter(_, span), ..) => indices.push(index(part.name(), span)),
        }
    }
    Access { name: Ident { name: name.to_owned(), span }, indices, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, orders: &[usize]) -> String {
        let known: Vec<Operand> = orders.iter().map(|&order| Operand { name: None, order: Some(order) }).collect();
        match Einsum::parse(text).and_then(|einsum| einsum.statement(&known)) {
            Ok(statement) => statement.to_string(),
            Err(found) => {
                let told = |problem: Diagnostic| {
                    format!("{} `{}`", problem.message, &text[problem.span.start..problem.span.end])
                };
                found.into_sorted().into_iter().map(told).collect::<Vec<_>>().join("; ")
            }
        }
    }

    #[test]
    fn strings_are_statements() {
        for (text, expected) in [
            ("ij,j->i", "R(i) = A(i, j) * B(j)"),
            (" i j , j -> i ", "R(i) = A(i, j) * B(j)"),
            ("ij,jk", "R(i, k) = A(i, j) * B(j, k)"),
            ("ba", "R(a, b) = A(b, a)"),
            ("ii", "R = A(i, i)"),
            ("ii->i", "R(i) = A(i, i)"),
            ("ij->", "R = A(i, j)"),
            (",i->i", "R(i) = A * B(i)"),
            ("i,j", "R(i, j) = A(i) * B(j)"),
            ("iA,AR->iR", "R_(i, R) = B(i, A) * C(A, R)"),
            ("...j,j->...", "R(rest...) = A(rest..., j) * B(j)"),
            ("...j,j", "R(rest...) = A(rest..., j) * B(j)"),
            ("...ij,...jk->...ik", "R(rest..., i, k) = A(rest..., i, j) * B(rest..., j, k)"),
            ("j->k", "no operand has the index `k` `k`"),
            ("ij->ii", "the result has the index `i` twice `i`"),
            ("i1,j->i", "an index is a letter, and `1` is none `1`"),
            ("i..j->i", "an index is a letter, and `.` is none `.`"),
            ("...i...->i", "a second `...` of one operand `...`; the result has no `...` `i`"),
            ("é->", "an index is a letter, and `é` is none `é`"),
        ] {
            assert_eq!(line(text, &[]), expected, "{text}");
        }
    }

    #[test]
    fn orders_tell_what_an_ellipsis_is() {
        for (text, orders, expected) in [
            ("...j,j", &[3, 1][..], "R(rest1, rest2) = A(rest1, rest2, j) * B(j)"),
            ("...j,j", &[1, 1], "R = A(j) * B(j)"),
            ("...,...", &[2, 1], "R(rest1, rest2) = A(rest1, rest2) * B(rest2)"),
            ("...ij,jk->...ik", &[2, 2], "R(i, k) = A(i, j) * B(j, k)"),
            ("...ij->...", &[1], "the tensor has 1 mode `...ij`"),
            ("ij,j->i", &[3, 1], "the tensor has 3 modes `ij`"),
        ] {
            assert_eq!(line(text, orders), expected, "{text}");
        }
    }

    #[test]
    fn operands_are_called_as_it_is_said() {
        let named = |name: &str| Operand { name: Some(name.to_owned()), order: None };
        let of = |names: &[&str]| {
            let known: Vec<Operand> = names.iter().map(|name| named(name)).collect();
            Einsum::parse("ij,j->i").unwrap().statement(&known).unwrap().to_string()
        };
        assert_eq!(of(&["M", "v"]), "R(i) = M(i, j) * v(j)");
        assert_eq!(of(&["B"]), "R(i) = B(i, j) * A(j)");
        assert_eq!(of(&["R", "R_"]), "R__(i) = R(i, j) * R_(j)");
    }
}
