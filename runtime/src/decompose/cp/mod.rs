//! Methods for the CP decomposition.
//!
//! | file | what is in it |
//! |---|---|
//! | `als` | alternating least squares |
//! | `weighted` | the same with a weight for each entry |
//! | `nonnegative` | hierarchical alternating least squares: factors that are not negative |
//! | `apr` | alternating Poisson regression: counts |
//! | `gcp` | any loss, by its gradient |
//! | `iterate` | the iterations of all methods, and the model as it is |
//! | `batch` | kernels that are compiled together |
//! | `columns` | kernels on the columns of factors: Gram matrices, sums, multiples |
//! | `mttkrp` | products with the tensor for each mode, and what they share |
//! | `sweep`, `solve` | what methods of least squares share, which update one factor after the other |
//! | `unit` | the unit of the data, which methods do not depend on |
//! | `stored` | the tensor as methods with a loss read it, and their kernels at its stored entries |

mod als;
mod apr;
mod batch;
mod columns;
mod gcp;
mod iterate;
mod mttkrp;
mod nonnegative;
mod solve;
mod stored;
mod sweep;
#[cfg(test)]
mod testing;
mod unit;
mod weighted;

pub use als::AlsOptions;
pub use apr::AprOptions;
pub use gcp::{GcpOptions, Loss, Optimizer};
pub use nonnegative::NonnegativeOptions;
use unit::Unit;

use super::entries::checked;
use super::{DecomposeError, DistributedTensor, Engine, Fitted, Iteration, KTensor, MethodState, Observer, Start};
use crate::distribute::Communicator;
use crate::tensor::{AnyTensor, ElementType};
use std::ops::ControlFlow;

/// What all methods for a CP decomposition take.
#[derive(Debug, Clone)]
pub struct CpOptions {
    /// The number of components, at least one.
    pub rank: usize,
    /// The most iterations.
    pub iterations: usize,
    /// A run ends when what its method measures changes by less from one iteration to the next; with 0, after all iterations.
    pub tolerance: f64,
    /// Where it starts.
    pub start: Start,
    /// The elements of factors in kernels, [`ElementType::F64`] or [`ElementType::F32`]; if it is not said, `f32` for a tensor of `f32`, else `f64`.
    pub element: Option<ElementType>,
    /// Where kernels run.
    pub engine: Engine,
    /// The most bytes for copies of the tensor in the formats that kernels are fastest on; if it is not said, half of what is free.
    pub memory: Option<u64>,
    /// Iterations that were done before, where a run goes on: numbers count from there, and `iterations` includes them.
    pub done: usize,
    /// What the method remembered of those, as [`Fitted::state`] and [`Model::state`](super::Model::state) give it: with the same tensor and
    /// options, a run goes on as if it had not ended. Without it, a run goes on from the model alone, which is a new start for
    /// [`CpMethod::Gcp`] and nearly the same for [`CpMethod::Apr`]; other methods remember nothing.
    pub state: Option<MethodState>,
}

impl CpOptions {
    /// So many components, at most 50 iterations, until the measure changes by less than 1e-4, from random factors of seed 0.
    pub fn new(rank: usize) -> Self {
        let (start, engine) = (Start::default(), Engine::default());
        let (element, memory, state) = (None, None, None);
        Self { rank, iterations: 50, tolerance: 1e-4, start, element, engine, memory, done: 0, state }
    }
}

/// A method for a CP decomposition.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum CpMethod {
    /// Least squares; `Y(i, r) = X(i, j, k) * B(j, r) * C(k, r)`, then a solve, mode after mode.
    Als(AlsOptions),
    /// Least squares with factors that are not negative.
    Nonnegative(NonnegativeOptions),
    /// The most probable rates of Poisson counts.
    Apr(AprOptions),
    /// Any loss.
    Gcp(GcpOptions),
}

/// Decomposes a tensor of 3 to 8 modes into a sum of rank-1 tensors: X ≈ Σᵣ λ(r) · A₁(:, r) ∘ A₂(:, r) ∘ … (Kolda and Bader, Tensor
/// Decompositions and Applications, 2009, section 3).
///
/// The tensor is worked on in a unit in which its largest absolute value is between 1 and 2, so that the model of `c X` is `c` times that of `X`, also
/// where squares of `c` are beyond the range of numbers. (Losses of truth values, and those that are given, keep the tensor's unit.)
///
/// Columns of the model's factors have the 2-norm 1, with [`CpMethod::Apr`] the sum 1; components go from the largest weight to the smallest, and no
/// weight is negative. The module has an example.
///
/// # Errors
/// When the tensor has another order, an extent of 0, elements that are complex or not finite, or a fill value; the rank is 0; a model to start
/// from has another shape or rank; the tensor or an option does not suit the method; there is not enough memory; or a kernel can't be compiled
/// or run.
pub fn cp(
    x: &AnyTensor,
    method: &CpMethod,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    let x = &*x.unfolded()?;
    checked(x, 3, 8)?;
    check(x.shape(), options)?;
    match method {
        CpMethod::Apr(_) => apr::admit(x)?,
        CpMethod::Gcp(own) => own.loss.admit(x)?,
        CpMethod::Als(_) | CpMethod::Nonnegative(_) => {}
    }
    let unit = Unit::of(x, method);
    let (options, x) = (&unit.options(x, options)?, &*unit.tensor(x, options)?);
    let fitted = unit.observed(observe, |observe| match method {
        CpMethod::Als(own) => als::run(x, own, options, observe),
        CpMethod::Nonnegative(own) => nonnegative::run(x, own, options, observe),
        CpMethod::Apr(own) => apr::run(x, own, options, observe),
        CpMethod::Gcp(own) => gcp::run(x, own, options, observe),
    });
    unit.found(fitted?)
}

/// CP by alternating least squares on many ranks, all of which call it with the same tensor and options. Each takes a share of the entries and
/// the rows of factors at their coordinates; products of a mode are added up over ranks row by row, and Gram matrices as a whole. Every rank
/// gets the model, which differs from that of [`cp`] by rounding.
///
/// `observe` is told of each iteration, on every rank; what it ends on one, all end.
///
/// ```
/// use spc::decompose::{AlsOptions, CpOptions, cp_on};
/// use spc::distribute::on_threads;
/// use spc::tensor::{Coo, Tensor};
/// use std::ops::ControlFlow;
///
/// let entries = [([0, 0, 0], 2.0), ([0, 1, 1], 3.0), ([1, 0, 1], 1.0), ([1, 1, 0], 4.0)];
/// let x = Tensor::<f64, Coo<3>>::from_entries([2, 2, 2], entries)?;
/// let (options, method) = (CpOptions::new(2), AlsOptions::default());
/// let go_on = |_: &_| ControlFlow::Continue(());
/// let fitted = on_threads(2, None, |ranks| cp_on(x.as_any(), &method, &options, ranks, &mut { go_on }))?;
/// assert_eq!(fitted[0].model.weights(), fitted[1].model.weights());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`cp`]; when there are weights for entries; or when another rank has stopped.
pub fn cp_on(
    x: &AnyTensor,
    method: &AlsOptions,
    options: &CpOptions,
    ranks: &dyn Communicator,
    observe: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    cp_of(&DistributedTensor::of_tensor(x, ranks)?, method, options, ranks, observe)
}

/// The same of a tensor of which each rank has some entries, as [`DistributedTensor::of_file`] gives it: no rank has all of them, and each
/// has the rows of factors at the coordinates of its own. Every rank gets the model.
///
/// # Errors
/// As [`cp_on`].
pub fn cp_of(
    x: &DistributedTensor,
    method: &AlsOptions,
    options: &CpOptions,
    ranks: &dyn Communicator,
    observe: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    check(x.shape(), options)?;
    let unit = Unit::of_largest(x.largest(ranks)?);
    unit.found(als::run_on((x, unit.scale), method, &unit.start(options), ranks, observe)?)
}

/// Refuses options and extents that make no sense for any method.
fn check(shape: &[usize], options: &CpOptions) -> Result<(), DecomposeError> {
    let refuse = |message: String| Err(DecomposeError::Option(message));
    if options.rank == 0 {
        return refuse("the rank is 0: a model has at least one component".to_owned());
    }
    if options.tolerance.is_nan() || options.tolerance < 0.0 {
        return refuse(format!("the tolerance is {}, and has to be 0 or more", options.tolerance));
    }
    if let Some(mode) = shape.iter().position(|&extent| extent == 0) {
        return refuse(format!("mode {} of the tensor has extent 0: there is nothing to decompose", mode + 1));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
