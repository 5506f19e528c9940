//! Formats as types: what [`Tensor`](super::Tensor) is generic over.
//!
//! Named formats serve any order: `Csf<3>`, `Coo<4>`, `Dense<2>`. Anything else is spelled level by level, with the defaults
//! of the language (unique, ordered, `u32`), and with the modes where they are not in order:
//!
//! ```
//! use spc::tensor::{Compressed, DenseLevel, Levels, Mode, Nonunique, Permuted, Singleton, StorageFormat};
//!
//! type Semisparse = Levels<(Compressed<Nonunique>, Singleton, DenseLevel)>;
//! assert_eq!(Semisparse::format().to_string(), "[compressed(nonunique), singleton, dense]");
//!
//! type ByColumn = Permuted<(Mode<1>, Mode<0>), Levels<(DenseLevel, Compressed)>>;
//! assert_eq!(ByColumn::format().to_string(), "(i, j) -> [j: dense, i: compressed]");
//! ```

use super::Index;
use spc_compiler::format::{Format, LevelFormat};
use std::marker::PhantomData;

/// A storage format as a type.
pub trait StorageFormat: Send + Sync + 'static {
    /// The number of modes.
    const ORDER: usize;

    /// The format as data.
    fn format() -> Format;
}

/// Formats in which a tensor's values are all there is, row-major.
pub trait RowMajor: StorageFormat {}

macro_rules! named_formats {
    ($($(#[$doc:meta])* $name:ident $(<$order:ident>)? = $number:expr, $format:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name $(<const $order: usize>)?;

        impl $(<const $order: usize>)? StorageFormat for $name $(<$order>)? {
            const ORDER: usize = $number;

            fn format() -> Format {
                $format
            }
        }
    )*};
}

named_formats! {
    /// All modes dense, in order: row-major.
    Dense<N> = N, Format::dense(N);
    /// Coordinates, sorted.
    Coo<N> = N, Format::coo(N);
    /// Compressed sparse fibers.
    Csf<N> = N, Format::csf(N);
    /// Semi-sparse coordinates: sorted coordinates of all modes but the last, which is dense.
    Scoo<N> = N, scoo(N);
    /// Compressed sparse rows.
    Csr = 2, Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
    /// Compressed sparse columns.
    Csc = 2, Format::permuted(&[1, 0], &[LevelFormat::DENSE, LevelFormat::COMPRESSED]);
    /// Compressed sparse rows of which only those with entries are stored.
    Dcsr = 2, Format::csf(2);
    /// One value.
    Scalar = 0, Format::dense(0);
}

impl<const N: usize> RowMajor for Dense<N> {}
impl RowMajor for Scalar {}

fn scoo(order: usize) -> Format {
    let Some(sparse) = order.checked_sub(1) else { return Format::dense(0) };
    let levels = Format::coo(sparse).levels.into_iter().map(|level| level.format);
    Format::of_levels(levels.chain([LevelFormat::DENSE]))
}

/// A level format as a type.
pub trait LevelType: Send + Sync + 'static {
    /// The level format as data.
    const FORMAT: LevelFormat;
}

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

/// `dense`: every coordinate, none stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseLevel;

impl LevelType for DenseLevel {
    const FORMAT: LevelFormat = LevelFormat::DENSE;
}

/// `compressed`: the coordinates that occur under each parent. `U` is [`Unique`] or [`Nonunique`], `C` and `P` are the types
/// of stored coordinates and positions, `O` is [`Ordered`] or [`Unordered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compressed<U = Unique, C = u32, P = u32, O = Ordered>(PhantomData<(U, C, P, O)>);

impl<U: Flag, C: Index, P: Index, O: Flag> LevelType for Compressed<U, C, P, O> {
    const FORMAT: LevelFormat = LevelFormat {
        unique: U::VALUE,
        ordered: O::VALUE,
        coordinates: C::WIDTH,
        positions: P::WIDTH,
        ..LevelFormat::COMPRESSED
    };
}

/// `singleton`: one coordinate for each parent position. `U` is [`Unique`] or [`Nonunique`], `C` the type of stored
/// coordinates, `O` is [`Ordered`] or [`Unordered`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Singleton<U = Unique, C = u32, O = Ordered>(PhantomData<(U, C, O)>);

impl<U: Flag, C: Index, O: Flag> LevelType for Singleton<U, C, O> {
    const FORMAT: LevelFormat =
        LevelFormat { unique: U::VALUE, ordered: O::VALUE, coordinates: C::WIDTH, ..LevelFormat::SINGLETON };
}

/// `padded`: rows of one width, that of the longest, the rest filled up. `U` is [`Unique`] or [`Nonunique`], `C` the type of
/// stored coordinates, `P` that of the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Padded<U = Unique, C = u32, P = u32>(PhantomData<(U, C, P)>);

impl<U: Flag, C: Index, P: Index> LevelType for Padded<U, C, P> {
    const FORMAT: LevelFormat =
        LevelFormat { unique: U::VALUE, coordinates: C::WIDTH, positions: P::WIDTH, ..LevelFormat::PADDED };
}

/// `padded(width = W)`: rows of `W` places, the rest filled up. `U` is [`Unique`] or [`Nonunique`], `C` the type of stored
/// coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaddedTo<const W: u64, U = Unique, C = u32>(PhantomData<(U, C)>);

impl<const W: u64, U: Flag, C: Index> LevelType for PaddedTo<W, U, C> {
    const FORMAT: LevelFormat =
        LevelFormat { unique: U::VALUE, coordinates: C::WIDTH, width: Some(W), ..LevelFormat::PADDED };
}

/// `sliced(rows = R)`: slices of `R` rows side by side, each filled up to the width of its longest. `C` and `P` are the types of
/// stored coordinates and positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sliced<const R: u64 = 8, C = u32, P = u32>(PhantomData<(C, P)>);

impl<const R: u64, C: Index, P: Index> LevelType for Sliced<R, C, P> {
    const FORMAT: LevelFormat =
        LevelFormat { rows: R, coordinates: C::WIDTH, positions: P::WIDTH, ..LevelFormat::SLICED };
}

/// `flagged`: the coordinates that occur under each parent, the first of each flagged. `U` is [`Unique`] or [`Nonunique`], `C`
/// the type of stored coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flagged<U = Unique, C = u32>(PhantomData<(U, C)>);

impl<U: Flag, C: Index> LevelType for Flagged<U, C> {
    const FORMAT: LevelFormat = LevelFormat { unique: U::VALUE, coordinates: C::WIDTH, ..LevelFormat::FLAGGED };
}

macro_rules! levels_of_widths {
    ($($(#[$doc:meta])* $name:ident = $format:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name<C = u32, P = u32>(PhantomData<(C, P)>);

        impl<C: Index, P: Index> LevelType for $name<C, P> {
            const FORMAT: LevelFormat = LevelFormat { coordinates: C::WIDTH, positions: P::WIDTH, ..$format };
        }
    )*};
}

levels_of_widths! {
    /// `hashed`: the coordinates under each parent in a hash table. `C` and `P` are the types of stored coordinates and
    /// positions.
    Hashed = LevelFormat::HASHED;
    /// `banded`: one interval of coordinates for each parent. `C` and `P` are the types of stored coordinates and positions.
    Banded = LevelFormat::BANDED;
    /// `run`: equal neighbours once. `C` and `P` are the types of stored coordinates and positions.
    Run = LevelFormat::RUN;
}

/// `bitmap`: every coordinate, and which have an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bitmap;

impl LevelType for Bitmap {
    const FORMAT: LevelFormat = LevelFormat::BITMAP;
}

/// `diagonal`: the coordinate of the level above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagonal;

impl LevelType for Diagonal {
    const FORMAT: LevelFormat = LevelFormat::DIAGONAL;
}

/// Levels in the order of the modes: a tuple of one to eight level types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels<L>(PhantomData<L>);

/// Mode `M`, counted from 0, in the mode order of [`Permuted`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode<const M: usize>;

/// Levels that store the modes in another order: level `l` stores the `l`-th of `Modes`, a tuple of [`Mode`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Permuted<Modes, L>(PhantomData<(Modes, L)>);

/// Tuples of level types.
pub trait LevelList: Send + Sync + 'static {
    /// An array of as many level formats.
    type Formats: AsRef<[LevelFormat]>;

    /// The level formats, outermost first.
    const FORMATS: Self::Formats;
}

/// Tuples of [`Mode`]s.
pub trait ModeList: Send + Sync + 'static {
    /// An array of as many modes.
    type Modes: AsRef<[usize]>;

    /// The modes, outermost level first.
    const MODES: Self::Modes;
}

macro_rules! tuples {
    ($($number:literal: $($level:ident $mode:ident),*;)*) => {$(
        impl<$($level: LevelType),*> LevelList for ($($level,)*) {
            type Formats = [LevelFormat; $number];

            const FORMATS: Self::Formats = [$($level::FORMAT),*];
        }

        impl<$($level: LevelType),*> StorageFormat for Levels<($($level,)*)> {
            const ORDER: usize = $number;

            fn format() -> Format {
                Format::of_levels(<($($level,)*)>::FORMATS)
            }
        }

        impl<$(const $mode: usize),*> ModeList for ($(Mode<$mode>,)*) {
            type Modes = [usize; $number];

            const MODES: Self::Modes = [$($mode),*];
        }

        impl<$($level: LevelType,)* $(const $mode: usize),*> StorageFormat
            for Permuted<($(Mode<$mode>,)*), Levels<($($level,)*)>>
        {
            const ORDER: usize = $number;

            fn format() -> Format {
                Format::permuted(&<($(Mode<$mode>,)*)>::MODES, &<($($level,)*)>::FORMATS)
            }
        }
    )*};
}

tuples! {
    1: A I;
    2: A I, B J;
    3: A I, B J, C K;
    4: A I, B J, C K, D L;
    5: A I, B J, C K, D L, E M;
    6: A I, B J, C K, D L, E M, F N;
    7: A I, B J, C K, D L, E M, F N, G O;
    8: A I, B J, C K, D L, E M, F N, G O, H P;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<F: StorageFormat>() -> String {
        let format = F::format();
        assert_eq!(format.order, F::ORDER);
        format.to_string()
    }

    #[test]
    fn named_formats_are_those_of_the_language() {
        assert_eq!(text::<Dense<3>>(), "[dense, dense, dense]");
        assert_eq!(text::<Coo<1>>(), "[compressed]");
        assert_eq!(text::<Coo<3>>(), "[compressed(nonunique), singleton(nonunique), singleton]");
        assert_eq!(text::<Csf<2>>(), "[compressed, compressed]");
        assert_eq!(text::<Dcsr>(), "[compressed, compressed]");
        assert_eq!(text::<Csr>(), "[dense, compressed]");
        assert_eq!(text::<Csc>(), "(i, j) -> [j: dense, i: compressed]");
        assert_eq!(text::<Scoo<1>>(), "[dense]");
        assert_eq!(text::<Scoo<2>>(), "[compressed, dense]");
        assert_eq!(text::<Scoo<3>>(), "[compressed(nonunique), singleton, dense]");
        assert_eq!(text::<Scalar>(), "[]");
    }

    #[test]
    fn levels_carry_their_properties() {
        type Narrow = Levels<(Compressed<Nonunique, u64, u64>, Singleton<Unique, u8>)>;
        assert_eq!(text::<Narrow>(), "[compressed(nonunique, u64, pos = u64), singleton(u8)]");
        type Loose = Levels<(DenseLevel, Compressed<Unique, u16, u32, Unordered>)>;
        assert_eq!(text::<Loose>(), "[dense, compressed(unordered, u16)]");
        type Ell = Levels<(DenseLevel, Padded<Unique, u16>)>;
        assert_eq!(text::<Ell>(), "[dense, padded(u16)]");
        type Structured = Levels<(Diagonal, PaddedTo<2, Nonunique, u8>, Singleton)>;
        assert_eq!(text::<Structured>(), "[diagonal, padded(width = 2, nonunique, u8), singleton]");
        type Others = Levels<(Bitmap, Hashed<u8>, Banded<u32, u64>, Run, Flagged<Unique, u16>, Sliced<4>)>;
        assert_eq!(text::<Others>(), "[bitmap, hashed(u8), banded(pos = u64), run, flagged(u16), sliced(rows = 4)]");
        type Eight = Levels<(
            DenseLevel,
            DenseLevel,
            DenseLevel,
            DenseLevel,
            DenseLevel,
            DenseLevel,
            Compressed<Nonunique>,
            Singleton,
        )>;
        assert_eq!(Eight::format().levels.len(), 8);
    }
}
