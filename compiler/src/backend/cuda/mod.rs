//! Loops as CUDA C.
//!
//! In: a [`Verified`] kernel. Out: a [`Module`]: functions for a device, and what the host does to run them. Every parallel
//! loop becomes a launch with threads for its places, and what stands between them a launch of one thread:
//!
//! ```text
//! parallel low..high in 0..d0:i                 launch kernel: a thread for each i
//!     sharing y owned                               y[i] = …
//! ```
//!
//! | where chunks of a parallel loop meet | what threads do |
//! |---|---|
//! | `owned` | they write their parts |
//! | `segmented`, `private` | they update the array itself, by atomic operations |
//! | `joined` | one launch counts what each appends, a scan turns counts into places, a second launch writes |
//! | `reducing` | each reduces what it has, warps combine that by shuffles, and one lane of each goes on by an atomic operation |
//!
//! Rounded sums depend on their order. Where every run has to give the same bits ([`Options::deterministic`]), and where a device
//! has no atomic operation, threads update copies or leave parts instead, which a later launch combines in order (`ordered`), or write down
//! what they add, which is sorted by where it goes (`sorted`).
//!
//! What one place has to do may be the work of several threads:
//!
//! * Where all vector loops of a body go over one row, each place gets a thread for every element of it (`lanes`): neighbours in a
//!   warp are neighbours in memory, and what was a row in memory is a register. Of a row that is known to be longer than a block,
//!   a thread has several elements (`strips`).
//! * Else, where a loop of the body only reduces, or writes what no other iteration writes, a group of lanes of a warp shares it
//!   out (`groups`), as wide as the loop is long on average.
//! * Where places are long and uneven, or few, threads or groups take equal shares of entries instead (`shares`); the host
//!   measures and chooses.
//! * Where each place adds to one element and neighbours add to the same, a warp takes a share of places and sums by shuffles
//!   what its lanes have of one element (`segments`).
//!
//! * Where places collect keys in a set and append what comes of them, teams of threads do so in hash tables in shared memory
//!   (`tables`), as many threads as a place has keys and terms for (`bounds`, `bins`).
//! * Where places may add to any element of a short array, each block sums what it adds to it in shared memory (`tiles`).
//!
//! The stages are files: `segment` cuts a kernel's body into what the host does and what the device does, `league` maps a
//! parallel loop, `lanes`, `groups`, `shares`, `segments`, `tables`, `tiles`, `ordered`, `sorted`, `once`, `bitmaps`, `lists` and `append` rewrite its body,
//! `print` prints. No decision is left to the printer. What is printed includes no header and needs none.

mod append;
mod bins;
mod bitmaps;
mod bounds;
mod groups;
mod lanes;
mod league;
mod lists;
mod once;
mod ordered;
mod parameters;
mod plan;
mod print;
mod reserved;
mod rewrite;
mod segment;
mod segments;
mod shares;
mod sorted;
mod strips;
mod tables;
mod tiles;
mod ways;

pub use parameters::Parameter;
pub use plan::{
    BLOCK, Function, Group, Lane, Lanes, Meet, Module, Owned, Places, SCAN_BLOCK, SCANNED, SORTED, Segments, Share,
    Step, TEAM_BLOCK, Table, Teams, Threads, Tile, Total, WARP, WORKERS,
};
pub use print::{plan_text, text};

use crate::ir::{Kernel, Verified};

/// Why a kernel can't run on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What can't be done there.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl Refusal {
    fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }
}

/// What a module has to hold to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Floating point numbers come together in an order that only the inputs say: every run gives the same bits, whatever runs
    /// first, and there are no atomic operations on such numbers.
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

/// The functions and steps of a kernel; `name` is what their names begin with, the kernel's own name if absent.
///
/// # Errors
/// What a device can't do.
pub fn module(kernel: &Verified<Kernel>, name: Option<&str>, options: Options) -> Result<Module, Refusal> {
    let options = Options { deterministic: options.deterministic || kernel.deterministic, ..options };
    // A kernel may be called `double`, which no function in C++ can be.
    let name = reserved::namer().name(name.unwrap_or(&kernel.name));
    segment::module(&tables::flattened_elsewhere(kernel), &name, options)
}
