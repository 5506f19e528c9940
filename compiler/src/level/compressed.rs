//! The coordinates that occur under each parent, one parent after the other.
//!
//! ```text
//! parent        0        1     2
//! pos           0        2     2        5
//! crd           1  4           0  2  3
//! position      0  1           2  3  4
//! ```
//!
//! `(nonunique)`: a coordinate may occur several times in a row under one parent, as the first level of COO does.

use super::{Level, Parents, Positions, Storage};
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told};
use crate::ir::{Expr, Statement};

const PARAMETERS: &[Parameter] = &[
    Parameter::Nonunique,
    Parameter::Order { morton: true },
    Parameter::Width(Role::Coordinates),
    Parameter::Width(Role::Positions),
];

/// What `compressed` is.
const DECLARATION: &Declaration = &Declaration {
    name: "compressed",
    summary: "the coordinates that occur under each parent",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "crd", Length::Positions),
    ],
    children: Children::Bounded,
    told: Told::Stored,
    types: &[LevelTypeName {
        name: "Compressed",
        parameters: &[
            Parameter::Nonunique,
            Parameter::Width(Role::Coordinates),
            Parameter::Width(Role::Positions),
            Parameter::Order { morton: true },
        ],
    }],
    ..Declaration::NOTHING
};

/// `compressed`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Compressed;

impl Level for Compressed {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        Some(super::children_of(storage.positions?, parents))
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        storage.stored(position)
    }

    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(super::parent_of(storage.positions?, position))
    }

    fn append(&self, storage: &Storage, coordinate: Expr) -> Option<Vec<Statement>> {
        Some(vec![Statement::Push(storage.coordinates?, coordinate)])
    }

    fn close_parent(&self, storage: &Storage, children: Expr) -> Option<Vec<Statement>> {
        Some(vec![Statement::Push(storage.positions?, children)])
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{Flag, IndexType, LevelType, Ordered, Unique, order};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `compressed`: the coordinates that occur under each parent. `U` is [`Unique`] or [`Nonunique`](super::super::types::Nonunique),
    /// `C` and `P` are the types of stored coordinates and positions, `O` is [`Ordered`] or
    /// [`Unordered`](super::super::types::Unordered).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Compressed<U = Unique, C = u32, P = u32, O = Ordered>(PhantomData<(U, C, P, O)>);

    impl<U: Flag, C: IndexType, P: IndexType, O: Flag> LevelType for Compressed<U, C, P, O> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND)
            .with_unique(U::VALUE)
            .with_order(order::<O>())
            .with_coordinates(C::WIDTH)
            .with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, parents, storage, v};
    use super::*;
    use crate::format::LevelFormat;
    use crate::ir::ArrayId;

    #[test]
    fn the_positions_under_a_parent_lie_between_two_stored_ones() {
        let storage = storage(LevelFormat::COMPRESSED);
        let [pos, crd] = [ArrayId(0), ArrayId(1)];
        let positions = Compressed.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(
            positions,
            Positions { begin: Expr::load(pos, v(0)), end: Expr::load(pos, v(0).plus(Expr::Index(1))) }
        );
        assert_eq!(Compressed.coordinate(&storage, v(2)), Some(Expr::load(crd, v(2))));
    }

    #[test]
    fn parents_that_share_their_coordinates_have_their_children_in_one_range() {
        let positions = Compressed.positions(&storage(LevelFormat::COMPRESSED), &parents()).expect("it is walked");
        assert_eq!(positions, Positions { begin: Expr::load(ArrayId(0), v(0)), end: Expr::load(ArrayId(0), v(1)) });
    }

    #[test]
    fn a_parent_is_the_last_whose_children_begin_no_later() {
        let Some(Expr::Binary(_, next, one)) = Compressed.parent(&storage(LevelFormat::COMPRESSED), v(0)) else {
            panic!("it is found");
        };
        let Expr::Search { array, begin, end, value, stride: 1, .. } = *next else { panic!("{next:?}") };
        assert_eq!((array, *begin, *end), (ArrayId(0), Expr::Index(0), Expr::Length(ArrayId(0))));
        assert_eq!((*value, *one), (v(0).plus(Expr::Index(1)), Expr::Index(1)));
    }

    #[test]
    fn a_coordinate_is_appended_and_a_parent_closed_by_the_count() {
        let storage = storage(LevelFormat::COMPRESSED);
        assert_eq!(Compressed.append(&storage, v(0)), Some(vec![Statement::Push(ArrayId(1), v(0))]));
        assert_eq!(Compressed.close_parent(&storage, v(1)), Some(vec![Statement::Push(ArrayId(0), v(1))]));
    }

    #[test]
    fn no_coordinate_is_found_without_a_search() {
        assert_eq!(Compressed.locate(&storage(LevelFormat::COMPRESSED), v(0), v(1)), None);
    }
}
