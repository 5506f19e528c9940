//! What functions that `tensor_kernel!` writes call: kernels known at compile time over typed tensors.

use super::{Call, Error};
use crate::tensor::{AnyTensor, Element, StorageFormat, Tensor};
use spc_compiler::ir::{self, Kernel};

/// The declarations of a kernel whose loops were compiled with the program.
#[derive(Debug)]
pub struct Declaration {
    kernel: Kernel,
}

impl Declaration {
    /// Reads declarations that the macro wrote.
    ///
    /// # Panics
    /// When the text is not what the macro writes.
    pub fn parse(text: &str) -> Self {
        match ir::parse(text) {
            Ok(kernel) => Self { kernel },
            Err(error) => panic!("the macro and the run time are of different versions: {error}"),
        }
    }

    /// A call of the kernel.
    ///
    /// # Errors
    /// As [`Call::new`].
    pub fn call(&self, inputs: &[&AnyTensor]) -> Result<Call<'_>, Error> {
        Call::new(&self.kernel, inputs)
    }
}

/// A scalar as a tensor of order 0.
pub fn scalar<T: Element>(value: T) -> AnyTensor {
    Tensor::<T, crate::tensor::Scalar>::from(value).into_any()
}

/// What a kernel of the macro returns: a typed tensor or a scalar.
pub trait Value: Sized {
    /// Makes it of a call's output.
    ///
    /// # Errors
    /// When the output is of another type.
    fn from_output(output: Option<AnyTensor>) -> Result<Self, Error>;

    /// Hands its memory to a call, which writes its output number `output` there.
    ///
    /// # Errors
    /// When it does not fit the output.
    fn reuse(call: &mut Call<'_>, output: usize, target: &mut Self) -> Result<(), Error>;
}

fn missing() -> Error {
    Error::Declaration { kernel: String::new(), reason: "a result is missing".to_owned() }
}

impl<T: Element, F: StorageFormat> Value for Tensor<T, F> {
    fn from_output(output: Option<AnyTensor>) -> Result<Self, Error> {
        let output = output.ok_or_else(missing)?;
        Tensor::try_from(output)
            .map_err(|error| Error::Declaration { kernel: String::new(), reason: error.to_string() })
    }

    fn reuse(call: &mut Call<'_>, output: usize, target: &mut Self) -> Result<(), Error> {
        call.reuse(output, target.as_any_mut())
    }
}

macro_rules! scalars {
    ($($type:ident)*) => {$(
        impl Value for $type {
            fn from_output(output: Option<AnyTensor>) -> Result<Self, Error> {
                output.as_ref().and_then(|output| output.values_of::<$type>()?.first().copied()).ok_or_else(missing)
            }

            fn reuse(_: &mut Call<'_>, _: usize, _: &mut Self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

scalars!(f64 f32 i64 i32 u8);
