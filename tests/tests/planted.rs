//! Laws of decompositions, on random tensors that have a model: from near the model each method finds it, in every format and on any
//! number of threads; fits do not fall; and the fit that a method says is that of its model.

use spc::decompose::{
    AlsOptions, AprOptions, CpMethod, CpOptions, Engine, Factor, Fitted, GcpOptions, KTensor, Loss, NonnegativeOptions,
    Optimizer, PowerOptions, Start, TuckerMethod, TuckerOptions, cp, power, tucker,
};
use spc::execute::Backend;
use spc::tensor::AnyTensor;
use spc_compiler::format::resolve::{Definitions, resolve};
use spc_compiler::syntax;
use spc_tests::data::Random;
use spc_tests::harness::options;
use std::ops::ControlFlow;

/// How many tensors, in the usual tier and in the whole.
const TENSORS: [u64; 2] = [2, 5];

const FORMATS: &[&str] = &["csf", "coo", "alto", "hicoo(2)", "dense"];

/// From 0 up to 1.
fn uniform(random: &mut Random) -> f64 {
    (random.bits() >> 11) as f64 / (1u64 << 53) as f64
}

fn engine() -> Engine {
    Engine { backend: Some(Backend::Interpreter), ..Engine::default() }
}

/// A tensor that is a sum of rank-1 tensors, and a start near it.
struct Planted {
    model: KTensor,
    start: KTensor,
    x: AnyTensor,
}

impl Planted {
    /// Elements of factors lie in a range.
    fn new(seed: u64, [low, high]: [f64; 2]) -> Planted {
        let random = &mut Random::new(seed);
        let order = 3 + random.below(2);
        // Of lower rank than each extent: then components are unique, and columns independent with probability one.
        let rank = 1 + random.below(2);
        let shape: Vec<usize> = (0..order).map(|_| 2 + rank + random.below(3)).collect();
        let factor = |extent: usize, random: &mut Random| -> Vec<f64> {
            (0..extent * rank).map(|_| low + (high - low) * uniform(random)).collect()
        };
        let values: Vec<Vec<f64>> = shape.iter().map(|&extent| factor(extent, random)).collect();
        let near = |values: &Vec<f64>, random: &mut Random| -> Vec<f64> {
            values.iter().map(|value| value * (1.0 + 0.02 * (uniform(random) - 0.5))).collect()
        };
        let nearby: Vec<Vec<f64>> = values.iter().map(|values| near(values, random)).collect();
        let of = |all: Vec<Vec<f64>>| {
            let factors = all.into_iter().zip(&shape).map(|(values, &extent)| Factor::from_vec([extent, rank], values));
            let factors = factors.collect::<Result<Vec<_>, _>>().expect("a value for each element");
            KTensor::new(vec![1.0; rank], factors).expect("the parts fit")
        };
        let (model, start) = (of(values), of(nearby));
        let x = model.to_dense().expect("it is small");
        Planted { model, start, x }
    }

    fn stored(&self, name: &str) -> AnyTensor {
        let format = syntax::parse_format(name).expect("it is a format");
        let format = resolve(&format, self.x.order(), &Definitions::prelude()).expect("it is known");
        self.x.convert(&format).expect("every format holds it")
    }

    fn fitted(&self, x: &AnyTensor, method: &CpMethod, iterations: usize) -> Fitted<KTensor> {
        let options = CpOptions {
            iterations,
            tolerance: 0.0,
            start: Start::Model(self.start.clone()),
            engine: engine(),
            ..CpOptions::new(self.model.rank())
        };
        cp(x, method, &options, &mut |_| ControlFlow::Continue(())).expect("it runs")
    }
}

/// The model of each method for each tensor, and what must hold.
fn near_the_model_it_is_found(method: &CpMethod, range: [f64; 2], iterations: usize, least: f64) {
    for seed in options().seeds(TENSORS[0], TENSORS[1]) {
        let planted = Planted::new(seed, range);
        let format = FORMATS[seed as usize % FORMATS.len()];
        let x = planted.stored(format);
        let fitted = planted.fitted(&x, method, iterations);
        let fit = fitted.model.fit(&x).expect("the shapes are equal");
        assert!(fit > least, "seed {seed}, {format}: fit {fit}");
        let score = planted.model.score(&fitted.model, false).expect("the shapes are equal").value;
        assert!(score > 1.0 - 4.0 * (1.0 - least), "seed {seed}, {format}: score {score}");
        if let Some(said) = fitted.fit() {
            assert!((said - fit).abs() < 1e-6, "seed {seed}, {format}: {said} is said of a fit of {fit}");
        }
        let losses = fitted.iterations.iter().filter_map(|iteration| iteration.fit);
        let squares: Vec<f64> = losses.map(|fit| (1.0 - fit).powi(2)).collect();
        if matches!(method, CpMethod::Als(_) | CpMethod::Nonnegative(_)) {
            assert!(squares.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "seed {seed}, {format}: {squares:?}");
        }
        let other = planted.fitted(&planted.x, method, iterations);
        for (one, other) in fitted.model.weights().iter().zip(other.model.weights()) {
            assert!((one - other).abs() <= 1e-4 * other.abs(), "seed {seed}, {format}: weights {one} and {other}");
        }
    }
}

fn als() {
    near_the_model_it_is_found(&CpMethod::Als(AlsOptions::default()), [-1.0, 2.0], 40, 1.0 - 1e-3);
}

fn als_of_all_entries_weighed_alike() {
    for seed in options().seeds(TENSORS[0], TENSORS[1]) {
        let planted = Planted::new(seed, [0.5, 1.5]);
        let ones = planted.x.with_values(vec![1.0; planted.x.nnz()].into()).expect("as many");
        let weighted = CpMethod::Als(AlsOptions { weights: Some(ones), ..AlsOptions::default() });
        let found = planted.fitted(&planted.x, &weighted, 40);
        let fit = found.model.fit(&planted.x).expect("the shapes are equal");
        assert!(fit > 1.0 - 1e-3, "seed {seed}: {fit}");
    }
}

fn nonnegative() {
    let method = CpMethod::Nonnegative(NonnegativeOptions::default());
    near_the_model_it_is_found(&method, [0.1, 1.0], 40, 1.0 - 1e-2);
}

fn apr() {
    near_the_model_it_is_found(&CpMethod::Apr(AprOptions::default()), [0.1, 1.0], 20, 1.0 - 2e-2);
}

fn gcp() {
    for loss in [Loss::Gaussian, Loss::Poisson] {
        let options = GcpOptions { loss, optimizer: Optimizer::Lbfgs, ..GcpOptions::default() };
        near_the_model_it_is_found(&CpMethod::Gcp(options), [0.2, 1.0], 30, 1.0 - 2e-2);
    }
}

/// A random tensor has the ranks that it is multiplied up to: a Tucker model of these is exact.
fn tucker_of_enough_ranks_is_exact() {
    for seed in options().seeds(TENSORS[0], TENSORS[1]) {
        let planted = Planted::new(seed, [-1.0, 1.0]);
        let format = FORMATS[seed as usize % FORMATS.len()];
        let x = planted.stored(format);
        for method in [TuckerMethod::Hosvd, TuckerMethod::StHosvd, TuckerMethod::Hooi] {
            let ranks = vec![planted.model.rank(); x.order()];
            let options =
                TuckerOptions { iterations: 5, tolerance: 0.0, engine: engine(), ..TuckerOptions::new(ranks) };
            let fitted = tucker(&x, method, &options, &mut |_| ControlFlow::Continue(())).expect("it runs");
            let fit = fitted.model.fit(&x).expect("the shapes are equal");
            assert!(fit > 1.0 - 1e-7, "seed {seed}, {format}, {method:?}: {fit}");
            assert!(fitted.model.is_orthonormal(1e-10), "seed {seed}, {format}, {method:?}");
        }
    }
}

/// Components are found whether or not the run was broken off behind some of them.
fn power_goes_on_from_what_was_found() {
    for seed in options().seeds(TENSORS[0], TENSORS[1]) {
        let planted = Planted::new(seed, [-1.0, 1.0]);
        let find = |components: usize, found: Option<KTensor>| {
            let options = PowerOptions { found, seed, engine: engine(), ..PowerOptions::new(components) };
            power(&planted.x, &options, &mut |_| ControlFlow::Continue(())).expect("it runs").model
        };
        let all = find(3, None);
        let norm = all.fit(&planted.x).expect("the shapes are equal");
        let two = find(2, None);
        let rest = find(3, Some(two.clone()));
        assert_eq!((rest.rank(), &rest.weights()[..2]), (3, two.weights()));
        let fit = rest.fit(&planted.x).expect("the shapes are equal");
        assert!(fit >= two.fit(&planted.x).expect("the shapes are equal") - 1e-9 && fit > norm - 0.05, "seed {seed}");
        assert_eq!(find(3, Some(rest.clone())), rest);
    }
}

spc_tests::tests! {
    als,
    als_of_all_entries_weighed_alike,
    nonnegative,
    apr,
    gcp,
    tucker_of_enough_ranks_is_exact,
    power_goes_on_from_what_was_found,
}
