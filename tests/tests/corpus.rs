//! Every case of the corpus and of the suites in every engine, against the oracle: a test for each case in each engine.
//!
//! `cargo test -p spc-tests -- products/mttkrp` runs the cases that have this in their names, in all engines, and
//! `-- native::products/mttkrp` in one. All run in the interpreter; in the others those that [the ledger](spc_tests::ledger) does not have, and a
//! sample of those that it has.

use crate::printed;
use spc::execute::Chain;
use spc_compiler::diagnostics::Diagnostic;
use spc_compiler::{notation, syntax};
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::{Failure, Options, Skip, Suite, options, without_panics};
use spc_tests::ledger::{self, Ledger};
use spc_tests::{corpus, native, suite};
use std::sync::{Arc, OnceLock};

/// The cases of a library: few runs of the compiler, and no batch that all others wait for.
const BATCH: usize = 40;

/// All cases that run.
pub(crate) fn runnable() -> Vec<Case> {
    corpus::cases().into_iter().chain(suite::cases()).filter(|case| case.refused.is_none()).collect()
}

/// A case that an engine runs, with the digest of what its result depends on.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) case: Case,
    digest: Option<u64>,
    /// The ledger has it, and it is drawn all the same.
    is_sample: bool,
}

impl From<Case> for Chosen {
    /// One that the ledger does not know of.
    fn from(case: Case) -> Self {
        Chosen { case, digest: None, is_sample: false }
    }
}

/// The cases that an engine runs: those that a filter names, else those whose results the ledger does not have, and a sample of those that
/// it has; and a test that says how many.
pub(crate) fn chosen(suite: &mut Suite, engine: &'static str) -> Vec<Chosen> {
    let all: Vec<Case> =
        runnable().into_iter().filter(|case| suite.selects(&format!("{engine}::{}", case.name))).collect();
    let Options { verify_all, record, .. } = options();
    if *verify_all && !record || all.is_empty() {
        return all.into_iter().map(Chosen::from).collect();
    }
    let (ledger, draw, count) = (ledger(), options().draw(), all.len());
    let known = all.into_iter().map(|case| {
        let digest = printed::digest_for(engine, &case);
        Chosen { is_sample: ledger.has(engine, &case.name, digest), case, digest: Some(digest) }
    });
    let known: Vec<Chosen> = known.collect();
    let verified = known.iter().filter(|one| one.is_sample).count();
    let places = if *verify_all { (0..count).collect() } else { drawn(engine, &known, draw) };
    let chosen: Vec<Chosen> = places.into_iter().map(|place| known[place].clone()).collect();
    let sample = chosen.iter().filter(|one| one.is_sample).count();
    let (new, others) = (chosen.len() - sample, count - verified);
    let reason = format!(
        "{verified} of {count} were verified before: {sample} of these run (--draw {draw}), and {new} of {others} others"
    );
    suite.test(format!("{engine}::the_ledger_has_the_others"), || -> Result<(), Skip> { Err(Skip(reason)) });
    chosen
}

fn drawn(engine: &str, all: &[Chosen], draw: u64) -> Vec<usize> {
    let results: Vec<(&str, bool)> = all.iter().map(|one| (one.case.name.as_str(), one.is_sample)).collect();
    ledger::drawn(engine, &results, draw)
}

/// An entry for a case whose result is wrong is drawn before long, and the message names it.
fn an_entry_that_is_wrong_is_found() {
    let lies = |name: String| Chosen { case: Case { name, ..Case::default() }, digest: Some(0xbad), is_sample: true };
    let all: Vec<Chosen> = (0..160).map(|number| lies(format!("planted/{number}"))).collect();
    let mut left: Vec<usize> = (0..all.len()).collect();
    for draw in 0..200 {
        let found = drawn("native", &all, draw);
        assert!((1..40).contains(&found.len()), "{} of {} are drawn by {draw}", found.len(), all.len());
        left.retain(|place| !found.contains(place));
    }
    assert_eq!(left, [0; 0], "200 runs leave these out");
    // What the ledger does not have runs, up to what takes too long.
    let new: Vec<Chosen> = all.iter().map(|one| Chosen { is_sample: false, ..one.clone() }).collect();
    assert_eq!(drawn("native", &new[..100], 1).len(), 100);
    assert!(drawn("native", &[new.clone(), new].concat(), 1).len() < 200);
    let said = noted("native", &all[7], Err("y(1) is 3, not 4".to_owned())).unwrap_err();
    assert!(
        said.contains("y(1) is 3") && said.ends_with("tests/verified.txt: native planted/7 0000000000000bad"),
        "{said}"
    );
    let mut ledger = Ledger::default();
    ledger.put("native", "planted/7", 0xbad);
    assert_eq!(Ledger::parse(&ledger.text()), Ok(ledger.clone()));
    assert!(ledger.has("native", "planted/7", 0xbad) && !ledger.has("native", "planted/7", 0xbae));
    assert!(Ledger::parse("native planted/7").is_err());
}

fn ledger() -> &'static Ledger {
    static LEDGER: OnceLock<Ledger> = OnceLock::new();
    LEDGER.get_or_init(|| {
        let text = std::fs::read_to_string(ledger::file()).unwrap_or_default();
        Ledger::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", ledger::file().display()))
    })
}

/// Notes a check that passes for the ledger; names the entry where a verified result fails.
pub(crate) fn noted(engine: &'static str, one: &Chosen, outcome: Result<(), String>) -> Result<(), String> {
    match outcome {
        Ok(()) => {
            one.digest.into_iter().for_each(|digest| ledger::note(engine, &one.case.name, digest));
            Ok(())
        }
        Err(error) if one.is_sample => Err(format!(
            "{error}\nThe ledger says that this was verified: an entry is wrong, or a result depends on what its digest leaves out. \
             tests/verified.txt: {engine} {} {:016x}",
            one.case.name,
            one.digest.unwrap_or_default()
        )),
        Err(error) => Err(error),
    }
}

/// What is made of several cases at once, when the first of them runs.
pub(crate) struct Batch<T> {
    cases: Vec<Chosen>,
    make: fn(&[Case]) -> Result<Vec<T>, Skip>,
    made: OnceLock<Result<Result<Vec<T>, Skip>, String>>,
}

impl<T: Send + Sync + 'static> Batch<T> {
    /// Adds a test for each case. Neighbouring tests are of different batches, which are made at the same time.
    pub(crate) fn add_all(
        suite: &mut Suite,
        engine: &'static str,
        cases: &[Chosen],
        size: usize,
        make: fn(&[Case]) -> Result<Vec<T>, Skip>,
        check: fn(&T) -> Result<(), String>,
    ) {
        let batch = |cases: &[Chosen]| Arc::new(Batch { cases: cases.to_vec(), make, made: OnceLock::new() });
        let batches: Vec<Arc<Batch<T>>> = cases.chunks(size).map(batch).collect();
        for place in 0..size {
            for batch in batches.iter().filter(|batch| place < batch.cases.len()) {
                let (batch, name) = (Arc::clone(batch), format!("{engine}::{}", batch.cases[place].case.name));
                suite.test(name, move || batch.with(engine, place, check));
            }
        }
    }

    /// Checks what was made of a case.
    fn with(&self, engine: &'static str, place: usize, check: fn(&T) -> Result<(), String>) -> Result<(), Failure> {
        let checked = |made: &T| {
            let outcome = without_panics(|| check(made)).flatten();
            noted(engine, &self.cases[place], outcome).map_err(Failure::Wrong)
        };
        let cases = || self.cases.iter().map(|one| one.case.clone()).collect::<Vec<_>>();
        match self.made.get_or_init(|| without_panics(|| (self.make)(&cases()))) {
            Ok(Ok(all)) => checked(&all[place]),
            Ok(Err(skip)) => Err(Failure::Skip(skip.clone())),
            // Not all of them are at fault.
            Err(_) => {
                let alone = (self.make)(&[self.cases[place].case.clone()]).map_err(Failure::Skip)?;
                checked(&alone[0])
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
    suite.test("corpus::an_entry_that_is_wrong_is_found", an_entry_that_is_wrong_is_found);
    suite.test("corpus::the_suites_are_complete", the_suites_are_complete);
    for case in corpus::cases().into_iter().filter(|case| case.refused.is_some()) {
        suite.test(format!("refused::{}", case.name), move || is_refused(&case));
    }
    for case in runnable() {
        suite.test(format!("interpreter::{}", case.name), move || interpret(&case));
    }
    for one in chosen(suite, "jit") {
        suite.test(format!("jit::{}", one.case.name), move || {
            noted("jit", &one, without_panics(|| jit(&one.case)).flatten())
        });
    }
    let cases = chosen(suite, "native");
    Batch::add_all(suite, "native", &cases, BATCH, compile, |(ready, chain)| ready.run(chain));
    let cases = chosen(suite, "c");
    Batch::add_all(suite, "c", &cases, BATCH, compile_c, |(ready, chain)| ready.run(chain));
}
