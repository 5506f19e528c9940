//! How the compiler is proved: a dense oracle, one corpus of cases for every engine, and random programs.

pub mod case;
pub mod compare;
pub mod corpus;
pub mod data;
pub mod emulation;
pub mod engine;
pub mod fuzz;
pub mod native;
pub mod number;
pub mod oracle;
pub mod pattern;
pub mod random;
pub mod report;
pub mod schedule;
pub mod suite;
pub mod taco;

use spc::cuda::{Nvrtc, NvrtcError};

/// NVIDIA's run-time compiler; `None` where it is missing, which is printed.
///
/// # Panics
/// When it is there and can't be used.
pub fn nvrtc() -> Option<Nvrtc> {
    match Nvrtc::find() {
        Ok(nvrtc) => Some(nvrtc),
        Err(error @ NvrtcError::Missing { .. }) => {
            println!("0 kernels compiled: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
