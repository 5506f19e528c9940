//! One coordinate for each parent: the coordinate of the level above. Nothing is stored.
//!
//! ```text
//! coordinate above  0  1  2
//! parent            0  1  2
//! coordinate        0  1  2
//! position          0  1  2      position = parent
//! ```

use super::{Arrays, Level, Parents, Positions, Property, Storage};
use crate::format::LevelFormat;
use crate::ir::Expr;

pub(super) struct Diagonal;

impl Level for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn summary(&self) -> &'static str {
        "the coordinate of the level above"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::None
    }

    fn properties(&self) -> &'static [Property] {
        &[]
    }

    fn positions(&self, _: &Storage, parents: &Parents) -> Option<Positions> {
        Some(Positions { begin: parents.begin.clone(), end: parents.begin.clone().plus(Expr::Index(1)) })
    }

    fn coordinate(&self, storage: &Storage, _: Expr) -> Option<Expr> {
        storage.above.clone()
    }

    fn parent(&self, _: &Storage, position: Expr) -> Option<Expr> {
        Some(position)
    }

    fn search(&self, storage: &Storage, positions: &Positions, value: Expr) -> Option<Expr> {
        Some(super::search_from(storage.above.clone()?, positions, value))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;

    #[test]
    fn the_one_child_has_the_coordinate_above() {
        let storage = Storage { above: Some(v(3)), ..storage(LevelFormat::DIAGONAL) };
        let positions = Diagonal.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(positions, Positions { begin: v(0), end: v(0).plus(Expr::Index(1)) });
        assert_eq!(Diagonal.coordinate(&storage, v(0)), Some(v(3)));
    }

    #[test]
    fn nothing_is_stored() {
        assert_eq!(Diagonal.arrays(LevelFormat::DIAGONAL), Arrays::None);
        assert_eq!(LevelFormat::DIAGONAL.to_string(), "diagonal");
    }
}
