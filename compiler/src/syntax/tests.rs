use super::*;
use crate::diagnostics::{Code, codes::syntax as codes};

/// A tree without its spans, to compare.
fn shape(tree: &impl std::fmt::Debug) -> String {
    let text = format!("{tree:?}");
    let mut result = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("Span {") {
        result.push_str(&rest[..start]);
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        rest = &rest[end..];
    }
    result + rest
}

fn program(text: &str) -> Program {
    parse_program(text).unwrap_or_else(|problems| panic!("{text}\n{:#?}", problems.into_sorted()))
}

/// A kernel around one statement.
fn kernel(statement: &str) -> String {
    format!("fn f(X: csf) -> A: dense {{ {statement} }}")
}

/// The codes of the errors of a text, by position.
fn codes_of(text: &str) -> Vec<Code> {
    parse_program(text)
        .err()
        .map_or(Vec::new(), |problems| problems.into_sorted().into_iter().map(|problem| problem.code).collect())
}

/// The text that the one error of a statement underlines, and its message.
fn error_of(statement: &str) -> (String, String) {
    let text = kernel(statement);
    let problems = parse_program(&text).expect_err(statement).into_sorted();
    let [problem] = problems.as_slice() else { panic!("{problems:#?}") };
    (text[problem.span.start..problem.span.end].to_owned(), problem.message.clone())
}

/// Prints canonical text and reads it back.
fn round_trip(text: &str) -> String {
    let tree = program(text);
    let printed = tree.to_string();
    assert_eq!(shape(&program(&printed)), shape(&tree), "{printed}");
    assert_eq!(program(&printed).to_string(), printed);
    printed
}

#[test]
fn the_design_s_examples_parse() {
    let text = "
/// Mode-1 MTTKRP of a third-order tensor.
fn mttkrp(X: csf, B: dense, C: dense) -> A: dense {
    A(i, r) = X(i, j, k) * B(j, r) * C(k, r);
}
/// Sparse tensor times dense matrix; the result is semi-sparse.
fn ttm(X: coo, U: dense) -> Y: [compressed(nonunique), singleton, dense] {
    Y(i, j, r) = X(i, j, k) * U(k, r);
}
format bcsr(B) = (i, j) -> [i / B: dense, j / B: compressed, i % B: dense, j % B: dense];
format coo = (i, j...) -> [i: compressed(nonunique), j...: singleton(nonunique, pos = u64)];
pub(crate) fn spmm(A: f32 bcsr(4), X: f32 dense) -> Y: f32 dense { Y(i, r) = A(i, j) * X(j, r); }
pub fn all(x: (i, j) -> [j: dense, i: compressed], alpha: f64) -> (A: dense, B: csr,) {
    let T(i, j) = select(x(i, j) > 0 && !(alpha == 1), -x(i, j), 1e-3) where x(i, j);
    A(i, j) min= T(2*i + k, 3..7) - alpha;
    A(i, i) |= any(j, k)(T(i, j) < 0x10 + i) || all(k)(true);
    B(i, j) += sum(k)(min(x(i, k), 1_000f32));
    alpha *= prod(k)(x(k, k)); alpha max= 2.; alpha &= 3;
} schedule { reorder(i, k, j); split(k, k0, k1, 32); precompute(A(i, j) * 2, i, iw); }
";
    insta::assert_snapshot!(round_trip(text));
}
