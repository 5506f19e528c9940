//! The arrays of one level.

use super::IndexArray;
use spc_compiler::format::LevelKind;

/// The arrays of one level. Cloning shares them. What they hold is drawn in the compiler's documentation of each level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LevelStorage {
    /// `dense` has none.
    Dense,
    /// `compressed`: children of parent `p` are at `positions[p]..positions[p + 1]`.
    Compressed {
        /// One more than there are parents.
        positions: IndexArray,
        /// The coordinate at each position.
        coordinates: IndexArray,
    },
    /// `singleton`: the child of parent `p` is at `p`.
    Singleton {
        /// The coordinate at each position.
        coordinates: IndexArray,
    },
    /// `padded`: children of parent `p` are at `p * width..(p + 1) * width`, those that there are first.
    Padded {
        /// One element, the width; `None` where the format says it.
        width: Option<IndexArray>,
        /// The coordinate at each position, the largest number of the type where there is none.
        coordinates: IndexArray,
    },
    /// `bitmap`: coordinate `c` of parent `p` is at `p * extent + c`.
    Bitmap {
        /// For each position 1 where it has an entry, else 0.
        flags: IndexArray,
    },
    /// `hashed`: the table of parent `p` is at `positions[p]..positions[p + 1]`.
    Hashed {
        /// One more than there are parents.
        positions: IndexArray,
        /// The coordinate in each slot, the largest number of the type where it is empty.
        coordinates: IndexArray,
    },
    /// `diagonal` has none: the child of parent `p` is at `p` and has its coordinate.
    Diagonal,
    /// `banded`: children of parent `p` are at `positions[p]..positions[p + 1]`, with coordinates from `first[p]` on.
    Banded {
        /// One more than there are parents.
        positions: IndexArray,
        /// The least coordinate of each parent; 0 where it has none.
        first: IndexArray,
    },
    /// `run`: runs of parent `p` are at `positions[p]..positions[p + 1]`.
    Run {
        /// One more than there are parents.
        positions: IndexArray,
        /// One past the last coordinate of each run; each begins where the one before it ends.
        ends: IndexArray,
    },
    /// `flagged`: children of all parents one after the other.
    Flagged {
        /// For each position 1 where it is the first of its parent, else 0.
        flags: IndexArray,
        /// The coordinate at each position.
        coordinates: IndexArray,
    },
    /// `sliced`: the children of parent `p`, of `rows` side by side, are at `positions[p / rows] + p % rows` and each `rows` behind
    /// it, before `positions[p / rows + 1]`; those that there are first.
    Sliced {
        /// One more than there are slices.
        positions: IndexArray,
        /// The coordinate at each position, the largest number of the type where there is none.
        coordinates: IndexArray,
    },
}

impl LevelStorage {
    /// The storage of a level of a kind, of the arrays that such a level has; `None` where they are others.
    pub fn of_arrays(
        kind: LevelKind,
        positions: Option<IndexArray>,
        coordinates: Option<IndexArray>,
    ) -> Option<LevelStorage> {
        Some(match (kind, positions, coordinates) {
            (LevelKind::Dense, None, None) => LevelStorage::Dense,
            (LevelKind::Diagonal, None, None) => LevelStorage::Diagonal,
            (LevelKind::Singleton, None, Some(coordinates)) => LevelStorage::Singleton { coordinates },
            (LevelKind::Bitmap, None, Some(flags)) => LevelStorage::Bitmap { flags },
            (LevelKind::Padded, width, Some(coordinates)) => LevelStorage::Padded { width, coordinates },
            (LevelKind::Compressed, Some(positions), Some(coordinates)) => {
                LevelStorage::Compressed { positions, coordinates }
            }
            (LevelKind::Hashed, Some(positions), Some(coordinates)) => LevelStorage::Hashed { positions, coordinates },
            (LevelKind::Banded, Some(positions), Some(first)) => LevelStorage::Banded { positions, first },
            (LevelKind::Run, Some(positions), Some(ends)) => LevelStorage::Run { positions, ends },
            (LevelKind::Flagged, Some(flags), Some(coordinates)) => LevelStorage::Flagged { flags, coordinates },
            (LevelKind::Sliced, Some(positions), Some(coordinates)) => LevelStorage::Sliced { positions, coordinates },
            _ => return None,
        })
    }

    /// The kind of level that has these arrays.
    pub fn kind(&self) -> LevelKind {
        match self {
            LevelStorage::Dense => LevelKind::Dense,
            LevelStorage::Compressed { .. } => LevelKind::Compressed,
            LevelStorage::Singleton { .. } => LevelKind::Singleton,
            LevelStorage::Padded { .. } => LevelKind::Padded,
            LevelStorage::Bitmap { .. } => LevelKind::Bitmap,
            LevelStorage::Hashed { .. } => LevelKind::Hashed,
            LevelStorage::Diagonal => LevelKind::Diagonal,
            LevelStorage::Banded { .. } => LevelKind::Banded,
            LevelStorage::Run { .. } => LevelKind::Run,
            LevelStorage::Flagged { .. } => LevelKind::Flagged,
            LevelStorage::Sliced { .. } => LevelKind::Sliced,
        }
    }

    /// The array that says where children are, where the level has one: positions, the width, flags of first children.
    pub fn positions(&self) -> Option<&IndexArray> {
        match self {
            LevelStorage::Compressed { positions, .. }
            | LevelStorage::Hashed { positions, .. }
            | LevelStorage::Banded { positions, .. }
            | LevelStorage::Run { positions, .. }
            | LevelStorage::Sliced { positions, .. }
            | LevelStorage::Flagged { flags: positions, .. } => Some(positions),
            LevelStorage::Padded { width, .. } => width.as_ref(),
            LevelStorage::Dense
            | LevelStorage::Singleton { .. }
            | LevelStorage::Bitmap { .. }
            | LevelStorage::Diagonal => None,
        }
    }

    /// The array that says which coordinates there are, where the level has one: coordinates, flags of those with an entry,
    /// the first of each parent, ends of runs.
    pub fn coordinates(&self) -> Option<&IndexArray> {
        match self {
            LevelStorage::Compressed { coordinates, .. }
            | LevelStorage::Singleton { coordinates }
            | LevelStorage::Padded { coordinates, .. }
            | LevelStorage::Bitmap { flags: coordinates }
            | LevelStorage::Hashed { coordinates, .. }
            | LevelStorage::Banded { first: coordinates, .. }
            | LevelStorage::Run { ends: coordinates, .. }
            | LevelStorage::Sliced { coordinates, .. }
            | LevelStorage::Flagged { coordinates, .. } => Some(coordinates),
            LevelStorage::Dense | LevelStorage::Diagonal => None,
        }
    }

    /// The number of positions under so many parents, by the arrays; `None` where it can't be counted. `extent` is that of the
    /// level's coordinate.
    pub fn position_count(&self, parents: usize, extent: usize) -> Option<usize> {
        match self {
            LevelStorage::Dense => parents.checked_mul(extent),
            LevelStorage::Singleton { .. } | LevelStorage::Diagonal => Some(parents),
            LevelStorage::Banded { positions, .. } => positions.last(),
            LevelStorage::Compressed { coordinates, .. }
            | LevelStorage::Padded { coordinates, .. }
            | LevelStorage::Bitmap { flags: coordinates }
            | LevelStorage::Hashed { coordinates, .. }
            | LevelStorage::Run { ends: coordinates, .. }
            | LevelStorage::Sliced { coordinates, .. }
            | LevelStorage::Flagged { coordinates, .. } => Some(coordinates.len()),
        }
    }

    /// The number of bytes of its arrays.
    pub fn bytes(&self) -> usize {
        self.positions().map_or(0, IndexArray::bytes) + self.coordinates().map_or(0, IndexArray::bytes)
    }
}
