//! Every case of the corpus and of the suites as CUDA C, in the emulation of a device, against the oracle.

use spc_compiler::concrete::{Options, Target};
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
    // Lists that grow on a device, and complex numbers, are what is left out.
    let (grow, others): (Vec<&String>, Vec<&String>) =
        refused.iter().partition(|reason| reason.contains("would grow on the device"));
    let (complex, others): (Vec<&String>, Vec<&String>) =
        others.into_iter().partition(|reason| reason.contains("holds complex numbers"));
    assert!(others.is_empty(), "what is refused for another reason: {others:#?}");
    assert!(grow.len() <= 45 && complex.len() <= 40, "{} and {} can't be made", grow.len(), complex.len());
    let kernels: Vec<&Emulated> = all.iter().map(|(_, _, emulated)| emulated).collect();
    let Some(device) = emulation::compile(&kernels) else { return println!("nothing ran: there is no C++ compiler") };
    let wrong: Vec<String> = all
        .iter()
        .filter_map(|(case, ready, emulated)| {
            let result = ready.run(&emulation::chain(&ready.program, emulated, &device));
            result.err().map(|error| format!("{}: {error}", case.name))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases are wrong:\n{}", wrong.len(), all.len(), wrong.join("\n"));
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
    use spc_compiler::ir::Expr;
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
