//! Which partial products the MTTKRPs of an iteration share.
//!
//! ```text
//!      X(i, j, k, l)                        a node is a product of X with the factors of some modes: a row of rank numbers
//!     ╱             ╲                       for each tuple of coordinates of the modes that it keeps
//!  T(i, j, r)     T(k, l, r)
//!  ╱     ╲        ╱     ╲                   a leaf is the MTTKRP of a mode
//! A(i, r) B(j, r) C(k, r) D(l, r)
//! ```
//!
//! Such trees are the dimension trees of Kaya and Uçar (Parallel Candecomp/Parafac decomposition of sparse tensors using dimension trees, 2018).
//! Modes are updated in order, and a node is stale as soon as a factor changes that it was made of. So nodes keep modes that follow one
//! another, the first one after the last one: no factor of such a node changes while its modes are updated, and the method is the same as
//! without nodes.
//!
//! Which nodes there are is decided by an estimate of time from the number of distinct tuples of coordinates of each set of modes: every
//! tuple reads a row of a factor or of a node, and every row of a node is written once and read once for each mode below it.

use std::collections::HashMap;

/// A set of modes, a bit each.
pub(super) type Modes = u32;

/// A part of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// The MTTKRP of a mode.
    Leaf(usize),
    /// A product that keeps these modes, and what is made from it.
    Node(Vec<usize>, Vec<Part>),
}

/// A tree, with estimates of an iteration.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    /// What is made from the tensor itself.
    pub parts: Vec<Part>,
    /// Nanoseconds.
    pub time: f64,
    /// Bytes of copies of the tensor and of nodes.
    pub memory: f64,
}

/// What estimates are made from.
pub(super) struct Planner<'a> {
    extents: &'a [usize],
    /// The bytes of a row of a factor.
    row: f64,
    /// The bytes of a value.
    value: f64,
    count: Box<dyn Fn(Modes) -> f64 + 'a>,
    counted: HashMap<Modes, f64>,
}

/// The bytes of an index, and of a position.
const INDEX: f64 = 4.0;

/// Nanoseconds for a level of a loop that leads to others.
const LOOP: f64 = 0.6;

/// Nanoseconds to read a row at random and add a multiple of it, of 128 bytes, where all rows take so many bytes.
fn read(rows: f64, row: f64) -> f64 {
    let all = rows * row;
    let cost = if all <= 1e6 {
        0.7
    } else if all <= 16e6 {
        1.1
    } else {
        3.0
    };
    cost * (row / 128.0).max(0.25)
}

/// Nanoseconds to write a row.
fn write(rows: f64, row: f64) -> f64 {
    let cost = if rows * row <= 16e6 { 1.0 } else { 3.0 };
    cost * (row / 128.0).max(0.25)
}

impl<'a> Planner<'a> {
    /// `count` gives the number of distinct tuples of coordinates of a set of modes.
    pub(super) fn new(extents: &'a [usize], rank: usize, value: usize, count: impl Fn(Modes) -> f64 + 'a) -> Self {
        let (row, value) = ((rank * value) as f64, value as f64);
        Self { extents, row, value, count: Box::new(count), counted: HashMap::new() }
    }

    /// The number of distinct tuples of coordinates of a set of modes.
    fn distinct(&mut self, modes: Modes) -> f64 {
        if modes == 0 {
            return 1.0;
        }
        let count = &self.count;
        *self.counted.entry(modes).or_insert_with(|| count(modes))
    }

    fn all(&self) -> Modes {
        (1 << self.extents.len()) - 1
    }

    /// The order in which levels store modes behind those of `first`: each next one such that there are as few tuples as possible.
    pub(super) fn order(&mut self, first: Modes, rest: Modes) -> Vec<usize> {
        let (mut prefix, mut left, mut order) = (first, rest, Vec::new());
        while left != 0 {
            let candidates: Vec<usize> = members(left).collect();
            let mut best = candidates[0];
            if candidates.len() > 1 {
                let tuples: Vec<f64> = candidates.iter().map(|mode| self.distinct(prefix | 1 << mode)).collect();
                let key = |place: usize| (tuples[place], self.extents[candidates[place]] as f64);
                let place = (0..candidates.len()).min_by(|&a, &b| key(a).partial_cmp(&key(b)).expect("numbers"));
                best = candidates[place.unwrap_or(0)];
            }
            order.push(best);
            prefix |= 1 << best;
            left &= !(1 << best);
        }
        order
    }

    /// The time and the memory of one product: from the tensor or a node that keeps `from`, what keeps `kept`.
    fn product(&mut self, from: Modes, kept: Modes) -> (f64, f64) {
        let rows = self.distinct(kept);
        let (mut time, mut memory) = (rows * (write(rows, self.row) + LOOP), rows * INDEX);
        let (mut prefix, entries) = (kept, self.distinct(from));
        let order = self.order(kept, from & !kept);
        let is_whole = from == self.all();
        for (place, &mode) in order.iter().enumerate() {
            prefix |= 1 << mode;
            let tuples = self.distinct(prefix);
            let is_last = place + 1 == order.len() && is_whole;
            time += tuples * (read(self.extents[mode] as f64, self.row) + if is_last { 0.0 } else { LOOP });
            memory += tuples * INDEX * if is_last { 1.0 } else { 2.0 };
        }
        if !is_whole {
            time += entries * read(entries, self.row);
            memory += entries * INDEX;
        }
        (time, memory + entries * self.value)
    }

    /// Each mode from the tensor itself.
    pub(super) fn separate(&mut self) -> Tree {
        let all = self.all();
        let (mut time, mut memory) = (0.0, 0.0);
        for mode in 0..self.extents.len() {
            let product = self.product(all, 1 << mode);
            time += product.0;
            memory += product.1;
        }
        Tree { parts: (0..self.extents.len()).map(Part::Leaf).collect(), time, memory }
    }

    /// The tree with the least time.
    pub(super) fn best(&mut self) -> Tree {
        let order = self.extents.len();
        let mut best = self.separate();
        for first in 0..order {
            let modes: Vec<usize> = (0..order).map(|place| (first + place) % order).collect();
            let tree = self.cover(self.all(), &modes);
            if tree.time < best.time {
                best = tree;
            }
        }
        best
    }

    /// The best parts for these modes, made from the tensor or a node that keeps `from`.
    fn cover(&mut self, from: Modes, modes: &[usize]) -> Tree {
        let nothing = || Tree { parts: Vec::new(), time: 0.0, memory: 0.0 };
        let mut best: Vec<Tree> = vec![nothing()];
        // From the last mode: `best[n]` is for the last n.
        for begin in (0..modes.len()).rev() {
            let mut found: Option<Tree> = None;
            for end in begin + 1..=modes.len() {
                let (kept, behind) = (&modes[begin..end], &best[modes.len() - end]);
                let set: Modes = kept.iter().map(|mode| 1 << mode).sum();
                if set == from {
                    continue;
                }
                let (time, memory) = self.product(from, set);
                let (part, time, memory) = match kept {
                    [mode] => (Part::Leaf(*mode), time, memory),
                    _ => {
                        let below = self.cover(set, kept);
                        let rows = self.distinct(set) * self.row;
                        (Part::Node(kept.to_vec(), below.parts), time + below.time, memory + below.memory + rows)
                    }
                };
                let time = time + behind.time;
                if found.as_ref().is_none_or(|found| time < found.time) {
                    let parts = [part].into_iter().chain(behind.parts.iter().cloned()).collect();
                    found = Some(Tree { parts, time, memory: memory + behind.memory });
                }
            }
            best.extend(found);
        }
        best.pop().unwrap_or_else(nothing)
    }
}

/// The modes of a set, in order.
pub(super) fn members(modes: Modes) -> impl Iterator<Item = usize> {
    (0..Modes::BITS as usize).filter(move |mode| modes >> mode & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries at random: tuples collide as they do in bins.
    fn uniform(extents: &[usize], entries: f64) -> impl Fn(Modes) -> f64 {
        let extents = extents.to_vec();
        move |modes| {
            let places: f64 = members(modes).map(|mode| extents[mode] as f64).product();
            places * -(-entries / places).exp_m1()
        }
    }

    #[test]
    fn nothing_is_shared_where_tuples_are_as_many_as_entries() {
        let extents = [100_000, 100_000, 100_000];
        let tree = Planner::new(&extents, 16, 8, uniform(&extents, 1e6)).best();
        assert_eq!(tree.parts, [Part::Leaf(0), Part::Leaf(1), Part::Leaf(2)]);
    }

    #[test]
    fn modes_with_few_tuples_share_a_node() {
        let extents = [100_000, 60, 60];
        let tree = Planner::new(&extents, 16, 8, uniform(&extents, 1e6)).best();
        let leaves = vec![Part::Leaf(1), Part::Leaf(2)];
        assert!(tree.parts.contains(&Part::Node(vec![1, 2], leaves)), "{tree:?}");
        // The first mode follows the last one.
        let extents = [60, 100_000, 60];
        let tree = Planner::new(&extents, 16, 8, uniform(&extents, 1e6)).best();
        assert!(tree.parts.iter().any(|part| matches!(part, Part::Node(kept, _) if *kept == [2, 0])), "{tree:?}");
    }

    #[test]
    fn every_mode_is_a_leaf_once() {
        fn leaves(parts: &[Part], found: &mut Vec<usize>) {
            for part in parts {
                match part {
                    Part::Leaf(mode) => found.push(*mode),
                    Part::Node(_, parts) => leaves(parts, found),
                }
            }
        }
        for order in 2..=8 {
            let extents = vec![12; order];
            let tree = Planner::new(&extents, 16, 8, uniform(&extents, 2e6)).best();
            let mut found = Vec::new();
            leaves(&tree.parts, &mut found);
            found.sort_unstable();
            assert_eq!(found, (0..order).collect::<Vec<_>>());
        }
    }

    #[test]
    fn levels_are_in_the_order_that_has_the_fewest_tuples() {
        let extents = [50, 1000, 7];
        let mut planner = Planner::new(&extents, 16, 8, uniform(&extents, 1e5));
        assert_eq!(planner.order(0b001, 0b110), [2, 1]);
    }
}
