//! The iterations of a run: what is told of each, when they end, and the model.

use super::CpOptions;
use crate::decompose::elements::numbers;
use crate::decompose::engine::Clock;
use crate::decompose::observe::{Monotone, finite, low_fit};
use crate::decompose::{
    DecomposeError, Factor, Fitted, Iteration, KTensor, MethodState, Model, Norm, Observer, Step, Stopped,
};
use crate::tensor::{AnyTensor, ElementType};
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

impl Snapshot<'_> {
    pub(super) fn model(&self) -> KTensor {
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

    /// What a run needs besides the model to go on.
    fn remembered(&self) -> Option<MethodState> {
        None
    }
}

/// The model as an observer may ask for it.
#[derive(Debug)]
struct Current<'a, S>(&'a S);

impl<S: State> Model<KTensor> for Current<'_, S> {
    fn model(&self) -> KTensor {
        self.0.snapshot().model()
    }

    fn state(&self) -> Option<MethodState> {
        self.0.remembered()
    }
}

/// What an iteration came to.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) fit: Option<f64>,
    pub(super) measures: Vec<(&'static str, f64)>,
    /// Nothing more is to be had.
    pub(super) ended: bool,
    /// What the method never makes worse.
    pub(super) objective: Option<Objective>,
}

/// A number that a method makes smaller in each iteration, but for rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Objective {
    /// What is shown of it is called so: the fit, or a measure.
    pub(super) name: &'static str,
    pub(super) value: f64,
    /// By how much rounding may make it larger.
    pub(super) rounding: f64,
}

impl Objective {
    /// Of a method of least squares: the squared part of the tensor that the model leaves.
    pub(super) fn of_fit(fit: f64, element: ElementType) -> Self {
        let rounding = if element == ElementType::F32 { 1e-5 } else { 1e-11 };
        Self { name: "fit", value: (1.0 - fit) * (1.0 - fit), rounding }
    }
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
    let mut monotone: Option<Monotone> = None;
    for number in options.done + 1..=options.iterations {
        let began = Instant::now();
        let Progress { fit, measures, ended, objective } = iteration(&mut state, number)?;
        finite(number, fit, &measures)?;
        if let Some(Objective { name, value, rounding }) = objective {
            let shown =
                measures.iter().find(|(measure, _)| *measure == name).map_or(fit.unwrap_or(value), |found| found.1);
            monotone.get_or_insert_with(|| Monotone::new(name)).see(number, value, rounding, shown);
        }
        let (time, spent) = (began.elapsed(), state.clock().taken());
        let mttkrp_time = (spent.mttkrp > Duration::ZERO).then_some(spent.mttkrp);
        let this = Iteration { number, fit, measures, time, kernel_time: spent.kernels, mttkrp_time };
        let goes_on = observe(&Step { iteration: &this, model: &Current(&state) });
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
    let is_least_squares = monotone.as_ref().is_some_and(|monotone| monotone.name == "fit");
    let fit = iterations.last().and_then(|last: &Iteration| last.fit).filter(|_| is_least_squares);
    let low = low_fit(fit, stopped, options.done + iterations.len());
    let warnings = monotone.and_then(|monotone| monotone.warning()).into_iter().chain(low).collect();
    let state = state.remembered();
    Ok(Fitted { model, iterations, stopped, compile_time, prepare_time, notes, warnings, state })
}
