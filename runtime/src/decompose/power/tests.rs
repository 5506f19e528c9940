use super::*;
use crate::execute::Backend;
use crate::tensor::{Csf, Dense, Tensor};
use std::ops::ControlFlow;

const SHAPE: [usize; 8] = [4, 3, 5, 3, 2, 3, 2, 2];

fn value(place: usize) -> f64 {
    ((7 * place * place + 3 * place) % 13) as f64 - 6.0
}

/// `p = np.arange(np.prod(shape)); np.where(p % 3 == 1, 0, (7 * p * p + 3 * p) % 13 - 6.0).reshape(shape)`
fn example(shape: &[usize], format: &Format) -> AnyTensor {
    let size: usize = shape.iter().product();
    let values: Vec<f64> = (0..size).map(|place| if place % 3 == 1 { 0.0 } else { value(place) }).collect();
    let levels = vec![crate::tensor::LevelArrays::NONE; shape.len()];
    let dense = AnyTensor::from_parts(shape.to_vec(), Format::dense(shape.len()), levels, values.into()).unwrap();
    dense.convert(format).unwrap()
}

fn options(components: usize) -> PowerOptions {
    let engine = Engine { backend: Some(Backend::Interpreter), ..Engine::default() };
    PowerOptions { engine, ..PowerOptions::new(components) }
}

fn run(x: &AnyTensor, options: &PowerOptions) -> Fitted<KTensor> {
    power(x, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn message(x: &AnyTensor, options: &PowerOptions) -> String {
    power(x, options, &mut |_| ControlFlow::Continue(())).map(drop).unwrap_err().to_string()
}

fn element(model: &KTensor, index: &[usize]) -> f64 {
    let term = |at: usize| {
        let factors = model.factors().iter().zip(index);
        model.weights()[at] * factors.map(|(factor, &row)| factor.get(&[row, at]).unwrap()).product::<f64>()
    };
    (0..model.rank()).map(term).sum()
}

/// Vectors have norm 1, and the fit is what the model says.
fn check(x: &AnyTensor, found: &Fitted<KTensor>, tolerance: f64) {
    let model = &found.model;
    for factor in model.factors() {
        let columns = factor.shape()[1];
        for column in 0..columns {
            let square: f64 = factor.values().iter().skip(column).step_by(columns).map(|number| number * number).sum();
            assert!((square - 1.0).abs() < 1e-12, "{factor:?}");
        }
    }
    let dense = x.convert(&Format::dense(x.order())).unwrap();
    let (mut rest, mut whole) = (0.0, 0.0);
    dense.for_each_position(|index, position| {
        let value = dense.values().get_f64(position);
        rest += (value - element(model, index)).powi(2);
        whole += value * value;
    });
    let fit = if whole == 0.0 { 1.0 } else { 1.0 - (rest / whole).sqrt() };
    let said = found.fit().unwrap_or(1.0);
    assert!((said - fit).abs() < tolerance, "{said} {fit}");
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < tolerance * expected.abs();
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} {expected:?}");
}

/// The best of 40 (20 from order 6) starts of `pyttb.cp_als(pyttb.tensor(x), 1, maxiters=1000, stoptol=1e-14)`: fit and weight. For order 2, the
/// first value of `np.linalg.svd(x)`.
#[test]
fn the_best_rank_one_model_is_that_of_others() {
    let expected = [
        (0.11099449881630186, 9.820786153763658),
        (0.08276503254011702, 14.989693141886402),
        (0.06097094994423691, 18.429835191175435),
        (0.044582202856053854, 27.439867087188347),
        (0.01968510260380585, 25.9414414334198),
        (0.02205358894096132, 38.821375950532214),
    ];
    for (order, (fit, weight)) in (3..).zip(expected) {
        let x = example(&SHAPE[..order], &Format::csf(order));
        let settings = PowerOptions { starts: 15, tolerance: 1e-12, iterations: 400, ..options(1) };
        // Thousands of entries take the interpreter long.
        let engine = if order < 6 { settings.engine.clone() } else { Engine::default() };
        let found = run(&x, &PowerOptions { engine, ..settings });
        assert_near(found.model.weights(), &[weight], 1e-8);
        assert!((found.fit().unwrap() - fit).abs() < 1e-8, "{order}: {:?} {fit}", found.fit());
        check(&x, &found, 1e-7);
    }
    let x = example(&[4, 15], &Format::coo(2));
    let found = run(&x, &PowerOptions { iterations: 1000, tolerance: 1e-14, ..options(4) });
    assert_near(found.model.weights(), &[13.22986721, 11.87310463, 11.23073793, 4.22735444], 1e-8);
    assert!(found.fit().unwrap() > 1.0 - 1e-6);
}

/// Weights of `tensorly.decomposition.parafac_power_iteration(x, 3, n_repeat=30, n_iteration=300)`.
#[test]
fn deflation_finds_what_tensorly_finds() {
    let expected = [[9.82078615, 9.79244169, 9.36884469], [14.98969314, 14.09455949, 13.63184654]];
    for (order, expected) in (3..).zip(expected) {
        let x = example(&SHAPE[..order], &Format::coo(order));
        let settings = PowerOptions { starts: 15, iterations: 1000, tolerance: 1e-12, ..options(3) };
        let found = run(&x, &settings);
        assert_near(found.model.weights(), &expected, 1e-8);
        check(&x, &found, 1e-7);
        let numbers: Vec<usize> = found.iterations.iter().map(|iteration| iteration.number).collect();
        assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>());
        let single = run(&x, &PowerOptions { element: Some(ElementType::F32), tolerance: 1e-5, ..settings });
        assert_near(single.model.weights(), &expected, 1e-4);
    }
}

/// Columns of a matrix that is orthogonal: a reflection.
fn reflection(n: usize, column: usize) -> Vec<f64> {
    let direction: Vec<f64> = (0..n).map(|row| 1.0 + (row as f64 * 1.7).sin()).collect();
    let square: f64 = direction.iter().map(|number| number * number).sum();
    (0..n).map(|row| f64::from(u8::from(row == column)) - 2.0 * direction[row] * direction[column] / square).collect()
}

fn planted(weights: &[f64], vectors: &[Vec<Vec<f64>>]) -> AnyTensor {
    let shape: Vec<usize> = vectors.iter().map(|mode| mode[0].len()).collect();
    let order = shape.len();
    let size: usize = shape.iter().product();
    let element = |mut place: usize| {
        let mut index = vec![0; order];
        for mode in (0..order).rev() {
            (index[mode], place) = (place % shape[mode], place / shape[mode]);
        }
        let term = |at: usize| weights[at] * (0..order).map(|mode| vectors[mode][at][index[mode]]).product::<f64>();
        (0..weights.len()).map(term).sum()
    };
    let values: Vec<f64> = (0..size).map(element).collect();
    let levels = vec![crate::tensor::LevelArrays::NONE; order];
    AnyTensor::from_parts(shape, Format::dense(order), levels, values.into()).unwrap()
}

#[test]
fn planted_orthogonal_components_are_found_one_after_the_other() {
    for shape in [vec![6, 5, 7], vec![4, 5, 3, 4]] {
        let weights = [7.0, 4.0, 2.5];
        let vectors: Vec<Vec<Vec<f64>>> =
            shape.iter().map(|&extent| (0..3).map(|column| reflection(extent, column)).collect()).collect();
        let x = planted(&weights, &vectors);
        let found = run(&x, &PowerOptions { tolerance: 1e-14, ..options(4) });
        assert_near(&found.model.weights()[..3], &weights, 1e-10);
        assert!(found.model.weights()[3].abs() < 1e-6, "{:?}", found.model.weights());
        for (factor, vectors) in found.model.factors().iter().zip(&vectors) {
            for (at, vector) in vectors.iter().enumerate() {
                let cosine: f64 =
                    vector.iter().zip(factor.values().iter().skip(at).step_by(4)).map(|(a, b)| a * b).sum();
                assert!((cosine.abs() - 1.0).abs() < 1e-10, "{cosine}");
            }
        }
        check(&x, &found, 1e-6);
    }
}

#[test]
fn planted_symmetric_components_are_found_with_their_signs() {
    for (order, weights) in [(2, [5.0, -4.0, 2.0]), (3, [5.0, 4.0, 2.0]), (4, [-6.0, 4.0, -2.0]), (5, [5.0, 3.0, 1.0])]
    {
        let n = if order < 4 { 7 } else { 4 };
        let columns: Vec<Vec<f64>> = (0..3).map(|column| reflection(n, column)).collect();
        let x = planted(&weights, &vec![columns.clone(); order]);
        let settings = PowerOptions { symmetric: true, tolerance: 1e-14, iterations: 500, ..options(3) };
        let found = run(&x, &settings);
        assert_near(found.model.weights(), &weights, 1e-9);
        for (at, vector) in columns.iter().enumerate() {
            let own = found.model.factors()[0].values().iter().skip(at).step_by(3);
            let cosine: f64 = vector.iter().zip(own).map(|(a, b)| a * b).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-9, "{order}: {cosine}");
        }
        assert!(found.model.factors().iter().all(|factor| *factor == found.model.factors()[0]));
        check(&x, &found, 1e-6);
    }
}

/// Entries `(7 h² + 3 h) % 13 - 6`, h of the sorted index in base 3. The weight with the largest absolute value of 60 random starts of each sign, each 6000
/// steps of `v = ±S v … v + a v` with `a = (m - 1) * np.abs(S).sum(axis=tuple(range(1, m))).max()`, in NumPy.
#[test]
fn the_shift_makes_symmetric_iterations_converge() {
    for (order, expected) in [(3, 8.40325752204364), (4, -11.060398231896635), (5, 19.790248133576558)] {
        let entry = |place: usize| {
            let mut index: Vec<usize> = (0..order).map(|mode| place / 3usize.pow(mode as u32) % 3).collect();
            let at = index.clone();
            index.sort_unstable();
            (at, value(index.iter().fold(0, |hash, coordinate| 3 * hash + coordinate)))
        };
        let size = 3usize.pow(order as u32);
        let mut dense = AnyTensor::zeros(vec![3; order], Format::dense(order), ElementType::F64).unwrap();
        for place in 0..size {
            let (index, value) = entry(place);
            let position = dense.locate(&index).unwrap();
            dense.values_mut::<f64>().unwrap()[position] = value;
        }
        let settings = PowerOptions { symmetric: true, starts: 10, tolerance: 1e-13, iterations: 1000, ..options(1) };
        let found = run(&dense, &settings);
        assert_near(found.model.weights(), &[expected], 1e-8);
        check(&dense, &found, 1e-7);
        // What is kept never gets worse.
        let weight = |iteration: &Iteration| iteration.measures[1].1.abs();
        assert!(found.iterations.windows(2).all(|pair| weight(&pair[1]) >= weight(&pair[0]) - 1e-9));
    }
}

#[test]
fn native_kernels_do_the_same() {
    let x = example(&SHAPE[..3], &Format::coo(3));
    let settings = PowerOptions { starts: 15, iterations: 1000, tolerance: 1e-12, ..options(2) };
    let native = run(&x, &PowerOptions { engine: Engine::default(), ..settings });
    assert_near(native.model.weights(), &[9.82078615, 9.79244169], 1e-8);
}

#[test]
fn an_observer_ends_with_what_there_is() {
    let x = example(&SHAPE[..3], &Format::csf(3));
    let settings = PowerOptions { iterations: 3, tolerance: 0.0, ..options(3) };
    let mut count = 0;
    let mut last = None;
    let found = power(&x, &settings, &mut |step| {
        count += 1;
        last = Some(step.model.model());
        if count == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let found = found.unwrap();
    assert_eq!((found.stopped, found.iterations.len(), found.model.rank()), (Stopped::Observer, 5, 2));
    assert_eq!(found.iterations[4].measures[0], ("component", 2.0));
    assert_eq!(Some(&found.model), last.as_ref());
    check(&x, &found, 1e-7);
    let all = run(&x, &settings);
    assert_eq!((all.stopped, all.iterations.len(), all.model.rank()), (Stopped::Iterations, 9, 3));
    assert_eq!(run(&x, &PowerOptions { starts: 0, ..settings }).model.rank(), 3);
}

#[test]
fn a_run_goes_on_from_components_that_were_found() {
    let x = example(&SHAPE[..3], &Format::csf(3));
    let all = run(&x, &options(3));
    let found = Some(all.model.components(&[0, 1]).unwrap());
    let done = all.iterations.iter().filter(|iteration| iteration.measures[0].1 < 3.0).count();
    let rest = run(&x, &PowerOptions { found: found.clone(), done, ..options(3) });
    assert_eq!(rest.iterations.first().map(|iteration| iteration.number), Some(done + 1));
    assert_eq!(rest.iterations.last().unwrap().fit, all.iterations.last().unwrap().fit);
    assert_eq!(rest.model, all.model);
    let fewer = PowerOptions { found: found.clone(), ..options(1) };
    assert_eq!(message(&x, &fewer), "2 components were found before, and there are to be 1: say 2 or more");
    let other = example(&[4, 3, 4], &Format::csf(3));
    let unlike = message(&other, &PowerOptions { found: found.clone(), ..options(3) });
    assert!(unlike.contains("shape"), "{unlike}");
    let cube = Tensor::<f64, Dense<3>>::zeros([4, 4, 4]).unwrap().into_any();
    let found = Some(run(&example(&[4, 4, 4], &Format::csf(3)), &options(1)).model);
    let symmetric = PowerOptions { symmetric: true, found, ..options(2) };
    assert!(message(&cube, &symmetric).contains("of a symmetric tensor, they have one"));
}

#[test]
fn tensors_with_little_in_them() {
    let one = Tensor::<f64, Csf<3>>::from_entries([5, 4, 3], [([3, 1, 2], -2.5)]).unwrap().into_any();
    let found = run(&one, &options(2));
    assert_eq!(found.model.weights(), [2.5, 0.0]);
    check(&one, &found, 1e-12);
    let none = Tensor::<i32, Dense<3>>::zeros([2, 2, 2]).unwrap().into_any();
    for symmetric in [false, true] {
        let found = run(&none, &PowerOptions { symmetric, ..options(2) });
        assert_eq!(found.model.weights(), [0.0, 0.0]);
        check(&none, &found, 1e-12);
    }
}

#[test]
fn what_can_not_be_is_refused() {
    let x = example(&SHAPE[..3], &Format::csf(3));
    let symmetric = PowerOptions { symmetric: true, ..options(1) };
    let expected = "the tensor is not symmetric: the extent of mode 1 is 4, that of mode 2 is 3";
    assert_eq!(message(&x, &symmetric), expected);
    let skew = Tensor::<f64, Csf<3>>::from_entries([2, 2, 2], [([0, 0, 1], 3.0), ([0, 1, 0], 3.0), ([1, 0, 0], 2.0)]);
    let expected = "the tensor is not symmetric: the entry at (1, 2, 1) is 3, that at (2, 1, 1) is 2";
    assert_eq!(message(skew.unwrap().as_any(), &symmetric), expected);
    assert_eq!(message(&x, &options(0)), "there are to be 0 components: say 1 or more");
    assert_eq!(
        message(&x, &PowerOptions { iterations: 0, ..options(1) }),
        "there are to be 0 iterations: say 1 or more"
    );
    let nan = PowerOptions { tolerance: f64::NAN, ..options(1) };
    assert_eq!(message(&x, &nan), "the tolerance is NaN, and has to be 0 or more");
    let infinite = Tensor::<f32, Csf<3>>::from_entries([4, 3, 5], [([1, 2, 0], f32::INFINITY)]).unwrap();
    let expected = "the entry at (2, 3, 1) is inf: a decomposition takes finite values";
    assert_eq!(message(infinite.as_any(), &options(1)), expected);
    for order in [1, 9] {
        let x = AnyTensor::zeros(vec![1; order], Format::dense(order), ElementType::F64).unwrap();
        let expected = format!("the tensor has {order} modes, and a decomposition takes 2 to 8");
        assert_eq!(message(&x, &options(1)), expected);
    }
}

/// `c X` has `c` times the weights of `X`, and its fits.
#[test]
fn the_unit_of_the_data_makes_no_difference() {
    let one = example(&SHAPE[..3], &Format::csf(3));
    let expected = run(&one, &options(3));
    for (element, near) in [(ElementType::F64, 1e-7), (ElementType::F32, 1e-3)] {
        for size in [1e-300, 1e-155, 1e-38, 1e-20, 7.0, 1e20, 1e37, 1e155, 1e300] {
            let scaled: Vec<f64> = one.values_of::<f64>().unwrap().iter().map(|value| value * size).collect();
            let x = one.with_values(scaled.into()).unwrap();
            let found = run(&x, &PowerOptions { element: Some(element), ..options(3) });
            assert!((found.fit().unwrap() - expected.fit().unwrap()).abs() < near, "{element:?} * {size:e}");
            assert!((found.model.fit(&x).unwrap() - found.fit().unwrap()).abs() < near);
            for (weight, expected) in found.model.weights().iter().zip(expected.model.weights()) {
                assert!((weight / size - expected).abs() < near * expected, "{element:?} * {size:e}: {weight}");
            }
        }
    }
}
