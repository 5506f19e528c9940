//! From the language to results: every kernel natively, with one thread and with several, and in the interpreter.

use super::testing::{csr, matrix, values, vector};
use super::*;
use crate::parallel::with_threads;
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;
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
fn a_sum_of_all_entries() {
    let a = skewed(5_000, 700, &Format::coo(2));
    let s = result("fn total(A: coo) -> s: f64 { s = A(i, j); }", &[&a], &[]);
    assert_eq!(values(&s), [values(&a).iter().sum::<f64>()]);
}
