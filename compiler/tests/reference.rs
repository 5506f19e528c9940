//! The pages of the reference that are made of tables of the compiler: grammar, levels, directives, words and codes.
//!
//! `INSTA_UPDATE=always cargo test -p spc-tensor-compiler --test main reference` writes them anew.

use spc_compiler::diagnostics::codes;
use spc_compiler::format::LevelFormat;
use spc_compiler::level;
use spc_compiler::topics::{self, Kind, Topic, directives};
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
