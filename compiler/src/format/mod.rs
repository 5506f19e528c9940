//! Storage formats: a **map** from modes to levels and a **level format** for each level.
//!
//! [`Format`] is what the rest of the compiler and the run time know of a tensor's storage; [`level`] says how each
//! level format iterates, locates and appends; `prelude.ti` defines the named formats in the language itself.

pub mod interleave;
pub mod level;
mod map;
mod number;
mod plain;
#[cfg(feature = "compile")]
pub mod prelude;
#[cfg(feature = "compile")]
pub mod resolve;
#[cfg(feature = "compile")]
mod spelling;

/// The text of [`interleave`], for kernels that are compiled at run time: they take apart what is interleaved there.
pub const INTERLEAVE_TEXT: &str = include_str!("interleave.rs");

pub use map::{Condition, Map, Unfit, Unrecoverable};
pub use number::Number;
#[cfg(feature = "compile")]
pub use spelling::taco;

use std::fmt;

/// How a tensor of a given order is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Format {
    /// The number of modes.
    pub order: usize,
    /// Its levels, outermost first.
    pub levels: Vec<Level>,
}

/// One level of storage: which coordinate it holds, and how.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Level {
    /// The coordinate, in terms of the tensor's modes.
    pub coordinate: Coordinate,
    /// How it is stored.
    pub format: LevelFormat,
}

/// What a level's coordinate is, in terms of the tensor's modes (counted from 0).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Coordinate {
    /// A mode itself.
    Mode(usize),
    /// A constant.
    Constant(u64),
    /// The extent of a mode.
    Extent(usize),
    /// `a + b`
    Add(Box<Coordinate>, Box<Coordinate>),
    /// `a - b`
    Subtract(Box<Coordinate>, Box<Coordinate>),
    /// `a * b`
    Multiply(Box<Coordinate>, Box<Coordinate>),
    /// `a / b`, rounded down
    Divide(Box<Coordinate>, Box<Coordinate>),
    /// `a % b`
    Remainder(Box<Coordinate>, Box<Coordinate>),
    /// The bits of several coordinates in one, as [`interleave`] says.
    Interleave(Vec<Coordinate>),
}

/// How one level is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LevelFormat {
    /// The kind of level.
    pub kind: LevelKind,
    /// Whether a coordinate occurs at most once under one parent.
    pub unique: bool,
    /// Whether coordinates under one parent ascend.
    pub ordered: bool,
    /// Whether coordinates are sorted by their interleaved bits together with those of the singletons below, not one by one:
    /// each by itself is in no order.
    pub morton: bool,
    /// The width of stored coordinates.
    pub coordinates: IndexWidth,
    /// The width of stored positions.
    pub positions: IndexWidth,
    /// How many positions each parent has, where the format says it: `padded(width = 2)`.
    pub width: Option<u64>,
    /// How many parents lie side by side: `sliced(rows = 8)`; else 1.
    pub rows: u64,
}

/// The kinds of level; each is one file under [`level`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LevelKind {
    /// Every coordinate of the mode, none stored.
    Dense,
    /// The coordinates that occur under each parent: `pos`, `crd`.
    Compressed,
    /// One coordinate for each parent position: `crd`.
    Singleton,
    /// Rows of one width: `width`, `crd`, the rest filled up.
    Padded,
    /// Every coordinate, with a flag that says which have an entry: `flags`.
    Bitmap,
    /// The coordinates under each parent in a hash table: `pos`, `crd`.
    Hashed,
    /// The coordinate of the level above, none stored.
    Diagonal,
    /// One interval of coordinates for each parent: `pos`, `first`.
    Banded,
    /// Equal neighbours once: `pos`, `ends`.
    Run,
    /// The coordinates under each parent, the first of each flagged: `flags`, `crd`.
    Flagged,
    /// Slices of rows side by side, each of one width: `pos`, `crd`, the rest filled up.
    Sliced,
}

/// The width of a stored index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IndexWidth {
    /// 8 bits
    U8,
    /// 16 bits
    U16,
    /// 32 bits
    U32,
    /// 64 bits
    U64,
}

impl IndexWidth {
    /// All widths, narrowest first.
    pub const ALL: [IndexWidth; 4] = [IndexWidth::U8, IndexWidth::U16, IndexWidth::U32, IndexWidth::U64];

    /// The name, as in Rust.
    pub fn name(self) -> &'static str {
        match self {
            IndexWidth::U8 => "u8",
            IndexWidth::U16 => "u16",
            IndexWidth::U32 => "u32",
            IndexWidth::U64 => "u64",
        }
    }

    /// The number of bytes.
    pub fn bytes(self) -> usize {
        match self {
            IndexWidth::U8 => 1,
            IndexWidth::U16 => 2,
            IndexWidth::U32 => 4,
            IndexWidth::U64 => 8,
        }
    }

    /// The largest index it holds.
    pub fn maximum(self) -> u64 {
        match self {
            IndexWidth::U8 => u8::MAX.into(),
            IndexWidth::U16 => u16::MAX.into(),
            IndexWidth::U32 => u32::MAX.into(),
            IndexWidth::U64 => u64::MAX,
        }
    }
}

impl LevelFormat {
    /// A level of this kind with the usual properties: unique, ordered, `u32` coordinates and positions. What is a flag takes
    /// a byte, and hash tables are in no order.
    pub const fn new(kind: LevelKind) -> Self {
        let usual = Self {
            kind,
            unique: true,
            ordered: true,
            morton: false,
            coordinates: IndexWidth::U32,
            positions: IndexWidth::U32,
            width: None,
            rows: 1,
        };
        match kind {
            LevelKind::Bitmap => Self { coordinates: IndexWidth::U8, ..usual },
            LevelKind::Flagged => Self { positions: IndexWidth::U8, ..usual },
            LevelKind::Sliced => Self { rows: 8, ..usual },
            LevelKind::Hashed => Self { ordered: false, ..usual },
            _ => usual,
        }
    }

    /// The most rows that may lie side by side.
    pub const MOST_ROWS: u64 = 1024;

    /// `dense`
    pub const DENSE: LevelFormat = LevelFormat::new(LevelKind::Dense);
    /// `compressed`
    pub const COMPRESSED: LevelFormat = LevelFormat::new(LevelKind::Compressed);
    /// `singleton`
    pub const SINGLETON: LevelFormat = LevelFormat::new(LevelKind::Singleton);
    /// `padded`
    pub const PADDED: LevelFormat = LevelFormat::new(LevelKind::Padded);
    /// `bitmap`
    pub const BITMAP: LevelFormat = LevelFormat::new(LevelKind::Bitmap);
    /// `hashed`
    pub const HASHED: LevelFormat = LevelFormat::new(LevelKind::Hashed);
    /// `diagonal`
    pub const DIAGONAL: LevelFormat = LevelFormat::new(LevelKind::Diagonal);
    /// `banded`
    pub const BANDED: LevelFormat = LevelFormat::new(LevelKind::Banded);
    /// `run`
    pub const RUN: LevelFormat = LevelFormat::new(LevelKind::Run);
    /// `flagged`
    pub const FLAGGED: LevelFormat = LevelFormat::new(LevelKind::Flagged);
    /// `sliced`
    pub const SLICED: LevelFormat = LevelFormat::new(LevelKind::Sliced);

    /// The same level, where a coordinate may occur several times under one parent.
    pub const fn nonunique(mut self) -> Self {
        self.unique = false;
        self
    }

    /// Whether the level has a property that its kind of level does not take; formats that are written don't.
    pub fn lacks_sense(self) -> bool {
        let usual = LevelFormat::new(self.kind);
        let takes = |property| level::of(self.kind).takes(property);
        self.unique != usual.unique && !takes(level::Property::Nonunique)
            || self.ordered != usual.ordered && !takes(level::Property::Unordered)
            || self.morton && !takes(level::Property::Morton)
            || self.coordinates != usual.coordinates && !takes(level::Property::Coordinates)
            || self.positions != usual.positions && !takes(level::Property::Positions)
            || self.width.is_some() && !takes(level::Property::Width)
            || self.rows != usual.rows && !takes(level::Property::Rows)
            || !(1..=LevelFormat::MOST_ROWS).contains(&self.rows)
    }
}

impl Level {
    /// Gives each level the properties that follow from its place in a chain.
    ///
    /// A chain is a `compressed` level and the `singleton` levels below it: together they hold the coordinates of each entry
    /// side by side. Levels in it repeat coordinates where `nonunique`; the last can't, or an entry would occur twice. In a chain
    /// in Morton order, no coordinate by itself is in order; that of a chain of one is.
    pub fn settle(levels: &mut [Level]) {
        let mut is_interleaved = false;
        for place in 0..levels.len() {
            let is_last = levels.get(place + 1).is_none_or(|next| next.format.kind != LevelKind::Singleton);
            let format = &mut levels[place].format;
            format.unique |= is_last;
            if format.morton && is_last {
                (format.morton, format.ordered) = (false, true);
            }
            is_interleaved = format.morton || is_interleaved && format.kind == LevelKind::Singleton;
            format.ordered &= !is_interleaved;
        }
    }
}

impl Format {
    /// The format whose level `l` stores mode `l`.
    pub fn of_levels(levels: impl IntoIterator<Item = LevelFormat>) -> Self {
        let levels: Vec<Level> = levels
            .into_iter()
            .enumerate()
            .map(|(mode, format)| Level { coordinate: Coordinate::Mode(mode), format })
            .collect();
        Self { order: levels.len(), levels }
    }

    /// The format whose level `l` stores mode `modes[l]`.
    ///
    /// # Panics
    /// When `modes` and `levels` differ in length.
    pub fn permuted(modes: &[usize], levels: &[LevelFormat]) -> Self {
        assert_eq!(modes.len(), levels.len());
        let levels = modes
            .iter()
            .zip(levels)
            .map(|(&mode, &format)| Level { coordinate: Coordinate::Mode(mode), format })
            .collect();
        Self { order: modes.len(), levels }
    }

    /// All modes dense, in order.
    pub fn dense(order: usize) -> Self {
        Self::of_levels(vec![LevelFormat::DENSE; order])
    }

    /// Compressed sparse fibers.
    pub fn csf(order: usize) -> Self {
        Self::of_levels(vec![LevelFormat::COMPRESSED; order])
    }

    /// Coordinates, sorted.
    pub fn coo(order: usize) -> Self {
        Self::of_levels((0..order).map(|level| {
            let format = if level == 0 { LevelFormat::COMPRESSED } else { LevelFormat::SINGLETON };
            if level + 1 < order { format.nonunique() } else { format }
        }))
    }

    /// Whether every level is dense.
    pub fn is_dense(&self) -> bool {
        self.levels.iter().all(|level| level.format.kind == LevelKind::Dense)
    }

    /// The mode that each level stores, where every level stores a mode as it is.
    pub fn mode_order(&self) -> Option<Vec<usize>> {
        self.levels
            .iter()
            .map(|level| match level.coordinate {
                Coordinate::Mode(mode) => Some(mode),
                _ => None,
            })
            .collect()
    }
}

impl fmt::Display for LevelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(level::of(self.kind).name())?;
        let usual = LevelFormat::new(self.kind);
        let mut arguments = Vec::new();
        if let Some(width) = self.width {
            arguments.push(format!("width = {width}"));
        }
        if self.rows != usual.rows {
            arguments.push(format!("rows = {}", self.rows));
        }
        if !self.unique {
            arguments.push("nonunique".to_owned());
        }
        if self.morton {
            arguments.push("morton".to_owned());
        } else if self.ordered != usual.ordered {
            arguments.push("unordered".to_owned());
        }
        if self.coordinates != usual.coordinates {
            arguments.push(self.coordinates.name().to_owned());
        }
        if self.positions != usual.positions {
            arguments.push(format!("pos = {}", self.positions.name()));
        }
        if arguments.is_empty() { Ok(()) } else { write!(f, "({})", arguments.join(", ")) }
    }
}

impl fmt::Display for Coordinate {
    /// In terms of modes as [`mode_name`] has them; operands of an operator that are not atoms stand in parentheses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        struct Atom<'a>(&'a Coordinate);
        impl fmt::Display for Atom<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    Coordinate::Mode(_)
                    | Coordinate::Constant(_)
                    | Coordinate::Extent(_)
                    | Coordinate::Interleave(_) => write!(f, "{}", self.0),
                    _ => write!(f, "({})", self.0),
                }
            }
        }
        match self {
            Coordinate::Mode(mode) => f.write_str(&mode_name(*mode)),
            Coordinate::Constant(value) => write!(f, "{value}"),
            Coordinate::Extent(mode) => write!(f, "extent({})", mode_name(*mode)),
            Coordinate::Interleave(parts) => {
                let parts: Vec<String> = parts.iter().map(Coordinate::to_string).collect();
                write!(f, "interleave({})", parts.join(", "))
            }
            Coordinate::Add(a, b) => write!(f, "{} + {}", Atom(a), Atom(b)),
            Coordinate::Subtract(a, b) => write!(f, "{} - {}", Atom(a), Atom(b)),
            Coordinate::Multiply(a, b) => write!(f, "{} * {}", Atom(a), Atom(b)),
            Coordinate::Divide(a, b) => write!(f, "{} / {}", Atom(a), Atom(b)),
            Coordinate::Remainder(a, b) => write!(f, "{} % {}", Atom(a), Atom(b)),
        }
    }
}

/// The name of a mode where a format is printed: `i`, `j`, `k`, `l`, `m`, `n`, `p`, `q`, then `i9` for the ninth.
pub fn mode_name(mode: usize) -> String {
    const NAMES: [&str; 8] = ["i", "j", "k", "l", "m", "n", "p", "q"];
    NAMES.get(mode).map_or_else(|| format!("i{}", mode + 1), |name| (*name).to_owned())
}

impl fmt::Display for Format {
    /// `[dense, compressed]` where level `l` stores mode `l`, else `(i, j) -> [j: dense, i: compressed]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.mode_order().is_some_and(|modes| modes.into_iter().eq(0..self.order));
        if !plain {
            let modes: Vec<String> = (0..self.order).map(mode_name).collect();
            write!(f, "({}) -> ", modes.join(", "))?;
        }
        let levels: Vec<String> = self
            .levels
            .iter()
            .map(
                |level| {
                    if plain { level.format.to_string() } else { format!("{}: {}", level.coordinate, level.format) }
                },
            )
            .collect();
        write!(f, "[{}]", levels.join(", "))
    }
}
