//! Every case of the corpus and of the suites in every engine, against the oracle.

use spc_compiler::diagnostics::Diagnostic;
use spc_compiler::{notation, syntax};
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::{corpus, native, suite};

fn ready(case: &Case) -> Ready {
    match Ready::new(case) {
        Ok(ready) => ready,
        Err(Stop::Refused { message, .. }) => panic!("{}:\n{message}", case.name),
        Err(Stop::Data(message)) => panic!("{}: {message}", case.name),
    }
}

fn runnable(cases: Vec<Case>) -> Vec<(Case, Ready)> {
    let run = cases.into_iter().filter(|case| case.refused.is_none());
    run.map(|case| (case.clone(), ready(&case))).collect()
}

fn assert_right(results: Vec<(&str, Result<(), String>)>) {
    let wrong: Vec<String> =
        results.into_iter().filter_map(|(name, result)| result.err().map(|error| format!("{name}: {error}"))).collect();
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn interpret(cases: &[(Case, Ready)]) {
    let seeds = |ready: &Ready| (1..=3).try_for_each(|seed| ready.interpret(seed));
    assert_right(cases.iter().map(|(case, ready)| (case.name.as_str(), seeds(ready))).collect());
}

/// All in few runs of the compiler.
fn run_natively(cases: &[(Case, Ready)]) {
    let kernels: Vec<&Ready> = cases.iter().map(|(_, ready)| ready).collect();
    let Some(executables) = native::compile(&kernels) else { return println!("nothing ran natively: no compiler") };
    let results = cases.iter().zip(&executables).map(|((case, ready), native)| (case.name.as_str(), ready.run(native)));
    assert_right(results.collect());
}

#[test]
fn the_corpus_is_right_in_the_interpreter() {
    interpret(&runnable(corpus::cases()));
}

#[test]
fn the_suites_are_right_in_the_interpreter() {
    interpret(&runnable(suite::cases()));
}

#[test]
fn all_are_right_as_native_code() {
    let mut cases = corpus::cases();
    cases.extend(suite::cases());
    let skipped: Vec<String> = cases
        .iter()
        .filter_map(|case| case.skips.get("native").map(|reason| format!("{}: {reason}", case.name)))
        .collect();
    assert_eq!(skipped, [""; 0], "cases that are skipped");
    run_natively(&runnable(cases));
}

#[test]
fn what_is_refused_says_why() {
    for case in corpus::cases().iter().filter(|case| case.refused.is_some()) {
        match Ready::new(case) {
            Err(Stop::Refused { codes, message }) => {
                assert_eq!(codes, [case.refused.clone().unwrap_or_default()], "{}:\n{message}", case.name);
            }
            other => panic!("{} is not refused: {other:?}", case.name),
        }
    }
}

/// The corpus says what it means: a case has the warnings that it states.
#[test]
fn cases_have_the_warnings_that_they_state() {
    for case in corpus::cases().iter().filter(|case| case.refused.is_none()) {
        let kernels = syntax::parse_program(&case.text).and_then(|program| notation::check(&program));
        let warnings = kernels.unwrap().into_iter().flat_map(|kernel| kernel.warnings);
        let mut codes: Vec<String> = warnings.map(|warning: Diagnostic| warning.code.to_string()).collect();
        codes.dedup();
        assert_eq!(codes, case.warns, "{}", case.name);
    }
}

#[test]
fn the_suites_are_complete() {
    let count = |prefix: &str| suite::cases().iter().filter(|case| case.name.contains(prefix)).count();
    // Orders 3, 4 and 5, each mode, from two formats; in two element types or into two results.
    assert_eq!((count("mttkrp-"), count("ttv-"), count("ttm-")), (48, 48, 48));
    assert_eq!((count("spmv-"), count("spmm-"), count("sddmm-")), (8, 8, 8));
    // Four operators of one pattern and with a scalar, three into a dense result, in six tensor and four matrix formats.
    assert_eq!(count("add-") + count("subtract-") + count("multiply-") + count("divide-"), 110);
}
