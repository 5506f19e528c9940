//! Examples with exponentials, roots and quotients, at the ends of what their types hold: beside values that are computed here, row by row, from
//! numbers of a middle size.

use spc::execute::{Backend, Operand, Program, ProgramOptions};
use spc::tensor::AnyTensor;
use spc_compiler::format::{Format, LevelFormat};
use spc_compiler::ir::ElementType;
use spc_compiler::{notation, syntax};
use spc_tests::data::{Entries, Random};
use spc_tests::number::Number;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn csr() -> Format {
    Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED])
}

/// Rows of numbers; of a sparse matrix, those that are stored.
type Rows = Vec<Vec<Option<f64>>>;

/// The kernel of an example, with its types as another.
fn kernel(file: &str, name: &str, element: ElementType) -> notation::Kernel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(file);
    let mut text = fs::read_to_string(&path).expect("the example is there");
    if element == ElementType::F32 {
        text = text.replace(": csr", ": f32 csr").replace(": dense", ": f32 dense").replace(": f64", ": f32");
    }
    let program = syntax::parse_program(&text).expect("the example parses");
    let kernels = notation::check(&program).unwrap_or_else(|problems| panic!("{text}\n{:?}", problems.into_sorted()));
    kernels.into_iter().find(|kernel| kernel.name == name).expect("the kernel is in the example")
}

/// A matrix, or the first row as a vector.
fn tensor(rows: &Rows, format: Format, element: ElementType) -> Operand {
    let is_vector = format.order == 1;
    let mut stored = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        for (j, value) in row.iter().enumerate().filter_map(|(j, value)| Some((j, (*value)?))) {
            stored.insert(if is_vector { vec![j] } else { vec![i, j] }, Number::of(element, value));
        }
    }
    let shape = if is_vector { vec![rows[0].len()] } else { vec![rows.len(), rows[0].len()] };
    let entries = Entries { shape, stored };
    Operand::Tensor(entries.pack(element, &format, element.zero()).expect("it fits"))
}

fn run(kernel: &notation::Kernel, inputs: Vec<(&str, Operand)>) -> Vec<AnyTensor> {
    let inputs = inputs.into_iter().map(|(name, operand)| (name.to_owned(), operand)).collect();
    let options = ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() };
    let program = Program::new(kernel, inputs, &[], &options).unwrap_or_else(|error| panic!("{error}"));
    program.run(1).expect("it runs").outputs.into_iter().map(|(_, tensor)| tensor).collect()
}

fn values(tensor: &AnyTensor) -> Vec<f64> {
    (0..tensor.values().len()).map(|place| tensor.values().get_f64(place)).collect()
}

/// Numbers from 0.5 to 1.5, a tenth of them with a sign.
fn middle(random: &mut Random) -> f64 {
    let value = 0.5 + random.below(1000) as f64 / 1000.0;
    if random.chance(0.1) { -value } else { value }
}

fn matrix(rows: usize, columns: usize, density: f64, random: &mut Random) -> Rows {
    let mut entry = |_| random.chance(density).then(|| middle(random));
    (0..rows).map(|_| (0..columns).map(&mut entry).collect()).collect()
}

fn scaled(rows: &Rows, by: f64) -> Rows {
    rows.iter().map(|row| row.iter().map(|value| value.map(|value| value * by)).collect()).collect()
}

fn assert_near(found: f64, expected: f64, within: f64, what: &str) {
    let is_near = (found - expected).abs() <= within * expected.abs().max(1.0);
    assert!(is_near && found.is_finite(), "{what}: {found}, not {expected}");
}

/// Each weight is that of the softmax: a quotient of exponentials of differences from the greatest score.
fn attention_at_all_scores() {
    let mut random = Random::new(5);
    for (element, scales, within) in [
        (ElementType::F64, &[1e-150, 1.0, 40.0, 1e5, 1e150][..], 1e-6),
        (ElementType::F32, &[1.0, 10.0, 1e4, 1e15], 1e-3),
    ] {
        let kernel = kernel("graph_attention.ti", "graph_attention", element);
        for &scale in scales {
            let (n, k) = (7, 3);
            let adjacent = matrix(n, n, 0.5, &mut random);
            // Of whole numbers, so that scores are exact in both types.
            let whole = |random: &mut Random| Some(f64::from(random.below(9) as u32) - 4.0);
            let mut small =
                |columns| (0..n).map(|_| (0..columns).map(|_| whole(&mut random)).collect()).collect::<Rows>();
            let (q, key, v) = (small(k), small(k), small(2));
            let dense = |rows: &Rows| tensor(rows, Format::dense(2), element);
            let inputs = vec![
                ("A", tensor(&adjacent, csr(), element)),
                ("Q", dense(&scaled(&q, scale))),
                ("K", dense(&scaled(&key, scale))),
                ("V", dense(&v)),
            ];
            let found = values(&run(&kernel, inputs)[0]);
            for i in 0..n {
                let neighbours: Vec<usize> = (0..n).filter(|&j| adjacent[i][j].is_some()).collect();
                let dot = |j: usize| (0..k).map(|k| q[i][k].unwrap() * key[j][k].unwrap()).sum::<f64>();
                let top = neighbours.iter().map(|&j| dot(j)).fold(f64::NEG_INFINITY, f64::max);
                // The scale is in the differences, which are whole: nothing is lost before `exp`.
                let weight = |j: &usize| ((dot(*j) - top) * scale * scale).exp();
                let total: f64 = neighbours.iter().map(weight).sum();
                for column in 0..2 {
                    let expected: f64 = neighbours.iter().map(|j| weight(j) / total * v[*j][column].unwrap()).sum();
                    assert_near(
                        found[2 * i + column],
                        expected,
                        within,
                        &format!("{element} scale {scale:e}, row {i}"),
                    );
                }
            }
        }
    }
}

/// What is divided by a norm or a sum does not depend on the unit.
fn quotients_do_not_depend_on_the_unit() {
    let mut random = Random::new(6);
    let (x, shares) = (matrix(1, 9, 1.0, &mut random), matrix(6, 6, 0.6, &mut random));
    let shares: Rows = shares.iter().map(|row| row.iter().map(|value| value.map(f64::abs)).collect()).collect();
    let norm = x[0].iter().flatten().map(|value| value * value).sum::<f64>().sqrt();
    for scale in [1e-305, 1e-160, 1.0, 1e160, 1e305] {
        let normalize = kernel("normalize.ti", "normalize", ElementType::F64);
        let found = run(&normalize, vec![("x", tensor(&scaled(&x, scale), Format::dense(1), ElementType::F64))]);
        for (found, x) in values(&found[0]).into_iter().zip(x[0].iter().flatten()) {
            assert_near(found, x / norm, 1e-12, &format!("normalize at {scale:e}"));
        }
        let row_shares = kernel("normalize.ti", "row_shares", ElementType::F64);
        let a = tensor(&scaled(&shares, scale), csr(), ElementType::F64);
        let found = values(&run(&row_shares, vec![("A", a)])[0]);
        let of_row = |row: &Vec<Option<f64>>| {
            let total: f64 = row.iter().flatten().sum();
            row.iter().flatten().map(|value| value / total).collect::<Vec<_>>()
        };
        let expected: Vec<f64> = shares.iter().flat_map(of_row).collect();
        assert_eq!(found.len(), expected.len());
        found.into_iter().zip(expected).for_each(|(found, expected)| {
            assert_near(found, expected, 1e-12, &format!("row_shares at {scale:e}"));
        });
    }
}

fn page_rank_with_any_weights() {
    let mut random = Random::new(7);
    let links: Rows = matrix(8, 8, 0.4, &mut random)
        .iter()
        .map(|row| row.iter().map(|value| value.map(f64::abs)).collect())
        .collect();
    let degree = |j: usize| links.iter().filter_map(|row| row[j]).sum::<f64>();
    let x: Rows = vec![(0..8).map(|_| Some(middle(&mut random).abs())).collect()];
    for scale in [1e-300, 1.0, 1e300] {
        let kernel = kernel("page_rank.ti", "page_rank", ElementType::F64);
        let inputs = vec![
            ("A", tensor(&scaled(&links, scale), csr(), ElementType::F64)),
            ("x", tensor(&x, Format::dense(1), ElementType::F64)),
            ("damping", Operand::Scalar(0.85)),
            ("pages", Operand::Scalar(8.0)),
        ];
        let outputs = run(&kernel, inputs);
        for (i, found) in values(&outputs[0]).into_iter().enumerate() {
            let linked = (0..8).filter_map(|j| Some(links[i][j]? / degree(j) * x[0][j]?));
            assert_near(found, 0.85 * linked.sum::<f64>() + 0.15 / 8.0, 1e-12, &format!("page {i} at {scale:e}"));
        }
    }
}

/// Squares of entries are in the method itself: they must be numbers of the type.
fn conjugate_gradients_as_far_as_squares_go() {
    let n = 6;
    let a: Rows = (0..n).map(|i| (0..n).map(|j| a_at(i, j)).collect()).collect();
    let b: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
    for scale in [1e-145, 1.0, 1e145] {
        let kernel = kernel("conjugate_gradients.ti", "conjugate_gradients", ElementType::F64);
        let vector = |values: &[f64]| {
            tensor(&vec![values.iter().copied().map(Some).collect()], Format::dense(1), ElementType::F64)
        };
        let b: Vec<f64> = b.iter().map(|b| b * scale).collect();
        let (mut x, mut r, mut p) = (vec![0.0; n], b.clone(), b.clone());
        for _ in 0..n - 1 {
            let a = tensor(&a, csr(), ElementType::F64);
            let outputs = run(&kernel, vec![("A", a), ("x", vector(&x)), ("r", vector(&r)), ("p", vector(&p))]);
            (x, r, p) = (values(&outputs[0]), values(&outputs[1]), values(&outputs[2]));
            let product = |i: usize| (0..n).filter_map(|j| Some(a_at(i, j)? * x[j])).sum::<f64>();
            for i in 0..n {
                assert_near((b[i] - product(i)) / scale, r[i] / scale, 1e-9, &format!("residual {i} at {scale:e}"));
            }
        }
        assert!(r.iter().all(|r| (r / scale).abs() < 0.1), "{r:?} at {scale:e}");
    }
}

fn a_at(i: usize, j: usize) -> Option<f64> {
    match i.abs_diff(j) {
        0 => Some(4.0),
        1 => Some(-1.0),
        _ => None,
    }
}

spc_tests::tests! {
    attention_at_all_scores,
    quotients_do_not_depend_on_the_unit,
    page_rank_with_any_weights,
    conjugate_gradients_as_far_as_squares_go,
}
