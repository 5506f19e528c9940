use super::*;
use crate::decompose::{Iteration, Stopped};
use crate::distribute::{Communicator, ThreadRank, on_threads};
use crate::execute::Backend;
use crate::tensor::{Coordinates, Csf, Dense, Duplicates, Element, Indices, Tensor, pack};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax::parse_format;
use std::ops::ControlFlow;

const SHAPE: [usize; 8] = [4, 3, 5, 3, 2, 3, 2, 2];
const RANKS: [usize; 8] = [2, 2, 3, 2, 1, 2, 2, 1];

fn value(place: usize) -> f64 {
    if place % 3 == 1 { 0.0 } else { ((7 * place * place + 3 * place) % 13) as f64 - 6.0 }
}

/// The first modes of `SHAPE`, of whole numbers from -6 to 6.
fn entries<T: Element>(order: usize) -> Coordinates<T> {
    let shape = SHAPE[..order].to_vec();
    let size: usize = shape.iter().product();
    let places: Vec<usize> = (0..size).filter(|&place| value(place) != 0.0).collect();
    let index = |mode: usize| {
        let stride: usize = shape[mode + 1..].iter().product();
        Indices::U32(places.iter().map(|place| (place / stride % shape[mode]) as u32).collect())
    };
    let indices = (0..order).map(index).collect();
    let values = places.iter().map(|&place| T::from_c64(value(place).into())).collect();
    Coordinates { shape, shape_is_stated: true, indices, values }
}

fn packed<T: Element>(order: usize, format: &Format) -> AnyTensor {
    pack(entries::<T>(order), format, Duplicates::Sum).unwrap()
}

fn options(ranks: &[usize]) -> TuckerOptions {
    let engine = Engine { backend: Some(Backend::Interpreter), ..Engine::default() };
    TuckerOptions { engine, iterations: 3, tolerance: 0.0, ..TuckerOptions::new(ranks) }
}

fn run(x: &AnyTensor, method: TuckerMethod, options: &TuckerOptions) -> Fitted<TuckerTensor> {
    tucker(x, method, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn message(x: &AnyTensor, options: &TuckerOptions) -> String {
    tucker(x, TuckerMethod::Hooi, options, &mut |_| ControlFlow::Continue(())).map(drop).unwrap_err().to_string()
}

fn fits(found: &Fitted<TuckerTensor>) -> Vec<f64> {
    found.iterations.iter().filter_map(|iteration| iteration.fit).collect()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() < tolerance;
    assert!(found.iter().zip(expected).all(near), "{found:?} {expected:?}");
}

/// The elements of a model, by the definition.
fn full(model: &TuckerTensor) -> Vec<f64> {
    let (shape, ranks) = (model.shape(), model.core().shape());
    let core = model.core().values_of::<f64>().unwrap();
    let digits = |mut place: usize, extents: &[usize]| {
        let mut index = vec![0; extents.len()];
        for (coordinate, extent) in index.iter_mut().zip(extents).rev() {
            (*coordinate, place) = (place % extent, place / extent);
        }
        index
    };
    let element = |place: usize| {
        let index = digits(place, &shape);
        let term = |at: usize| {
            let column = digits(at, ranks);
            let factors = model.factors().iter().zip(index.iter().zip(&column));
            core[at] * factors.map(|(factor, (&row, &column))| factor.get(&[row, column]).unwrap()).product::<f64>()
        };
        (0..core.len()).map(term).sum()
    };
    (0..shape.iter().product()).map(element).collect()
}

/// Factors are orthonormal with positive largest elements, and the fit is what the model says.
fn check(x: &AnyTensor, found: &Fitted<TuckerTensor>, tolerance: f64) {
    for (mode, factor) in found.model.factors().iter().enumerate() {
        let [rows, columns] = [factor.shape()[0], factor.shape()[1]];
        for one in 0..columns {
            let column = |column: usize| (0..rows).map(move |row| factor.values()[row * columns + column]);
            for other in 0..columns {
                let product: f64 = column(one).zip(column(other)).map(|(a, b)| a * b).sum();
                assert!((product - f64::from(u8::from(one == other))).abs() < 1e-12, "mode {mode}: {factor:?}");
            }
            let largest = column(one).fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            assert!(largest > 0.0, "mode {mode}: {largest}");
        }
    }
    let model = full(&found.model);
    let mut expected = vec![0.0; model.len()];
    let dense = |index: &[usize]| index.iter().zip(x.shape()).fold(0, |place, (index, extent)| place * extent + index);
    x.for_each_position(|index, position| expected[dense(index)] = x.values().get_f64(position));
    let squares = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|number| number * number).sum::<f64>().sqrt();
    let residual = squares(&mut model.iter().zip(&expected).map(|(a, b)| a - b));
    let norm = squares(&mut expected.iter().copied());
    let fit = if norm == 0.0 { 1.0 } else { 1.0 - residual / norm };
    assert!((found.fit().unwrap() - fit).abs() < tolerance, "{:?} {fit}", found.fit());
    let said = found.iterations.last().unwrap().measures[0];
    assert!(said.0 == "residual" && (said.1 - residual).abs() < tolerance * norm.max(1.0), "{said:?} {residual}");
}

/// `p = np.arange(np.prod(shape)); x = np.where(p % 3 == 1, 0, (7 * p * p + 3 * p) % 13 - 6.0).reshape(shape)`, then fits of
/// `tensorly.decomposition.tucker(x, ranks, n_iter_max=3, init='svd', tol=0, return_errors=True)`, the last also of
/// `pyttb.tucker_als(pyttb.tensor(x), ranks, maxiters=3, stoptol=0, init='nvecs')`, and of `pyttb.hosvd` with the ranks, not sequential and
/// sequential.
const FITS: [([f64; 3], [f64; 2]); 6] = [
    ([0.25764768706379115, 0.25764768706379093, 0.25764768706379115], [0.2466626060500282, 0.25569383290527037]),
    ([0.28952545029099686, 0.29605031663447157, 0.2981186040282483], [0.23012536286313012, 0.2803915310350382]),
    ([0.1931611463808871, 0.19371983814576976, 0.19374318082611242], [0.16789739106598423, 0.17086115015104075]),
    ([0.26162653337261155, 0.2623940720829445, 0.26240152573032494], [0.24058446590153904, 0.2577066676648798]),
    ([0.1284973638966015, 0.12919460531177285, 0.1292065024876088], [0.11260885112934693, 0.12399586006357644]),
    ([0.14025909313677232, 0.1406754797556199, 0.14067658206944444], [0.11363522477277732, 0.12446553414447148]),
];

#[test]
fn fits_of_all_orders_are_those_of_others() {
    for (order, (hooi, others)) in (3..).zip(FITS) {
        let x = packed::<f64>(order, &Format::csf(order));
        let options = options(&RANKS[..order]);
        let found = run(&x, TuckerMethod::Hooi, &options);
        assert_near(&fits(&found), &hooi, 1e-10);
        assert_eq!(found.stopped, Stopped::Iterations);
        check(&x, &found, 1e-12);
        for (method, fit) in [TuckerMethod::Hosvd, TuckerMethod::StHosvd].into_iter().zip(others) {
            let found = run(&x, method, &options);
            assert_near(&fits(&found), &[fit], 1e-10);
            check(&x, &found, 1e-12);
        }
    }
}

/// As `numpy.linalg.svd` finds them, alternating as [`TuckerMethod::Hooi`] does from [`TuckerMethod::Hosvd`].
#[test]
fn modes_of_full_rank_have_no_factor_in_between() {
    let x = packed::<f64>(3, &Format::csf(3));
    for (ranks, expected) in
        [([2, 3, 3], 0.39126684147798385), ([4, 2, 5], 0.46588541209967), ([2, 3, 5], 0.440497115055812)]
    {
        let found = run(&x, TuckerMethod::Hooi, &options(&ranks));
        assert_near(&fits(&found), &[expected; 3], 1e-10);
        check(&x, &found, 1e-12);
        let core = found.model.core().values_of::<f64>().unwrap();
        for mode in (0..3).filter(|&mode| ranks[mode] == SHAPE[mode]) {
            let inner: usize = ranks[mode + 1..].iter().product();
            let mut norms = vec![0.0; ranks[mode]];
            let of_slice = |place: usize| place / inner % ranks[mode];
            core.iter().enumerate().for_each(|(place, number)| norms[of_slice(place)] += number * number);
            assert!(norms.is_sorted_by(|one, next| *one >= next - 1e-9), "{ranks:?} {mode} {norms:?}");
        }
    }
}

/// As one rank does, but for rounding, by each method: also on more ranks than there are slices. All have the same bits.
#[test]
fn ranks_do_what_one_does() {
    for (core, ranks) in [(&RANKS[..3], &[1, 2, 3, 7, 40][..]), (&[2, 3, 3], &[3, 7]), (&RANKS[..4], &[2, 5])] {
        let order = core.len();
        let x = packed::<f64>(order, &Format::csf(order));
        let options = options(core);
        for method in [TuckerMethod::Hooi, TuckerMethod::Hosvd, TuckerMethod::StHosvd] {
            let one = run(&x, method, &options);
            for &ranks in ranks {
                let body = |own: &ThreadRank| tucker_on(&x, method, &options, own, &mut |_| ControlFlow::Continue(()));
                let all = on_threads(ranks, None, body).unwrap();
                assert_near(&fits(&all[0]), &fits(&one), 1e-10);
                check(&x, &all[0], 1e-12);
                assert_near(&full(&all[0].model), &full(&one.model), 1e-6);
                assert!(all.iter().all(|other| full(&other.model) == full(&all[0].model)), "{method:?}, {ranks} ranks");
            }
        }
    }
}

/// Wide unfoldings, of which no square is formed; and the tensor of zeros.
#[test]
fn ranks_search_together() {
    let shape = [60, 50, 40];
    let noise = crate::generate::uniform(&shape, 3000, 5).unwrap();
    let x = pack(noise, &Format::csf(3), Duplicates::Sum).unwrap();
    let options = TuckerOptions { iterations: 2, ..options(&[9, 8, 7]) };
    let zeros = AnyTensor::zeros(vec![4, 3, 5], Format::dense(3), ElementType::F64).unwrap();
    let small = self::options(&[2, 2, 2]);
    for (x, options) in [(&x, &options), (&zeros, &small)] {
        for method in [TuckerMethod::Hooi, TuckerMethod::StHosvd] {
            let one = run(x, method, options);
            let body = |own: &ThreadRank| tucker_on(x, method, options, own, &mut |_| ControlFlow::Continue(()));
            let found = on_threads(3, None, body).unwrap().remove(0);
            assert_near(&fits(&found), &fits(&one), 1e-8);
        }
    }
}

#[test]
fn what_one_rank_ends_all_end() {
    let x = packed::<f64>(3, &Format::csf(3));
    let options = TuckerOptions { iterations: 9, ..options(&RANKS[..3]) };
    let body = |own: &ThreadRank| {
        let stops = |iteration: &Iteration| match own.rank() == 1 && iteration.number == 2 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        tucker_on(&x, TuckerMethod::Hooi, &options, own, &mut { stops })
    };
    let all = on_threads(3, None, body).unwrap();
    assert!(all.iter().all(|found| found.iterations.len() == 2 && found.stopped == Stopped::Observer));
}

#[test]
fn formats_element_types_and_memory_make_no_difference() {
    let expected = FITS[0].0;
    let formats = ["coo", "dense", "alto", "(i, j, k) -> [k: dense, i: compressed, j: compressed]", "hicoo(2)"];
    let ranks = options(&RANKS[..3]);
    for name in formats {
        let format = named(name);
        for x in [packed::<f64>(3, &format), packed::<i32>(3, &format), packed::<i64>(3, &format)] {
            assert_near(&fits(&run(&x, TuckerMethod::Hooi, &ranks)), &expected, 1e-10);
        }
        let single = packed::<f32>(3, &format);
        let found = run(&single, TuckerMethod::Hooi, &ranks);
        assert_near(&fits(&found), &expected, 1e-5);
        check(&single, &found, 1e-5);
        let double = TuckerOptions { element: Some(ElementType::F64), ..ranks.clone() };
        assert_near(&fits(&run(&single, TuckerMethod::Hooi, &double)), &expected, 1e-10);
    }
    let x = packed::<f64>(3, &Format::csf(3));
    for memory in [0, 2500] {
        let little = TuckerOptions { memory: Some(memory), ..ranks.clone() };
        assert_eq!(fits(&run(&x, TuckerMethod::Hooi, &little)), fits(&run(&x, TuckerMethod::Hooi, &ranks)));
    }
}

/// A format by its text.
fn named(text: &str) -> Format {
    resolve(&parse_format(text).unwrap(), 3, &Definitions::prelude()).unwrap()
}

#[test]
fn native_kernels_do_the_same() {
    let x = packed::<f64>(4, &Format::coo(4));
    let native = TuckerOptions { engine: Engine::default(), ..options(&RANKS[..4]) };
    let found = run(&x, TuckerMethod::Hooi, &native);
    assert_near(&fits(&found), &FITS[1].0, 1e-10);
    check(&x, &found, 1e-12);
}

/// Extents above what is formed whole, so that vectors are iterated for.
#[test]
fn a_planted_model_is_found_exactly() {
    let (shape, ranks) = ([90, 70, 6], [2, 3, 2]);
    let wave = |place: usize| (place as f64 * 1.3).sin() + 0.3 * (place as f64 * 0.37).cos();
    let element = |i: usize, j: usize, k: usize| {
        let mut sum = 0.0;
        for at in 0..12 {
            let (p, q, r) = (at / 6, at / 2 % 3, at % 2);
            sum += wave(at) * wave(7 * i + 100 * p) * wave(11 * j + 300 * q) * wave(5 * k + 900 * r);
        }
        sum
    };
    let x = Tensor::<f64, Dense<3>>::from_fn(shape, |index| element(index[0], index[1], index[2])).unwrap();
    for method in [TuckerMethod::Hosvd, TuckerMethod::StHosvd, TuckerMethod::Hooi] {
        let found = run(x.as_any(), method, &TuckerOptions { iterations: 1, ..options(&ranks) });
        assert!(found.fit().unwrap() > 1.0 - 1e-7, "{method:?} {:?}", found.fit());
        let model = full(&found.model);
        assert!(model.iter().zip(x.values()).all(|(a, b)| (a - b).abs() < 1e-10), "{method:?}");
    }
}

#[test]
fn a_run_goes_on_and_ends_where_it_is_told() {
    let x = packed::<f64>(3, &Format::csf(3));
    let whole = TuckerOptions { iterations: 4, ..options(&[2, 2, 2]) };
    let expected = fits(&run(&x, TuckerMethod::Hooi, &whole));
    let mut seen: Vec<(Iteration, TuckerTensor)> = Vec::new();
    let broken = tucker(&x, TuckerMethod::Hooi, &whole, &mut |step| {
        seen.push((step.iteration.clone(), step.model.model()));
        if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let broken = broken.unwrap();
    assert_eq!((broken.stopped, broken.iterations.len()), (Stopped::Observer, 2));
    assert_eq!(seen[1].1, broken.model);
    let start = Some(broken.model.factors().to_vec());
    let rest = run(&x, TuckerMethod::Hooi, &TuckerOptions { start, done: 2, ..whole.clone() });
    assert_eq!(rest.iterations.iter().map(|iteration| iteration.number).collect::<Vec<_>>(), [3, 4]);
    assert_near(&fits(&rest), &expected[2..], 1e-12);
    // Nothing is left to do: the model is that of the factors.
    let start = Some(broken.model.factors().to_vec());
    let none = run(&x, TuckerMethod::Hooi, &TuckerOptions { start, done: 4, ..whole.clone() });
    assert!(none.iterations.is_empty());
    assert_near(&full(&none.model), &full(&broken.model), 1e-12);
    let hosvd = run(&x, TuckerMethod::Hooi, &TuckerOptions { iterations: 0, ..whole.clone() });
    let same = run(&x, TuckerMethod::Hosvd, &whole);
    assert_near(&full(&hosvd.model), &full(&same.model), 1e-12);
    let tolerance = run(&x, TuckerMethod::Hooi, &TuckerOptions { tolerance: 0.1, ..whole });
    assert_eq!((tolerance.stopped, tolerance.iterations.len()), (Stopped::Tolerance, 2));
}

#[test]
fn tensors_with_little_in_them() {
    let methods = [TuckerMethod::Hosvd, TuckerMethod::StHosvd, TuckerMethod::Hooi];
    let one = Tensor::<f64, Csf<3>>::from_entries([5, 4, 3], [([3, 1, 2], -2.5)]).unwrap().into_any();
    let none = Tensor::<f64, Csf<3>>::from_entries([5, 4, 3], [([0, 0, 0], 0.0)]).unwrap().into_any();
    // Most slices are empty, and ranks are above what there is.
    let entries = [([0, 1, 0], 1.0), ([4, 1, 0], -2.0), ([4, 3, 2], 3.0)];
    let few = Tensor::<f64, Csf<3>>::from_entries([5, 4, 3], entries).unwrap().into_any();
    for x in [one, none, few] {
        for ranks in [[3, 4, 2], [5, 4, 3], [5, 1, 1]] {
            for method in methods {
                let found = run(&x, method, &options(&ranks));
                check(&x, &found, 1e-7);
                if ranks == [5, 4, 3] {
                    assert!(found.fit().unwrap() > 1.0 - 1e-7);
                }
            }
        }
    }
    for size in [1e-300, 1e-200, 1e-155, 1e-20, 1e20, 1e155, 1e200, 1e300] {
        let scaled: Vec<f64> = self::entries::<f64>(3).values.iter().map(|value| value * size).collect();
        let x = packed::<f64>(3, &Format::csf(3)).with_values(scaled.into()).unwrap();
        let found = run(&x, TuckerMethod::Hooi, &options(&RANKS[..3]));
        assert_near(&fits(&found), &FITS[0].0, 1e-10);
        assert!((found.model.fit(&x).unwrap() - found.fit().unwrap()).abs() < 1e-7);
        let narrow = TuckerOptions { element: Some(ElementType::F32), ..options(&RANKS[..3]) };
        assert_near(&fits(&run(&x, TuckerMethod::Hooi, &narrow)), &FITS[0].0, 1e-4);
    }
}

#[test]
fn what_can_not_be_is_refused() {
    let x = packed::<f64>(3, &Format::csf(3));
    assert_eq!(message(&x, &options(&[2, 2])), "there are 2 ranks for 3 modes: say one for each mode");
    assert_eq!(message(&x, &options(&[2, 4, 2])), "the rank of mode 2 is 4, above its extent 3: say at most 3");
    assert_eq!(message(&x, &options(&[2, 2, 0])), "the rank of mode 3 is 0: say 1 or more");
    let tolerance = TuckerOptions { tolerance: f64::NAN, ..options(&[2, 2, 2]) };
    assert_eq!(message(&x, &tolerance), "the tolerance is NaN, and has to be 0 or more");
    let element = TuckerOptions { element: Some(ElementType::I32), ..options(&[2, 2, 2]) };
    assert_eq!(message(&x, &element), "factors are of f64 or f32, and not of i32");
    let factor = |rows: usize, value: f64| Factor::from_vec([rows, 2], vec![value; 2 * rows]).unwrap();
    let start = |start| TuckerOptions { start: Some(start), ..options(&[2, 2, 2]) };
    let too_few = start(vec![factor(4, 1.0)]);
    assert_eq!(message(&x, &too_few), "there are 1 factors to start from, for 3 modes");
    let wrong = start(vec![factor(4, 1.0), factor(4, 1.0), factor(5, 1.0)]);
    assert_eq!(message(&x, &wrong), "the factor of mode 2 is 4 x 2, and 3 x 2 is needed");
    let wrong = start(vec![factor(4, 1.0), factor(3, f64::INFINITY), factor(5, 1.0)]);
    assert_eq!(message(&x, &wrong), "the factor of mode 2 has the element inf at (1, 1)");
    let nan = Tensor::<f64, Csf<3>>::from_entries([4, 3, 5], [([1, 2, 0], f64::NAN)]).unwrap().into_any();
    assert_eq!(
        message(&nan, &options(&[2, 2, 2])),
        "the entry at (2, 3, 1) is NaN: a decomposition takes finite values"
    );
    for shape in [vec![2, 2], vec![1; 9]] {
        let x = AnyTensor::zeros(shape.clone(), Format::dense(shape.len()), ElementType::F64).unwrap();
        let found = shape.len();
        let expected = format!("the tensor has {found} modes, and a decomposition takes 3 to 8");
        assert_eq!(message(&x, &options(&vec![1; found])), expected);
    }
}
