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

use super::{Arrays, Level, Property};
use crate::format::LevelFormat;

pub(super) struct Flagged;

impl Level for Flagged {
    fn name(&self) -> &'static str {
        "flagged"
    }

    fn summary(&self) -> &'static str {
        "the coordinates under each parent, the first flagged"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::PositionsAndCoordinates
    }

    fn properties(&self) -> &'static [Property] {
        &[Property::Nonunique, Property::Coordinates]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_take_a_byte() {
        assert_eq!(LevelFormat::FLAGGED.positions, crate::format::IndexWidth::U8);
        assert_eq!(LevelFormat::FLAGGED.to_string(), "flagged");
    }
}
