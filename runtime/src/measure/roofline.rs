//! How fast a kernel could be on a machine, by a model of what it computes and moves.

use super::bandwidth::{Machine, Point, ROWS};
use spc_compiler::model::{Direction, Model, Pattern, Traffic};

impl Machine {
    /// The least time for what a model says, in seconds: that of its operations or that of its bytes, whichever is longer
    /// (Williams, Waterman, Patterson, *Roofline: an insightful visual performance model*, 2009). `element` is the bytes of an
    /// element.
    ///
    /// What is streamed comes from as far away as the whole footprint does, what is gathered from as far as its tensor's. So the
    /// bound is higher than that of DRAM alone where operands fit a cache, and lower where gathers are short.
    pub fn least_time(&self, model: &Model, element: usize) -> f64 {
        let whole = model.footprint();
        let memory: f64 = model.traffic.iter().map(|traffic| traffic.bytes / self.bandwidth(traffic, whole)).sum();
        memory.max(model.operations / self.flops(element))
    }

    /// The bytes a second at which something moves in a kernel of that footprint.
    fn bandwidth(&self, traffic: &Traffic, whole: f64) -> f64 {
        match (traffic.pattern, traffic.direction) {
            (Pattern::Gather { row }, _) => self.gather(row, traffic.footprint),
            (Pattern::Stream, Direction::Read) => self.read(whole),
            (Pattern::Stream, Direction::Write) => self.triad(whole),
        }
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
        Traffic { tensor: format!("{footprint}"), direction, pattern, bytes, footprint }
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
    fn the_longer_of_operations_and_bytes_counts() {
        let machine = machine();
        let stream = traffic(80_000.0, Pattern::Stream, Direction::Read, 80_000.0);
        let gathered = traffic(64.0, Pattern::Gather { row: 64.0 }, Direction::Read, 50.0);
        let model = |operations: f64| Model { operations, traffic: vec![stream.clone(), gathered.clone()] };
        let memory = 80_000.0 / 40.0 + 64.0 / 80.0;
        assert!((machine.least_time(&model(1.0), 8) - memory).abs() < 1e-9);
        assert_eq!(machine.least_time(&model(1e9), 8), 1e6);
        assert_eq!(machine.least_time(&model(1e9), 4), 5e5);
    }
}
