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

use super::{Arrays, Level, Property};
use crate::format::LevelFormat;

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_fills_the_gaps_between_entries() {
        assert!(Banded.fills() && !Banded.has_vacancies());
        assert_eq!(Banded.arrays(LevelFormat::BANDED), Arrays::PositionsAndCoordinates);
    }
}
