//! The iterations of a run: what is told of each, when they end, and the model.

use super::CpOptions;
use crate::decompose::elements::numbers;
use crate::decompose::engine::Clock;
use crate::decompose::{DecomposeError, Factor, Fitted, Iteration, KTensor, Model, Norm, Observer, Step, Stopped};
use crate::tensor::AnyTensor;
use std::fmt;
use std::time::{Duration, Instant};

/// The weights and factors of a method as they are in kernels.
#[derive(Debug)]
pub(super) struct Snapshot<'a> {
    pub(super) weights: Vec<f64>,
    pub(super) factors: &'a [AnyTensor],
    /// By what columns are divided in the model.
    pub(super) norm: Norm,
}

impl Model<KTensor> for Snapshot<'_> {
    fn model(&self) -> KTensor {
        let factor =
            |factor: &AnyTensor| Factor::from_vec(factor.shape(), numbers(factor)).expect("a value for each element");
        arranged(self.weights.clone(), self.factors.iter().map(factor).collect(), self.norm)
    }
}

/// A model with columns of norm one, components from the largest weight on, the largest element of columns positive.
pub(super) fn arranged(weights: Vec<f64>, factors: Vec<Factor>, norm: Norm) -> KTensor {
    let mut model = KTensor::unchecked(weights, factors);
    model.normalise(norm);
    model.arrange();
    model.fix_signs();
    model
}

/// What a method iterates on.
pub(super) trait State: fmt::Debug {
    /// The model as it is.
    fn snapshot(&self) -> Snapshot<'_>;

    /// The model at the end. Ranks make it together.
    fn model(&self) -> Result<KTensor, DecomposeError> {
        Ok(self.snapshot().model())
    }

    /// Has the time in kernels.
    fn clock(&self) -> &Clock;
}

/// What an iteration came to.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) fit: Option<f64>,
    pub(super) measures: Vec<(&'static str, f64)>,
    /// Nothing more is to be had.
    pub(super) ended: bool,
}

/// What came before the first iteration.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) compile_time: Duration,
    pub(super) prepare_time: Duration,
    /// What was decided and why, a line each.
    pub(super) notes: Vec<String>,
}

/// Iterations until the method, the observer or the options end them; then the model.
pub(super) fn iterate<S: State>(
    mut state: S,
    prepared: Prepared,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
    mut iteration: impl FnMut(&mut S, usize) -> Result<Progress, DecomposeError>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    state.clock().taken();
    let (mut iterations, mut stopped) = (Vec::new(), Stopped::Iterations);
    for number in options.done + 1..=options.iterations {
        let began = Instant::now();
        let Progress { fit, measures, ended } = iteration(&mut state, number)?;
        if fit.is_some_and(|fit| !fit.is_finite()) {
            return Err(DecomposeError::Algebra("the fit is not finite"));
        }
        let (time, spent) = (began.elapsed(), state.clock().taken());
        let mttkrp_time = (spent.mttkrp > Duration::ZERO).then_some(spent.mttkrp);
        let this = Iteration { number, fit, measures, time, kernel_time: spent.kernels, mttkrp_time };
        let goes_on = observe(&Step { iteration: &this, model: &state.snapshot() });
        iterations.push(this);
        if ended {
            stopped = Stopped::Tolerance;
            break;
        }
        if goes_on.is_break() {
            stopped = Stopped::Observer;
            break;
        }
    }
    let Prepared { compile_time, prepare_time, notes } = prepared;
    let model = state.model()?;
    if !model.is_finite() {
        return Err(DecomposeError::Algebra("factors are not finite"));
    }
    Ok(Fitted { model, iterations, stopped, compile_time, prepare_time, notes })
}
