//! Measuring: what the machine can do, how large tensors are, and what repeated times say.
//!
//! [`Machine::measure`] finds out, on the threads of the pool that it is called in, how fast memory is streamed and gathered
//! from, for footprints from what a core's cache holds to what none does, and how many operations a second there can be. With
//! [`sizes`] of tensors and the compiler's [`model`](spc_compiler::model) of a kernel, [`Machine::least_time`] is the
//! roofline: the time below which the machine can't run it.
//!
//! ```
//! use spc::measure::{Effort, Machine, Summary};
//!
//! let machine = Machine::measure(Effort::Least);
//! assert!(machine.points()[0].read > 1e6, "bytes a second");
//! let summary = Summary::of(vec![3.0, 1.0, 2.0]);
//! assert_eq!((summary.median, summary.least), (2.0, 1.0));
//! ```

mod bandwidth;
mod caches;
mod facts;
mod levels;
mod processor;
mod roofline;
mod sizes;
mod summary;

pub use bandwidth::{Effort, Machine, Point};
pub use caches::{Cache, caches};
pub use facts::tensor_facts;
pub(crate) use facts::{tensor_facts_at_once, time_to_count};
pub use levels::tensor_size;
pub use sizes::sizes;
pub use summary::Summary;
