//! The corpus, `cases/`, through every engine.

use spc_compiler::backend::rust;
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::native;
use spc_tests::report::check_all;
use std::fs;
use std::path::{Path, PathBuf};

/// One of so many cases runs natively, unless `SPC_NATIVE=all`: a kernel takes rustc about a second.
const NATIVE_STEP: usize = 4;

/// How many cases some engine skips. It should be none.
const SKIPS: usize = 0;

fn corpus() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut paths = Vec::new();
    find(&root, &mut paths);
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&root).expect("it is below").with_extension("");
        let text = fs::read_to_string(path).expect("a case can be read");
        Case::parse(&name.to_string_lossy().replace('\\', "/"), &text).unwrap_or_else(|error| panic!("{error}"))
    };
    paths.iter().map(read).collect()
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of cases") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "ti") {
            paths.push(path);
        }
    }
}

/// What `engine` makes of a case, which may say that it is refused or skipped.
fn check(case: &Case, engine: &str, run: impl Fn(&Ready) -> Result<(), String>) -> Result<(), String> {
    if case.skips.contains_key(engine) {
        return Ok(());
    }
    match (Ready::new(case), &case.refused) {
        (Ok(ready), None) => run(&ready),
        (Err(Stop::Refused { codes, .. }), Some(code)) if codes.contains(code) => Ok(()),
        (Err(Stop::Refused { message, .. }), _) => Err(format!("it is refused:\n{message}")),
        (Err(Stop::Data(message)), _) => Err(message),
        (Ok(_), Some(code)) => Err(format!("it should be refused with {code}")),
    }
}

#[test]
fn the_interpreter_does_what_the_oracle_says() {
    check_all(
        &corpus(),
        |case| &case.name,
        |case| check(case, "interpreter", |ready| (1..=3).try_for_each(|seed| ready.interpret(seed))),
    );
}

#[test]
fn native_code_does_what_the_oracle_says() {
    if native::in_own_cache("native_code_does_what_the_oracle_says", env!("CARGO_TARGET_TMPDIR")) {
        return;
    }
    let all = std::env::var("SPC_NATIVE").is_ok_and(|value| value == "all");
    let cases: Vec<Case> = corpus().into_iter().step_by(if all { 1 } else { NATIVE_STEP }).collect();
    check_all(&cases, |case| &case.name, |case| check(case, "native", native::check));
}

#[test]
fn every_skip_has_a_reason() {
    let skips: Vec<(String, String, String)> = corpus()
        .into_iter()
        .flat_map(|case| case.skips.into_iter().map(move |(engine, reason)| (case.name.clone(), engine, reason)))
        .collect();
    assert!(
        skips.iter().all(|(_, engine, reason)| ["interpreter", "native"].contains(&&engine[..]) && reason.len() > 9)
    );
    assert_eq!(skips.len(), SKIPS, "{skips:#?}");
}

/// The cases whose stages are kept in `snapshots/`, for readers: one of each kind.
const SHOWN: &[&str] = &[
    "elementwise/add_csf",
    "elementwise/add_to_dense",
    "elementwise/divide_different_patterns",
    "elementwise/multiply_csf_coo",
    "elementwise/subtract_coo",
    "elementwise/vectors",
    "functions/relu",
    "masks/other_sparse",
    "masks/spgemm",
    "matrix/outer_product",
    "matrix/sddmm_csr",
    "matrix/spgemm",
    "matrix/spmm_csr",
    "matrix/spmv_coo",
    "matrix/spmv_csc",
    "matrix/spmv_csr",
    "mttkrp/coo_1",
    "mttkrp/coo_3",
    "mttkrp/csf_1",
    "mttkrp/csf_2",
    "order/csr_plus_csc",
    "order/transpose",
    "scalar/add",
    "scalar/squared_norm_coo",
    "sums/nested",
    "sums/residual",
    "ttm/coo_3",
    "ttm/csf_3",
    "ttv/csf_2",
    "ttv/csf_3",
];

#[test]
fn the_stages_are_as_they_were() {
    let cases = corpus();
    for name in SHOWN {
        let case = cases.iter().find(|case| case.name == *name).unwrap_or_else(|| panic!("there is no case {name}"));
        let ready = Ready::new(case).unwrap_or_else(|stop| panic!("{name}: {stop:?}"));
        let compiled = &ready.compiled;
        let stages = [
            ("source", case.text.clone()),
            ("notation", ready.notation.to_string()),
            ("concrete", compiled.concrete.to_string()),
            (
                "decisions",
                compiled
                    .concrete
                    .decisions
                    .iter()
                    .map(|decision| format!("{}\n    {}\n", decision.what, decision.why))
                    .collect(),
            ),
            ("lattice", compiled.lattices.join("\n")),
            ("ir", compiled.kernel.to_string()),
            ("rust", rust::text(&compiled.kernel)),
        ];
        let text: Vec<String> =
            stages.iter().map(|(stage, text)| format!("== {stage}\n{}\n", text.trim_end())).collect();
        insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name.replace('/', "_"), text.join("\n"));
        });
    }
}
