//! What a kernel takes.

use crate::complex::{c32, c64};
use crate::execute::ProgramError;
use crate::execute::call::Operand;
use crate::half::{bf16, f16};
use crate::tensor::{AnyTensor, AnyView, Buffer, Element, InvalidTensor, StorageFormat, Tensor, Values, View};
use crate::with_element;
use spc_compiler::format::Format;
use spc_compiler::ir::{self, ElementType};
use std::sync::Arc;

/// What a [`Kernel`](super::Kernel) takes as an input, without a copy: tensors and views, slices and vectors of elements, which are
/// dense tensors with one mode, and numbers. With features of their names, the dense arrays and sparse matrices of `ndarray`,
/// `nalgebra`, `nalgebra-sparse`, `sprs` and `faer`: their indices are checked in each call, those of a [`View`] once.
pub trait Input {
    /// The input as a tensor, for as long as it is borrowed.
    ///
    /// # Errors
    /// When it is no tensor of any format.
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor>;
}

/// An [`Input`] in a call.
#[derive(Debug)]
pub enum Argument<'a> {
    /// A tensor that is there.
    Tensor(&'a AnyTensor),
    /// A tensor in the memory of something else.
    View(AnyView<'a>),
    /// A number, of whichever element type the parameter has that holds it.
    Number(AnyTensor),
}

impl<'a> Argument<'a> {
    fn tensor(&self) -> &AnyTensor {
        match self {
            Argument::Tensor(tensor) => tensor,
            Argument::View(view) => view,
            Argument::Number(number) => number,
        }
    }

    fn into_operand(self) -> Operand<'a> {
        match self {
            Argument::Tensor(tensor) => Operand::Lent(tensor),
            Argument::View(view) => Operand::Viewed(Arc::new(view)),
            Argument::Number(number) => Operand::own(number),
        }
    }
}

/// An input for a parameter.
pub(super) fn operand<'i>(input: &'i dyn Input, declared: Option<&ir::Tensor>) -> Result<Operand<'i>, ProgramError> {
    let tensor = || declared.map_or_else(String::new, |declared| declared.name.clone());
    let argument = input.argument().map_err(|source| ProgramError::Input { tensor: tensor(), source })?;
    let Some(declared) = declared else { return Ok(argument.into_operand()) };
    if let Argument::Number(number) = &argument
        && declared.format.order == 0
        && number.element() != declared.element
        && !number.element().is_complex()
    {
        return Ok(Operand::own(scalar(&declared.name, number.values().get_f64(0), declared.element)?));
    }
    if declared.format.is_dense()
        && *argument.tensor().format() != declared.format
        && let Argument::View(view) = argument
    {
        return Ok(Argument::View(view.into_dense(&declared.format)).into_operand());
    }
    if takes_fill(argument.tensor(), declared) {
        let view = match argument {
            Argument::Tensor(tensor) => AnyView::from(tensor),
            Argument::View(view) => view,
            Argument::Number(number) => number.into(),
        };
        return Ok(Argument::View(view.with_fill(declared.fill)).into_operand());
    }
    Ok(argument.into_operand())
}

/// Whether a tensor says no fill value, so that it takes the declared one.
fn takes_fill(found: &AnyTensor, declared: &ir::Tensor) -> bool {
    !declared.format.is_dense()
        && found.element() == declared.element
        && found.fill().is_zero()
        && !found.fill().equals(declared.fill)
}

/// A tensor of order 0.
pub(in crate::execute) fn scalar(name: &str, value: f64, element: ElementType) -> Result<AnyTensor, ProgramError> {
    fn values<T: Element>(value: f64) -> Option<Values> {
        let element = T::from_f64(value);
        let is_rounded = T::TYPE.is_float() || T::TYPE.is_complex();
        // The largest integers of 64 bits are rounded to the first number beyond them.
        let is_beyond = T::TYPE.is_integer() && T::TYPE.bytes() == 8 && value >= T::TYPE.range().1 as f64;
        (element.to_f64() == value && !is_beyond || is_rounded).then(|| T::wrap(Buffer::copy_of(&[element])))
    }
    let tensor = || name.to_owned();
    let values = with_element!(element, |T| values::<T>(value)).ok_or_else(|| ProgramError::Scalar {
        tensor: tensor(),
        value,
        element,
    })?;
    AnyTensor::from_parts(Vec::new(), Format::dense(0), Vec::new(), values)
        .map_err(|source| ProgramError::Pack { tensor: tensor(), source: source.into() })
}

impl Input for AnyTensor {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        Ok(Argument::Tensor(self))
    }
}

impl<T: Element, F: StorageFormat> Input for Tensor<T, F> {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        Ok(Argument::Tensor(self.as_any()))
    }
}

impl Input for AnyView<'_> {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        Ok(Argument::Tensor(self))
    }
}

impl<T: Element, F: StorageFormat> Input for View<'_, T, F> {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        Ok(Argument::Tensor(self.as_any()))
    }
}

impl<T: Element> Input for [T] {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        AnyView::from_slice([self.len()], self).map(Argument::View)
    }
}

impl<T: Element, const N: usize> Input for [T; N] {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        self[..].argument()
    }
}

impl<T: Element> Input for Vec<T> {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        self[..].argument()
    }
}

impl<I: Input + ?Sized> Input for &I {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        (**self).argument()
    }
}

impl<I: Input + ?Sized> Input for Box<I> {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        (**self).argument()
    }
}

impl<I: Input + ?Sized> Input for std::sync::Arc<I> {
    fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
        (**self).argument()
    }
}

macro_rules! numbers {
    ($($type:ident)*) => {$(
        impl Input for $type {
            fn argument(&self) -> Result<Argument<'_>, InvalidTensor> {
                Ok(Argument::Number(crate::execute::scalar(*self)))
            }
        }
    )*};
}
numbers!(f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c32 c64);
