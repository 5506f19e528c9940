//! The parameters of a kernel, with their elements.

use super::error::Error;
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use crate::tensor::{Buffer, Element, Index, IndexArray, OutOfMemory, Plain, Shared, Values};
use bytemuck::AnyBitPattern;
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{self, ArrayElement, Initial, Kernel, Size, Source, Structure};
use std::any::Any;
use std::sync::Weak;

/// A parameter of a kernel, with its elements.
#[derive(Debug)]
pub(super) struct Array {
    pub(super) parameter: Parameter,
    pub(super) data: Data,
    /// Whether the elements are there: those of an output may still have no memory.
    pub(super) is_there: bool,
}

impl Array {
    /// The elements, out of the array.
    pub(super) fn take(&mut self) -> Data {
        std::mem::replace(&mut self.data, Data::empty(self.parameter.element))
    }
}

/// What a kernel expects of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parameter {
    pub(super) access: Access,
    pub(super) element: ArrayElement,
}

impl Parameter {
    /// What a kernel's declarations say of one.
    fn of(kernel: &Kernel, array: &ir::Array) -> Self {
        let access = match array.role.tensor().map(|tensor| kernel.tensor(tensor).source) {
            Some(Source::Output { structure: Structure::Appended, .. }) => Access::Append,
            Some(Source::Output { initial, .. }) => Access::Write(initial),
            Some(Source::Input | Source::SortedCopy { .. } | Source::Permutation { .. }) | None => Access::Read,
        };
        Parameter { access, element: array.element }
    }

    /// Those of a kernel, in order.
    pub(super) fn all_of(kernel: &Kernel) -> Vec<Self> {
        kernel.parameters().map(|(_, array)| Parameter::of(kernel, array)).collect()
    }
}

/// What a kernel does with a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// It reads it.
    Read,
    /// It writes its elements, which were all there before.
    Write(Initial),
    /// It appends to it.
    Append,
}

/// What a kernel expects of its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature {
    pub(super) name: String,
    /// Where the size of each dimension comes from.
    pub(super) sizes: Vec<Size>,
    pub(super) parameters: Vec<Parameter>,
}

impl Signature {
    /// What its declarations say.
    pub(super) fn of(kernel: &Kernel) -> Self {
        Signature {
            name: kernel.name.clone(),
            sizes: kernel.dimensions.iter().map(|dimension| dimension.size).collect(),
            parameters: Parameter::all_of(kernel),
        }
    }

    /// Checks that a call of `kernel` with these parameters serves.
    pub(super) fn check<'p>(
        &self,
        kernel: &Kernel,
        parameters: impl Iterator<Item = &'p Parameter>,
    ) -> Result<(), Error> {
        // As `*self == Signature::of(kernel)`, without its memory.
        let sizes = kernel.dimensions.iter().map(|dimension| &dimension.size);
        if self.name == kernel.name && sizes.eq(&self.sizes) && parameters.eq(&self.parameters) {
            return Ok(());
        }
        Err(Error::WrongCall { expected: self.name.clone(), found: kernel.name.clone() })
    }
}

/// Evaluates an expression with the buffer of a [`Data`].
macro_rules! with_buffer {
    ($data:expr, |$buffer:ident| $body:expr) => {
        match $data {
            Data::Index(IndexArray::U8($buffer)) => $body,
            Data::Index(IndexArray::U16($buffer)) => $body,
            Data::Index(IndexArray::U32($buffer)) => $body,
            Data::Index(IndexArray::U64($buffer)) => $body,
            Data::Values(values) => crate::tensor::values::with_shared!(values, |$buffer| $body),
        }
    };
}

/// Which array something is, for one who does not keep it: [`Arc::make_mut`], by which all elements are changed that are in a
/// [`Data`], leaves the identities of what was there before without an array.
pub(super) type Identity = Weak<dyn Any + Send + Sync>;

/// The elements of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// Coordinates or positions.
    Index(IndexArray),
    /// Values.
    Values(Values),
}

impl Data {
    /// No elements.
    #[inline]
    pub(super) fn empty(element: ArrayElement) -> Data {
        match element {
            ArrayElement::Index(IndexWidth::U8) => Data::Index(Vec::<u8>::new().into()),
            ArrayElement::Index(IndexWidth::U16) => Data::Index(Vec::<u16>::new().into()),
            ArrayElement::Index(IndexWidth::U32) => Data::Index(Vec::<u32>::new().into()),
            ArrayElement::Index(IndexWidth::U64) => Data::Index(Vec::<u64>::new().into()),
            ArrayElement::Value(element) => Data::Values(Values::none(element)),
        }
    }

    /// So many elements, all zero.
    ///
    /// # Errors
    /// When there is not enough memory.
    pub(super) fn zeroed(element: ArrayElement, length: usize) -> Result<Data, OutOfMemory> {
        fn indices<I: Index>(length: usize) -> Result<Data, OutOfMemory> {
            Buffer::<I>::try_zeroed(length).map(|buffer| Data::Index(I::wrap(buffer)))
        }
        match element {
            ArrayElement::Index(IndexWidth::U8) => indices::<u8>(length),
            ArrayElement::Index(IndexWidth::U16) => indices::<u16>(length),
            ArrayElement::Index(IndexWidth::U32) => indices::<u32>(length),
            ArrayElement::Index(IndexWidth::U64) => indices::<u64>(length),
            ArrayElement::Value(element) => Values::try_zeroed(element, length).map(Data::Values),
        }
    }

    /// Leaves no elements, but their memory where it is not shared.
    pub(super) fn clear(&mut self) {
        fn clear<T: Plain>(elements: &mut Shared<T>) {
            let mut memory = elements.get_mut().map(|buffer| std::mem::take(buffer).into_vec()).unwrap_or_default();
            memory.clear();
            *elements = memory.into();
        }
        with_buffer!(self, |elements| clear(elements))
    }

    /// The bytes of the elements.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Data::Index(indices) => indices.as_bytes(),
            Data::Values(values) => values.as_bytes(),
        }
    }

    /// The bytes of the elements, to be changed; `None` where not all bytes are elements, as of truth values.
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        fn bytes<T: Copy + Plain + AnyBitPattern>(elements: &mut Shared<T>) -> Option<&mut [u8]> {
            Some(bytemuck::cast_slice_mut(elements.make_mut().as_mut_slice()))
        }
        match self {
            Data::Index(IndexArray::U8(elements)) => bytes(elements),
            Data::Index(IndexArray::U16(elements)) => bytes(elements),
            Data::Index(IndexArray::U32(elements)) => bytes(elements),
            Data::Index(IndexArray::U64(elements)) => bytes(elements),
            Data::Values(Values::Bool(_)) => None,
            Data::Values(Values::F64(elements)) => bytes(elements),
            Data::Values(Values::F32(elements)) => bytes(elements),
            Data::Values(Values::F16(elements)) => bytes(elements),
            Data::Values(Values::BF16(elements)) => bytes(elements),
            Data::Values(Values::I8(elements)) => bytes(elements),
            Data::Values(Values::I16(elements)) => bytes(elements),
            Data::Values(Values::I32(elements)) => bytes(elements),
            Data::Values(Values::I64(elements)) => bytes(elements),
            Data::Values(Values::U8(elements)) => bytes(elements),
            Data::Values(Values::U16(elements)) => bytes(elements),
            Data::Values(Values::U32(elements)) => bytes(elements),
            Data::Values(Values::U64(elements)) => bytes(elements),
            Data::Values(Values::C32(elements)) => bytes(elements),
            Data::Values(Values::C64(elements)) => bytes(elements),
        }
    }

    /// Which array it is. That says nothing of another one, also when this is gone; and whoever changes elements makes another.
    pub(super) fn identity(&self) -> Identity {
        with_buffer!(self, |elements| elements.identity())
    }

    /// Whether they are a part of an array that is there too.
    pub(super) fn is_part(&self) -> bool {
        with_buffer!(self, |elements| elements.is_part())
    }

    /// The type of the elements.
    #[inline]
    pub(super) fn element(&self) -> ArrayElement {
        match self {
            Data::Index(indices) => ArrayElement::Index(indices.width()),
            Data::Values(values) => ArrayElement::Value(values.element()),
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// The types that a kernel's arrays hold: those of indices and those of values (`u8` is both).
pub trait Stored: sealed::Sealed + Plain {
    /// Its name.
    const NAME: &'static str;

    /// The elements, where they are of this type: without a copy where they are not shared.
    #[doc(hidden)]
    fn take(data: Data) -> Option<Buffer<Self>>;

    /// The elements as coordinates or positions, or as values.
    #[doc(hidden)]
    fn put(elements: Buffer<Self>, element: ArrayElement) -> Data;
}

fn take_index<I: Index>(data: Data) -> Option<Buffer<I>> {
    let Data::Index(indices) = data else { return None };
    I::unwrap_owned(indices).map(Shared::into_buffer)
}

fn take_value<T: Element>(data: Data) -> Option<Buffer<T>> {
    let Data::Values(values) = data else { return None };
    values.into_buffer()
}

fn take_either<T: Index + Element>(data: Data) -> Option<Buffer<T>> {
    if matches!(data, Data::Index(_)) { take_index(data) } else { take_value(data) }
}

fn put_index<I: Index>(elements: Buffer<I>, _: ArrayElement) -> Data {
    Data::Index(I::wrap(elements))
}

fn put_value<T: Element>(elements: Buffer<T>, _: ArrayElement) -> Data {
    Data::Values(T::wrap(elements))
}

fn put_either<T: Index + Element>(elements: Buffer<T>, element: ArrayElement) -> Data {
    if matches!(element, ArrayElement::Index(_)) { put_index(elements, element) } else { put_value(elements, element) }
}

macro_rules! stored {
    ($($type:ident $take:ident $put:ident;)*) => {$(
        impl sealed::Sealed for $type {}

        impl Stored for $type {
            const NAME: &'static str = stringify!($type);

            fn take(data: Data) -> Option<Buffer<Self>> {
                $take(data)
            }

            fn put(elements: Buffer<Self>, element: ArrayElement) -> Data {
                $put(elements, element)
            }
        }
    )*};
}
stored! {
    u8 take_either put_either;
    u16 take_either put_either;
    u32 take_either put_either;
    u64 take_either put_either;
    i8 take_value put_value;
    i16 take_value put_value;
    f64 take_value put_value;
    f32 take_value put_value;
    f16 take_value put_value;
    bf16 take_value put_value;
    i32 take_value put_value;
    i64 take_value put_value;
    bool take_value put_value;
    c32 take_value put_value;
    c64 take_value put_value;
}
