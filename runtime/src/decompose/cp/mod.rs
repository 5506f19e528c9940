//! Methods for the CP decomposition.
//!
//! | file | what is in it |
//! |---|---|
//! | `als` | alternating least squares; with weights, missing entries |
//! | `nonnegative` | hierarchical alternating least squares: factors that are not negative |
//! | `apr` | alternating Poisson regression: counts |
//! | `gcp` | any loss, by its gradient |
//! | `kernels` | what several of them compute |

mod als;
mod apr;
mod gcp;
mod kernels;
mod nonnegative;

pub use als::AlsOptions;
pub use apr::AprOptions;
pub use gcp::{GcpOptions, Loss, Optimizer};
pub use nonnegative::NonnegativeOptions;

use super::{DecomposeError, Engine, Fitted, KTensor, Observer, Start};
use crate::tensor::{AnyTensor, ElementType};

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
}

impl CpOptions {
    /// So many components, at most 50 iterations, until the measure changes by less than 1e-4, from random factors of seed 0.
    pub fn new(rank: usize) -> Self {
        let (start, engine) = (Start::default(), Engine::default());
        Self { rank, iterations: 50, tolerance: 1e-4, start, element: None, engine, memory: None, done: 0 }
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

/// Decomposes a tensor of 3 to 8 modes into a sum of rank-1 tensors.
///
/// # Errors
/// When the tensor or an option does not suit the method, or a kernel can't be compiled or run.
pub fn cp(
    x: &AnyTensor,
    method: &CpMethod,
    options: &CpOptions,
    observe: Observer<'_, KTensor>,
) -> Result<Fitted<KTensor>, DecomposeError> {
    match method {
        CpMethod::Als(own) => als::run(x, own, options, observe),
        CpMethod::Nonnegative(own) => nonnegative::run(x, own, options, observe),
        CpMethod::Apr(own) => apr::run(x, own, options, observe),
        CpMethod::Gcp(own) => gcp::run(x, own, options, observe),
    }
}
