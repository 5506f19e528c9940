//! Rows of one width: as many places for each parent as the parent with the most children needs.
//!
//! ```text
//! width         3
//! parent        0        1        2
//! crd           1  4  ∞  ∞  ∞  ∞  0  2  3       ∞: the largest number of the type
//! position      0  1  2  3  4  5  6  7  8       position of a parent's first: parent · width
//! ```
//!
//! Coordinates ascend, and what is filled up comes after them: the end of a parent's children is found by a search for the
//! filling. The width is an array of one element, or a part of the format: `padded(width = 2)`, which the loops then know.

use super::{Level, Parents, Positions, Storage, vacancy};
use crate::format::{Children, Count, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told, Vacancies};
use crate::ir::{BinaryOperator, Expr, Find};

/// How many places each parent has, where the format says it.
const WIDTH: Count = Count {
    name: "width",
    least: 1,
    most: u64::MAX,
    usual: 0,
    meaning: "the length of rows",
    beyond: "a row's width that is not a whole number above 0",
    label: "not a number of entries",
    help: "`padded(width = 2)` has two places in each row; `padded` alone has as many as the data need",
    foreign: "the rows of a `{}` level have no width",
};

const PARAMETERS: &[Parameter] = &[
    Parameter::Count(&WIDTH),
    Parameter::Nonunique,
    Parameter::Width(Role::Coordinates),
    Parameter::Width(Role::Positions),
];

/// What `padded` is.
const DECLARATION: &Declaration = &Declaration {
    name: "padded",
    summary: "rows of one width, the rest filled up",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "width", Length::One),
        LevelArray::new(Role::Coordinates, "crd", Length::Positions),
    ],
    children: Children::Width,
    told: Told::Stored,
    vacancies: Vacancies::Filling,
    types: &[
        LevelTypeName {
            name: "Padded",
            parameters: &[
                Parameter::Nonunique,
                Parameter::Width(Role::Coordinates),
                Parameter::Width(Role::Positions),
            ],
        },
        LevelTypeName {
            name: "PaddedTo",
            parameters: &[Parameter::Count(&WIDTH), Parameter::Nonunique, Parameter::Width(Role::Coordinates)],
        },
    ],
    ..Declaration::NOTHING
};

/// `padded`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Padded;

/// How many places each parent has.
fn width(storage: &Storage) -> Option<Expr> {
    match storage.format.count() {
        Some(width) => Some(Expr::Index(width)),
        None => Some(Expr::load(storage.positions?, Expr::Index(0))),
    }
}

impl Level for Padded {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let width = width(storage)?;
        let begin = parents.begin.clone().times(width.clone());
        let end = Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(begin.clone()),
            end: Box::new(begin.clone().plus(width)),
            value: Box::new(Expr::Index(vacancy(storage.format.coordinates()))),
            stride: 1,
            find: Find::Filling,
        };
        Some(Positions { begin, end })
    }

    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::binary(BinaryOperator::Divide, position, width(storage)?))
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, position))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{Flag, IndexType, LevelType, Unique};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `padded`: rows of one width, that of the longest, the rest filled up. `U` is [`Unique`] or
    /// [`Nonunique`](super::super::types::Nonunique), `C` the type of stored coordinates, `P` that of the width.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Padded<U = Unique, C = u32, P = u32>(PhantomData<(U, C, P)>);

    impl<U: Flag, C: IndexType, P: IndexType> LevelType for Padded<U, C, P> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND)
            .with_unique(U::VALUE)
            .with_coordinates(C::WIDTH)
            .with_positions(P::WIDTH);
    }

    /// `padded(width = W)`: rows of `W` places, the rest filled up. `U` is [`Unique`] or
    /// [`Nonunique`](super::super::types::Nonunique), `C` the type of stored coordinates.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PaddedTo<const W: u64, U = Unique, C = u32>(PhantomData<(U, C)>);

    impl<const W: u64, U: Flag, C: IndexType> LevelType for PaddedTo<W, U, C> {
        const FORMAT: LevelFormat =
            LevelFormat::new(super::KIND).with_unique(U::VALUE).with_coordinates(C::WIDTH).with_count(W);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::{IndexWidth, LevelFormat};
    use crate::ir::ArrayId;

    #[test]
    fn children_end_where_the_filling_begins() {
        let format = LevelFormat::PADDED.with_coordinates(IndexWidth::U8).with_count(2);
        let positions = Padded.positions(&storage(format), &one_parent()).expect("it is walked");
        let begin = v(0).times(Expr::Index(2));
        assert_eq!(positions.begin, begin);
        let Expr::Search { array, begin: from, end, value, stride: 1, find: Find::Filling } = positions.end else {
            panic!("{:?}", positions.end)
        };
        assert_eq!((array, *from, *value), (ArrayId(1), begin.clone(), Expr::Index(255)));
        assert_eq!(*end, begin.plus(Expr::Index(2)));
    }

    #[test]
    fn a_width_that_the_format_does_not_say_is_loaded() {
        let positions = Padded.positions(&storage(LevelFormat::PADDED), &one_parent()).expect("it is walked");
        assert_eq!(positions.begin, v(0).times(Expr::load(ArrayId(0), Expr::Index(0))));
        assert!(LevelFormat::PADDED.with_count(2).array(Role::Positions).is_none());
    }
}
