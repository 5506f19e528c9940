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
use super::kernels::{self, Data, Norm, Snapshot, Sums};
use crate::decompose::engine::{Clock, checked};
use crate::decompose::{DecomposeError, Fitted, Iteration, KTensor, Model, Observer, Start, Step, Stopped};
use crate::execute::Kernel;
use crate::tensor::AnyTensor;
use std::time::{Duration, Instant};

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
/// next, or can't be made smaller. With [`Optimizer::Adam`] the loss is estimated, always at the same random places.
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
    kernels::check(options)?;
    checked(x, 3, 8)?;
    let terms = own.loss.terms()?;
    match own.optimizer {
        Optimizer::Lbfgs => drive(lbfgs::Lbfgs::new(x, &terms, options)?, options, observe),
        Optimizer::Adam { rate, samples, steps } => {
            let adam = adam::Adam::new(x, &terms, adam::Settings { rate, samples, steps, own }, options)?;
            drive(adam, options, observe)
        }
    }
}

/// What an iteration came to.
#[derive(Debug)]
struct Progress {
    loss: f64,
    fit: Option<f64>,
    /// Nothing more is to be had.
    ended: bool,
}

/// What makes a loss smaller, iteration after iteration.
trait Optimize: std::fmt::Debug {
    fn iterate(&mut self, number: usize) -> Result<Progress, DecomposeError>;

    fn factors(&self) -> &[AnyTensor];

    fn clock(&self) -> &Clock;

    /// How long it took to compile, and to prepare all else.
    fn took(&self) -> (Duration, Duration);
}

fn drive(
    mut optimizer: impl Optimize,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let weights = vec![1.0; options.rank];
    let (mut iterations, mut stopped) = (Vec::new(), Stopped::Iterations);
    optimizer.clock().taken();
    for number in options.done + 1..=options.iterations {
        let begun = Instant::now();
        let Progress { loss, fit, ended } = optimizer.iterate(number)?;
        let kernel_time = optimizer.clock().taken();
        let measures = vec![("loss", loss)];
        iterations.push(Iteration { number, fit, measures, time: begun.elapsed(), kernel_time });
        let snapshot = Snapshot { weights: &weights, factors: optimizer.factors(), norm: Norm::Two };
        let goes_on = observe(&Step { iteration: &iterations[iterations.len() - 1], model: &snapshot });
        if ended {
            stopped = Stopped::Tolerance;
            break;
        }
        if goes_on.is_break() {
            stopped = Stopped::Observer;
            break;
        }
    }
    let model = Snapshot { weights: &weights, factors: optimizer.factors(), norm: Norm::Two }.model();
    let (compile_time, prepare_time) = optimizer.took();
    Ok(Fitted { model, iterations, stopped, compile_time, prepare_time, notes: Vec::new() })
}

/// Factors to start from, none with an element below `least`. The weights of a model are shared out among its factors; random ones
/// are scaled to the norm of the tensor.
fn start(data: &Data, least: f64, options: &CpOptions, sums: &Sums) -> Result<Vec<AnyTensor>, DecomposeError> {
    let clock = Clock::default();
    let (weights, factors) = kernels::start(data.tensor.shape(), options, "generalized CP")?;
    let order = factors.len() as f64;
    let of_element =
        |factor: &crate::decompose::Factor| kernels::dense(factor.shape().to_vec(), factor.values(), data.element());
    let mut factors: Vec<AnyTensor> = factors.iter().map(of_element).collect::<Result<_, _>>()?;
    let mut scales: Vec<f64> = weights.iter().map(|weight| weight.abs().powf(1.0 / order)).collect();
    if matches!(options.start, Start::Random { .. }) {
        let own: f64 = sums.grams(&clock, &factors, None)?.iter().sum::<f64>().sqrt();
        let values = data.tensor.values();
        let norm = (0..values.len()).map(|at| values.get_f64(at).powi(2)).sum::<f64>().sqrt();
        if own > 0.0 && norm > 0.0 {
            scales.fill((norm / own).powf(1.0 / order));
        }
    }
    for (mode, factor) in factors.iter_mut().enumerate() {
        let signed = |(scale, weight): (&f64, &f64)| if mode == 0 && *weight < 0.0 { -scale } else { *scale };
        let scales: Vec<f64> = scales.iter().zip(&weights).map(signed).collect();
        let bounded = |(at, value): (usize, f64)| (value * scales[at % scales.len()]).max(least);
        let values: Vec<f64> =
            (0..factor.values().len()).map(|at| factor.values().get_f64(at)).enumerate().map(bounded).collect();
        *factor = kernels::dense(factor.shape().to_vec(), &values, data.element())?;
    }
    Ok(factors)
}

/// A kernel that was to be made.
fn made(kernels: &mut impl Iterator<Item = Kernel>) -> Result<Kernel, DecomposeError> {
    kernels.next().ok_or(DecomposeError::Algebra("a kernel is missing"))
}

/// Adds multiples of factors: `max(A + c * B, least)`.
fn step_text(element: &str) -> String {
    format!(
        "fn step(A: {element} dense, B: {element} dense, c: {element}, least: {element}) -> N: {element} dense {{
             N(i, r) = max(A(i, r) + c * B(i, r), least);
         }}"
    )
}
