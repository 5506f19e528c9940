//! Rows side by side: slices of so many parents, each slice as wide as the parent in it with the most children needs (SELL-C:
//! Kreutzer, Hager, Wellein, Fehske, Bishop, A unified sparse matrix data format for efficient general sparse matrix-vector
//! multiplication on modern processors with wide SIMD units, 2014).
//!
//! ```text
//! sliced(rows = 2)
//! pos           0                 6     8           where each slice begins
//! parent        0  1  0  1  0  1  2  3
//! crd           1  0  4  ∞  6  ∞  2  3              ∞: the largest number of the type
//! position      0  1  2  3  4  5  6  7              place n of parent p: pos[p / rows] + p % rows + n · rows
//! ```
//!
//! Coordinates of a parent ascend, and what is filled up comes after them, as in `padded`. The n-th children of a slice's parents
//! lie side by side: they are one vector, and neighbours for a GPU's threads. The last slice is filled up to whole rows.

use super::{Level, Parents, Positions, Storage, vacancy};
use crate::format::{Children, Count, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told, Vacancies};
use crate::ir::{BinaryOperator, Expr, Find};

/// How many parents are side by side.
const ROWS: Count = Count {
    name: "rows",
    least: 1,
    most: 1024,
    usual: 8,
    meaning: "how many lie side by side",
    beyond: "rows that are not a number from 1 to 1024",
    label: "not a number of rows",
    help: "`sliced(rows = 8)` has eight rows side by side, which `sliced` alone has too",
    foreign: "the rows of a `{}` level don't lie side by side",
};

const PARAMETERS: &[Parameter] = &[Parameter::Count(&ROWS), Parameter::Width(Role::Coordinates), Parameter::Width(Role::Positions)];

/// What `sliced` is.
const DECLARATION: &Declaration = &Declaration {
    name: "sliced",
    summary: "slices of rows side by side, each of one width, the rest filled up",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "crd", Length::Positions),
    ],
    children: Children::Slices,
    told: Told::Stored,
    vacancies: Vacancies::Filling,
    types: &[LevelTypeName {
        name: "Sliced",
        parameters: PARAMETERS,
    }],
    ..Declaration::NOTHING
};

/// `sliced`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Sliced;

fn rows(storage: &Storage) -> u64 {
    storage.format.count().unwrap_or(1)
}

/// Where the slice of a parent begins, and where the next does.
fn slice(storage: &Storage, parent: &Expr) -> Option<(Expr, Expr)> {
    let slice = divided(parent.clone(), rows(storage));
    let begin = |slice| Some(Expr::load(storage.positions?, slice));
    Some((begin(slice.clone())?, begin(slice.plus(Expr::Index(1)))?))
}

/// The position of a parent's first child, if it has one.
fn first(storage: &Storage, parent: &Expr) -> Option<Expr> {
    let row = match (parent, rows(storage)) {
        (_, 1) | (Expr::Index(0), _) => Expr::Index(0),
        (parent, rows) => Expr::binary(BinaryOperator::Remainder, parent.clone(), Expr::Index(rows)),
    };
    Some(slice(storage, parent)?.0.plus(row))
}

fn divided(number: Expr, by: u64) -> Expr {
    match (number, by) {
        (number, 1) => number,
        (Expr::Index(number), by) => Expr::Index(number / by),
        (number, by) => Expr::binary(BinaryOperator::Divide, number, Expr::Index(by)),
    }
}

impl Level for Sliced {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let (begin, end) = slice(storage, &parents.begin)?;
        let first = first(storage, &parents.begin)?;
        let filled = Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(first.clone()),
            end: Box::new(first.clone().plus(end.minus(begin))),
            value: Box::new(Expr::Index(vacancy(storage.format.coordinates()))),
            stride: rows(storage),
            find: Find::Filling,
        };
        Some(Positions { begin: Expr::Index(0), end: divided(filled.minus(first), rows(storage)) })
    }

    fn position(&self, storage: &Storage, place: Expr) -> Option<Expr> {
        Some(first(storage, &storage.parent)?.plus(place.times(Expr::Index(rows(storage)))))
    }

    fn first_position(&self, storage: &Storage, parents: &Parents) -> Option<Expr> {
        Some(slice(storage, &parents.begin)?.0)
    }

    fn coordinate(&self, storage: &Storage, place: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, self.position(storage, place)?))
    }

    fn search(&self, storage: &Storage, places: &Positions, value: Expr) -> Option<Expr> {
        let position = |place: &Expr| self.position(storage, place.clone());
        let found = Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(position(&places.begin)?),
            end: Box::new(position(&places.end)?),
            value: Box::new(value),
            stride: rows(storage),
            find: Find::Element,
        };
        Some(divided(found.minus(position(&Expr::Index(0))?), rows(storage)))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{IndexType, LevelType};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `sliced(rows = R)`: slices of `R` rows side by side, each filled up to the width of its longest. `C` and `P` are the types of
    /// stored coordinates and positions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Sliced<const R: u64 = 8, C = u32, P = u32>(PhantomData<(C, P)>);

    impl<const R: u64, C: IndexType, P: IndexType> LevelType for Sliced<R, C, P> {
        const FORMAT: LevelFormat =
            LevelFormat::new(super::KIND).with_count(R).with_coordinates(C::WIDTH).with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::LevelFormat;
    use crate::ir::ArrayId;

    #[test]
    fn children_are_a_slice_apart() {
        let storage = storage(LevelFormat::SLICED.with_count(4));
        let [pos, crd] = [ArrayId(0), ArrayId(1)];
        let by = |operator| Expr::binary(operator, v(0), Expr::Index(4));
        let first = Expr::load(pos, by(BinaryOperator::Divide)).plus(by(BinaryOperator::Remainder));
        let position = first.plus(v(2).times(Expr::Index(4)));
        assert_eq!(Sliced.position(&storage, v(2)), Some(position.clone()));
        assert_eq!(Sliced.coordinate(&storage, v(2)), Some(Expr::load(crd, position)));
        let places = Sliced.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(places.begin, Expr::Index(0));
    }

    #[test]
    fn slices_of_one_row_have_no_remainder() {
        let storage = storage(LevelFormat::SLICED.with_count(1));
        assert_eq!(Sliced.position(&storage, v(2)), Some(Expr::load(ArrayId(0), v(0)).plus(v(2))));
    }
}
