//! What a schedule asks of single loops, for the passes that expand them, and what searches find.

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
    /// Strips of about equal length, of at most so many elements, each of two tiles that overlap: as wide as each other, and no
    /// wider than it takes.
    Overlapped(u64),
    /// Strips of about equal length, of at most so many elements, each of one tile: of as many vectors as hold it, in which a mask says
    /// which lanes have an element. For targets that have such vectors.
    Masked(u64),
}

impl Tile {
    /// The word of a schedule.
    pub fn word(self) -> String {
        match self {
            Tile::Whole => "none".to_owned(),
            Tile::By(width) => width.to_string(),
            Tile::Overlapped(width) => format!("overlapped({width})"),
            Tile::Masked(width) => format!("masked({width})"),
        }
    }
}

/// A loop that passes may expand: what the schedule asks, and what they made of it. Where it asks nothing, passes choose.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The index variable that it is over.
    pub of: String,
    /// How a reduction is to be vectorized.
    pub simd: Option<Simd>,
    /// How rows are to be cut.
    pub tile: Option<Tile>,
    /// How a reduction was vectorized, once passes ran; `None`: not at all.
    pub vectorized: Option<Simd>,
    /// How rows were cut, once passes ran; `None`: no row is reduced into.
    pub tiled: Option<Tile>,
}

impl Choice {
    /// Of a loop over an index variable, of which nothing is asked.
    pub fn of(name: String) -> Self {
        Self { of: name, ..Self::default() }
    }

    /// Whether the schedule asks for something.
    pub fn is_asked(&self) -> bool {
        self.simd.is_some() || self.tile.is_some()
    }

    /// Whether a reduction may be vectorized so. What is left of runs that are taken together goes in lanes.
    pub fn allows(&self, simd: Simd) -> bool {
        match self.simd {
            None => true,
            Some(Simd::None) => false,
            Some(asked) => asked == simd || simd == Simd::Lanes,
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        words.extend(self.simd.map(|simd| format!("simd {}", simd.name())));
        words.extend(self.tile.map(|tile| match tile {
            Tile::Whole => "whole".to_owned(),
            Tile::By(width) => format!("tile {width}"),
            Tile::Overlapped(width) => format!("overlapped {width}"),
            Tile::Masked(width) => format!("masked {width}"),
        }));
        f.write_str(&words.join(" "))
    }
}

/// What a search finds, by which a target chooses how it searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Find {
    /// An element anywhere in the range.
    Element,
    /// The end of what is stored: the places behind hold what fills up a row, the largest number of the array's type, and are
    /// few in most rows.
    Filling,
}

impl Find {
    /// All of them.
    pub const ALL: [Find; 2] = [Find::Element, Find::Filling];

    /// What the search is called in text.
    pub fn name(self) -> &'static str {
        match self {
            Find::Element => "search",
            Find::Filling => "filling",
        }
    }
}
