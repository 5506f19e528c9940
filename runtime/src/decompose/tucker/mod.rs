//! The Tucker decomposition.
//!
//! | file | what is in it |
//! |---|---|
//! | `tree` | the tensor times factors, mode after mode |
//! | `subspace` | leading singular vectors of an unfolding |
//! | `run` | the methods |

mod run;
mod subspace;
mod tree;

pub(super) use run::singular_vectors;

use super::entries::{checked, scaled};
use super::observe::together;
use super::{DecomposeError, DistributedTensor, Engine, Factor, Fitted, Iteration, Observer, TuckerTensor};
use crate::distribute::Communicator;
use crate::tensor::{AnyTensor, ElementType};
use std::ops::ControlFlow;

/// A method for a Tucker decomposition. The first two are as good as the best one but for a factor of the root of the order, at most
/// (De Lathauwer, De Moor and Vandewalle, A Multilinear Singular Value Decomposition, 2000; Vannieuwenhoven, Vandebril and Meerbergen, A New
/// Truncation Strategy for the Higher-Order Singular Value Decomposition, 2012). The third begins with the first and improves it
/// (De Lathauwer, De Moor and Vandewalle, On the Best Rank-1 and Rank-(R₁, …, R_N) Approximation of Higher-Order Tensors, 2000).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TuckerMethod {
    /// The leading left singular vectors of each unfolding of the tensor.
    Hosvd,
    /// The same, mode after mode in their order, each of what the modes before have made smaller: the product with the first factor has a
    /// row for each fiber, that with two a longer one for each node above. Less work than the first, and often a better fit.
    StHosvd,
    /// Higher-order orthogonal iteration: the leading left singular vectors of the tensor times the factors of all other modes, over and over.
    Hooi,
}

/// What the methods take.
#[derive(Debug, Clone)]
pub struct TuckerOptions {
    /// The extents of the core, one for each mode.
    pub ranks: Vec<usize>,
    /// The most iterations of [`TuckerMethod::Hooi`], those in [`done`](Self::done) included.
    pub iterations: usize,
    /// It ends when the fit changes by less; with 0, after all iterations.
    pub tolerance: f64,
    /// Factors that [`TuckerMethod::Hooi`] starts from, of which it takes orthonormal bases; those of [`TuckerMethod::Hosvd`] if there are
    /// none.
    pub start: Option<Vec<Factor>>,
    /// For random columns, where a rank is above what an unfolding has.
    pub seed: u64,
    /// The elements of factors in kernels, as in [`CpOptions`](super::CpOptions).
    pub element: Option<ElementType>,
    /// Where kernels run.
    pub engine: Engine,
    /// The most bytes for copies of the tensor and their products with factors; half of what is free if not said. [`TuckerMethod::Hooi`]
    /// keeps a copy for each mode. Those that have no room are sorted anew in each iteration.
    pub memory: Option<u64>,
    /// Iterations that were done before.
    pub done: usize,
}

impl TuckerOptions {
    /// A core of these extents, at most 50 iterations, until the fit changes by less than 1e-4.
    pub fn new(ranks: impl Into<Vec<usize>>) -> Self {
        let (ranks, engine) = (ranks.into(), Engine::default());
        let (start, element, memory) = (None, None, None);
        Self { ranks, iterations: 50, tolerance: 1e-4, start, seed: 0, element, engine, memory, done: 0 }
    }
}

/// Decomposes a tensor of 3 to 8 modes into a small core and an orthonormal factor for each mode: X ≈ G ×₁ U₁ ×₂ U₂ … (Kolda and Bader,
/// Tensor Decompositions and Applications, 2009, section 4). The columns of a factor go from the largest singular value to the smallest, and
/// the largest element of each is positive. A mode whose rank is its extent costs no product and no vectors before the model is made, but in [`TuckerMethod::Hosvd`]. The fit is 1 - ‖X - M‖ / ‖X‖, with ‖X - M‖² = ‖X‖² - ‖G‖² as factors are orthonormal; so fits
/// above 1 - 1e-7 are lost in rounding. That of a tensor of zeros is 1.
///
/// Every product with the tensor is a compiled kernel, on a copy that is sorted for it: see [`TuckerOptions::memory`]. Methods other than
/// HOOI report one iteration.
///
/// ```
/// use spc::decompose::{Engine, TuckerMethod, TuckerOptions, tucker};
/// use spc::execute::Backend;
/// use spc::tensor::{Csf, Tensor};
/// use std::ops::ControlFlow;
///
/// // x(i, j, k) = a(i) b(j) c(k) has a core of one number.
/// let value = |[i, j, k]: [usize; 3]| (i as f64 + 1.0) * (j as f64 + 2.0) * (k as f64 + 3.0);
/// let indices = (0..24).map(|place| [place / 6, place / 2 % 3, place % 2]);
/// let x = Tensor::<f64, Csf<3>>::from_entries([4, 3, 2], indices.map(|index| (index, value(index))))?;
///
/// let engine = Engine { backend: Some(Backend::Interpreter), ..Engine::default() };
/// let options = TuckerOptions { engine, ..TuckerOptions::new([1, 1, 1]) };
/// let mut fits = Vec::new();
/// let found = tucker(x.as_any(), TuckerMethod::Hooi, &options, &mut |step| {
///     fits.extend(step.iteration.fit);
///     ControlFlow::Continue(()) // Break ends the run with what there is
/// })?;
/// assert!(fits.iter().all(|fit| *fit > 1.0 - 1e-7));
/// assert_eq!(found.model.shape(), [4, 3, 2]);
/// assert_eq!(found.model.core().shape(), [1, 1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// When the tensor has another order, numbers that are complex or not finite, or a fill value; there are not as many ranks as modes, or one
/// is zero or above the extent of its mode; factors to start from do not fit; there is not enough memory; or a kernel can't be compiled or
/// run.
pub fn tucker(
    x: &AnyTensor,
    method: TuckerMethod,
    options: &TuckerOptions,
    observe: Observer<'_, TuckerTensor>,
) -> Result<Fitted<TuckerTensor>, DecomposeError> {
    let x = &*x.unfolded()?;
    checked(x, 3, 8)?;
    check(x.shape(), options)?;
    run::run((scaled(x)?, x.element()), method, options, None, observe)
}

/// The same on many ranks, all of which call it with the same tensor and options. For each mode, a rank has some slices of the tensor, about as
/// many entries as any other; every rank has all factors. Products with the factors need nothing of others; the leading vectors are found
/// together. Every rank gets the model, which differs from that of [`tucker`] by rounding.
///
/// `observe` is told of each iteration, on every rank; what it ends on one, all end.
///
/// # Errors
/// As [`tucker`], and when another rank has stopped.
pub fn tucker_on(
    x: &AnyTensor,
    method: TuckerMethod,
    options: &TuckerOptions,
    ranks: &dyn Communicator,
    observe: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Fitted<TuckerTensor>, DecomposeError> {
    tucker_of(&DistributedTensor::of_tensor(x, ranks)?, method, options, ranks, observe)
}

/// The same of a tensor of which each rank has some entries, as [`DistributedTensor::of_file`] gives it: no rank has all of them.
///
/// # Errors
/// As [`tucker_on`].
pub fn tucker_of(
    x: &DistributedTensor,
    method: TuckerMethod,
    options: &TuckerOptions,
    ranks: &dyn Communicator,
    observe: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Result<Fitted<TuckerTensor>, DecomposeError> {
    check(x.shape(), options)?;
    let entries = (x.scaled(ranks)?, x.element());
    together(ranks, observe, |observe| run::run(entries, method, options, Some(ranks), observe))
}

/// Refuses options that make no sense.
fn check(shape: &[usize], options: &TuckerOptions) -> Result<(), DecomposeError> {
    check_ranks(shape, &options.ranks)?;
    if options.tolerance.is_nan() || options.tolerance < 0.0 {
        let message = format!("the tolerance is {}, and has to be 0 or more", options.tolerance);
        return Err(DecomposeError::Option(message));
    }
    Ok(())
}

fn check_ranks(shape: &[usize], ranks: &[usize]) -> Result<(), DecomposeError> {
    let refuse = |message: String| Err(DecomposeError::Option(message));
    if ranks.len() != shape.len() {
        let (found, order) = (ranks.len(), shape.len());
        return refuse(format!("there are {found} ranks for {order} modes: say one for each mode"));
    }
    for (mode, (&rank, &extent)) in (1..).zip(ranks.iter().zip(shape)) {
        if rank == 0 {
            return refuse(format!("the rank of mode {mode} is 0: say 1 or more"));
        }
        if rank > extent {
            return refuse(format!(
                "the rank of mode {mode} is {rank}, above its extent {extent}: say at most {extent}"
            ));
        }
    }
    if ranks.iter().try_fold(8usize, |product, &rank| product.checked_mul(rank)).is_none() {
        return refuse(format!("a core of ranks {ranks:?} has more elements than memory: say smaller ranks"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
