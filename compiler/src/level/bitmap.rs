//! Every coordinate of the mode, as `dense`, and a flag for each that says whether it has an entry.
//!
//! ```text
//! parent        0          1
//! coordinate    0  1  2    0  1  2
//! flags         0  1  0    1  0  1      one byte each
//! position      0  1  2    3  4  5      position = parent · extent + coordinate
//! ```
//!
//! What stands at a position without an entry is the fill value; below it, there is nothing.

use super::{Level, Storage};
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Role, Told, Vacancies};
use crate::ir::Expr;

/// What `bitmap` is.
const DECLARATION: &Declaration = &Declaration {
    name: "bitmap",
    summary: "every coordinate, and which have an entry",
    arrays: &[LevelArray::new(Role::Coordinates, "flags", Length::Positions).bytes()],
    children: Children::Every,
    told: Told::Offset,
    vacancies: Vacancies::Flagged,
    types: &[LevelTypeName { name: "Bitmap", parameters: &[] }],
    ..Declaration::NOTHING
};

/// `bitmap`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Bitmap;

impl Level for Bitmap {
    fn kind(&self) -> LevelKind {
        KIND
    }

    fn probe(&self, storage: &Storage, parent: Expr, coordinate: Expr) -> Option<Expr> {
        Some(parent.times(storage.extent.clone()).plus(coordinate))
    }

    fn has_entry(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, position).equals(Expr::Index(1)))
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::LevelType;
    use crate::format::LevelFormat;

    /// `bitmap`: every coordinate, and which have an entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Bitmap;

    impl LevelType for Bitmap {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{storage, v};
    use super::*;
    use crate::format::LevelFormat;
    use crate::ir::ArrayId;

    #[test]
    fn a_position_is_found_by_arithmetic_and_an_entry_by_its_flag() {
        let storage = storage(LevelFormat::BITMAP);
        let position = v(0).times(storage.extent.clone()).plus(v(1));
        assert_eq!(Bitmap.probe(&storage, v(0), v(1)), Some(position));
        let flag = Expr::load(ArrayId(1), v(2)).equals(Expr::Index(1));
        assert_eq!(Bitmap.has_entry(&storage, v(2)), Some(flag));
    }

    #[test]
    fn flags_take_a_byte_and_no_property() {
        assert_eq!(LevelFormat::BITMAP.coordinates(), crate::format::IndexWidth::U8);
        assert_eq!(LevelFormat::BITMAP.to_string(), "bitmap");
        assert!(KIND.has_vacancies() && !KIND.fills);
    }
}
