//! One kernel on many ranks: machines that exchange messages, or threads that stand for them.
//!
//! The notation stays as it is. What is shared out are the stored entries of one sparse input, or the range of an index of the result; the
//! rest follows. Each rank runs the kernel on smaller tensors, in the formats that the text declares:
//!
//! ```text
//! A(i, r) = X(i, j, k) * B(j, r) * C(k, r)
//!
//! X      its entries are shared out                          a rank has some, and numbers their coordinates anew
//! B, C   a rank owns some rows                               sends them to those with entries there
//! A      a rank owns some rows                               takes what others have added to them
//! ```
//!
//! A [`Plan`] says who has what. It is made of coordinates alone, so the bytes that each rank sends are known before a run, for any number of
//! ranks ([`Plan::counts`]); of several placements the one is taken that costs least ([`Problem::plans`]).
//!
//! ```
//! use spc::distribute::{Machine, Problem, on_threads};
//! use spc::execute::{Operand, ProgramOptions};
//! use spc::tensor::{Coordinates, Indices};
//! use spc_compiler::{notation, syntax};
//!
//! let text = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
//! let kernel = notation::check(&syntax::parse_program(text).unwrap()).unwrap().remove(0);
//! let indices = vec![Indices::U32(vec![0, 1, 1]), Indices::U32(vec![1, 0, 2])];
//! let a = Coordinates { shape: vec![2, 3], shape_is_stated: true, indices, values: vec![2.0, 3.0, 4.0] };
//! let inputs = vec![("A".to_owned(), a.into()), ("x".to_owned(), Operand::Ones)];
//!
//! let problem = Problem::new(&kernel, inputs, &[], &ProgramOptions::default())?;
//! let plan = problem.plans(2, Machine::default())?.remove(0);
//! let results = on_threads(2, None, |ranks| problem.run(&plan, ranks).and_then(|part| problem.gather(&plan, part, ranks)))?;
//! let y = &results[0].as_ref().unwrap()[0].1;
//! assert_eq!(y.values_of::<f64>(), Some(&[2.0, 7.0][..]));
//! # Ok::<(), spc::distribute::DistributeError>(())
//! ```
//!
//! Results are gathered on the first rank ([`Problem::gather`]), or ranks write them to a file together ([`Problem::write`]): then none has
//! a whole result.

mod bisection;
mod bisection_of_parts;
mod communicator;
mod cost;
mod dense_rows;
#[cfg(feature = "decompose")]
mod factors;
mod held;
mod homes;
mod listed;
pub mod message;
#[cfg(feature = "mpi")]
mod mpi;
mod operand_rows;
mod overlap;
mod owners;
mod parts;
mod placement;
mod plan;
mod prepared;
mod problem;
mod redistribute;
mod returned;
mod rows;
mod run;
mod shared_file;
#[cfg(test)]
mod tests;
mod threads;
mod written;

pub use communicator::{CommunicationError, Communicator, Traffic};
pub use cost::{Counts, Machine, Summary};
#[cfg(feature = "decompose")]
pub(crate) use factors::{Factors, reduced, summed};
pub use held::Part;
#[cfg(feature = "mpi")]
pub use mpi::MpiRank;
pub use overlap::{Overlap, Overlapped};
pub use parts::{PARTS, TooFewParts, in_parts, parts_for, parts_of};
pub use placement::Placement;
#[cfg(feature = "decompose")]
pub(crate) use placement::cut;
pub use plan::Plan;
pub use prepared::Prepared;
pub use problem::Problem;
#[cfg(feature = "decompose")]
pub(crate) use redistribute::in_slices;
#[cfg(feature = "decompose")]
pub(crate) use shared_file::PartError;
pub use shared_file::SharedFile;
pub use spc_compiler::schedule::Renumbered;
pub use threads::{ThreadRank, on_threads};
pub use written::{ResultFile, Written};

use crate::execute::ProgramError;
use crate::io::WriteError;
use crate::tensor::PackError;

/// Why a kernel does not run on many ranks.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistributeError {
    /// The kernel can't be distributed so.
    #[error("{what}; {help}")]
    Refused {
        /// What can't be.
        what: String,
        /// What to do about it.
        help: String,
    },
    /// A kernel can't be made, or does not run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// Ranks can't go on together.
    #[error(transparent)]
    Communication(#[from] CommunicationError),
    /// A result can't be written. All ranks say so.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl DistributeError {
    fn pack(tensor: &str, source: PackError) -> Self {
        ProgramError::Pack { tensor: tensor.to_owned(), source }.into()
    }
}
