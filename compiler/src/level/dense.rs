//! Every coordinate of the mode, in order; nothing is stored.
//!
//! ```text
//! parent        0          1
//! coordinate    0  1  2    0  1  2
//! position      0  1  2    3  4  5      position = parent · extent + coordinate
//! ```

use super::{Level, Storage};
use crate::format::{Children, Declaration, LevelKind, LevelTypeName, Told};
use crate::ir::{BinaryOperator, Expr};

/// What `dense` is.
const DECLARATION: &Declaration = &Declaration {
    name: "dense",
    summary: "every coordinate, none stored",
    children: Children::Every,
    told: Told::Offset,
    fills: true,
    types: &[LevelTypeName { name: "DenseLevel", parameters: &[] }],
    ..Declaration::NOTHING
};

/// `dense`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Dense;

impl Level for Dense {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn parent(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::binary(BinaryOperator::Divide, position, storage.extent.clone()))
    }

    fn locate(&self, storage: &Storage, parent: Expr, coordinate: Expr) -> Option<Expr> {
        Some(parent.times(storage.extent.clone()).plus(coordinate))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::LevelType;
    use crate::format::LevelFormat;

    /// `dense`: every coordinate, none stored.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct DenseLevel;

    impl LevelType for DenseLevel {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::LevelFormat;

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
        assert!(LevelFormat::DENSE.arrays().next().is_none() && LevelFormat::DENSE.kind.is_dense());
        assert_eq!(Dense.positions(&storage, &one_parent()), None);
        assert_eq!(Dense.coordinate(&storage, v(0)), None);
        assert_eq!(Dense.append(&storage, v(0)), None);
    }
}
