//! Who needs and who owns what belongs to a coordinate.

use super::placement::cut;
use std::ops::Range;

/// The coordinates of an index that ranks number anew: the ranks that need each, and the one that owns what belongs to it.
#[derive(Debug)]
pub(super) enum Rows {
    /// Where entries are shared out: a rank needs the coordinates of its own.
    Shared(Shared),
    /// Where the range is: a rank needs a part of it, which it owns.
    Ranges(Vec<Range<usize>>),
}

/// Coordinates that several ranks may need. Only those that some rank needs have a place here, as modes may be much longer than there are
/// entries.
#[derive(Debug)]
pub(super) struct Shared {
    extent: usize,
    ranks: usize,
    /// Ascending.
    coordinates: Vec<u64>,
    /// The ranks that need the coordinate of a place, ascending, are those from `begin[place]` on.
    begin: Vec<usize>,
    users: Vec<u32>,
    owners: Vec<u32>,
}

impl Rows {
    /// Of pairs of a coordinate and a rank. The owner is the rank among those that need a coordinate that has least to send so far; of what
    /// no rank needs, each owns a part of the same size.
    pub(super) fn of(extent: usize, mut pairs: Vec<(u64, u32)>, ranks: usize) -> Self {
        // What ranks say of theirs is in order, which this sort makes use of.
        pairs.sort();
        pairs.dedup();
        let (mut coordinates, mut begin, mut owners) = (Vec::new(), vec![0], Vec::new());
        let mut sends = vec![0u64; ranks];
        for group in pairs.chunk_by(|one, other| one.0 == other.0) {
            coordinates.push(group[0].0);
            begin.push(begin.last().copied().unwrap_or(0) + group.len());
            let users = group.iter().map(|(_, rank)| *rank);
            let owner = users.min_by_key(|&rank| (sends[rank as usize], rank)).expect("a group has a pair");
            sends[owner as usize] += group.len() as u64 - 1;
            owners.push(owner);
        }
        let users = pairs.into_iter().map(|(_, rank)| rank).collect();
        Rows::Shared(Shared { extent, ranks, coordinates, begin, users, owners })
    }

    /// The rank that owns what belongs to a coordinate.
    pub(super) fn owner(&self, coordinate: u64) -> u32 {
        match self {
            Rows::Ranges(ranges) => ranges.partition_point(|range| range.end as u64 <= coordinate) as u32,
            Rows::Shared(shared) => match shared.place(coordinate) {
                Some(place) => shared.owners[place],
                None => shared.owner_of_unneeded(coordinate),
            },
        }
    }

    /// The ranks that need a coordinate and do not own it.
    pub(super) fn others(&self, coordinate: u64) -> impl Iterator<Item = u32> + '_ {
        let users = match self {
            Rows::Ranges(_) => &[],
            Rows::Shared(shared) => shared.users_of(coordinate),
        };
        let owner = if users.is_empty() { 0 } else { self.owner(coordinate) };
        users.iter().copied().filter(move |&user| user != owner)
    }

    /// The ranks that need a coordinate.
    pub(super) fn users(&self, coordinate: u64) -> impl Iterator<Item = u32> + '_ {
        let (users, owner) = match self {
            Rows::Ranges(_) => (&[][..], Some(self.owner(coordinate))),
            Rows::Shared(shared) => (shared.users_of(coordinate), None),
        };
        users.iter().copied().chain(owner)
    }

    /// The coordinates that several ranks need, ascending.
    pub(super) fn shared(&self) -> impl Iterator<Item = u64> + '_ {
        let (coordinates, begin): (&[u64], &[usize]) = match self {
            Rows::Ranges(_) => (&[], &[]),
            Rows::Shared(shared) => (&shared.coordinates, &shared.begin),
        };
        let counted = coordinates.iter().zip(begin.windows(2));
        counted.filter(|(_, bounds)| bounds[1] - bounds[0] > 1).map(|(coordinate, _)| *coordinate)
    }

    /// The coordinates that some rank needs, ascending, each with those that do and the one that owns it.
    pub(super) fn groups(&self) -> impl Iterator<Item = (u64, &[u32], u32)> {
        let (coordinates, begin, users, owners): (&[u64], &[usize], &[u32], &[u32]) = match self {
            Rows::Ranges(_) => (&[], &[], &[], &[]),
            Rows::Shared(shared) => (&shared.coordinates, &shared.begin, &shared.users, &shared.owners),
        };
        let groups = coordinates.iter().zip(begin.windows(2)).zip(owners);
        groups.map(|((&coordinate, bounds), &owner)| (coordinate, &users[bounds[0]..bounds[1]], owner))
    }

    pub(super) fn is_needed(&self, coordinate: u64, rank: u32) -> bool {
        match self {
            Rows::Ranges(_) => self.owner(coordinate) == rank,
            Rows::Shared(shared) => shared.users_of(coordinate).binary_search(&rank).is_ok(),
        }
    }

    /// How many coordinates each rank needs.
    pub(super) fn needed_by(&self, ranks: usize) -> Vec<u64> {
        let mut counts = vec![0; ranks];
        match self {
            Rows::Ranges(ranges) => {
                counts.iter_mut().zip(ranges).for_each(|(count, range)| *count = range.len() as u64);
            }
            Rows::Shared(shared) => shared.users.iter().for_each(|&user| counts[user as usize] += 1),
        }
        counts
    }

    /// The coordinates that a rank needs, ascending.
    pub(super) fn needed(&self, rank: usize) -> Vec<u64> {
        match self {
            Rows::Ranges(ranges) => ranges[rank].clone().map(|coordinate| coordinate as u64).collect(),
            Rows::Shared(shared) => {
                let places = shared.coordinates.iter().zip(shared.begin.windows(2));
                let needs = |bounds: &[usize]| shared.users[bounds[0]..bounds[1]].binary_search(&(rank as u32)).is_ok();
                places.filter(|(_, bounds)| needs(bounds)).map(|(coordinate, _)| *coordinate).collect()
            }
        }
    }

    /// The coordinates that a rank owns, ascending.
    pub(super) fn owned(&self, rank: usize) -> Vec<u64> {
        let shared = match self {
            Rows::Ranges(_) => return self.needed(rank),
            Rows::Shared(shared) => shared,
        };
        let own = shared.coordinates.iter().zip(&shared.owners).filter(|(_, owner)| **owner as usize == rank);
        let mut owned: Vec<u64> = own.map(|(coordinate, _)| *coordinate).collect();
        let part = cut(shared.extent, shared.ranks, rank)..cut(shared.extent, shared.ranks, rank + 1) + 1;
        let unneeded = part.map(|coordinate| coordinate as u64).filter(|&coordinate| {
            (coordinate as usize) < shared.extent
                && shared.place(coordinate).is_none()
                && shared.owner_of_unneeded(coordinate) as usize == rank
        });
        owned.extend(unneeded);
        owned.sort_unstable();
        owned
    }
}

impl Shared {
    fn place(&self, coordinate: u64) -> Option<usize> {
        match self.coordinates.len() == self.extent {
            true => Some(coordinate as usize),
            false => self.coordinates.binary_search(&coordinate).ok(),
        }
    }

    fn users_of(&self, coordinate: u64) -> &[u32] {
        self.place(coordinate).map_or(&[], |place| &self.users[self.begin[place]..self.begin[place + 1]])
    }

    fn owner_of_unneeded(&self, coordinate: u64) -> u32 {
        (u128::from(coordinate) * self.ranks as u128 / self.extent as u128) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_coordinate_has_one_owner_that_needs_it_if_any_does() {
        for (extent, ranks) in [(10, 3), (7, 7), (5, 8), (1000, 6)] {
            let pairs = [(1, 0), (1, 2), (3, 1), (1, 2), (4, 0), (4, 1), (4, 2)];
            let rows = Rows::of(extent, pairs.to_vec(), ranks);
            let mut all: Vec<u64> = (0..ranks).flat_map(|rank| rows.owned(rank)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..extent as u64).collect::<Vec<_>>(), "{extent} {ranks}");
            for rank in 0..ranks {
                assert!(rows.owned(rank).iter().all(|&coordinate| rows.owner(coordinate) as usize == rank));
                assert!(rows.owned(rank).is_sorted() && rows.needed(rank).is_sorted());
                assert!(rows.needed(rank).iter().all(|&coordinate| rows.is_needed(coordinate, rank as u32)));
            }
            let needed = (0..ranks).map(|rank| rows.needed(rank).len() as u64);
            assert_eq!(rows.needed_by(ranks), needed.collect::<Vec<_>>());
            assert_eq!(rows.shared().collect::<Vec<_>>(), [1, 4]);
            // Rank 0 has to send 1, so rank 1 owns 4.
            assert_eq!((rows.owner(1), rows.owner(3), rows.owner(4)), (0, 1, 1));
            assert_eq!(rows.others(4).collect::<Vec<_>>(), [0, 2]);
            assert_eq!(rows.others(2).count(), 0);
        }
    }

    #[test]
    fn long_modes_take_no_place() {
        let rows = Rows::of(1 << 60, vec![(1 << 59, 1), (1 << 59, 0), (5, 1)], 2);
        assert_eq!((rows.owner(1 << 59), rows.owner(5), rows.owner((1 << 60) - 1)), (0, 1, 1));
        assert_eq!(rows.needed(0), [1 << 59]);
    }

    #[test]
    fn ranges_are_owned_as_a_whole() {
        let rows = Rows::Ranges(vec![0..2, 2..2, 2..5]);
        assert_eq!((rows.owner(1), rows.owner(2), rows.owner(4)), (0, 2, 2));
        assert_eq!((rows.needed(1), rows.owned(2)), (Vec::new(), vec![2, 3, 4]));
        assert!(rows.is_needed(4, 2) && !rows.is_needed(4, 1));
        assert_eq!(rows.shared().count() + rows.others(3).count(), 0);
    }
}
