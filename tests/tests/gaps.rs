//! What the compiler refuses today although it has a right answer. A test fails when one of these is closed, so that the list is
//! always as it should be: then take the line out, and make a case of it.
//!
//! What is refused because it has no answer is no gap; that is in `cases/refused`.

use spc_compiler::{compile_notation, notation, syntax};

/// A program, the code that it is refused with, and what is missing.
struct Gap {
    code: &'static str,
    missing: &'static str,
    program: &'static str,
}

const GAPS: &[Gap] = &[
    Gap {
        code: "E0402",
        missing: "entries that are combined apart from the fill value",
        program: "fn k(x: [compressed] fill 2) -> s: [compressed] fill 2 { s(i / 2) += x(i) where x(i); }",
    },
    Gap {
        code: "E0402",
        missing: "the same for values that meet in a dense result",
        program: "fn k(x: dense) -> s: dense fill 2 { s(i / 2) += x(i); }",
    },
    Gap {
        code: "E0407",
        missing: "a mask over an index that some terms sum over and others lack",
        program: "fn k(A: csr, B: csr, c: dense, M: csr) -> y: dense { y(i) = A(i, j) + B(i, j) + c(i) where M(i, j); }",
    },
    Gap {
        code: "E0407",
        missing: "a sum that a mask chooses from, beside what it does not",
        program: "fn k(A: dense, b: dense, M: csr) -> y: dense { y(i) = b(i) - A(i, j) where M(i, j); }",
    },
    Gap {
        code: "E0410",
        missing: "a quotient of many operands behind a mask, whose parts may only be defined for what it has",
        program: "fn k(a: [compressed], b: [compressed], c: [compressed], d: [compressed], e: [compressed], f: [compressed], \
                  g: [compressed], h: [compressed], l: [compressed], m: [compressed], n: [compressed], o: [compressed], \
                  p: [compressed], q: csf) -> y: dense { y(i) = (a(i) + b(i) + c(i) + d(i) + e(i) + f(i) + g(i) + h(i) + \
                  l(i) + m(i) + n(i) + o(i) + p(i)) / q(i) where q(i); }",
    },
];

/// The codes that a program is refused with.
fn refusal(program: &str) -> Option<Vec<String>> {
    let kernels = syntax::parse_program(program).and_then(|program| notation::check(&program));
    let compiled = kernels.and_then(|kernels| kernels.iter().try_for_each(|kernel| compile_notation(kernel).map(drop)));
    let problems = compiled.err()?.into_sorted();
    Some(problems.iter().map(|problem| problem.code.to_string()).collect())
}

fn known_gaps_are_still_there() {
    for Gap { code, missing, program } in GAPS {
        match refusal(program) {
            None => panic!("closed: {missing}. Take it from the list, and make it a case:\n{program}"),
            Some(codes) => assert_eq!(codes, [*code], "{program}"),
        }
    }
}

spc_tests::tests! {
    known_gaps_are_still_there,
}
