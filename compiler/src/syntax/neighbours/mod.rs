//! Statements in the notation of a neighbour, and the line that means the same here.
//!
//! In: a text that does not follow the grammar. Out: a statement that does, where the text is one in the notation of NumPy, of
//! Julia and Finch, of C, or of einsum; messages show it:
//!
//! ```text
//! y[i] += A[i, j] * x[j]                       →      y(i) += A(i, j) * x(j)
//! C = A @ B.T                                  →      C(i, j) = A(i, k) * B(j, k)
//! y = np.einsum('ij,j->i', A, x)               →      y(i) = A(i, j) * x(j)
//! for i in range(n): y[i] = A[i, i]**2         →      y(i) = pow(A(i, i), 2)
//! y(i) = A:csr(i, j) * x(j)                    →      y(i) = A(i, j) * x(j), with `A: csr`
//! ```
//!
//! `tokens` reads words and marks, `read` makes a `Statement` of them, `matrices` gives indices to what has none, and
//! [`write`] prints it. A reader is generous: what comes out is shown only if it parses.

mod einsum;
mod functions;
mod matrices;
mod read;
mod tokens;
mod write;

pub(crate) use functions::{function, instead};

use super::lexeme::Lexeme;
use super::{expected::Place, parse_without_hints, recover};
use crate::diagnostics::{Diagnostic, Span, codes::syntax as codes};

/// A statement here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The statement.
    pub line: String,
    /// Formats that the text names beside tensors: each tensor with its format.
    pub formats: Vec<(String, String)>,
}

impl Translation {
    /// What to write, in words; `end` is what ends a statement there.
    fn help(&self, end: &str) -> Vec<String> {
        let mut help = vec![format!("write `{}{end}`", self.line)];
        if !self.formats.is_empty() {
            let declared: Vec<String> =
                self.formats.iter().map(|(name, format)| format!("`{name}: {format}`")).collect();
            let options: Vec<String> =
                self.formats.iter().map(|(name, format)| format!("-f {name}={format}")).collect();
            help.push(format!(
                "a kernel's parameters say how tensors are stored, as {}; on the command line it is `{}`",
                declared.join(", "),
                options.join(" ")
            ));
        }
        help
    }
}

/// An expression: what has an index list may be a tensor's element, a function's value or a reduction.
#[derive(Debug, Clone, PartialEq)]
enum Node {
    Number(String),
    Name(String),
    /// A string of characters: the subscripts of an einsum.
    Text(String),
    Apply(String, Vec<Node>),
    Reduce(String, Vec<String>, Box<Node>),
    Unary(&'static str, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    Power(Box<Node>, Box<Node>),
    Product(Box<Node>, Box<Node>),
    Transposed(Box<Node>),
}

/// `target operator value where mask`
#[derive(Debug, Clone, PartialEq)]
struct Statement {
    target: Node,
    operator: &'static str,
    value: Node,
    mask: Option<Node>,
    formats: Vec<(String, String)>,
}

/// The line that says here what a text says in a notation that is near; `None` where it is no such text.
pub fn translated(text: &str) -> Option<Translation> {
    if let Some(line) = einsum::alone(text) {
        return Some(Translation { line, formats: Vec::new() });
    }
    let statement = matrices::with_indices(read::statement(&tokens::tokens(text)?)?, text)?;
    let line = write::statement(&statement)?;
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    let is_another = letters(&line) != letters(text.trim_end().trim_end_matches(';'));
    (is_another && parse_without_hints(&line).is_ok()).then_some(Translation { line, formats: statement.formats })
}

/// The problems of a text with what the statements that they stand in would be here. Of a statement that has a translation, the
/// first problem is left.
pub(super) fn explained(text: &str, lexemes: &[Lexeme], problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen: Vec<Span> = Vec::new();
    let mut left = Vec::new();
    let mut problems = problems;
    problems.sort_by_key(|problem| problem.span);
    for problem in problems {
        let part = recover::part(lexemes, Place::new(lexemes, problem.span.start).found);
        let Some(part) = part.filter(|_| may_be_foreign(&problem)) else {
            left.push(problem);
            continue;
        };
        if seen.iter().any(|seen| seen.start <= problem.span.start && problem.span.start < seen.end) {
            continue;
        }
        match translated(&text[part.start..part.end]) {
            Some(translation) => {
                seen.push(part);
                left.push(with_translation(problem, &translation, ";"));
            }
            None => left.push(with_words(problem, &text[part.start..part.end])),
        }
    }
    left
}

/// The same for a text that is one statement.
pub(super) fn explained_whole(text: &str, problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    if !problems.iter().any(may_be_foreign) {
        return problems;
    }
    match translated(text) {
        Some(translation) => {
            let first = problems.into_iter().min_by_key(|problem| problem.span);
            first.into_iter().map(|problem| with_translation(problem, &translation, "")).collect()
        }
        None => problems.into_iter().map(|problem| with_words(problem, text)).collect(),
    }
}

/// Whether a problem may be that of another notation.
fn may_be_foreign(problem: &Diagnostic) -> bool {
    [
        codes::UNEXPECTED_TOKEN,
        codes::UNEXPECTED_END,
        codes::TRAILING_TEXT,
        codes::UNKNOWN_CHARACTER,
        codes::UNKNOWN_REDUCTION,
        codes::CHAINED_COMPARISON,
    ]
    .contains(&problem.code)
}

fn with_translation(problem: Diagnostic, translation: &Translation, end: &str) -> Diagnostic {
    Diagnostic { help: translation.help(end), ..problem }
}

/// What is said of words of other languages where the whole has no translation.
fn with_words(problem: Diagnostic, text: &str) -> Diagnostic {
    let words = || text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    if words().any(|word| matches!(word, "for" | "while")) {
        return problem.help("loops are not written: a statement is for all of its indices, and sums over those of the right-hand side alone");
    }
    if words().any(|word| word == "if") {
        return problem
            .help("a choice is `select(condition, a, b)`; `where M(i, j)` computes only where `M` has entries");
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::translated;

    fn line(text: &str) -> String {
        translated(text).map_or_else(|| "no translation".to_owned(), |translation| translation.line)
    }

    #[test]
    fn statements_of_neighbours_are_lines_of_this_language() {
        for (text, expected) in [
            // Brackets, as Python, Julia and C write them.
            ("y[i] = A[i,j] * x[j]", "y(i) = A(i, j) * x(j)"),
            ("y[i] += A[i][j] * x[j];", "y(i) += A(i, j) * x(j)"),
            ("B[i, j] -= A[i, j]", "B(i, j) += -A(i, j)"),
            ("y[i] .+= A[i, j] .* x[j]", "y(i) += A(i, j) * x(j)"),
            ("y[i] <<min>>= A[i, j] + x[j]", "y(i) min= A(i, j) + x(j)"),
            ("y[2*i + 1] = x[i]", "y(2 * i + 1) = x(i)"),
            ("y(i) := A(i, j) × x(j)", "y(i) = A(i, j) * x(j)"),
            ("y(i) == A(i, j) * x(j)", "y(i) = A(i, j) * x(j)"),
            // Powers.
            ("B(i, j) = A(i, j)**2", "B(i, j) = pow(A(i, j), 2)"),
            ("B(i, j) = A(i, j) ^ 2", "B(i, j) = pow(A(i, j), 2)"),
            ("y(i) = -x(i)^2 + 1", "y(i) = -pow(x(i), 2) + 1"),
            ("y[i] = 2**-x[i]**2", "y(i) = pow(2, -pow(x(i), 2))"),
            ("y(i) = (x(i) + 1)²", "y(i) = pow(x(i) + 1, 2)"),
            // Matrices without indices.
            ("C = A @ B", "C(i, j) = A(i, k) * B(k, j)"),
            ("y = A @ x + b", "y(i) = A(i, j) * x(j) + b(i)"),
            ("y = A @ B @ x", "y(i) = A(i, k) * B(k, j) * x(j)"),
            ("y = A @ (B @ x)", "y(i) = A(i, j) * (B(j, k) * x(k))"),
            ("s = x @ y", "s = x(i) * y(i)"),
            ("C = A.T @ B", "C(i, j) = A(k, i) * B(k, j)"),
            ("B = A'", "B(i, j) = A(j, i)"),
            ("C = A' * B", "C(i, j) = A(k, i) * B(k, j)"),
            ("C = A * B.T", "C(i, j) = A(i, j) * B(j, i)"),
            ("B = A**2", "B(i, j) = pow(A(i, j), 2)"),
            ("Y = 2 * A @ X", "Y(i, j) = 2 * A(i, k) * X(k, j)"),
            ("A @ x", "y(i) = A(i, j) * x(j)"),
            ("y(i) = A(i, j)' * x(j)", "y(i) = A(j, i) * x(j)"),
            // Sums.
            ("y(i) = sum_j A(i,j) * x(j) + b(i)", "y(i) = sum(j)(A(i, j) * x(j)) + b(i)"),
            ("y(i) = sum_{j} (A(i,j) * x(j))", "y(i) = sum(j)(A(i, j) * x(j))"),
            ("y(i) = Σ_j A(i,j) * x(j)", "y(i) = sum(j)(A(i, j) * x(j))"),
            ("y(i) = ∑_j A(i,j) x(j)", "no translation"),
            ("y[i] = sum(A[i, j] * x[j] for j in range(n))", "y(i) = sum(j)(A(i, j) * x(j))"),
            ("y(i) = sum(j, A(i,j) * x(j))", "y(i) = sum(j)(A(i, j) * x(j))"),
            // Einsum.
            ("'ij,j->i'", "R(i) = A(i, j) * B(j)"),
            ("ij,jk;", "R(i, k) = A(i, j) * B(j, k)"),
            ("y = np.einsum('...j,j', A, x)", "y(rest...) = A(rest..., j) * x(j)"),
            ("y = np.einsum('ij,j->i', A, x)", "y(i) = A(i, j) * x(j)"),
            ("np.einsum(\"ijk,jr,kr->ir\", X, B, C)", "Y(i, r) = X(i, j, k) * B(j, r) * C(k, r)"),
            ("T = torch.einsum('ii->i', M)", "T(i) = M(i, i)"),
            // Choices and loops.
            ("y(i) = x(i) if x(i) > 0 else 0", "y(i) = select(x(i) > 0, x(i), 0)"),
            ("y[i] = x[i] > 0 ? x[i] : 0;", "y(i) = select(x(i) > 0, x(i), 0)"),
            ("Y(i, j) = X(i, j) + 1 if M(i, j)", "Y(i, j) = X(i, j) + 1 where M(i, j)"),
            ("if (m[i]) y[i] = x[i];", "y(i) = x(i) where m(i)"),
            ("y(i) = np.maximum(x(i), 0)", "y(i) = max(x(i), 0)"),
            ("y(i) = 0 < x(i) < 1", "y(i) = 0 < x(i) && x(i) < 1"),
            ("for i in range(n): y[i] = A[i, i]**2", "y(i) = pow(A(i, i), 2)"),
            ("for i in 0..n { for j in 0..m { y[i] += A[i][j] * x[j]; } }", "y(i) += A(i, j) * x(j)"),
            (
                "for (int i = 0; i < n; i++) { for (int j = 0; j < m; ++j) y[i] += A[i][j] * x[j]; }",
                "y(i) += A(i, j) * x(j)",
            ),
            ("for i = 1:n, j = 1:m\n    y[i] += A[i, j] * x[j]\nend", "y(i) += A(i, j) * x(j)"),
            ("for i in range(n):\n    for j in range(m):\n        y[i] += A[i, j] * x[j]\n", "y(i) += A(i, j) * x(j)"),
            (
                "@finch begin\n    y .= 0\n    for j=_, i=_\n        y[i] += A[i, j] * x[j]\n    end\nend",
                "y(i) += A(i, j) * x(j)",
            ),
            ("double s = 0; for (int i = 0; i < n; i++) s += x[i] * z[i];", "s += x(i) * z(i)"),
            ("y = np.einsum('ij,j->i', A, x, optimize=True)", "y(i) = A(i, j) * x(j)"),
            ("C = A^T @ B", "C(i, j) = A(k, i) * B(k, j)"),
            ("B = A^-1", "no translation"),
            ("y(i) ← A(i, j) * x(j)", "y(i) = A(i, j) * x(j)"),
            // Formats inside of expressions.
            ("y(i) = A:csr(i, j) * x(j)", "y(i) = A(i, j) * x(j)"),
            ("y(i) = A(i, j):csr * x(j)", "y(i) = A(i, j) * x(j)"),
            ("y(i) = A:bcsr(4)(i, j) * x(j)", "y(i) = A(i, j) * x(j)"),
        ] {
            assert_eq!(line(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_such_statement_has_no_translation() {
        for text in [
            "",
            "y(i",
            "a(i) = b(i) c(i)",
            "Y(i,r) = X(i,j,k) * U(k,r",
            "B(i, j) = A(i, j) = 3",
            "y(i) = A(i, j) * x(j)",
            "for",
            "for i in range(n):",
            "y[1:3] = x[2:4]",
            "y(i) = 'text'",
            "einsum",
            "np.einsum('ij,j->i', A)",
            "ij,j->k",
            "y =",
            "((((((((((",
            "a,b,c",
            "x",
            "'",
            "y(i) = A(i, j) *",
            "fn f",
            "ij->ii",
        ] {
            assert_eq!(line(text), "no translation", "{text}");
        }
    }

    #[test]
    fn formats_beside_tensors_are_kept() {
        let formats = |text: &str| translated(text).map(|found| found.formats).unwrap_or_default();
        let pair = |name: &str, format: &str| (name.to_owned(), format.to_owned());
        assert_eq!(formats("y(i) = A:csr(i, j) * x(j):[compressed]"), []);
        assert_eq!(formats("y:dense(i) = A(i, j):bcsr(4) * x(j)"), [pair("y", "dense"), pair("A", "bcsr(4)")]);
        assert_eq!(formats("y[i] = A[i, j] * x[j]"), []);
    }
}
