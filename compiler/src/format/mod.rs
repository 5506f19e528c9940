//! Storage formats: a **map** from modes to levels and a **level format** for each level.
//!
//! [`Format`] is what the rest of the compiler and the run time know of a tensor's storage. What a level is, is declared in the
//! files of [`crate::level`], which say how it iterates, locates and appends as well; `prelude.ti` defines the named formats in the
//! language itself.

mod declaration;
mod fibers;
pub mod interleave;
mod map;
mod number;
#[cfg(feature = "compile")]
pub mod prelude;
#[cfg(feature = "compile")]
pub mod resolve;
mod symmetry;
mod wide;

/// The text of [`interleave`], for kernels that are compiled at run time: they take apart what is interleaved there.
pub const INTERLEAVE_TEXT: &str = include_str!("interleave.rs");

pub use declaration::{
    Children, Code, Count, Declaration, Length, LevelArray, LevelKind, LevelTypeName, PARAMETERS, Parameter, Role,
    Told, Vacancies,
};
pub use map::{Condition, Map, Unfit, Unrecoverable};
pub use number::Number;
#[cfg(feature = "compile")]
pub use resolve::{named, taco};
pub use symmetry::{Exchange, Symmetry, SymmetryKind, Turned};

use std::fmt;

/// How a tensor of a given order is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Format {
    /// The number of modes.
    pub order: usize,
    /// Its levels, outermost first.
    pub levels: Vec<Level>,
    /// Which modes may be exchanged, where some may: of entries that follow from each other, one is stored.
    pub symmetry: Option<Symmetry>,
}

impl Format {
    /// Whether it stores some entries only at some coordinates: a coordinate that has to be that of the level above, or so many places for a
    /// part of a mode.
    pub fn ties_coordinates(&self) -> bool {
        self.levels.iter().any(|Level { coordinate, format }| {
            let is_part = !matches!(coordinate, Coordinate::Mode(_));
            format.kind.is_diagonal() || is_part && format.kind.has_vacancies() && format.count().is_some()
        })
    }
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

/// How one level is stored: its kind, and what its parameters are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LevelFormat {
    /// The kind of level.
    pub kind: LevelKind,
    /// The value of each parameter of its declaration but for its number, in that order.
    values: [u8; PARAMETERS],
    /// Its number; 0 where it has none, or the data tell it.
    number: u64,
}

/// The order of coordinates under one parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// They ascend.
    Ascending,
    /// Any.
    Any,
    /// They are sorted by their interleaved bits together with those of the singletons below: each by itself is in no order.
    Morton,
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

/// A parameter among those of a level; no two are alike.
const fn number(parameter: &Parameter) -> u8 {
    match parameter {
        Parameter::Nonunique => NONUNIQUE,
        Parameter::Order { .. } => ORDER,
        Parameter::Count(_) => COUNT,
        Parameter::Width(role) => WIDTH + *role as u8,
    }
}

const NONUNIQUE: u8 = 0;
const ORDER: u8 = 1;
const COUNT: u8 = 2;
const WIDTH: u8 = 3;

impl LevelFormat {
    /// A level of this kind with the usual parameters: unique, in order, `u32` coordinates and positions, a byte for a flag.
    pub const fn new(kind: LevelKind) -> Self {
        let mut level = Self { kind, values: [0; PARAMETERS], number: 0 };
        let mut place = 0;
        while place < kind.parameters().len() {
            level = level.with(number(&kind.parameters()[place]), Self::usual(kind, place));
            place += 1;
        }
        level
    }

    /// What a parameter is where nothing is said.
    const fn usual(kind: LevelKind, place: usize) -> u64 {
        match kind.parameters()[place] {
            Parameter::Nonunique | Parameter::Order { .. } => 0,
            Parameter::Width(role) => kind.array_width(role) as u64,
            Parameter::Count(count) => count.usual,
        }
    }

    const fn place(self, wanted: u8) -> Option<usize> {
        let parameters = self.kind.parameters();
        let mut place = 0;
        while place < parameters.len() {
            if number(&parameters[place]) == wanted {
                return Some(place);
            }
            place += 1;
        }
        None
    }

    const fn value(self, wanted: u8) -> Option<u64> {
        match self.place(wanted) {
            Some(_) if wanted == COUNT => Some(self.number),
            Some(place) => Some(self.values[place] as u64),
            None => None,
        }
    }

    /// The same level with a parameter of this value; unchanged where the level does not take it.
    const fn with(mut self, wanted: u8, value: u64) -> Self {
        match self.place(wanted) {
            Some(_) if wanted == COUNT => self.number = value,
            Some(place) => self.values[place] = value as u8, // a flag or a width
            None => {}
        }
        self
    }

    /// Whether a coordinate occurs at most once under one parent.
    pub const fn unique(self) -> bool {
        !matches!(self.value(NONUNIQUE), Some(1))
    }

    /// Whether coordinates under one parent ascend.
    pub const fn ordered(self) -> bool {
        matches!(self.order(), Order::Ascending)
    }

    /// Whether coordinates are sorted by their interleaved bits together with those of the singletons below, not one by one.
    pub const fn morton(self) -> bool {
        matches!(self.order(), Order::Morton)
    }

    /// The order of coordinates under one parent.
    pub const fn order(self) -> Order {
        match self.value(ORDER) {
            Some(0) => Order::Ascending,
            Some(1) => Order::Any,
            Some(_) => Order::Morton,
            None if self.kind.is_ordered() => Order::Ascending,
            None => Order::Any,
        }
    }

    /// The width of an array's elements; that of the usual arrays where there is none.
    pub const fn width(self, role: Role) -> IndexWidth {
        match self.value(WIDTH + role as u8) {
            Some(0) => IndexWidth::U8,
            Some(1) => IndexWidth::U16,
            Some(2) => IndexWidth::U32,
            Some(_) => IndexWidth::U64,
            None => self.kind.array_width(role),
        }
    }

    /// The width of the array that tells coordinates.
    pub const fn coordinates(self) -> IndexWidth {
        self.width(Role::Coordinates)
    }

    /// The width of the array that tells where children are.
    pub const fn positions(self) -> IndexWidth {
        self.width(Role::Positions)
    }

    /// The level's number: how many positions each parent has (`padded(width = 2)`), how many parents are side by side
    /// (`sliced(rows = 8)`); `None` where it takes none, or the data tell it.
    pub const fn count(self) -> Option<u64> {
        match self.value(COUNT) {
            Some(0) | None => None,
            number => number,
        }
    }

    /// The arrays that such a level stores.
    pub fn arrays(self) -> impl Iterator<Item = &'static LevelArray> {
        let is_said = self.count().is_some();
        self.kind.declared_arrays().iter().filter(move |array| !(is_said && array.length == Length::One))
    }

    /// The array of a role that such a level stores.
    pub fn array(self, role: Role) -> Option<&'static LevelArray> {
        self.arrays().find(|array| array.role == role)
    }

    /// The same level, where a coordinate may occur several times under one parent, if such levels can be so.
    pub const fn nonunique(self) -> Self {
        self.with(NONUNIQUE, 1)
    }

    /// The same level, unique or not; unchanged where such levels are unique.
    pub const fn with_unique(self, unique: bool) -> Self {
        self.with(NONUNIQUE, !unique as u64)
    }

    /// The same level in another order, if such levels can be so.
    pub const fn with_order(self, order: Order) -> Self {
        self.with(
            ORDER,
            match order {
                Order::Ascending => 0,
                Order::Any => 1,
                Order::Morton => 2,
            },
        )
    }

    /// The same level with elements of another width in an array, if such levels can have them.
    pub const fn with_width(self, role: Role, width: IndexWidth) -> Self {
        self.with(WIDTH + role as u8, width as u64)
    }

    /// The same level with coordinates of another width.
    pub const fn with_coordinates(self, width: IndexWidth) -> Self {
        self.with_width(Role::Coordinates, width)
    }

    /// The same level with positions of another width.
    pub const fn with_positions(self, width: IndexWidth) -> Self {
        self.with_width(Role::Positions, width)
    }

    /// The same level with another number, if it takes one.
    pub const fn with_count(self, number: u64) -> Self {
        self.with(COUNT, number)
    }

    /// Whether its number is within bounds, and its order one of those that it can have.
    pub fn has_sense(self) -> bool {
        let is_within = |count: &Count| {
            self.value(COUNT)
                .is_some_and(|number| (count.least..=count.most).contains(&number) || number == 0 && count.usual == 0)
        };
        self.kind.count().is_none_or(is_within) && (!self.morton() || self.kind.takes_morton())
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
            let is_last = levels.get(place + 1).is_none_or(|next| !next.format.kind.is_singleton());
            let format = &mut levels[place].format;
            if is_last {
                *format = format.with_unique(true);
            }
            if format.morton() && is_last {
                *format = format.with_order(Order::Ascending);
            }
            is_interleaved = format.morton() || is_interleaved && format.kind.is_singleton();
            if is_interleaved && !format.morton() {
                *format = format.with_order(Order::Any);
            }
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
        Self { order: levels.len(), levels, symmetry: None }
    }

    /// The format with these levels for each entry, of which those that follow from each other by a symmetry are stored once.
    pub fn with_symmetry(self, symmetry: Option<Symmetry>) -> Self {
        Self { symmetry, ..self }
    }

    /// The format of the same levels in which every entry is stored.
    pub fn unfolded(&self) -> Self {
        self.clone().with_symmetry(None)
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
        Self { order: modes.len(), levels, symmetry: None }
    }

    /// Whether it is a list of entries, as `coo` is: at each level an entry's coordinate is stored at the entry's own position.
    pub fn lists_entries(&self) -> bool {
        let is_head = |level: &Level| level.format.kind.is_compressed();
        self.mode_order().is_some() && self.levels.first().is_some_and(is_head) && self.level_of_entries() == 0
    }

    /// The outermost level whose positions are those of the entries: what is below stores a coordinate for each.
    pub fn level_of_entries(&self) -> usize {
        self.levels.iter().rposition(|level| !level.format.kind.is_singleton()).unwrap_or(0)
    }

    /// Whether every level is dense.
    pub fn is_dense(&self) -> bool {
        self.levels.iter().all(|level| level.format.kind.is_dense())
    }

    /// Whether every place holds an entry. Dense levels, bands and runs also have places for coordinates without one.
    pub fn stores_entries_only(&self) -> bool {
        !self.levels[self.filled_levels()..].iter().any(|level| level.format.kind.fills)
    }

    /// Whether it is an array of indices, as `map` is: below each index of its dense levels stands one coordinate.
    pub fn is_map(&self) -> bool {
        let kinds = || self.levels.iter().rev().map(|level| level.format.kind);
        let is_stored = kinds().next().is_some_and(|last| last.is_singleton());
        is_stored
            && self.levels.len() > 1
            && kinds().skip(1).all(|above| above.is_dense())
            && self.mode_order().is_some()
    }

    /// The first of the levels below the last that stores nothing but what has entries.
    pub fn filled_levels(&self) -> usize {
        if self.is_map() {
            return self.levels.len();
        }
        let is_chosen = |level: &Level| !level.format.kind.fills && level.format.kind.children != Children::One;
        self.levels.iter().rposition(is_chosen).map_or(0, |last| last + 1)
    }

    /// Whether some places are padding: they have no entry, and hold the fill value. A place of such a format that holds the fill value
    /// counts as padding. Dense tensors have an entry at every index.
    pub fn pads(&self) -> bool {
        !self.is_dense() && !self.stores_entries_only()
    }

    /// Whether both are the same format but for the widths of indices.
    pub fn is_stored_like(&self, other: &Format) -> bool {
        let mut same = self.clone();
        for (level, like) in same.levels.iter_mut().zip(&other.levels) {
            for role in Role::ALL.into_iter().filter(|role| like.format.array(*role).is_some()) {
                level.format = level.format.with_width(role, like.format.width(role));
            }
        }
        same == *other
    }

    /// Whether every place counts as an entry: also those of dense tensors, but not of dense blocks.
    pub fn tells_entries(&self) -> bool {
        self.stores_entries_only() || self.is_dense() && self.mode_order().is_some()
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

impl Coordinate {
    /// Calls `visit` on each mode in it, from left to right.
    pub fn for_each_mode(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Coordinate::Mode(mode) => visit(*mode),
            Coordinate::Constant(_) | Coordinate::Extent(_) => {}
            Coordinate::Interleave(parts) => parts.iter().for_each(|part| part.for_each_mode(visit)),
            Coordinate::Add(a, b)
            | Coordinate::Subtract(a, b)
            | Coordinate::Multiply(a, b)
            | Coordinate::Divide(a, b)
            | Coordinate::Remainder(a, b) => {
                a.for_each_mode(visit);
                b.for_each_mode(visit);
            }
        }
    }

    /// The same with other numbers for modes.
    pub fn renumbered(&self, number: &dyn Fn(usize) -> usize) -> Coordinate {
        let of = |part: &Coordinate| Box::new(part.renumbered(number));
        match self {
            Coordinate::Mode(mode) => Coordinate::Mode(number(*mode)),
            Coordinate::Extent(mode) => Coordinate::Extent(number(*mode)),
            Coordinate::Constant(value) => Coordinate::Constant(*value),
            Coordinate::Interleave(parts) => {
                Coordinate::Interleave(parts.iter().map(|part| part.renumbered(number)).collect())
            }
            Coordinate::Add(a, b) => Coordinate::Add(of(a), of(b)),
            Coordinate::Subtract(a, b) => Coordinate::Subtract(of(a), of(b)),
            Coordinate::Multiply(a, b) => Coordinate::Multiply(of(a), of(b)),
            Coordinate::Divide(a, b) => Coordinate::Divide(of(a), of(b)),
            Coordinate::Remainder(a, b) => Coordinate::Remainder(of(a), of(b)),
        }
    }

    /// Calls `visit` on each mode whose extent is in it.
    pub fn for_each_extent(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Coordinate::Extent(mode) => visit(*mode),
            Coordinate::Mode(_) | Coordinate::Constant(_) => {}
            Coordinate::Interleave(parts) => parts.iter().for_each(|part| part.for_each_extent(visit)),
            Coordinate::Add(a, b)
            | Coordinate::Subtract(a, b)
            | Coordinate::Multiply(a, b)
            | Coordinate::Divide(a, b)
            | Coordinate::Remainder(a, b) => {
                a.for_each_extent(visit);
                b.for_each_extent(visit);
            }
        }
    }

    /// Whether a mode is in it.
    pub fn mentions(&self, mode: usize) -> bool {
        let mut found = false;
        self.for_each_mode(&mut |other| found |= other == mode);
        found
    }
}

impl fmt::Display for LevelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name)?;
        let mut arguments = Vec::new();
        for (place, parameter) in self.kind.parameters().iter().enumerate() {
            let value = self.value(number(parameter)).unwrap_or_default();
            if value == Self::usual(self.kind, place) {
                continue;
            }
            arguments.push(match parameter {
                Parameter::Nonunique => "nonunique".to_owned(),
                Parameter::Order { .. } => if self.morton() { "morton" } else { "unordered" }.to_owned(),
                Parameter::Width(Role::Coordinates) => self.coordinates().name().to_owned(),
                Parameter::Width(role) => format!("{} = {}", role.key(), self.width(*role).name()),
                Parameter::Count(count) => format!("{} = {value}", count.name),
            });
        }
        if arguments.is_empty() { Ok(()) } else { write!(f, "({})", arguments.join(", ")) }
    }
}

impl fmt::Debug for LevelFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let modes: Vec<String> = self.modes.iter().map(|&mode| mode_name(mode)).collect();
        write!(f, "{}({})", self.kind.name(), modes.join(", "))
    }
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
        write!(f, "[{}]", levels.join(", "))?;
        self.symmetry.as_ref().map_or(Ok(()), |symmetry| write!(f, " {symmetry}"))
    }
}
