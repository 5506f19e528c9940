//! What can be wrong with a tensor that is put together from arrays.

use super::OutOfMemory;
use spc_compiler::format::{Format, IndexWidth, Role};
use spc_compiler::ir::ElementType;

/// A tensor is of another format or element type than its type says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongType {
    /// The format is another.
    #[error("the tensor is stored as {found}, not as {expected}; convert it first")]
    Format {
        /// The format of the type.
        expected: Box<Format>,
        /// The tensor's.
        found: Box<Format>,
    },
    /// The element type is another.
    #[error(transparent)]
    Element(#[from] WrongElement),
}

/// Why arrays do not make a tensor of a format. Levels, modes, positions and coordinates count from 0 in the fields; in
/// messages, levels and modes count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidTensor {
    /// The shape has another number of modes than the format.
    #[error("the format {format} is for tensors of order {order}, but the shape has {modes} modes")]
    Order {
        /// The format.
        format: String,
        /// Its order.
        order: usize,
        /// The number of modes of the shape.
        modes: usize,
    },
    /// A symmetric format does not store such an entry, as it follows from another.
    #[error("{format} does not store the entry {index:?}: it follows from the one whose indices ascend")]
    NotStored {
        /// The format.
        format: String,
        /// The index.
        index: Vec<usize>,
    },
    /// The format can't be stored.
    #[error("tensors can't be stored as {format}: {reason}")]
    Unsupported {
        /// The format.
        format: String,
        /// Why.
        reason: String,
    },
    /// There is storage for another number of levels.
    #[error("the format has {expected} levels, but there are arrays for {found}")]
    LevelCount {
        /// By the format.
        expected: usize,
        /// As handed in.
        found: usize,
    },
    /// A level of a kind has other arrays.
    #[error("level {nth} is {kind}, which has other arrays than those that are given", nth = level + 1)]
    Arrays {
        /// The level.
        level: usize,
        /// Its kind.
        kind: &'static str,
    },
    /// An index is negative.
    #[error("index {position} of an array is negative")]
    Negative {
        /// Where, from 0.
        position: usize,
    },
    /// The elements of a dense tensor do not lie as the format says.
    #[error(
        "elements of shape {shape:?} with strides {strides:?} do not lie as {} has them: copy them first",
        format.as_deref().unwrap_or("any dense format")
    )]
    Strides {
        /// The extent of each mode.
        shape: Box<[usize]>,
        /// How many elements are from one index of a mode to the next.
        strides: Box<[isize]>,
        /// The format that is asked for, where one is.
        format: Option<Box<str>>,
    },
    /// An array has another width than the format says.
    #[error("the {} of level {nth} are {} by the format, but {} in the array", array.name(), expected.name(), found.name(), nth = level + 1)]
    Width {
        /// The level.
        level: usize,
        /// Which array.
        array: Role,
        /// By the format.
        expected: IndexWidth,
        /// As handed in.
        found: IndexWidth,
    },
    /// An array has a wrong number of elements.
    #[error("the {} of level {nth} should be {expected} in number, but are {found}", array.name(), nth = level + 1)]
    Length {
        /// The level.
        level: usize,
        /// Which array.
        array: Role,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Positions begin with another number than 0.
    #[error("the positions of level {nth} should begin with 0, but begin with {found}", nth = level + 1)]
    Begin {
        /// The level.
        level: usize,
        /// The first of them.
        found: usize,
    },
    /// Positions descend.
    #[error("the positions of level {nth} descend from {from} to {to} at parent {parent}", nth = level + 1)]
    Descent {
        /// The level.
        level: usize,
        /// The parent whose children would be fewer than none.
        parent: usize,
        /// Where its children begin.
        from: usize,
        /// Where they end.
        to: usize,
    },
    /// A coordinate is not less than the extent.
    #[error("level {nth} has coordinate {coordinate} at position {position}, but mode {nth_mode} has extent {extent}", nth = level + 1, nth_mode = mode + 1)]
    Beyond {
        /// The level.
        level: usize,
        /// The mode that it stores.
        mode: usize,
        /// Where.
        position: usize,
        /// The coordinate.
        coordinate: usize,
        /// The extent of the mode.
        extent: usize,
    },
    /// Coordinates under one parent are not in order.
    #[error("the coordinates of level {nth} are out of order at position {position}; `unordered` levels may be so", nth = level + 1)]
    Unordered {
        /// The level.
        level: usize,
        /// The position of the smaller coordinate that comes later.
        position: usize,
    },
    /// A coordinate occurs twice under one parent of a level of unique coordinates.
    #[error("level {nth} repeats a coordinate at position {position}, but its coordinates are unique by the format", nth = level + 1)]
    Repeated {
        /// The level.
        level: usize,
        /// The position of the second.
        position: usize,
    },
    /// Two entries have the same index in each mode.
    #[error("two entries have the same index in each mode, the second at position {position}")]
    Duplicate {
        /// The position of the second entry.
        position: usize,
    },
    /// A value that is not the fill value stands where computed coordinates stand for no index of the tensor.
    #[error("position {position} is padding, outside of the tensor's shape, but its value is not the fill value")]
    Padding {
        /// Where.
        position: usize,
    },
    /// A level of a kind that deals with one parent at a time is below repeated coordinates.
    #[error(
        "level {nth} is below the repeated coordinate at position {position} of the level above it, which must be unique", nth = level + 1
    )]
    Shared {
        /// The level.
        level: usize,
        /// The position above at which the same coordinates go on.
        position: usize,
    },
    /// There is an entry below padding or an empty slot.
    #[error("level {nth} has an entry at position {position}, below a position of the level above it that has none", nth = level + 1)]
    Vacant {
        /// The level.
        level: usize,
        /// The position of the entry; of the parent, where that has several.
        position: usize,
    },
    /// A slice has not as many positions for each of its rows.
    #[error("slice {slice} of level {nth} has not as many positions for each of its {rows} rows", nth = level + 1)]
    Slice {
        /// The level.
        level: usize,
        /// The slice.
        slice: usize,
        /// How many rows it has.
        rows: usize,
    },
    /// A row has coordinates behind what fills it up.
    #[error("level {nth} has a coordinate at position {position}, behind the filling of its row", nth = level + 1)]
    Filling {
        /// The level.
        level: usize,
        /// The position of the coordinate.
        position: usize,
    },
    /// A flag is neither 0 nor 1.
    #[error("level {nth} has the flag {found} at position {position}, where 0 or 1 must stand", nth = level + 1)]
    Flag {
        /// The level.
        level: usize,
        /// Where.
        position: usize,
        /// What stands there.
        found: usize,
    },
    /// Flags of first children say another number of parents, or the first child of all has none.
    #[error("level {nth} flags {found} first children from position 0 on, but there are {expected} parents", nth = level + 1)]
    Flags {
        /// The level.
        level: usize,
        /// How many parents there are.
        expected: usize,
        /// How many are flagged; 0 where the first position is not.
        found: usize,
    },
    /// A hash table has a size that none has.
    #[error("the table of parent {parent} of level {nth} has {slots} slots, which is no power of two", nth = level + 1)]
    Table {
        /// The level.
        level: usize,
        /// The parent.
        parent: usize,
        /// The number of slots.
        slots: usize,
    },
    /// A coordinate is in a slot where it is not looked for.
    #[error("the coordinate at position {position} of level {nth} is not found where its hash is looked for", nth = level + 1)]
    Misplaced {
        /// The level.
        level: usize,
        /// Its position.
        position: usize,
    },
    /// The runs of a parent do not reach to the extent.
    #[error("the runs of parent {parent} of level {nth} end at {end}, but the extent is {extent}", nth = level + 1)]
    Runs {
        /// The level.
        level: usize,
        /// The parent.
        parent: usize,
        /// Where they end.
        end: usize,
        /// Where they must.
        extent: usize,
    },
    /// Values are too few or too many.
    #[error("there should be {expected} values, one for each position of the last level, but there are {found}")]
    ValueCount {
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// Dense levels would have more positions than can be counted.
    #[error("level {nth} would have more than 2^64 positions; store a mode above it as `compressed`", nth = level + 1)]
    TooLarge {
        /// The level.
        level: usize,
    },
    /// There is not enough memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The format or the elements are others than those asked for.
    #[error(transparent)]
    Type(#[from] WrongType),
}

/// A tensor's elements are of another type than asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the elements are {}, not {}", found.name(), expected.name())]
pub struct WrongElement {
    /// The type asked for.
    pub expected: ElementType,
    /// The tensor's.
    pub found: ElementType,
}
