//! Numbers are those of pyttb 1.8.6, for the models and the tensor that `model` and `tensor` make.

use super::*;
use crate::tensor::{Csf, ElementType, Tensor};
use spc_compiler::format::Format;

/// `f[n][i, r] = ((s + 7*i + 3*r + 5*n + 2*i*r) % 13) / 4 - 1.5`, `w[r] = (-1)**r * (s + r + 1) / 2`.
pub(crate) fn model(shape: &[usize], rank: usize, s: usize) -> KTensor {
    let factor = |(n, &extent): (usize, &usize)| {
        let element = |at: &[usize]| ((s + 7 * at[0] + 3 * at[1] + 5 * n + 2 * at[0] * at[1]) % 13) as f64 / 4.0 - 1.5;
        Factor::from_fn([extent, rank], element).unwrap()
    };
    let weight = |r: usize| (if r.is_multiple_of(2) { 0.5 } else { -0.5 }) * (s + r + 1) as f64;
    KTensor::new((0..rank).map(weight).collect(), shape.iter().enumerate().map(factor).collect()).unwrap()
}

/// `x[i, j, k] = (3*i - 2*j + k) / 2` where `(i + 2*j + 3*k) % 4 == 1`.
pub(crate) fn tensor() -> AnyTensor {
    let places = (0..60).map(|place| [place / 15, place / 5 % 3, place % 5]);
    let stored = places.filter(|[i, j, k]| (i + 2 * j + 3 * k) % 4 == 1);
    let entries = stored.map(|[i, j, k]| ([i, j, k], (3.0 * i as f64 - 2.0 * j as f64 + k as f64) / 2.0));
    Tensor::<f64, Csf<3>>::from_entries([4, 3, 5], entries).unwrap().into_any()
}

fn near(found: &[f64], expected: &[f64]) {
    let same = found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(same, "{found:?}, not {expected:?}");
}

fn message<T>(result: Result<T, DecomposeError>) -> String {
    result.map(drop).unwrap_err().to_string()
}

/// `m.norm()`, `m.innerprod(o)`, `m.innerprod(x)`, `np.linalg.norm(x.full().data - m.full().data)`, `1 - … / x.norm()`.
#[test]
fn norms_and_inner_products() {
    let (m, o) = (model(&[4, 3, 5], 3, 0), model(&[4, 3, 5], 2, 4));
    near(
        &[m.norm(), m.inner_k(&o).unwrap(), m.inner_k(&m).unwrap().sqrt()],
        &[12.635370508640616, 69.8822021484375, 12.635370508640616],
    );
    for format in ["csf", "coo", "dense", "alto", "hicoo(2)"] {
        let (name, arguments) = format.split_once('(').map_or((format, vec![]), |(name, _)| (name, vec![2]));
        let format = spc_compiler::format::named(name, &arguments, 3).unwrap();
        let x = tensor().convert(&format).unwrap();
        let found = [m.inner(&x).unwrap(), m.residual(&x).unwrap(), m.fit(&x).unwrap()];
        near(&found, &[-17.2265625, 18.106786376677253, -0.5656492795233428]);
    }
    let doubled: Vec<f32> = tensor().values_of::<f64>().unwrap().iter().map(|&value| 2.0 * value as f32).collect();
    near(&[m.inner(&tensor().with_values(doubled.into()).unwrap()).unwrap()], &[-34.453125]);
    assert!(
        message(m.inner(&AnyTensor::zeros(vec![4, 3], Format::dense(2), ElementType::F64).unwrap())).contains("4 × 3")
    );
}

/// `m.full().data[1, 2, 3]`, `[3, 0, 4]`.
#[test]
fn elements() {
    let m = model(&[4, 3, 5], 3, 0);
    let dense = m.to_dense().unwrap();
    for (index, value) in [([1, 2, 3], -3.0), ([3, 0, 4], -1.25)] {
        near(&[m.get(&index).unwrap(), dense.get::<f64>(&index).unwrap().unwrap()], &[value, value]);
    }
    dense.for_each_entry::<f64>(|index, value| near(&[value], &[m.get(index).unwrap()])).unwrap();
    assert_eq!((m.get(&[4, 0, 0]), m.get(&[0, 0])), (None, None));
    near(&[m.fit(&dense).unwrap()], &[1.0]);
    for shape in [&[5][..], &[2, 3], &[2, 3, 4, 5], &[7, 2, 2, 2, 3]] {
        let m = model(shape, 2, 3);
        let dense = m.to_dense().unwrap();
        dense.for_each_entry::<f64>(|index, value| near(&[value], &[m.get(index).unwrap()])).unwrap();
    }
    let huge = Factor::from_vec([1 << 20, 1], vec![1.0; 1 << 20]).unwrap();
    let error = message(KTensor::new(vec![1.0], vec![huge.clone(), huge.clone(), huge]).unwrap().to_dense());
    assert_eq!(
        error,
        "all elements of the model, 1048576 × 1048576 × 1048576, take 9.223e18 bytes, and there is not enough memory here for them: \
         ask for single elements"
    );
}

/// `m.copy().normalize(normtype=p)` for p = 2, inf, 1: `weights`, `factor_matrices[0][0]`, `factor_matrices[2][4]`.
#[test]
fn normalised_by_each_norm() {
    type Row = [f64; 3];
    let pyttb: [(Norm, Row, Row, Row); 3] = [
        (
            Norm::Two,
            [3.4959868174987445, 7.037913509165909, 9.84375],
            [-0.7385489458759964, 0.41208169184606713, 0.0],
            [0.6625891564490792, 0.4288450139351179, 0.21081851067789195],
        ),
        (Norm::Max, [1.6875, 3.375, 4.21875], [-1.0, 0.5, 0.0], [1.0, 0.6666666666666666, 0.3333333333333333]),
        (
            Norm::One,
            [13.78125, 38.59375, 50.625],
            [-0.42857142857142855, 0.23076923076923078, 0.0],
            [0.3333333333333333, 0.21052631578947367, 0.1],
        ),
    ];
    for (norm, weights, first, last) in pyttb {
        let mut m = model(&[4, 3, 5], 3, 0);
        let before = m.to_dense().unwrap();
        m.normalise(norm);
        near(m.weights(), &weights);
        near(&m.factors()[0].values()[..3], &first);
        near(&m.factors()[2].values()[12..], &last);
        near(m.to_dense().unwrap().values_of().unwrap(), before.values_of().unwrap());
    }
}

#[test]
fn zero_columns_and_numbers_of_any_size_are_normalised() {
    let a = Factor::from_vec([2, 3], vec![3e200, 0.0, 3e-300, 4e200, 0.0, 4e-300]).unwrap();
    let mut m = KTensor::new(vec![2.0, 5.0, 1.0], vec![a.clone(), model(&[2], 3, 1).factors()[0].clone()]).unwrap();
    m.normalise(Norm::Two);
    near(m.factors()[0].values(), &[0.6, 0.0, 0.6, 0.8, 0.0, 0.8]);
    assert_eq!(m.weights()[1], 0.0);
    let mut empty = KTensor::new(vec![1.0; 3], vec![a, Factor::from_vec([0, 3], vec![]).unwrap()]).unwrap();
    empty.normalise(Norm::Two);
    empty.fix_signs();
    assert_eq!((empty.weights(), empty.norm()), (&[0.0; 3][..], 0.0));
}

/// `m.arrange()`: `weights`, `factor_matrices[1]`.
#[test]
fn arranged_by_weight_and_by_an_order() {
    let mut m = model(&[4, 3, 5], 3, 0);
    m.normalise(Norm::Two);
    m.arrange();
    near(m.weights(), &[9.84375, 7.037913509165909, 3.4959868174987445]);
    near(
        m.factors()[1].values(),
        &[
            0.8451542547285165,
            0.30151134457776363,
            -0.1643989873053573,
            0.50709255283711,
            -0.30151134457776363,
            0.9863939238321437,
            0.1690308509457033,
            -0.9045340337332909,
            0.0,
        ],
    );
    m.arrange_by(&[2, 0, 1]).unwrap();
    near(m.weights(), &[3.4959868174987445, 9.84375, 7.037913509165909]);
    near(&m.factors()[1].values()[..3], &[-0.1643989873053573, 0.8451542547285165, 0.30151134457776363]);
    for wrong in [&[0, 1][..], &[0, 1, 1], &[1, 2, 3]] {
        assert!(message(m.arrange_by(wrong)).ends_with("is no order of 3 components: name each of 0..3 once"));
    }
    assert_eq!(m.components(&[1]).unwrap().weights(), [9.84375]);
    assert_eq!(message(m.components(&[3])), "there is no component 3: there are 3, counted from 0");
}

/// `m.fixsigns()`: `factor_matrices[n][0]` for each n; and the element of each column that is largest by absolute value.
#[test]
fn signs_are_fixed_in_pairs() {
    let mut m = model(&[4, 3, 5], 3, 0);
    let before = m.to_dense().unwrap();
    m.fix_signs();
    let signs: Vec<f64> = m
        .factors()
        .iter()
        .flat_map(|factor| &factor.values()[..3])
        .map(|v| v.signum() * f64::from(u8::from(*v != 0.0)))
        .collect();
    near(&signs, &[-1.0, -1.0, 0.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0]);
    near(m.to_dense().unwrap().values_of().unwrap(), before.values_of().unwrap());
    let largest = |factor: &Factor, r: usize| {
        factor.values().iter().skip(r).step_by(3).fold(0.0, |a: f64, &b| if b.abs() > a.abs() { b } else { a })
    };
    let found: Vec<f64> = m.factors().iter().flat_map(|factor| (0..3).map(|r| largest(factor, r))).collect();
    near(&found, &[-1.5, 1.5, -1.5, 1.5, 1.5, 1.25, 1.5, 1.5, 1.5]);
}

/// `m.score(o, weight_penalty=…)`: score, permutation, `weights`.
#[test]
fn scores() {
    let (m, o) = (model(&[4, 3, 5], 3, 0), model(&[4, 3, 5], 2, 4));
    for (penalty, value) in [(true, 0.0946464646464646), (false, 0.25749232609310413)] {
        let Score { value: found, model, order } = m.score(&o, penalty).unwrap();
        near(&[found], &[value]);
        assert_eq!(order, [0, 2, 1]);
        near(model.weights(), &[3.4959868174987445, 9.84375, 7.037913509165909]);
    }
    let mut other = m.clone();
    other.arrange_by(&[1, 2, 0]).unwrap();
    let found = m.score(&other, true).unwrap();
    near(&[found.value], &[1.0]);
    assert_eq!(found.order, [1, 2, 0]);
    let error = message(o.score(&m, true));
    assert_eq!(error, "a model of 2 components can't be matched with 3: match the larger with the smaller");
}

#[test]
fn sums_and_multiples() {
    let (m, o) = (model(&[4, 3, 5], 3, 0), model(&[4, 3, 5], 2, 4));
    let sum = m.join(&o.clone().scaled(-2.0).unwrap()).unwrap();
    assert_eq!(sum.rank(), 5);
    for index in [[0, 0, 0], [3, 2, 4], [1, 2, 0]] {
        near(&[sum.get(&index).unwrap()], &[m.get(&index).unwrap() - 2.0 * o.get(&index).unwrap()]);
    }
    let more = m.with_component(2.0, &[vec![1.0; 4], vec![3.0; 3], vec![0.5; 5]]).unwrap();
    near(&[more.get(&[3, 1, 2]).unwrap()], &[m.get(&[3, 1, 2]).unwrap() + 3.0]);
    assert!(message(m.with_component(1.0, &[vec![1.0; 4], vec![1.0; 3]])).contains("has 4 × 3"));
    assert!(message(m.scaled(f64::INFINITY)).starts_with("the weight of component 1 is inf"));
    // None at all is the model zero.
    let none = o.components(&[]).unwrap();
    assert_eq!((none.rank(), none.norm(), none.get(&[0, 0, 0])), (0, 0.0, Some(0.0)));
    assert!(none.to_dense().unwrap().values_of::<f64>().unwrap().iter().all(|&value| value == 0.0));
    assert_eq!(none.join(&o).unwrap(), o);
}

#[test]
fn what_is_no_model_is_refused() {
    let matrix = |values: &[f64]| Factor::from_vec([values.len() / 2, 2], values.to_vec()).unwrap();
    let cases = [
        (vec![1.0; 3], vec![matrix(&[1.0; 4])], "the factor of mode 1 has 2 columns, but there are 3 weights"),
        (vec![], vec![], "a K-tensor has at least one factor"),
        (vec![1.0, f64::NAN], vec![matrix(&[1.0; 4])], "the weight of component 2 is NaN: models have finite numbers"),
        (
            vec![1.0; 2],
            vec![matrix(&[1.0; 4]), matrix(&[1.0, 2.0, 3.0, f64::NEG_INFINITY])],
            "the factor of mode 2 has -inf at (2, 2): models have finite numbers",
        ),
    ];
    for (weights, factors, expected) in cases {
        assert_eq!(message(KTensor::new(weights, factors)), expected);
    }
    let mut infinite = tensor();
    infinite.values_mut::<f64>().unwrap()[0] = f64::INFINITY;
    let error = message(model(&[4, 3, 5], 1, 0).fit(&infinite));
    assert_eq!(error, "the entry at (1, 1, 4) is inf: a decomposition takes finite values");
}
