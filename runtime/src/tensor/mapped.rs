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
use spc_compiler::format::{Coordinate, Format, IndexWidth, Level, LevelFormat, Order};
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
        Format { order: N, levels: L::levels() }
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

/// Levels as they are written in a definition, settled.
fn settled(mut levels: Vec<Level>) -> Vec<Level> {
    Level::settle(&mut levels);
    levels
}

/// A level of one format for each of some modes.
fn each(modes: Range<usize>, coordinate: impl Fn(usize) -> Coordinate, format: LevelFormat) -> Vec<Level> {
    modes.map(|mode| Level { coordinate: coordinate(mode), format }).collect()
}

/// A chain for some modes: the first in a level of this format, the others in singletons of that width.
fn chain(modes: Range<usize>, coordinate: impl Fn(usize) -> Coordinate, first: LevelFormat) -> Vec<Level> {
    let singleton = LevelFormat::SINGLETON.with_coordinates(first.coordinates()).nonunique();
    let mut levels = each(modes, coordinate, singleton);
    if let Some(level) = levels.first_mut() {
        level.format = first.nonunique();
    }
    levels
}

const MORTON: LevelFormat = LevelFormat::COMPRESSED.with_order(Order::Morton);

const fn of_width(coordinates: IndexWidth) -> LevelFormat {
    LevelFormat::COMPRESSED.with_coordinates(coordinates)
}

/// `i / B`
fn block(size: u64) -> impl Fn(usize) -> Coordinate {
    move |mode| Coordinate::Divide(Box::new(Coordinate::Mode(mode)), Box::new(Coordinate::Constant(size)))
}

/// `i % B`
fn place(size: u64) -> impl Fn(usize) -> Coordinate {
    move |mode| Coordinate::Remainder(Box::new(Coordinate::Mode(mode)), Box::new(Coordinate::Constant(size)))
}

/// Blocks of some modes in Morton order, then the coordinates within each.
fn curve(modes: Range<usize>, size: u64) -> Vec<Level> {
    [chain(modes.clone(), block(size), MORTON), chain(modes, place(size), of_width(IndexWidth::U8))].concat()
}

/// `(i * extent(j) + j) * extent(k) + k`
fn linear(order: usize) -> Coordinate {
    (1..order).fold(Coordinate::Mode(0), |code, mode| {
        let shifted = Coordinate::Multiply(Box::new(code), Box::new(Coordinate::Extent(mode)));
        Coordinate::Add(Box::new(shifted), Box::new(Coordinate::Mode(mode)))
    })
}

/// One number for each entry.
fn code(coordinate: Coordinate) -> Vec<Level> {
    vec![Level { coordinate, format: of_width(IndexWidth::U64) }]
}

macro_rules! named_maps {
    ($(
        $(#[$doc:meta])*
        $name:ident [$($order:ident)?] [$($block:ident)?] = $text:literal, $least:literal, |$n:ident| $levels:expr;
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            pub struct $name<$(const $order: usize,)? $(const $block: u64)?>;

            impl<$(const $order: usize,)? $(const $block: u64)?> StorageFormat for $name<$($order,)? $($block)?> {
                const ORDER: usize = [$($order,)? 2][0];

                fn format() -> Format {
                    const { assert!(Self::ORDER >= $least, "the format is for tensors of higher order") };
                    $(const { assert!($block > 0, "a block has at least 1 coordinate") };)?
                    let $n = Self::ORDER;
                    Format { order: $n, levels: settled($levels) }
                }
            }
        )*

        #[cfg(all(test, feature = "compile"))]
        const NAMES: &[&str] = &[$($text),*];
    };
}

// What the named formats of the language are: the compiler's prelude says the same, and a test compares.
named_maps! {
    /// Compressed sparse rows of dense blocks of `B` × `B`.
    Bcsr [] [B] = "bcsr", 2, |n| [
        each(0..1, block(B), LevelFormat::DENSE),
        each(1..2, block(B), LevelFormat::COMPRESSED),
        each(0..n, place(B), LevelFormat::DENSE),
    ].concat();
    /// Coordinates within blocks of `B` × `B`.
    Csb [] [B] = "csb", 2, |n| [
        each(0..n, block(B), LevelFormat::DENSE),
        chain(0..n, place(B), of_width(IndexWidth::U16)),
    ].concat();
    /// Dense diagonals.
    Dia [] [] = "dia", 2, |_n| [
        each(0..1, |_| Difference::<Mode<1>, Mode<0>>::coordinate(), LevelFormat::COMPRESSED),
        each(0..1, Coordinate::Mode, LevelFormat::DENSE),
    ].concat();
    /// Dense blocks of edge `B`.
    Tiled [N] [B] = "tiled", 1, |n| {
        [each(0..n, block(B), LevelFormat::DENSE), each(0..n, place(B), LevelFormat::DENSE)].concat()
    };
    /// A tree of dense blocks of edge `B`.
    Bcsf [N] [B] = "bcsf", 1, |n| {
        [each(0..n, block(B), LevelFormat::COMPRESSED), each(0..n, place(B), LevelFormat::DENSE)].concat()
    };
    /// Coordinates in Morton order.
    Mcoo [N] [] = "mcoo", 1, |n| chain(0..n, Coordinate::Mode, MORTON);
    /// One number for each entry, row-major.
    Lco [N] [] = "lco", 1, |n| code(linear(n));
    /// One number for each entry, of interleaved bits.
    Alto [N] [] = "alto", 1, |n| code(Coordinate::Interleave((0..n).map(Coordinate::Mode).collect()));
    /// Blocks of edge `B` in Morton order, then the coordinates within each.
    Hicoo [N] [B] = "hicoo", 1, |n| curve(0..n, B);
    /// As [`Hicoo`] over all modes but the last, whose coordinates are whole.
    Ghicoo [N] [B] = "ghicoo", 2, |n| {
        [curve(0..n - 1, B), each(n - 1..n, Coordinate::Mode, LevelFormat::SINGLETON)].concat()
    };
    /// As [`Hicoo`] over all modes but the last, which is dense.
    Shicoo [N] [B] = "shicoo", 2, |n| {
        [curve(0..n - 1, B), each(n - 1..n, Coordinate::Mode, LevelFormat::DENSE)].concat()
    };
}

#[cfg(all(test, feature = "compile"))]
mod tests {
    use super::super::{Compressed, DenseLevel, Nonunique, Singleton, Tensor, Unique, Unordered};
    use super::*;
    use spc_compiler::backend::rust::MAP_TYPES;
    use spc_compiler::format;

    #[test]
    fn the_compiler_knows_the_types_of_maps() {
        let known: Vec<&str> = MAP_TYPES.iter().map(|map| map.name).collect();
        assert_eq!(known, NAMES);
    }

    /// Each type of orders 2 to 5 and some blocks, and of orders that only some serve.
    #[test]
    fn types_are_what_the_prelude_says() {
        fn same<F: StorageFormat>(name: &str, arguments: &[u64]) {
            let expected = format::named(name, arguments, F::ORDER).unwrap();
            assert_eq!(F::format(), expected, "{name} of order {}", F::ORDER);
        }
        fn blocked<const B: u64>() {
            same::<Bcsr<B>>("bcsr", &[B]);
            same::<Csb<B>>("csb", &[B]);
            of_order::<2, B>();
            of_order::<3, B>();
            of_order::<5, B>();
            same::<Tiled<1, B>>("tiled", &[B]);
            same::<Bcsf<1, B>>("bcsf", &[B]);
            same::<Hicoo<1, B>>("hicoo", &[B]);
        }
        fn of_order<const N: usize, const B: u64>() {
            same::<Tiled<N, B>>("tiled", &[B]);
            same::<Bcsf<N, B>>("bcsf", &[B]);
            same::<Hicoo<N, B>>("hicoo", &[B]);
            same::<Ghicoo<N, B>>("ghicoo", &[B]);
            same::<Shicoo<N, B>>("shicoo", &[B]);
            of_codes::<N>();
        }
        fn of_codes<const N: usize>() {
            same::<Mcoo<N>>("mcoo", &[]);
            same::<Lco<N>>("lco", &[]);
            same::<Alto<N>>("alto", &[]);
        }
        blocked::<1>();
        blocked::<4>();
        blocked::<128>();
        of_codes::<1>();
        same::<Dia>("dia", &[]);
        assert_eq!(NAMES.len(), 11, "a new type is compared above");
    }

    #[test]
    fn spelled_types_are_the_named_ones() {
        type Blocks = Mapped<
            2,
            (
                (Quotient<Mode<0>, Constant<4>>, DenseLevel),
                (Quotient<Mode<1>, Constant<4>>, Compressed),
                (Remainder<Mode<0>, Constant<4>>, DenseLevel),
                (Remainder<Mode<1>, Constant<4>>, DenseLevel),
            ),
        >;
        assert_eq!(Blocks::format(), Bcsr::<4>::format());
        type Coded = Mapped<3, ((Interleaved<(Mode<0>, Mode<1>, Mode<2>)>, Compressed<Unique, u64>),)>;
        assert_eq!(Coded::format(), Alto::<3>::format());
        type Linear = Mapped<2, ((Sum<Product<Mode<0>, Extent<1>>, Mode<1>>, Compressed<Unique, u64>),)>;
        assert_eq!(Linear::format(), Lco::<2>::format());
        type Curve = super::super::Levels<(Morton<Compressed<Nonunique>>, Singleton<Unique, u32, Unordered>)>;
        assert_eq!(Curve::format(), Mcoo::<2>::format());
    }

    #[test]
    fn tensors_of_mapped_types_hold_their_entries() {
        let entries = [([0, 4], 1.0), ([6, 2], 2.0), ([6, 6], 3.0)];
        let blocked = Tensor::<f64, Bcsr<4>>::from_entries([7, 7], entries).unwrap();
        assert_eq!((blocked.get(&[6, 2]), blocked.get(&[6, 3]), blocked.get(&[0, 0])), (Some(2.0), Some(0.0), None));
        let coded = blocked.convert::<Alto<2>>().unwrap();
        assert_eq!((coded.nnz(), coded.to_dense_vec()), (3, blocked.to_dense_vec()));
        assert_eq!(coded.convert::<Hicoo<2, 2>>().unwrap().convert::<Dia>().unwrap().get(&[6, 6]), Some(3.0));
    }
}
