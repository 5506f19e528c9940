//! Arrays: what the caller passes, and what a name refers to while a kernel runs.

use super::values::{Result, Value, no_memory, problem};
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{ArrayElement, ElementType};

/// The elements of an array. Index arrays are of the unsigned type of their width.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrayValue {
    /// `u8` indices, `u8` elements
    U8(Vec<u8>),
    /// `u16` indices, `u16` elements
    U16(Vec<u16>),
    /// `u32` indices, `u32` elements
    U32(Vec<u32>),
    /// `u64` indices, `u64` elements
    U64(Vec<u64>),
    /// `f16` elements, which are read as `f32`
    F16(Vec<f16>),
    /// `bf16` elements, which are read as `f32`
    BF16(Vec<bf16>),
    /// `i8` elements
    I8(Vec<i8>),
    /// `i16` elements
    I16(Vec<i16>),
    /// `f64` elements
    F64(Vec<f64>),
    /// `f32` elements
    F32(Vec<f32>),
    /// `i32` elements
    I32(Vec<i32>),
    /// `i64` elements
    I64(Vec<i64>),
    /// `bool` elements
    Bool(Vec<bool>),
    /// `c32` elements
    C32(Vec<c32>),
    /// `c64` elements
    C64(Vec<c64>),
}

impl Default for ArrayValue {
    fn default() -> Self {
        ArrayValue::U8(Vec::new())
    }
}

/// Evaluates an expression with the vector of whatever variant.
macro_rules! with_vector {
    ($value:expr, $vector:ident => $result:expr) => {
        match $value {
            ArrayValue::U8($vector) => $result,
            ArrayValue::U16($vector) => $result,
            ArrayValue::U32($vector) => $result,
            ArrayValue::U64($vector) => $result,
            ArrayValue::F64($vector) => $result,
            ArrayValue::F32($vector) => $result,
            ArrayValue::F16($vector) => $result,
            ArrayValue::BF16($vector) => $result,
            ArrayValue::I8($vector) => $result,
            ArrayValue::I16($vector) => $result,
            ArrayValue::I32($vector) => $result,
            ArrayValue::I64($vector) => $result,
            ArrayValue::Bool($vector) => $result,
            ArrayValue::C32($vector) => $result,
            ArrayValue::C64($vector) => $result,
        }
    };
}

impl ArrayValue {
    /// An array without elements.
    pub fn empty(element: ArrayElement) -> Self {
        match element {
            ArrayElement::Index(IndexWidth::U8) => ArrayValue::U8(Vec::new()),
            ArrayElement::Index(IndexWidth::U16) => ArrayValue::U16(Vec::new()),
            ArrayElement::Index(IndexWidth::U32) => ArrayValue::U32(Vec::new()),
            ArrayElement::Index(IndexWidth::U64) => ArrayValue::U64(Vec::new()),
            ArrayElement::Value(ElementType::F64) => ArrayValue::F64(Vec::new()),
            ArrayElement::Value(ElementType::F32) => ArrayValue::F32(Vec::new()),
            ArrayElement::Value(ElementType::I32) => ArrayValue::I32(Vec::new()),
            ArrayElement::Value(ElementType::I64) => ArrayValue::I64(Vec::new()),
            ArrayElement::Value(ElementType::U8) => ArrayValue::U8(Vec::new()),
            ArrayElement::Value(ElementType::F16) => ArrayValue::F16(Vec::new()),
            ArrayElement::Value(ElementType::BF16) => ArrayValue::BF16(Vec::new()),
            ArrayElement::Value(ElementType::I8) => ArrayValue::I8(Vec::new()),
            ArrayElement::Value(ElementType::I16) => ArrayValue::I16(Vec::new()),
            ArrayElement::Value(ElementType::U16) => ArrayValue::U16(Vec::new()),
            ArrayElement::Value(ElementType::U32) => ArrayValue::U32(Vec::new()),
            ArrayElement::Value(ElementType::U64) => ArrayValue::U64(Vec::new()),
            ArrayElement::Value(ElementType::Bool) => ArrayValue::Bool(Vec::new()),
            ArrayElement::Value(ElementType::C32) => ArrayValue::C32(Vec::new()),
            ArrayElement::Value(ElementType::C64) => ArrayValue::C64(Vec::new()),
        }
    }

    /// Whether its elements are of this kind.
    pub fn holds(&self, element: ArrayElement) -> bool {
        std::mem::discriminant(&Self::empty(element)) == std::mem::discriminant(self)
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        with_vector!(self, vector => vector.len())
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An element that is there.
    pub(super) fn get(&self, at: usize, element: ArrayElement) -> Value {
        match self {
            ArrayValue::U8(vector) => match element {
                ArrayElement::Index(_) => Value::Index(vector[at].into()),
                ArrayElement::Value(_) => Value::U8(vector[at]),
            },
            ArrayValue::U16(vector) => match element {
                ArrayElement::Index(_) => Value::Index(vector[at].into()),
                ArrayElement::Value(_) => Value::U16(vector[at]),
            },
            ArrayValue::U32(vector) => match element {
                ArrayElement::Index(_) => Value::Index(vector[at].into()),
                ArrayElement::Value(_) => Value::U32(vector[at]),
            },
            ArrayValue::U64(vector) => match element {
                ArrayElement::Index(_) => Value::Index(vector[at]),
                ArrayElement::Value(_) => Value::U64(vector[at]),
            },
            ArrayValue::F64(vector) => Value::F64(vector[at]),
            ArrayValue::F32(vector) => Value::F32(vector[at]),
            ArrayValue::F16(vector) => Value::F32(vector[at].into()),
            ArrayValue::BF16(vector) => Value::F32(vector[at].into()),
            ArrayValue::I8(vector) => Value::I8(vector[at]),
            ArrayValue::I16(vector) => Value::I16(vector[at]),
            ArrayValue::I32(vector) => Value::I32(vector[at]),
            ArrayValue::I64(vector) => Value::I64(vector[at]),
            ArrayValue::Bool(vector) => Value::Bool(vector[at]),
            ArrayValue::C32(vector) => Value::C32(vector[at]),
            ArrayValue::C64(vector) => Value::C64(vector[at]),
        }
    }

    /// Changes an element that is there.
    pub(super) fn set(&mut self, at: usize, value: Value) -> Result<()> {
        match (self, value) {
            (ArrayValue::U8(vector), Value::Index(value)) => vector[at] = narrow(value)?,
            (ArrayValue::U16(vector), Value::Index(value)) => vector[at] = narrow(value)?,
            (ArrayValue::U32(vector), Value::Index(value)) => vector[at] = narrow(value)?,
            (ArrayValue::U64(vector), Value::Index(value)) => vector[at] = value,
            (ArrayValue::U8(vector), Value::U8(value)) => vector[at] = value,
            (ArrayValue::F16(vector), Value::F32(value)) => vector[at] = value.into(),
            (ArrayValue::BF16(vector), Value::F32(value)) => vector[at] = value.into(),
            (ArrayValue::I8(vector), Value::I8(value)) => vector[at] = value,
            (ArrayValue::I16(vector), Value::I16(value)) => vector[at] = value,
            (ArrayValue::U16(vector), Value::U16(value)) => vector[at] = value,
            (ArrayValue::U32(vector), Value::U32(value)) => vector[at] = value,
            (ArrayValue::U64(vector), Value::U64(value)) => vector[at] = value,
            (ArrayValue::F64(vector), Value::F64(value)) => vector[at] = value,
            (ArrayValue::F32(vector), Value::F32(value)) => vector[at] = value,
            (ArrayValue::I32(vector), Value::I32(value)) => vector[at] = value,
            (ArrayValue::I64(vector), Value::I64(value)) => vector[at] = value,
            (ArrayValue::Bool(vector), Value::Bool(value)) => vector[at] = value,
            (ArrayValue::C32(vector), Value::C32(value)) => vector[at] = value,
            (ArrayValue::C64(vector), Value::C64(value)) => vector[at] = value,
            _ => return problem("a value does not fit its array, which the verifier should have found"),
        }
        Ok(())
    }

    /// Appends `count` elements.
    pub(super) fn extend(&mut self, count: u64, value: Value) -> Result<()> {
        fn grow<T: Copy>(vector: &mut Vec<T>, count: u64, value: T) -> Result<()> {
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            reserve(vector, count)?;
            vector.resize(vector.len() + count, value);
            Ok(())
        }
        match (self, value) {
            (ArrayValue::U8(vector), Value::Index(value)) => grow(vector, count, narrow(value)?),
            (ArrayValue::U16(vector), Value::Index(value)) => grow(vector, count, narrow(value)?),
            (ArrayValue::U32(vector), Value::Index(value)) => grow(vector, count, narrow(value)?),
            (ArrayValue::U64(vector), Value::Index(value)) => grow(vector, count, value),
            (ArrayValue::U8(vector), Value::U8(value)) => grow(vector, count, value),
            (ArrayValue::F16(vector), Value::F32(value)) => grow(vector, count, value.into()),
            (ArrayValue::BF16(vector), Value::F32(value)) => grow(vector, count, value.into()),
            (ArrayValue::I8(vector), Value::I8(value)) => grow(vector, count, value),
            (ArrayValue::I16(vector), Value::I16(value)) => grow(vector, count, value),
            (ArrayValue::U16(vector), Value::U16(value)) => grow(vector, count, value),
            (ArrayValue::U32(vector), Value::U32(value)) => grow(vector, count, value),
            (ArrayValue::U64(vector), Value::U64(value)) => grow(vector, count, value),
            (ArrayValue::F64(vector), Value::F64(value)) => grow(vector, count, value),
            (ArrayValue::F32(vector), Value::F32(value)) => grow(vector, count, value),
            (ArrayValue::I32(vector), Value::I32(value)) => grow(vector, count, value),
            (ArrayValue::I64(vector), Value::I64(value)) => grow(vector, count, value),
            (ArrayValue::Bool(vector), Value::Bool(value)) => grow(vector, count, value),
            (ArrayValue::C32(vector), Value::C32(value)) => grow(vector, count, value),
            (ArrayValue::C64(vector), Value::C64(value)) => grow(vector, count, value),
            _ => problem("a value does not fit its array, which the verifier should have found"),
        }
    }

    /// Forgets all elements, keeps the memory.
    pub(super) fn clear(&mut self) {
        with_vector!(self, vector => vector.clear());
    }
}

/// Makes room in a vector, which grows by doubling, as by `push`.
pub(super) fn reserve<T>(vector: &mut Vec<T>, count: usize) -> Result<()> {
    match vector.try_reserve(count) {
        Ok(()) => Ok(()),
        Err(_) => no_memory(&[vector.len().saturating_add(count)], size_of::<T>()),
    }
}

/// An index as it is stored.
fn narrow<T: TryFrom<u64>>(value: u64) -> Result<T> {
    match T::try_from(value) {
        Ok(narrow) => Ok(narrow),
        Err(_) => problem(format!("index {value} does not fit in {} bits", 8 * size_of::<T>())),
    }
}

/// The memory of an array.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    pub(super) data: ArrayValue,
    /// For each element the stamp of the last chunk that wrote it, as far as any did.
    pub(super) writers: Vec<u64>,
    /// Whether the chunk that runs has it for itself.
    pub(super) is_private: bool,
    /// How many elements of the whole array are before it, where it is what a chunk appends.
    pub(super) before: usize,
}

/// What an array stands for: a part of a buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) buffer: usize,
    pub(super) begin: u64,
    /// How many elements; `None`: as many as the buffer has.
    pub(super) length: Option<u64>,
}

impl Slot {
    pub(super) fn whole(buffer: usize) -> Self {
        Self { buffer, begin: 0, length: None }
    }
}
