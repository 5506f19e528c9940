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

use super::{Arrays, Level, Property};
use crate::format::LevelFormat;

pub(super) struct Run;

impl Level for Run {
    fn name(&self) -> &'static str {
        "run"
    }

    fn summary(&self) -> &'static str {
        "equal neighbours once"
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_every_coordinate() {
        assert!(Run.fills() && !Run.has_vacancies());
        assert_eq!(LevelFormat::RUN.to_string(), "run");
    }
}
