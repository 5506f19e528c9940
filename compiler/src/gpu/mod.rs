//! A plan for a device, and how one is made: what the host does, and the functions that run on the device.
//!
//! In: a kernel of the loop IR, and a mapping of parallel loops (`map`), which this stage does not know. Out: a [`Module`], which is data
//! that a printer turns into text and an executor follows.
//!
//! ```text
//! allocate y[n] = 0                             make y: f64[n] = 0
//! parallel low..high in 0..n                    launch spmv for n places, 128 threads a block
//!     sharing y owned
//! ```
//!
//! | file | what it has |
//! |---|---|
//! | `plan`, `parameters` | the data |
//! | `split` | the host/device split: each statement is a step of the host, a launch, or part of a launch of one thread |
//! | `builder` | the plan so far, and what mappings have in common |
//! | `append` | appending without growing memory: count, scan, write |
//! | `chunks` | entries that a lane takes as a chunk of neighbours |
//! | `lists`, `bitmaps` | lists as arrays, sets of keys as flags |
//! | `rewrite` | sets of what a block reads, writes and declares; substitution |
//! | `print` | the plan for the reader |

pub(crate) mod append;
pub(crate) mod bitmaps;
mod builder;
pub(crate) mod chunks;
mod lists;
mod parameters;
pub(crate) mod plan;
mod print;
pub(crate) mod rewrite;
mod split;

pub(crate) use builder::{Builder, Scratch, clamped, constant, private, take_scratch};
pub use parameters::Parameter;
pub use plan::{
    BLOCK, Flags, Function, Group, Lane, Lanes, Lists, Meet, Module, Owned, Places, Rows, SCAN_BLOCK, SCANNED, SORTED,
    Segments, Share, Step, Summed, TEAM_BLOCK, Table, Teams, Threads, Tile, Together, Total, Vector, WARP, WORKERS,
    constant_bytes,
};
pub use print::plan_text;
pub(crate) use print::readable;
pub(crate) use split::module;

/// Why a kernel can't run on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What can't be done there.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl Refusal {
    pub(crate) fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }
}

/// What a module has to hold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Rounded sums are combined in an order that only the inputs say: every run gives the same bits, whatever runs first, and there are
    /// no atomic operations on such numbers.
    pub deterministic: bool,
    /// The bytes of shared memory that the tables of a block take at most.
    pub shared: u64,
}

impl Default for Options {
    /// Atomic sums, and what every device gives a block without being asked.
    fn default() -> Self {
        Self { deterministic: false, shared: 48 << 10 }
    }
}
