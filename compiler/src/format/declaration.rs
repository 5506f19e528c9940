//! What a kind of level is, as data: its parameters, its arrays, and the structural facts by which the run time packs, checks,
//! iterates, locates and draws it. Each declaration is in the level's own file, with the code that kernels run
//! ([`crate::level`]).

use super::IndexWidth;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The declaration of a kind of level.
#[derive(Debug)]
pub struct Declaration {
    /// Its name in the language.
    pub name: &'static str,
    /// One line on what it stores, for messages and listings.
    pub summary: &'static str,
    /// What may be said in its parentheses, in the order in which it is printed; [`PARAMETERS`] at most.
    pub parameters: &'static [Parameter],
    /// The arrays that it stores, in the order of files: positions first.
    pub arrays: &'static [LevelArray],
    /// Where the children of a parent are.
    pub children: Children,
    /// What tells the coordinate of a position.
    pub told: Told,
    /// Which positions are no entries.
    pub vacancies: Vacancies,
    /// Whether it stores places that have no entry, as entries of the fill value.
    pub fills: bool,
    /// The types that spell it in Rust; the first that has all parameters that differ from the usual ones.
    pub types: &'static [LevelTypeName],
}

impl Declaration {
    /// A level that stores nothing, of which a declaration says what is different.
    pub const NOTHING: Declaration = Declaration {
        name: "",
        summary: "",
        parameters: &[],
        arrays: &[],
        children: Children::One,
        told: Told::Above,
        vacancies: Vacancies::None,
        fills: false,
        types: &[],
    };
}

/// The most parameters of a level.
pub const PARAMETERS: usize = 5;

/// A parameter of a level.
#[derive(Debug, Clone, Copy)]
pub enum Parameter {
    /// `nonunique`: a coordinate may occur several times under one parent.
    Nonunique,
    /// `unordered`: coordinates under one parent are in any order; `morton`, where that is taken: coordinates are sorted by their
    /// interleaved bits together with those of the singletons below.
    Order {
        /// Whether `morton` may be said.
        morton: bool,
    },
    /// The width of an array's elements: `u8`, `pos = u64`.
    Width(Role),
    /// A number: `rows = 8`.
    Count(&'static Count),
}

/// A parameter that is a number.
#[derive(Debug)]
pub struct Count {
    /// Its name in the language.
    pub name: &'static str,
    /// The least.
    pub least: u64,
    /// The largest.
    pub most: u64,
    /// What it is unless said; 0 where the data tell it.
    pub usual: u64,
    /// What it counts, for listings: `the length of rows`.
    pub meaning: &'static str,
    /// What is wrong with a number beyond the bounds.
    pub beyond: &'static str,
    /// What such a number is not.
    pub label: &'static str,
    /// What may be written, by an example.
    pub help: &'static str,
    /// Why another level, `{}`, does not take it.
    pub foreign: &'static str,
}

/// What an array of a level is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// It tells where children are.
    Positions,
    /// It tells which coordinates there are.
    Coordinates,
}

impl Role {
    /// All roles, in the order of files.
    pub const ALL: [Role; 2] = [Role::Positions, Role::Coordinates];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Role::Positions => "positions",
            Role::Coordinates => "coordinates",
        }
    }

    /// Its name where a parameter sets its width.
    pub fn key(self) -> &'static str {
        match self {
            Role::Positions => "pos",
            Role::Coordinates => "crd",
        }
    }
}

/// An array of a level.
#[derive(Debug, Clone, Copy)]
pub struct LevelArray {
    /// What it is for.
    pub role: Role,
    /// Its name in drawings.
    pub name: &'static str,
    /// The width of its elements, where no parameter says it.
    pub width: IndexWidth,
    /// The number of its elements.
    pub length: Length,
}

impl LevelArray {
    /// An array of a role, of 32 bits an element.
    pub const fn new(role: Role, name: &'static str, length: Length) -> Self {
        Self { role, name, width: IndexWidth::U32, length }
    }

    /// The same with a byte for each element.
    pub const fn bytes(self) -> Self {
        Self { width: IndexWidth::U8, ..self }
    }
}

/// How many elements an array has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// One for each position.
    Positions,
    /// One for each parent.
    Parents,
    /// One for each group of parents whose children are together, and one more.
    Bounds,
    /// One; none where the level's number says it.
    One,
}

/// Where the children of a parent are among the positions of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Children {
    /// One for each coordinate: parent · extent + coordinate.
    Every,
    /// One, at the parent's position.
    One,
    /// From `positions[parent]` to `positions[parent + 1]`.
    Bounded,
    /// As many for each parent as one number says: the level's, or that in the array of positions.
    Width,
    /// Side by side with those of the other parents of a slice, of as many as the level's number says: from
    /// `positions[slice] + row` on, a stride apart, before `positions[slice + 1]`.
    Slices,
    /// From a position that is flagged to the next.
    Flags,
}

/// What tells the coordinate of a position.
#[derive(Debug, Clone, Copy)]
pub enum Told {
    /// The number of the position under its parent.
    Offset,
    /// The array of coordinates, at the position.
    Stored,
    /// The coordinate of the level above.
    Above,
    /// The array of coordinates, at the parent, and the number of the position.
    First,
    /// It is a run of coordinates: the array says where each ends, which is where the next begins.
    Ends,
    /// The array of coordinates together with what came before it under the same parent.
    Coded(Code),
}

/// How coordinates are stored that are decoded one after the other. `before` is what [`Code::decode`] gave for the position
/// before it under the same parent; `largest` is the largest number of the array's type.
#[derive(Clone, Copy)]
pub struct Code {
    /// How many positions without an entry precede that of `coordinate`.
    pub gaps: fn(before: Option<u64>, coordinate: u64, largest: u64) -> u64,
    /// What is stored at the position of `coordinate`, whose gaps are before it, or at a gap (`None`).
    pub encode: fn(before: Option<u64>, coordinate: Option<u64>, largest: u64) -> u64,
    /// What a stored number stands for: the coordinate, or at a gap how far they have come; and whether there is an entry.
    pub decode: fn(before: Option<u64>, stored: u64, largest: u64) -> (u64, bool),
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code")
    }
}

/// Which positions of a level hold no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vacancies {
    /// None.
    None,
    /// Those whose element in the array of coordinates is 0 rather than 1.
    Flagged,
    /// Those whose coordinate is the largest number of the type, behind all others of the parent.
    Filling,
    /// Those whose coordinate is the largest number of the type: free slots of hash tables.
    Slots,
    /// The gaps of a [`Code`].
    Gaps,
}

/// A Rust type that spells levels of a kind, in `spc::tensor`.
#[derive(Debug, Clone, Copy)]
pub struct LevelTypeName {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, in order.
    pub parameters: &'static [Parameter],
}

/// A kind of level: its declaration. Kinds of one name are equal.
#[derive(Clone, Copy)]
pub struct LevelKind(&'static Declaration);

impl LevelKind {
    /// The kind of level that is declared so.
    pub const fn of(declaration: &'static Declaration) -> Self {
        assert!(declaration.parameters.len() <= PARAMETERS);
        Self(declaration)
    }

    pub(super) const fn parameters(self) -> &'static [Parameter] {
        self.0.parameters
    }

    pub(super) const fn declared_arrays(self) -> &'static [LevelArray] {
        self.0.arrays
    }

    pub(super) const fn array_width(self, role: Role) -> IndexWidth {
        let arrays = self.0.arrays;
        let mut place = 0;
        while place < arrays.len() {
            if arrays[place].role as u8 == role as u8 {
                return arrays[place].width;
            }
            place += 1;
        }
        IndexWidth::U32
    }

    pub(super) const fn is_ordered(self) -> bool {
        !matches!(self.0.vacancies, Vacancies::Slots)
    }
}

impl Deref for LevelKind {
    type Target = Declaration;

    fn deref(&self) -> &Declaration {
        self.0
    }
}

impl PartialEq for LevelKind {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0) || self.0.name == other.0.name
    }
}

impl Eq for LevelKind {}

impl Hash for LevelKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for LevelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl Declaration {
    /// Its array of a role.
    pub fn array(&self, role: Role) -> Option<&LevelArray> {
        self.arrays.iter().find(|array| array.role == role)
    }

    /// Whether it holds every coordinate and stores nothing for it: positions follow from coordinates.
    pub fn is_dense(&self) -> bool {
        self.children == Children::Every && self.vacancies == Vacancies::None
    }

    /// Whether it has one position for each of the level above.
    pub fn is_one_each(&self) -> bool {
        self.children == Children::One
    }

    /// Whether it has a coordinate of its own for each position of the level above.
    pub fn is_singleton(&self) -> bool {
        self.is_one_each() && matches!(self.told, Told::Stored)
    }

    /// Whether it stores the coordinates of each parent's children one after the other, as they are, and where they begin.
    pub fn is_compressed(&self) -> bool {
        self.children == Children::Bounded && matches!(self.told, Told::Stored) && self.vacancies == Vacancies::None
    }

    /// Whether it has the coordinate of the level above.
    pub fn is_diagonal(&self) -> bool {
        matches!(self.told, Told::Above)
    }

    /// Whether its positions hold runs of coordinates.
    pub fn is_run(&self) -> bool {
        matches!(self.told, Told::Ends)
    }

    /// Whether it has positions that are no entries: padding, empty slots.
    pub fn has_vacancies(&self) -> bool {
        self.vacancies != Vacancies::None
    }

    /// Whether `nonunique` may be said of it.
    pub fn takes_nonunique(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter, Parameter::Nonunique))
    }

    /// Whether `unordered` may be said of it.
    pub fn takes_unordered(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter, Parameter::Order { .. }))
    }

    /// Whether `morton` may be said of it.
    pub fn takes_morton(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter, Parameter::Order { morton: true }))
    }

    /// Whether the width of an array may be said.
    pub fn takes_width(&self, of: Role) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter, Parameter::Width(role) if *role == of))
    }

    /// Its parameter that is a number.
    pub fn count(&self) -> Option<&'static Count> {
        self.parameters.iter().find_map(|parameter| match parameter {
            Parameter::Count(count) => Some(*count),
            _ => None,
        })
    }
}
