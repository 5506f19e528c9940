//! The time of a launch by what it asks for, and what limits it: the largest of several times, none of which can be hidden behind
//! itself. Real launches take longer than the largest, by how badly the rest overlaps.

use super::counts::{Counts, SECTOR};
use super::description::Description;
use super::occupancy::{Occupancy, Taken};
use super::replay::Traffic;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

/// Instructions that a multiprocessor issues in a clock.
const ISSUED: f64 = 4.0;

/// Sectors with atomic operations that all of the second level finishes in a clock, and lanes at one address, of which each is one more:
/// 34 and 40 were measured on an H100 (tests/speed/gpu/constants.cu).
const ATOMICS: f64 = 34.0;

/// Clocks between two of these on one sector. At one address 1.4 were measured for integers and 3.5 for floating point numbers; at
/// neighbours 5.2 of four bytes, and 19 of eight.
const ATOMIC_CLOCKS: f64 = 2.0;

/// What limits a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Bytes from memory and to it.
    Memory,
    /// Bytes of the second-level cache.
    L2,
    /// Turns of the first-level cache.
    L1,
    /// Instructions of the busiest multiprocessor.
    Issue,
    /// Loads that nothing is left to do besides.
    Latency,
    /// The warp that waits longest.
    LongestWarp,
    /// Atomic operations.
    Atomics,
}

impl Limit {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Memory, Self::L2, Self::L1, Self::Issue, Self::Latency, Self::LongestWarp, Self::Atomics];
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Memory => "memory",
            Limit::L2 => "L2",
            Limit::L1 => "L1",
            Limit::Issue => "issue",
            Limit::Latency => "latency",
            Limit::LongestWarp => "longest warp",
            Limit::Atomics => "atomics",
        })
    }
}

/// A predicted time.
#[derive(Debug, Clone, PartialEq)]
pub struct Time {
    /// In seconds, with what a launch takes besides.
    pub seconds: f64,
    /// What limits it.
    pub limit: Limit,
    /// The time that each limit alone would take, in the order of [`Limit::ALL`].
    pub by_limit: [f64; 7],
    /// Bytes from memory and to it.
    pub memory_bytes: f64,
    /// Bytes that the second level is asked for.
    pub l2_bytes: f64,
    /// The work of the busiest multiprocessor by that of an average one.
    pub imbalance: f64,
}

/// What is known of a launch.
pub(super) struct Launched<'a> {
    pub(super) counts: &'a Counts,
    pub(super) traffic: &'a Traffic,
    pub(super) takes: &'a Taken,
    pub(super) occupancy: &'a Occupancy,
    /// Warps of a block.
    pub(super) warps: usize,
    /// Sectors that some block touches.
    pub(super) distinct: u64,
}

impl Launched<'_> {
    pub(super) fn time(&self, gpu: &Description) -> Time {
        let (scale, hertz, traffic) = (self.counts.scale(), gpu.hertz(), self.traffic);
        let memory_bytes = self.memory_bytes(scale);
        let l2_bytes = traffic.l2 as f64 * scale * SECTOR as f64;
        let (busiest, mean) = self.busiest(gpu.multiprocessors);
        let imbalance = if mean > 0.0 { busiest / mean } else { 1.0 };
        let per_multiprocessor = |sum: f64| sum * scale / gpu.multiprocessors as f64 * imbalance / hertz;
        let turns: f64 = self.counts.sites.iter().map(|site| site.turns).sum();
        let resident = (self.counts.totals.blocks as f64 * self.warps as f64 / gpu.multiprocessors as f64)
            .clamp(1.0, self.occupancy.warps as f64);
        let atomics = (traffic.atomics as f64 / ATOMICS).max(traffic.meet as f64 * ATOMIC_CLOCKS) * scale;
        let by_limit = [
            memory_bytes / gpu.bandwidth(),
            l2_bytes / (gpu.l2_gbs * 1e9),
            per_multiprocessor(turns),
            busiest / ISSUED / hertz,
            per_multiprocessor(traffic.clocks) / self.takes.loads / resident,
            self.longest() / self.takes.loads / hertz,
            atomics / hertz,
        ];
        let place =
            (0..by_limit.len()).fold(0, |most, place| if by_limit[place] > by_limit[most] { place } else { most });
        let seconds = by_limit[place] + gpu.launch_us * 1e-6;
        Time { seconds, limit: Limit::ALL[place], by_limit, memory_bytes, l2_bytes, imbalance }
    }

    /// Sectors that are touched come once; what comes more often is scaled, and so is what was there already.
    fn memory_bytes(&self, scale: f64) -> f64 {
        let (distinct, traced) = (self.distinct as f64, self.traffic.distinct as f64);
        let again = (self.traffic.memory_in + self.traffic.memory_out) as f64 - traced;
        let scale = if again > 0.0 { scale } else { distinct / traced.max(1.0) };
        (distinct + again * scale).max(0.0) * SECTOR as f64
    }

    /// Instructions of the busiest multiprocessor and of an average one: each block goes where there is room first.
    fn busiest(&self, multiprocessors: usize) -> (f64, f64) {
        let traced = self.counts.blocks.iter().filter(|block| block.traced != 0);
        let (issue, events) =
            traced.fold((0, 0), |(issue, events), block| (issue + block.issue, events + block.events));
        let of_event = issue as f64 / events.max(1) as f64;
        let mut sums = vec![0.0; multiprocessors];
        // Times in whole numbers, so that they can be compared.
        let mut rooms: BinaryHeap<Reverse<(u64, usize)>> = (0..self.occupancy.blocks)
            .flat_map(|room| (0..multiprocessors).map(move |place| Reverse((room as u64, place))))
            .collect();
        for block in &self.counts.blocks {
            let work = if block.traced != 0 { block.issue as f64 } else { block.events as f64 * of_event };
            if let Some(Reverse((time, place))) = rooms.pop() {
                sums[place] += work;
                rooms.push(Reverse((time + work as u64 + 1, place)));
            }
        }
        let all: f64 = sums.iter().sum();
        (sums.iter().copied().fold(0.0, f64::max), all / multiprocessors as f64)
    }

    /// The clocks that the warp waits for that waits longest, one load after the other.
    fn longest(&self) -> f64 {
        let others = self.counts.blocks.iter().filter(|block| block.traced == 0).map(|block| block.longest);
        (f64::from(others.max().unwrap_or(0)) * self.traffic.latency()).max(self.traffic.longest)
    }
}
