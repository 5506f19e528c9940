//! A call in the interpreter.

use super::array::{Access, Array, Data, Signature};
use super::call::Call;
use super::error::Error;
use super::interpreter::{self, ArrayValue, Cause, Options};
use crate::memory::try_collected;
use crate::parallel::NoMemory;
use crate::tensor::values::with_values_mut;
use crate::tensor::{Element, IndexArray, OutOfMemory, Values};
use spc_compiler::format::IndexWidth;
use spc_compiler::ir::{ArrayElement, Kernel, Verified};
use std::time::{Duration, Instant};

/// Runs a call, and says how long the kernel took.
pub(super) fn run(kernel: &Verified<Kernel>, call: &mut Call<'_>, options: &Options) -> Result<Duration, Error> {
    Signature::of(kernel).check(call.kernel(), call.parameters())?;
    let dimensions: Vec<u64> = call.dimensions().iter().map(|&extent| extent as u64).collect();
    let arrays = call.begin();
    let copies = arrays.iter().map(copy).collect::<Result<_, _>>();
    let mut values: Vec<ArrayValue> =
        copies.map_err(|OutOfMemory { length, size }| Error::no_memory(kernel, NoMemory::new(&[length], size)))?;
    let start = Instant::now();
    interpreter::run(kernel, &dimensions, &mut values, options).map_err(|fault| match &fault.cause {
        Cause::DivisionByZero => Error::division_by_zero(kernel),
        Cause::NoMemory(array) => Error::no_memory(kernel, array),
        Cause::Interrupted => Error::interrupted(kernel),
        Cause::Kernel => Error::Fault { kernel: kernel.name.clone(), fault },
    })?;
    let time = start.elapsed();
    for (array, value) in arrays.iter_mut().zip(values) {
        match (array.parameter.access, &mut array.data) {
            (Access::Read, _) => {}
            (Access::Write(_) | Access::Append, data) => match (data, received(value, array.parameter.element)) {
                // Into the memory that is there, which may be one that the caller has handed in.
                (Data::Values(values), Data::Values(written)) if array.parameter.access != Access::Append => {
                    overwrite(values, &written);
                }
                (data, written) => *data = written,
            },
        }
    }
    Ok(time)
}

/// The elements of a parameter, for the interpreter.
fn copy(array: &Array) -> Result<ArrayValue, OutOfMemory> {
    Ok(match &array.data {
        Data::Index(IndexArray::U8(indices)) => ArrayValue::U8(try_collected(indices.iter().copied())?),
        Data::Index(IndexArray::U16(indices)) => ArrayValue::U16(try_collected(indices.iter().copied())?),
        Data::Index(IndexArray::U32(indices)) => ArrayValue::U32(try_collected(indices.iter().copied())?),
        Data::Index(IndexArray::U64(indices)) => ArrayValue::U64(try_collected(indices.iter().copied())?),
        Data::Values(Values::F64(values)) => ArrayValue::F64(try_collected(values.iter().copied())?),
        Data::Values(Values::F32(values)) => ArrayValue::F32(try_collected(values.iter().copied())?),
        Data::Values(Values::I32(values)) => ArrayValue::I32(try_collected(values.iter().copied())?),
        Data::Values(Values::I64(values)) => ArrayValue::I64(try_collected(values.iter().copied())?),
        Data::Values(Values::U8(values)) => ArrayValue::U8(try_collected(values.iter().copied())?),
        Data::Values(Values::F16(values)) => ArrayValue::F16(try_collected(values.iter().copied())?),
        Data::Values(Values::BF16(values)) => ArrayValue::BF16(try_collected(values.iter().copied())?),
        Data::Values(Values::I8(values)) => ArrayValue::I8(try_collected(values.iter().copied())?),
        Data::Values(Values::I16(values)) => ArrayValue::I16(try_collected(values.iter().copied())?),
        Data::Values(Values::U16(values)) => ArrayValue::U16(try_collected(values.iter().copied())?),
        Data::Values(Values::U32(values)) => ArrayValue::U32(try_collected(values.iter().copied())?),
        Data::Values(Values::U64(values)) => ArrayValue::U64(try_collected(values.iter().copied())?),
        Data::Values(Values::Bool(values)) => ArrayValue::Bool(try_collected(values.iter().copied())?),
        Data::Values(Values::C32(values)) => ArrayValue::C32(try_collected(values.iter().copied())?),
        Data::Values(Values::C64(values)) => ArrayValue::C64(try_collected(values.iter().copied())?),
    })
}

/// Writes values over those of the same type that are there.
pub(super) fn overwrite(values: &mut Values, by: &Values) {
    fn all<T: Element>(values: &mut [T], by: &Values) {
        if let Some(by) = by.as_slice() {
            values.copy_from_slice(by);
        }
    }
    with_values_mut!(values, |values| all(values, by));
}

/// What the interpreter leaves of a parameter.
fn received(value: ArrayValue, element: ArrayElement) -> Data {
    match value {
        ArrayValue::U8(indices) if element == ArrayElement::Index(IndexWidth::U8) => Data::Index(indices.into()),
        ArrayValue::U8(values) => Data::Values(values.into()),
        ArrayValue::U16(indices) if matches!(element, ArrayElement::Index(_)) => Data::Index(indices.into()),
        ArrayValue::U16(values) => Data::Values(values.into()),
        ArrayValue::U32(indices) if matches!(element, ArrayElement::Index(_)) => Data::Index(indices.into()),
        ArrayValue::U32(values) => Data::Values(values.into()),
        ArrayValue::U64(indices) if matches!(element, ArrayElement::Index(_)) => Data::Index(indices.into()),
        ArrayValue::U64(values) => Data::Values(values.into()),
        ArrayValue::F64(values) => Data::Values(values.into()),
        ArrayValue::F32(values) => Data::Values(values.into()),
        ArrayValue::F16(values) => Data::Values(values.into()),
        ArrayValue::BF16(values) => Data::Values(values.into()),
        ArrayValue::I8(values) => Data::Values(values.into()),
        ArrayValue::I16(values) => Data::Values(values.into()),
        ArrayValue::I32(values) => Data::Values(values.into()),
        ArrayValue::I64(values) => Data::Values(values.into()),
        ArrayValue::Bool(values) => Data::Values(values.into()),
        ArrayValue::C32(values) => Data::Values(values.into()),
        ArrayValue::C64(values) => Data::Values(values.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::array::Parameter;
    use super::*;
    use spc_compiler::ir::ElementType;

    #[test]
    fn arrays_of_every_type_come_back_as_they_went() {
        let indices = IndexWidth::ALL.map(ArrayElement::Index);
        for element in indices.into_iter().chain(ElementType::ALL.map(ArrayElement::Value)) {
            let data = Data::empty(element);
            let array = Array { parameter: Parameter { access: Access::Append, element }, data, is_there: true };
            let value = copy(&array).unwrap();
            assert!(value.holds(element));
            assert_eq!(received(value, element), array.data);
        }
    }
}
