//! How fast a kernel could be on a machine, by a model of what it computes and moves.

use super::bandwidth::{Machine, Point, ROWS};
use spc_compiler::model::{Direction, Model, Traffic};

impl Machine {
    /// The least time for what a model says, in seconds, below which no kernel that computes and moves that can be (Williams, Waterman,
    /// Patterson, *Roofline: an insightful visual performance model*, 2009). It is the longest of three: that of the operations; that
    /// of all different bytes, from as far away as the whole footprint lies; that of all bytes that are read, from the nearest cache.
    /// `element` is the bytes of an element.
    ///
    /// A row that is gathered again and again comes from afar once: how many different rows there are is counted
    /// ([`Traffic::reached`]). So the bound is higher than that of DRAM alone where operands fit a cache, and it holds where gathers
    /// meet the same rows.
    pub fn least_time(&self, model: &Model, element: usize) -> f64 {
        let sum = |direction: Direction, of: fn(&Traffic) -> f64| -> f64 {
            model.traffic.iter().filter(|traffic| traffic.direction == direction).map(of).sum()
        };
        // What is updated is read and written, and counts with both.
        let (read, written) = (sum(Direction::Read, |t| t.reached), sum(Direction::Write, |t| t.reached));
        let far = self.streamed(read, written, model.reached());
        let near = sum(Direction::Read, |t| t.bytes) / self.nearest();
        far.max(near).max(model.operations / self.flops(element))
    }

    /// The time for so many bytes, of a kernel with that footprint. As much as there is of two bytes read for one written goes as triad
    /// does, the rest as reading or, where most is written, as triad.
    fn streamed(&self, read: f64, written: f64, whole: f64) -> f64 {
        let with_writes = read.min(2.0 * written);
        (with_writes + written) / self.below(whole, |point| point.triad)
            + (read - with_writes) / self.below(whole, |point| point.read.max(point.triad))
    }

    /// The highest rate at any footprint that is as large as the next smaller one that was measured.
    fn below(&self, footprint: f64, rate: impl Fn(&Point) -> f64) -> f64 {
        let points = self.points();
        let place = points.iter().rposition(|point| point.footprint as f64 <= footprint).unwrap_or(0);
        points[place..].iter().map(rate).fold(0.0, f64::max)
    }

    /// The highest rate at which anything is read.
    fn nearest(&self) -> f64 {
        self.points().iter().map(|point| point.read.max(point.triad).max(point.gather[2])).fold(0.0, f64::max)
    }

    /// The bytes a second of triad at a footprint, interpolated between those that were measured.
    pub fn triad(&self, footprint: f64) -> f64 {
        self.at(footprint, |point| point.triad)
    }

    /// The same of reading in order.
    pub fn read(&self, footprint: f64) -> f64 {
        self.at(footprint, |point| point.read)
    }

    /// The same of reading rows of so many bytes at random places. Rows that are longer than those measured are read in order.
    pub fn gather(&self, row: f64, footprint: f64) -> f64 {
        let rates = [0, 1, 2].map(|place| self.at(footprint, |point| point.gather[place]));
        let rows = ROWS.map(|row| row as f64);
        if row <= rows[0] {
            return rates[0] * row / rows[0];
        }
        if row > rows[2] {
            let read = self.read(footprint);
            return between((rows[2], rates[2]), (64.0 * rows[2], read.max(rates[2])), row);
        }
        let place = usize::from(row > rows[1]);
        between((rows[place], rates[place]), (rows[place + 1], rates[place + 1]), row)
    }

    /// Between two footprints that were measured, the rate goes with the logarithm of the footprint.
    fn at(&self, footprint: f64, rate: impl Fn(&Point) -> f64) -> f64 {
        let points = self.points();
        let above = points.iter().position(|point| point.footprint as f64 >= footprint);
        match above {
            None => rate(&points[points.len() - 1]),
            Some(0) => rate(&points[0]),
            Some(above) => {
                let corner = |point: &Point| (point.footprint as f64, rate(point));
                between(corner(&points[above - 1]), corner(&points[above]), footprint)
            }
        }
    }
}

/// The value at `x`, on a line through two points over the logarithm; beyond them, that of the nearer one.
fn between((x0, y0): (f64, f64), (x1, y1): (f64, f64), x: f64) -> f64 {
    let part = ((x / x0).ln() / (x1 / x0).ln()).clamp(0.0, 1.0);
    y0 + (y1 - y0) * part
}

#[cfg(test)]
mod tests {
    use super::*;
    use spc_compiler::model::Pattern;

    fn machine() -> Machine {
        let point = |footprint, scale: f64| Point {
            footprint,
            triad: 30.0 * scale,
            read: 40.0 * scale,
            gather: [1.0 * scale, 8.0 * scale, 32.0 * scale],
        };
        Machine::of_figures(1, vec![point(100, 10.0), point(10_000, 1.0)], [1000.0, 2000.0])
    }

    fn traffic(bytes: f64, pattern: Pattern, direction: Direction, footprint: f64) -> Traffic {
        let reached = bytes.min(footprint);
        Traffic { tensor: format!("{footprint} {direction:?}"), direction, pattern, bytes, footprint, reached }
    }

    #[test]
    fn rates_lie_between_those_that_were_measured() {
        let machine = machine();
        assert_eq!((machine.triad(1.0), machine.triad(1e9)), (300.0, 30.0));
        assert!((machine.read(1000.0) - 220.0).abs() < 1e-9);
        assert!((machine.gather(64.0, 1e9) - 8.0).abs() < 1e-9 && (machine.gather(4.0, 1e9) - 0.5).abs() < 1e-9);
        assert!((machine.gather(128.0, 1e9) - 20.0).abs() < 1e-9);
        assert!((machine.gather(1e9, 1e9) - 40.0).abs() < 1e-9);
    }

    #[test]
    fn the_longest_of_operations_far_bytes_and_near_bytes_counts() {
        let machine = machine();
        let stream = traffic(80_000.0, Pattern::Stream, Direction::Read, 80_000.0);
        let gathered = |bytes| traffic(bytes, Pattern::Gather { row: 64.0 }, Direction::Read, 50.0);
        let model = |operations: f64, bytes: f64| Model { operations, traffic: vec![stream.clone(), gathered(bytes)] };
        let close = |time: f64, expected: f64| assert!((time - expected).abs() < 1e-9, "{time} is not {expected}");
        close(machine.least_time(&model(1.0, 64.0), 8), (80_000.0 + 50.0) / 40.0);
        // What is gathered again comes from near by.
        close(machine.least_time(&model(1.0, 640.0), 8), (80_000.0 + 50.0) / 40.0);
        close(machine.least_time(&model(1.0, 1e7), 8), (80_000.0 + 1e7) / 400.0);
        assert_eq!(machine.least_time(&model(1e9, 64.0), 8), 1e6);
        assert_eq!(machine.least_time(&model(1e9, 64.0), 4), 5e5);
    }

    #[test]
    fn writes_go_as_triad_and_footprints_as_the_next_smaller_one() {
        let machine = machine();
        let model = |read: f64, written: f64| Model {
            operations: 1.0,
            traffic: vec![
                traffic(read, Pattern::Stream, Direction::Read, read),
                traffic(written, Pattern::Stream, Direction::Write, written),
            ],
        };
        let close = |time: f64, expected: f64| assert!((time - expected).abs() < 1e-9, "{time} is not {expected}");
        close(machine.least_time(&model(20_000.0, 10_000.0), 8), 30_000.0 / 30.0);
        close(machine.least_time(&model(30_000.0, 10_000.0), 8), 30_000.0 / 30.0 + 10_000.0 / 40.0);
        close(machine.least_time(&model(10_000.0, 20_000.0), 8), 30_000.0 / 30.0);
        close(machine.least_time(&model(2000.0, 1000.0), 8), 3000.0 / 300.0);
    }
}
