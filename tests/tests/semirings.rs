//! Reductions by every operator that has vector lanes, of every element type, in every form that rows are stored in, and as a
//! schedule asks for them: the interpreter and native code against the oracle. Rows have no entry, one, a few, as many as a vector
//! and one more, and a thousand.

use crate::corpus::{Batch, Chosen};
use spc::execute::Chain;
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::harness::{Skip, Suite};
use spc_tests::native;
use std::fmt::Write;

/// The entries of the rows.
const ROWS: [usize; 10] = [0, 1, 2, 7, 8, 9, 65, 1030, 0, 3];

/// The columns.
const COLUMNS: usize = 1031;

/// The formats of matrices: where rows lie one behind the other, side by side, filled up, and dense.
const FORMATS: [&str; 5] = ["csr", "[compressed, compressed]", "ell", "sell(8)", "dense"];

/// What is reduced: a name, the operator, the term, the element types, what is not stored, and values of entries.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str], &'static str, &'static [&'static str]);

/// What is reduced.
const REDUCTIONS: [Row; 8] = [
    ("plus_times", "+=", "A(i, j) * x(j)", &["f64", "f32", "i32", "u8"], "0", &["1", "2", "3", "5"]),
    ("min_plus", "min=", "A(i, j) + x(j)", &["f64", "f32"], "inf", &["1.5", "-2", "inf", "-inf", "7"]),
    ("max_plus", "max=", "A(i, j) + x(j)", &["f32"], "-inf", &["1.5", "-2", "-inf", "7"]),
    ("min_max", "min=", "max(A(i, j), x(j))", &["f64"], "inf", &["1.5", "-2", "inf", "7"]),
    ("max_min", "max=", "min(A(i, j), x(j))", &["f32"], "-inf", &["1.5", "-2", "-inf", "7"]),
    ("or_and", "|=", "A(i, j) && x(j)", &["bool"], "false", &["true", "false"]),
    ("bits", "|=", "A(i, j) & x(j)", &["i64", "u8"], "0", &["1", "2", "4", "96", "127"]),
    ("differences", "+=", "A(i, j) * (x(j) - 2)", &["f64", "i64"], "0", &["1", "2", "3"]),
];

/// What a schedule asks for, with the formats that have it.
const SCHEDULES: [(&str, &[&str]); 4] = [
    ("simd(j: none)", &["csr", "sell(8)"]),
    ("simd(j: lanes)", &["csr", "ell"]),
    ("simd(j: segmented)", &["csr"]),
    ("simd(j: side_by_side)", &["sell(8)"]),
];

/// The case of a reduction.
fn case(name: &str, kernel: &str, values: &[&str]) -> Case {
    let mut text = format!("// dims: i={} j={COLUMNS}\n// data A:", ROWS.len());
    for (row, entries) in ROWS.into_iter().enumerate() {
        for entry in 0..entries {
            let column = (entry * (COLUMNS / entries) + row) % COLUMNS;
            write!(text, " ({row}, {column})={}", values[(entry * 7 + row) % values.len()]).expect("it is text");
        }
    }
    text.push_str("\n// data x:");
    for column in 0..COLUMNS {
        write!(text, " ({column})={}", values[(column * 5 + 1) % values.len()]).expect("it is text");
    }
    write!(text, "\n{kernel}").expect("it is text");
    Case::parse(name, &text).expect("the header is as it should be")
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, operator, term, elements, fill, values) in REDUCTIONS {
        for (element, format) in elements.iter().flat_map(|element| FORMATS.map(|format| (element, format))) {
            let fill = if fill == "0" || fill == "false" { String::new() } else { format!(" fill {fill}") };
            let kernel = |schedule: &str| {
                format!(
                    "fn reduction(A: {element} {format}{fill}, x: {element} dense) -> y: {element} dense {{ y(i) {operator} {term}; }}\n{schedule}"
                )
            };
            cases.push(case(&format!("{name} {element} {format}"), &kernel(""), values));
            let is_sparse = !["max_plus", "min_max", "max_min", "differences"].contains(&name);
            for (directive, _) in SCHEDULES.iter().filter(|(_, formats)| is_sparse && formats.contains(&format)) {
                let schedule = format!("schedule {{ {directive}; }}");
                cases.push(case(&format!("{name} {element} {format} {directive}"), &kernel(&schedule), values));
            }
        }
    }
    for width in ["16", "7", "5", "64", "none"] {
        let kernel = format!(
            "fn product(A: csr, X: f32 dense) -> Y: dense {{ Y(i, r) = A(i, j) * X(j, r); }}\nschedule {{ register_tile(r, {width}); }}"
        );
        let kernel = kernel.replace("A: csr", "A: f32 csr").replace("Y: dense", "Y: f32 dense");
        for extent in [1, 7, 33] {
            let text = format!("// dims: i=6 j=9 r={extent}\n{kernel}");
            cases.push(Case::parse(&format!("tiles of {width} r={extent}"), &text).expect("the header is right"));
        }
    }
    cases
}

fn ready(case: &Case) -> Ready {
    Ready::new(case).unwrap_or_else(|stop| panic!("{}: {stop:?}", case.name))
}

fn compile(cases: &[Case]) -> Result<Vec<(Ready, Chain)>, Skip> {
    let all: Vec<Ready> = cases.iter().map(ready).collect();
    let chains = native::compile(&all.iter().collect::<Vec<_>>())?;
    Ok(all.into_iter().zip(chains).collect())
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    for case in cases() {
        suite.test(format!("semirings::interpreter {}", case.name), move || ready(&case).interpret(case.seed));
    }
    let cases: Vec<Chosen> = cases().into_iter().map(Chosen::from).collect();
    Batch::add_all(suite, "semirings::native", &cases, 40, compile, |(ready, chain)| ready.run(chain));
}
