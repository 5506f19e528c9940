//! Stored coordinates.

mod sealed {
    /// No type outside of this crate is a coordinate: those of four bytes are loaded as bits.
    pub trait Sealed {}
}

/// The types of stored coordinates.
pub trait Coordinate: Copy + sealed::Sealed {
    /// What fills up rows: the largest number, which is no coordinate there.
    const FILLING: Self;

    /// As a place in an array.
    fn place(self) -> usize;

    /// Whether it is no coordinate, where rows are filled up.
    fn is_filling(self) -> bool;

    /// As a number of 32 bits, the largest of those where it has more.
    fn narrow(self) -> u32;

    /// The same, if they have four bytes.
    #[inline(always)]
    fn words(_: &[Self]) -> Option<&[u32]> {
        None
    }
}

macro_rules! coordinates {
    ($($type:ident $(($words:ident))?)*) => {
        $(impl sealed::Sealed for $type {}

        impl Coordinate for $type {
            const FILLING: Self = <$type>::MAX;

            #[inline(always)]
            fn place(self) -> usize {
                self as usize
            }

            #[inline(always)]
            fn is_filling(self) -> bool {
                self == Self::FILLING
            }

            #[inline(always)]
            #[allow(irrefutable_let_patterns)]
            fn narrow(self) -> u32 {
                if let Ok(narrow) = u32::try_from(self) { narrow } else { u32::MAX }
            }

            $(#[inline(always)]
            fn $words(coordinates: &[u32]) -> Option<&[u32]> {
                Some(coordinates)
            })?
        })*
    };
}

coordinates!(u8 u16 u32(words) u64);
