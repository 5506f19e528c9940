//! Levels as types: what spells a format in Rust. Each kind of level has its types in its own file.

use crate::format::{IndexWidth, LevelFormat, Order};

/// A level format as a type.
pub trait LevelType: Send + Sync + 'static {
    /// The level format as data.
    const FORMAT: LevelFormat;
}

/// The type of an index array's elements.
pub trait IndexType: Send + Sync + 'static {
    /// Its width.
    const WIDTH: IndexWidth;
}

macro_rules! index_types {
    ($($type:ident $width:ident),*) => {$(
        impl IndexType for $type {
            const WIDTH: IndexWidth = IndexWidth::$width;
        }
    )*};
}
index_types!(u8 U8, u16 U16, u32 U32, u64 U64);

/// A property of a level that a type stands for.
pub trait Flag: Send + Sync + 'static {
    /// Whether the level has it.
    const VALUE: bool;
}

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

        impl Flag for $name {
            const VALUE: bool = $value;
        }
    )*};
}

flags! {
    /// A coordinate occurs at most once under one parent.
    Unique = true;
    /// A coordinate may occur several times under one parent.
    Nonunique = false;
    /// Coordinates under one parent ascend.
    Ordered = true;
    /// Coordinates under one parent are in any order.
    Unordered = false;
}

/// The order that [`Ordered`] or [`Unordered`] stands for.
pub const fn order<O: Flag>() -> Order {
    if O::VALUE { Order::Ascending } else { Order::Any }
}
