//! The pages of the reference that are made of tables of the compiler: grammar, levels, directives, words and codes.
//!
//! `INSTA_UPDATE=always cargo test -p spc-tensor-compiler --test main reference` writes them anew.

use spc_compiler::diagnostics::codes;
use spc_compiler::format::LevelFormat;
use spc_compiler::ir::{self, OPERATIONS, Operation};
use spc_compiler::level;
use spc_compiler::schedule::{Options, schedule};
use spc_compiler::topics::{self, Kind, Topic, directives};
use spc_compiler::{compile, notation, syntax};
use std::fmt::Write;

fn assert_page(name: &str, text: &str) {
    crate::assert_made(&format!("../docs/reference/{name}.md"), text, "reference");
}

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

#[test]
fn the_grammar_is_that_of_the_parser() {
    let grammar = include_str!("../src/syntax/grammar.pest");
    assert_page(
        "grammar",
        &format!(
            "# Grammar

The grammar that `spc` parses texts by, in the notation of [pest](https://pest.rs): `~` is a sequence, `|` an ordered choice, `*`, `+` and
`?` repeat, `!` looks ahead. The [language](language.md) says what texts mean.

<!-- not run: it is a grammar -->
```pest
{grammar}```
"
        ),
    );
}

const LEVELS: &str = "\
# Levels

A [format](formats.md) has a level for each coordinate that it stores. A level says how the coordinates under each position of the level
above are stored, and what loops can do with it:

* **locate**: find a coordinate without a search;
* **iterate**: go over the coordinates that are stored, in order;
* **probe**: ask whether a coordinate has an entry;
* **copy**: none of these. Loops read a plain copy, which is made before. So they do of what is `unordered`, `hashed` or `delta`, unless it
  is the only sparse operand of a dense result, which takes entries in any order.

Results in all but the first three kinds of level are converted when they are complete.

| level | stores, under each parent | loops |
|---|---|---|
";

#[test]
fn the_levels_are_those_of_the_compiler() {
    let mut page = LEVELS.to_owned();
    for level in level::ALL {
        let kind = level.kind();
        let format = LevelFormat::new(kind);
        let loops = match () {
            () if level::is_located(format) => "locate",
            () if level::is_walked(format) => "iterate",
            () if level::is_probed(format) => "probe",
            () => "copy",
        };
        writeln!(page, "| [`{0}`](#{0}) | {1} | {loops} |", kind.name, cell(kind.summary)).unwrap();
    }
    for topic in of_kind(Kind::Level) {
        write!(page, "\n## {}\n\n{}\n", topic.name, topic.text.trim_end()).unwrap();
    }
    assert_page("levels", &page);
}

const DIRECTIVES: &str = "\
# Directives

A `schedule` block behind the body of a kernel overrides the scheduler. What the block leaves open, the scheduler decides. A directive
that can't be kept is refused, with the reason. `spc explain` says what came of it. `spc compile --emit schedule` prints the complete
schedule, each directive with its reason; this text asks for the same loops again. In a program of several statements, `on y { … }` is about
the statement that makes `y`. The directives are in the terms of Senanayake, Hong, Wang, Wilson, Chou, Kamil, Amarasinghe and Kjolstad, *A
Sparse Iteration Space Transformation Framework for Sparse Tensor Algebra*, 2020.

```spc
fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }
schedule { split(i, i0, i1, 4); split(r, r0, r1, 8); reorder(i0, r0, i1, j, r1); parallel(i0); vector(r1); }
```

| directive | asks for |
|---|---|
";

#[test]
fn the_directives_are_those_of_the_compiler() {
    let mut page = DIRECTIVES.to_owned();
    for directive in directives::ALL {
        writeln!(page, "| `{}` | {} |", directive.example, cell(directive.asks)).unwrap();
    }
    for directive in directives::ALL {
        write!(page, "\n## {}\n\n```spc\n{}\n```\n", directive.name, directive.kernel.trim_end()).unwrap();
    }
    assert_page("directives", &page);
}

const STATEMENTS: &str = "\
# The loop IR

The loops of a kernel, before they become Rust, C, machine code or CUDA: `spc compile --emit ir FILE` prints them. A kernel declares dimensions, tensors, arrays and
variables. Its body is a list of statements. Expressions have no effect. `compiler/src/ir/verify.rs` has the rules that a kernel keeps; in debug builds they are
checked after each pass.

| part of a statement | |
|---|---|
| `expr` | an expression, which it evaluates |
| `declares`, `changes` | a variable that it declares, or gives another value |
| `makes` | a local array, to the end of the block |
| `reads`, `writes`, `appends` | an array whose elements it reads, writes, or to which it appends |
| `sets` | a set of keys that it changes |
| `shares` | an array that chunks of a parallel loop share |
| `block`, `branches`, `otherwise` | statements in it |
| `nested` | all that its clauses have: expressions, variables, arrays and statements |

A function of a GPU has the statements of `device`. In place of those of `loops` it has loops, or is launched. Those of `host` are for a processor: a kernel with one
of them that no mapping replaces is refused for a GPU.

| statement | parts | on a GPU |
|---|---|---|
";

/// Kernels that have all statements.
const KERNELS: &[&str] = &[
    "fn spmm(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }",
    "fn spgemm(A: csr, B: csr) -> C: csr { C(i, k) = A(i, j) * B(j, k); }",
    "fn add(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }",
    "fn product(A: csr, B: csr, C: csr) -> y: dense { y(i) = A(i, j) * B(i, j) * C(i, j); }",
    "fn scale(A: csr) -> B: csr { B(i, j) = 2 * A(i, j); }",
    "fn sum(A: coo) -> y: dense { y(j) = A(i, j); }",
    "fn largest(A: csr) -> y: dense { y(i) max= A(i, j); }",
    "fn dot(a: dense, b: dense) -> s: f64 { s = a(i) * b(i); }",
    "fn rows(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }",
    "fn mttkrp(X: csf, B: dense, C: dense) -> Y: dense { Y(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    "fn rank_16(X: alto, B: dense, C: dense) -> Y: dense { Y(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
    "fn blocks(X: coo, U: dense) -> Y: [compressed, dense] { Y(i, r) = X(i, j) * U(j, r) where r < i; }",
    "fn inner(A: csr, B: dcsr) -> C: dense { C(i, k) = A(i, j) * B(k, j); }",
    "fn halves(A: coo) -> B: csr { B(i, j / 2) += A(i, j); }",
    "fn ttm(X: coo, U: csr) -> Y: csf { Y(i, r, k) = X(i, j, k) * U(j, r); }",
];

#[test]
fn the_statements_are_those_of_the_loop_ir() {
    let mut page = STATEMENTS.to_owned();
    for Operation { keyword, parts, device, .. } in OPERATIONS {
        let parts = parts.replace('\n', " ");
        let parts = parts.split(',').map(str::trim).collect::<Vec<_>>().join(", ");
        writeln!(page, "| [`{keyword}`](#{keyword}) | {parts} | {device} |").unwrap();
    }
    let kernels: Vec<ir::Kernel> = KERNELS.iter().flat_map(|text| lowered(text)).collect();
    let source = include_str!("../src/ir/mod.rs");
    let mut missing = Vec::new();
    for operation in OPERATIONS {
        write!(page, "\n## {}\n\n{}\n", operation.keyword, meaning(source, operation.name)).unwrap();
        match kernels.iter().find_map(|kernel| example(kernel, operation.keyword)) {
            Some(example) => {
                page.push('\n');
                example.lines().for_each(|line| writeln!(page, "    {line}").unwrap());
            }
            None => missing.push(operation.keyword),
        }
    }
    assert_eq!(missing, [""; 0], "no kernel has them");
    assert_page("ir", &page);
}

/// The loops of the kernels of a text as they were lowered, and behind the passes.
fn lowered(text: &str) -> Vec<ir::Kernel> {
    let program = syntax::parse_program(text).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
    let mut all = Vec::new();
    for kernel in &kernels {
        let mut program =
            schedule(kernel, Options::default()).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        if kernel.name == "rank_16" {
            let extents = program.interface.extents_called("r").expect("it has a rank");
            extents.into_iter().for_each(|extent| program.set_size(extent, ir::Size::Constant(16)));
        }
        let compiled = compile(program).unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        all.extend(compiled.kernels.iter().map(|kernel| ir::Kernel::clone(&kernel.kernel)));
    }
    all
}

/// The documentation of a statement in the source.
fn meaning(source: &str, name: &str) -> String {
    let body = source.split("pub enum Statement {").nth(1).expect("statements are an enumeration");
    let mut lines: Vec<&str> = Vec::new();
    for line in body.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            lines.push(text.trim());
        } else if line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', ' ', ','])) {
            return lines.join(" ").replace("[`", "`").replace("`]", "`").replace("`Statement::", "`");
        } else {
            lines.clear();
        }
    }
    panic!("{name} is no statement")
}

/// The first statement of a kind in a kernel, as text, without what is deep inside.
fn example(kernel: &ir::Kernel, keyword: &str) -> Option<String> {
    let mut found = None;
    kernel.body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if found.is_none() && statement.keyword() == keyword {
                found = Some(kernel.show(statement).to_string());
            }
        });
    });
    let text = found?;
    let lines: Vec<&str> = text.trim_end().lines().collect();
    match lines.len() {
        0..=MOST => Some(lines.join("\n")),
        _ => Some(format!("{}\n  …\n}}", lines[..MOST - 2].join("\n"))),
    }
}

/// The most lines of an example.
const MOST: usize = 14;

const WORDS: &str = "\
# Words of the language

`spc explain WORD` prints the same. The [language](language.md) says how they go together, the [glossary](../glossary.md) has terms of the
field.
";

#[test]
fn the_words_are_those_of_the_compiler() {
    let mut page = WORDS.to_owned();
    for (kind, head) in [
        (Kind::Word, "Words"),
        (Kind::ElementType, "Element types"),
        (Kind::Reduction, "Reductions"),
        (Kind::Function, "Functions"),
    ] {
        write!(page, "\n## {head}\n").unwrap();
        for topic in of_kind(kind) {
            let others = match topic.others {
                [] => String::new(),
                others => format!(
                    " Also: {}.",
                    others.iter().map(|other| format!("`{other}`")).collect::<Vec<_>>().join(", ")
                ),
            };
            write!(page, "\n### `{}`\n\n{}\n", topic.name, topic.text.trim_end()).unwrap();
            if !others.is_empty() {
                write!(page, "\n{}\n", others.trim()).unwrap();
            }
        }
    }
    assert_page("words", &page);
}

const CODES: &str = "\
# Codes of messages

`spc explain CODE` prints the same. Codes that begin with E are errors, those with W are warnings, which `--strict` makes errors.

| code | |
|---|---|
";

#[test]
fn the_codes_are_those_of_the_compiler() {
    let mut page = CODES.to_owned();
    for entry in codes::all() {
        let code = entry.code.to_string();
        writeln!(page, "| [{code}](#{}) | {} |", code.to_lowercase(), cell(entry.title)).unwrap();
    }
    for entry in codes::all() {
        write!(page, "\n## {}\n\n**{}.** {}\n", entry.code, entry.title, entry.explanation.trim()).unwrap();
    }
    for (old, new) in codes::RETIRED {
        write!(page, "\n{old} is reported no more: {new} says it.\n").unwrap();
    }
    assert_page("codes", &page);
}

fn of_kind(kind: Kind) -> Vec<Topic> {
    topics::all().into_iter().filter(|topic| topic.kind == kind).collect()
}
