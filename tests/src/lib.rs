//! How the compiler is proved: a dense oracle, one corpus of cases for every engine, and random programs.

pub mod cliffs;
pub mod corpus;
pub mod emulation;
pub mod fuzz;
pub mod harness;
pub mod ledger;
pub mod native;
pub mod pattern;
pub mod random;
pub mod report;
pub mod rows;
pub mod schedule;
pub mod suite;
pub mod taco;

pub use spc_check::{case, compare, data, engine, number, oracle};

use harness::Skip;
use spc::cuda::{Nvrtc, NvrtcError};

/// NVIDIA's run-time compiler.
///
/// # Errors
/// It is missing.
///
/// # Panics
/// When it is there and can't be used.
pub fn nvrtc() -> Result<Nvrtc, Skip> {
    Nvrtc::find().map_err(|error| match error {
        NvrtcError::Missing { .. } => Skip(error.to_string()),
        error => panic!("{error}"),
    })
}
