//! Rows filled up group by group: those under one parent of the level above have the width of the longest of them (ELL with a width for
//! each slice: Yang 2019).
//!
//! ```text
//! group         0                 1           the position two levels above
//! parent        0        1        2  3
//! pos           0        3        6  7  8     where the places of each parent begin
//! crd           1  4  6  0  ∞  ∞  5  2        ∞: the largest number of the type
//! position      0  1  2  3  4  5  6  7
//! ```
//!
//! Coordinates ascend, and what is filled up comes after them, as in `padded`, whose rows all have one width. A parent without a
//! coordinate has no places. With `grouped(limit = 2)` a group is filled up where that takes at most two places for each entry; the rows
//! of others are as long as they are, as in `compressed`.

use super::{Level, Parents, Positions, Storage, children_of, parent_of, vacancy};
use crate::format::{Children, Count, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told, Vacancies};
use crate::ir::{Expr, Find};

/// Up to how many places an entry are taken to fill a group up.
const LIMIT: Count = Count {
    name: "limit",
    least: 1,
    most: u64::MAX,
    usual: 0,
    meaning: "how many places for each entry a group may take to be filled up",
    beyond: "a limit that is not a whole number above 0",
    label: "not a number of places",
    help: "`grouped(limit = 2)` fills groups up that then have at most two places for each entry; `grouped` alone fills up all",
    foreign: "the rows of a `{}` level are not filled up group by group",
};

const PARAMETERS: &[Parameter] = &[Parameter::Count(&LIMIT), Parameter::Width(Role::Coordinates), Parameter::Width(Role::Positions)];

/// What `grouped` is.
const DECLARATION: &Declaration = &Declaration {
    name: "grouped",
    summary: "rows filled up to the longest under the same parent two levels above",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "crd", Length::Positions),
    ],
    children: Children::Bounded,
    told: Told::Stored,
    vacancies: Vacancies::Filling,
    types: &[LevelTypeName { name: "Grouped", parameters: PARAMETERS }],
    ..Declaration::NOTHING
};

/// `grouped`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Grouped;

impl Level for Grouped {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let places = children_of(storage.positions?, parents);
        let end = Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(places.begin.clone()),
            end: Box::new(places.end),
            value: Box::new(Expr::Index(vacancy(storage.format.coordinates()))),
            stride: 1,
            find: Find::Filling,
        };
        Some(Positions { begin: places.begin, end })
    }

    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(parent_of(storage.positions?, position))
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, position))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{IndexType, LevelType};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `grouped`: rows filled up to the longest under the same parent two levels above; with a `LIMIT` above 0 only where that takes at
    /// most so many places for each entry. `C` is the type of stored coordinates, `P` that of positions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Grouped<const LIMIT: u64 = 0, C = u32, P = u32>(PhantomData<(C, P)>);

    impl<const LIMIT: u64, C: IndexType, P: IndexType> LevelType for Grouped<LIMIT, C, P> {
        const FORMAT: LevelFormat = match LIMIT {
            0 => LevelFormat::new(super::KIND),
            limit => LevelFormat::new(super::KIND).with_count(limit),
        }
        .with_coordinates(C::WIDTH)
        .with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::LevelFormat;

    #[test]
    fn children_end_where_the_filling_begins() {
        let storage = storage(LevelFormat::GROUPED);
        let (positions, coordinates) = (storage.positions.unwrap(), storage.coordinates.unwrap());
        let Positions { begin, end } = Grouped.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(begin, Expr::load(positions, v(0)));
        let Expr::Search { array, begin: from, end: to, stride: 1, find: Find::Filling, .. } = end else {
            panic!("{end:?}");
        };
        assert_eq!((array, *from), (coordinates, begin));
        assert_eq!(*to, Expr::load(positions, v(0).plus(Expr::Index(1))));
        assert_eq!(Grouped.coordinate(&storage, v(3)), Some(Expr::load(coordinates, v(3))));
    }
}
