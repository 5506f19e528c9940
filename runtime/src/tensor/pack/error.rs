//! Why entries do not pack.

use super::super::{InvalidTensor, OutOfMemory};
use spc_compiler::format::{IndexWidth, LevelFormat};
use spc_compiler::ir::ElementType;
use std::io;

/// Why entries can't be stored in a format. Fields count from 0; messages count indices and modes from 1, as files do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The format does not serve the shape, or can't be stored.
    #[error(transparent)]
    Invalid(#[from] InvalidTensor),
    /// A mode has another number of indices than there are values.
    #[error("there are {values} values, but {indices} indices for mode {}", mode + 1)]
    Ragged {
        /// The mode.
        mode: usize,
        /// How many indices it has.
        indices: usize,
        /// How many values there are.
        values: usize,
    },
    /// There are indices for another number of modes than the shape has.
    #[error("the shape has {shape} modes, but the entries have indices for {indices}")]
    Modes {
        /// By the shape.
        shape: usize,
        /// By the entries.
        indices: usize,
    },
    /// An index is not less than the extent of its mode.
    #[error(
        "entry {} has index {} in mode {}, whose extent is {extent} (counting from 1, as in a file); \
         correct the entry, or give the mode a larger extent",
        entry + 1, u128::from(*index) + 1, mode + 1
    )]
    Beyond {
        /// Which entry, in the order that they came in.
        entry: usize,
        /// The mode.
        mode: usize,
        /// The index.
        index: u64,
        /// The extent of the mode.
        extent: usize,
    },
    /// An entry occurs twice, and duplicates are refused.
    #[error(
        "the entry {} occurs more than once (counting from 1, as in a file); remove all but one, or sum them",
        one_based(index)
    )]
    Duplicate {
        /// Its index in each mode.
        index: Vec<usize>,
    },
    /// The sum of entries of the same index is no value of an integer type.
    #[error(
        "the entries {} add up to more or less than {} holds (counting from 1, as in a file); remove all but one, or take a wider \
         element type",
        one_based(index), element.name()
    )]
    Overflow {
        /// Their index in each mode.
        index: Vec<usize>,
        /// The type.
        element: ElementType,
    },
    /// A coordinate does not fit the level's index width.
    #[error(
        "level {nth}, `{format}`, would store coordinate {coordinate}, but {} holds up to {} only; write `{}({})`",
        format.coordinates().name(), largest(format), kind(format), wider(format, *coordinate).name(), nth = level + 1
    )]
    CoordinateWidth {
        /// The level.
        level: usize,
        /// Its format.
        format: LevelFormat,
        /// The largest coordinate.
        coordinate: u64,
    },
    /// A level has more positions than its positions' width can say.
    #[error(
        "level {nth}, `{format}`, would have {count} positions, but {} holds up to {} only; write `{}(pos = {})`",
        format.positions().name(), format.positions().maximum(), kind(format), needed(*count).name(), nth = level + 1
    )]
    PositionWidth {
        /// The level.
        level: usize,
        /// Its format.
        format: LevelFormat,
        /// How many positions.
        count: u64,
    },
    /// A singleton level would need two coordinates for one parent.
    #[error(
        "level {nth} is `singleton`, but has two coordinates under one parent, the second in entry {} (counting from 1); \
         write `compressed` there, or make the levels above it `(nonunique)`",
        one_based(index), nth = level + 1
    )]
    Crowded {
        /// The level.
        level: usize,
        /// The index of the second entry.
        index: Vec<usize>,
    },
    /// A unique singleton would repeat a coordinate.
    #[error(
        "level {nth} is unique, but would repeat the coordinate of entry {} (counting from 1) for the levels below it; \
         write `singleton(nonunique)`",
        one_based(index), nth = level + 1
    )]
    Repeated {
        /// The level.
        level: usize,
        /// The index of the second entry.
        index: Vec<usize>,
    },
    /// A singleton level has a parent that needs a coordinate, but its mode has none.
    #[error("level {nth} is `singleton`, which stores a coordinate for each parent, but mode {} has extent 0", mode + 1, nth = level + 1)]
    NoCoordinate {
        /// The level.
        level: usize,
        /// The mode that it stores.
        mode: usize,
    },
    /// A padded level of a width that the format says has a parent with more children.
    #[error(
        "level {nth} is `padded(width = {width})`, but entry {} is one more under its parent (counting from 1); \
         give it a larger width, or leave the width to the data: `padded`",
        one_based(index), nth = level + 1
    )]
    Width {
        /// The level.
        level: usize,
        /// By the format.
        width: usize,
        /// The index of the first entry of the child that is too many.
        index: Vec<usize>,
    },
    /// An entry is beside the diagonal.
    #[error(
        "level {nth} is `diagonal`, but entry {} has another coordinate there than in the level above (counting from 1); \
         write `compressed`, or `banded` for what is near the diagonal",
        one_based(index), nth = level + 1
    )]
    OffDiagonal {
        /// The level.
        level: usize,
        /// The index of the entry.
        index: Vec<usize>,
    },
    /// A flagged level has a parent without children.
    #[error(
        "level {nth} is `flagged`, but has a parent without children, which flags can't say; \
         write `compressed` for it, or for the level above it", nth = level + 1
    )]
    Childless {
        /// The level.
        level: usize,
    },
    /// Coordinates take more bits than can be sorted at once.
    #[error(
        "the indices of one entry take {bits} bits, but at most 1024 can be sorted; reduce the order or the extents"
    )]
    TooWide {
        /// How many.
        bits: u32,
    },
    /// A level of a kind that is made of all entries at once, where there is no memory for these.
    #[error(
        "level {nth} is `{format}`, and only `dense`, `compressed` and `singleton` levels are packed by way of files; \
         leave out the limit of memory, or store the tensor in another format", nth = level + 1
    )]
    InMemoryAlone {
        /// The level.
        level: usize,
        /// What it is.
        format: LevelFormat,
    },
    /// Dense levels make the tensor too large to be stored.
    #[error(
        "level {nth} would have {count} positions, more than can be stored; \
         dense levels store every coordinate: write `compressed` for large modes with few entries", nth = level + 1
    )]
    TooLarge {
        /// The level.
        level: usize,
        /// How many, if 64 bits can say it, else the largest number that they can.
        count: usize,
    },
    /// Entries that should follow from each other do not.
    #[error("{0}")]
    NotSymmetric(Box<NotSymmetric>),
    /// The fill value is a complex number that is not real.
    #[error("the fill value is {fill}, but what stands for entries that are not stored must be real")]
    ComplexFill {
        /// The fill value.
        fill: String,
    },
    /// There is not enough memory.
    #[error("{0}; `compressed` levels store only what occurs")]
    Memory(#[from] OutOfMemory),
}

/// An entry that does not follow from the one that it should follow from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tensor is not {symmetry}: at {} it is {}, and at {} it is {}", one_based(index), values.0, one_based(from), values.1)]
pub struct NotSymmetric {
    /// What the tensor should be.
    pub symmetry: String,
    /// The index of the entry.
    pub index: Vec<usize>,
    /// That of the other one.
    pub from: Vec<usize>,
    /// Both values.
    pub values: (String, String),
}

/// Why entries do not pack by way of files.
#[derive(Debug)]
pub(crate) enum RunsError {
    Pack(PackError),
    /// A file beside the result can't be written or read.
    Io(io::Error),
}

impl From<PackError> for RunsError {
    fn from(error: PackError) -> Self {
        Self::Pack(error)
    }
}

impl From<OutOfMemory> for RunsError {
    fn from(error: OutOfMemory) -> Self {
        Self::Pack(error.into())
    }
}

impl From<io::Error> for RunsError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn one_based(index: &[usize]) -> String {
    let index: Vec<String> = index.iter().map(|&index| (index as u128 + 1).to_string()).collect();
    format!("({})", index.join(", "))
}

fn kind(format: &LevelFormat) -> &'static str {
    format.kind.name
}

/// The largest coordinate of a level: where it fills up, the largest number of the type is none.
fn largest(format: &LevelFormat) -> u64 {
    format.coordinates().maximum() - u64::from(format.kind.has_vacancies())
}

/// The narrowest width that holds a coordinate in a level of this kind.
fn wider(format: &LevelFormat, coordinate: u64) -> IndexWidth {
    let holds = |&width: &IndexWidth| coordinate <= largest(&format.with_coordinates(width));
    IndexWidth::ALL.into_iter().find(holds).unwrap_or(IndexWidth::U64)
}

/// The narrowest width that holds a number.
fn needed(number: u64) -> IndexWidth {
    IndexWidth::ALL.into_iter().find(|width| number <= width.maximum()).unwrap_or(IndexWidth::U64)
}
