//! Generalized CP: any loss of an entry and of what the model has there, made smaller by its gradient.
//!
//! Hong, Kolda and Duersch: Generalized Canonical Polyadic Tensor Decomposition, SIAM Review 62(1), 2020; Kolda and Hong: Stochastic
//! Gradients for Large-Scale Tensor Decomposition, SIAM Journal on Mathematics of Data Science 2(4), 2020.
//!
//! The loss is the sum over all places of the tensor, stored or not; its gradient by a factor is an MTTKRP of the derivative:
//!
//! ```text
//! F = Σ f(X(i, j, k), M(i, j, k))        D(i, j, k) = f'(X(i, j, k), M(i, j, k))        ∂F/∂B(j, r) = Σ D(i, j, k) A(i, r) C(k, r)
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `loss` | the losses, and those that users write |
//! | `whole` | the loss and its gradient over all places |
//! | `lbfgs` | L-BFGS with all places, factors not below a bound |
//! | `sample` | random places, stored ones and others |
//! | `adam` | Adam with samples |

mod adam;
mod lbfgs;
mod loss;
mod sample;
mod whole;

pub use loss::Loss;

use super::CpOptions;
use super::batch::{Batch, Compiled};
use super::columns::{Columns, product};
use super::iterate::{Prepared, Progress, Snapshot, State, iterate};
use super::stored::Stored;
use crate::decompose::elements::dense;
use crate::decompose::engine::Clock;
use crate::decompose::start::{Signs, factors};
use crate::decompose::{DecomposeError, Factor, Fitted, KTensor, MethodState, Norm, Observer, Start};
use crate::tensor::AnyTensor;
use loss::Terms;

/// How the loss is made smaller.
#[derive(Debug, Clone, PartialEq)]
pub enum Optimizer {
    /// By L-BFGS with all entries.
    Lbfgs,
    /// By Adam with stratified samples of the stored entries and of the others.
    Adam {
        /// The step.
        rate: f64,
        /// Samples of stored entries and of others in each step; by the size of the tensor if not said.
        samples: Option<(usize, usize)>,
        /// Steps in an iteration.
        steps: usize,
    },
}

impl Optimizer {
    /// Adam with the usual step of 1e-3, 1000 of them in an iteration.
    pub fn adam() -> Self {
        Optimizer::Adam { rate: 1e-3, samples: None, steps: 1000 }
    }
}

/// What the method takes besides.
///
/// With [`Optimizer::Lbfgs`] a run ends when the loss falls by less than [`CpOptions::tolerance`] of itself from one iteration to the
/// next, or can't be made smaller. Factors of a model to start from that are below the bound of the loss are raised to it. With [`Optimizer::Adam`] the loss is estimated, always at the same random places.
#[derive(Debug, Clone)]
pub struct GcpOptions {
    /// The loss.
    pub loss: Loss,
    /// How it is made smaller.
    pub optimizer: Optimizer,
    /// What random samples come from.
    pub seed: u64,
    /// Adam: an iteration after which the estimate is larger is undone, and steps are so many times as long from there.
    pub decay: f64,
    /// Adam: how many iterations may be undone; one more ends the run.
    pub failures: usize,
}

impl Default for GcpOptions {
    /// The Gaussian loss, by L-BFGS.
    fn default() -> Self {
        Self { loss: Loss::Gaussian, optimizer: Optimizer::Lbfgs, seed: 0, decay: 0.1, failures: 1 }
    }
}

pub(super) fn run(
    x: &AnyTensor,
    own: &GcpOptions,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let terms = own.loss.terms()?;
    match own.optimizer {
        Optimizer::Lbfgs => drive(lbfgs::Lbfgs::new(x, &terms, options)?, options, observe),
        Optimizer::Adam { rate, samples, steps } => {
            let adam = adam::Adam::new(x, &terms, adam::Settings { rate, samples, steps, own }, options)?;
            drive(adam, options, observe)
        }
    }
}

/// What makes a loss smaller, iteration after iteration.
trait Optimize: std::fmt::Debug {
    fn iterate(&mut self, number: usize) -> Result<Progress, DecomposeError>;

    fn factors(&self) -> &[AnyTensor];

    fn compiled(&self) -> &Compiled;

    /// What came before the first iteration, once.
    fn prepared(&mut self) -> Prepared;

    /// What it remembers, with the factors as they are.
    fn remembered(&self) -> MethodState;
}

impl<O: Optimize> State for O {
    fn snapshot(&self) -> Snapshot<'_> {
        let rank = self.factors().first().map_or(0, |factor| factor.shape()[1]);
        Snapshot { weights: vec![1.0; rank], factors: self.factors(), norm: Norm::Two }
    }

    fn clock(&self) -> &Clock {
        &self.compiled().clock
    }

    fn remembered(&self) -> Option<MethodState> {
        Some(Optimize::remembered(self))
    }
}

fn drive(
    mut optimizer: impl Optimize,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let prepared = optimizer.prepared();
    iterate(optimizer, prepared, options, observe, |optimizer, number| optimizer.iterate(number))
}

/// Factors to start from, none with an element below `least`. The weights of a model are shared out among its factors; others are
/// scaled to the sum of the tensor where they are not negative, else to its norm.
fn start(
    x: &AnyTensor,
    data: &Stored,
    least: f64,
    options: &CpOptions,
    (compiled, columns): (&Compiled, &mut Columns),
) -> Result<Vec<AnyTensor>, DecomposeError> {
    let signs = if least >= 0.0 { Signs::Absolute } else { Signs::Any };
    let (weights, factors) = factors(x, options.rank, &options.start, signs, &options.engine)?.into_parts();
    let order = factors.len() as f64;
    let of_element = |factor: &Factor| dense(factor.shape(), factor.values(), data.element());
    let mut scales: Vec<f64> = weights.iter().map(|weight| weight.abs().powf(1.0 / order)).collect();
    if !matches!(options.start, Start::Model(_)) {
        let values = data.tensor.values();
        let values = (0..values.len()).map(|at| values.get_f64(at));
        let mut of_columns = |factor: &Factor| match least >= 0.0 {
            true => columns.sizes(compiled, &of_element(factor)?),
            false => columns.gram(compiled, &of_element(factor)?),
        };
        let of_factors = factors.iter().map(&mut of_columns).collect::<Result<Vec<_>, DecomposeError>>()?;
        let own: f64 = product(&of_factors, None).iter().sum();
        let (own, norm) = match least >= 0.0 {
            true => (own, values.map(f64::abs).sum::<f64>()),
            false => (own.max(0.0).sqrt(), values.map(|value| value * value).sum::<f64>().sqrt()),
        };
        if own > 0.0 && norm > 0.0 {
            scales.fill((norm / own).powf(1.0 / order));
        }
    }
    let scaled = |(mode, mut factor): (usize, Factor)| {
        let sign = |weight: f64| if mode == 0 && weight < 0.0 { -1.0 } else { 1.0 };
        let scales: Vec<f64> = scales.iter().zip(&weights).map(|(scale, &weight)| scale * sign(weight)).collect();
        for row in factor.values_mut().chunks_exact_mut(options.rank) {
            row.iter_mut().zip(&scales).for_each(|(value, scale)| *value = (*value * scale).max(least));
        }
        of_element(&factor)
    };
    factors.into_iter().enumerate().map(scaled).collect()
}

/// Why the loss of a start is not finite: the first stored entry where it is not, else its value.
fn not_finite(
    loss: f64,
    terms: &Terms,
    data: &Stored,
    factors: &[AnyTensor],
    options: &CpOptions,
) -> Result<DecomposeError, DecomposeError> {
    let mut batch = Batch::new(&options.engine);
    let (model, value) = (data.add(&mut batch, data.model()), whole::at_entries(data, &terms.value));
    let value = (batch.add_text(value.0, &[]), value.1);
    let compiled = batch.compile()?;
    let (mut models, mut losses) = (data.alike()?, data.alike()?);
    compiled.call_with(model, (&data.tensor, factors, None), &[], &mut models)?;
    compiled.call(value.0, &value.1.inputs(&data.tensor, &models), &mut losses)?;
    let mut first = None;
    data.tensor.for_each_position(|index, position| {
        let (value, loss) = (data.tensor.values().get_f64(position), losses.values().get_f64(position));
        if first.is_none() && value != 0.0 && !loss.is_finite() {
            let model = models.values().get_f64(position);
            first = Some(DecomposeError::Loss { index: index.to_vec(), value, model, loss });
        }
    });
    Ok(first.unwrap_or_else(|| DecomposeError::Start(format!("the loss of the start is {loss}: start elsewhere"))))
}

/// Adds multiples of factors: `max(A + c * B, least)`.
fn step_text(element: &str) -> String {
    format!(
        "fn step(A: {element} dense, B: {element} dense, c: {element}, least: {element}) -> N: {element} dense {{
             N(i, r) = max(A(i, r) + c * B(i, r), least);
         }}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompose::cp::testing::{counts, from, interpreted, planted};
    use crate::decompose::{CpMethod, Stopped, cp};
    use crate::execute::Backend;
    use crate::tensor::ElementType;
    use spc_compiler::format::Format;
    use std::ops::ControlFlow;

    fn run(x: &AnyTensor, own: GcpOptions, options: &CpOptions) -> Result<Fitted<KTensor>, DecomposeError> {
        cp(x, &CpMethod::Gcp(own), options, &mut |_| ControlFlow::Continue(()))
    }

    fn loss(fitted: &Fitted<KTensor>) -> f64 {
        fitted.iterations.last().unwrap().measures[0].1
    }

    fn by(loss: Loss) -> GcpOptions {
        GcpOptions { loss, ..GcpOptions::default() }
    }

    fn truths(x: &AnyTensor) -> AnyTensor {
        let mut x = x.clone();
        x.values_mut::<f64>().unwrap().iter_mut().for_each(|value| *value = f64::from(u8::from(*value > 1.0)));
        x
    }

    /// pyttb 1.8.6, from the same start: `LBFGSB(maxiter=1000, pgtol=1e-9, factr=10)`.
    #[test]
    fn lbfgs_ends_where_pyttb_s_does() {
        let (counts, planted) = (counts(&[5, 4, 3]), planted(&[8, 7, 6], 2, 3.0));
        for (x, loss_of, expected, has_others) in [
            (&counts, Loss::Gaussian, 46.89298460864618, false),
            (&counts, Loss::Poisson, 41.739585906614515, false),
            (&planted, Loss::Poisson, -2022.1668771038212, false),
            (&truths(&counts), Loss::Bernoulli, 25.550593751081372, false),
            // There are other minima: ours is below.
            (&truths(&counts), Loss::BernoulliLogit, 17.24571617132672, true),
        ] {
            let options = interpreted(&CpOptions { iterations: 300, tolerance: 1e-12, ..from(x, 2) });
            let fitted = run(x, by(loss_of.clone()), &options).unwrap();
            let found = loss(&fitted);
            let is_near = (found - expected).abs() < 1e-4 * expected.abs();
            assert!(is_near || has_others && found < expected, "{loss_of:?}: {found} is not {expected}");
            let losses: Vec<f64> = fitted.iterations.iter().map(|iteration| iteration.measures[0].1).collect();
            assert!(losses.windows(2).all(|pair| pair[1] <= pair[0]), "{losses:?}");
            let least = fitted.model.factors().iter().flat_map(|factor| factor.values()).fold(0.0f64, |a, b| a.min(*b));
            assert!(least == 0.0 || !matches!(loss_of, Loss::Poisson | Loss::Bernoulli), "{least}");
        }
    }

    #[test]
    fn lbfgs_recovers_a_planted_model() {
        let x = planted(&[8, 7, 6], 2, 3.0);
        let mut options = CpOptions { iterations: 200, tolerance: 0.0, ..from(&x, 2) };
        options.engine.backend = Some(Backend::Native);
        let fitted = run(&x, by(Loss::Gaussian), &options).unwrap();
        assert!(fitted.fit().unwrap() > 1.0 - 1e-6, "{:?}", fitted.fit());
        let given =
            run(&x, by(given_poisson()), &interpreted(&CpOptions { iterations: 40, ..options.clone() })).unwrap();
        assert!((loss(&given) + 2022.1668771038212).abs() < 0.2, "{}", loss(&given));
    }

    fn given_poisson() -> Loss {
        Loss::Given {
            value: "m - x * ln(m + 1e-10)".to_owned(),
            derivative: "1 - x / (m + 1e-10) // by m".to_owned(),
            least: Some(0.0),
        }
    }

    fn adam(loss: Loss, seed: u64, steps: usize, samples: Option<(usize, usize)>) -> GcpOptions {
        let optimizer = Optimizer::Adam { rate: 0.05, samples, steps };
        GcpOptions { loss, optimizer, seed, failures: 3, ..GcpOptions::default() }
    }

    #[test]
    fn adam_recovers_planted_models() {
        let x = planted(&[12, 10, 8], 2, 3.0);
        let mut options = CpOptions { iterations: 20, tolerance: 0.0, ..CpOptions::new(2) };
        options.engine.backend = Some(Backend::Native);
        for (loss_of, seed) in [(Loss::Gaussian, 1), (Loss::Poisson, 2)] {
            let fitted = run(&x, adam(loss_of.clone(), seed, 100, Some((150, 150))), &options).unwrap();
            // The best that there is: the loss of the model that was planted.
            let values = x.values_of::<f64>().unwrap();
            let (start, best): (f64, f64) = match loss_of {
                Loss::Gaussian => (values.iter().map(|x| x * x).sum(), 0.0),
                _ => (f64::INFINITY, values.iter().map(|x| x - x * x.ln()).sum()),
            };
            let found = loss(&fitted);
            match loss_of {
                Loss::Gaussian => assert!(found < 1e-3 * start, "{found} of {start}"),
                _ => assert!(found - best < 1e-2 * best.abs(), "{found} is not {best}"),
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_samples_on_any_number_of_threads() {
        let x = planted(&[12, 10, 8], 2, 3.0);
        let mut options = CpOptions { iterations: 2, ..CpOptions::new(3) };
        options.engine.deterministic = true;
        let own = |seed| adam(Loss::Poisson, seed, 20, None);
        let on =
            |threads, seed| crate::parallel::with_threads(threads, || run(&x, own(seed), &options).unwrap()).unwrap();
        assert_eq!(on(1, 7).model, on(3, 7).model);
        assert_ne!(on(1, 7).model, on(1, 8).model);
    }

    #[test]
    fn an_iteration_of_adam_that_fails_is_undone() {
        let x = planted(&[6, 5, 4], 2, 3.0);
        let options = interpreted(&CpOptions { iterations: 9, tolerance: 0.0, ..from(&x, 2) });
        let optimizer = Optimizer::Adam { rate: 1e3, samples: None, steps: 3 };
        let fitted = run(&x, GcpOptions { optimizer, failures: 2, ..by(Loss::Gaussian) }, &options).unwrap();
        let losses: Vec<f64> = fitted.iterations.iter().map(|iteration| iteration.measures[0].1).collect();
        assert!(losses.windows(2).all(|pair| pair[1] <= pair[0]) && losses[0] == losses[2], "{losses:?}");
        assert_eq!((fitted.stopped, losses.len()), (Stopped::Tolerance, 3));
    }

    #[test]
    fn zeros_one_entry_and_ranks_above_extents() {
        let zero = AnyTensor::zeros(vec![3, 2, 2], Format::dense(3), ElementType::F64).unwrap();
        let options = interpreted(&CpOptions { iterations: 100, tolerance: 0.0, ..CpOptions::new(2) });
        for loss_of in [Loss::Gaussian, Loss::Poisson] {
            let fitted = run(&zero, by(loss_of), &options).unwrap();
            assert!(loss(&fitted).abs() < 1e-9 && fitted.fit().is_none(), "{fitted:?}");
        }
        let few = interpreted(&CpOptions { iterations: 2, ..CpOptions::new(2) });
        assert!(loss(&run(&zero, adam(Loss::Gaussian, 0, 30, None), &few).unwrap()) < 1.0);
        let mut values = vec![0.0; 12];
        values[6] = 7.0;
        let one = dense(&[3, 2, 2], &values, ElementType::F64).unwrap();
        let fitted = run(&one, by(Loss::Gaussian), &CpOptions { rank: 4, ..options }).unwrap();
        assert!(fitted.fit().unwrap() > 0.9999, "{:?}", fitted.fit());
        let full = dense(&[2, 2, 2], &[1.0; 8], ElementType::F64).unwrap();
        assert!(run(&full, adam(Loss::Poisson, 0, 30, None), &few).unwrap().iterations.len() <= 2);
    }

    #[test]
    fn a_given_loss_may_divide_by_the_model() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions { iterations: 30, tolerance: 0.0, ..from(&x, 2) });
        let (value, derivative) = ("m - x * ln(m)".to_owned(), "1 - x / m".to_owned());
        let given = Loss::Given { value, derivative, least: Some(1e-3) };
        let fitted = run(&x, by(given.clone()), &options).unwrap();
        // With the bound the loss is a little above that without.
        assert!((41.7..42.2).contains(&loss(&fitted)), "{}", loss(&fitted));
        let sampled = run(&x, adam(given, 1, 30, Some((29, 60))), &options).unwrap();
        assert!((40.0..44.0).contains(&loss(&sampled)), "{}", loss(&sampled));
        let least = |fitted: &Fitted<KTensor>| {
            let elements = fitted.model.factors().iter().flat_map(|factor| factor.values().to_vec());
            elements.fold(f64::INFINITY, f64::min)
        };
        assert!(least(&fitted) > 0.0 && least(&sampled) > 0.0);
        // A loss of the model alone.
        let (value, derivative) = ("m * m + 1".to_owned(), "2 * m".to_owned());
        let alone = Loss::Given { value, derivative, least: None };
        for own in [by(alone.clone()), adam(alone, 1, 30, Some((29, 60)))] {
            let found = loss(&run(&x, own, &options).unwrap());
            assert!((59.99..61.0).contains(&found), "{found}");
        }
    }

    #[test]
    fn a_start_of_singular_vectors_is_within_the_bound() {
        let x = planted(&[8, 7, 6], 2, 3.0);
        let start = Start::Hosvd { seed: 0 };
        let options = interpreted(&CpOptions { iterations: 100, tolerance: 0.0, start, ..CpOptions::new(2) });
        let gaussian = run(&x, by(Loss::Gaussian), &options).unwrap();
        assert!(gaussian.fit().unwrap() > 1.0 - 1e-5, "{:?}", gaussian.fit());
        for own in [by(Loss::Poisson), adam(Loss::Poisson, 1, 20, Some((50, 50)))] {
            let fitted = run(&x, own, &CpOptions { iterations: 3, ..options.clone() }).unwrap();
            assert!(fitted.model.factors().iter().all(|factor| factor.values().iter().all(|&value| value >= 0.0)));
        }
    }

    #[test]
    fn orders_up_to_eight() {
        let x = counts(&[2, 3, 2, 2, 2, 2, 2, 2]);
        let options = interpreted(&CpOptions { iterations: 3, tolerance: 0.0, ..from(&x, 2) });
        for own in [by(Loss::Poisson), by(Loss::Gaussian), adam(Loss::Poisson, 1, 5, Some((20, 20)))] {
            let fitted = run(&x, own, &options).unwrap();
            let losses: Vec<f64> = fitted.iterations.iter().map(|iteration| iteration.measures[0].1).collect();
            assert!(losses[2] < losses[0], "{losses:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions::new(2));
        let message = |own: GcpOptions| run(&x, own, &options).unwrap_err().to_string();
        let given = |value: &str| by(Loss::Given { value: value.to_owned(), derivative: "1".to_owned(), least: None });
        assert!(message(given("m - z")).contains("<value of the loss>:1:5"), "{}", message(given("m - z")));
        let rate = Optimizer::Adam { rate: -1.0, samples: None, steps: 1 };
        assert!(message(GcpOptions { optimizer: rate, ..GcpOptions::default() }).contains("positive"));
        let none = Optimizer::Adam { rate: 1.0, samples: Some((0, 0)), steps: 1 };
        assert!(message(GcpOptions { optimizer: none, ..GcpOptions::default() }).contains("at least one place"));
        let small = CpOptions { memory: Some(100), ..options.clone() };
        let error = run(&truths(&x), by(Loss::Bernoulli), &small).unwrap_err().to_string();
        assert!(error.contains("Adam"), "{error}");
    }

    /// With its state, through a file, as without a break.
    #[test]
    fn a_run_goes_on_with_its_state() {
        let (x, folder) = (counts(&[5, 4, 3]), tempfile::tempdir().unwrap());
        let path = folder.path().join("state.npz");
        for element in [ElementType::F64, ElementType::F32] {
            let options =
                interpreted(&CpOptions { iterations: 9, tolerance: 0.0, element: Some(element), ..CpOptions::new(2) });
            let rising = Optimizer::Adam { rate: 0.3, samples: Some((20, 20)), steps: 4 };
            let rising = GcpOptions { optimizer: rising, failures: 5, ..by(Loss::Poisson) };
            for own in [by(Loss::Poisson), by(Loss::Gaussian), adam(Loss::Poisson, 3, 7, Some((20, 20))), rising] {
                let whole = run(&x, own.clone(), &options).unwrap();
                let mut state = None;
                let mut observe = |step: &crate::decompose::Step<'_, KTensor>| {
                    if step.iteration.number < 4 {
                        return ControlFlow::Continue(());
                    }
                    state = step.model.state();
                    ControlFlow::Break(())
                };
                let first = cp(&x, &CpMethod::Gcp(own.clone()), &options, &mut observe).unwrap();
                assert_eq!(first.state, state);
                state.unwrap().write(&path).unwrap();
                let state = Some(MethodState::read(&path).unwrap());
                let rest = run(&x, own.clone(), &CpOptions { done: 4, state, ..options.clone() }).unwrap();
                assert_eq!(rest.model, whole.model, "{own:?}");
                let other = CpOptions { done: 4, state: first.state, ..CpOptions { rank: 3, ..options.clone() } };
                let error = run(&x, own.clone(), &other).unwrap_err().to_string();
                assert!(error.contains("no `factor_1` of shape 5 × 3"), "{error}");
            }
        }
    }

    #[test]
    fn entries_outside_of_the_domain_of_a_loss_are_refused() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&CpOptions::new(2));
        let with = |value: f64| {
            let mut x = x.clone();
            x.values_mut::<f64>().unwrap()[2] = value;
            x
        };
        let message = |x: &AnyTensor, own: GcpOptions| run(x, own, &options).unwrap_err().to_string();
        let negative = message(&with(-1e-30), by(Loss::Poisson));
        assert!(negative.ends_with("is -1e-30: the Poisson loss takes values from 0 up"), "{negative}");
        for loss in [Loss::Bernoulli, Loss::BernoulliLogit] {
            let above = message(&x, by(loss.clone()));
            assert!(above.contains("loss takes values from 0 to 1"), "{above}");
            assert!(run(&truths(&x), by(loss.clone()), &options).is_ok());
            let mut below = truths(&x);
            below.values_mut::<f64>().unwrap()[2] = -1.0;
            assert!(message(&below, by(loss)).contains("is -1"));
        }
        assert!(run(&with(-4.0), by(Loss::Gaussian), &options).is_ok());
        // A loss of a user's own says where it is not defined: here a logarithm of the data.
        let value = "m - x * ln(m + 1e-10) + ln(x + 1)".to_owned();
        let given = Loss::Given { value, derivative: "1 - x / (m + 1e-10)".to_owned(), least: Some(0.0) };
        for own in [by(given.clone()), adam(given, 1, 5, Some((29, 10)))] {
            let error = message(&with(-3.0), own);
            assert!(
                error.starts_with("the loss at (1, ") && error.contains("is NaN, where the entry is -3"),
                "{error}"
            );
        }
    }

    #[test]
    fn an_observer_ends_a_run() {
        let x = counts(&[5, 4, 3]);
        let options = interpreted(&from(&x, 2));
        let mut models = Vec::new();
        let fitted = cp(&x, &CpMethod::Gcp(by(Loss::Gaussian)), &CpOptions { done: 3, ..options }, &mut |step| {
            models.push(step.model.model());
            if step.iteration.number == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let fitted = fitted.unwrap();
        assert_eq!((fitted.stopped, models.len()), (Stopped::Observer, 2));
        assert_eq!(models.last(), Some(&fitted.model));
        assert!(fitted.model.weights().windows(2).all(|pair| pair[0] >= pair[1]));
    }
}
