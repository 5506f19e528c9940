//! Decompositions of sparse tensors: canonical polyadic (CP), Tucker, and best rank-1 by the power method.
//!
//! | function | method | for |
//! |---|---|---|
//! | [`cp`] | [`CpMethod::Als`]: alternating least squares | any values; with [`AlsOptions::weights`] also missing entries |
//! | [`cp_on`], [`cp_of`] | the same on many [ranks](crate::distribute) | tensors of more entries than one machine is to work on, or has room for |
//! | [`cp`] | [`CpMethod::Nonnegative`]: hierarchical least squares | components that add up: no factor has a negative value |
//! | | [`CpMethod::Apr`]: alternating Poisson regression | counts |
//! | | [`CpMethod::Gcp`]: any loss, by its gradient | truth values, counts, and losses of one's own |
//! | [`tucker`] | [`TuckerMethod::StHosvd`]: an SVD for each mode, one after the other | a smaller core with orthonormal factors, in one pass |
//! | | [`TuckerMethod::Hosvd`]: an SVD for each mode of the tensor itself | the singular vectors of each unfolding |
//! | | [`TuckerMethod::Hooi`]: orthogonal iteration | a better fit with as large a core |
//! | [`power`] | the power method, with deflation | the best rank-1 tensor, and eigenpairs of symmetric tensors |
//!
//! [`core_consistency`] and [`KTensor::score`] tell whether a CP model has the right rank, and whether two runs found the same.
//!
//! ```
//! use spc::decompose::{AlsOptions, CpMethod, CpOptions, Engine, cp};
//! use spc::execute::Backend;
//! use spc::tensor::{Csf, Tensor};
//! use std::ops::ControlFlow;
//!
//! // Two blocks: x = 2 a₁ ∘ b₁ ∘ c₁ + 3 a₂ ∘ b₂ ∘ c₂.
//! let first = (0..8).map(|place| ([place / 4, place / 2 % 2, place % 2], 2.0));
//! let second = (0..8).map(|place| ([2 + place / 4, 2 + place / 2 % 2, 2 + place % 2], 3.0));
//! let x = Tensor::<f64, Csf<3>>::from_entries([4, 4, 4], first.chain(second))?;
//!
//! // Without this line: native code where there is a Rust compiler.
//! let engine = Engine { backend: Some(Backend::Interpreter), ..Engine::default() };
//! let options = CpOptions { engine, tolerance: 1e-9, ..CpOptions::new(2) };
//! let found = cp(x.as_any(), &CpMethod::Als(AlsOptions::default()), &options, &mut |step| {
//!     println!("iteration {}: fit {:?}", step.iteration.number, step.iteration.fit);
//!     ControlFlow::Continue(()) // Break ends the run with the model as it is
//! })?;
//! assert!(found.fit() > Some(0.9999));
//! assert!((found.model.get(&[3, 2, 3]).unwrap_or_default() - 3.0).abs() < 1e-2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it costs
//!
//! Every product with the sparse tensor is a kernel that is compiled for its format, so what holds for kernels holds here: any format,
//! `f32` and `f64`, any number of threads, native code, the interpreter or a GPU. Dense algebra on small matrices is `nalgebra`'s, in `f64`.
//! With R components and nnz entries:
//!
//! | | time of an iteration | memory besides the tensor |
//! |---|---|---|
//! | ALS, nonnegative | an MTTKRP for each mode: nnz · R multiplications for each of the other modes, fewer where modes share products | copies of the tensor, within [`CpOptions::memory`]; three times the factors |
//! | ALS with weights | besides, nnz · R² for each mode | R² numbers for each row of each factor |
//! | APR | for each mode, [`AprOptions::inner_iterations`] times an MTTKRP and the model at the entries | a value for each entry; three times the factors |
//! | GCP, L-BFGS | an MTTKRP for each mode, and the model at the entries for each step that is tried; of a loss without a closed form for absent entries, at all elements | two values for each entry; 28 times the factors |
//! | GCP, Adam | the same at a sample, for each step | ten times the factors |
//! | Tucker, HOOI | for each mode, products with all other factors, and singular vectors of the result | [`TuckerOptions::memory`] |
//! | power | for each mode and start, the tensor times the vectors of the other modes | a sorted copy |
//!
//! Kernels are compiled before the first iteration, some tenths of a second each by the Rust compiler, and kept in a cache.
//!
//! # Errors
//!
//! All say [`DecomposeError`]. A tensor is refused that has fewer than 3 modes (2 with [`power`]) or more than 8, elements that are complex, a fill
//! value but zero, or a value that is not finite (with [`CpMethod::Apr`] also one below zero); the message has the place of the first such entry.
//!
//! # Files
//!
//! | file | what is in it |
//! |---|---|
//! | `cp` | methods for the CP decomposition |
//! | `tucker` | methods for the Tucker decomposition |
//! | `distributed` | a tensor of which each rank has some entries |
//! | `power` | best rank-1 by the power method, with deflation |
//! | `ktensor`, `tucker_tensor` | the models |
//! | `start` | where a CP iteration starts |
//! | `observe` | what a method says after each iteration, and what it gives at the end |
//! | `engine`, `kernels` | how kernels are compiled; kernels by their texts |
//! | `entries` | which tensors are refused, and the entries of others |
//! | `elements` | numbers as elements of kernels, and back |
//! | `algebra` | dense algebra: solves, eigenvectors, orthonormal bases |
//! | `files` | models in folders and archives, factors in files |
//! | `against` | a model and a tensor: inner products, fit, elements |
//! | `consistency` | whether a CP model has as many components as the tensor |
//! | `show` | models as text |
//! | `error` | what can go wrong |

mod against;
mod algebra;
mod consistency;
mod cp;
mod distributed;
mod elements;
mod engine;
mod entries;
mod error;
mod files;
mod kernels;
mod ktensor;
mod observe;
mod power;
mod show;
mod start;
mod tucker;
mod tucker_tensor;
mod uniform;

pub use consistency::core_consistency;
pub use cp::{
    AlsOptions, AprOptions, CpMethod, CpOptions, GcpOptions, Loss, NonnegativeOptions, Optimizer, cp, cp_of, cp_on,
};
pub use distributed::DistributedTensor;
pub use engine::{Compile, Engine};
pub use error::DecomposeError;
pub use files::read_factors;
pub use ktensor::{KTensor, Norm, Score};
pub use observe::{Fitted, Iteration, MethodState, Model, Observer, Step, Stopped};
pub use power::{PowerOptions, power};
pub use start::Start;
pub use tucker::{TuckerMethod, TuckerOptions, tucker, tucker_of, tucker_on};
pub use tucker_tensor::TuckerTensor;

use crate::tensor::{Dense, Tensor};

/// A factor: a row for each coordinate of a mode, a column for each component.
pub type Factor = Tensor<f64, Dense<2>>;
