//! Schedules at random: any that a kernel accepts gives what the default schedule gives, which is what the oracle says.

use spc_tests::case::Case;
use spc_tests::data::Random;
use spc_tests::engine::{Ready, Stop};
use spc_tests::harness::options;
use spc_tests::{corpus, report, schedule};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says that operands are too many for one loop nest, which a schedule is of.
const TOO_MANY_TOGETHER: &str = "E0410";

/// What may be said of a schedule that asks for copies: of an order, and that there is none.
const AGAINST: [&str; 2] = ["E0402", "E0503"];

fn are_too_many(codes: &[String]) -> bool {
    codes.iter().all(|code| code == TOO_MANY_TOGETHER)
}

/// So many schedules for each case in the whole; one in the usual tier.
const SCHEDULES: u64 = 2;

/// So many schedules are drawn for each that is to run: most say what a kernel can't do.
const DRAWS: u64 = 8;

/// What a schedule begins with.
const PLAIN: &str = "schedule { ";

/// A case under the first schedule of some drawn ones that is accepted, each with what it is to begin with; `None` where all are refused.
fn accepted(case: &Case, seed: u64, begin: &str) -> Result<Option<(String, Ready)>, String> {
    for draw in 0..DRAWS {
        let mut random = Random::new((seed * DRAWS + draw).wrapping_mul(7919).wrapping_add(case.text.len() as u64));
        let Some(mut case) = schedule::scheduled(case, &mut random) else { break };
        case.text = case.text.replacen("schedule { ", begin, 1);
        match Ready::new(&case) {
            Ok(ready) => return Ok(Some((case.text, ready))),
            Err(Stop::Refused { codes, .. }) if schedule::is_refused(&codes) || are_too_many(&codes) => {}
            // A copy may have no order of loops beside parts that are computed before, and a sparse part none beside what is precomputed.
            Err(Stop::Refused { codes, .. })
                if (begin != PLAIN || case.text.contains("+="))
                    && codes.iter().all(|code| AGAINST.contains(&&code[..])) => {}
            Err(stop) => return Err(format!("{stop:?}\n{}", case.text)),
        }
    }
    Ok(None)
}

fn any_schedule_gives_the_same() {
    let cases = corpus::cases();
    let has_loops = |case: &&Case| case.refused.is_none() && schedule::scheduled(case, &mut Random::new(0)).is_some();
    let cases: Vec<&Case> = cases.iter().filter(has_loops).collect();
    let seeds = options().seeds(1, SCHEDULES);
    let drawn: Vec<(&Case, u64)> = cases.iter().flat_map(|case| seeds.clone().map(|seed| (*case, seed))).collect();
    let refused = AtomicUsize::new(0);
    report::check_all(
        &drawn,
        |(case, _)| &case.text,
        |(case, seed)| {
            let Some((text, ready)) = accepted(case, *seed, PLAIN)? else {
                refused.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            };
            ready.interpret(*seed).map_err(|error| format!("{error}\n{text}"))
        },
    );
    let refused = refused.into_inner();
    assert!(refused * 4 < drawn.len(), "all schedules are refused for {refused} of {}", drawn.len());
}

/// Kernels whose operand lists its entries, their extents, and in which order these may be read.
const LISTED: &[(&str, &str, &str)] = &[
    ("fn k(A: coo, x: dense) -> y: dense { y(j) = A(i, j) * x(i); }", "i=7 j=9", "A(j, i)"),
    ("fn k(A: f32 coo, B: f32 dense) -> C: f32 dense { C(j, r) = A(i, j) * B(i, r); }", "i=7 j=9 r=5", "A(j, i)"),
    (
        "fn k(A: i64 coo, x: i64 dense) -> y: i64 dense { y(j) min= A(i, j) + x(i) where A(i, j); }",
        "i=8 j=6",
        "A(j, i)",
    ),
    ("fn k(A: coo, x: dense, b: dense) -> y: dense { y(j) = b(j) - A(i, j) * x(i) + 1; }", "i=5 j=7", "A(j, i)"),
    (
        "fn k(X: coo, B: dense, C: dense) -> A: dense { A(j, r) = X(i, j, k) * B(i, r) * C(k, r); }",
        "i=4 j=6 k=5 r=3",
        "X(j, i, k)",
    ),
    (
        "fn k(X: coo, B: dense, C: dense) -> A: dense { A(k, r) = X(i, j, k) * B(i, r) * C(j, r); }",
        "i=4 j=6 k=5 r=3",
        "X(k, i, j)",
    ),
    (
        "fn k(X: coo, B: dense, C: dense) -> A: dense { A(k, r) = X(i, j, k) * B(i, r) * C(j, r); }",
        "i=4 j=6 k=5 r=3",
        "X(k, j, i)",
    ),
    (
        "fn k(X: coo, B: dense, C: dense) -> A: dense { A(j, r) = X(i, j, k, i) * B(i, r) * C(k, r); }",
        "i=4 j=6 k=5 r=3",
        "X(j, i, k, i)",
    ),
    (
        "fn k(X: coo, v: dense, w: dense, u: dense) -> y: dense { y(l) = X(i, j, k, l) * v(i) * w(j) * u(k); }",
        "i=3 j=4 k=3 l=5",
        "X(l, i, j, k)",
    ),
    ("fn k(X: coo, v: dense) -> y: dense { y(k) = sum(i, j)(X(i, j, k)) * v(k); }", "i=4 j=5 k=6", "X(k, i, j)"),
];

/// So many schedules for each kernel that reads entries through a permutation.
const PERMUTED: u64 = 20;

fn any_schedule_takes_a_permutation() {
    let drawn: Vec<(&(&str, &str, &str), u64)> =
        LISTED.iter().flat_map(|kernel| (0..PERMUTED).map(move |seed| (kernel, seed))).collect();
    let run = AtomicUsize::new(0);
    report::check_all(
        &drawn,
        |((text, ..), _)| text,
        |((text, dims, order), seed)| {
            let case = Case::of_file("schedules", &format!("// dims: {dims}\n{text}\n"))?;
            let asked = format!("schedule {{ copy({order}: permutation); ");
            let Some((text, ready)) = accepted(&case, *seed, &asked)? else { return Ok(()) };
            run.fetch_add(1, Ordering::Relaxed);
            ready.interpret(*seed).map_err(|error| format!("{error}\n{text}"))
        },
    );
    let run = run.into_inner();
    assert!(run * 4 > drawn.len(), "{run} of {} schedules run", drawn.len());
}

spc_tests::tests! {
    any_schedule_gives_the_same,
    any_schedule_takes_a_permutation,
}
