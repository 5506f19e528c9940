//! What kernels return and write to.

use super::flow::Prepare;
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

/// Runs something that writes results of these names into the memory of `targets`. Where that is refused, they are as before; where
/// a later statement of several is refused, those of statements that have run are left without entries.
pub(super) fn write_into<E: From<Error>>(
    results: &[impl AsRef<str> + Sync],
    targets: &mut [&mut dyn Value],
    run: impl FnOnce(&[Vec<usize>], &mut Prepare<'_>) -> Result<Vec<AnyTensor>, E>,
) -> Result<(), E> {
    let shapes: Vec<Vec<usize>> = targets.iter().map(|target| target.shape().to_vec()).collect();
    let mut reuse = |call: &mut Call<'_>, output: &str| {
        let target = results.iter().position(|result| result.as_ref() == output);
        match target.and_then(|target| targets.get_mut(target)) {
            Some(target) => target.check_reuse(call, 0).and_then(|()| target.reuse(call, 0)),
            None => Ok(()),
        }
    };
    let tensors = run(&shapes, &mut reuse)?;
    targets.iter_mut().zip(tensors).try_for_each(|(target, tensor)| Ok(target.set(tensor)?))
}
