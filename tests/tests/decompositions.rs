//! Decompositions on a device that is emulated: each method gives what it gives on the processor.

use spc::decompose::{
    AlsOptions, AprOptions, CpMethod, CpOptions, Engine, GcpOptions, KTensor, Loss, NonnegativeOptions, Optimizer,
    PowerOptions, TuckerMethod, TuckerOptions, cp, power, tucker,
};
use spc::execute::Backend;
use spc::tensor::{AnyTensor, Csf, Tensor};
use spc_tests::emulation;
use spc_tests::harness::{Skip, Suite, name};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Adds a test for each method.
pub(crate) fn tests(suite: &mut Suite) {
    for &(method, run) in METHODS {
        suite.test(name(module_path!(), method), move || on_a_device(run));
    }
}

/// What a method finds on an engine: numbers that are to be the same on every one.
type Method = fn(&AnyTensor, &Engine) -> Vec<f64>;

/// A row for each method.
const METHODS: &[(&str, Method)] = &[
    ("als", |x, engine| of_cp(x, &CpMethod::Als(AlsOptions::default()), engine)),
    ("als_with_weights", |x, engine| {
        let weights = x.values_of::<f64>().expect("it is of f64").iter().map(|value| 1.0 + value.abs());
        let weights = x.with_values(weights.collect::<Vec<f64>>().into()).expect("as many");
        of_cp(x, &CpMethod::Als(AlsOptions { weights: Some(weights), ..AlsOptions::default() }), engine)
    }),
    ("nonnegative", |x, engine| of_cp(x, &CpMethod::Nonnegative(NonnegativeOptions::default()), engine)),
    ("apr", |x, engine| of_cp(&counts(x), &CpMethod::Apr(AprOptions::default()), engine)),
    ("gcp_by_lbfgs", |x, engine| of_cp(&counts(x), &of_poisson(Optimizer::Lbfgs), engine)),
    ("gcp_by_adam", |x, engine| of_cp(&counts(x), &of_poisson(Optimizer::adam()), engine)),
    ("tucker_hosvd", |x, engine| of_tucker(x, TuckerMethod::Hosvd, engine)),
    ("tucker_st_hosvd", |x, engine| of_tucker(x, TuckerMethod::StHosvd, engine)),
    ("tucker_hooi", |x, engine| of_tucker(x, TuckerMethod::Hooi, engine)),
    ("power", |x, engine| {
        let mut options = PowerOptions::new(2);
        options.engine = engine.clone();
        options.iterations = 5;
        options.tolerance = 0.0;
        numbers(&power(x, &options, &mut |_| ControlFlow::Continue(())).expect("it runs").model)
    }),
];

/// The same places with values that are not negative.
fn counts(x: &AnyTensor) -> AnyTensor {
    let values = x.values_of::<f64>().expect("it is of f64").iter().map(|value| value.abs());
    x.with_values(values.collect::<Vec<f64>>().into()).expect("as many")
}

fn of_poisson(optimizer: Optimizer) -> CpMethod {
    CpMethod::Gcp(GcpOptions { loss: Loss::Poisson, optimizer, ..GcpOptions::default() })
}

fn of_tucker(x: &AnyTensor, method: TuckerMethod, engine: &Engine) -> Vec<f64> {
    let mut options = TuckerOptions::new(vec![2, 3, 2]);
    options.engine = engine.clone();
    options.iterations = 3;
    options.tolerance = 0.0;
    let fitted = tucker(x, method, &options, &mut |_| ControlFlow::Continue(())).expect("it runs");
    let fits = fitted.iterations.iter().filter_map(|iteration| iteration.fit);
    let core = fitted.model.core().values_of::<f64>().expect("cores are of f64").iter().copied();
    fits.chain(core).collect()
}

fn of_cp(x: &AnyTensor, method: &CpMethod, engine: &Engine) -> Vec<f64> {
    let mut options = CpOptions::new(3);
    options.engine = engine.clone();
    options.iterations = 3;
    options.tolerance = 0.0;
    let fitted = cp(x, method, &options, &mut |_| ControlFlow::Continue(())).expect("it runs");
    let fits = fitted.iterations.iter().filter_map(|iteration| iteration.fit);
    fits.chain(numbers(&fitted.model)).collect()
}

fn numbers(model: &KTensor) -> Vec<f64> {
    let factors = model.factors().iter().flat_map(|factor| factor.values());
    model.weights().iter().chain(factors).copied().collect()
}

fn on_a_device(method: Method) -> Result<(), Skip> {
    let device = emulation::engine()?;
    let place = |n: usize| [n * 5 % 7, n * 3 % 6, n * n % 11];
    let entries = (0..60).map(|n: usize| (place(n), ((n * 37 % 17) as f64) - 4.0));
    let distinct: BTreeMap<[usize; 3], f64> = entries.collect();
    let x = Tensor::<f64, Csf<3>>::from_entries([7, 6, 11], distinct).expect("entries are distinct").into_any();
    let expected = method(&x, &Engine { backend: Some(Backend::Interpreter), ..Engine::default() });
    let found = method(&x, &device);
    assert_eq!(found.len(), expected.len());
    for (one, other) in found.iter().zip(&expected) {
        assert!((one - other).abs() <= 1e-8 * other.abs().max(1.0), "{found:?}\n{expected:?}");
    }
    Ok(())
}
