//! Many kernels as native code, compiled in one run.

use crate::engine::Ready;
use spc::execute::{Executable, NativeError, NativeKernel};
use spc_compiler::backend::rust;

/// The kernels as native code; `None` on a machine without a Rust compiler.
///
/// # Panics
/// When the compiler refuses the text of one.
pub fn compile(kernels: &[&Ready]) -> Option<Vec<Executable>> {
    let texts: Vec<String> = kernels.iter().map(|ready| rust::text(&ready.compiled.kernel)).collect();
    let declared: Vec<_> =
        texts.iter().zip(kernels).map(|(text, ready)| (text.as_str(), &*ready.compiled.kernel)).collect();
    let natives = match NativeKernel::compile_all(&declared) {
        Err(NativeError::NoCompiler { .. }) => return None,
        other => other.unwrap_or_else(|error| panic!("{error}")),
    };
    let pair = |(native, ready): (NativeKernel, &&Ready)| Executable::of_native(ready.compiled.kernel.clone(), native);
    Some(natives.into_iter().zip(kernels).map(pair).collect())
}
