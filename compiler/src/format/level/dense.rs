//! Every coordinate of the mode, in order; nothing is stored.
//!
//! ```text
//! parent        0          1
//! coordinate    0  1  2    0  1  2
//! position      0  1  2    3  4  5      position = parent · extent + coordinate
//! ```

use super::{Arrays, Level, Property, Storage};
use crate::format::LevelFormat;
use crate::ir::{BinaryOperator, Expr};

pub(super) struct Dense;

impl Level for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn summary(&self) -> &'static str {
        "every coordinate, none stored"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::None
    }

    fn properties(&self) -> &'static [Property] {
        &[]
    }

    fn fills(&self) -> bool {
        true
    }

    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::binary(BinaryOperator::Divide, position, storage.extent.clone()))
    }

    fn locate(&self, storage: &Storage, parent: Expr, coordinate: Expr) -> Option<Expr> {
        Some(parent.times(storage.extent.clone()).plus(coordinate))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;

    #[test]
    fn a_position_is_found_by_arithmetic() {
        let storage = storage(LevelFormat::DENSE);
        let position = Dense.locate(&storage, v(0), v(1));
        assert_eq!(position, Some(v(0).times(storage.extent.clone()).plus(v(1))));
        assert_eq!(Dense.locate(&storage, Expr::Index(0), v(1)), Some(v(1)), "the outermost level has one parent");
    }

    #[test]
    fn nothing_is_stored_walked_or_appended() {
        let storage = storage(LevelFormat::DENSE);
        assert_eq!(Dense.arrays(LevelFormat::DENSE), Arrays::None);
        assert_eq!(Dense.positions(&storage, &one_parent()), None);
        assert_eq!(Dense.coordinate(&storage, v(0)), None);
        assert_eq!(Dense.append(&storage, v(0)), None);
    }
}
