//! Every case of the corpus and of the suites in every engine, against the oracle: a test for each case in each engine.
//!
//! `cargo test -p spc-tests -- products/mttkrp` runs the cases that have this in their names, in all engines, and
//! `-- native::products/mttkrp` in one. The usual tier has all of them in the interpreter and a sample of them in the others.

use spc::execute::Chain;
use spc_compiler::diagnostics::Diagnostic;
use spc_compiler::{notation, syntax};
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::{Failure, Skip, Suite, options, without_panics};
use spc_tests::{corpus, native, suite};
use std::sync::{Arc, OnceLock};

/// In the usual tier, every so many-th case runs natively.
const NATIVE_SHARE: usize = 8;

/// And every so many-th as machine code of the JIT, which is made in milliseconds.
const JIT_SHARE: usize = 8;

/// The cases of a library: few runs of the compiler, and no batch that all others wait for.
const BATCH: usize = 40;

/// All cases that run.
pub(crate) fn runnable() -> Vec<Case> {
    corpus::cases().into_iter().chain(suite::cases()).filter(|case| case.refused.is_none()).collect()
}

/// The cases that an engine runs: all in the whole, those that a filter names, else every so many-th, with a test that says so.
pub(crate) fn chosen(suite: &mut Suite, engine: &str, share: usize) -> Vec<Case> {
    let all = runnable();
    let count = all.len();
    let chosen = options().sample(all, share);
    if chosen.len() < count {
        let reason = format!("{} of {count} cases run here, and all in the whole (--whole)", chosen.len());
        suite.test(format!("{engine}::all_others"), || -> Result<(), Skip> { Err(Skip(reason)) });
    }
    chosen.into_iter().filter(|case| suite.selects(&format!("{engine}::{}", case.name))).collect()
}

/// What is made of several cases at once, when the first of them runs.
pub(crate) struct Batch<T> {
    cases: Vec<Case>,
    make: fn(&[Case]) -> Result<Vec<T>, Skip>,
    made: OnceLock<Result<Result<Vec<T>, Skip>, String>>,
}

impl<T: Send + Sync + 'static> Batch<T> {
    /// Adds a test for each case. Neighbouring tests are of different batches, which are made at the same time.
    pub(crate) fn add_all(
        suite: &mut Suite,
        engine: &str,
        cases: &[Case],
        size: usize,
        make: fn(&[Case]) -> Result<Vec<T>, Skip>,
        check: fn(&T) -> Result<(), String>,
    ) {
        let batch = |cases: &[Case]| Arc::new(Batch { cases: cases.to_vec(), make, made: OnceLock::new() });
        let batches: Vec<Arc<Batch<T>>> = cases.chunks(size).map(batch).collect();
        for place in 0..size {
            for batch in batches.iter().filter(|batch| place < batch.cases.len()) {
                let (batch, name) = (Arc::clone(batch), format!("{engine}::{}", batch.cases[place].name));
                suite.test(name, move || batch.with(place, check));
            }
        }
    }

    /// Does something with what was made of a case.
    fn with(&self, place: usize, check: fn(&T) -> Result<(), String>) -> Result<(), Failure> {
        match self.made.get_or_init(|| without_panics(|| (self.make)(&self.cases))) {
            Ok(Ok(all)) => check(&all[place]).map_err(Failure::Wrong),
            Ok(Err(skip)) => Err(Failure::Skip(skip.clone())),
            // Not all of them are at fault.
            Err(_) => {
                let alone = (self.make)(&self.cases[place..=place]).map_err(Failure::Skip)?;
                check(&alone[0]).map_err(Failure::Wrong)
            }
        }
    }
}

fn ready(case: &Case) -> Ready {
    match Ready::new(case) {
        Ok(ready) => ready,
        Err(Stop::Refused { message, .. }) => panic!("{}:\n{message}", case.name),
        Err(Stop::Data(message)) => panic!("{}: {message}", case.name),
    }
}

fn interpret(case: &Case) -> Result<(), String> {
    let ready = ready(case);
    (1..=3).try_for_each(|seed| ready.interpret(seed))
}

fn compile(cases: &[Case]) -> Result<Vec<(Ready, Chain)>, Skip> {
    let all: Vec<Ready> = cases.iter().map(ready).collect();
    let chains = native::compile(&all.iter().collect::<Vec<_>>())?;
    Ok(all.into_iter().zip(chains).collect())
}

fn compile_c(cases: &[Case]) -> Result<Vec<(Ready, Chain)>, Skip> {
    let all: Vec<Ready> = cases.iter().map(ready).collect();
    let chains = native::compile_c(&all.iter().map(|ready| &ready.program).collect::<Vec<_>>())?;
    Ok(all.into_iter().zip(chains).collect())
}

/// What no machine code is made of is told, with the reason.
fn jit(case: &Case) -> Result<(), String> {
    let ready = ready(case);
    let chain = Chain::jit(&ready.program).map_err(|unsupported| unsupported.to_string())?;
    ready.run(&chain)
}

fn is_refused(case: &Case) {
    match Ready::new(case) {
        Err(Stop::Refused { codes, message }) => {
            assert_eq!(codes, [case.refused.clone().unwrap_or_default()], "{}:\n{message}", case.name);
        }
        other => panic!("{} is not refused: {other:?}", case.name),
    }
}

/// The corpus says what it means: a case has the warnings that it states.
fn cases_have_the_warnings_that_they_state() {
    for case in runnable() {
        let kernels = syntax::parse_program(&case.text).and_then(|program| notation::check(&program));
        let warnings = kernels.unwrap().into_iter().flat_map(|kernel| kernel.warnings);
        let mut codes: Vec<String> = warnings.map(|warning: Diagnostic| warning.code.to_string()).collect();
        codes.dedup();
        assert_eq!(codes, case.warns, "{}", case.name);
    }
}

fn no_case_is_skipped() {
    let skips = |case: &Case| case.skips.iter().map(|(engine, reason)| format!("{engine}: {reason}")).collect();
    let skipped: Vec<String> = runnable().iter().flat_map(|case| -> Vec<String> { skips(case) }).collect();
    assert_eq!(skipped, [""; 0], "cases that are skipped");
}

fn the_suites_are_complete() {
    let count = |prefix: &str| suite::cases().iter().filter(|case| case.name.contains(prefix)).count();
    // Orders 3, 4 and 5, each mode, from two formats; in two element types or into two results.
    assert_eq!((count("mttkrp-"), count("ttv-"), count("ttm-")), (48, 48, 48));
    assert_eq!((count("spmv-"), count("spmm-"), count("sddmm-")), (8, 8, 8));
    // Four operators of one pattern and with a scalar, three into a dense result, in six tensor and four matrix formats.
    assert_eq!(count("add-") + count("subtract-") + count("multiply-") + count("divide-"), 110);
}

/// Adds the tests of this module.
pub(crate) fn tests(suite: &mut Suite) {
    suite.test("corpus::cases_have_the_warnings_that_they_state", cases_have_the_warnings_that_they_state);
    suite.test("corpus::no_case_is_skipped", no_case_is_skipped);
    suite.test("corpus::the_suites_are_complete", the_suites_are_complete);
    for case in corpus::cases().into_iter().filter(|case| case.refused.is_some()) {
        suite.test(format!("refused::{}", case.name), move || is_refused(&case));
    }
    for case in chosen(suite, "interpreter", 1) {
        suite.test(format!("interpreter::{}", case.name), move || interpret(&case));
    }
    for case in chosen(suite, "jit", JIT_SHARE) {
        suite.test(format!("jit::{}", case.name), move || jit(&case));
    }
    let cases = chosen(suite, "native", NATIVE_SHARE);
    Batch::add_all(suite, "native", &cases, BATCH, compile, |(ready, chain)| ready.run(chain));
    let cases = chosen(suite, "c", NATIVE_SHARE);
    Batch::add_all(suite, "c", &cases, BATCH, compile_c, |(ready, chain)| ready.run(chain));
}
