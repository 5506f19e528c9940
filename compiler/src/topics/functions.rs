//! Functions, reductions and element types.

use super::{Kind, Topic};
use crate::ir::{Domain, ElementType, Function, ReduceOperator};

pub(super) fn topics() -> Vec<Topic> {
    let mut topics: Vec<Topic> = ReduceOperator::ALL.into_iter().map(reduction).collect();
    topics.extend(Function::ALL.into_iter().map(function));
    let topic = |name: &str, summary: &str, text: &str| Topic {
        kind: Kind::Function,
        name: name.to_owned(),
        others: &[],
        summary: summary.to_owned(),
        text: text.to_owned(),
    };
    topics.push(topic(
        "select",
        "the second value where the first, a condition, holds, else the third",
        "`select(condition, a, b)` is `a` where the condition holds, else `b`. Only what it chooses is computed.

    fn relu(x: dense) -> y: dense { y(i) = select(x(i) > 0, x(i), 0); }
",
    ));
    topics.push(topic("sign", "-1, 0 or 1", "`sign(a)` is -1, 0 or 1, and NaN of NaN.\n"));
    topics.push(topic(
        "stored",
        "whether a tensor has an entry",
        "`stored(A(i, j))` is true where `A` has an entry, whatever its value: explicit zeros are entries. Padding of blocks, diagonals, bands
and runs is no entry. A dense tensor has all. With it a pattern can be named, and used as a mask.

    fn pairs(X: csf) -> P: bool csr { P(i, j) = any(k)(stored(X(i, j, k))); }
",
    ));
    topics.push(topic(
        "extent",
        "how many values an index has",
        "`extent(k)` is the length of the modes that `k` is an index of, as a number of whatever type it is combined with.

    fn mean(A: csr) -> y: dense { y(i) = sum(k)(A(i, k)) / extent(k); }

In a computed index it is a factor or a term: a matricised tensor, whose columns are pairs of `j` and `k`, and a Kronecker product:

    fn unfold(X: csf) -> M: csr { M(i, j * extent(k) + k) = X(i, j, k); }

    fn kronecker(A: csr, B: csr) -> K: csr { K(i * extent(k) + k, j * extent(l) + l) = A(i, j) * B(k, l); }
",
    ));
    topics.push(summaries());
    topics.push(places());
    topics.extend(ElementType::ALL.into_iter().map(element));
    topics
}

/// The words that are made of several reductions.
fn summaries() -> Topic {
    Topic {
        kind: Kind::Function,
        name: "softmax".to_owned(),
        others: &["mean", "var", "norm2", "logsumexp"],
        summary: "what is made of several reductions: weights, a mean, a variance, a norm, the logarithm of a sum of exponentials"
            .to_owned(),
        text: "`mean(j)(…)`, `var(j)(…)`, `norm2(j)(…)`, `logsumexp(j)(…)` and `softmax(j)(…)` stand for several statements, which \
`--emit notation` shows. They are of all values; behind a mask, of its entries. The greatest value is taken off before `exp`, so that nothing \
overflows. `softmax` has the index that it is over, the others lack it.

    fn rows(S: csr) -> (P: csr, m: dense) {
        P(i, j) = softmax(j)(S(i, j)) where S(i, j);
        m(i) = mean(j)(S(i, j));
    }
"
        .to_owned(),
    }
}

fn reduction(operator: ReduceOperator) -> Topic {
    let (name, summary) = (operator.row().reduction, operator.row().summary);
    let tensors = if operator.row().domain == Domain::Bits { "bool " } else { "" };
    let assignment = format!("{operator}=");
    let text = format!(
        "`{name}(j, k)(…)` is {summary}: the variables stand in the first parentheses, and belong to it alone. As an assignment it is \
`{assignment}`. Sums over indices that only the right-hand side has need no word.

    fn rows(A: {tensors}csr) -> y: {tensors}dense {{ y(i) = {name}(j)(A(i, j)); }}
"
    );
    Topic { kind: Kind::Reduction, name: name.to_owned(), others: &[], summary: summary.to_owned(), text }
}

fn places() -> Topic {
    let summary = "the least index of a greatest or least value";
    let text = "`argmax(j)(…)` is the least `j` for which the value is `max(j)(…)`, and `argmin(j)(…)` that of `min(j)(…)`: a number of \
the type that is asked for there, of `i64` in a temporary. Missing entries count as they do for `max`. NaN is no greatest value; where there is none, \
the index is the largest number of its type. Places of several indices are numbered in rows, in the order in which the indices are named: \
`argmax(i, j)(…)` is the least `i * extent(j) + j`.

    fn nearest(D: csr fill inf) -> y: i64 dense { y(i) = argmin(j)(D(i, j)); }
    fn greatest(A: csr) -> n: i64 { n = argmax(i, j)(A(i, j)); }
";
    let text = text.to_owned();
    Topic { kind: Kind::Reduction, name: "argmax".to_owned(), others: &["argmin"], summary: summary.to_owned(), text }
}

fn function(function: Function) -> Topic {
    let name = function.name();
    let types: Vec<&str> = ElementType::ALL
        .into_iter()
        .filter(|element| function.is_defined(*element) && !element.is_stored_only())
        .map(ElementType::name)
        .collect();
    let arguments = ["a", "b", "c"][..function.arity().min(3)].join(", ");
    let summary = format!("`{name}({arguments})`, of {}", types.join(", "));
    let text =
        format!("`{name}({arguments})` is defined for values of {}, and computes as Rust does.\n", types.join(", "));
    Topic { kind: Kind::Function, name: name.to_owned(), others: &[], summary, text }
}

fn element(element: ElementType) -> Topic {
    let summary = element.summary();
    let name = element.name();
    let wider: Vec<String> =
        ElementType::ALL.into_iter().filter(|to| element.widens(*to)).map(|to| format!("`{to}`")).collect();
    let widened = match wider.as_slice() {
        [] => String::new(),
        wider => {
            format!(" Beside a value of {} it is converted to that type, which holds all its values.", wider.join(", "))
        }
    };
    if element.is_stored_only() {
        let computed = element.computed();
        let text = format!(
            "Elements of `{name}` are {summary}. It stands before a format, as in `X: {name} csr`; alone it declares a scalar, as in \
`alpha: {name}`. Parameters and results are stored so: they are read as `{computed}`, computed with as `{computed}`, and rounded to the \
nearest once, where a result is stored.\n"
        );
        return Topic {
            kind: Kind::ElementType,
            name: name.to_owned(),
            others: &[],
            summary: summary.to_owned(),
            text,
        };
    }
    let text = format!(
        "Elements of `{name}` are {summary}. It stands before a format, as in `X: {name} csr`; alone it declares a scalar, as in \
`alpha: {name}`; as a function, `{name}(…)`, it converts.{widened}\n"
    );
    Topic { kind: Kind::ElementType, name: name.to_owned(), others: &[], summary: summary.to_owned(), text }
}
