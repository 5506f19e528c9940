//! What a caller hands in for the parameters of a kernel.

use crate::complex::{c32, c64};
use crate::execute::kernel::scalar;
use crate::execute::{Error, ProgramError, StreamOptions, Way};
use crate::generate;
use crate::half::{bf16, f16};
use crate::io::{StoredParts, StoredTensor};
use crate::tensor::{
    AnyTensor, Coordinates, Duplicates, Element, InvalidTensor, PackError, Statistics, StorageSize, pack_filled,
    statistics, storage_size,
};
use spc_compiler::concrete;
use spc_compiler::format::Format;
use spc_compiler::ir::{ElementType, Literal};
use std::sync::Arc;

/// What stands for a parameter of a kernel.
#[derive(Debug, Clone)]
pub enum Operand {
    /// A tensor in any format; its shape is stated.
    Tensor(AnyTensor),
    /// A tensor in a file. An input that comes in parts is read a part at a time; another is read whole.
    Stored(StoredTensor),
    /// Entries, as a file has them. Where their shape is not stated, it is a lower bound.
    Entries(Entries),
    /// The same, and what entries that are missing are, as a file says.
    Filled(Entries, Literal),
    /// An array of indices, a tensor of integers, for a parameter that has one mode more; and the least shape of that parameter.
    Indices(AnyTensor, Vec<usize>),
    /// The value of a scalar.
    Scalar(f64),
    /// A dense tensor of random elements, of the shape that the other operands give it.
    Random {
        /// Different seeds give different elements.
        seed: u64,
    },
    /// A dense tensor of ones, of the shape that the other operands give it.
    Ones,
}

impl Operand {
    /// The extent of each mode, and whether it is stated; `None` where the operand takes any shape.
    pub(super) fn shape(&self) -> Option<(&[usize], bool)> {
        match self {
            Operand::Tensor(tensor) => Some((tensor.shape(), true)),
            Operand::Stored(stored) => Some((stored.shape(), true)),
            Operand::Indices(_, least) => Some((least, false)),
            Operand::Entries(entries) | Operand::Filled(entries, _) => {
                Some((entries.shape(), entries.shape_is_stated()))
            }
            Operand::Scalar(_) => Some((&[], true)),
            Operand::Random { .. } | Operand::Ones => None,
        }
    }

    /// How many entries there are, where that is known.
    pub(in crate::execute) fn entries(&self) -> Option<usize> {
        match self {
            Operand::Tensor(tensor) | Operand::Indices(tensor, _) => Some(tensor.nnz()),
            Operand::Stored(stored) => Some(stored.value_count()),
            Operand::Entries(entries) | Operand::Filled(entries, _) => Some(entries.len()),
            Operand::Scalar(_) | Operand::Random { .. } | Operand::Ones => None,
        }
    }

    /// How the operand comes into a format; `None` where it is in it.
    pub(super) fn way(&self, format: &Format) -> Option<Way> {
        match self {
            Operand::Tensor(tensor) => (tensor.format() != format).then_some(Way::Converted),
            Operand::Stored(stored) => (stored.format() != format).then_some(Way::Converted),
            Operand::Entries(_) | Operand::Filled(..) | Operand::Indices(..) => Some(Way::Packed),
            Operand::Scalar(_) => None,
            Operand::Random { .. } | Operand::Ones => Some(Way::Generated),
        }
    }

    /// As a parameter of that format takes it: integers for an array of indices stand for entries in one mode more.
    pub(super) fn fitted(self, name: &str, format: &Format) -> Result<Self, ProgramError> {
        let order = self.shape().map(|(shape, _)| shape.len());
        if !format.is_map() || order.is_none_or(|order| order + 1 != format.order) {
            return Ok(self);
        }
        let dense = Format::dense(format.order - 1);
        let packing = |source: PackError| ProgramError::Pack { tensor: name.to_owned(), source };
        let tensor = match self {
            Operand::Tensor(tensor) => tensor,
            Operand::Stored(stored) => {
                stored.read().map_err(|source| Error::Read { tensor: name.to_owned(), source })?
            }
            Operand::Entries(entries) | Operand::Filled(entries, _) => {
                let zero = entries.element().zero();
                entries.pack(&dense, Duplicates::Refuse, zero).map_err(packing)?
            }
            other => return Ok(other),
        };
        let indices = tensor.to_map(None);
        let indices = indices.map_err(|source| ProgramError::Indices { tensor: name.to_owned(), source })?;
        Ok(Operand::Indices(tensor, indices.shape().to_vec()))
    }

    /// Refuses elements for places that a format does not store.
    pub(super) fn check(&self, name: &str, format: &Format) -> Result<(), ProgramError> {
        match self {
            Operand::Random { .. } | Operand::Ones if !format.is_dense() => {
                Err(ProgramError::FilledSparse { tensor: name.to_owned(), format: format.to_string() })
            }
            _ => Ok(()),
        }
    }

    /// The operand as a tensor of this shape, format and element type. `name` is for messages.
    pub(super) fn pack(
        self,
        name: &str,
        (shape, element): (Vec<usize>, ElementType),
        format: &Format,
        fill: Literal,
        duplicates: Duplicates,
    ) -> Result<AnyTensor, ProgramError> {
        let packing = |source: PackError| ProgramError::Pack { tensor: name.to_owned(), source };
        let found = match &self {
            Operand::Tensor(tensor) => tensor.element(),
            Operand::Stored(stored) => stored.element(),
            Operand::Entries(entries) | Operand::Filled(entries, _) => entries.element(),
            Operand::Scalar(_) | Operand::Indices(..) | Operand::Random { .. } | Operand::Ones => element,
        };
        if found != element {
            let tensor = name.to_owned();
            return Err(Error::Element { tensor, expected: element, found }.into());
        }
        let filled = |made: Result<AnyTensor, InvalidTensor>| {
            made.map_err(PackError::from).and_then(|tensor| tensor.convert(format)).map_err(packing)
        };
        let other_fill =
            |found: Literal| -> ProgramError { Error::Fill { tensor: name.to_owned(), expected: fill, found }.into() };
        match self {
            Operand::Stored(stored) => {
                let failed = |source| Error::Read { tensor: name.to_owned(), source };
                let read = stored.read().map_err(failed)?;
                Operand::Tensor(read).pack(name, (shape, element), format, fill, duplicates)
            }
            // Where every element is stored, those that were missing are what they are said to be.
            Operand::Tensor(tensor)
                if format.is_dense() && (!tensor.fill().is_zero() || tensor.fill().equals(fill)) =>
            {
                tensor.convert(format).map(|tensor| tensor.with_fill(fill)).map_err(packing)
            }
            Operand::Filled(entries, found) if format.is_dense() => {
                let packed = entries.with_shape(shape).pack(format, duplicates, found);
                packed.map(|tensor| tensor.with_fill(fill)).map_err(packing)
            }
            // A tensor that says no fill value takes the declared one.
            Operand::Tensor(tensor)
                if !tensor.fill().is_zero() && !tensor.fill().equals(fill) && !tensor.format().is_dense() =>
            {
                Err(other_fill(tensor.fill()))
            }
            Operand::Filled(_, found) if !found.equals(fill) => Err(other_fill(found)),
            Operand::Tensor(tensor) => tensor.with_fill(fill).convert(format).map_err(packing),
            Operand::Entries(entries) | Operand::Filled(entries, _) => {
                entries.with_shape(shape).pack(format, duplicates, fill).map_err(packing)
            }
            Operand::Indices(tensor, _) => {
                let indices = tensor.to_map(shape.last().copied());
                indices.map_err(|source| ProgramError::Indices { tensor: name.to_owned(), source })
            }
            Operand::Scalar(value) => scalar(name, value, element),
            Operand::Random { seed } => filled(generate::random_dense(&shape, element, seed)),
            Operand::Ones => filled(generate::ones(&shape, element)),
        }
    }
}

/// The parts of an input in a file, which is as it is declared; and the tensor without entries that stands for it meanwhile.
pub(super) fn stored_parts(
    stored: &StoredTensor,
    tensor: &concrete::Tensor,
    asked: &StreamOptions,
) -> Result<(Arc<StoredParts>, AnyTensor), ProgramError> {
    let name = tensor.name.clone();
    let (found, expected) = (stored.element(), tensor.element);
    if found != expected {
        return Err(Error::Element { tensor: name, expected, found }.into());
    }
    if *stored.format() != tensor.format {
        let (path, found) = (stored.path().display(), stored.format());
        let reason = format!(
            "{path} stores it as {found} and it is declared as {}; `spc convert --format` stores a file so",
            tensor.format
        );
        return Err(Error::Stream { tensor: name, reason }.into());
    }
    if !stored.fill().is_zero() && !stored.fill().equals(tensor.fill) {
        return Err(Error::Fill { tensor: name, expected: tensor.fill, found: stored.fill() }.into());
    }
    let failed = |source| Error::Read { tensor: name.clone(), source };
    let parts = Arc::new(stored.parts(asked.parts, asked.whole).map_err(failed)?);
    let empty = stored.without_entries();
    let empty = empty.map_err(|source| ProgramError::Pack { tensor: name, source })?;
    Ok((parts, empty.with_fill(tensor.fill)))
}

/// Entries of any element type.
#[derive(Debug, Clone, PartialEq)]
pub enum Entries {
    /// `f64`
    F64(Coordinates<f64>),
    /// `f32`
    F32(Coordinates<f32>),
    /// `f16`
    F16(Coordinates<f16>),
    /// `bf16`
    BF16(Coordinates<bf16>),
    /// `i8`
    I8(Coordinates<i8>),
    /// `i16`
    I16(Coordinates<i16>),
    /// `i32`
    I32(Coordinates<i32>),
    /// `i64`
    I64(Coordinates<i64>),
    /// `u8`
    U8(Coordinates<u8>),
    /// `u16`
    U16(Coordinates<u16>),
    /// `u32`
    U32(Coordinates<u32>),
    /// `u64`
    U64(Coordinates<u64>),
    /// `bool`
    Bool(Coordinates<bool>),
    /// `c32`
    C32(Coordinates<c32>),
    /// `c64`
    C64(Coordinates<c64>),
}

/// Evaluates an expression with [`Entries`] as coordinates of their own type.
macro_rules! with_entries {
    ($entries:expr, $coordinates:ident => $body:expr) => {
        match $entries {
            Entries::F64($coordinates) => $body,
            Entries::F32($coordinates) => $body,
            Entries::F16($coordinates) => $body,
            Entries::BF16($coordinates) => $body,
            Entries::I8($coordinates) => $body,
            Entries::I16($coordinates) => $body,
            Entries::I32($coordinates) => $body,
            Entries::I64($coordinates) => $body,
            Entries::U8($coordinates) => $body,
            Entries::U16($coordinates) => $body,
            Entries::U32($coordinates) => $body,
            Entries::U64($coordinates) => $body,
            Entries::Bool($coordinates) => $body,
            Entries::C32($coordinates) => $body,
            Entries::C64($coordinates) => $body,
        }
    };
}

impl Entries {
    /// The extent of each mode.
    pub fn shape(&self) -> &[usize] {
        with_entries!(self, entries => &entries.shape)
    }

    /// Whether the source states the shape, rather than it being the least that holds the indices.
    pub fn shape_is_stated(&self) -> bool {
        with_entries!(self, entries => entries.shape_is_stated)
    }

    /// How many entries there are, duplicates included.
    pub fn len(&self) -> usize {
        with_entries!(self, entries => entries.values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    pub fn element(&self) -> ElementType {
        fn of<T: Element>(_: &Coordinates<T>) -> ElementType {
            T::TYPE
        }
        with_entries!(self, entries => of(entries))
    }

    /// The same entries in another shape.
    #[must_use]
    pub fn with_shape(mut self, shape: Vec<usize>) -> Self {
        with_entries!(&mut self, entries => {
            entries.shape = shape;
            entries.shape_is_stated = true;
        });
        self
    }

    /// The same entries, whose shape is not stated: it is a lower bound.
    #[must_use]
    pub fn with_least_shape(mut self) -> Self {
        with_entries!(&mut self, entries => entries.shape_is_stated = false);
        self
    }

    /// What they look like: see [`crate::tensor::statistics`].
    ///
    /// # Errors
    /// As there.
    pub fn statistics(&self) -> Result<Statistics, PackError> {
        with_entries!(self, entries => statistics(entries))
    }

    /// What it takes to store them in a format: see [`crate::tensor::storage_size`].
    ///
    /// # Errors
    /// As there.
    pub fn storage_size(&self, format: &Format) -> Result<StorageSize, PackError> {
        with_entries!(self, entries => storage_size(entries, format))
    }

    /// Stores them in a format; other entries are `fill`.
    ///
    /// # Errors
    /// As [`crate::tensor::pack`].
    pub fn pack(self, format: &Format, duplicates: Duplicates, fill: Literal) -> Result<AnyTensor, PackError> {
        fn filled<T: Element>(
            entries: Coordinates<T>,
            format: &Format,
            duplicates: Duplicates,
            fill: Literal,
        ) -> Result<AnyTensor, PackError> {
            pack_filled(entries, format, duplicates, T::from_literal(fill).unwrap_or(T::ZERO))
        }
        with_entries!(self, entries => filled(entries, format, duplicates, fill))
    }
}

macro_rules! from_coordinates {
    ($($variant:ident $element:ty),*) => {$(
        impl From<Coordinates<$element>> for Entries {
            fn from(entries: Coordinates<$element>) -> Self {
                Entries::$variant(entries)
            }
        }
    )*};
}
from_coordinates!(F64 f64, F32 f32, F16 f16, BF16 bf16, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, Bool bool, C32 c32, C64 c64);

impl From<AnyTensor> for Operand {
    fn from(tensor: AnyTensor) -> Self {
        Operand::Tensor(tensor)
    }
}

impl From<StoredTensor> for Operand {
    fn from(stored: StoredTensor) -> Self {
        Operand::Stored(stored)
    }
}

impl<T> From<Coordinates<T>> for Operand
where
    Entries: From<Coordinates<T>>,
{
    fn from(entries: Coordinates<T>) -> Self {
        Operand::Entries(entries.into())
    }
}
