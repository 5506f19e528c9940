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

use super::{Arrays, Level, Parents, Positions, Property, Storage, vacancy};
use crate::format::LevelFormat;
use crate::ir::{BinaryOperator, Expr};

pub(super) struct Sliced;

/// Where the slice of a parent begins, and where the next does.
fn slice(storage: &Storage, parent: &Expr) -> Option<(Expr, Expr)> {
    let slice = divided(parent.clone(), storage.format.rows);
    let begin = |slice| Some(Expr::load(storage.positions?, slice));
    Some((begin(slice.clone())?, begin(slice.plus(Expr::Index(1)))?))
}

/// The position of a parent's first child, if it has one.
fn first(storage: &Storage, parent: &Expr) -> Option<Expr> {
    let row = match (parent, storage.format.rows) {
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
    fn name(&self) -> &'static str {
        "sliced"
    }

    fn summary(&self) -> &'static str {
        "slices of rows side by side, each of one width, the rest filled up"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::PositionsAndCoordinates
    }

    fn properties(&self) -> &'static [Property] {
        &[Property::Coordinates, Property::Positions, Property::Rows]
    }

    fn has_vacancies(&self) -> bool {
        true
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let (begin, end) = slice(storage, &parents.begin)?;
        let first = first(storage, &parents.begin)?;
        let filled = Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(first.clone()),
            end: Box::new(first.clone().plus(end.minus(begin))),
            value: Box::new(Expr::Index(vacancy(storage.format.coordinates))),
            stride: storage.format.rows,
        };
        Some(Positions { begin: Expr::Index(0), end: divided(filled.minus(first), storage.format.rows) })
    }

    fn position(&self, storage: &Storage, place: Expr) -> Option<Expr> {
        Some(first(storage, &storage.parent)?.plus(place.times(Expr::Index(storage.format.rows))))
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
            stride: storage.format.rows,
        };
        Some(divided(found.minus(position(&Expr::Index(0))?), storage.format.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::ir::ArrayId;

    #[test]
    fn children_are_a_slice_apart() {
        let storage = storage(LevelFormat { rows: 4, ..LevelFormat::SLICED });
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
        let storage = storage(LevelFormat { rows: 1, ..LevelFormat::SLICED });
        assert_eq!(Sliced.position(&storage, v(2)), Some(Expr::load(ArrayId(0), v(0)).plus(v(2))));
    }
}
