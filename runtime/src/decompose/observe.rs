//! What a method says after each iteration, and what it gives at the end.

use super::DecomposeError;
use crate::distribute::Communicator;
use std::ops::ControlFlow;
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
}

impl<M> Fitted<M> {
    /// The fit after the last iteration that knows one.
    pub fn fit(&self) -> Option<f64> {
        self.iterations.iter().rev().find_map(|iteration| iteration.fit)
    }
}
