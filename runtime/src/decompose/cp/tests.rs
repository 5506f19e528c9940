//! What methods give: against pyttb, planted models, every format and engine.

use super::*;
use crate::decompose::{Factor, Fitted, Stopped};
use crate::distribute::{Communicator, PARTS, ThreadRank, in_parts, on_threads};
use crate::execute::Backend;
use crate::io;
use crate::tensor::{Alto, Coordinates, Csf, Duplicates, Hicoo, Indices, StorageFormat, Tensor, pack};
use spc_compiler::format::Format;
use spc_compiler::ir::Literal;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Numbers that Python has, too: `1 + sin((i + 1) (r + 2) + 13 n)`, of full rank.
fn sines(shape: &[usize], rank: usize) -> KTensor {
    let factor = |(mode, &extent): (usize, &usize)| {
        let number = |index: &[usize]| 1.0 + (((index[0] + 1) * (index[1] + 2) + 13 * mode) as f64).sin();
        Factor::from_fn([extent, rank], number).unwrap()
    };
    KTensor::new(vec![1.0; rank], shape.iter().enumerate().map(factor).collect()).unwrap()
}

/// In the interpreter, from [`sines`], all iterations.
fn options(x: &AnyTensor, rank: usize, iterations: usize) -> CpOptions {
    let mut options = CpOptions::new(rank);
    options.iterations = iterations;
    options.tolerance = 0.0;
    options.start = Start::Model(sines(x.shape(), rank));
    options.engine.backend = Some(Backend::Interpreter);
    options
}

fn als() -> CpMethod {
    CpMethod::Als(AlsOptions::default())
}

fn run(x: &AnyTensor, method: &CpMethod, options: &CpOptions) -> Fitted<KTensor> {
    cp(x, method, options, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn refused(x: &AnyTensor, method: &CpMethod, options: &CpOptions) -> String {
    cp(x, method, options, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string()
}

/// As one rank does, but for rounding, on any number of ranks: also on more than there are rows, with slices without entries, and where
/// ranks have none.
#[test]
fn ranks_do_what_one_does() {
    let at = element;
    const MANY: &[usize] = &[1, 2, 3, 4, 7, 64];
    for (shape, element, normalise_by_max, ranks) in [
        (&[7, 5, 6][..], ElementType::F64, false, MANY),
        (&[7, 5, 6], ElementType::F64, true, &[2, 7]),
        (&[4, 3, 5, 3], ElementType::F64, false, &[3, 12]),
        (&[4, 3, 5, 3], ElementType::F32, false, &[2, 4]),
    ] {
        let whole = planted(&sines(shape, 3), |place| place % 3 == 0 && place > 40);
        let own = AlsOptions { normalise_by_max, ..AlsOptions::default() };
        let options = CpOptions { element: Some(element), ..options(&whole, 3, 6) };
        let one = run(&whole, &CpMethod::Als(own.clone()), &options);
        let close = if element == ElementType::F64 { 1e-9 } else { 1e-3 };
        for &ranks in ranks {
            let body =
                |own_rank: &ThreadRank| cp_on(&whole, &own, &options, own_rank, &mut |_| ControlFlow::Continue(()));
            let mut on = on_threads(ranks, None, body).unwrap();
            let first = on.remove(0);
            assert_eq!(first.iterations.len(), one.iterations.len());
            for (first, one) in first.iterations.iter().zip(&one.iterations) {
                let apart = (first.fit.unwrap() - one.fit.unwrap()).abs();
                assert!(apart < close, "{ranks} ranks, {element:?}: fits {first:?} and {one:?}");
            }
            for index in [[0, 0, 0, 0], [3, 2, 4, 1], [1, 1, 2, 2]] {
                let index = &index[..shape.len()];
                let apart = (at(&first.model, index) - at(&one.model, index)).abs();
                assert!(apart < 100.0 * close, "{ranks} ranks, {element:?}: models differ at {index:?}");
            }
            // All have the same bits.
            let bits = |fitted: &Fitted<KTensor>| -> Vec<Vec<f64>> {
                fitted.model.factors().iter().map(|factor| factor.values().to_vec()).collect()
            };
            assert!(on.iter().all(|other| bits(other) == bits(&first)));
        }
    }
}

/// In parts, models of any number of ranks have the same bits.
#[test]
fn parts_decompose_to_the_same_bits() {
    let x = planted(&sines(&[7, 5, 6], 3), |place| place % 3 != 1);
    let mut options = options(&x, 3, 4);
    options.engine.deterministic = true;
    let own = AlsOptions::default();
    let part = |part: &ThreadRank| cp_on(&x, &own, &options, part, &mut |_| ControlFlow::Continue(()));
    let on = |ranks| {
        let fitted = on_threads(ranks, None, |own| in_parts(PARTS, own, part)).unwrap().swap_remove(0).swap_remove(0);
        fitted.model.factors().iter().map(|factor| factor.values().to_vec()).collect::<Vec<Vec<f64>>>()
    };
    let one = on(1);
    for ranks in [2, 3, 7, PARTS] {
        assert_eq!(on(ranks), one, "{ranks} ranks");
    }
}

#[test]
fn what_one_rank_ends_all_end() {
    let x = planted(&sines(&[5, 4, 3], 2), |place| place % 2 == 0);
    let options = options(&x, 2, 50);
    let body = |ranks: &ThreadRank| {
        let stops = |iteration: &Iteration| match ranks.rank() == 1 && iteration.number == 3 {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        cp_on(&x, &AlsOptions::default(), &options, ranks, &mut { stops })
    };
    let all = on_threads(3, None, body).unwrap();
    assert!(all.iter().all(|fitted| fitted.iterations.len() == 3 && fitted.stopped == Stopped::Observer));
    let weighted = AlsOptions { weights: Some(x.clone()), ..AlsOptions::default() };
    let body = |ranks: &ThreadRank| cp_on(&x, &weighted, &options, ranks, &mut |_| ControlFlow::Continue(()));
    let error = on_threads(2, None, body).unwrap_err().to_string();
    assert!(error.contains("run on one rank"), "{error}");
}

/// The element of a model.
fn element(model: &KTensor, index: &[usize]) -> f64 {
    let term = |(r, weight): (usize, &f64)| {
        let factors = model.factors().iter().zip(index);
        factors.fold(*weight, |product, (factor, &i)| product * factor.values()[i * model.rank() + r])
    };
    model.weights().iter().enumerate().map(term).sum()
}

/// A dense list of the elements of a model at some places.
fn planted(model: &KTensor, keep: impl Fn(usize) -> bool) -> AnyTensor {
    let shape = model.shape();
    let count: usize = shape.iter().product();
    let mut indices = vec![Vec::new(); shape.len()];
    let mut values = Vec::new();
    for place in (0..count).filter(|&place| keep(place)) {
        let mut rest = place;
        let mut index = vec![0; shape.len()];
        for mode in (0..shape.len()).rev() {
            index[mode] = rest % shape[mode];
            rest /= shape[mode];
        }
        values.push(element(model, &index));
        indices.iter_mut().zip(index).for_each(|(list, index)| list.push(index as u32));
    }
    let indices = indices.into_iter().map(Indices::U32).collect();
    let entries = Coordinates { shape: shape.clone(), shape_is_stated: true, indices, values };
    pack(entries, &Format::csf(shape.len()), Duplicates::Sum).unwrap()
}

/// Some entries at places that look random, with values of both signs.
fn example(shape: &[usize]) -> AnyTensor {
    let model = sines(shape, 3);
    let x = planted(&model, |place| place * 7919 % 31 < 11);
    let values: Vec<f64> = (0..x.nnz()).map(|place| ((place * 37 % 17) as f64) - 6.0).collect();
    x.with_values(values.into()).unwrap()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(expected) {
        assert!((one - other).abs() <= tolerance * other.abs().max(1.0), "{found:?} {expected:?}");
    }
}

fn same(one: &Fitted<KTensor>, other: &Fitted<KTensor>, tolerance: f64) {
    close(&[one.fit().unwrap()], &[other.fit().unwrap()], tolerance);
    close(one.model.weights(), other.model.weights(), tolerance);
    for (one, other) in one.model.factors().iter().zip(other.model.factors()) {
        close(one.values(), other.values(), tolerance);
    }
}

fn monotone(fitted: &Fitted<KTensor>) {
    // The square of the residual is a difference of numbers about as large as that of the tensor's norm.
    let squares: Vec<f64> = fitted.iterations.iter().map(|one| (1.0 - one.fit.unwrap()).powi(2)).collect();
    assert!(squares.windows(2).all(|pair| pair[1] <= pair[0] + 1e-13), "{squares:?}");
}

fn shared(name: &str) -> Option<AnyTensor> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    path.exists().then(|| io::read(&path).unwrap())
}

/// Made with pyttb 1.8.6:
///
/// ```python
/// a = np.loadtxt(name); c, v = a[:, :-1].astype(int) - 1, a[:, -1]; shape = tuple(c.max(0) + 1)
/// start = [1 + np.sin(np.arange(1, n + 1)[:, None] * np.arange(2, 7)[None, :] + 13.0 * m) for m, n in enumerate(shape)]
/// M, _, out = ttb.cp_als(ttb.sptensor(c, v[:, None], shape), 5, stoptol=0, maxiters=10, init=ttb.ktensor(start))
/// out['fit'], M.weights, [f[0, 0] for f in M.factor_matrices], [f[-1, 1] for f in M.factor_matrices]
/// ```
struct Pyttb {
    file: &'static str,
    fit: f64,
    weights: [f64; 5],
    first: &'static [f64],
    last: &'static [f64],
}

const PYTTB: [Pyttb; 5] = [
    Pyttb {
        file: "nations-subj-rel-obj.tns.gz",
        fit: 0.3400358243912367,
        weights: [18.03652428116587, 15.619498914844073, 13.68221530269196, 12.927636827515276, 12.239146423903248],
        first: &[0.297065675317438, -0.09248014995339525, 0.24812984065001642],
        last: &[0.3609740672707723, 0.16823712943495042, 0.003729604410698096],
    },
    Pyttb {
        file: "kinships-subj-rel-obj.tns.gz",
        fit: 0.11735508371446757,
        weights: [25.258871601878585, 24.35630905577726, 23.779014914779264, 18.19431476845728, 14.755632764828094],
        first: &[-0.1100046843745898, -0.08192566673398116, 0.07901375357462717],
        last: &[0.09828049802639527, 0.26733592598832334, 0.08634804007555673],
    },
    Pyttb {
        file: "emaileu-person-person-day.tns.gz",
        fit: 0.1321056273781891,
        weights: [551.6778052406746, 547.1043190747309, 482.418767873533, 430.6193955401753, 400.85790714299293],
        first: &[0.00020005606442231074, 0.00020012229958380487, 0.05083678079512543],
        last: &[-3.879214147716738e-10, -3.873565686232064e-10, 1.2044492684960584e-08],
    },
    Pyttb {
        file: "uber-spring14-day-hour-lat-lon.tns.gz",
        fit: 0.12245265621859602,
        weights: [491.25329866504256, 467.6622563448378, 367.51873085646474, 355.99605890142874, 291.2380570312972],
        first: &[0.06691820564961468, 0.11129408594294699, 7.710477929300543e-10, 3.2984509916799527e-84],
        last: &[0.08897109526697876, 0.07848877890513128, 3.394387158314067e-85, 4.116648469949579e-89],
    },
    Pyttb {
        file: "lastfm-user-artist-tag-month-year.tns.gz",
        fit: 0.0025454392743466947,
        weights: [17.94766286598486, 13.995961707134574, 13.283904833400554, 12.176627068478766, 10.264758518110005],
        first: &[
            3.636166345621559e-11,
            -6.77769069351386e-23,
            1.2866198575769587e-08,
            3.125309885039367e-06,
            4.752253479331125e-12,
        ],
        last: &[
            -7.992561692874618e-36,
            1.1345104865074478e-27,
            6.978873381566251e-21,
            3.649404338564976e-06,
            5.599877074999598e-11,
        ],
    },
];

#[test]
fn fit_and_model_are_those_of_pyttb() {
    for Pyttb { file, fit, weights, first, last } in PYTTB {
        let Some(x) = shared(file) else { continue };
        let mut options = options(&x, 5, 10);
        options.engine.backend = Some(Backend::Jit);
        for normalise_by_max in [false, true] {
            let own = AlsOptions { normalise_by_max, weights: None };
            let fitted = run(&x, &CpMethod::Als(own), &options);
            close(&[fitted.fit().unwrap()], &[fit], 1e-8);
            close(fitted.model.weights(), &weights, 1e-8);
            let factors = fitted.model.factors();
            let begin: Vec<f64> = factors.iter().map(|factor| factor.values()[0]).collect();
            let end: Vec<f64> = factors.iter().map(|factor| factor.values()[factor.values().len() - 4]).collect();
            close(&begin, first, 1e-8);
            close(&end, last, 1e-8);
            monotone(&fitted);
        }
    }
}

#[test]
fn planted_models_are_recovered() {
    for shape in [&[9, 8, 7][..], &[6, 5, 7, 6], &[5, 4, 5, 6, 4], &[4, 5, 4, 3, 4, 3]] {
        let x = planted(&sines(shape, 2), |_| true);
        for element in [ElementType::F64, ElementType::F32] {
            let mut options = options(&x, 2, 300);
            options.start = Start::Random { seed: 3 };
            options.element = Some(element);
            options.tolerance = 1e-13;
            options.engine.backend = Some(Backend::Jit);
            let fitted = run(&x, &als(), &options);
            let least = if element == ElementType::F64 { 1.0 - 1e-6 } else { 0.999 };
            assert!(fitted.fit().unwrap() > least, "{shape:?} {element:?} {:?}", fitted.fit());
        }
    }
}

#[test]
fn every_format_and_budget_gives_the_same() {
    let x = example(&[7, 6, 5]);
    let expected = run(&x, &als(), &options(&x, 3, 4));
    monotone(&expected);
    let permuted = Format::permuted(&[2, 0, 1], &[spc_compiler::format::LevelFormat::COMPRESSED; 3]);
    for format in [permuted, Format::coo(3), Format::dense(3), Hicoo::<3, 4>::format(), Alto::<3>::format()] {
        let y = x.convert(&format).unwrap();
        for memory in [None, Some(0)] {
            let mut options = options(&y, 3, 4);
            options.memory = memory;
            same(&run(&y, &als(), &options), &expected, 1e-9);
        }
    }
}

#[test]
fn entries_that_are_listed_are_read_by_permutations_where_there_is_room_for_these_alone() {
    let x = example(&[7, 6, 5, 4]);
    let expected = run(&x, &als(), &options(&x, 3, 4));
    let y = x.convert(&Format::coo(4)).unwrap();
    let mut options = options(&y, 3, 4);
    options.memory = Some(3 * 4 * y.nnz() as u64);
    for backend in [None, Some(Backend::Native)] {
        options.engine.backend = backend;
        let permuted = run(&y, &als(), &options);
        assert!(permuted.notes[1].starts_with("permutations give its entries"), "{:?}", permuted.notes);
        same(&permuted, &expected, 1e-9);
    }
    options.memory = options.memory.map(|bytes| bytes - 1);
    assert_eq!(run(&y, &als(), &options).notes.len(), 1);
}

#[test]
fn native_code_and_shared_products_give_the_same() {
    let mut shares = 0;
    // The pairs of the first two modes are few, as are those of the last and the first.
    for shape in [&[4, 3, 40][..], &[3, 40, 4], &[3, 4, 9, 5], &[3, 2, 6, 3, 4], &[2, 3, 2, 3, 2, 3, 2, 3]] {
        let x = example(shape);
        let mut options = options(&x, 3, 4);
        options.memory = Some(0);
        let separate = run(&x, &als(), &options);
        assert!(separate.notes[0].starts_with("the tensor is read as it is stored"), "{:?}", separate.notes);
        options.memory = None;
        let shared = run(&x, &als(), &options);
        shares += usize::from(shared.notes[0].starts_with("modes share products"));
        same(&shared, &separate, 1e-8);
        options.engine.backend = Some(Backend::Native);
        same(&run(&x, &als(), &options), &separate, 1e-8);
    }
    assert!(shares >= 3, "{shares}");
}

#[test]
fn whole_numbers_and_truth_values_are_decomposed_as_f64() {
    let entries = [([0, 0, 1], 3), ([1, 2, 0], 1), ([2, 1, 1], 2), ([2, 2, 1], 4), ([0, 2, 0], 1)];
    let of = |value: i32| f64::from(value);
    let x = Tensor::<f64, Csf<3>>::from_entries([3, 3, 2], entries.map(|(i, v)| (i, of(v)))).unwrap().into_any();
    let whole = Tensor::<i32, Csf<3>>::from_entries([3, 3, 2], entries).unwrap().into_any();
    for memory in [None, Some(0)] {
        let mut options = options(&x, 2, 5);
        options.memory = memory;
        same(&run(&whole, &als(), &options), &run(&x, &als(), &options), 1e-12);
    }
    let truth = Tensor::<bool, Csf<3>>::from_entries([3, 3, 2], entries.map(|(i, _)| (i, true))).unwrap().into_any();
    let ones = Tensor::<f64, Csf<3>>::from_entries([3, 3, 2], entries.map(|(i, _)| (i, 1.0))).unwrap().into_any();
    same(&run(&truth, &als(), &options(&x, 2, 5)), &run(&ones, &als(), &options(&x, 2, 5)), 1e-12);
}

#[test]
fn a_run_that_goes_on_gives_the_same_as_one_that_was_not_stopped() {
    let x = example(&[7, 6, 5]);
    let weights = Some(example(&[7, 6, 5]).with_values(vec![1.0; x.nnz()].into()).unwrap());
    let weighted = CpMethod::Als(AlsOptions { weights, ..AlsOptions::default() });
    for method in [als(), weighted, CpMethod::Nonnegative(NonnegativeOptions::default())] {
        let whole = run(&x, &method, &options(&x, 3, 9));
        let mut last = None;
        let broken = cp(&x, &method, &options(&x, 3, 9), &mut |step| {
            last = Some(step.model.model());
            if step.iteration.number == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let broken = broken.unwrap();
        assert_eq!((broken.stopped, broken.iterations.len()), (crate::decompose::Stopped::Observer, 4));
        assert_eq!(last.as_ref(), Some(&broken.model));
        let mut options = options(&x, 3, 9);
        options.start = Start::Model(broken.model);
        options.done = 4;
        let rest = run(&x, &method, &options);
        assert_eq!(rest.iterations[0].number, 5);
        same(&rest, &whole, 1e-7);
        // It ends where the whole run would have ended.
        options.tolerance = 10.0;
        assert_eq!(run(&x, &method, &options).iterations.len(), 1);
    }
}

#[test]
fn tensors_of_little() {
    let one = Tensor::<f64, Csf<3>>::from_entries([4, 3, 5], [([3, 1, 2], -2.5)]).unwrap().into_any();
    let fitted = run(&one, &als(), &options(&one, 2, 8));
    assert!((fitted.fit().unwrap() - 1.0).abs() < 1e-7, "{:?}", fitted.fit());
    assert!((element(&fitted.model, &[3, 1, 2]) + 2.5).abs() < 1e-7);

    let zero = AnyTensor::zeros(vec![4, 3, 5], Format::dense(3), ElementType::F64).unwrap();
    for method in [als(), CpMethod::Nonnegative(NonnegativeOptions::default())] {
        let fitted = run(&zero, &method, &options(&zero, 2, 3));
        assert_eq!(fitted.fit(), Some(0.0));
        assert_eq!(fitted.model.weights(), [0.0, 0.0]);
    }
    // Rank above each extent, empty slices, a tensor of rank one.
    let x = planted(&sines(&[3, 2, 4], 1), |place| place / 8 != 1);
    let fitted = run(&x, &als(), &options(&x, 6, 40));
    monotone(&fitted);
    assert!(fitted.fit().unwrap() > 1.0 - 1e-6, "{:?}", fitted.fit());
    assert!(fitted.model.factors()[0].values()[6..12].iter().all(|value| value.abs() < 1e-9));
}

#[test]
fn what_can_not_be_decomposed_is_refused() {
    let x = example(&[4, 3, 5]);
    let with = |value: f64| {
        let mut values = x.values_of::<f64>().unwrap().to_vec();
        values[0] = value;
        x.with_values(values.into()).unwrap()
    };
    let usual = options(&x, 2, 3);
    assert_eq!(
        refused(&with(f64::NAN), &als(), &usual),
        "the entry at (1, 1, 1) is NaN: a decomposition takes finite values"
    );
    assert!(refused(&with(f64::INFINITY), &als(), &usual).starts_with("the entry at (1, 1, 1) is inf"));
    let mut narrow = options(&x, 2, 3);
    narrow.element = Some(ElementType::F32);
    // One entry that is far larger than all others.
    for options in [&usual, &narrow] {
        let options = CpOptions { start: Start::default(), ..options.clone() };
        assert!(run(&with(1e200), &als(), &options).fit() > Some(0.999));
    }
    narrow.element = Some(ElementType::I32);
    assert_eq!(refused(&x, &als(), &narrow), "factors are of f64 or f32, and not of i32");
    let complex = AnyTensor::zeros(vec![2, 2, 2], Format::dense(3), ElementType::C64).unwrap();
    assert!(refused(&complex, &als(), &options(&complex, 2, 3)).contains("real numbers"));
    let filled = x.clone().with_fill(Literal::new(ElementType::F64, 2.0).unwrap());
    assert!(refused(&filled, &als(), &usual).contains("have the value 2"));
    assert!(refused(&x, &als(), &CpOptions::new(0)).contains("the rank is 0"));
    let mut wrong = options(&x, 2, 3);
    wrong.start = Start::Model(sines(&[4, 3, 6], 2));
    assert!(refused(&x, &als(), &wrong).contains("has shape 4 × 3 × 6"));
    let one = AnyTensor::zeros(vec![3], Format::dense(1), ElementType::F64).unwrap();
    assert!(refused(&one, &als(), &CpOptions::new(1)).contains("has 1 modes"));
}

#[test]
fn a_hosvd_start_and_a_tolerance() {
    let x = planted(&sines(&[9, 8, 7], 2), |_| true);
    let mut options = options(&x, 4, 200);
    options.start = Start::Hosvd { seed: 1 };
    options.tolerance = 1e-6;
    let fitted = run(&x, &als(), &options);
    assert!(fitted.fit().unwrap() > 0.99, "{:?}", fitted.fit());
    assert_eq!(fitted.stopped, crate::decompose::Stopped::Tolerance);
}

#[test]
fn missing_entries_do_not_count() {
    let truth = sines(&[9, 8, 10], 2);
    let known = |place: usize| place * 7919 % 31 < 15;
    let x = planted(&truth, known);
    let ones = x.with_values(vec![1.0; x.nnz()].into()).unwrap();
    for element_type in [ElementType::F64, ElementType::F32] {
        let mut options = options(&x, 2, 300);
        options.start = Start::Random { seed: 5 };
        options.tolerance = 1e-12;
        options.element = Some(element_type);
        let own = AlsOptions { weights: Some(ones.clone()), ..AlsOptions::default() };
        let fitted = run(&x, &CpMethod::Als(own), &options);
        let (least, error) = if element_type == ElementType::F64 { (1.0 - 1e-6, 1e-5) } else { (0.999, 1e-2) };
        assert!(fitted.fit().unwrap() > least, "{:?}", fitted.fit());
        // Also where nothing is known.
        for index in [[0, 0, 7], [8, 7, 9], [4, 4, 4], [1, 6, 2]] {
            assert!((element(&fitted.model, &index) - element(&truth, &index)).abs() < error);
        }
    }
    // With a weight of one for each element, missing ones too, it is the usual method.
    let all = planted(&sines(x.shape(), 1), |_| true);
    let all = all.with_values(vec![1.0; all.nnz()].into()).unwrap();
    let own = AlsOptions { weights: Some(all), ..AlsOptions::default() };
    let fitted = run(&x, &CpMethod::Als(own), &options(&x, 2, 5));
    monotone(&fitted);
    same(&fitted, &run(&x, &als(), &options(&x, 2, 5)), 1e-8);
    // A weight of four is the value and the model doubled there.
    let wrong = |weights: AnyTensor| {
        refused(&x, &CpMethod::Als(AlsOptions { weights: Some(weights), ..AlsOptions::default() }), &options(&x, 2, 5))
    };
    assert!(wrong(example(&[9, 8, 11])).contains("shape"));
    assert!(wrong(example(&[9, 8, 10])).contains("is -6: a weight takes values that are not negative"));
    assert!(
        wrong(AnyTensor::zeros(vec![9, 8, 10], Format::dense(3), ElementType::F64).unwrap())
            .contains("all weights are zero")
    );
}

#[test]
fn nonnegative_factors() {
    let method = CpMethod::Nonnegative(NonnegativeOptions::default());
    let negative = |fitted: &Fitted<KTensor>| {
        fitted.model.factors().iter().any(|factor| factor.values().iter().any(|&value| value < 0.0))
    };
    for element in [ElementType::F64, ElementType::F32] {
        let x = planted(&sines(&[9, 8, 7], 3), |_| true);
        let mut options = options(&x, 3, 400);
        options.start = Start::Random { seed: 2 };
        options.element = Some(element);
        let fitted = run(&x, &method, &options);
        assert!(fitted.fit().unwrap() > 0.99 && !negative(&fitted), "{:?}", fitted.fit());
    }
    // Values of both signs, a rank above the extents, columns that vanish.
    for shape in [&[4, 3, 5][..], &[3, 4, 2, 5]] {
        let x = example(shape);
        let fitted = run(&x, &method, &options(&x, 6, 15));
        monotone(&fitted);
        assert!(fitted.fit().unwrap() > 0.05 && !negative(&fitted), "{:?}", fitted.fit());
    }
    let x = example(&[4, 3, 5]);
    let mut wrong = options(&x, 2, 3);
    let [a, b, c] = [0, 1, 2].map(|mode| sines(x.shape(), 2).factors()[mode].clone());
    wrong.start = Start::Model(KTensor::new(vec![1.0, -1.0], vec![a, b, c]).unwrap());
    assert!(refused(&x, &method, &wrong).contains("component 2 to start from has a negative weight"));
    let mut hosvd = options(&x, 2, 3);
    hosvd.start = Start::Hosvd { seed: 0 };
    assert!(!negative(&run(&x, &method, &hosvd)));
}

#[test]
fn a_deterministic_run_has_the_same_bits_on_any_number_of_threads() {
    let x = example(&[30, 6, 25]);
    let mut options = options(&x, 4, 5);
    options.engine.backend = Some(Backend::Native);
    options.engine.deterministic = true;
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [als(), CpMethod::Nonnegative(NonnegativeOptions::default())].map(|method| run(&x, &method, &options).model)
        })
    };
    assert_eq!(on(1), on(3));
}
