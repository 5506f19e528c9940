//! Random storage formats.

use crate::data::Random;
use std::fmt;

/// A format as text: for each level its mode and its level format.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Storage {
    pub(super) levels: Vec<(usize, String)>,
    /// A format whose levels store computed coordinates, in place of these levels.
    pub(super) map: Option<String>,
    /// What a missing entry is, where that is said.
    pub(super) fill: Option<&'static str>,
}

/// Formats with computed coordinates of matrices, and of any order from 1.
const MATRICES: &[&str] = &[
    "bcsr(2)",
    "bcsr(3)",
    "csb(2)",
    "dia",
    "(m0, m1) -> [m0 + m1: compressed, m1: compressed]",
    "(m0, m1) -> [m1 / 2: compressed, m0: dense, m1 % 2: dense]",
    "(m0, m1) -> [16 * m1 + m0: compressed]",
    "(m0, m1) -> [m1 - m0: dense, m0: dense]",
    "ghicoo(2)",
];
const TENSORS: &[&str] = &["hicoo(2)", "hicoo(4)", "alto", "lco", "mcoo", "bcsf(2)", "tiled(2)", "tiled(3)"];

impl Storage {
    /// All modes dense.
    pub(super) fn dense(order: usize) -> Self {
        Storage { levels: (0..order).map(|mode| (mode, "dense".to_owned())).collect(), map: None, fill: None }
    }

    /// Compressed fibers.
    pub(super) fn csf(order: usize) -> Self {
        Storage { levels: (0..order).map(|mode| (mode, "compressed".to_owned())).collect(), map: None, fill: None }
    }

    pub(super) fn order(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn is_dense(&self) -> bool {
        self.levels.iter().all(|(_, level)| level == "dense")
    }

    /// Any format of an order.
    pub(super) fn random(order: usize, random: &mut Random) -> Self {
        if order > 0 && random.chance(0.15) {
            return Storage::computed(order, random);
        }
        let mut modes: Vec<usize> = (0..order).collect();
        if random.chance(0.35) {
            random.shuffle(&mut modes);
        }
        let kinds = match random.below(8) {
            0 | 1 => vec!["dense".to_owned(); order],
            2 => vec!["compressed".to_owned(); order],
            3 => chain(order),
            4 => {
                let outer = random.below(order + 1);
                let mut kinds = vec!["dense".to_owned(); outer];
                kinds.resize(order, "compressed".to_owned());
                kinds
            }
            _ => mixed(order, random),
        };
        Storage { levels: modes.into_iter().zip(kinds).collect(), map: None, fill: None }
    }

    /// Any format of an order with computed coordinates.
    fn computed(order: usize, random: &mut Random) -> Self {
        let matrix = order == 2 && random.chance(0.5);
        let map = *random.choose(if matrix { MATRICES } else { TENSORS });
        Storage { map: Some(map.to_owned()), ..Storage::csf(order) }
    }
}

/// Levels that hold any entries below any others.
const OTHERS: &[&str] = &[
    "padded",
    "padded(u8)",
    "padded(u16)",
    "bitmap",
    "hashed",
    "hashed(u8, pos = u64)",
    "hashed(u16)",
    "banded",
    "banded(u8)",
    "banded(u16)",
    "run",
    "run(u8)",
    "run(u16)",
    "delta",
    "delta(u8)",
    "sliced",
    "sliced(rows = 2)",
    "sliced(rows = 3, u8)",
    "sliced(rows = 4, u16)",
    "grouped",
    "grouped(limit = 2)",
    "grouped(limit = 1, u8, pos = u64)",
];

/// Whether flags can say where the children of each position of these levels begin.
fn every_parent_has_a_child(kinds: &[String]) -> bool {
    let stores_entries =
        |kind: &String| ["compressed", "singleton", "flagged"].iter().any(|name| kind.starts_with(name));
    !kinds.is_empty() && kinds.iter().all(stores_entries)
}

fn mixed(order: usize, random: &mut Random) -> Vec<String> {
    let mut kinds = Vec::new();
    while kinds.len() < order {
        let left = order - kinds.len();
        match random.below(6) {
            0 | 1 => kinds.push("dense".to_owned()),
            2 => {
                let width = if random.chance(0.2) {
                    *random.choose(&["(u8)", "(u16)", "(u64)", "(pos = u64)", "(unordered)"])
                } else {
                    ""
                };
                kinds.push(format!("compressed{width}"));
            }
            3 => kinds.extend(chain(1 + random.below(left))),
            4 if left > 1 && random.chance(0.3) => {
                let repeating = *random.choose(&["padded(nonunique)", "flagged(nonunique)"]);
                if repeating.starts_with("padded") || every_parent_has_a_child(&kinds) {
                    kinds.push(repeating.to_owned());
                    kinds.extend(singletons(1 + random.below(left - 1)));
                }
            }
            5 if every_parent_has_a_child(&kinds) && random.chance(0.3) => kinds.push("flagged".to_owned()),
            _ => kinds.push((*random.choose(OTHERS)).to_owned()),
        }
    }
    kinds
}

/// Coordinates of several modes side by side.
fn chain(length: usize) -> Vec<String> {
    match length {
        0 => Vec::new(),
        1 => vec!["compressed".to_owned()],
        _ => [vec!["compressed(nonunique)".to_owned()], singletons(length - 1)].concat(),
    }
}

/// What follows a level that repeats coordinates.
fn singletons(length: usize) -> Vec<String> {
    let mut kinds = vec!["singleton(nonunique)".to_owned(); length];
    kinds[length - 1] = "singleton".to_owned();
    kinds
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_levels(f)?;
        self.fill.map_or(Ok(()), |fill| write!(f, " fill {fill}"))
    }
}

impl Storage {
    fn write_levels(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(map) = &self.map {
            return f.write_str(map);
        }
        let modes: Vec<String> = (0..self.order()).map(|mode| format!("m{mode}")).collect();
        let levels: Vec<String> = self.levels.iter().map(|(mode, level)| format!("m{mode}: {level}")).collect();
        write!(f, "({}) -> [{}]", modes.join(", "), levels.join(", "))
    }
}
