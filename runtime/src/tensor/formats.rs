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

use spc_compiler::format::{Format, LevelFormat, Symmetry, SymmetryKind};
use spc_compiler::level::types::LevelType;
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

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scalar;

impl StorageFormat for Scalar {
    const ORDER: usize = 0;

    fn format() -> Format {
        Format::dense(0)
    }
}

impl RowMajor for Scalar {}

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

macro_rules! symmetric {
    ($($(#[$doc:meta])* $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $kind<F, Modes>(PhantomData<(F, Modes)>);

        impl<F: StorageFormat, M: ModeList> StorageFormat for $kind<F, M> {
            const ORDER: usize = F::ORDER;

            fn format() -> Format {
                let mut modes = M::MODES.as_ref().to_vec();
                modes.sort_unstable();
                F::format().with_symmetry(Some(Symmetry { kind: SymmetryKind::$kind, modes }))
            }
        }
    )*};
}
symmetric! {
    /// A format in which modes, a tuple of [`Mode`]s, may be exchanged: of entries that follow from each other one is stored.
    ///
    /// ```
    /// use spc::tensor::{Csr, Mode, Symmetric, Tensor};
    ///
    /// type SymmetricCsr = Symmetric<Csr, (Mode<0>, Mode<1>)>;
    /// spc::tensor_kernel! {
    ///     fn product(A: csr symmetric(i, j), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
    /// }
    /// let a = Tensor::<f64, SymmetricCsr>::from_entries([2, 2], [([0, 1], 3.0), ([1, 0], 3.0), ([1, 1], 4.0)])?;
    /// assert_eq!(a.nnz(), 2);
    /// let x = Tensor::from_vec([2], vec![1.0, 10.0])?;
    /// assert_eq!(product(&a, &x)?.values(), [30.0, 43.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Symmetric;
    /// As [`Symmetric`], where the sign of the value changes with each exchange.
    Skew;
    /// As [`Symmetric`], where the value becomes its complex conjugate with each exchange.
    Hermitian;
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
    use super::super::{Coo, Csc, Csf, Csr, Dcsr, Dense, Scoo};
    use super::*;
    use spc_compiler::level::level_types::*;
    use spc_compiler::level::types::{Nonunique, Unique, Unordered};

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
        type Structured = Levels<(DiagonalLevel, PaddedTo<2, Nonunique, u8>, Singleton)>;
        assert_eq!(text::<Structured>(), "[diagonal, padded(width = 2, nonunique, u8), singleton]");
        type Others =
            Levels<(Bitmap, Hashed<u8>, Banded<u32, u64>, Run, Flagged<Unique, u16>, Sliced<4>, Grouped<2, u8>)>;
        assert_eq!(
            text::<Others>(),
            "[bitmap, hashed(u8), banded(pos = u64), run, flagged(u16), sliced(rows = 4), grouped(limit = 2, u8)]"
        );
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
