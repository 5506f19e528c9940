//! Planning: from what a line computes to the statements that compute it with least work.
//!
//! In: a [`Kernel`] of the notation and [`Facts`] about its tensors. Out: [`Planned`], a kernel of the notation that computes the
//! same, with `let`s for temporaries that are made, nested sums for those that stay inside of shared loops, and a schedule for the
//! order of loops. What is planned can be printed, pasted back and changed.
//!
//! ```text
//! Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r)
//!   →   Y(i, q, r) = sum(j)(V(j, q) * sum(k)(X(i, j, k) * W(k, r)));   schedule { reorder(i, j, q, r); }
//! ```

mod facts;

pub use facts::{Degrees, Facts, Known, Modes, Source, TensorFacts, wanted};

use crate::notation::Kernel;

/// What a plan costs, estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Operations on elements.
    pub operations: f64,
    /// Bytes that are read and written.
    pub bytes: f64,
    /// Bytes of temporaries.
    pub memory: f64,
    /// Nanoseconds.
    pub time: f64,
    /// Nanoseconds at most, if every estimate is as wrong as its bound allows.
    pub bound: f64,
}

/// A plan that was not taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The plan as text that can be pasted back.
    pub text: String,
    /// What it costs.
    pub cost: Cost,
}

/// A planned kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The kernel to schedule.
    pub kernel: Kernel,
    /// What it costs.
    pub cost: Cost,
    /// What the kernel as written costs.
    pub written: Cost,
    /// The best other plans.
    pub others: Vec<Alternative>,
}

/// The plan for a kernel of which the text alone is known, with the extents that it fixes and what it says of its tensors.
pub fn by_text(kernel: &Kernel) -> Option<Planned> {
    wanted(kernel).and_then(|_| plan(kernel, &Facts::stated(kernel, &[])))
}

/// A better plan for a kernel, if there is one; `None` where the kernel is best as it is written, or must stay so.
pub fn plan(kernel: &Kernel, facts: &Facts) -> Option<Planned> {
    let _ = (kernel, facts);
    None
}
