//! One coordinate for each parent: the coordinate of the level above. Nothing is stored.
//!
//! ```text
//! coordinate above  0  1  2
//! parent            0  1  2
//! coordinate        0  1  2
//! position          0  1  2      position = parent
//! ```

use super::{Level, Parents, Positions, Storage};
use crate::format::{Children, Declaration, LevelKind, LevelTypeName, Told};
use crate::ir::Expr;

/// What `diagonal` is.
const DECLARATION: &Declaration = &Declaration {
    name: "diagonal",
    summary: "the coordinate of the level above",
    children: Children::One,
    told: Told::Above,
    types: &[LevelTypeName { name: "DiagonalLevel", parameters: &[] }],
    ..Declaration::NOTHING
};

/// `diagonal`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Diagonal;

impl Level for Diagonal {
    fn kind(&self) -> LevelKind {
        KIND
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

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::LevelType;
    use crate::format::LevelFormat;

    /// `diagonal`: the coordinate of the level above.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct DiagonalLevel;

    impl LevelType for DiagonalLevel {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, storage, v};
    use super::*;
    use crate::format::LevelFormat;

    #[test]
    fn the_one_child_has_the_coordinate_above() {
        let storage = Storage { above: Some(v(3)), ..storage(LevelFormat::DIAGONAL) };
        let positions = Diagonal.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(positions, Positions { begin: v(0), end: v(0).plus(Expr::Index(1)) });
        assert_eq!(Diagonal.coordinate(&storage, v(0)), Some(v(3)));
    }

    #[test]
    fn nothing_is_stored() {
        assert!(LevelFormat::DIAGONAL.arrays().next().is_none() && LevelFormat::DIAGONAL.kind.is_diagonal());
        assert_eq!(LevelFormat::DIAGONAL.to_string(), "diagonal");
    }
}
