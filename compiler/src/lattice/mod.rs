//! Merge lattices: at which coordinates of a loop something happens, and what.
//!
//! In: the body of a loop and the operands whose levels are walked by it. Out: [`Lattice`], whose points are sets of
//! operands: where exactly the operands of a point have an entry, its statement is what is left to do. For
//! `a(i) = b(i) * c(i) + d(i)` over sparse vectors:
//!
//! ```text
//! {b, c, d}   a(i) = b(i) * c(i) + d(i)
//! {b, c}      a(i) = b(i) * c(i)
//! {d}         a(i) = d(i)
//! ```
//!
//! Nothing here knows what an operator means: a point's statement is the body with the absent operands replaced by zero
//! and simplified, so any expression has a lattice. The idea is from Kjolstad, Kamil, Chou, Lugato, Amarasinghe, *The
//! Tensor Algebra Compiler* (2017), section 5; there points come from rules for `*` and `+`.

use crate::concrete::{Access, Statement, absent, simplify};

/// A set of a loop's operands: bit `n` stands for the `n`th.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Operands(pub u64);

impl Operands {
    /// The first `count` operands.
    pub fn all(count: usize) -> Self {
        Operands((1u64 << count) - 1)
    }

    /// Whether every operand of `self` is one of `other`.
    pub fn is_subset(self, other: Operands) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether the operand is in the set.
    pub fn contains(self, operand: usize) -> bool {
        self.0 >> operand & 1 == 1
    }

    /// The number of operands.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// The operands of either.
    pub fn union(self, other: Operands) -> Operands {
        Operands(self.0 | other.0)
    }

    /// The operands, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |&operand| self.contains(operand))
    }
}

/// What happens where certain operands have an entry and the others have not.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The operands that have an entry.
    pub operands: Operands,
    /// What is left to do.
    pub statement: Statement,
}

/// The points of a loop, those with more operands first.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    /// The points.
    pub points: Vec<Point>,
}

impl Lattice {
    /// The lattice of a loop body over operands whose levels are walked.
    ///
    /// # Panics
    /// With more than 20 operands; the caller refuses such loops.
    pub fn new(body: &Statement, operands: &[Access]) -> Self {
        assert!(operands.len() <= 20, "a lattice over {} operands", operands.len());
        let mut sets: Vec<Operands> = (0..1u64 << operands.len()).map(Operands).collect();
        sets.sort_by_key(|set| (set.count(), std::cmp::Reverse(*set)));
        let mut points: Vec<Point> = Vec::new();
        for set in sets {
            let missing = operands.iter().enumerate().filter(|(index, _)| !set.contains(*index));
            let statement = simplify(missing.fold(body.clone(), |statement, (_, access)| absent(&statement, access)));
            if statement != Statement::Empty && !is_covered(&points, set, &statement) {
                points.push(Point { operands: set, statement });
            }
        }
        points.reverse();
        Lattice { points }
    }

    /// The statement where no operand has an entry.
    pub fn everywhere(&self) -> Option<&Statement> {
        self.points.iter().find(|point| point.operands == Operands(0)).map(|point| &point.statement)
    }

    /// The sets of operands that are walked together, one loop each, in the order of the loops: when one of a set is
    /// exhausted, a later set goes on with the others.
    pub fn loops(&self) -> Vec<Operands> {
        let mut sets: Vec<Operands> = Vec::new();
        for point in &self.points {
            let mut unions: Vec<Operands> = sets.iter().map(|set| set.union(point.operands)).collect();
            unions.push(point.operands);
            for union in unions {
                if !sets.contains(&union) {
                    sets.push(union);
                }
            }
        }
        sets.sort_by_key(|set| (std::cmp::Reverse(set.count()), *set));
        sets
    }

    /// The points that may occur while just these operands are walked.
    pub fn within(&self, operands: Operands) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(move |point| point.operands.is_subset(operands))
    }
}

/// Whether one of the smaller points does the same, and no other smaller point would be taken before it.
fn is_covered(smaller: &[Point], set: Operands, statement: &Statement) -> bool {
    let below = || smaller.iter().filter(|point| point.operands.is_subset(set));
    let all = below().fold(Operands(0), |all, point| all.union(point.operands));
    below().any(|point| point.operands == all && point.statement == *statement)
}
