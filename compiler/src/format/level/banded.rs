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

use super::{Arrays, Level, Parents, Positions, Property, Storage};
use crate::format::LevelFormat;
use crate::ir::Expr;

pub(super) struct Banded;

impl Level for Banded {
    fn name(&self) -> &'static str {
        "banded"
    }

    fn summary(&self) -> &'static str {
        "one interval of coordinates for each parent"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::PositionsAndCoordinates
    }

    fn properties(&self) -> &'static [Property] {
        &[Property::Coordinates, Property::Positions]
    }

    fn fills(&self) -> bool {
        true
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

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
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
        assert!(Banded.fills() && !Banded.has_vacancies());
        assert_eq!(Banded.arrays(LevelFormat::BANDED), Arrays::PositionsAndCoordinates);
    }
}
