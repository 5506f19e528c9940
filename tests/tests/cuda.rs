//! Every case of the corpus and of the suites as CUDA C, in the emulation of a device, against the oracle.

use spc_compiler::backend::cuda::Step;
use spc_compiler::concrete::{Options, Target};
use spc_compiler::ir::Expr;
use spc_tests::case::Case;
use spc_tests::emulation::{self, Emulated};
use spc_tests::engine::{Ready, Stop};
use spc_tests::{corpus, suite};

/// A case, what it is compiled to, and its kernels for a device.
type Prepared = (Case, Ready, Emulated);

/// What can be made for a device, and what can't, with the reason.
fn prepared(cases: Vec<Case>) -> (Vec<Prepared>, Vec<String>) {
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    let options = Options { target: Target::Gpu, ..Options::default() };
    for (number, case) in cases.into_iter().filter(|case| case.refused.is_none()).enumerate() {
        let ready = match Ready::scheduled(&case, options) {
            Ok(ready) => ready,
            Err(Stop::Refused { message, .. } | Stop::Data(message)) => panic!("{}: {message}", case.name),
        };
        match emulation::modules(&ready.program, number) {
            Ok(emulated) => all.push((case, ready, emulated)),
            Err(refusal) => refused.push(format!("{}: {}", case.name, refusal.what)),
        }
    }
    (all, refused)
}

#[test]
fn all_are_right_on_an_emulated_device() {
    let mut cases = corpus::cases();
    cases.extend(suite::cases());
    let (all, refused) = prepared(cases);
    // Lists that grow on a device are left out, and products of complex numbers that threads would have to form together.
    let (grow, others): (Vec<&String>, Vec<&String>) =
        refused.iter().partition(|reason| reason.contains("would grow on the device"));
    let (multiplied, others): (Vec<&String>, Vec<&String>) =
        others.into_iter().partition(|reason| reason.contains("multiply the complex numbers"));
    assert!(multiplied.len() <= 1, "{multiplied:#?}");
    assert!(others.is_empty(), "what is refused for another reason: {others:#?}");
    assert!(grow.len() <= 13, "{} can't be made", grow.len());
    let kernels: Vec<&Emulated> = all.iter().map(|(_, _, emulated)| emulated).collect();
    let Some(device) = emulation::compile(&kernels) else { return println!("nothing ran: there is no C++ compiler") };
    let mut wrong = Vec::new();
    let mut runs = 0;
    for (case, ready, emulated) in &all {
        for (way, emulated) in ways(emulated) {
            runs += 1;
            let result = ready.run(&emulation::chain(&ready.program, &emulated, &device));
            wrong.extend(result.err().map(|error| format!("{}, {way}: {error}", case.name)));
        }
    }
    assert!(wrong.is_empty(), "{} of {runs} runs are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(runs > all.len() * 4 / 3, "only {runs} runs of {} programs", all.len());
}

/// A program as it is, and with each other way that it can go, whatever the data say.
fn ways(emulated: &Emulated) -> Vec<(&'static str, Emulated)> {
    let mut ways = vec![("as planned", emulated.clone())];
    let forced = [("shares by 4 lanes", true, 4), ("shares by 32 lanes", true, 32), ("places by 8 lanes", false, 8)];
    for (name, in_shares, lanes) in forced {
        let mut other = emulated.clone();
        for module in other.modules_mut() {
            let grouped: Vec<bool> = module.functions.iter().map(|function| function.group().is_some()).collect();
            module.steps = decided(&module.steps, in_shares, lanes, &grouped);
        }
        if other != *emulated && ways.iter().all(|(_, way)| *way != other) {
            ways.push((name, other));
        }
    }
    ways
}

/// Steps in which it is decided what the data would decide.
fn decided(steps: &[Step], in_shares: bool, width: u64, grouped: &[bool]) -> Vec<Step> {
    let one = |step: &Step| match step {
        Step::Choose { then, otherwise, .. } => {
            decided(if in_shares { then } else { otherwise }, in_shares, width, grouped)
        }
        Step::Launch { function, places, workers, .. } if grouped[*function] => {
            let (function, places, workers) = (*function, places.clone(), workers.clone());
            vec![Step::Launch { function, places, lanes: Some(Expr::Index(width)), workers }]
        }
        other => vec![other.clone()],
    };
    steps.iter().flat_map(one).collect()
}

/// What the emulation says of a kernel after a change to its module.
fn spoiled(text: &str, spoil: &dyn Fn(&mut spc_compiler::backend::cuda::Module)) -> Option<String> {
    let case = Case::parse("spoiled", text).expect("it is a case");
    let (mut all, refused) = prepared(vec![case]);
    assert!(refused.is_empty(), "{refused:?}");
    let (_, ready, mut emulated) = all.remove(0);
    emulated.modules_mut().iter_mut().for_each(spoil);
    let device = emulation::compile(&[&emulated])?;
    let result = ready.run(&emulation::chain(&ready.program, &emulated, &device));
    Some(result.expect_err("what is wrong on purpose is found"))
}

const BY_COLUMNS: &str =
    "// dims: i=4 j=60\n// seed: 3\nfn spmv(A: csc, x: dense) -> y: dense {\n    y(i) = A(i, j) * x(j);\n}\n";

#[test]
fn an_update_that_is_not_atomic_is_found() {
    let spoil = |module: &mut spc_compiler::backend::cuda::Module| {
        module.functions.iter_mut().for_each(|function| function.atomic.clear());
    };
    if let Some(message) = spoiled(BY_COLUMNS, &spoil) {
        assert!(message.contains("RACE") && message.contains("on y"), "{message}");
    }
}

#[test]
fn a_write_beyond_an_array_is_found() {
    use spc_compiler::backend::cuda::Threads;
    let spoil = |module: &mut spc_compiler::backend::cuda::Module| {
        for function in &mut module.functions {
            if let Threads::Each(places) = &mut function.threads {
                places.end = places.end.clone().plus(Expr::Index(1));
            }
        }
    };
    if let Some(message) = spoiled(BY_COLUMNS, &spoil) {
        assert!(message.contains("OUT OF BOUNDS"), "{message}");
    }
}
