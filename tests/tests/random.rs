//! Random programs against the oracle.
//!
//! `SPC_RANDOM` is how many programs run (300 unless set), `SPC_RANDOM_SEED` the first one's seed. What fails is made
//! smaller and printed as a case.

use spc_compiler::concrete::Options;
use spc_tests::case::Case;
use spc_tests::data::Random;
use spc_tests::engine::{Ready, Stop};
use spc_tests::random::Program;
use spc_tests::{native, pattern, schedule};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// What became of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Outcome {
    Right,
    Refused(Vec<String>),
    Wrong(String),
}

fn outcome(program: &Program) -> Outcome {
    let case = program.case("random");
    outcome_of(&case, &|ready| {
        ready.interpret(1).and_then(|()| ready.interpret(2)).and_then(|()| unfused(&case, ready))
    })
}

fn outcome_of(case: &Case, check: &dyn Fn(&Ready) -> Result<(), String>) -> Outcome {
    let run = || match Ready::new(case) {
        Ok(ready) => match check(&ready) {
            Ok(()) => Outcome::Right,
            Err(error) => Outcome::Wrong(error),
        },
        Err(Stop::Refused { codes, .. }) => Outcome::Refused(codes),
        Err(Stop::Data(error)) if error.contains("holds up to") || error.contains("has room for") => {
            Outcome::Refused(vec!["too narrow".to_owned()])
        }
        Err(Stop::Data(error)) => Outcome::Wrong(error),
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Outcome::Wrong(format!("panic: {}", message.unwrap_or_default()))
    })
}

/// Runs a program of several statements with every temporary made: that changes no result.
fn unfused(case: &Case, fused: &Ready) -> Result<(), String> {
    if fused.notation.statements.len() == 1 {
        return Ok(());
    }
    let options = Options { fuse: false, ..Options::default() };
    match Ready::scheduled(case, options) {
        Ok(ready) => ready.interpret(1).map_err(|error| format!("not fused: {error}")),
        // A temporary may need more operands at once than what it is part of, where most of them drop out.
        Err(Stop::Refused { codes, .. }) if codes.iter().all(|code| code == "E0410") => Ok(()),
        Err(stop) => Err(format!("not fused: {stop:?}")),
    }
}

/// The kind of a failure: its words without numbers.
fn kind(message: &str) -> String {
    let words: String = message.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
    words.split(['[', '`']).next().unwrap_or_default().to_owned()
}

#[test]
fn random_programs_do_what_the_oracle_says() {
    let first = number("SPC_RANDOM_SEED", 1);
    let is_loud = std::env::var_os("SPC_RANDOM_LOUD").is_some();
    if !is_loud {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut failures: BTreeMap<String, (u64, usize, Program)> = BTreeMap::new();
    for seed in first..first + number("SPC_RANDOM", 300) {
        let program = Program::random(seed);
        match outcome(&program) {
            Outcome::Right => *counts.entry("right".to_owned()).or_default() += 1,
            Outcome::Refused(codes) => *counts.entry(format!("refused: {}", codes.join(" "))).or_default() += 1,
            Outcome::Wrong(message) => {
                if is_loud {
                    println!("seed {seed}: {message}\n{}", program.case_text());
                }
                *counts.entry("wrong".to_owned()).or_default() += 1;
                failures.entry(kind(&message)).or_insert((seed, 0, program)).1 += 1;
            }
        }
    }
    println!("{counts:#?}");
    for (kind_of, (seed, count, _)) in &failures {
        println!("{count} times, first with seed {seed}: {kind_of}");
    }
    for (kind_of, (seed, count, program)) in &failures {
        let small = program.shrink(
            &mut |candidate| matches!(outcome(candidate), Outcome::Wrong(message) if kind(&message) == *kind_of),
        );
        let Outcome::Wrong(message) = outcome(&small) else { continue };
        let lines: Vec<&str> = message.lines().take(3).collect();
        println!("--- {count} times, first with seed {seed}: {}\n{}", lines.join("\n"), small.case_text());
    }
    _ = std::panic::take_hook();
    assert!(failures.is_empty(), "{} kinds of failure", failures.len());
}

/// Programs under schedules, `SPC_RANDOM_SCHEDULES` of them (60 unless set): what a program accepts changes no result.
#[test]
fn random_programs_do_the_same_under_any_schedule() {
    let first = number("SPC_RANDOM_SEED", 1);
    let (mut wrong, mut refused) = (Vec::new(), 0);
    let count = number("SPC_RANDOM_SCHEDULES", 60);
    for seed in first..first + count {
        let case = Program::random(seed).case("random");
        if Ready::new(&case).is_err() {
            continue;
        }
        let Some(case) = schedule::scheduled(&case, &mut Random::new(seed)) else { continue };
        match outcome_of(&case, &|ready| ready.interpret(seed)) {
            Outcome::Right => {}
            Outcome::Refused(codes) if schedule::is_refused(&codes) => refused += 1,
            // What is cut in parts to be scheduled at all is not where there is a schedule.
            Outcome::Refused(codes) if codes.iter().all(|code| code == "E0410") => refused += 1,
            other => wrong.push(format!("seed {seed}: {other:?}\n{}", case.text)),
        }
    }
    println!("{refused} of {count} schedules are refused");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every third program as native code, `SPC_RANDOM_NATIVE` of them (60 unless set), but for those that take the compiler minutes:
/// the interpreter alone runs these.
#[test]
fn random_programs_do_the_same_as_native_code() {
    let first = number("SPC_RANDOM_SEED", 1);
    let count = usize::try_from(number("SPC_RANDOM_NATIVE", 60)).expect("a count");
    let programs = (first..).map(|seed| Program::random(3 * seed).case("random"));
    let mut long = 0;
    let is_short = |ready: &Ready| {
        let is_short = native::is_short(ready);
        long += usize::from(!is_short);
        is_short
    };
    let ready: Vec<Ready> = programs.filter_map(|case| Ready::new(&case).ok()).filter(is_short).take(count).collect();
    println!("{count} programs, and {long} that are too long");
    let Some(executables) = native::compile(&ready.iter().collect::<Vec<_>>()) else {
        return println!("nothing ran natively: no compiler");
    };
    for (ready, executable) in ready.iter().zip(executables) {
        ready.run(&executable).unwrap_or_else(|error| panic!("{}\n{error}", ready.notation));
    }
}

/// Every program with another input beside one of its own, with entries at the same places, `SPC_RANDOM_PATTERNS` of them (100
/// unless set): walked apart and, as the schedule says, together.
#[test]
fn random_programs_do_the_same_with_inputs_of_one_pattern() {
    let first = number("SPC_RANDOM_SEED", 1);
    let (mut wrong, mut right, mut refused) = (Vec::new(), 0, 0);
    for seed in first..first + number("SPC_RANDOM_PATTERNS", 100) {
        let case = Program::random(seed).case("random");
        let Some(cases) = pattern::doubled(&case, if seed % 2 == 0 { "*" } else { "+" }) else { continue };
        let [plain, said] = &cases;
        if !matches!(outcome_of(plain, &|ready| ready.interpret(seed)), Outcome::Right) {
            continue;
        }
        match outcome_of(said, &|ready| ready.interpret(seed)) {
            Outcome::Right => right += 1,
            Outcome::Refused(codes) if schedule::is_refused(&codes) => refused += 1,
            other => wrong.push(format!("seed {seed}: {other:?}\n{}", said.text)),
        }
    }
    println!("{right} are right, {refused} schedules are refused");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(right > refused, "{refused} of {} are refused", right + refused);
}
