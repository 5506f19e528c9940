//! Which rank owns what belongs to coordinates of results, as one of the ranks has to know it.

use super::rows::Rows;
use crate::execute::Chain;
use std::cell::OnceCell;

/// What a rank finds out as results need it, once.
#[derive(Default)]
pub(super) struct Returns {
    /// What makes one result of two.
    pub(super) combination: OnceCell<Chain>,
    /// For each renumbered index.
    pub(super) of_rows: Vec<OnceCell<OfRows>>,
    pub(super) owners: Vec<OnceCell<Owners>>,
}

/// Where rows of dense results go.
pub(super) struct OfRows {
    /// The coordinates that this rank owns, ascending: the place of one is its row.
    pub(super) owned: Vec<u64>,
    /// For each rank, the numbers here of the rows that it owns.
    pub(super) to: Vec<Vec<usize>>,
    /// For each rank, which of the owned rows it has a part of: of this rank in the order of its numbers.
    pub(super) from: Vec<Vec<usize>>,
}

/// Who owns what belongs to the coordinates that a rank needs.
pub(super) struct Owners {
    /// By their numbers here.
    pub(super) of_each: Vec<Owner>,
    /// Whether they are this rank's, and no other needs them.
    pub(super) are_all_own: bool,
}

pub(super) struct Owner {
    pub(super) rank: u32,
    /// Whether other ranks need the coordinate, too.
    pub(super) is_shared: bool,
}

impl Returns {
    /// Of so many renumbered indices.
    pub(super) fn new(indices: usize) -> Self {
        let mut returns = Self::default();
        returns.of_rows.resize_with(indices, OnceCell::new);
        returns.owners.resize_with(indices, OnceCell::new);
        returns
    }
}

impl OfRows {
    pub(super) fn of(rows: &Rows, needed: &[u64], rank: usize, ranks: usize) -> Self {
        let (mut to, mut from) = (vec![Vec::new(); ranks], vec![Vec::new(); ranks]);
        for (number, &coordinate) in needed.iter().enumerate() {
            to[rows.owner(coordinate) as usize].push(number);
        }
        let owned = rows.owned(rank);
        for (place, &coordinate) in owned.iter().enumerate() {
            rows.users(coordinate).for_each(|user| from[user as usize].push(place));
        }
        Self { owned, to, from }
    }

    /// Whether a rank owns what it has, all of it and nothing else.
    pub(super) fn are_alone(&self, rank: usize) -> bool {
        let are_none =
            |lists: &[Vec<usize>]| lists.iter().enumerate().all(|(other, list)| other == rank || list.is_empty());
        are_none(&self.to) && are_none(&self.from) && self.owned.len() == self.from[rank].len()
    }
}

impl Owners {
    pub(super) fn of(rows: &Rows, needed: &[u64], rank: usize) -> Self {
        let owner = |&coordinate: &u64| Owner {
            rank: rows.owner(coordinate),
            is_shared: rows.users(coordinate).nth(1).is_some(),
        };
        let of_each: Vec<Owner> = needed.iter().map(owner).collect();
        let are_all_own = of_each.iter().all(|owner| owner.rank as usize == rank && !owner.is_shared);
        Self { of_each, are_all_own }
    }
}
