//! Run-length: neighbours that are equal, with all that is below them, are stored once.
//!
//! ```text
//! parent        0               1
//! values        7  7  7  0  0   2  2  2  2  2
//! pos           0               2               3
//! ends                3     5               5       one past the last coordinate of each run
//! position            0     1               2
//! ```
//!
//! The runs of a parent cover every coordinate: the first begins at 0, each other where the one before it ends, the last ends
//! at the extent. Coordinates without an entry are in runs of the fill value, or with nothing below.

use super::Level;
use crate::format::{Children, Declaration, Length, LevelArray, LevelKind, LevelTypeName, Parameter, Role, Told};

const PARAMETERS: &[Parameter] = &[Parameter::Width(Role::Coordinates), Parameter::Width(Role::Positions)];

/// What `run` is.
const DECLARATION: &Declaration = &Declaration {
    name: "run",
    summary: "equal neighbours once",
    parameters: PARAMETERS,
    arrays: &[
        LevelArray::new(Role::Positions, "pos", Length::Bounds),
        LevelArray::new(Role::Coordinates, "ends", Length::Positions),
    ],
    children: Children::Bounded,
    told: Told::Ends,
    fills: true,
    types: &[LevelTypeName {
        name: "Run",
        parameters: PARAMETERS,
    }],
    ..Declaration::NOTHING
};

/// `run`
pub(super) const KIND: LevelKind = LevelKind::of(DECLARATION);

pub(super) struct Run;

impl Level for Run {
    fn kind(&self) -> LevelKind {
        KIND
    }
}

/// How it is spelled in Rust.
pub(super) mod types {
    use super::super::types::{IndexType, LevelType};
    use crate::format::LevelFormat;
    use std::marker::PhantomData;

    /// `run`: equal neighbours once. `C` and `P` are the types of stored coordinates and positions.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct Run<C = u32, P = u32>(PhantomData<(C, P)>);

    impl<C: IndexType, P: IndexType> LevelType for Run<C, P> {
        const FORMAT: LevelFormat = LevelFormat::new(super::KIND).with_coordinates(C::WIDTH).with_positions(P::WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::LevelFormat;

    #[test]
    fn runs_cover_every_coordinate() {
        assert!(KIND.fills && !KIND.has_vacancies());
        assert_eq!(LevelFormat::RUN.to_string(), "run");
    }
}
