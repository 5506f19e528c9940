//! What a schedule asks of single loops, for the passes that expand them.

use std::fmt;

/// How a loop that reduces is vectorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simd {
    /// Not at all: one term after the other, in order.
    None,
    /// The terms of a run, or of a dense row, in lanes.
    Lanes,
    /// Runs that lie one behind the other, many at once (a segmented reduction).
    Segmented,
    /// Runs that lie side by side, one in each lane.
    SideBySide,
}

impl Simd {
    /// All of them.
    pub const ALL: [Simd; 4] = [Simd::None, Simd::Lanes, Simd::Segmented, Simd::SideBySide];

    /// The word of a schedule.
    pub fn name(self) -> &'static str {
        match self {
            Simd::None => "none",
            Simd::Lanes => "lanes",
            Simd::Segmented => "segmented",
            Simd::SideBySide => "side_by_side",
        }
    }
}

/// The tiles that a row is cut into, so that what is reduced for a tile stays in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tile {
    /// None: the row stays whole.
    Whole,
    /// Of so many elements, and one of what is left.
    By(u64),
}

/// What a schedule asks of a loop. Where it says nothing, passes choose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Choice {
    /// How a reduction is vectorized.
    pub simd: Option<Simd>,
    /// How a loop over rows is cut.
    pub tile: Option<Tile>,
}

impl Choice {
    /// Whether a reduction may be vectorized so.
    pub fn allows(self, simd: Simd) -> bool {
        self.simd.is_none_or(|asked| asked == simd)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        words.extend(self.simd.map(|simd| format!("simd {}", simd.name())));
        words.extend(self.tile.map(|tile| match tile {
            Tile::Whole => "whole".to_owned(),
            Tile::By(width) => format!("tile {width}"),
        }));
        f.write_str(&words.join(" "))
    }
}
