//! One coordinate for each parent: the coordinate of the level above. Nothing is stored.
//!
//! ```text
//! coordinate above  0  1  2
//! parent            0  1  2
//! coordinate        0  1  2
//! position          0  1  2      position = parent
//! ```

use super::{Arrays, Level, Property};
use crate::format::LevelFormat;

pub(super) struct Diagonal;

impl Level for Diagonal {
    fn name(&self) -> &'static str {
        "diagonal"
    }

    fn summary(&self) -> &'static str {
        "the coordinate of the level above"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::None
    }

    fn properties(&self) -> &'static [Property] {
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_stored() {
        assert_eq!(Diagonal.arrays(LevelFormat::DIAGONAL), Arrays::None);
        assert_eq!(LevelFormat::DIAGONAL.to_string(), "diagonal");
    }
}
