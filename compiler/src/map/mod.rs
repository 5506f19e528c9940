//! How parallel loops are mapped to the threads of a device.
//!
//! In: a parallel loop of the IR, and how its chunks meet in each array ([`Sharing`](crate::ir::Sharing)). Out: steps and functions of a
//! plan ([`gpu`](crate::gpu)). Every parallel loop becomes a launch with threads for its places:
//!
//! ```text
//! parallel low..high in 0..d0:i                 launch kernel: a thread for each i
//!     sharing y owned                               y[i] = …
//! ```
//!
//! A strategy says whether it fits a loop, and if so makes the launches; `STRATEGIES` are asked in order, and what refuses says why
//! ([`Refused`]), which `spc explain` shows. A strategy that changes a loop's body has the new loop mapped in turn.
//!
//! | where chunks of a parallel loop meet | what threads do |
//! |---|---|
//! | `owned` | they write their parts |
//! | `segmented`, `private` | they update the array itself, by atomic operations |
//! | `joined` | one launch counts what each appends, a scan turns counts into places, a second launch writes. Where lists are merged, that is what each of their entries appends |
//! | `reducing` | each reduces what it has, warps combine that by shuffles, and one lane of each goes on by an atomic operation |
//!
//! Rounded sums depend on their order. Where every run has to give the same bits ([`Options::deterministic`]), and where a device
//! has no atomic operation, the array is privatized (`privatized`, `ordered`), or terms are written down and sorted by where they go
//! (`sorted_terms`).
//!
//! What one place has to do may be the work of several threads (`work_item`): a thread for each element of a row (`lanes`), with several
//! elements of a long one (`register_values`); a group of lanes that shares out loops (`warp_per_row`); or one thread.
//!
//! | files | |
//! |---|---|
//! | `strategy` | the trait, and the reasons of refusals |
//! | `sorted_terms`, `row_bins` (with `hash_accumulator`, `key_bounds`), `merged_entries` (with `merges`), `counted`, `nonzeros`, `boundary_segments`, `warp_scan`, `places` | strategies |
//! | `shared_tiles` | shared-memory privatization of what a strategy launches |
//! | `work_item` (with `lanes`, `register_values`, `warp_per_row`) | who works at one place |
//! | `empty_rows` | runs of empty rows in a share are one search |
//! | `grid`, `children`, `privatized`, `ordered`, `once` | what launches have in common |

mod boundary_segments;
mod children;
mod counted;
mod empty_rows;
mod grid;
mod hash_accumulator;
mod key_bounds;
mod lanes;
mod merged_entries;
mod merges;
mod nonzeros;
mod once;
mod ordered;
mod places;
mod privatized;
mod register_values;
mod row_bins;
mod shared_tiles;
mod sorted_terms;
mod strategy;
mod warp_per_row;
mod warp_scan;
mod work_item;

pub use strategy::Refused;

use crate::gpu::{Builder, Module, Options, Refusal};
use crate::ir::{Kernel, Parallel, Verified};
use strategy::{Loop, Strategy};

/// The ways to map a parallel loop, the first that fits is taken.
static STRATEGIES: &[&dyn Strategy] = &[
    &sorted_terms::SortedTerms,
    &row_bins::HashAccumulator,
    &merged_entries::MergedEntries,
    &counted::Counted,
    &nonzeros::Nonzeros,
    &boundary_segments::BoundarySegments,
    &warp_scan::WarpScan,
    &places::EvenPlaces,
];

/// The plan of a kernel; the names of functions begin with `name`.
///
/// # Errors
/// What a device can't do.
pub(crate) fn module(kernel: &Verified<Kernel>, name: &str, options: Options) -> Result<Module, Refusal> {
    let options = Options { deterministic: options.deterministic || kernel.deterministic, ..options };
    crate::gpu::module(&hash_accumulator::flattened_elsewhere(kernel), name, options, map)
}

/// Maps a parallel loop by the first strategy that fits, of those behind the one that is named.
fn map(builder: &mut Builder, parallel: &Parallel, after: Option<&str>) -> Result<(), Refusal> {
    let from = after.and_then(|name| STRATEGIES.iter().position(|strategy| strategy.name() == name));
    let node = Loop::new(builder, parallel);
    let mut refused = Vec::new();
    for strategy in &STRATEGIES[from.map_or(0, |place| place + 1)..] {
        match strategy.fits(builder, &node) {
            Ok(emit) => {
                node.decide(builder, strategy.name(), &refused);
                return emit(builder);
            }
            Err(reason) => refused.push((strategy.name(), reason)),
        }
    }
    Err(Refusal::new("no mapping fits a parallel loop", "use the Rust backend"))
}
