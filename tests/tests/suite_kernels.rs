//! The kernels of the benchmark suites, all of them: see [`spc_tests::suite`].

use spc_compiler::backend::rust;
use spc_compiler::ir::{Kernel, Verified};
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::report::check_all;
use spc_tests::{native, suite};
use std::fs;
use std::process::Command;

/// How many kernels are also compiled and run by themselves, evenly spread over all.
const SAMPLE: usize = 24;

fn ready(case: &Case) -> Result<Ready, String> {
    Ready::new(case).map_err(|stop| format!("{stop:?}"))
}

fn compiled(case: &Case) -> Verified<Kernel> {
    ready(case).unwrap_or_else(|error| panic!("{}: {error}", case.name)).compiled.kernel
}

#[test]
fn the_interpreter_does_what_the_oracle_says() {
    check_all(
        &suite::cases(),
        |case| &case.name,
        |case| {
            let ready = ready(case)?;
            (1..=2).try_for_each(|seed| ready.interpret(seed))
        },
    );
}

/// Each kernel with one mode of extent 0, and with one of extent 1.
#[test]
fn the_interpreter_does_what_the_oracle_says_of_extents_zero_and_one() {
    let mut cases = Vec::new();
    for (place, case) in suite::cases().into_iter().enumerate() {
        for extent in [0, 1] {
            let mut case = case.clone();
            case.name += &format!(" with extent {extent}");
            case.data.remove("X");
            case.data.remove("Y");
            let dims = case.dims.len();
            case.dims[(place + extent) % dims].1 = extent;
            cases.push(case);
        }
    }
    check_all(&cases, |case| &case.name, |case| ready(case)?.interpret(1));
}

#[test]
fn every_combination_is_there_once() {
    let names: std::collections::BTreeSet<String> = suite::cases().into_iter().map(|case| case.name).collect();
    let count = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
    let modes = 3 + 4 + 5;
    assert_eq!([count("ttv"), count("ttm_s"), count("ttm_d"), count("mttkrp")], [modes * 4; 4]);
    assert_eq!([count("spmv"), count("spmm"), count("sddmm")], [8; 3]);
    assert_eq!([count("add"), count("subtract"), count("multiply"), count("divide")], [48, 48, 48, 24]);
    assert_eq!(names.len(), suite::cases().len());
    assert_eq!(names.len(), 384);
}

/// A function that first uses all its parameters: of those, a kernel has one for each array of its tensors, needed or not.
fn using_parameters(function: &str) -> String {
    let start = function.find("pub fn").expect("a function has a head");
    let (head, body) = function[start..].split_once(") {\n").expect("a function has a body");
    let (_, parameters) = head.split_once('(').expect("a function has parameters");
    let names = parameters.split(',').filter_map(|parameter| parameter.split_once(": ")).map(|(name, _)| name.trim());
    let uses: String = names.map(|name| format!("_ = &{name};\n")).collect();
    format!("{head}) {{\n{uses}{body}")
}

/// In one run of rustc, which has no warning either: none of the kernels has a dead temporary or needless parentheses.
#[test]
fn rustc_takes_all_of_them_without_a_warning() {
    let kernels: Vec<String> =
        suite::cases().iter().map(|case| using_parameters(&rust::text(&compiled(case)))).collect();
    let text = format!(
        "#![deny(warnings)]\n\
         #[forbid(unsafe_code)] #[allow(non_snake_case)] pub mod kernels {{\nuse crate::parallel;\n{}\n}}\n\
         #[allow(dead_code)] pub mod parallel {{\n\
         pub use chunks::*;\n\
         pub fn threads() -> usize {{ 1 }}\n\
         pub fn run_all(count: usize, body: &(dyn Fn(usize) + Sync)) {{ (0..count).for_each(body); }}\n\
         mod chunks {{\n{}\n}}\n}}\n",
        kernels.join("\n"),
        include_str!("../../runtime/src/parallel/chunks.rs"),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kernels.rs");
    fs::write(&file, text).expect("the file can be written");
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--out-dir"])
        .arg(folder.path())
        .arg(&file)
        .output()
        .expect("rustc can be called");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn native_code_does_what_the_oracle_says() {
    if native::in_own_cache("native_code_does_what_the_oracle_says", env!("CARGO_TARGET_TMPDIR")) {
        return;
    }
    let cases = suite::cases();
    let sample: Vec<&Case> = cases.iter().step_by(cases.len().div_ceil(SAMPLE)).collect();
    check_all(&sample, |case| &case.name, |case| native::check(&ready(case)?));
}
