//! What functions that `tensor_kernel!` writes call: kernels known at compile time over typed tensors.

use super::{Call, Error};
use crate::tensor::{AnyTensor, Element, Scalar, StorageFormat, Tensor};
use spc_compiler::ir::{self, Kernel};
use std::sync::OnceLock;

/// A kernel whose loops were compiled with the program.
#[derive(Debug)]
pub struct StaticKernel {
    /// Its declarations in the loop IR.
    declarations: &'static str,
    /// Runs it on the arrays of a call.
    run: fn(&mut Call<'_>),
    /// The declarations, once they are read.
    kernel: OnceLock<Result<Kernel, String>>,
}

impl StaticKernel {
    /// A kernel of the declarations and loops that the macro wrote.
    pub const fn new(declarations: &'static str, run: fn(&mut Call<'_>)) -> Self {
        Self { declarations, run, kernel: OnceLock::new() }
    }

    /// Runs the kernel.
    ///
    /// # Errors
    /// As [`Call::new`] and [`Call::finish`].
    pub fn run(&self, inputs: &[&AnyTensor]) -> Result<Results, Error> {
        self.finish(Call::new(self.kernel()?, inputs)?)
    }

    /// Runs the kernel and writes its results into the memory of `targets`. Where that is refused, they are as before.
    ///
    /// # Errors
    /// As [`StaticKernel::run`] and [`Call::reuse`].
    pub fn run_into(&self, inputs: &[&AnyTensor], targets: &mut [&mut dyn Value]) -> Result<(), Error> {
        let shapes: Vec<&[usize]> = targets.iter().map(|target| target.shape()).collect();
        let mut call = Call::into_shapes(self.kernel()?, inputs, &shapes)?;
        for (output, target) in targets.iter().enumerate() {
            target.check_reuse(&call, output)?;
        }
        for (output, target) in targets.iter_mut().enumerate() {
            target.reuse(&mut call, output)?;
        }
        let mut results = self.finish(call)?;
        targets.iter_mut().try_for_each(|target| target.set(results.tensors.next().ok_or_else(missing)?))
    }

    fn finish(&self, mut call: Call<'_>) -> Result<Results, Error> {
        (self.run)(&mut call);
        Ok(Results { tensors: call.finish()?.into_iter() })
    }

    fn kernel(&self) -> Result<&Kernel, Error> {
        let read = || ir::parse(self.declarations).map_err(|error| error.to_string());
        self.kernel.get_or_init(read).as_ref().map_err(|error| wrong(error))
    }
}

/// What a kernel made, in the order of its declarations.
#[derive(Debug)]
pub struct Results {
    tensors: std::vec::IntoIter<AnyTensor>,
}

impl Results {
    /// The next one, as what it is.
    ///
    /// # Errors
    /// When there is none, or it is of another type.
    #[expect(clippy::should_implement_trait, reason = "each may be of another type")]
    pub fn next<V: Value>(&mut self) -> Result<V, Error> {
        V::from_output(self.tensors.next().ok_or_else(missing)?)
    }
}

/// A scalar as a tensor of order 0.
pub fn scalar<T: Element>(value: T) -> AnyTensor {
    Tensor::<T, Scalar>::from(value).into_any()
}

/// What a kernel of the macro returns: a typed tensor or a scalar.
pub trait Value {
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

fn missing() -> Error {
    wrong("a result is missing")
}

fn wrong(reason: &str) -> Error {
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

scalars!(f64 f32 i64 i32 u8);
