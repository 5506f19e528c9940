//! One interval of coordinates for each parent, all of them stored: the skyline of a matrix.
//!
//! ```text
//! parent        0        1     2
//! pos           0        3     3     5
//! first         1        0     4                coordinate = first[parent] + position − pos[parent]
//! coordinate    1  2  3        4  5
//! position      0  1  2        3  4
//! ```
//!
//! The interval reaches from the least coordinate that has an entry to the largest. A parent without entries has no
//! positions, and 0 for its first.

use super::{Level, Parents, Positions, Storage};
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told};
use crate::ir::Expr;

const PARAMETERS: &[Parameter] = &[Parameter::Width(Role::Coordinates), Parameter::Width(Role::Positions)];

/// What `banded` is.
const DECLARATION: &Declaration = &Declaration {
    name: "banded",
    summary: "one interval of coordinates for each parent",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "first", Length::Parents),
    ],
    children: Children::Bounded,
    told: Told::First,
    fills: true,
    types: &[LevelTypeName {
        name: "Banded",
        parameters: PARAMETERS,
    }],
    ..Declaration::NOTHING
};

/// `banded`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Banded;

impl Level for Banded {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let positions = storage.positions?;
        let end = parents.begin.clone().plus(Expr::Index(1));
        Some(Positions { begin: Expr::load(positions, parents.begin.clone()), end: Expr::load(positions, end) })
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        let first = Expr::load(storage.coordinates?, storage.parent.clone());
        let begin = Expr::load(storage.positions?, storage.parent.clone());
        Some(first.plus(position.minus(begin)))
    }

    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(super::parent_of(storage.positions?, position))
    }

    fn search(&self, storage: &Storage, positions: &Positions, value: Expr) -> Option<Expr> {
        let first = Expr::load(storage.coordinates?, storage.parent.clone());
        Some(super::search_from(first, positions, value))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{IndexType, LevelType};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `banded`: one interval of coordinates for each parent. `C` and `P` are the types of stored coordinates and positions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Banded<C = u32, P = u32>(PhantomData<(C, P)>);

    impl<C: IndexType, P: IndexType> LevelType for Banded<C, P> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND).with_coordinates(C::WIDTH).with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::LevelFormat;
    use crate::ir::ArrayId;

    #[test]
    fn coordinates_follow_from_the_first() {
        let storage = storage(LevelFormat::BANDED);
        let [pos, first] = [ArrayId(0), ArrayId(1)];
        let positions = Banded.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(positions.begin, Expr::load(pos, v(0)));
        let coordinate = Expr::load(first, v(0)).plus(v(2).minus(Expr::load(pos, v(0))));
        assert_eq!(Banded.coordinate(&storage, v(2)), Some(coordinate));
    }

    #[test]
    fn an_interval_fills_the_gaps_between_entries() {
        assert!(KIND.fills && !KIND.has_vacancies());
        assert_eq!(LevelFormat::BANDED.arrays().map(|array| array.name).collect::<Vec<_>>(), ["pos", "first"]);
    }
}
