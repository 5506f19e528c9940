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

use super::{Arrays, Level, Property};
use crate::format::LevelFormat;

pub(super) struct Bitmap;

impl Level for Bitmap {
    fn name(&self) -> &'static str {
        "bitmap"
    }

    fn summary(&self) -> &'static str {
        "every coordinate, and which have an entry"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::Coordinates
    }

    fn properties(&self) -> &'static [Property] {
        &[]
    }

    fn has_vacancies(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_take_a_byte_and_no_property() {
        assert_eq!(LevelFormat::BITMAP.coordinates, crate::format::IndexWidth::U8);
        assert_eq!(LevelFormat::BITMAP.to_string(), "bitmap");
        assert!(Bitmap.has_vacancies() && !Bitmap.fills());
    }
}
