//! One coordinate for each parent position, at the same position.
//!
//! ```text
//! parent        0  1  2  3
//! crd           4  1  1  3
//! position      0  1  2  3
//! ```

use super::{Level, Parents, Positions, Storage};
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told};
use crate::ir::{Expr, Statement};

const PARAMETERS: &[Parameter] = &[Parameter::Nonunique, Parameter::Order { morton: false }, Parameter::Width(Role::Coordinates)];

/// What `singleton` is.
const DECLARATION: &Declaration = &Declaration {
    name: "singleton",
    summary: "one coordinate for each parent position",
    parameters: PARAMETERS,
    arrays: &[LevelArray::new(Role::Coordinates, "crd", Length::Positions)],
    children: Children::One,
    told: Told::Stored,
    types: &[LevelTypeName {
        name: "Singleton",
        parameters: &[Parameter::Nonunique, Parameter::Width(Role::Coordinates), Parameter::Order { morton: false }],
    }],
    ..Declaration::NOTHING
};

/// `singleton`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Singleton;

impl Level for Singleton {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, _: &Storage, parents: &Parents) -> Option<Positions> {
        let begin = parents.begin.clone();
        let end = parents.end.clone().unwrap_or_else(|| begin.clone().plus(Expr::Index(1)));
        Some(Positions { begin, end })
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        storage.stored(position)
    }

    fn parent(&self, _: &Storage, position: Expr) -> Option<Expr> {
        Some(position)
    }

    fn append(&self, storage: &Storage, coordinate: Expr) -> Option<Vec<Statement>> {
        Some(vec![Statement::Push(storage.coordinates?, coordinate)])
    }

    fn close_parent(&self, _: &Storage, _: Expr) -> Option<Vec<Statement>> {
        Some(Vec::new())
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{Flag, IndexType, LevelType, Ordered, Unique, order};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `singleton`: one coordinate for each parent position. `U` is [`Unique`] or [`Nonunique`](super::super::types::Nonunique), `C` the
    /// type of stored coordinates, `O` is [`Ordered`] or [`Unordered`](super::super::types::Unordered).
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Singleton<U = Unique, C = u32, O = Ordered>(PhantomData<(U, C, O)>);

    impl<U: Flag, C: IndexType, O: Flag> LevelType for Singleton<U, C, O> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND)
            .with_unique(U::VALUE)
            .with_order(order::<O>())
            .with_coordinates(C::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, parents, storage, v};
    use super::*;
    use crate::format::LevelFormat;
    use crate::ir::ArrayId;

    #[test]
    fn a_parent_s_position_is_the_position() {
        let storage = storage(LevelFormat::SINGLETON);
        let positions = Singleton.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(positions, Positions { begin: v(0), end: v(0).plus(Expr::Index(1)) });
        assert_eq!(Singleton.coordinate(&storage, v(0)), Some(Expr::load(ArrayId(1), v(0))));
    }

    #[test]
    fn each_of_several_parents_has_one() {
        let positions = Singleton.positions(&storage(LevelFormat::SINGLETON), &parents()).expect("it is walked");
        assert_eq!(positions, Positions { begin: v(0), end: v(1) });
    }

    #[test]
    fn a_coordinate_is_appended_and_nothing_closes_a_parent() {
        let storage = storage(LevelFormat::SINGLETON);
        assert_eq!(Singleton.append(&storage, v(0)), Some(vec![Statement::Push(ArrayId(1), v(0))]));
        assert_eq!(Singleton.close_parent(&storage, v(1)), Some(Vec::new()));
        assert_eq!(Singleton.locate(&storage, v(0), v(1)), None);
    }
}
