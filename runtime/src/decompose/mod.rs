//! Decompositions of sparse tensors: canonical polyadic (CP), Tucker, and best rank-1 by the power method.
//!
//! Every product with the sparse tensor is a kernel that is compiled for its format, so what holds for kernels holds here: any format,
//! `f32` and `f64`, any number of threads, native code, the interpreter or a GPU. Dense algebra on small matrices is `faer`'s.
//!
//! | file | what is in it |
//! |---|---|
//! | `engine` | how kernels are compiled, and the sparse tensor that they read |
//! | `observe` | what a method says after each iteration, and what it gives at the end |
//! | `algebra` | dense algebra: solves, eigenvectors, orthonormal bases |
//! | `ktensor`, `tucker_tensor` | the models |
//! | `files` | models in folders and archives |
//! | `consistency` | whether a CP model has as many components as the tensor |
//! | `leading` | leading left singular vectors of an unfolding |
//! | `against` | a model and a tensor: inner products, fit, elements |
//! | `show` | models as text |
//! | `start` | where an iteration starts |
//! | `cp` | methods for the CP decomposition |
//! | `tucker` | methods for the Tucker decomposition |
//! | `power` | best rank-1 by the power method, with deflation |

mod against;
mod algebra;
mod consistency;
mod cp;
mod engine;
mod error;
mod files;
mod ktensor;
mod leading;
mod observe;
mod power;
mod show;
mod start;
mod tucker;
mod tucker_tensor;

pub use consistency::core_consistency;
pub use cp::{AlsOptions, AprOptions, CpMethod, CpOptions, GcpOptions, Loss, NonnegativeOptions, Optimizer, cp};
pub use engine::{Compile, Engine};
pub use error::DecomposeError;
pub use ktensor::{KTensor, Norm, Score};
pub use observe::{Fitted, Iteration, Model, Observer, Step, Stopped};
pub use power::{PowerOptions, power};
pub use start::Start;
pub use tucker::{TuckerMethod, TuckerOptions, tucker};
pub use tucker_tensor::TuckerTensor;

use crate::tensor::{Dense, Tensor};

/// A factor: a row for each coordinate of a mode, a column for each component.
pub type Factor = Tensor<f64, Dense<2>>;
