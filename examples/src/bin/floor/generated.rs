//! From a line of the language to native code.

use crate::Failure;
use spc::execute::NativeKernel;
use spc::tensor::AnyTensor;
use spc_compiler::diagnostics::Diagnostics;
use spc_compiler::ir::{Kernel, Size, Verified};
use spc_compiler::schedule;
use spc_compiler::{backend, concrete, notation, syntax};

/// A kernel that has been compiled.
pub(crate) struct Generated {
    /// Its loops.
    pub(crate) kernel: Verified<Kernel>,
    /// Its code.
    pub(crate) native: NativeKernel,
}

impl Generated {
    /// Compiles the one kernel in `source`, for extents of vector loops as in `inputs` where those are to be constants.
    pub(crate) fn compile(source: &str, inputs: &[AnyTensor], constant_extents: bool) -> Result<Self, Failure> {
        let (kernel, text) = text(source, &|kernel| {
            if constant_extents {
                fix_extents(kernel, inputs);
            }
        })?;
        let native = NativeKernel::compile(&text, &kernel)?;
        Ok(Self { kernel, native })
    }
}

/// The loops and the Rust text of the one kernel in `source`; `change` sees it between scheduling and lowering.
pub(crate) fn text(
    source: &str,
    change: &dyn Fn(&mut concrete::Kernel),
) -> Result<(Verified<Kernel>, String), Failure> {
    let refuse = |diagnostics: Diagnostics| format!("{source}: {diagnostics:?}");
    let program = syntax::parse_program(source).map_err(refuse)?;
    let kernels = notation::check(&program).map_err(refuse)?;
    let program = schedule::schedule(&kernels[0], schedule::Options::default()).map_err(refuse)?;
    let [mut concrete] = <[concrete::Kernel; 1]>::try_from(program.kernels)
        .map_err(|kernels| format!("{source}: {} loop nests instead of one", kernels.len()))?;
    change(&mut concrete);
    let kernel = spc_compiler::compile_kernel(concrete).kernel;
    let text = backend::rust::text(&kernel);
    Ok((kernel, text))
}

fn fix_extents(kernel: &mut concrete::Kernel, inputs: &[AnyTensor]) {
    for extent in kernel.vector_extents() {
        let of_input = kernel.tensors.iter().zip(inputs).find_map(|(tensor, input)| {
            let mode = tensor.extents.iter().position(|&place| place == extent)?;
            Some(input.shape()[mode])
        });
        if let Some(size) = of_input {
            kernel.extents[extent].size = Size::Constant(size as u64);
        }
    }
}
