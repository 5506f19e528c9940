//! What must not change a result: other formats of the operands, operands in another order, modes in another order, indices and data
//! that are shifted together, a window instead of a product with a matrix that selects it.

use spc::execute::{Backend, Chain, Kernel};
use spc::generate;
use spc::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, Indices, pack};
use spc_tests::case::Case;
use spc_tests::data::Entries;
use spc_tests::engine::Ready;
use spc_tests::number::Number;

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
    run_text(&format!("{DATA}fn kernel(A: {a}, B: {b}) -> C: {c} {{ {statement}; }}"))
}

/// The result of a case.
fn run_text(text: &str) -> Entries {
    let case = Case::parse("metamorphic", text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let ready = Ready::new(&case).unwrap_or_else(|stop| panic!("{text}\n{stop:?}"));
    let interpreter = ready.interpreter().unwrap_or_else(|error| panic!("{error}"));
    let results = ready.results(&interpreter).unwrap_or_else(|error| panic!("{text}\n{error}"));
    Entries::of(&results[0])
}

fn assert_same(what: &str, expected: &Entries, found: &Entries) {
    for index in expected.stored.keys().chain(found.stored.keys()) {
        let value = |entries: &Entries| entries.stored.get(index).copied().unwrap_or(Number::F64(0.0));
        let (expected, found) = (value(expected), value(found));
        assert!(expected.is_close(found), "{what}: {found} at {index:?} instead of {expected}");
    }
}

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

/// Formats that store nothing but entries, and others that also store places without one.
const PATTERNS: [&str; 18] = [
    "csr",
    "csc",
    "dcsr",
    "coo",
    "alto",
    "lco",
    "hicoo(2)",
    "csb(2)",
    "ell",
    "sell(2)",
    "[dense, hashed]",
    "bcsr(2)",
    "bcsf(2)",
    "dia",
    "skyline",
    "scoo",
    "[dense, run]",
    "(i, j) -> [j: compressed, i: dense]",
];

/// The pattern of a tensor is the same in every format: that of a mask, of `stored`, of an operand, of a temporary.
fn formats_do_not_change_which_entries_a_result_stores() {
    let masks = [
        "C(i, j) = B(i, j) * 0 + 1 where A(i, j)",
        "C(i, j) = B(i, j) where A(i, j)",
        "C(i, j) = B(i, j) where !A(i, j)",
        "C(i, j) = B(i, j) / A(i, j) where A(i, j)",
        "C(i, j) = select(stored(A(i, j)), B(i, j) + 3, 0)",
        "C(i, j) = sum(k)(B(i, k) * B(k, j)) where A(i, j)",
    ];
    let values = [
        "let T(i, j) = 2 * A(i, j); C(i, j) = B(i, j) where T(i, j)",
        "C(i, j) = 2 * A(i, j) + 0 * B(i, j)",
        "C(i, j) = A(i, j) + B(i, j)",
        "C(i, j) = A(j, i) - B(i, j)",
        "C(i, j) = A(i, k) * B(k, j)",
        "C(i, j) = A(i, k) * A(j, k) + 0 * B(i, j)",
        "let T(i, j) = A(i, j) * B(j, i); C(i, j) = T(i, j) + A(i, j)",
        "C(i, j) = concat(j, A(i, j), B(i, j))",
        "C(i + 0, j + 0) = A(i, j); C(i + extent(A, 1), j + extent(A, 2)) += B(i, j)",
    ];
    let all = masks.iter().map(|statement| (statement, true)).chain(values.iter().map(|statement| (statement, false)));
    for (statement, is_mask) in all {
        let expected = run(statement, "csr", "csr", "coo");
        // Blocks that store every element have no pattern but for masks.
        let full = ["tiled(2)"].into_iter().filter(|_| is_mask);
        for format in PATTERNS.into_iter().chain(full) {
            for result in ["csr", "coo"] {
                let found = run(statement, format, "csr", result);
                assert_eq!(expected.stored, found.stored, "{statement} of {format} into {result}");
            }
        }
    }
}

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

fn a_result_with_its_modes_in_another_order_is_the_transpose() {
    // A dense operand would make the sparse result dense, which is refused.
    for format in &FORMATS[1..] {
        let plain = run("C(i, j) = A(i, k) * B(k, j) + A(i, j)", format, "coo", "csr");
        let turned = run("C(j, i) = A(i, k) * B(k, j) + A(i, j)", format, "coo", "csr");
        let back = turned.stored.into_iter().map(|(index, value)| (vec![index[1], index[0]], value)).collect();
        assert_same(format, &plain, &Entries { shape: plain.shape.clone(), stored: back });
    }
}

/// Entries as a line of a case's header.
fn data(name: &str, entries: &[([usize; 2], f64)], shift: [usize; 2]) -> String {
    let entry = |([i, j], value): &([usize; 2], f64)| format!("({}, {})={value}", i + shift[0], j + shift[1]);
    format!("// data {name}: {}\n", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
}

const MATRIX: [([usize; 2], f64); 7] =
    [([0, 1], 1.0), ([1, 0], -2.0), ([1, 3], 0.5), ([2, 2], 3.0), ([3, 0], 4.0), ([3, 2], -1.5), ([3, 3], 2.0)];

fn a_window_is_a_product_with_matrices_that_select_it() {
    let rows = "// data S: (0, 1)=1 (1, 2)=1 (2, 3)=1\n// data T: (0, 0)=1 (1, 2)=1\n";
    for format in FORMATS {
        let head = format!("// dims: i=3 j=2 A1_size=4 A2_size=4\n{}", data("A", &MATRIX, [0, 0]));
        let window = run_text(&format!("{head}fn kernel(A: {format}) -> C: dense {{ C(i, j) = A(i + 1, 2 * j); }}"));
        let head = head.replace("A1_size", "p").replace("A2_size", "q") + rows;
        let product = run_text(&format!(
            "{head}fn kernel(A: {format}, S: csr, T: csr) -> C: dense {{ C(i, j) = S(i, p) * A(p, q) * T(j, q); }}"
        ));
        assert_same(&format!("a window of {format}"), &product, &window);
    }
}

fn indices_and_data_shift_together() {
    for format in FORMATS {
        let plain = data("A", &MATRIX, [0, 0]);
        let plain = run_text(&format!(
            "// dims: i=4 j=4\n{plain}fn kernel(A: {format}) -> C: dense {{ C(i, j) = A(i, j) - A(j, i); }}"
        ));
        for (shift, index) in
            [([2, 3], "A(i + 2, j + 3) - A(j + 2, i + 3)"), ([1, 0], "A(1 + i, j + 0) - A(j + 1, i + 0)")]
        {
            let head = format!("// dims: i=4 j=4 A1_size=7 A2_size=8\n{}", data("A", &MATRIX, shift));
            let text = format!("{head}fn kernel(A: {format}) -> C: dense {{ C(i, j) = {index}; }}");
            assert_same(&text, &plain, &run_text(&text));
        }
        let head = format!("// dims: i=4 j=4 C1_size=9\n{}", data("A", &MATRIX, [0, 0]));
        let text = format!("{head}fn kernel(A: {format}) -> C: dense {{ C(2 * i + 1, j + 3) = A(i, j); }}");
        let shifted = run_text(&text);
        let back = MATRIX.iter().map(|([i, j], value)| (vec![2 * i + 1, j + 3], Number::F64(*value))).collect();
        assert_same(&text, &Entries { shape: shifted.shape.clone(), stored: back }, &shifted);
    }
}

/// `c(n)` is the sum over all `a(i) * b(j)` with `i + j = n`: pushed to where it belongs, or pulled out of a longer `a`.
fn a_convolution_is_a_product_of_polynomials() {
    let formats = ["dense", "[compressed]", "[compressed(nonunique)]"];
    for a in formats {
        for b in formats {
            let factor = "// data b: (0)=2 (1)=-1 (2)=0.5\n";
            let pushed = run_text(&format!(
                "// dims: i=5 j=3\n// data a: (0)=1 (2)=3 (4)=-2\n{factor}\
                 fn kernel(a: {a}, b: {b}) -> c: dense {{ c(i + j) += a(i) * b(j); }}"
            ));
            let pulled = run_text(&format!(
                "// dims: n=7 k=3 a1_size=9\n// data a: (2)=1 (4)=3 (6)=-2\n{factor}\
                 fn kernel(a: {a}, b: {b}) -> c: dense {{ c(n) = a(n + 2 - k) * b(k); }}"
            ));
            assert_eq!(pushed.shape, pulled.shape);
            assert_same(&format!("{a} and {b}"), &pushed, &pulled);
            let turned = run_text(&format!(
                "// dims: n=7 k=3 a1_size=9\n// data a: (2)=1 (4)=3 (6)=-2\n// data b: (2)=2 (1)=-1 (0)=0.5\n\
                 fn kernel(a: {a}, b: {b}) -> c: dense {{ c(n) = a(n + k) * b(k); }}"
            ));
            assert_same(&format!("{a} and {b}, turned"), &pushed, &turned);
        }
    }
}

/// With other formats beside those above: blocks, diagonals, one number an entry.
const BLOCKED: [&str; 8] = [
    "bcsr(2)",
    "bcsr(4)",
    "csb(4)",
    "tiled(3)",
    "hicoo(2)",
    "alto",
    "dia",
    "(i, j) -> [j / 4: compressed, i: dense, j % 4: dense]",
];

fn blocked_and_unblocked_are_the_same() {
    for statement in
        ["C(i, j) = A(i, k) * B(k, j) + A(i, j)", "C(i, j) = A(j, i) - B(i, j)", "C(i, j) = A(i, j) * B(i, j)"]
    {
        let plain = run(statement, "csr", "csr", "csr");
        for format in BLOCKED {
            let what = format!("{statement} of {format}");
            assert_same(&what, &plain, &run(statement, format, "csr", "dense"));
            assert_same(&what, &plain, &run(statement, "coo", format, "dense"));
            assert_same(&format!("{statement} into {format}"), &plain, &run(statement, "csr", "csr", format));
        }
    }
}

/// A product of 2 A - 3 B is twice that of A less three times that of B, in each factor.
fn products_are_linear_in_each_operand() {
    let products = ["C(i, j) = X(i, k) * Y(k, j)", "C(i, j) = X(j, i) * Y(i, j)", "C(i, j) = X(i, j) * Y(k, k)"];
    let of = |product: &str, x: &str, y: &str| {
        let place = |text: &str, name: &str, by: &str| {
            let (before, rest) = text.split_once(&format!("{name}(")).expect("a factor");
            let (indices, after) = rest.split_once(')').expect("indices");
            format!("{before}{}{after}", by.replace("()", &format!("({indices})")))
        };
        place(&place(product, "X", x), "Y", y)
    };
    let scaled = |one: Entries, other: Entries| {
        let value =
            |entries: &Entries, index: &[usize]| entries.stored.get(index).map_or(0.0, |value| value.to_c64().re);
        let indices = one.stored.keys().chain(other.stored.keys());
        let sum = |index: &Vec<usize>| Number::F64(2.0 * value(&one, index) - 3.0 * value(&other, index));
        let stored = indices.map(|index| (index.clone(), sum(index))).collect();
        Entries { shape: one.shape.clone(), stored }
    };
    let both = "(2 * A() - 3 * B())";
    for product in products {
        for format in FORMATS.iter().chain(&BLOCKED).copied() {
            let run = |x: &str, y: &str| {
                let product = of(product, x, y);
                // Whatever is not read is no parameter.
                run(&format!("{product} + 0 * (A(i, j) + B(i, j))"), format, "csr", "dense")
            };
            assert_same(product, &scaled(run("A()", "A()"), run("B()", "A()")), &run(both, "A()"));
            assert_same(product, &scaled(run("B()", "A()"), run("B()", "B()")), &run("B()", both));
        }
    }
}

/// An operand that is read on its diagonal has entries beside it, which are none of the result's.
fn a_part_of_an_operand_stores_that_part() {
    let (rows, columns) = (vec![0, 0, 1, 2, 3, 3], vec![0, 2, 0, 2, 1, 3]);
    let indices = vec![Indices::U32(rows), Indices::U32(columns)];
    let entries = Coordinates { shape: vec![4, 4], shape_is_stated: true, indices, values: vec![1.0; 6] };
    for statement in ["A(i, i) = 2 * B(i, i)", "A(i, i) = x(i) where B(i, i)", "A(i, i + 0) = B(i, i + 0)"] {
        let builder = Kernel::builder(statement).format("A", "csr").format("B", "csr").backend(Backend::Interpreter);
        let kernel = builder.compile().unwrap_or_else(|error| panic!("{statement}: {error}"));
        let csr = &kernel
            .compiled()
            .declarations
            .tensors
            .iter()
            .find(|tensor| tensor.name == "B")
            .expect("it is read")
            .format;
        let b = pack::<f64>(entries.clone(), csr, Duplicates::Sum).expect("it fits");
        let x = generate::ones(&[4], ElementType::F64).expect("it fits");
        let inputs: Vec<&AnyTensor> = if statement.contains('x') { vec![&x, &b] } else { vec![&b] };
        let chain = Chain::new(kernel.compiled(), Backend::Interpreter).expect("it runs anywhere");
        let outcome = chain.run(&inputs, &[], 1).unwrap_or_else(|error| panic!("{statement}: {error}"));
        assert_eq!(outcome.outputs[0].1.nnz(), 3, "{statement}");
    }
}

spc_tests::tests! {
    a_part_of_an_operand_stores_that_part,
    formats_do_not_change_a_result,
    formats_do_not_change_which_entries_a_result_stores,
    operands_commute,
    a_result_with_its_modes_in_another_order_is_the_transpose,
    a_window_is_a_product_with_matrices_that_select_it,
    indices_and_data_shift_together,
    a_convolution_is_a_product_of_polynomials,
    blocked_and_unblocked_are_the_same,
    products_are_linear_in_each_operand,
}
