//! From the language to results: every kernel natively, with one thread and with several, and in the interpreter.

use super::testing::{csr, matrix, values, vector};
use super::*;
use crate::parallel::with_threads;
use crate::tensor::{AnyTensor, Coordinates, Duplicates, Indices, pack};
use spc_compiler::format::{Format, LevelFormat};
use spc_compiler::ir::ElementType;
use spc_compiler::{Program, backend, compile_notation, notation, syntax};

fn compiled(text: &str) -> Program {
    let program = syntax::parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}"));
    let kernels = notation::check(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
    compile_notation(&kernels[0]).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The first output by every engine, which must be the same.
fn result(text: &str, inputs: &[&AnyTensor], stated: &[(&str, usize)]) -> AnyTensor {
    let program = compiled(text);
    let rust: Vec<String> = program.kernels.iter().map(|compiled| backend::rust::text(&compiled.kernel)).collect();
    let rust = rust.join("\n");
    let native = Chain::new(&program, Backend::Native).unwrap_or_else(|e| panic!("{e}\n{rust}"));
    let interpreter = Chain::new(&program, Backend::Interpreter).unwrap();
    let mut outputs = [(&native, 1), (&native, 4), (&interpreter, 1)].map(|(chain, threads)| {
        let outcome = with_threads(threads, || chain.run(inputs, stated, 2)).unwrap();
        outcome.unwrap_or_else(|e| panic!("{e}\n{rust}")).outputs.remove(0).1
    });
    assert_eq!(outputs[0], outputs[1], "{rust}");
    assert_eq!(outputs[0], outputs[2], "{rust}");
    std::mem::replace(&mut outputs[0], vector(Vec::new()))
}

/// A matrix of small integers, so that sums are exact in any order; some rows are empty and one is full.
fn skewed(rows: u32, columns: u32, format: &Format) -> AnyTensor {
    let mut entries: Vec<(u32, u32, f64)> = (0..rows)
        .filter(|row| row % 3 != 1)
        .flat_map(|row| (0..5).map(move |k| (row, (row * 7 + k * 11) % columns, f64::from(row % 10 + k))))
        .collect();
    entries.extend((0..columns).map(|column| (1, column, 1.0)));
    matrix([rows as usize, columns as usize], &entries, format)
}

#[test]
fn rows_times_vector() {
    let (a, x) = (skewed(5_000, 700, &csr()), vector((0..700).map(|j| f64::from(j % 5)).collect()));
    let y = result("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", &[&a, &x], &[]);
    let mut expected = vec![0.0; 5_000];
    a.for_each_entry::<f64>(|index, value| expected[index[0]] += value * (index[1] % 5) as f64).unwrap();
    assert_eq!(values(&y), expected);
}

#[test]
fn columns_times_vector() {
    let csc = Format::permuted(&[1, 0], &csr().levels.iter().map(|level| level.format).collect::<Vec<_>>());
    let (a, x) = (skewed(700, 5_000, &csc), vector((0..5_000).map(|j| f64::from(j % 5)).collect()));
    let y = result("fn spmv(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", &[&a, &x], &[]);
    let mut expected = vec![0.0; 700];
    a.for_each_entry::<f64>(|index, value| expected[index[0]] += value * (index[1] % 5) as f64).unwrap();
    assert_eq!(values(&y), expected);
}

#[test]
fn the_sum_of_two_sparse_matrices() {
    let (a, b) = (skewed(4_000, 900, &csr()), skewed(4_000, 900, &csr()).convert(&csr()).unwrap());
    let c = result("fn add(A: csr, B: csr) -> C: csr { C(i, j) = A(i, j) + B(i, j); }", &[&a, &b], &[]);
    let doubled: Vec<f64> = values(&a).iter().map(|value| 2.0 * value).collect();
    assert_eq!(c, a.with_values(doubled.into()).unwrap());
}

#[test]
fn positions_outside_of_a_tensor_are_refused_by_every_engine() {
    let a = skewed(3, 3, &csr());
    for text in ["fn corner(A: csr) -> s: f64 { s = A(3, 3); }", "fn rest(A: csr) -> s: f64 { s = A(i + 1, 2..7); }"] {
        let program = compiled(text);
        for backend in [Backend::Native, Backend::Interpreter] {
            let outcome = Chain::new(&program, backend).unwrap().run(&[&a], &[], 1);
            let message = outcome.map(|_| ()).unwrap_err().to_string();
            assert!(message.contains("but its mode has 3 coordinates, from 0"), "{message}");
        }
    }
}

#[test]
fn a_sum_of_all_entries() {
    let a = skewed(5_000, 700, &Format::coo(2));
    let s = result("fn total(A: coo) -> s: f64 { s = A(i, j); }", &[&a], &[]);
    assert_eq!(values(&s), [values(&a).iter().sum::<f64>()]);
}

/// A tensor of small integers that is nearly all in one fiber of one of its few slices.
fn heavy(format: &Format) -> AnyTensor {
    let fiber = (0..40_000).map(|k| [1, 2, k]);
    let others = (0..9_000).map(|k| [k % 3, k % 7, k * 5 % 40_000]).filter(|[i, j, _]| (*i, *j) != (1, 2));
    let entries: Vec<[u32; 3]> = fiber.chain(others).collect();
    let mode = |mode: usize| Indices::U32(entries.iter().map(|entry| entry[mode]).collect());
    let coordinates = Coordinates {
        shape: vec![4, 7, 40_000],
        shape_is_stated: true,
        indices: (0..3).map(mode).collect(),
        values: entries.iter().map(|[i, j, k]| f64::from((i + j + k) % 4)).collect(),
    };
    pack(coordinates, format, Duplicates::Sum).unwrap()
}

/// A dense matrix of small integers.
fn table(rows: usize, columns: usize) -> AnyTensor {
    let mut table = AnyTensor::zeros(vec![rows, columns], Format::dense(2), ElementType::F64).unwrap();
    let values = table.values_mut::<f64>().unwrap();
    values.iter_mut().enumerate().for_each(|(place, value)| *value = (place % 5) as f64);
    table
}

/// A fiber that holds most of the entries is cut, and its pieces come together.
fn check_heavy(name: &str, format: &Format) {
    let (x, b, c) = (heavy(format), table(7, 3), table(40_000, 3));
    let v = vector((0..40_000).map(|k| f64::from(k % 3)).collect());
    let mttkrp = "(X: FORMAT, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let ttv = "(X: FORMAT, v: dense) -> Y: dense { Y(i, j) = X(i, j, k) * v(k); }";
    let most = "(X: FORMAT) -> m: dense fill -inf { m(i) max= X(i, j, k); }";
    let text = |kernel: &str| format!("fn kernel{}", kernel.replace("FORMAT", name));
    let rows = values(&result(&text(mttkrp), &[&x, &b, &c], &[]));
    let mut expected = vec![0.0; 12];
    let add = |index: &[usize], value: f64| {
        let product = |r: usize| value * ((3 * index[1] + r) % 5 * ((3 * index[2] + r) % 5)) as f64;
        (0..3).for_each(|r| expected[3 * index[0] + r] += product(r));
    };
    x.for_each_entry::<f64>(add).unwrap();
    assert_eq!(rows, expected, "{name}");
    result(&text(ttv), &[&x, &v], &[]);
    assert_eq!(values(&result(&text(most), &[&x], &[])), [3.0, 3.0, 3.0, 0.0]);
    let sum = result(&text("(X: FORMAT) -> s: f64 { s = X(i, j, k); }"), &[&x], &[]);
    assert_eq!(values(&sum), [values(&x).iter().sum::<f64>()]);
}

#[test]
fn a_fiber_with_most_of_the_entries_is_cut() {
    use LevelFormat as L;
    check_heavy("csf", &Format::csf(3));
    check_heavy("coo", &Format::coo(3));
    check_heavy("[dense, dense, compressed]", &Format::of_levels([L::DENSE, L::DENSE, L::COMPRESSED]));
    check_heavy("[dense, compressed, compressed]", &Format::of_levels([L::DENSE, L::COMPRESSED, L::COMPRESSED]));
}

#[test]
fn pieces_of_a_fiber_meet_in_a_sparse_result() {
    let (x, u) = (heavy(&Format::csf(3)), table(40_000, 3));
    let ttm = "fn ttm(X: csf, U: dense) -> Y: [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }";
    result(ttm, &[&x, &u], &[]);
    let twice = result("fn twice(X: csf) -> Y: csf { Y(i, j, k) = 2 * X(i, j, k); }", &[&x], &[]);
    assert_eq!(values(&twice), values(&x).iter().map(|value| 2.0 * value).collect::<Vec<f64>>());
}
