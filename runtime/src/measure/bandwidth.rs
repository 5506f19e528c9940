//! What the machine can do.

use super::Summary;
use super::processor::{self, OPERATIONS_F32, OPERATIONS_F64};
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How much time measuring may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Footprints up to 64 MiB, a second in all.
    Quick,
    /// Footprints up to 512 MiB, a few seconds in all.
    Thorough,
    /// Next to nothing, for tests: the figures say little.
    Least,
}

impl Effort {
    /// The footprints, in bytes.
    fn footprints(self) -> &'static [usize] {
        const MIB: usize = 1 << 20;
        match self {
            Effort::Least => &[MIB / 4],
            Effort::Quick => &[MIB / 32, MIB / 2, 4 * MIB, 64 * MIB],
            Effort::Thorough => &[MIB / 32, MIB / 4, MIB, 4 * MIB, 16 * MIB, 64 * MIB, 512 * MIB],
        }
    }

    fn repeats(self) -> usize {
        match self {
            Effort::Least => 1,
            Effort::Quick => 5,
            Effort::Thorough => 9,
        }
    }

    /// The bytes that are moved at least between two looks at the clock.
    fn bytes(self) -> usize {
        if self == Effort::Least { 1 << 18 } else { 32 << 20 }
    }
}

/// The bytes of rows that are gathered, ascending.
pub(super) const ROWS: [usize; 3] = [8, 64, 256];

/// What memory does at one footprint, all threads together, in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The bytes that are gone through.
    pub footprint: usize,
    /// `a = b + s c`: two arrays are read and one is written, as STREAM counts.
    pub triad: f64,
    /// One array is read.
    pub read: f64,
    /// Rows of 8, 64 and 256 bytes are read from random places of one table; indices do not count.
    pub gather: [f64; 3],
}

/// What the machine can do with so many threads.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    threads: usize,
    points: Vec<Point>,
    flops: [f64; 2],
}

impl Machine {
    /// Measures, on the threads of the pool that this is called in. Each figure is the median of several.
    pub fn measure(effort: Effort) -> Self {
        let point = |&footprint: &usize| Point {
            footprint,
            triad: triad(footprint, effort),
            read: read(footprint, effort),
            gather: [gather::<1>(footprint, effort), gather::<8>(footprint, effort), gather::<32>(footprint, effort)],
        };
        let points = effort.footprints().iter().map(point).collect();
        Self { threads: rayon::current_num_threads(), points, flops: flops(effort) }
    }

    /// A machine of known figures: points of ascending footprint, at least one, and operations a second on `f64` and `f32`.
    ///
    /// # Panics
    /// When there is no point, or footprints do not ascend.
    pub fn of_figures(threads: usize, points: Vec<Point>, flops: [f64; 2]) -> Self {
        let ascends = points.windows(2).all(|pair| pair[0].footprint < pair[1].footprint);
        assert!(!points.is_empty() && ascends, "points of ascending footprint");
        Self { threads, points, flops }
    }

    /// How many threads work.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// What memory does, for ascending footprints.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The operations a second on elements of so many bytes: fused products and sums count as two.
    pub fn flops(&self, bytes: usize) -> f64 {
        self.flops[usize::from(bytes < 8)]
    }
}

/// Lets all threads of the pool do the same at the same time, `repeats` times after once to warm up. `make` makes what a thread
/// works on. The result is the median of the times that the slowest takes, in seconds.
fn together<W>(repeats: usize, make: impl Fn(usize) -> W + Sync, work: impl Fn(&mut W) + Sync) -> f64 {
    let threads = rayon::current_num_threads();
    let (start, end) = (Barrier::new(threads), Barrier::new(threads));
    let times: Vec<AtomicU64> = (0..repeats).map(|_| AtomicU64::new(0)).collect();
    rayon::broadcast(|context| {
        let mut state = make(context.index());
        work(&mut state);
        for time in &times {
            start.wait();
            let begin = Instant::now();
            work(&mut state);
            time.fetch_max(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            end.wait();
        }
    });
    Summary::of(times.iter().map(|time| time.load(Ordering::Relaxed).max(1) as f64 * 1e-9).collect()).median
}

/// The elements of a thread's part of a footprint, in a whole number of lanes.
fn share(footprint: usize, arrays: usize) -> usize {
    (footprint / 8 / arrays / rayon::current_num_threads()).next_multiple_of(64)
}

/// How often something of so many bytes is done between two looks at the clock.
fn turns(bytes: usize, effort: Effort) -> usize {
    (effort.bytes() / bytes).max(1)
}

fn triad(footprint: usize, effort: Effort) -> f64 {
    let count = share(footprint, 3);
    let bytes = 3 * 8 * count * rayon::current_num_threads();
    let turns = turns(bytes, effort);
    let make = |_| (vec![0.5; count], vec![1.5; count], vec![2.5; count]);
    let seconds = together(effort.repeats(), make, |(a, b, c)| {
        for turn in 0..turns {
            processor::triad(a, b, c, black_box(turn as f64));
            black_box(&mut *a);
        }
    });
    (bytes * turns) as f64 / seconds
}

fn read(footprint: usize, effort: Effort) -> f64 {
    let count = share(footprint, 1);
    let bytes = 8 * count * rayon::current_num_threads();
    let turns = turns(bytes, effort);
    let seconds = together(
        effort.repeats(),
        |_| vec![0.5; count],
        |values| (0..turns).for_each(|_| _ = black_box(processor::read(black_box(&*values)))),
    );
    (bytes * turns) as f64 / seconds
}

/// All threads gather from one table.
fn gather<const ROW: usize>(footprint: usize, effort: Effort) -> f64 {
    let rows = footprint / 8 / ROW;
    let table = vec![0.5; rows * ROW];
    // A megabyte of indices at most, so that they do not push the table out of a cache.
    let count = (effort.bytes() / (8 * ROW)).clamp(1, 1 << 17);
    let turns = turns(8 * ROW * count, effort);
    let make = |thread: usize| -> Vec<u32> {
        let mut state = 1 + thread as u64;
        (0..count).map(|_| next(&mut state, rows)).collect()
    };
    let seconds = together(effort.repeats(), make, |places| {
        for turn in 0..turns {
            // Other rows in each turn: what has just been read lies in the cache.
            let shift = (turn * rows / turns) as u32;
            let rows = rows as u32;
            places.iter_mut().for_each(|place| {
                let moved = *place + shift;
                *place = if moved >= rows { moved - rows } else { moved };
            });
            black_box(processor::gather::<ROW>(&table, places));
        }
    });
    (8 * ROW * count * turns * rayon::current_num_threads()) as f64 / seconds
}

/// A linear congruential generator (Knuth's MMIX), scaled to rows.
fn next(state: &mut u64, rows: usize) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((u128::from(*state) * rows as u128) >> 64) as u32
}

fn flops(effort: Effort) -> [f64; 2] {
    let times = effort.bytes() >> 8;
    let threads = rayon::current_num_threads();
    let rate = |operations: usize, seconds: f64| (operations * times * threads) as f64 / seconds;
    let repeats = effort.repeats();
    let double = together(repeats, |_| (), |()| _ = black_box(processor::operate_f64(times, black_box(0.5), 1.0)));
    let single = together(repeats, |_| (), |()| _ = black_box(processor::operate_f32(times, black_box(0.5), 1.0)));
    [rate(OPERATIONS_F64, double), rate(OPERATIONS_F32, single)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_threads() {
        let machine = crate::parallel::with_threads(2, || Machine::measure(Effort::Least)).unwrap();
        assert_eq!((machine.threads(), machine.points().len()), (2, 1));
        let point = machine.points()[0];
        assert!([point.triad, point.read].iter().chain(&point.gather).all(|&rate| rate.is_finite() && rate > 1e5));
        assert!(machine.flops(8) > 1e5 && machine.flops(4) > 1e5);
    }

    #[test]
    fn random_rows_are_inside() {
        let mut state = 1;
        let rows: Vec<u32> = (0..1000).map(|_| next(&mut state, 10)).collect();
        assert!((0..10).all(|row| rows.iter().filter(|&&other| other == row).count() > 50));
    }
}
