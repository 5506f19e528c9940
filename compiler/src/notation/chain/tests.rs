//! Kernels of several statements, and the statements that are left of them.

use super::{Chain, chain};
use crate::{notation, syntax};

fn chained(text: &str, fuse: bool) -> Chain {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}"));
    chain(&kernels[0], fuse, usize::MAX)
}

/// The statements of the links.
fn links(chain: &Chain) -> Vec<String> {
    let statement = |link: &super::Link| link.kernel.statement(&link.kernel.statements[0]).to_string();
    chain.links.iter().map(statement).collect()
}

fn fused(text: &str) -> Vec<String> {
    links(&chained(text, true))
}

#[test]
fn a_sum_that_is_read_once_stands_where_it_is_read() {
    let text = "fn f(A: csr, x: dense, b: dense) -> n: f64 { let p(i) = A(i, j) * x(j); n = p(i) * b(i); }";
    assert_eq!(fused(text), ["n = sum(i)(sum(j)(A(i, j) * x(j)) * b(i));"]);
    assert_eq!(links(&chained(text, false)), ["p(i) = sum(j)(A(i, j) * x(j));", "n = sum(i)(p(i) * b(i));"]);
}

#[test]
fn a_sum_that_would_be_formed_again_is_made_first() {
    let text = "fn f(A: csr, x: dense) -> z: dense { let y(i) = A(i, j) * x(j); z(i) = A(i, j) * y(j); }";
    assert_eq!(fused(text), ["y(i) = sum(j)(A(i, j) * x(j));", "z(i) = sum(j)(A(i, j) * y(j));"]);
    assert!(chained(text, true).decisions[0].why.to_string().contains("inside of the loop over i"));
    let twice = "fn f(x: dense) -> (y: dense, z: dense) { let n = x(i) * x(i); y(i) = x(i) / n; z(i) = x(i) * n; }";
    assert_eq!(fused(twice).len(), 3);
    assert!(chained(twice, true).decisions[0].why.to_string().contains("read 2 times"));
}

#[test]
fn a_sum_over_each_row_is_formed_in_the_loop_over_rows() {
    let text = "fn f(A: csr) -> P: csr { let n(i) = A(i, j); P(i, j) = A(i, j) / n(i); }";
    assert_eq!(fused(text), ["P(i, j) = A(i, j) / sum(j_1)(A(i, j_1));"]);
    let by_columns = "fn f(A: csc) -> P: csc { let n(i) = A(i, j); P(i, j) = A(i, j) / n(i); }";
    assert_eq!(fused(by_columns).len(), 2);
}

#[test]
fn cheap_values_stand_everywhere_they_are_read() {
    let text = "fn f(x: dense, y: dense) -> (a: dense, b: f64) {
        let d(i) = x(i) - y(i);
        a(k) = d(k);
        b = d(i) * d(i);
    }";
    assert_eq!(fused(text), ["a(k) = x(k) - y(k);", "b = sum(i)((x(i) - y(i)) * (x(i) - y(i)));"]);
    let costly = text.replace("x(i) - y(i);", "exp(x(i) - y(i));");
    assert_eq!(fused(&costly).len(), 3);
}

#[test]
fn an_update_is_a_sum_with_what_was_there() {
    let text = "fn f(A: csr, B: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); y(k) += B(k, j) * x(j); }";
    assert_eq!(fused(text), ["y(k) = sum(j)(A(k, j) * x(j)) + sum(j_1)(B(k, j_1) * x(j_1));"]);
    let unfused = links(&chained(text, false));
    assert_eq!(unfused, ["y_1(i) = sum(j)(A(i, j) * x(j));", "y(k) = y_1(k) + sum(j)(B(k, j) * x(j));"]);
}

#[test]
fn a_mask_of_an_update_is_of_the_new_part_alone() {
    let text = "fn f(A: csr, B: csr, M: csr) -> C: csr { C(i, j) = A(i, j); C(i, j) += B(i, j) where M(i, j); }";
    assert_eq!(fused(text), ["C_part(i, j) = B(i, j) where M(i, j);", "C(i, j) = A(i, j) + C_part(i, j);"]);
}

#[test]
fn what_is_read_between_updates_is_what_was_there_then() {
    let text = "fn f(x: dense) -> (y: dense, z: dense) { y(i) = x(i); z(i) = y(i) * 3; y(i) += 1; z(i) += y(i); }";
    assert_eq!(fused(text), ["y(i) = x(i) + 1.0;", "z(i) = x(i) * 3.0 + y(i);"]);
}

#[test]
fn a_declared_format_asks_for_the_tensor() {
    let text = "fn f(A: csr, B: csr) -> C: csr { let T(i, j): csc = A(i, j) + B(i, j); C(i, j) = T(j, i); }";
    assert_eq!(fused(text).len(), 2);
    assert_eq!(chained(text, true).decisions[0].why.to_string(), "its format is declared");
}

#[test]
fn an_index_that_only_the_temporary_has_keeps_its_size() {
    let text = "fn f(x: dense) -> s: f64 { let T(i, k) = 2 * x(i); s = T(i, k); }";
    assert_eq!(fused(text).len(), 2);
}

#[test]
fn formats_follow_the_operands() {
    let format = |declared: &str, statement: &str| {
        let text = format!(
            "fn f({declared}) -> s: f64 {{ let {statement}; s = {}; }}",
            statement.split_once(" = ").expect("an assignment").0
        );
        let chain = chained(&text, false);
        chain.kernel.tensor(chain.kernel.statements[0].target.tensor).format.to_string()
    };
    for (declared, statement, expected) in [
        ("x: dense, y: dense", "T(i) = x(i) * y(i)", "[dense]"),
        ("A: csr, B: csr", "T(i, j) = A(i, j) + B(i, j)", "[dense, compressed]"),
        ("A: csr, x: dense", "T(i) = A(i, j) * x(j)", "[dense]"),
        ("A: coo, x: dense", "T(i) = A(i, j) * x(j)", "[dense]"),
        ("a: [compressed], b: [compressed]", "T(i) = a(i) * b(i)", "[compressed]"),
        ("A: csc", "T(i, j) = 2 * A(i, j)", "(i, j) -> [j: dense, i: compressed]"),
        ("X: csf, B: dense", "T(i, r) = X(i, j, k) * B(k, r)", "[compressed, dense]"),
        ("X: coo, B: dense", "T(i, j, r) = X(i, j, k) * B(k, r)", "[compressed, compressed, dense]"),
        ("X: coo", "T(i, j) = X(i, j) * 3", "[compressed(nonunique), singleton]"),
        ("A: csr", "T(i, j) = A(i, j) + 1", "[dense, compressed]"),
        ("A: csr, B: csr", "T(i, j) = A(i, k) * B(k, j)", "[dense, compressed]"),
        ("A: csr, x: dense", "T(i, j) = A(i, j) + x(j)", "[dense, dense]"),
    ] {
        assert_eq!(format(declared, statement), expected, "{statement} of {declared}");
    }
}

#[test]
fn a_sum_inside_a_sum_into_a_sparse_result_is_made_first() {
    let text = "fn f(A: csr, B: csr, D: csr) -> C: csr { C(i, j) = A(i, k) * sum(l)(B(k, l) * D(l, j)); }";
    let statements = ["C_part(k, j) = sum(l)(B(k, l) * D(l, j));", "C(i, j) = sum(k)(A(i, k) * C_part(k, j));"];
    assert_eq!(fused(text), statements);
    let chain = chained(text, true);
    assert_eq!(chain.links[0].kernel.tensors[2].format.to_string(), "[dense, compressed]");
    // Nothing is formed again.
    let whole = "fn f(A: csr, X: csf) -> C: csr { C(i, j) = A(i, j) * sum(k)(X(i, j, k)); }";
    assert_eq!(fused(whole).len(), 1);
    assert_eq!(fused(&text.replace("-> C: csr", "-> C: dense")).len(), 1);
}

#[test]
fn many_operands_are_several_statements() {
    let kernels = "fn f(a: [compressed], b: [compressed], c: [compressed]) -> y: dense { y(i) = a(i) + b(i) * c(i); }";
    let program = syntax::parse_program(kernels).unwrap_or_else(|problems| panic!("{problems:?}"));
    let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{problems:?}"));
    let narrow = chain(&kernels[0], true, 2);
    assert_eq!(links(&narrow), ["y_part(i) = b(i) * c(i);", "y(i) = a(i) + y_part(i);"]);
    assert_eq!(narrow.links[0].kernel.tensors[2].format.to_string(), "[compressed]");
    assert_eq!(links(&chain(&kernels[0], true, 3)).len(), 1);
}

#[test]
fn what_is_missing_in_a_temporary_is_what_its_value_is() {
    let text = "fn f(a: [compressed] fill inf, x: dense) -> y: dense {
        let t(i) = a(i) + 1;
        let n(i) = a(i) > x(i);
        y(i) = select(n(i), t(i), 0);
    }";
    let chain = chained(text, false);
    let [t, n] = [0, 1].map(|link| chain.links[link].kernel.tensors.last().expect("a result"));
    assert_eq!((t.fill.to_string(), t.format.to_string()), ("inff64".to_owned(), "[compressed]".to_owned()));
    assert_eq!((n.element.name(), n.format.to_string()), ("bool", "[dense]".to_owned()));
}
