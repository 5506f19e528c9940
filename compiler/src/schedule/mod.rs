//! Scheduling: from what to compute to loops in order.
//!
//! In: [`notation::Kernel`](crate::notation::Kernel), which says what to compute. Out: [`Program`], a concrete [`Kernel`] for each
//! statement that is left after fusing. What a `schedule` block says holds; the rest is proposed here, with reasons.

mod alternatives;
mod blocks;
mod cases;
mod chunks;
mod closed;
mod conflict;
mod contract;
mod copy;
mod cost;
mod directive;
mod directives;
mod distribute;
mod extents;
mod factor;
mod fibers;
mod fused;
mod levels;
mod lift;
mod order;
mod pattern;
mod precompute;
mod program;
mod record;
mod scatter;
mod scheduler;
mod share;
mod state;
mod stream;
mod structure;
mod symmetric;
mod together;

pub(crate) use crate::concrete::*;
pub use alternatives::alternatives;
pub use conflict::{Conflict, Meeting, NotParallel, Range as Cut, Told};
pub use directive::unmade;
pub use distribute::{
    Distribution, Placed, Renumbered, Shared, Sharing, distribution, placed, replicated, shared_input, shared_ranges,
};
pub use pattern::alike;
pub use program::{Program, schedule};
pub use record::{Chosen, record, text};
pub use state::Options;
pub use stream::{Stream, stream, streamed};
