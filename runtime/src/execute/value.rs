//! What kernels return and write to.

use super::{Call, Error};
use crate::complex::{c32, c64};
use crate::half::{bf16, f16};
use crate::tensor::{AnyTensor, Element, StorageFormat, Tensor};

/// What a kernel returns or writes to: a typed tensor or one of any type, or a scalar.
pub trait Value: Send {
    /// Makes it of a call's output.
    ///
    /// # Errors
    /// When the output is of another type.
    fn from_output(output: AnyTensor) -> Result<Self, Error>
    where
        Self: Sized;

    /// Becomes a call's output.
    ///
    /// # Errors
    /// When the output is of another type.
    fn set(&mut self, output: AnyTensor) -> Result<(), Error>;

    /// The shape that it has.
    fn shape(&self) -> &[usize];

    /// Whether a call can write its output number `output` into its memory.
    ///
    /// # Errors
    /// When it does not fit the output.
    fn check_reuse(&self, call: &Call<'_>, output: usize) -> Result<(), Error>;

    /// Hands its memory to a call, which writes its output number `output` there.
    ///
    /// # Errors
    /// When it does not fit the output.
    fn reuse(&mut self, call: &mut Call<'_>, output: usize) -> Result<(), Error>;

    /// Takes a call's output number `output` as by [`Call::take_back`], and whether it did: it can always be [set](Value::set) instead.
    ///
    /// # Errors
    /// As there.
    fn take_back(&mut self, call: &mut Call<'_>, output: usize) -> Result<bool, Error> {
        let _ = (call, output);
        Ok(false)
    }
}

pub(super) fn missing() -> Error {
    wrong("a result is missing")
}

pub(super) fn wrong(reason: &str) -> Error {
    Error::Declaration { kernel: String::new(), reason: reason.to_owned() }
}

impl<T: Element, F: StorageFormat> Value for Tensor<T, F> {
    fn from_output(output: AnyTensor) -> Result<Self, Error> {
        Tensor::try_from(output).map_err(|error| wrong(&error.to_string()))
    }

    fn set(&mut self, output: AnyTensor) -> Result<(), Error> {
        *self = Self::from_output(output)?;
        Ok(())
    }

    fn shape(&self) -> &[usize] {
        self.as_any().shape()
    }

    fn check_reuse(&self, call: &Call<'_>, output: usize) -> Result<(), Error> {
        call.check_reuse(output, self.as_any())
    }

    fn reuse(&mut self, call: &mut Call<'_>, output: usize) -> Result<(), Error> {
        call.reuse(output, self.as_any_mut())
    }

    fn take_back(&mut self, call: &mut Call<'_>, output: usize) -> Result<bool, Error> {
        call.take_back(output, self.as_any_mut())
    }
}

impl Value for AnyTensor {
    fn from_output(output: AnyTensor) -> Result<Self, Error> {
        Ok(output)
    }

    fn set(&mut self, output: AnyTensor) -> Result<(), Error> {
        *self = output;
        Ok(())
    }

    fn shape(&self) -> &[usize] {
        AnyTensor::shape(self)
    }

    fn check_reuse(&self, call: &Call<'_>, output: usize) -> Result<(), Error> {
        call.check_reuse(output, self)
    }

    fn reuse(&mut self, call: &mut Call<'_>, output: usize) -> Result<(), Error> {
        call.reuse(output, self)
    }

    fn take_back(&mut self, call: &mut Call<'_>, output: usize) -> Result<bool, Error> {
        call.take_back(output, self)
    }
}

macro_rules! scalars {
    ($($type:ident)*) => {$(
        impl Value for $type {
            fn from_output(output: AnyTensor) -> Result<Self, Error> {
                output.values_of::<$type>().and_then(|values| values.first().copied()).ok_or_else(missing)
            }

            fn set(&mut self, output: AnyTensor) -> Result<(), Error> {
                *self = Self::from_output(output)?;
                Ok(())
            }

            fn shape(&self) -> &[usize] {
                &[]
            }

            fn check_reuse(&self, _: &Call<'_>, _: usize) -> Result<(), Error> {
                Ok(())
            }

            fn reuse(&mut self, _: &mut Call<'_>, _: usize) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

scalars!(f64 f32 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool c32 c64);

/// Where the results of a chain go, by their numbers.
pub(super) trait Sink: Send {
    /// The shape of what is there for one; nothing where results become new tensors.
    fn shape(&self, result: usize) -> Option<&[usize]>;

    /// Hands the memory of what is there to a call, which writes its output of that number there.
    fn lend(&mut self, result: usize, call: &mut Call<'_>, output: usize) -> Result<(), Error>;

    /// Takes an output out of a call that has run, and whether it did.
    fn take_back(&mut self, result: usize, call: &mut Call<'_>, output: usize) -> Result<bool, Error>;

    /// Takes a result that a call has made a tensor of: in order, those that were taken back left out.
    fn set(&mut self, result: usize, tensor: AnyTensor) -> Result<(), Error>;
}

/// Results as new tensors, in order.
#[derive(Debug, Default)]
pub(super) struct New(pub(super) Vec<AnyTensor>);

impl Sink for New {
    fn shape(&self, _: usize) -> Option<&[usize]> {
        None
    }

    fn lend(&mut self, _: usize, _: &mut Call<'_>, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn take_back(&mut self, _: usize, _: &mut Call<'_>, _: usize) -> Result<bool, Error> {
        Ok(false)
    }

    fn set(&mut self, _: usize, tensor: AnyTensor) -> Result<(), Error> {
        self.0.push(tensor);
        Ok(())
    }
}

/// Results into the memory of what is there for each. Where that is refused, it is as before; where a later statement of several is
/// refused, what was there for statements that have run is left without entries.
pub(super) struct Reused<'t, 'v>(pub(super) &'t mut [&'v mut dyn Value]);

impl Sink for Reused<'_, '_> {
    fn shape(&self, result: usize) -> Option<&[usize]> {
        self.0.get(result).map(|target| target.shape())
    }

    fn lend(&mut self, result: usize, call: &mut Call<'_>, output: usize) -> Result<(), Error> {
        match self.0.get_mut(result) {
            Some(target) => target.reuse(call, output),
            None => Ok(()),
        }
    }

    fn take_back(&mut self, result: usize, call: &mut Call<'_>, output: usize) -> Result<bool, Error> {
        self.0.get_mut(result).map_or(Ok(false), |target| target.take_back(call, output))
    }

    fn set(&mut self, result: usize, tensor: AnyTensor) -> Result<(), Error> {
        self.0.get_mut(result).map_or(Ok(()), |target| target.set(tensor))
    }
}
