//! Alternating least squares.
//!
//! For each mode in turn, `M = X₍ₙ₎ (… ⊙ C ⊙ B)` by a compiled kernel, the elementwise product G of the other factors' AᵀA, and the factor is M G⁻¹, or
//! M G⁺ where G is singular (Kolda and Bader, Tensor Decompositions and Applications, 2009, figure 3.3).

use super::CpOptions;
use super::sweep::{Problem, Schedule, Sweep, fit, norm, square};
use super::weighted;
use crate::decompose::distributed::total;
use crate::decompose::observe::together;
use crate::decompose::start::Signs;
use crate::decompose::{DecomposeError, DistributedTensor, Fitted, Iteration, KTensor, Observer, algebra};
use crate::distribute::Communicator;
use crate::tensor::AnyTensor;
use std::ops::ControlFlow;

/// What alternating least squares take besides.
#[derive(Debug, Clone, Default)]
pub struct AlsOptions {
    /// From the second iteration on, columns are divided by their largest absolute value where that is above one, as in MATLAB's Tensor Toolbox and
    /// in pyttb; else they are kept near a 2-norm of one, which takes no pass over the factors. That makes no difference to fits and to the
    /// model at the end, which has columns of 2-norm one, but for rounding.
    pub normalise_by_max: bool,
    /// For each entry, how much it counts: a tensor of the same shape in which absent entries are missing ones, which do not count at all. The
    /// method then minimises `Σ W (X - M)²`: each row of a factor has a system of rank equations of its own, which takes rank² numbers for each
    /// row and rank operations for each entry and element of the factors. The fit is `1 - √(Σ W (X - M)² / Σ W X²)`.
    pub weights: Option<AnyTensor>,
}

/// The same on ranks, of the tensor times a number; each rank has some entries and updates the rows of factors at their coordinates.
pub(super) fn run_on(
    (x, scale): (&DistributedTensor, f64),
    own: &AlsOptions,
    options: &CpOptions,
    ranks: &dyn Communicator,
    observe: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    if own.weights.is_some() {
        let message = "least squares with weights run on one rank: leave out the weights, or the ranks";
        return Err(DecomposeError::Option(message.to_owned()));
    }
    let problem = Problem::of_parts(x, scale, options)?;
    let size = norm(total(square(&problem.entries.values), ranks)?)?;
    let (sweep, schedule) = problem.begin_on(x, ranks)?;
    together(ranks, observe, |observe| sweeps(sweep, schedule, size, own, observe))
}

pub(super) fn run(
    x: &AnyTensor,
    own: &AlsOptions,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let problem = Problem::new(x, options)?;
    if let Some(weights) = &own.weights {
        return weighted::run(problem, weights, own.normalise_by_max, observe);
    }
    let size = norm(square(&problem.entries.values))?;
    let start = problem.start(x, Signs::Any)?;
    let (sweep, schedule) = problem.begin(x, &start, |_| Ok(()))?;
    sweeps(sweep, schedule, size, own, observe)
}

fn sweeps(
    mut sweep: Sweep<'_>,
    schedule: Schedule<'_>,
    size: f64,
    own: &AlsOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let last = sweep.last();
    let before = match schedule.goes_on() {
        true => {
            sweep.multiply(last)?;
            let inner = sweep.inner()?;
            Some(fit(size, sweep.square(), inner))
        }
        false => None,
    };
    schedule.run(sweep, observe, before, |sweep, number| {
        for mode in 0..=last {
            update(sweep, mode, own.normalise_by_max && number > 1)?;
        }
        let inner = sweep.inner()?;
        Ok(fit(size, sweep.square(), inner))
    })
}

/// The least squares solution for a mode. Its columns are divided by what their norms are expected to be in the same step, so that no pass over it
/// has to do so.
fn update(sweep: &mut Sweep<'_>, mode: usize, by_max: bool) -> Result<(), DecomposeError> {
    sweep.multiply(mode)?;
    let rank = sweep.rank();
    let divisors = if by_max { vec![1.0; rank] } else { sweep.expected[mode].clone() };
    let mut inverse = algebra::inverse(&sweep.hadamard(Some(mode)), rank)?;
    for row in inverse.chunks_exact_mut(rank) {
        row.iter_mut().zip(&divisors).for_each(|(value, divisor)| *value /= divisor);
    }
    sweep.solve(mode, &inverse)?;
    sweep.take(mode, divisors, by_max)
}
