//! Reading of each element type, compiled once in this crate and not again in each that does it.

use super::{Contents, ReadError, TensorFile, contents};
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use crate::tensor::{AnyTensor, Coordinates, Element, OutOfMemory};

/// What is done with whole files of an element type.
pub trait Files: Sized {
    /// What a file holds.
    fn read(file: &TensorFile, shape: Option<&[usize]>) -> Result<Contents<Self>, ReadError>;

    /// The entries of a tensor, without those that are stored for their place only and are `missing`.
    fn present(tensor: &AnyTensor, missing: Self) -> Result<Coordinates<Self>, OutOfMemory>;
}

macro_rules! compiled {
    ($($type:ident)*) => {$(
        impl Files for $type {
            fn read(file: &TensorFile, shape: Option<&[usize]>) -> Result<Contents<Self>, ReadError> {
                file.parse(Self::TYPE, shape)?.of_carriers()
            }

            fn present(tensor: &AnyTensor, missing: Self) -> Result<Coordinates<Self>, OutOfMemory> {
                contents::present(tensor, missing)
            }
        }
    )*};
}
compiled!(f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c32 c64);
