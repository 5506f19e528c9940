//! Formats with computed coordinates, as types.
//!
//! Those that the language names take their numbers: `Bcsr<4>`, `Hicoo<3, 128>`, `Alto<3>`. Anything else is spelled level by
//! level, each a pair of its coordinate and its level format:
//!
//! ```
//! use spc::tensor::{Compressed, DenseLevel, Difference, Dia, Mapped, Mode, StorageFormat};
//!
//! type Diagonals = Mapped<2, ((Difference<Mode<1>, Mode<0>>, Compressed), (Mode<0>, DenseLevel))>;
//! assert_eq!(Diagonals::format(), Dia::format());
//! assert_eq!(Diagonals::format().to_string(), "(i, j) -> [j - i: compressed, i: dense]");
//! ```

use super::formats::{Mode, StorageFormat};
use spc_compiler::format::{Coordinate, Format, Level, LevelFormat, Order};
use spc_compiler::level::types::LevelType;
use std::marker::PhantomData;
use std::ops::Range;

/// A level's coordinate as a type.
pub trait CoordinateType: Send + Sync + 'static {
    /// The coordinate as data.
    fn coordinate() -> Coordinate;
}

impl<const M: usize> CoordinateType for Mode<M> {
    fn coordinate() -> Coordinate {
        Coordinate::Mode(M)
    }
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constant<const VALUE: u64>;

impl<const VALUE: u64> CoordinateType for Constant<VALUE> {
    fn coordinate() -> Coordinate {
        Coordinate::Constant(VALUE)
    }
}

/// The extent of mode `M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent<const M: usize>;

impl<const M: usize> CoordinateType for Extent<M> {
    fn coordinate() -> Coordinate {
        Coordinate::Extent(M)
    }
}

macro_rules! operators {
    ($($(#[$doc:meta])* $name:ident $variant:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<A, B>(PhantomData<fn() -> (A, B)>);

        impl<A: CoordinateType, B: CoordinateType> CoordinateType for $name<A, B> {
            fn coordinate() -> Coordinate {
                Coordinate::$variant(Box::new(A::coordinate()), Box::new(B::coordinate()))
            }
        }
    )*};
}

operators! {
    /// `A + B`
    Sum Add;
    /// `A - B`
    Difference Subtract;
    /// `A * B`
    Product Multiply;
    /// `A / B`, rounded down.
    Quotient Divide;
    /// `A % B`
    Remainder Remainder;
}

/// The bits of a tuple of coordinates in one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interleaved<Parts>(PhantomData<fn() -> Parts>);

/// A level whose coordinates, together with those of the singletons below it, are in Morton order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Morton<L>(PhantomData<fn() -> L>);

impl<L: LevelType> LevelType for Morton<L> {
    const FORMAT: LevelFormat = L::FORMAT.with_order(Order::Morton);
}

/// A tensor of order `N` whose levels, a tuple of pairs, store computed coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapped<const N: usize, L>(PhantomData<fn() -> L>);

/// Tuples of pairs of a [`CoordinateType`] and a [`LevelType`].
pub trait MapLevels: Send + Sync + 'static {
    /// The levels, outermost first.
    fn levels() -> Vec<Level>;
}

impl<const N: usize, L: MapLevels> StorageFormat for Mapped<N, L> {
    const ORDER: usize = N;

    fn format() -> Format {
        Format { order: N, levels: L::levels(), symmetry: None }
    }
}

macro_rules! tuples {
    ($($($coordinate:ident $level:ident),*;)*) => {$(
        impl<$($coordinate: CoordinateType),*> CoordinateType for Interleaved<($($coordinate,)*)> {
            fn coordinate() -> Coordinate {
                Coordinate::Interleave(vec![$($coordinate::coordinate()),*])
            }
        }

        impl<$($coordinate: CoordinateType, $level: LevelType),*> MapLevels for ($(($coordinate, $level),)*) {
            fn levels() -> Vec<Level> {
                vec![$(Level { coordinate: $coordinate::coordinate(), format: $level::FORMAT }),*]
            }
        }
    )*};
}

tuples! {
    A I;
    A I, B J;
    A I, B J, C K;
    A I, B J, C K, D L;
    A I, B J, C K, D L, E M;
    A I, B J, C K, D L, E M, F N;
    A I, B J, C K, D L, E M, F N, G O;
    A I, B J, C K, D L, E M, F N, G O, H P;
    A I, B J, C K, D L, E M, F N, G O, H P, Q R;
    A I, B J, C K, D L, E M, F N, G O, H P, Q R, S T;
    A I, B J, C K, D L, E M, F N, G O, H P, Q R, S T, U V;
    A I, B J, C K, D L, E M, F N, G O, H P, Q R, S T, U V, W X;
}

// What the named formats are made from: see `named.rs`.

/// A level.
pub(super) fn one(coordinate: Coordinate, format: LevelFormat) -> Vec<Level> {
    vec![Level { coordinate, format }]
}

/// A level of one format for each of some modes.
pub(super) fn each(modes: Range<usize>, coordinate: impl Fn(usize) -> Coordinate, format: LevelFormat) -> Vec<Level> {
    modes.map(|mode| Level { coordinate: coordinate(mode), format }).collect()
}

pub(super) fn mode(mode: usize) -> Coordinate {
    Coordinate::Mode(mode)
}

pub(super) fn constant(value: u64) -> Coordinate {
    Coordinate::Constant(value)
}

/// `a - b`
pub(super) fn difference(a: Coordinate, b: Coordinate) -> Coordinate {
    Coordinate::Subtract(Box::new(a), Box::new(b))
}

/// `a / b`, rounded down.
pub(super) fn quotient(a: Coordinate, b: Coordinate) -> Coordinate {
    Coordinate::Divide(Box::new(a), Box::new(b))
}

/// `a % b`
pub(super) fn remainder(a: Coordinate, b: Coordinate) -> Coordinate {
    Coordinate::Remainder(Box::new(a), Box::new(b))
}

/// The bits of the coordinates of some modes in one.
pub(super) fn interleave(modes: Range<usize>) -> Coordinate {
    Coordinate::Interleave(modes.map(Coordinate::Mode).collect())
}

/// `(i * extent(j) + j) * extent(k) + k`
pub(super) fn linear(modes: Range<usize>) -> Coordinate {
    let after = |code, mode| {
        let shifted = Coordinate::Multiply(Box::new(code), Box::new(Coordinate::Extent(mode)));
        Coordinate::Add(Box::new(shifted), Box::new(Coordinate::Mode(mode)))
    };
    (modes.start + 1..modes.end).fold(Coordinate::Mode(modes.start), after)
}

/// Types for formats: of any order where `N` is in the first brackets, with numbers for what is in the second. Each has the order
/// that it serves, or the least one, and its levels.
macro_rules! named_formats {
    ($(
        $(#[$doc:meta])*
        $name:ident [$($order:ident)?] [$($number:ident),*] = $least:literal, [$($levels:expr),* $(,)?];
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<$(const $order: usize,)? $(const $number: u64),*>;

        impl<$(const $order: usize,)? $(const $number: u64),*> $crate::tensor::StorageFormat for $name<$($order,)? $($number),*> {
            const ORDER: usize = [$($order,)? $least][0];

            fn format() -> spc_compiler::format::Format {
                const { assert!(Self::ORDER + 1 > $least, "the format is for tensors of higher order") };
                $(const { assert!($number > 0, "the numbers of a format are at least 1") };)*
                let mut levels = [$($levels),*].concat();
                spc_compiler::format::Level::settle(&mut levels);
                spc_compiler::format::Format { order: Self::ORDER, levels, symmetry: None }
            }
        }
    )*};
}
pub(super) use named_formats;
