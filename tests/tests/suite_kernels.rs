//! More of the suites' kernels: in single precision, over modes of extent 0 and 1, and what rustc says of all.

use spc_compiler::backend::rust;
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::harness::options;
use spc_tests::report::check_all;
use spc_tests::{corpus, suite};
use std::fs;
use std::process::Command;

#[path = "../../runtime/src/parallel/text.rs"]
mod helpers;

/// In the usual tier, every so many-th kernel of a table.
const SHARE: usize = 4;

/// The kernels of a table that run.
fn chosen(cases: Vec<Case>) -> Vec<Case> {
    options().sample(cases, SHARE)
}

fn ready(case: &Case) -> Result<Ready, String> {
    Ready::new(case).map_err(|stop| format!("{stop:?}"))
}

fn single_precision_is_right_in_the_interpreter() {
    let cases = suite::single_precision();
    assert_eq!(cases.len(), 48 + 48 + 66);
    check_all(
        &chosen(cases),
        |case| &case.name,
        |case| {
            let ready = ready(case)?;
            (1..=2).try_for_each(|seed| ready.interpret(seed))
        },
    );
}

fn complex_numbers_are_right_in_the_interpreter() {
    let cases = suite::complex();
    assert_eq!(cases.len(), 4 * (11 + 3 * 4) + 2 + 3);
    check_all(&chosen(cases), |case| &case.name, |case| ready(case)?.interpret(1));
}

/// From formats of every kind of level, and into them.
fn every_kind_of_level_is_right_in_the_interpreter() {
    let cases = suite::formats(suite::LEVEL_FORMATS);
    assert_eq!(cases.len(), 26 * suite::LEVEL_FORMATS.len());
    check_all(&chosen(cases), |case| &case.name, |case| ready(case)?.interpret(1));
}

/// From every format of the literature, and into it.
fn every_format_of_the_literature_is_right_in_the_interpreter() {
    let cases = suite::formats(suite::MAP_FORMATS);
    assert_eq!(cases.len(), 26 * suite::MAP_FORMATS.len());
    check_all(&chosen(cases), |case| &case.name, |case| ready(case)?.interpret(1));
}

/// Each kernel with one mode of extent 0, and with one of extent 1.
fn extents_zero_and_one_are_right_in_the_interpreter() {
    let mut cases = Vec::new();
    for (place, case) in suite::cases().into_iter().enumerate() {
        for extent in [0, 1] {
            let mut case = case.clone();
            let dims = case.dims.len();
            let (index, size) = &mut case.dims[(place + extent) % dims];
            *size = extent;
            case.name += &format!(" with {index}={extent}");
            cases.push(case);
        }
    }
    check_all(&chosen(cases), |case| &case.name, |case| ready(case)?.interpret(1));
}

/// A function under another name that first uses all its parameters: of those, a kernel has one for each array of its
/// tensors, needed or not.
fn using_parameters(function: &str, name: &str) -> String {
    let start = function.find("pub fn").expect("a function has a head");
    let (head, body) = function[start..].split_once(") {\n").expect("a function has a body");
    let (_, parameters) = head.split_once('(').expect("a function has parameters");
    let names = parameters.split(',').filter_map(|parameter| parameter.split_once(": ")).map(|(name, _)| name.trim());
    let uses: String = names.map(|name| format!("_ = &{name};\n")).collect();
    format!("pub fn {name}({parameters}) {{\n{uses}{body}")
}

/// Warnings that some kernels get all the same: each is something to improve in the generated code.
const WARNINGS: &[(&str, &str)] = &[
    // Rows are pushed for parents that have no coordinate.
    ("regressions/permuted_dense_levels", "unused_variables"),
    // Where an operand of bytes is missing, the comparison is with zero.
    ("types/u8_values", "unused_comparisons"),
];

/// The kernels of one run of rustc: what it takes for many in one crate grows faster than their number.
const CRATE: usize = 100;

/// None of the kernels has a dead temporary or needless parentheses.
fn rustc_takes_all_without_a_warning() {
    let mut cases = suite::cases();
    cases.extend(suite::single_precision());
    cases.extend(corpus::cases().into_iter().filter(|case| case.refused.is_none()));
    let crates: Vec<&[Case]> = cases.chunks(CRATE).collect();
    check_all(&crates, |cases| &cases[0].name, |cases| rustc_takes(cases));
}

fn rustc_takes(cases: &[Case]) -> Result<(), String> {
    let kernel = |(number, case): (usize, &Case)| {
        let ready = ready(case).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let function = using_parameters(&rust::text(&ready.program.kernels[0].kernel), &format!("kernel_{number}"));
        let lint = WARNINGS
            .iter()
            .find(|(name, _)| *name == case.name)
            .map_or(String::new(), |(_, lint)| format!("#[allow({lint})] "));
        format!("// {}\n{lint}{function}", case.name)
    };
    let kernels: Vec<String> = cases.iter().enumerate().map(kernel).collect();
    let text = format!(
        "#![deny(warnings)]\n\
         #[forbid(unsafe_code)] #[allow(non_snake_case)] pub mod kernels {{\n#[allow(unused_imports)] use crate::complex::{{c32, c64}};\nuse crate::parallel;\n#[allow(unused_imports)] use crate::parallel::{{bf16, f16}};\n{}\n}}\n\
         #[allow(dead_code)] pub mod parallel {{\n\
         pub fn threads() -> usize {{ 1 }}\n\
         pub fn run_all(count: usize, body: &(dyn Fn(usize) + Sync)) {{ (0..count).for_each(body); }}\n\
         {}}}\n\
         pub mod complex {{\n{}\n}}\n",
        kernels.join("\n"),
        helpers::modules(
            spc_compiler::format::INTERLEAVE_TEXT,
            spc_compiler::ir::HALF_TEXT,
            spc_compiler::ir::NUMBERS_TEXT
        ),
        include_str!("../../runtime/src/execute/native/complex.rs"),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kernels.rs");
    fs::write(&file, &text).expect("the file can be written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(folder.path())
        .arg(&file)
        .output()
        .expect("rustc can be called");
    let message = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(format!("in {}: {message}", named(&text, &message))) }
}

/// The case whose kernel a message of rustc is about first.
fn named<'t>(text: &'t str, message: &str) -> &'t str {
    let line = message.split("kernels.rs:").nth(1).and_then(|place| place.split(':').next()?.parse().ok()).unwrap_or(0);
    let names = text.lines().take(line).filter(|line| line.starts_with("// "));
    names.last().unwrap_or("what they all use")
}

spc_tests::tests! {
    single_precision_is_right_in_the_interpreter,
    complex_numbers_are_right_in_the_interpreter,
    every_kind_of_level_is_right_in_the_interpreter,
    every_format_of_the_literature_is_right_in_the_interpreter,
    extents_zero_and_one_are_right_in_the_interpreter,
    [whole] rustc_takes_all_without_a_warning,
}
