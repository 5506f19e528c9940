//! Each directive overrides what the scheduler would do, with the same result, or is refused with its place, the reason and a remedy.

use spc_compiler::{compile, notation, schedule, syntax};
use spc_tests::case::Case;
use spc_tests::engine::Ready;
use spc_tests::harness::Skip;
use spc_tests::report::check_all;
use spc_tests::{corpus, native};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A kernel, its extents, a schedule, and a line of the loops that it gives, which the default does not have.
const OVERRIDES: &[(&str, &str, &str, &str)] = &[
    (SPGEMM, "i=5 k=6 j=7", "assemble(C: list);", "delivered as [dense, compressed]"),
    (SPGEMM, "i=5 k=6 j=7", "assemble(C: append);", "sorted copy of B"),
    (SPGEMM, "i=5 k=6 j=7", "workspace(t(j): hash);", "workspace, found by a table"),
    (SPGEMM, "i=5 k=6 j=7", "workspace(t: list);", "workspace, a list that is sorted"),
    (SCALED, "i=5 j=6", "assemble(Y: append);", "output, appended"),
    (SCALED, "i=5 j=6", "assemble(Y: list);", "delivered as"),
    (SPMV, "i=5 j=6", "accumulate(j: none);", "y(i) += A(i, j) * x(j)"),
    (SPMV, "i=5 j=6", "accumulate(j: total);", "total += A(i, j) * x(j)"),
    (SPMV, "i=5 j=6", "reorder(j, i); accumulate(j: whole(i));", "whole(i) += A_ji(i, j) * x(j)"),
    (SPMV, "i=5 j=6", "copy(A(j, i));", "A_ji"),
    (LISTED, "i=5 j=6", "copy(A(j, i): permutation);", "permutation of A"),
    (SPMV, "i=5 j=6", "parallel(i: none);", "\n    for all i"),
    (SPMV, "i=5 j=6", "parallel(i);", "\n    parallel for all i\n"),
    (KHATRI_RAO, "i=4 j=5 r=3", "copy(B: none);", "B(j, r)"),
    (BLOCKS, "i=6 j=6", "walk(A: none);", "sorted copy of A"),
    (BLOCKS, "i=6 j=6", "walk(A, ib, jb, ii, ji); accumulate(jb: none);", "for all jb"),
    (DIAGONALS, "i=6 j=6", "walk(A, d); split(i, i0, i1, 2);", "for all i0"),
    (DIAGONALS, "i=6 j=6", "walk(A, d); reorder(d, i);", "for all d\n"),
    (TEMPORARY, "i=5 j=6", "inline(t);", "kernel k_y\n    A: "),
    (FUSED, "i=5 j=6", "materialize(t);", "kernel k_t\n"),
    (FUSED, "i=5 j=6", "materialize(t); on t { accumulate(j: none); }", "t(i) += A(i, j) * x(j)"),
];

/// The same of what passes make of single loops.
const EXPANDED: &[(&str, &str, &str, &str)] = &[
    (SPMV, "i=5 j=6", "simd(j: none);", "t += A_run[entry] * x[j]"),
    (SPMV, "i=5 j=6", "simd(j: lanes);", "t += fold(+, (A_run * x at A2_crd_run))"),
    (FIBERS, "i=3 j=4 k=5", "simd(k: none);", " * x[k]"),
    (SLICED, "i=9 j=6", "simd(j: none);", "t += A_vals[pA2] * x[j]"),
    (SPMM, "i=5 j=6 r=19", "register_tile(r, 8);", "r_strip * 8"),
    (SPMM, "i=5 j=6 r=19", "register_tile(r, none);", "for r in 0..d1:r vector"),
    (SPMM, "i=5 j=6 r=19", "register_tile(r, 32);", "r_strip * 32"),
    (SPMM, "i=5 j=6 r=19", "register_tile(r, overlapped(24));", "for r in 0..12 vector"),
];

const FIBERS: &str = "fn k(A: csf, x: dense) -> y: dense { y(i, j) = A(i, j, k) * x(k); }";
const SLICED: &str = "fn k(A: sell(8), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
const SPMM: &str = "fn k(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }";
const COMPLEX: &str = "fn k(A: c64 csr, x: c64 dense) -> y: c64 dense { y(i) = A(i, j) * x(j); }";
const SUMS: &str = "fn k(X: dense, Z: dense) -> Y: dense { Y(i, r) = X(i, r) + Z(i, r); }";
const SPGEMM: &str = "fn k(A: csr, B: csr) -> C: csr { C(i, j) = A(i, k) * B(k, j); }";
const SCALED: &str = "fn k(A: csr, x: dense) -> Y: csr { Y(i, j) = A(i, j) * x(j); }";
const SPMV: &str = "fn k(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
const LISTED: &str = "fn k(A: coo, x: dense) -> y: dense { y(j) = A(i, j) * x(i); }";
const FIBERS_OF_COO: &str = "fn k(X: coo, x: dense) -> Y: dense { Y(j, k) = X(i, j, k) * x(i); }";
const EVERYWHERE: &str = "fn k(X: coo, w: dense) -> y: dense { y(j) = exp(X(i, j, k)) * w(k); }";
const MASKED: &str = "fn k(A: coo, B: coo) -> y: dense { y(j) = A(i, j) * B(i, j); }";
const KHATRI_RAO: &str = "fn k(A: csr, B: csr) -> C: csf { C(i, j, r) = A(i, r) * B(j, r); }";
const BLOCKS: &str = "fn k(A: bcsr(2), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
const DIAGONALS: &str = "fn k(A: dia, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
const TEMPORARY: &str =
    "fn k(A: csr, x: dense) -> (y: dense, z: dense) { let t(i) = A(i, j) * x(j); y(i) = t(i) + 1; z(i) = t(i) * 2; }";
const FUSED: &str = "fn k(A: csr, x: dense, b: dense) -> y: dense { let t(i) = A(i, j) * x(j); y(i) = t(i) + b(i); }";

fn case(text: &str, dims: &str, schedule: &str) -> Case {
    let text = format!("{text} schedule {{ {schedule} }}");
    Case::of_file(schedule, &format!("// dims: {dims}\n{text}")).expect("the header reads well")
}

fn loops(ready: &Ready) -> String {
    ready.program.kernels.iter().map(|compiled| compiled.concrete.to_string()).collect::<Vec<_>>().join("\n")
}

/// The loops that passes left, without ids and indents.
fn expanded(ready: &Ready) -> String {
    let text: Vec<String> = ready.program.kernels.iter().map(|compiled| compiled.kernel.to_string()).collect();
    let without_ids = text
        .join("\n")
        .split_inclusive([' ', '[', '(', '\n', '-'])
        .map(|word| match word.split_once(':') {
            Some((id, name)) if id.len() > 1 && id[1..].bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => word,
        })
        .collect::<String>();
    without_ids.lines().map(str::trim).collect::<Vec<_>>().join("\n ")
}

fn scheduled() -> Vec<Ready> {
    let of = |&(text, dims, asked, _): &(&str, &str, &str, &str)| {
        Ready::new(&case(text, dims, asked)).unwrap_or_else(|stop| panic!("{asked}: {stop:?}"))
    };
    OVERRIDES.iter().chain(EXPANDED).map(of).collect()
}

fn a_directive_changes_the_loops_and_not_the_result() {
    changes(OVERRIDES, loops);
}

fn a_directive_changes_what_passes_make_and_not_the_result() {
    changes(EXPANDED, expanded);
}

fn changes(overrides: &[(&str, &str, &str, &str)], loops: fn(&Ready) -> String) {
    check_all(
        overrides,
        |(_, _, asked, _)| asked,
        |(text, dims, asked, expected)| {
            let ready = |asked: &str| Ready::new(&case(text, dims, asked)).map_err(|stop| format!("{stop:?}"));
            let (plain, ready) = (ready("")?, ready(asked)?);
            let (before, after) = (loops(&plain), loops(&ready));
            match (before.contains(expected), after.contains(expected)) {
                (true, _) => Err(format!("the default has `{expected}`:\n{before}")),
                (_, false) => Err(format!("there is no `{expected}`:\n{after}")),
                _ => ready.interpret(1),
            }
        },
    );
}

fn the_same_natively() -> Result<(), Skip> {
    let ready = scheduled();
    let chains = native::compile(&ready.iter().collect::<Vec<_>>())?;
    for ((ready, chain), (.., asked, _)) in ready.iter().zip(&chains).zip(OVERRIDES.iter().chain(EXPANDED)) {
        ready.run(chain).unwrap_or_else(|problem| panic!("{asked}: {problem}"));
    }
    Ok(())
}

/// What tuning tries beside orders, strips and parallel loops.
const TRIED: [&str; 7] = ["assemble", "workspace", "accumulate", "walk", "copy", "simd", "register_tile"];

fn neighbours_of_a_schedule_give_the_same() {
    let cases: Vec<Case> = corpus::cases().into_iter().filter(|case| case.refused.is_none()).collect();
    let tried = AtomicUsize::new(0);
    check_all(
        &cases,
        |case| &case.name,
        |case| {
            let Ok(kernels) = syntax::parse_program(&case.text).and_then(|program| notation::check(&program)) else {
                return Ok(());
            };
            let found = schedule::alternatives(&kernels[0], schedule::Options::default(), &|_| None);
            let is_tried = |block: &&syntax::Schedule| TRIED.contains(&block.directives[0].name.name.as_str());
            for block in found.iter().filter(is_tried) {
                let changed = kernels[0].with_schedule(block.clone());
                let ready = Ready::of(case, changed, schedule::Options::default(), &[]);
                // Whether rows can be tiled, passes tell; tuning goes on without.
                if ready.is_err() && block.directives[0].name.name == "register_tile" {
                    continue;
                }
                let ready = ready.map_err(|stop| format!("{block}: {stop:?}"))?;
                ready.interpret(1).map_err(|problem| format!("{block}: {problem}"))?;
                tried.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        },
    );
    let tried = tried.into_inner();
    assert!(tried > 200, "{tried} schedules are tried");
}

/// A kernel, a schedule that it can't keep to, the text that is marked, and words of the reason and of the remedy.
const REFUSED: &[(&str, &str, &str, &str, &str)] = &[
    (SPGEMM, "assemble(C: shared);", "assemble(C: shared)", "no operand has the structure", "stored as one operand is"),
    (SPGEMM, "assemble(C: dense);", "assemble(C: dense)", "store entries", "declare it with a dense format"),
    (SPMV, "assemble(y: list);", "assemble(y: list)", "dense levels alone", "format that stores entries"),
    (SPGEMM, "assemble(C: workspace(i));", "assemble(C: workspace(i))", "innermost levels", "name these levels"),
    (SPGEMM, "assemble(C: sorted);", "assemble(C: sorted)", "no way to assemble", "`list`"),
    (SPGEMM, "workspace(s(j): hash);", "workspace(s(j): hash)", "no such workspace", "--emit schedule"),
    (SPGEMM, "workspace(t(j): tree);", "tree", "no storage", "`hash`"),
    (SPMV, "accumulate(i: t);", "accumulate(i: t)", "nothing is accumulated", "a loop that reduces"),
    (SPMV, "accumulate(j);", "accumulate(j)", "no accumulator", "accumulate(k: none)"),
    (SPMV, "reorder(j, i); copy(A: none);", "copy(A: none)", "stand against", "another order"),
    (SPMV, "copy(A(i, j));", "copy(A(i, j))", "no loops read such a copy", "another order"),
    (SPMV, "copy(A(j, i): permutation);", "copy(A(j, i): permutation)", "list entries", "ask for a copy"),
    (MASKED, "copy(A(j, i): permutation);", "copy(A(j, i): permutation)", "met by those of another", "ask for a copy"),
    (
        FIBERS_OF_COO,
        "copy(X(j, k, i): permutation);",
        "copy(X(j, k, i): permutation)",
        "other indices",
        "ask for a copy",
    ),
    (
        EVERYWHERE,
        "copy(X(j, i, k): permutation);",
        "copy(X(j, i, k): permutation)",
        "without an entry",
        "ask for a copy",
    ),
    (SPMV, "copy(A(j, i): order);", "A(j, i)", "no order", "`copy(A(j, i): permutation)`"),
    (SPMV, "copy(y(i));", "y(i)", "can't be copied", "operands"),
    (SPMV, "walk(A);", "walk(A)", "are not walked", "must be dense"),
    (BLOCKS, "walk(A, ib);", "walk(A, ib)", "another number of levels", "outermost first"),
    (SPMV, "parallel(j: balanced(A));", "parallel(j: balanced(A))", "no shares", "outermost loop"),
    (SPMV, "parallel(i: often);", "often", "no way to run", "`none`"),
    (SPMV, "parallel(i_3);", "i_3", "no term has it", "--emit concrete"),
    (TEMPORARY, "inline(x);", "inline(x)", "no such temporary", "`let`"),
    (SPMV, "simd(i: lanes);", "simd(i: lanes)", "no innermost loop that reduces", "to the inside"),
    (SPMV, "simd(j: wide);", "wide", "not a choice", "`segmented`"),
    (SPMV, "simd(j);", "j", "says nothing", "simd(j: lanes)"),
    (SPMV, "simd(q: lanes);", "q", "not an index variable", "simd(j: lanes)"),
    (SPMV, "simd(j: side_by_side);", "simd(j: side_by_side)", "lie side by side", "leave the choice"),
    (SLICED, "simd(j: segmented);", "simd(j: segmented)", "one behind the other", "leave the choice"),
    (SLICED, "simd(j: lanes);", "simd(j: lanes)", "no loop can be expanded", "ask for `none`"),
    (SPMV, "accumulate(j: none); simd(j: lanes);", "simd(j: lanes)", "no loop can be expanded", "ask for `none`"),
    (COMPLEX, "simd(j: segmented);", "simd(j: segmented)", "can't be vectorized", "another element type"),
    (SPMM, "simd(j: lanes);", "simd(j: lanes)", "no innermost loop", "to the inside"),
    (SPMM, "simd(r: none);", "simd(r: none)", "no innermost loop that reduces", "leave the choice"),
    (SPMM, "register_tile(r, 0);", "0", "not a width", "1 to 1024"),
    (SPMM, "register_tile(r, overlapped(0));", "overlapped(0)", "not a width", "1 to 1024"),
    (SPMM, "register_tile(r, folded(8));", "folded(8)", "not a width", "overlapped(64)"),
    (SPMV, "register_tile(i, 8);", "register_tile(i, 8)", "no loop in vector lanes", "`vector`"),
    (SUMS, "register_tile(r, 8);", "register_tile(r, 8)", "no rows are reduced into", "leave it out"),
    (SPMV, "distribute(x);", "distribute(x)", "can't be kept to", "stored entries"),
    (SPMV, "distribute(j);", "distribute(j)", "can't be kept to", "the result has `i`"),
    (SPMV, "distribute(A: grid(2));", "distribute(A: grid(2))", "can't be kept to", "parts of each mode"),
    (SPMV, "distribute(A: grid(2, 0));", "distribute(A: grid(2, 0))", "can't be kept to", "`distribute(i)`"),
    (SPMV, "distribute(A + x);", "distribute(A + x)", "can't be kept to", "`distribute(X)`"),
    (SPMV, "distribute(A); distribute(i);", "distribute(i)", "can't be kept to", "share out one thing"),
    (SPMV, "on z { parallel(i); }", "z", "not a result", "left of a statement"),
];

fn what_is_illegal_is_refused_with_place_reason_and_remedy() {
    let check = |(text, asked, marked, reason, remedy): &(&str, &str, &str, &str, &str)| {
        let text = format!("{text} schedule {{ {asked} }}");
        let kernels = syntax::parse_program(&text).and_then(|program| notation::check(&program));
        let scheduled = |kernel: &notation::Kernel| {
            schedule::schedule(kernel, schedule::Options::default()).and_then(compile).map(drop)
        };
        let found = kernels.and_then(|kernels| kernels.iter().try_for_each(scheduled));
        let problems = found.err().ok_or("it is taken")?.into_sorted();
        let is_it = |problem: &&spc_compiler::diagnostics::Diagnostic| {
            text[problem.span.start..problem.span.end].trim_end_matches(';') == *marked
                && problem.label.contains(reason)
                && problem.help.iter().any(|help| help.contains(remedy))
        };
        problems.iter().any(|problem| is_it(&problem)).then_some(()).ok_or_else(|| format!("{problems:?}"))
    };
    check_all(REFUSED, |(_, asked, ..)| asked, check);
}

spc_tests::tests! {
    a_directive_changes_the_loops_and_not_the_result,
    a_directive_changes_what_passes_make_and_not_the_result,
    neighbours_of_a_schedule_give_the_same,
    [whole] the_same_natively,
    what_is_illegal_is_refused_with_place_reason_and_remedy,
}
