//! Kernels that run again and again.

use super::*;
use crate::distribute::{Placement, ThreadRank, on_threads};
use crate::execute::{Backend, Operand, ProgramOptions};
use crate::generate;
use crate::tensor::{Coordinates, LevelArrays};
use spc_compiler::{notation, syntax};

fn kernel(text: &str) -> notation::Kernel {
    notation::check(&syntax::parse_program(text).unwrap()).unwrap().remove(0)
}

fn options() -> ProgramOptions {
    ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() }
}

/// Whole numbers, so that sums are exact in any order; the last rows and columns have no entries.
fn matrix(extent: usize, entries: usize) -> Coordinates<f64> {
    let mut a = generate::uniform(&[extent - 2, extent - 3], entries, 5).unwrap();
    a.values.iter_mut().enumerate().for_each(|(entry, value)| *value = (entry % 7) as f64 - 3.0);
    a.shape = vec![extent, extent];
    a
}

fn tensor(shape: &[usize], value: impl Fn(usize) -> f64) -> AnyTensor {
    let values: Vec<f64> = (0..shape.iter().product()).map(value).collect();
    let levels = vec![LevelArrays::NONE; shape.len()];
    AnyTensor::from_parts(shape.to_vec(), Format::dense(shape.len()), levels, values.into()).unwrap()
}

/// A times the columns of x, times `times`.
fn expected(a: &Coordinates<f64>, x: &AnyTensor, times: usize) -> Vec<f64> {
    let columns = x.shape().get(1).copied().unwrap_or(1);
    let mut x = x.values_of::<f64>().unwrap().to_vec();
    for _ in 0..times {
        let mut y = vec![0.0; x.len()];
        for (entry, value) in a.values.iter().enumerate() {
            let [row, column] = [0, 1].map(|mode| a.indices[mode].at(entry) as usize);
            (0..columns).for_each(|r| y[row * columns + r] += value * x[column * columns + r]);
        }
        x = y;
    }
    x
}

fn placement(text: &str) -> Placement {
    Placement::parse(text, &|name| name == "A").unwrap()
}

/// A result becomes the input of the next run, however both are shared out.
#[test]
fn what_a_run_gives_is_fed_to_the_next() {
    let a = matrix(24, 90);
    let texts = [
        ("fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", &[24][..]),
        ("fn f(A: coo, x: dense) -> y: dense { y(i, r) = A(i, j) * x(j, r); }", &[24, 3]),
        ("fn f(A: csc, x: (j, r) -> [r: dense, j: dense]) -> y: dense { y(i, r) = A(i, j) * x(j, r); }", &[24, 2]),
        ("fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); } schedule { replicate(x); }", &[24]),
    ];
    for (text, shape) in texts {
        let kernel = kernel(text);
        let x = tensor(shape, |place| (place % 5) as f64 - 1.0);
        let wanted = expected(&a, &x, 3);
        for (ranks, by) in [(1, "A"), (2, "A"), (3, "i"), (4, "A:2x2"), (7, "A:bisection"), (40, "A")] {
            let inputs = vec![("A".to_owned(), a.clone().into()), ("x".to_owned(), Operand::Ones)];
            let columns = shape.get(1).map(|columns| ("r".to_owned(), *columns));
            let problem = Problem::new(&kernel, inputs, columns.as_slice(), &options()).unwrap();
            let plan = problem.plan(&placement(by), ranks).unwrap();
            for overlap in [Overlap::Always, Overlap::Never] {
                let body = |own: &ThreadRank| {
                    let mut prepared = problem.prepare(&plan, own)?;
                    prepared.overlap(overlap);
                    // What it was prepared with is of no matter, and what was fed is where something else is set.
                    prepared.set("x", &x)?;
                    let mut part = prepared.run()?;
                    prepared.feed("x", &part, "y")?;
                    prepared.set("x", &x)?;
                    for _ in 0..3 {
                        part = prepared.run()?;
                        prepared.feed("x", &part, "y")?;
                    }
                    problem.gather(&plan, part, own)
                };
                let found = on_threads(ranks, None, body).unwrap().swap_remove(0).unwrap().swap_remove(0).1;
                assert_eq!(found.values_of::<f64>().unwrap(), wanted, "{text}: {ranks} ranks, {by}, {overlap:?}");
            }
        }
    }
}

/// Other elements in each run, also for inputs that each rank has as a whole.
#[test]
fn inputs_are_set_anew() {
    let a = matrix(20, 60);
    let kernel = kernel("fn f(A: csr, x: dense, s: dense) -> y: dense { y(i) = A(i, j) * x(j) * s(k) * s(k); }");
    let inputs = vec![
        ("A".to_owned(), a.clone().into()),
        ("x".to_owned(), Operand::Ones),
        ("s".to_owned(), tensor(&[3], |_| 1.0).into()),
    ];
    let problem = Problem::new(&kernel, inputs, &[], &options()).unwrap();
    let plan = problem.plan(&placement("A"), 3).unwrap();
    let body = |own: &ThreadRank| {
        let mut prepared = problem.prepare(&plan, own)?;
        let mut found = Vec::new();
        for (x, s) in [(1, 1.0), (2, 2.0), (3, 0.0)] {
            prepared.set("x", &tensor(&[20], |place| (place * x) as f64))?;
            prepared.set("s", &tensor(&[3], |_| s))?;
            let part = prepared.run()?;
            // It is still there to be gathered again.
            assert_eq!(problem.gather(&plan, &part, own)?.is_some(), own.rank() == 0);
            found.push(problem.gather(&plan, part, own)?);
        }
        Ok::<_, DistributeError>(found)
    };
    let found = on_threads(3, None, body).unwrap().swap_remove(0);
    for (found, (x, s)) in found.into_iter().zip([(1, 1.0), (2, 2.0), (3, 0.0)]) {
        let product = expected(&a, &tensor(&[20], |place| (place * x) as f64), 1);
        let wanted: Vec<f64> = product.iter().map(|value| value * 3.0 * s * s).collect();
        assert_eq!(found.unwrap()[0].1.values_of::<f64>().unwrap(), wanted);
    }
}

/// Rows of a result that each rank needs as a whole.
#[test]
fn what_no_rank_has_a_part_of_is_gathered() {
    let a = matrix(16, 50);
    let text = "fn f(A: csr, x: dense, w: dense) -> y: dense { y(i) = A(i, j) * x(j) * w(k); }";
    let inputs = vec![
        ("A".to_owned(), a.clone().into()),
        ("x".to_owned(), Operand::Ones),
        ("w".to_owned(), tensor(&[16], |_| 1.0).into()),
    ];
    let problem = Problem::new(&kernel(text), inputs, &[], &options()).unwrap();
    let plan = problem.plan(&placement("A"), 4).unwrap();
    let body = |own: &ThreadRank| {
        let mut prepared = problem.prepare(&plan, own)?;
        let part = prepared.run()?;
        prepared.feed("w", &part, "y")?;
        problem.gather(&plan, prepared.run()?, own)
    };
    let found = on_threads(4, None, body).unwrap().swap_remove(0).unwrap().swap_remove(0).1;
    let first: Vec<f64> = expected(&a, &tensor(&[16], |_| 16.0), 1);
    let sum: f64 = first.iter().sum();
    let wanted: Vec<f64> = expected(&a, &tensor(&[16], |_| 1.0), 1).iter().map(|value| value * sum).collect();
    assert_eq!(found.values_of::<f64>().unwrap(), wanted);
}

#[test]
fn what_does_not_fit_is_refused() {
    let kernel = kernel("fn f(A: csr, B: dense) -> Y: dense { Y(i, r) = A(i, j) * B(j, r); }");
    let inputs = vec![("A".to_owned(), matrix(12, 20).into()), ("B".to_owned(), Operand::Ones)];
    let problem = Problem::new(&kernel, inputs, &[("r".to_owned(), 2)], &options()).unwrap();
    let plan = problem.plan(&placement("A"), 2).unwrap();
    let body = |own: &ThreadRank| {
        let mut prepared = problem.prepare(&plan, own)?;
        let part = prepared.run()?;
        let mut said = vec![
            prepared.set("B", &tensor(&[12, 3], |_| 0.0)),
            prepared.takes("B", &tensor(&[2, 12], |_| 0.0)),
            prepared.set("A", &tensor(&[12, 12], |_| 0.0)),
            prepared.set("Y", &tensor(&[12, 2], |_| 0.0)),
            prepared.feed("B", &part, "B"),
        ];
        Ok::<_, DistributeError>(said.drain(..).map(|said| said.unwrap_err().to_string()).collect::<Vec<_>>())
    };
    let said = on_threads(2, None, body).unwrap().swap_remove(0);
    let wrong = ["`B` is [12, 2] of f64, and not [12, 3]", "and not [2, 12]"];
    let parts = [wrong[0], wrong[1], "`A` is sparse", "no input `Y`", "no result `B`"];
    assert!(said.iter().zip(parts).all(|(said, part)| said.contains(part)), "{said:?}");
}
