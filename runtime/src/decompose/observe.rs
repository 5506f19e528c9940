//! What a method says after each iteration, and what it gives at the end.

use super::{DecomposeError, show};
use crate::distribute::Communicator;
use crate::io::{self, Arrays};
use crate::tensor::{AnyTensor, ElementType};
use spc_compiler::format::Format;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

/// What is known of one iteration.
#[derive(Debug, Clone, PartialEq)]
pub struct Iteration {
    /// From 1; where a run goes on from a checkpoint, from what was done before.
    pub number: usize,
    /// The part of the tensor's norm that the model explains, 1 - ‖X - M‖ / ‖X‖, where the method knows it.
    pub fit: Option<f64>,
    /// What the method makes smaller or larger (`"residual"`, `"log_likelihood"`, `"loss"`, `"kkt_violation"`), with its value.
    pub measures: Vec<(&'static str, f64)>,
    /// The wall-clock time of the iteration.
    pub time: Duration,
    /// The part of that in compiled kernels.
    pub kernel_time: Duration,
    /// The part of that in MTTKRPs, with products that modes share, for methods that are made of these: CP-ALS and non-negative CP.
    pub mttkrp_time: Option<Duration>,
}

/// After an iteration: what is known of it, and the model as it is.
#[derive(Debug)]
pub struct Step<'a, M> {
    /// What is known of it.
    pub iteration: &'a Iteration,
    /// Makes the model, normalised as at the end; a copy of the factors.
    pub model: &'a dyn Model<M>,
}

/// What can make the model of a step.
pub trait Model<M>: std::fmt::Debug {
    /// A copy of the model as it is.
    fn model(&self) -> M;

    /// What the method remembers besides the model, where it does: a checkpoint keeps both.
    fn state(&self) -> Option<MethodState> {
        None
    }
}

/// Is told of each iteration: shows progress, writes a checkpoint, or ends the run by [`ControlFlow::Break`], which then gives the
/// best model so far.
pub type Observer<'a, M> = &'a mut dyn FnMut(&Step<'_, M>) -> ControlFlow<()>;

/// Runs on one of many ranks what tells an observer: what one rank ends, all end.
pub(super) fn together<M, R>(
    ranks: &dyn Communicator,
    observe: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
    run: impl FnOnce(Observer<'_, M>) -> Result<R, DecomposeError>,
) -> Result<R, DecomposeError> {
    let mut failed = None;
    let ended = run(&mut |step| {
        let own = u8::from(observe(step.iteration).is_break());
        match ranks.gather_all(&[own]) {
            Ok(all) if all.iter().all(|said| said == &[0]) => ControlFlow::Continue(()),
            Ok(_) => ControlFlow::Break(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    failed.map_or(Ok(ended), |error| Err(error.into()))
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// What the method measures changed by less than the tolerance.
    Tolerance,
    /// All iterations that were asked for are done.
    Iterations,
    /// The observer ended it.
    Observer,
}

impl Stopped {
    /// In a word: `"tolerance"`, `"iterations"`, `"interrupted"`.
    pub fn name(self) -> &'static str {
        match self {
            Stopped::Tolerance => "tolerance",
            Stopped::Iterations => "iterations",
            Stopped::Observer => "interrupted",
        }
    }
}

/// A model, and how it came about.
#[derive(Debug, Clone)]
pub struct Fitted<M> {
    /// The model.
    pub model: M,
    /// Each iteration.
    pub iterations: Vec<Iteration>,
    /// Why it ended.
    pub stopped: Stopped,
    /// How long it took to compile the kernels.
    pub compile_time: Duration,
    /// How long it took to bring the tensor into the formats that they read, and to make the start.
    pub prepare_time: Duration,
    /// What was decided on the way and why, a line each: which copies of the tensor were made, which products modes share.
    pub notes: Vec<String>,
    /// Why the model may not be what was wanted, a line each: it explains almost nothing, or a measure became worse on the way.
    pub warnings: Vec<String>,
    /// What the method remembers besides the model, with which a run [goes on](super::CpOptions::state) as if it had not ended.
    pub state: Option<MethodState>,
}

/// Below which fit a run that ends by its tolerance has a warning.
const LOW: f64 = 0.05;

/// A warning where a run of least squares ends by its tolerance, though its model explains almost nothing.
pub(super) fn low_fit(fit: Option<f64>, stopped: Stopped, iterations: usize) -> Option<String> {
    let fit = fit.filter(|fit| *fit < LOW && stopped == Stopped::Tolerance)?;
    let plural = if iterations == 1 { "" } else { "s" };
    Some(format!(
        "the fit changed by less than the tolerance after {iterations} iteration{plural}, and is {fit:.2e}: the model explains almost nothing \
         of the tensor. Try a smaller tolerance with more iterations, other starts, or a higher rank; where entries that are not stored are \
         missing and not zero, give weights"
    ))
}

/// Watches what a method never makes worse but for rounding.
#[derive(Debug)]
pub(super) struct Monotone {
    /// What it is called.
    pub(super) name: &'static str,
    /// The last value, and with it what is shown of it.
    before: Option<(f64, f64)>,
    count: usize,
    /// The iteration with the largest loss, that loss, and what is shown before and after it.
    worst: Option<(usize, f64, [f64; 2])>,
}

impl Monotone {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, before: None, count: 0, worst: None }
    }

    /// After an iteration: a value that is less where it is better, by how much rounding may make it larger, and what is shown of it.
    pub(super) fn see(&mut self, iteration: usize, value: f64, rounding: f64, shown: f64) {
        if let Some((before, shown_before)) = self.before.replace((value, shown)) {
            let loss = value - before;
            if loss > rounding {
                self.count += 1;
                if self.worst.is_none_or(|(_, worst, _)| loss > worst) {
                    self.worst = Some((iteration, loss, [shown_before, shown]));
                }
            }
        }
    }

    /// What is to be said of it.
    pub(super) fn warning(&self) -> Option<String> {
        let (iteration, _, [before, after]) = self.worst?;
        let (name, count) = (self.name, self.count);
        let often = if count == 1 { "once".to_owned() } else { format!("{count} times, most") };
        Some(format!(
            "the {name} became worse {often} in iteration {iteration}, from {before:.6e} to {after:.6e}, which rounding does not explain: try \
             factors of f64, another start, or a smaller rank"
        ))
    }
}

/// Refuses what a method measures where it is no finite number: no comparison with a tolerance tells then whether a run converges.
pub(super) fn finite(
    iteration: usize,
    fit: Option<f64>,
    measures: &[(&'static str, f64)],
) -> Result<(), DecomposeError> {
    let mut all = fit.into_iter().map(|fit| ("fit", fit)).chain(measures.iter().copied());
    match all.find(|(_, value)| !value.is_finite()) {
        Some((measure, value)) => Err(DecomposeError::Diverged { iteration, measure, value }),
        None => Ok(()),
    }
}

/// What a method remembers besides the model: dense arrays by name, such as the steps of L-BFGS or the means of Adam. A run with the same tensor
/// and options that is [given](super::CpOptions::state) it goes on as if it had not ended.
#[derive(Debug, Clone, PartialEq)]
pub struct MethodState {
    /// Names and arrays.
    arrays: Vec<(String, AnyTensor)>,
}

impl MethodState {
    pub(super) fn new(arrays: Vec<(String, AnyTensor)>) -> Self {
        Self { arrays }
    }

    /// Writes a `.npz` archive.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), DecomposeError> {
        let arrays: Vec<(String, &AnyTensor)> = self.arrays.iter().map(|(name, array)| (name.clone(), array)).collect();
        Ok(io::write_arrays(path, &arrays, &|_| true)?)
    }

    /// Reads what [`write`](Self::write) has written.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DecomposeError> {
        let found = Arrays::open(path)?;
        let one = |name: &String| -> Result<(String, AnyTensor), DecomposeError> {
            let array = found.read(name)?;
            Ok((name.clone(), array.convert(&Format::dense(array.order()))?))
        };
        Ok(Self { arrays: found.names().iter().map(one).collect::<Result<_, _>>()? })
    }

    /// An array of a shape and an element type.
    ///
    /// # Errors
    /// When there is none, or another.
    pub(super) fn get(&self, name: &str, shape: &[usize], element: ElementType) -> Result<AnyTensor, DecomposeError> {
        let found = self.arrays.iter().find(|(known, _)| known == name).map(|(_, array)| array);
        match found.filter(|array| array.shape() == shape && array.element() == element) {
            Some(array) => Ok(array.clone()),
            None => Err(DecomposeError::Start(format!(
                "the state that the run is to go on from has no `{name}` of shape {} and elements {}: it is of another method, rank or tensor",
                show::shape(shape),
                element.name()
            ))),
        }
    }

    /// A matrix for each mode, named `name_1`, `name_2`, …
    pub(super) fn factors(
        &self,
        name: &str,
        shape: &[usize],
        rank: usize,
        element: ElementType,
    ) -> Result<Vec<AnyTensor>, DecomposeError> {
        (1..).zip(shape).map(|(mode, &extent)| self.get(&format!("{name}_{mode}"), &[extent, rank], element)).collect()
    }

    /// Whether there is an array of a name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.arrays.iter().any(|(known, _)| known == name)
    }
}

/// Matrices of modes by name, for a [`MethodState`].
pub(super) fn named<'a>(name: &'a str, factors: &'a [AnyTensor]) -> impl Iterator<Item = (String, AnyTensor)> + 'a {
    (1..).zip(factors).map(move |(mode, factor)| (format!("{name}_{mode}"), factor.clone()))
}

impl<M> Fitted<M> {
    /// The fit after the last iteration that knows one.
    pub fn fit(&self) -> Option<f64> {
        self.iterations.iter().rev().find_map(|iteration| iteration.fit)
    }
}
