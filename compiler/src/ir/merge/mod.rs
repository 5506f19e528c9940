//! Lists of ascending coordinates that are walked side by side.
//!
//! ```text
//! merge j of pA in A_pos[i]..A_pos[i + 1] at A_crd[pA], pB in B_pos[i]..B_pos[i + 1] at B_crd[pB] where pA, pB {
//!   C[j] = A[pA] + B[pB]
//! } where pA {
//!   C[j] = A[pA]
//! } where pB {
//!   C[j] = B[pB]
//! }
//! ```
//!
//! Each coordinate that a list has is visited once, in order. There the first point all of whose lists have it is done, or nothing. A
//! merge of one point, which needs all lists, is an intersection.

mod loops;

pub use loops::with_loops;
pub(crate) use loops::{UNEVEN, expand, expanded, is_of_two_runs};

use super::{ArrayId, Expr, Statement, VariableId};

/// A set of lists: bit `n` stands for the `n`th.
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

    /// The sets that are walked together, one loop each, in the order of the loops, to come by the coordinates at which all of one of
    /// the given sets are: when one of a set is exhausted, a later set goes on with the others.
    pub fn loops(points: impl IntoIterator<Item = Operands>) -> Vec<Operands> {
        let mut sets: Vec<Operands> = Vec::new();
        for point in points {
            let mut unions: Vec<Operands> = sets.iter().map(|set| set.union(point)).collect();
            unions.push(point);
            for union in unions {
                if !sets.contains(&union) {
                    sets.push(union);
                }
            }
        }
        sets.sort_by_key(|set| (std::cmp::Reverse(set.count()), *set));
        sets
    }
}

/// Lists of coordinates, and what is done at each.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The lists.
    pub walks: Vec<Walk>,
    /// Stands for the coordinate.
    pub coordinate: VariableId,
    /// The points; those of more lists come first.
    pub points: Vec<Point>,
    /// The last list is the children of a parent of a level: where a target may look for them rather than search.
    pub directory: Option<LookUp>,
}

impl Merge {
    /// The statements at the coordinates that all lists have, where there are none at others.
    pub fn intersection(&self) -> Option<&[Statement]> {
        match &self.points[..] {
            [point] if point.operands == Operands::all(self.walks.len()) => Some(&point.body),
            _ => None,
        }
    }

    /// The number of places that loops visit in lists of these lengths: an intersection searches lists that are much longer than the shortest.
    pub fn visited(&self, lengths: &[u64]) -> u64 {
        let all = lengths.iter().sum();
        let shortest = lengths.iter().copied().min().unwrap_or(0);
        match self.intersection() {
            Some(_) => {
                let searched = |length: u64| 1 + u64::from((length / shortest.max(1)).max(1).ilog2());
                let uneven = |length: &u64| *length > UNEVEN * shortest;
                let count = |&length: &u64| if uneven(&length) { shortest * searched(length) } else { length };
                lengths.iter().map(count).sum()
            }
            None => all,
        }
    }

    /// The variables that it declares.
    pub fn declared(&self) -> impl Iterator<Item = VariableId> {
        self.walks.iter().flat_map(|walk| std::iter::once(walk.place).chain(walk.run)).chain([self.coordinate])
    }
}

/// The places `begin..end` (none where `end` is not greater) of coordinates that ascend.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// Stands for the place of the coordinate: the first, where several have it.
    pub place: VariableId,
    /// One past the last place of the coordinate; `None` where no two have the same.
    pub run: Option<VariableId>,
    /// The first place.
    pub begin: Expr,
    /// One past the last.
    pub end: Expr,
    /// The coordinate at the place.
    pub at: Expr,
}

impl Walk {
    /// The array that has the coordinates, where these are its elements.
    pub fn array(&self) -> Option<ArrayId> {
        match &self.at {
            Expr::Load(array, place) if **place == Expr::Variable(self.place) => Some(*array),
            _ => None,
        }
    }
}

/// Statements at a coordinate that some lists have.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The lists, whose places are known.
    pub operands: Operands,
    /// The statements.
    pub body: Vec<Statement>,
}

/// Where children of a parent are found.
#[derive(Debug, Clone, PartialEq)]
pub struct LookUp {
    /// A directory, made by [`Statement::Directory`].
    pub directory: ArrayId,
    /// The parent.
    pub parent: Expr,
}
