//! Random programs against the oracle.
//!
//! `--times` asks for more programs, `--seed` for others. What fails is made smaller and printed as a case.

use spc::execute::Chain;
use spc_compiler::schedule::Options;
use spc_tests::case::Case;
use spc_tests::data::Random;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::{Skip, options, without_panics};
use spc_tests::random::Program;
use spc_tests::{native, pattern, schedule};
use std::collections::BTreeMap;

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
    without_panics(run).unwrap_or_else(Outcome::Wrong)
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

fn random_programs_do_what_the_oracle_says() {
    do_what_the_oracle_says(Program::random);
}

/// Reductions by any operator over sparse operands: what they come to where no operand has an entry is known without a loop.
fn random_reductions_do_what_the_oracle_says() {
    do_what_the_oracle_says(Program::reduction);
}

fn do_what_the_oracle_says(make: fn(u64) -> Program) {
    let mut right = 0;
    let mut failures: BTreeMap<String, (u64, usize, Program)> = BTreeMap::new();
    let seeds = options().seeds(150, 300);
    let count = usize::try_from(seeds.end - seeds.start).expect("a count");
    for seed in seeds {
        let program = make(seed);
        match outcome(&program) {
            Outcome::Right => right += 1,
            Outcome::Refused(_) => {}
            Outcome::Wrong(message) => {
                failures.entry(kind(&message)).or_insert((seed, 0, program)).1 += 1;
            }
        }
    }
    let mut said = Vec::new();
    for (kind_of, (seed, count, program)) in &failures {
        let small = program.shrink(
            &mut |candidate| matches!(outcome(candidate), Outcome::Wrong(message) if kind(&message) == *kind_of),
        );
        let Outcome::Wrong(message) = outcome(&small) else { continue };
        let lines: Vec<&str> = message.lines().take(3).collect();
        said.push(format!("--- {count} times, first with seed {seed}: {}\n{}", lines.join("\n"), small.case_text()));
    }
    assert!(failures.is_empty(), "{} kinds of failure\n{}", failures.len(), said.join("\n"));
    assert!(right * 2 > count, "only {right} of {count} programs ran");
}

/// Programs under schedules: what a program accepts changes no result.
fn random_programs_do_the_same_under_any_schedule() {
    let mut wrong = Vec::new();
    for seed in options().seeds(30, 60) {
        let case = Program::random(seed).case("random");
        if Ready::new(&case).is_err() {
            continue;
        }
        let Some(case) = schedule::scheduled(&case, &mut Random::new(seed)) else { continue };
        match outcome_of(&case, &|ready| ready.interpret(seed)) {
            Outcome::Right => {}
            Outcome::Refused(codes) if schedule::is_refused(&codes) => {}
            // What is cut in parts to be scheduled at all is not where there is a schedule.
            Outcome::Refused(codes) if codes.iter().all(|code| code == "E0410") => {}
            other => wrong.push(format!("seed {seed}: {other:?}\n{}", case.text)),
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every third program as native code, but for those that take the compiler minutes: the interpreter alone runs these.
fn random_programs_do_the_same_as_native_code() -> Result<(), Skip> {
    let count = usize::try_from(options().count(30, 60)).expect("a count");
    let make = |seed| if seed % 4 == 0 { Program::reduction(3 * seed) } else { Program::random(3 * seed) };
    let programs = (options().seed..).map(|seed| make(seed).case("random"));
    let ready = programs.filter_map(|case| Ready::new(&case).ok()).filter(native::is_short).take(count);
    let ready: Vec<Ready> = ready.collect();
    let executables = native::compile(&ready.iter().collect::<Vec<_>>())?;
    for (ready, executable) in ready.iter().zip(executables) {
        ready.run(&executable).unwrap_or_else(|error| panic!("{}\n{error}", ready.notation));
    }
    Ok(())
}

/// Every program with another input beside one of its own, with entries at the same places: walked apart and, as the schedule
/// says, together.
/// Machine code of the JIT is made of every program. Of merges that take rustc minutes it takes seconds, and longer where Cranelift is not
/// optimised.
fn random_programs_do_the_same_as_machine_code() {
    let mut wrong = Vec::new();
    for seed in options().seeds(20, 150) {
        let program = if seed % 4 == 0 { Program::reduction(5 * seed) } else { Program::random(5 * seed) };
        let outcome = outcome_of(&program.case("random"), &|ready| {
            if !native::is_short(ready) {
                return Ok(());
            }
            let chain = Chain::jit(&ready.program).map_err(|unsupported| unsupported.to_string())?;
            ready.run(&chain)
        });
        if let Outcome::Wrong(message) = outcome {
            wrong.push(format!("seed {seed}: {message}\n{}", program.case_text()));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn random_programs_do_the_same_with_inputs_of_one_pattern() {
    let (mut wrong, mut right, mut refused) = (Vec::new(), 0, 0);
    for seed in options().seeds(50, 100) {
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
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(right > refused, "{refused} of {} are refused", right + refused);
}

spc_tests::tests! {
    random_programs_do_what_the_oracle_says,
    random_reductions_do_what_the_oracle_says,
    random_programs_do_the_same_under_any_schedule,
    random_programs_do_the_same_as_native_code,
    random_programs_do_the_same_as_machine_code,
    random_programs_do_the_same_with_inputs_of_one_pattern,
}
