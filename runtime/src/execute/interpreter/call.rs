//! A call on the run time's own arrays.

use super::{ArrayValue, Options, run};
use crate::execute::array::{Access, Data};
use crate::execute::{Call, Error};
use crate::tensor::{IndexArray, Values};
use spc_compiler::ir::{ArrayElement, Kernel, Verified};
use std::time::{Duration, Instant};

/// Runs a call, and says how long the kernel took: it alone. Arrays are copied in, and those of outputs out.
///
/// # Errors
/// When the call is of another kernel, or the kernel does what generated code could not survive.
pub fn run_call(kernel: &Verified<Kernel>, call: &mut Call<'_>, options: &Options) -> Result<Duration, Error> {
    if call.kernel() != &**kernel {
        let (expected, found) = (kernel.name.clone(), call.kernel().name.clone());
        return Err(Error::WrongCall { expected, found });
    }
    let dimensions: Vec<u64> = call.dimensions().iter().map(|&extent| extent as u64).collect();
    let arrays = call.begin();
    let mut copies: Vec<ArrayValue> = arrays.iter().map(|array| copy_of(&array.data)).collect();
    let start = Instant::now();
    let result = run(kernel, &dimensions, &mut copies, options);
    let time = start.elapsed();
    result.map_err(|fault| Error::Stopped { kernel: kernel.name.clone(), message: fault.to_string() })?;
    for (array, copy) in arrays.iter_mut().zip(copies) {
        if array.parameter.access != Access::Read {
            array.data = data_of(copy, array.parameter.element);
        }
    }
    Ok(time)
}

fn copy_of(data: &Data) -> ArrayValue {
    match data {
        Data::Index(IndexArray::U8(elements)) => ArrayValue::U8(elements.as_slice().to_vec()),
        Data::Index(IndexArray::U16(elements)) => ArrayValue::U16(elements.as_slice().to_vec()),
        Data::Index(IndexArray::U32(elements)) => ArrayValue::U32(elements.as_slice().to_vec()),
        Data::Index(IndexArray::U64(elements)) => ArrayValue::U64(elements.as_slice().to_vec()),
        Data::Values(Values::F64(elements)) => ArrayValue::F64(elements.as_slice().to_vec()),
        Data::Values(Values::F32(elements)) => ArrayValue::F32(elements.as_slice().to_vec()),
        Data::Values(Values::I32(elements)) => ArrayValue::I32(elements.as_slice().to_vec()),
        Data::Values(Values::I64(elements)) => ArrayValue::I64(elements.as_slice().to_vec()),
        Data::Values(Values::U8(elements)) => ArrayValue::U8(elements.as_slice().to_vec()),
    }
}

fn data_of(array: ArrayValue, element: ArrayElement) -> Data {
    match (array, element) {
        (ArrayValue::U8(elements), ArrayElement::Value(_)) => Data::Values(elements.into()),
        (ArrayValue::U8(elements), ArrayElement::Index(_)) => Data::Index(elements.into()),
        (ArrayValue::U16(elements), _) => Data::Index(elements.into()),
        (ArrayValue::U32(elements), _) => Data::Index(elements.into()),
        (ArrayValue::U64(elements), _) => Data::Index(elements.into()),
        (ArrayValue::F64(elements), _) => Data::Values(elements.into()),
        (ArrayValue::F32(elements), _) => Data::Values(elements.into()),
        (ArrayValue::I32(elements), _) => Data::Values(elements.into()),
        (ArrayValue::I64(elements), _) => Data::Values(elements.into()),
    }
}
