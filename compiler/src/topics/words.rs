//! Words of the language.

use super::{Kind, Topic};

/// A kind, a word, other words for the same, what it is in a line, and more; examples are indented.
pub(super) type Row = (Kind, &'static str, &'static [&'static str], &'static str, &'static str);

pub(super) fn topics() -> Vec<Topic> {
    of_rows(ROWS)
}

/// The topics of rows.
pub(super) fn of_rows(rows: &[Row]) -> Vec<Topic> {
    let topic = |&(kind, name, others, summary, more): &Row| {
        let mut first = summary.to_owned();
        if let Some(letter) = first.get(..1).map(str::to_uppercase) {
            first.replace_range(..1, &letter);
        }
        let text = format!("{first}.{}{}\n", if more.starts_with('\n') { "\n" } else { " " }, more.trim_end());
        Topic {
            kind,
            name: name.to_owned(),
            others,
            summary: summary.to_owned(),
            text: text.trim_end().to_owned() + "\n",
        }
    };
    rows.iter().map(topic).collect()
}

const ROWS: &[Row] = &[
    (
        Kind::Word,
        "fn",
        &["kernel", "function"],
        "a kernel: parameters, results behind `->`, and statements; with `=`, a function of values",
        "
    fn relu(v) = select(v > 0, v, 0);
    fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
    fn two(A: csr, x: dense) -> (y: dense, n: f64) { y(i) = A(i, j) * x(j); n = y(i) * y(i); }
",
    ),
    (
        Kind::Word,
        "monoid",
        &["with"],
        "an operator of reductions that a text declares: what it makes of two values, and the value that changes nothing",
        "`NAME(j)(…)` reduces by it, and `NAME=` updates. It must be commutative and associative, which is tried on sample values. A \
function of values is defined by `fn NAME(…) = …;`: a call stands for the expression in parentheses.

    fn log1p(v) = ln(1 + v);
    monoid lse(a, b) = select(a == b, a + ln(2), max(a, b) + log1p(exp(-abs(a - b)))) with -inf;
    fn rows(A: csr fill -inf) -> y: dense { y(i) = lse(j)(A(i, j)); }
",
    ),
    (
        Kind::Word,
        "format",
        &[],
        "how a tensor is stored: which coordinate each level holds, and how; as a word of the language, the definition of one",
        "`spc formats` lists those that every program has.

    format blocks(B) = (i, j) -> [i / B: dense, j / B: compressed, i % B: dense, j % B: dense];
    fn spmv(A: blocks(4), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
",
    ),
    (
        Kind::Word,
        "let",
        &["temporary"],
        "a temporary: something that a statement makes and later ones read",
        "It is not made where what it is can stand where it is read without more work.

    fn normalize(x: dense) -> y: dense { let n = x(i) * x(i); y(i) = x(i) / sqrt(n); }
",
    ),
    (
        Kind::Word,
        "where",
        &["mask"],
        "a mask: the statement computes only at the stored coordinates of a tensor, or where indices compare so",
        "
    fn shift(X: csr, alpha: f64) -> Y: csr { Y(i, j) = X(i, j) + alpha where X(i, j); }

Comparisons of indices choose coordinates too, alone or joined by `&&`, `||` and `!`. A sparse result stores nothing where they do not
hold.

    fn triangles(A: csr) -> (L: csr, t: f64) {
        L(i, j) = A(i, j) where i > j;
        t += A(i, j) * A(j, k) * A(i, k) where i < j && j < k;
    }
",
    ),
    (
        Kind::Word,
        "schedule",
        &[],
        "how loops run: a block of directives behind a kernel's body",
        "Without one the compiler decides. `spc explain FILE` says what was decided, and why.

    fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }
    schedule { split(i, i0, i1, 4); parallel(i0); vector(r); }
",
    ),
    (
        Kind::Word,
        "pub",
        &[],
        "in the macro, a function that others see",
        "It stands before `fn`, as in Rust; elsewhere it changes nothing.",
    ),
    (
        Kind::Word,
        "fill",
        &["fill value", "background"],
        "the fill value: what a missing entry is, zero where nothing is said",
        "A result begins as its fill value, so elements that no index reaches hold it.

    fn step(G: csr fill inf, d: dense) -> e: dense { e(j) min= d(i) + G(i, j); }
",
    ),
    (
        Kind::Word,
        "nnz",
        &["hint", "hints"],
        "a hint behind a format: about how many entries the tensor stores",
        "So `fibers` says how many fibers of the mode that is stored last have entries (of a `csr` matrix, the rows that are not empty), \
         and `extent(…)` how large each mode is. Plans that are made without the data, as by `tensor_kernel!`, are for these \
         figures. They change no result, and they fix nothing: inputs of other sizes are taken, too.

    fn ttmc(X: csf nnz 1e6 fibers 2e4 extent(900, 900, 500), V: dense extent(900, 16), W: dense extent(500, 16)) -> Y: dense {
        Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r);
    }
",
    ),
    (Kind::Word, "true", &["false"], "a truth value, an element of `bool`", ""),
    (
        Kind::Word,
        "+=",
        &["*=", "min=", "max=", "|=", "&=", "update"],
        "an assignment that reduces values into an element: `+=`, `*=`, `min=`, `max=`, `|=`, `&=`",
        "The first one into a result assigns; one after it updates what is there.

    fn polynomials(a: dense, b: dense) -> c: dense { c(i + j) += a(i) * b(j); }
",
    ),
    (
        Kind::Word,
        "extent",
        &["shape", "dimension"],
        "how many indices a mode has; the extents of all modes are the shape",
        "The extent of an index follows from the operands; `--dim r=16` states it. In the map of a format, `extent(j)` is that of a mode.

    format linear_rows = (i, j) -> [i * extent(j) + j: compressed(u64)];
",
    ),
    (
        Kind::Word,
        "linear",
        &[],
        "in the map of a format, one number for several coordinates, row-major",
        "
    format numbers = (i, j) -> [linear(i, j): compressed(u64)];
",
    ),
    (
        Kind::Word,
        "interleave",
        &["morton"],
        "in the map of a format, the bits of several coordinates in turn",
        "Entries that are near in all modes are then near in memory (Morton 1966). In parentheses of `compressed(nonunique)`, `morton` \
sorts a chain of coordinates by these bits.

    format bits = (i, j) -> [interleave(i, j): compressed(u64)];
",
    ),
    (Kind::Word, "nonunique", &["unique"], "of a level, that a coordinate may occur several times under one parent", "The levels of `coo` are such: each entry has its own row coordinate, also where rows are equal."),
    (Kind::Word, "unordered", &["ordered"], "of a level, that coordinates under one parent are in no order", "Loops read a transposed copy, unless it is the only sparse operand of a dense result."),
];
