//! Loops that are split once, twice and three times, by what divides and what doesn't, over extents around the sizes of blocks: in the
//! interpreter and, compiled once for all extents, in native code on one to five threads.

use spc::execute::Chain;
use spc::parallel::with_threads;
use spc_tests::case::Case;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::Skip;
use spc_tests::{native, report, schedule};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kernels, the extents of their indices, and the index that is split.
const KERNELS: [(&str, &str, &str); 12] = [
    ("fn k(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", "i=5 j=6", "i"),
    ("fn k(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", "i=5 j=6", "j"),
    ("fn k(A: dense, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", "i=4 j=6", "j"),
    ("fn k(A: dense, B: dense) -> C: dense { C(i, r) = A(i, j) * B(j, r); }", "i=3 j=4 r=5", "r"),
    ("fn k(A: dense, B: dense) -> C: dense { C(i, r) = A(i, j) * B(j, r); }", "i=3 j=4 r=5", "j"),
    ("fn k(S: csr, A: dense, B: dense) -> Y: csr { Y(i, j) = S(i, j) * A(i, r) * B(j, r); }", "i=4 j=5 r=3", "r"),
    ("fn k(S: csr, A: dense, B: dense) -> Y: csr { Y(i, j) = S(i, j) * A(i, r) * B(j, r); }", "i=4 j=5 r=3", "j"),
    (
        "fn k(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        "i=3 j=4 k=5 r=4",
        "r",
    ),
    (
        "fn k(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        "i=3 j=4 k=5 r=4",
        "k",
    ),
    ("fn k(x: dense, z: dense) -> y: dense { y(i) = x(i) * z(i) + 1; }", "i=5", "i"),
    ("fn k(x: dense, z: dense) -> y: dense { y(j, i) = x(i) * z(j); }", "i=5 j=3", "i"),
    ("fn k(a: [compressed], b: [compressed]) -> y: dense { y(i) = a(i) + b(i); }", "i=5", "i"),
];

/// How an index `v` is split; the last name is that of the innermost part.
const SPLITS: [(&str, &str); 12] = [
    ("split(v, a, b, 8);", "b"),
    ("split(v, a, b, 8); split(b, c, d, 4);", "d"),
    ("split(v, a, b, 8); split(b, c, d, 3);", "d"),
    ("split(v, a, b, 8); split(a, c, d, 4);", "b"),
    ("split(v, a, b, 10); split(b, c, d, 4);", "d"),
    ("split(v, a, b, 8); split(b, c, d, 4); split(d, e, f, 3);", "f"),
    ("split(v, a, b, 8); split(a, c, d, 3); split(c, e, f, 2);", "b"),
    ("split(v, a, b, 8); split(a, c, d, 3); split(b, e, f, 3);", "f"),
    ("split(v, a, b, 5); split(b, c, d, 1); split(a, e, f, 7);", "d"),
    ("split(v, a, b, 64); split(b, c, d, 16); split(d, e, f, 5);", "f"),
    ("split(v, a, b, 4); split(a, c, d, 1); reorder(c, b, d);", "b"),
    ("split(v, a, b, 8); split(b, c, d, 4); reorder(a, d, c);", "c"),
];

/// What else is asked for; `last` is the innermost part.
const REST: [&str; 4] = ["", "vector(last);", "unroll(last);", "parallel(last);"];

/// The extents of the index that is split.
const EXTENTS: [usize; 8] = [0, 1, 7, 8, 9, 17, 65, 70];

fn cases() -> Vec<Vec<Case>> {
    let mut all = Vec::new();
    for (number, (kernel, dims, index)) in KERNELS.iter().enumerate() {
        for (place, (splits, last)) in SPLITS.iter().enumerate() {
            let rest = REST[(number + place) % REST.len()].replace("last", last);
            let splits = splits.replace("(v,", &format!("({index},"));
            let case = |extent: &usize| {
                let dims = dims.replace(&format!("{index}={}", extent_of(dims, index)), &format!("{index}={extent}"));
                let text = format!("// dims: {dims}\n{kernel}\nschedule {{ {splits} {rest} }}");
                Case::parse(&format!("{text} {dims}"), &text).unwrap()
            };
            all.push(EXTENTS.iter().map(case).collect());
        }
    }
    all
}

fn extent_of<'d>(dims: &'d str, index: &str) -> &'d str {
    dims.split(' ').find_map(|dim| dim.strip_prefix(index)?.strip_prefix('=')).expect("it is given")
}

/// The cases of a schedule, ready to run; none where the schedule is refused.
fn ready(cases: &[Case]) -> Result<Vec<Ready>, String> {
    let mut all = Vec::new();
    for case in cases {
        match Ready::new(case) {
            Ok(ready) => all.push(ready),
            Err(Stop::Refused { codes, .. }) if schedule::is_refused(&codes) => return Ok(Vec::new()),
            Err(stop) => return Err(format!("{stop:?}")),
        }
    }
    Ok(all)
}

fn blocks_of_blocks_give_what_the_loop_gives() {
    let cases = cases();
    let refused = AtomicUsize::new(0);
    report::check_all(
        &cases,
        |cases| &cases[0].name,
        |cases| {
            let ready = ready(cases)?;
            refused.fetch_add(usize::from(ready.is_empty()), Ordering::Relaxed);
            let run =
                |(ready, case): (&Ready, &Case)| ready.interpret(1).map_err(|error| format!("{}: {error}", case.name));
            ready.iter().zip(cases).try_for_each(run)
        },
    );
    let refused = refused.into_inner();
    assert!(refused * 2 < cases.len(), "{refused} of {} schedules are refused", cases.len());
}

fn blocks_of_blocks_are_compiled_for_any_extent() -> Result<(), Skip> {
    // A third of them, which takes every kernel, every way to split and every rest.
    let cases: Vec<Vec<Case>> =
        cases().into_iter().enumerate().filter(|(at, _)| at % 3 == at / 12 % 3).map(|(_, cases)| cases).collect();
    let mut all: Vec<Vec<Ready>> = cases.iter().map(|cases| ready(cases).unwrap()).collect();
    all.retain(|ready| !ready.is_empty());
    let firsts: Vec<&Ready> = all.iter().map(|ready| &ready[0]).collect();
    let chains = native::compile(&firsts)?;
    let kernels: Vec<(&Vec<Ready>, Chain)> = all.iter().zip(chains).collect();
    for threads in 1..=5 {
        for (readies, chain) in &kernels {
            for ready in *readies {
                let result = with_threads(threads, || ready.run(chain)).unwrap();
                result.unwrap_or_else(|error| panic!("{threads} threads: {error}"));
            }
        }
    }
    Ok(())
}

spc_tests::tests! {
    blocks_of_blocks_give_what_the_loop_gives,
    [whole] blocks_of_blocks_are_compiled_for_any_extent,
}
