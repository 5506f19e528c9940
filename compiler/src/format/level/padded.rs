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

use super::{Arrays, Level, Parents, Positions, Property, Storage, vacancy};
use crate::format::LevelFormat;
use crate::ir::{BinaryOperator, Expr};

pub(super) struct Padded;

/// How many places each parent has.
fn width(storage: &Storage) -> Option<Expr> {
    match storage.format.width {
        Some(width) => Some(Expr::Index(width)),
        None => Some(Expr::load(storage.positions?, Expr::Index(0))),
    }
}

impl Level for Padded {
    fn name(&self) -> &'static str {
        "padded"
    }

    fn summary(&self) -> &'static str {
        "rows of one width, the rest filled up"
    }

    fn arrays(&self, format: LevelFormat) -> Arrays {
        match format.width {
            Some(_) => Arrays::Coordinates,
            None => Arrays::PositionsAndCoordinates,
        }
    }

    fn properties(&self) -> &'static [Property] {
        &[Property::Nonunique, Property::Coordinates, Property::Positions, Property::Width]
    }

    fn has_vacancies(&self) -> bool {
        true
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let width = width(storage)?;
        let begin = parents.begin.clone().times(width.clone());
        let end = Expr::Search {
            array: storage.coordinates?,
            begin: Box::new(begin.clone()),
            end: Box::new(begin.clone().plus(width)),
            value: Box::new(Expr::Index(vacancy(storage.format.coordinates))),
            stride: 1,
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

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::IndexWidth;
    use crate::ir::ArrayId;

    #[test]
    fn children_end_where_the_filling_begins() {
        let format = LevelFormat { coordinates: IndexWidth::U8, width: Some(2), ..LevelFormat::PADDED };
        let positions = Padded.positions(&storage(format), &one_parent()).expect("it is walked");
        let begin = v(0).times(Expr::Index(2));
        assert_eq!(positions.begin, begin);
        let Expr::Search { array, begin: from, end, value, stride: 1 } = positions.end else {
            panic!("{:?}", positions.end)
        };
        assert_eq!((array, *from, *value), (ArrayId(1), begin.clone(), Expr::Index(255)));
        assert_eq!(*end, begin.plus(Expr::Index(2)));
    }

    #[test]
    fn a_width_that_the_format_does_not_say_is_loaded() {
        let positions = Padded.positions(&storage(LevelFormat::PADDED), &one_parent()).expect("it is walked");
        assert_eq!(positions.begin, v(0).times(Expr::load(ArrayId(0), Expr::Index(0))));
        assert_eq!(Padded.arrays(LevelFormat { width: Some(2), ..LevelFormat::PADDED }), Arrays::Coordinates);
    }
}
