//! The coordinates that occur under each parent, one parent after the other, as `compressed`; each is stored as its difference to the
//! one before it under the same parent, so that narrow widths hold large coordinates (delta encoding, as of CSR-DU: Kourtis,
//! Goumas, Koziris, Optimizing sparse matrix-vector multiplication using index and value compression, 2008).
//!
//! ```text
//! delta(u8)
//! parent        0           1     2
//! pos           0           3     3         5
//! deltas        7  255 145        2   1           255: a gap, 255 further without an entry
//! coordinate    7       407       2   3
//! position      0    1   2        3   4
//! ```
//!
//! The first difference of a parent is its coordinate. A difference of the largest number of the type or more has that number
//! before it, once or several times, at positions without an entry: what is stored there is the fill value, and below it there is
//! nothing.

use super::{Level, Parents, Positions, Storage, vacancy};
use crate::format::{
    Children, Code, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told, Vacancies,
};
use crate::ir::Expr;

const PARAMETERS: &[Parameter] = &[Parameter::Width(Role::Coordinates), Parameter::Width(Role::Positions)];

/// What `delta` is.
const DECLARATION: &Declaration = &Declaration {
    name: "delta",
    summary: "the coordinates under each parent, as differences",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "deltas", Length::Positions),
    ],
    children: Children::Bounded,
    told: Told::Coded(Code { gaps, encode, decode }),
    vacancies: Vacancies::Gaps,
    types: &[LevelTypeName { name: "Delta", parameters: PARAMETERS }],
    ..Declaration::NOTHING
};

fn gaps(before: Option<u64>, coordinate: u64, largest: u64) -> u64 {
    (coordinate - before.unwrap_or(0)) / largest
}

fn encode(before: Option<u64>, coordinate: Option<u64>, largest: u64) -> u64 {
    coordinate.map_or(largest, |coordinate| coordinate - before.unwrap_or(0))
}

fn decode(before: Option<u64>, stored: u64, largest: u64) -> (u64, bool) {
    // The arrays of a damaged file say anything: they are checked after they are decoded.
    (before.unwrap_or(0).saturating_add(stored), stored != largest)
}

/// `delta`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Delta;

impl Level for Delta {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        Some(super::children_of(storage.positions?, parents))
    }

    fn reached(&self, storage: &Storage, position: Expr, before: Expr) -> Option<Expr> {
        Some(before.plus(Expr::load(storage.coordinates?, position)))
    }

    fn occupied(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let gap = Expr::Index(vacancy(storage.format.coordinates()));
        Some(Expr::load(storage.coordinates?, position).less(gap))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{IndexType, LevelType};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `delta`: the coordinates under each parent, as differences. `C` and `P` are the types of stored differences and positions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Delta<C = u32, P = u32>(PhantomData<(C, P)>);

    impl<C: IndexType, P: IndexType> LevelType for Delta<C, P> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND).with_coordinates(C::WIDTH).with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is stored for the coordinates of a parent, in bytes.
    fn stored(coordinates: &[u64]) -> Vec<u64> {
        let mut stored = Vec::new();
        let mut before = None;
        for &coordinate in coordinates {
            for _ in 0..gaps(before, coordinate, 255) {
                stored.push(encode(before, None, 255));
                before = Some(decode(before, 255, 255).0);
            }
            stored.push(encode(before, Some(coordinate), 255));
            before = Some(coordinate);
        }
        stored
    }

    fn decoded(stored: &[u64]) -> Vec<u64> {
        let mut before = None;
        let mut decode = |&stored: &u64| {
            let (reached, is_entry) = decode(before, stored, 255);
            before = Some(reached);
            is_entry.then_some(reached)
        };
        stored.iter().filter_map(&mut decode).collect()
    }

    #[test]
    fn differences_beyond_the_width_have_gaps_before_them() {
        for (coordinates, expected) in [
            (&[7, 407][..], &[7, 255, 145][..]),
            (&[0, 1, 2], &[0, 1, 1]),
            (&[254, 509, 1019], &[254, 255, 0, 255, 255, 0]),
            (&[255], &[255, 0]),
            (&[], &[]),
        ] {
            assert_eq!(stored(coordinates), expected);
            assert_eq!(decoded(expected), coordinates);
        }
        assert_eq!(decode(Some(u64::MAX), 3, 255), (u64::MAX, true));
    }
}
