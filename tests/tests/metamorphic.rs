//! What must not change a result: other formats of the operands, operands in another order, modes in another order.

use spc_compiler::ir::ElementType;
use spc_tests::case::Case;
use spc_tests::compare::is_close;
use spc_tests::data::Entries;
use spc_tests::engine::Ready;

const DATA: &str = "// dims: i=6 j=6 k=6
// data A: (0, 1)=1 (0, 4)=2 (2, 0)=-3 (2, 2)=0.5 (5, 5)=4
// data B: (0, 1)=2 (1, 1)=-1 (2, 2)=3 (4, 0)=1.5 (5, 3)=-2
";

const FORMATS: [&str; 8] = [
    "dense",
    "csr",
    "csc",
    "dcsr",
    "coo",
    "(i, j) -> [j: compressed, i: compressed]",
    "(i, j) -> [j: compressed(nonunique), i: singleton]",
    "[compressed, dense]",
];

fn run(statement: &str, a: &str, b: &str, c: &str) -> Entries {
    let text = format!("{DATA}fn kernel(A: {a}, B: {b}) -> C: {c} {{ {statement}; }}");
    let case = Case::parse(statement, &text).unwrap_or_else(|error| panic!("{error}"));
    let ready = Ready::new(&case).unwrap_or_else(|stop| panic!("{text}\n{stop:?}"));
    let interpreter = ready.interpreter().unwrap_or_else(|error| panic!("{error}"));
    let results = ready.results(&interpreter).unwrap_or_else(|error| panic!("{text}\n{error}"));
    Entries::of(&results[0])
}

fn assert_same(what: &str, expected: &Entries, found: &Entries) {
    for index in expected.stored.keys().chain(found.stored.keys()) {
        let value = |entries: &Entries| entries.stored.get(index).copied().unwrap_or(0.0);
        let (expected, found) = (value(expected), value(found));
        assert!(is_close(expected, found, ElementType::F64), "{what}: {found} at {index:?} instead of {expected}");
    }
}

#[test]
fn formats_do_not_change_a_result() {
    for statement in
        ["C(i, j) = A(i, j) + B(i, j)", "C(i, j) = A(i, j) * B(j, i)", "C(i, j) = A(i, k) * B(k, j) - A(i, j)"]
    {
        let expected = run(statement, "dense", "dense", "dense");
        for first in FORMATS {
            for second in FORMATS {
                let what = format!("{statement} of {first} and {second}");
                assert_same(&what, &expected, &run(statement, first, second, "dense"));
            }
            assert_same(&format!("{statement} into {first}"), &expected, &run(statement, "csr", "csr", first));
        }
    }
}

#[test]
fn operands_commute() {
    for format in FORMATS {
        for (one, other) in [
            ("C(i, j) = A(i, j) + B(i, j)", "C(i, j) = B(i, j) + A(i, j)"),
            ("C(i, j) = A(i, k) * B(k, j)", "C(i, j) = B(k, j) * A(i, k)"),
            ("C(i, j) = A(i, j) * (B(i, j) + 2)", "C(i, j) = A(i, j) * B(i, j) + 2 * A(i, j)"),
            ("C(i, j) = A(i, j) - B(j, i)", "C(i, j) = -(B(j, i) - A(i, j))"),
        ] {
            let run = |statement: &str| run(statement, format, "csr", "dense");
            assert_same(&format!("{one} and {other} of {format}"), &run(one), &run(other));
        }
    }
}

#[test]
fn a_result_with_its_modes_in_another_order_is_the_transpose() {
    // A dense operand would make the sparse result dense, which is refused.
    for format in &FORMATS[1..] {
        let plain = run("C(i, j) = A(i, k) * B(k, j) + A(i, j)", format, "coo", "csr");
        let turned = run("C(j, i) = A(i, k) * B(k, j) + A(i, j)", format, "coo", "csr");
        let back = turned.stored.into_iter().map(|(index, value)| (vec![index[1], index[0]], value)).collect();
        assert_same(format, &plain, &Entries { shape: plain.shape.clone(), stored: back });
    }
}
