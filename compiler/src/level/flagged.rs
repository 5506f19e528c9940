//! The coordinates that occur under each parent, one parent after the other, as `compressed`; the first of each parent is
//! flagged instead of counted (F-COO: Liu, Wen, Sarwate, Mehri Dehnavi, 2017).
//!
//! ```text
//! parent        0     1  2
//! flags         1  0  1  1  0  0      one byte each
//! crd           1  4  3  0  2  3
//! position      0  1  2  3  4  5
//! ```
//!
//! Every parent has a child: flags can't say that there is none.

use super::Level;
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told};

const PARAMETERS: &[Parameter] = &[Parameter::Nonunique, Parameter::Width(Role::Coordinates)];

/// What `flagged` is.
const DECLARATION: &Declaration = &Declaration {
    name: "flagged",
    summary: "the coordinates under each parent, the first flagged",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "flags", Length::Positions).bytes(),
        LevelArray::new(Role::Coordinates, "crd", Length::Positions),
    ],
    children: Children::Flags,
    told: Told::Stored,
    types: &[LevelTypeName {
        name: "Flagged",
        parameters: PARAMETERS,
    }],
    ..Declaration::NOTHING
};

/// `flagged`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Flagged;

impl Level for Flagged {
    fn kind(&self) -> LevelKind {
        KIND
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{Flag, IndexType, LevelType, Unique};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `flagged`: the coordinates that occur under each parent, the first of each flagged. `U` is [`Unique`] or
    /// [`Nonunique`](super::super::types::Nonunique), `C` the type of stored coordinates.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Flagged<U = Unique, C = u32>(PhantomData<(U, C)>);

    impl<U: Flag, C: IndexType> LevelType for Flagged<U, C> {
        const FORMAT: LevelFormat =
            LevelFormat::new(super::KIND).with_unique(U::VALUE).with_coordinates(C::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use crate::format::LevelFormat;

    #[test]
    fn flags_take_a_byte() {
        assert_eq!(LevelFormat::FLAGGED.positions(), crate::format::IndexWidth::U8);
        assert_eq!(LevelFormat::FLAGGED.to_string(), "flagged");
    }
}
